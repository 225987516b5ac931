//! Clients that send what they should not.

use expect_test::expect;
use prose_vm::event::{EventKind, RunStatus};
use serde_json::json;

use crate::client::{World, check, line};

const PROGRAM: &str = "session \"Draft\"\n";
const ANSWERS: &str = "[[session]]\nreply = \"done\"\n";

#[test]
fn requests_out_of_order_are_refused() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.client();
    let mut seen = vec![client.refused("threads", json!({}))];
    client.ok("initialize", json!({ "adapterID": "prose" }));
    seen.push(client.refused("initialize", json!({ "adapterID": "prose" })));
    seen.push(client.refused("continue", json!({ "threadId": 1 })));
    seen.push(client.refused("setBreakpoints", json!({ "source": { "path": "main.prose" } })));
    seen.push(client.refused("launch", json!({})));
    seen.push(client.refused("launch", json!({ "program": 3 })));
    client.ok("launch", json!({ "program": "main.prose", "script": "answers.toml" }));
    seen.push(client.refused("launch", json!({ "program": "main.prose" })));
    seen.push(client.refused("next", json!({ "threadId": 1 })));
    seen.push(client.refused("stackTrace", json!({ "threadId": 77 })));
    seen.push(client.refused("scopes", json!({ "frameId": 12 })));
    seen.push(client.refused("disassemble", json!({})));
    check(
        &seen,
        expect![[r#"
        `threads` came before `initialize`
        `initialize` came twice
        `continue` came before `launch` or `attach`: nothing is debugged yet
        `setBreakpoints` came before `launch` or `attach`: nothing is debugged yet
        nothing to debug: set `program` to a program, or `run` to a run that `prose runs` lists
        the arguments are not understood: invalid type: integer `3`, expected a string
        a run is debugged already; start another session for another one
        the run has not started: `configurationDone` is missing
        the run has no branch 77
        the debugger stands somewhere else now, and has no such frame
        the debugger has no request `disassemble`"#]],
    );
    // A run that never started leaves nothing.
    client.disconnect();
    assert!(world.project().list_runs().unwrap().is_empty());
}

#[test]
fn what_cannot_be_debugged_says_why() {
    let world = World::new("session \"Draft {topc}\"\nlet topic = \"tides\"\n", ANSWERS);
    let mut client = world.client();
    client.ok("initialize", json!({ "adapterID": "prose" }));
    let mut seen = Vec::new();
    for arguments in [
        json!({ "program": "main.prose" }),
        json!({ "program": "missing.prose" }),
        json!({ "run": "k3x9" }),
        json!({ "run": "missing.prose-run" }),
    ] {
        seen.push(client.refused("launch", arguments));
    }
    world.write("main.prose", "input topic: \"What about?\"\nsession \"Draft {topic}\"\n");
    seen.push(client.refused("launch", json!({ "program": "main.prose", "inputs": { "topc": "tides" } })));
    seen.push(client.refused("launch", json!({ "program": "main.prose", "harness": "ofline" })));
    let folder = world.path("").display().to_string();
    let seen: Vec<String> = seen.iter().map(|line| line.replace(&folder, "FOLDER/")).collect();
    check(
        &seen,
        expect![[r#"
        `main.prose` has 1 error and is not run; line 1: variable `topc` is not defined; did you mean `topic`?
        `missing.prose` does not exist
        run `k3x9` does not exist in FOLDER/.prose/runs
        cannot read missing.prose-run: No such file or directory (os error 2)
        the program has no input `topc`; did you mean `topic`?
        harness `ofline` does not exist; did you mean `offline`?"#]],
    );
    client.disconnect();
}

#[test]
fn messages_that_are_none_are_reported() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.client();
    client.send("{ no json");
    client.send(r#"{"type": "response", "seq": 1}"#);
    client.send(r#"{"type": "request", "command": 7}"#);
    client.ok("initialize", json!({ "adapterID": "prose" }));
    let console = client.disconnect();
    assert!(console.contains("A message of the client is not JSON"), "{console}");
    assert!(console.contains("A request of the client is not understood"), "{console}");
}

#[test]
fn a_client_that_breaks_off_in_the_middle_of_a_message_loses_nothing() {
    let world = World::new("session \"Draft\"\nsession \"End\"\n", ANSWERS);
    let mut client = world.launch(&[line(2)]);
    client.stop();
    let console = client.break_off("{\"type\": \"request\", ");
    assert!(console.contains("The connection is broken"), "{console}");
    let events = world.events();
    let Some(EventKind::RunEnded(end)) = events.last().map(|event| &event.kind) else { panic!() };
    assert_eq!(end.status, RunStatus::Interrupted);
    // What it had asked is there when somebody looks at the run again.
    let mut client = world.look_at_last(json!({}), &[line(2)]);
    client.stop();
    client.go("continue");
    assert_eq!(client.evaluate("sessions"), "1");
    client.disconnect();
}

#[test]
fn changes_at_the_wrong_time_are_refused() {
    let world = World::new(PROGRAM, "[[session]]\nreply = \"late\"\ndelay = \"600s\"\n");
    let mut client = world.client();
    client.ok("initialize", json!({ "adapterID": "prose" }));
    let mut seen =
        vec![client.refused("setVariable", json!({ "variablesReference": 1, "name": "x", "value": "y" }))];
    client.ok("launch", json!({ "program": "main.prose", "script": "answers.toml" }));
    seen.push(client.refused("setExpression", json!({ "expression": "x", "value": "y" })));
    seen.push(client.evaluate(":fork"));
    seen.push(client.evaluate(":reply nothing"));
    client.ok("configurationDone", json!({}));
    client.console("starts.");
    seen.push(client.refused("setVariable", json!({ "variablesReference": 77, "name": "x", "value": "y" })));
    seen.push(client.evaluate(":fork"));
    check(
        &seen,
        expect![[r#"
        `setVariable` came before `launch` or `attach`: nothing is debugged yet
        variables are set at the start of a statement; step to the next one
        nothing was asked after this point, so nothing can be asked again
        no session is at this statement
        the debugger stands somewhere else now, and has no such value
        the run is executed; pause it first"#]],
    );
    client.disconnect();
}

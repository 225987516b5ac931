//! Runs that keep what another one did before a point.

use expect_test::expect;

use super::*;

const FAILING: &str =
    "[[session]]\nlabel = \"one\"\nreply = \"1\"\n\n[[session]]\nlabel = \"two\"\nfail = \"no\"\n";
const RIGHT: &str = "[[session]]\nlabel = \"one\"\nreply = \"ONE\"\n\n[[session]]\nlabel = \"two, please\"\nreply = \"2\"\n\n[[session]]\nlabel = \"three\"\nreply = \"3\"\n";

/// A client that shows lenses, edits replies and receives events.
fn forking() -> Value {
    json!({ "textDocument": { "codeLens": {} }, "experimental": { "proseRunEvents": true, "proseReplies": true } })
}

/// A workspace with a run that failed at its second statement, and its id.
fn failed(capabilities: Value) -> (Workspace, String) {
    let files = &[("steps.prose", STEPS), ("answers.toml", FAILING)];
    let mut workspace = Workspace::with(capabilities, files).opened("steps.prose");
    let id = run(&mut workspace, "steps.prose", json!({ "script": "answers.toml" }));
    assert_eq!(ended(&mut workspace, &id)["status"], "failed");
    message(&mut workspace);
    (workspace, id)
}

/// Sends a command that asks the user before it starts; gives the number of the request.
fn send(workspace: &mut Workspace, argument: Value) -> Value {
    let params = json!({ "command": "prose.fork", "arguments": [argument] });
    json!(workspace.client.send_request("workspace/executeCommand", params))
}

/// How many runs there are.
fn count(workspace: &mut Workspace) -> usize {
    workspace.client.ask("prose/runs", Value::Null)["runs"].as_array().unwrap().len()
}

#[test]
fn a_program_is_run_again_from_the_statement_that_failed() {
    let (mut workspace, id) = failed(forking());
    check(
        &lenses(&mut workspace, "steps.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
            0: Resume last run prose.resume
            0: 2 sessions, …, failed at line 2 
            1: Run again from here prose.fork
            0: ▶ Run session prose.run
            1: ▶ Run session prose.run
            2: ▶ Run session prose.run
        "#]],
    );
    // The lens stays at its statement while that is edited.
    workspace.replace("steps.prose", 2, &format!("# Steps\n{}", STEPS.replace("\"two\"", "\"two, please\"")));
    workspace.write("answers.toml", RIGHT);
    let shown = lenses(&mut workspace, "steps.prose");
    assert!(shown.contains("2: Run again from here prose.fork\n"), "{shown}");
    let mut argument = lens_argument(&mut workspace, "steps.prose", "Run again from here");
    assert_eq!(argument, json!({ "uri": workspace.uri("steps.prose"), "run": id, "from": "failure" }));
    argument["script"] = json!("answers.toml");
    let request = send(&mut workspace, argument);
    let question = workspace.client.wait_for_method("window/showMessageRequest");
    check(
        &question["params"]["message"].as_str().unwrap().replace(&id, "EARLIER"),
        expect![[r#"
        Fork of run EARLIER before line 2 (s1, event 9)
        reuses at most 1 session and 0 decisions
        asks script the rest of the program, estimated at 2–3 sessions
        the program has changed since the run; answers are reused where it still asks the same"#]],
    );
    assert_eq!(question["params"]["actions"], json!([{ "title": "Start" }]));
    answer(&mut workspace, &question, json!({ "title": "Start" }));
    let fork = workspace.client.answer(&request)["result"]["run"].as_str().unwrap().to_owned();
    assert_ne!(fork, id);
    assert_eq!(ended(&mut workspace, &fork)["status"], "completed");
    check(
        &message(&mut workspace),
        expect!["steps.prose is done: 3 sessions, 1 result of the earlier execution used again"],
    );
    // The first session has the reply of the earlier run.
    check(
        &hints(&mut workspace, "steps.prose"),
        expect![[r#"
        1:13 ✓ …  1
        2:21 ✓ …  2
        3:15 ✓ …  3
    "#]],
    );
    let shown = lenses(&mut workspace, "steps.prose");
    assert!(!shown.contains("Run again from here"), "{shown}");
}

#[test]
fn a_fork_that_the_user_does_not_start_leaves_nothing() {
    let (mut workspace, id) = failed(forking());
    let argument =
        json!({ "uri": workspace.uri("steps.prose"), "run": id, "from": "failure", "harness": "offline" });
    for reply in [Value::Null, json!({ "title": "Later" })] {
        let request = send(&mut workspace, argument.clone());
        let question = workspace.client.wait_for_method("window/showMessageRequest");
        answer(&mut workspace, &question, reply);
        assert_eq!(workspace.client.answer(&request)["result"], Value::Null);
    }
    // A client that cannot ask reads what it would have asked.
    let request = send(&mut workspace, argument);
    let question = workspace.client.wait_for_method("window/showMessageRequest");
    let error = json!({ "code": -32601, "message": "method not found" });
    let refused = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
    workspace.client.send_bytes(&prose_tests::lsp::frame(&refused));
    let refusal = workspace.client.answer(&request)["error"]["message"].as_str().unwrap().to_owned();
    check(
        &refusal.replace(&id, "EARLIER"),
        expect![[r#"
        the fork is not started, because the client cannot ask whether to start it. Pass `"confirmed": true` to start it. Fork of run EARLIER before line 2 (s1, event 9)
        reuses 1 session and 0 decisions
        asks offline the rest of the program, estimated at 2 sessions"#]],
    );
    assert_eq!(count(&mut workspace), 1);
}

#[test]
fn a_plan_says_what_is_reused_and_asked_and_starts_nothing() {
    let (mut workspace, id) = failed(forking());
    let plan = command(&mut workspace, "prose.planFork", "steps.prose", json!({ "line": 2 }));
    check(
        &prose_tests::lsp::pretty(&plan).replace(&id, "EARLIER"),
        expect![[r#"
        {
          "asked": null,
          "details": [
            "reuses 1 session and 0 decisions",
            "asks script the rest of the program, estimated at 2 sessions"
          ],
          "estimate": {
            "cost": null,
            "decisions": {"expected":0.0,"least":0.0,"most":0.0},
            "limitedBySetting": [],
            "program": "steps.prose",
            "runs": 1,
            "sessions": {"expected":2.0,"least":2.0,"most":2.0},
            "tokens": null,
            "unbounded": []
          },
          "event": 9,
          "harness": "script",
          "line": 2,
          "notes": [],
          "place": "s1",
          "reused": {"decisions":0,"sessions":1,"usage":null},
          "run": "EARLIER",
          "title": "Fork of run EARLIER before line 2 (s1, event 9)"
        }"#]],
    );
    assert_eq!(count(&mut workspace), 1);
    let refused = |workspace: &mut Workspace, others: Value| {
        refusal(workspace, "prose.planFork", "steps.prose", others).replace(&id, "EARLIER")
    };
    check(
        &refused(&mut workspace, json!({ "line": 3 })),
        expect!["line 3 was not executed in run EARLIER; line 2 was"],
    );
    check(
        &refused(&mut workspace, json!({ "line": 1, "from": "1" })),
        expect!["`from` and `line` are two points; pass one"],
    );
    check(
        &refused(&mut workspace, json!({ "from": "@x" })),
        expect![
            "`from`: expected a line such as `12` or `lib.prose:12`, a place such as `s4/i2/1`, an event such as `@340`, or `failure`"
        ],
    );
    check(
        &refused(&mut workspace, json!({ "from": "2", "variables": { "x": 1 } })),
        expect!["`x` has no value before the point in run EARLIER"],
    );
    check(
        &refused(&mut workspace, json!({ "replies": [{ "at": "3", "text": "x" }] })),
        expect![
            "run EARLIER has no reply of a session at line 3; `prose runs show EARLIER --json` lists the places of its requests"
        ],
    );
}

/// The actions at a line that are about its run, and change no text.
fn offered(workspace: &mut Workspace, line: usize) -> Vec<Value> {
    let actions = workspace.actions("steps.prose", (line, 0), &[]);
    let actions = actions.as_array().unwrap().iter().filter(|action| action.get("kind").is_none());
    actions.cloned().chain(workspace.run_actions("steps.prose", (line, 0))).collect()
}

#[test]
fn a_session_of_the_last_run_is_asked_again_or_gets_another_reply() {
    let (mut workspace, id) = failed(forking());
    let actions = offered(&mut workspace, 0);
    let titles: Vec<&str> = actions.iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["What if it had replied …", "Run again from here"]);
    let edit = actions[0]["command"]["arguments"][0].clone();
    assert_eq!((&edit["run"], &edit["at"], &edit["request"]), (&json!(id), &json!("s0"), &json!(1)));
    let session = workspace
        .client
        .ask("prose/session", json!({ "folder": edit["folder"], "request": edit["request"] }));
    assert_eq!(session["reply"], "1");
    assert_eq!(
        actions[1]["command"]["arguments"][0],
        json!({ "uri": workspace.uri("steps.prose"), "run": id, "line": 1 })
    );
    // The third session was never asked.
    assert_eq!(offered(&mut workspace, 2), Vec::<Value>::new());

    let replies = json!([{ "at": edit["at"], "text": "uno" }]);
    let others = json!({ "run": id, "replies": replies, "harness": "offline", "confirmed": true });
    let fork =
        command(&mut workspace, "prose.fork", "steps.prose", others)["run"].as_str().unwrap().to_owned();
    let changed =
        event(&mut workspace, &fork, |event| event["event"] == "effect" && event["effect"] == "session");
    assert_eq!(changed["outcome"]["reply"]["text"], "uno");
    assert_eq!(changed["work"]["given_by"]["from"], "editor");
    assert_eq!(ended(&mut workspace, &fork)["status"], "completed");
}

#[test]
fn other_clients_have_no_action_that_edits_a_reply() {
    let (mut workspace, _) = failed(hearing());
    let titles: Vec<Value> =
        offered(&mut workspace, 1).iter().map(|action| action["title"].clone()).collect();
    assert_eq!(
        titles,
        ["▶ Run program", "Dry run", "Resume last run", "▶ Run session", "Run again from here"]
    );
}

//! Programs that are started by the debugger.

use expect_test::expect;
use prose_vm::activity::AnswerSource;
use prose_vm::command::Command;
use prose_vm::effect::RequestId;
use prose_vm::event::{EventKind, RunStatus};
use prose_vm::questions::Attribution;
use serde_json::json;

use crate::changes::replies_of;
use crate::client::{Client, World, check, line};

const PROGRAM: &str = r#"let topic = "tides"
block review(text):
  let notes = session "Review {text}"
  output notes
let draft = session "Draft {topic}"
let checked = do review(draft)
for word, i in ["low", "high"]:
  session "Look up {word}"
output report = session "Report {checked}"
"#;

const ANSWERS: &str = r#"
[[session]]
pattern = "Draft"
reply = "a draft"
[[session]]
pattern = "Review"
reply = "it is good"
[[session]]
pattern = "Look up"
reply = "a word"
[[session]]
reply = "a report"
"#;

#[test]
fn a_program_runs_to_its_end_without_breakpoints() {
    let world = World::new(PROGRAM, ANSWERS);
    let console = world.run();
    assert!(console.contains("report: a report\n"), "{console}");
    let Some(EventKind::RunEnded(end)) = world.events().pop().map(|event| event.kind) else { panic!() };
    assert_eq!((end.status, end.sessions), (RunStatus::Completed, 5));
}

#[test]
fn steps_lead_over_into_and_out_of_calls_and_iterations() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch_with(json!({ "stopOnEntry": true }), &[]);
    let mut seen = vec![client.stop()];
    for step in ["next", "next", "stepIn", "stepIn", "stepIn", "stepOut", "next", "stepIn", "stepOut", "next"]
    {
        client.ok(step, json!({ "threadId": 1 }));
        let more = if seen.len() == 10 { "terminated".to_owned() } else { client.stop() };
        seen.push(format!("{step}: {more}"));
        if seen.len() == 11 {
            client.event("terminated");
        }
    }
    check(
        &seen,
        expect![[r#"
            entry: main.prose main.prose:1
            next: step: main.prose main.prose:5
            next: step: main.prose main.prose:6
            stepIn: step: block review main.prose:3 < main.prose main.prose:6
            stepIn: step: block review main.prose:3 < main.prose main.prose:6
            stepIn: step: block review main.prose:3 < main.prose main.prose:6
            stepOut: step: main.prose main.prose:7
            next: step: iteration 1 of 2 main.prose:8 < main.prose main.prose:7
            stepIn: step: iteration 1 of 2 main.prose:8 < main.prose main.prose:7
            stepOut: step: main.prose main.prose:9
            next: terminated"#]],
    );
    client.disconnect();
}

#[test]
fn nothing_is_asked_while_the_debugger_stands_before_it() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[line(5)]);
    let mut seen = vec![client.stop()];
    let session = client.scope("Session");
    seen.push(client.rows(&session));
    seen.push(client.evaluate("sessions"));
    let run = client.scope("Run");
    assert!(client.rows(&run).contains("sessions = 0"));
    // The journal has the start of the session and no outcome.
    let is_outcome = |kind: &EventKind| matches!(kind, EventKind::Effect { .. });
    assert!(world.events().iter().all(|event| !is_outcome(&event.kind)));
    seen.push(client.go("next"));
    seen.push(client.locals());
    check(
        &seen,
        expect![[r#"
        breakpoint: main.prose main.prose:5
        prompt = Draft tides
        status = not asked yet
        0
        step: main.prose main.prose:6
        topic = tides
        draft = a draft"#]],
    );
    client.disconnect();
}

#[test]
fn the_run_can_be_looked_at_backwards_and_continues_from_its_end() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[line(5), line(9)]);
    let mut seen = vec![client.stop(), client.go("continue")];
    seen.push(client.locals());
    seen.push(client.go("stepBack"));
    seen.push(client.go("reverseContinue"));
    seen.push(client.locals());
    seen.push(client.go("continue"));
    check(
        &seen,
        expect![[r#"
        breakpoint: main.prose main.prose:5
        breakpoint: main.prose main.prose:9
        topic = tides
        draft = a draft
        checked = it is good
        step: iteration 2 of 2 main.prose:8 < main.prose main.prose:7
        breakpoint: main.prose main.prose:5
        topic = tides
        breakpoint: main.prose main.prose:9"#]],
    );
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    // No session was asked twice.
    let sessions =
        world.events().iter().filter(|event| matches!(event.kind, EventKind::SessionStarted { .. })).count();
    assert_eq!(sessions, 5);
}

/// Two branches, whose first sessions end when they get their replies by hand.
const BRANCHES: &str = r#"parallel:
  do:
    session "gate A"
    session "Second A"
  do:
    session "gate B"
    session "Second B"
    session "Third B"
session "Merge"
"#;

const GATES: &str = r#"
[[session]]
pattern = "gate"
reply = "too late"
delay = "600s"
[[session]]
reply = "done"
"#;

#[test]
fn one_branch_is_paused_while_another_continues() {
    let world = World::new(BRANCHES, GATES);
    let log = |line: u32| json!({ "line": line, "logMessage": format!("at line {line}") });
    let mut client = world.launch(&[log(3), log(4), log(6), log(8)]);
    client.console("at line 3");
    client.console("at line 6");
    let threads = client.threads();
    client.ok("pause", json!({ "threadId": threads[1].0 }));
    let stopped = client.event("stopped");
    assert_eq!((&stopped["threadId"], &stopped["allThreadsStopped"]), (&json!(threads[1].0), &json!(false)));
    // Both branches get their replies; only the other one asks what comes next.
    let by = Attribution { by: Some("ada".into()), from: AnswerSource::Terminal };
    let folder = world.last().path.parent().unwrap().to_owned();
    let mut control = prose_run::control::Client::connect(&folder).unwrap();
    for request in [1, 2] {
        let command = Command::Reply { request: RequestId(request), text: "by hand".into() };
        control.command(command, &by).unwrap();
    }
    client.console("at line 4");
    client.console("at line 8");
    let paused = client.threads().into_iter().find(|(id, _)| *id == threads[1].0).unwrap();
    let mut seen = vec![paused.1, client.stack(threads[1].0)];
    let before = replies_of(&world);
    assert!(
        before.contains(&"Second B".to_owned()) && !before.contains(&"Second A".to_owned()),
        "{before:?}"
    );
    let resumed = client.ok("continue", json!({ "threadId": threads[1].0 }));
    assert_eq!(resumed["allThreadsContinued"], false);
    client.event("terminated");
    client.disconnect();
    let mut all = replies_of(&world);
    all.sort();
    seen.push(all.join(", "));
    check(
        &seen,
        expect![[r#"
            branch 1
            branch 1 main.prose:4 < main.prose main.prose:1
            Merge, Second A, Second B, Third B, gate A, gate B"#]],
    );
}

#[test]
fn branches_are_threads_that_start_and_exit() {
    let world = World::new(BRANCHES, GATES);
    let mut client = world.launch(&[line(9)]);
    let thread = |client: &mut Client| {
        let thread = client.event("thread");
        format!("{} {}", thread["threadId"], thread["reason"].as_str().unwrap())
    };
    // They are at work, and nothing has stopped.
    let mut seen = vec![thread(&mut client), thread(&mut client)];
    let folder = world.last().path.parent().unwrap().to_owned();
    let by = Attribution { by: Some("ada".into()), from: AnswerSource::Terminal };
    for request in [1, 2] {
        let command = Command::Reply { request: RequestId(request), text: "by hand".into() };
        prose_run::control::Client::connect(&folder).unwrap().command(command, &by).unwrap();
    }
    seen.push(client.stop());
    seen.extend([thread(&mut client), thread(&mut client)]);
    // The past has them again.
    seen.push(client.go("reverseContinue"));
    seen.push(client.go("stepIn"));
    seen.push(thread(&mut client));
    check(
        &seen,
        expect![[r#"
            3 started
            7 started
            breakpoint: main.prose main.prose:9
            3 exited
            7 exited
            step: main.prose main.prose:1
            step: branch 1 main.prose:2 < main.prose main.prose:1
            3 started"#]],
    );
    client.disconnect();
}

#[test]
fn a_branch_continues_alone() {
    let world = World::new(BRANCHES, "[[session]]\nreply = \"done\"\n");
    let mut client =
        world.launch(&[line(6), json!({ "line": 8, "logMessage": "before the third" }), line(9)]);
    client.stop();
    let branch = client.threads()[2].0;
    client.ok("continue", json!({ "threadId": branch, "singleThread": true }));
    client.console("before the third");
    client.ok("pause", json!({ "threadId": 1 }));
    client.stop();
    // The other branch has what was at work when the debugger stopped, and no more.
    let before = replies_of(&world);
    assert!(
        before.contains(&"Second B".to_owned()) && !before.contains(&"Second A".to_owned()),
        "{before:?}"
    );
    let mut seen = vec![client.go("continue")];
    let mut all = replies_of(&world);
    all.sort();
    seen.push(all.join(", "));
    check(
        &seen,
        expect![[r#"
        breakpoint: main.prose main.prose:9
        Second A, Second B, Third B, gate A, gate B"#]],
    );
    client.disconnect();
}

#[test]
fn a_step_into_a_session_stops_before_it_is_asked() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[line(5)]);
    client.stop();
    let mut seen = vec![client.go("stepIn")];
    let session = client.scope("Session");
    seen.push(client.rows(&session));
    // A prompt that is changed here is the one that is asked.
    seen.push(client.evaluate(":prompt Review it"));
    seen.push(client.go("next"));
    seen.push(client.evaluate("draft"));
    check(
        &seen,
        expect![[r#"
            step: main.prose main.prose:5
            prompt = Draft tides
            status = not asked yet
            The session is asked with this prompt.
            step: main.prose main.prose:6
            a draft"#]],
    );
    client.disconnect();
    assert_eq!(replies_of(&world).len(), 1);
}

#[test]
fn restarting_a_frame_or_going_to_a_line_asks_no_session_twice() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[line(9)]);
    client.stop();
    let source = json!({ "path": world.path("main.prose") });
    let targets = client.ok("gotoTargets", json!({ "source": source, "line": 4 }));
    client.ok("goto", json!({ "threadId": 1, "targetId": targets["targets"][0]["id"] }));
    let mut seen = vec![client.stop()];
    let frame = client.frame(1);
    client.ok("restartFrame", json!({ "frameId": frame }));
    seen.push(client.stop());
    seen.push(client.go("continue"));
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    seen.push(replies_of(&world).join(", "));
    check(
        &seen,
        expect![[r#"
        goto: block review main.prose:4 < main.prose main.prose:6
        goto: block review main.prose:3 < main.prose main.prose:6
        breakpoint: main.prose main.prose:9
        Draft tides, Review a draft, Look up low, Look up high, Report it is good"#]],
    );
}

#[test]
fn a_program_that_is_edited_meanwhile_runs_on_as_it_was() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[line(5)]);
    client.stop();
    world.write("main.prose", "session \"Something else\"\n");
    let source = json!({ "path": world.path("main.prose") });
    let set = client.ok("setBreakpoints", json!({ "source": source, "breakpoints": [line(9)] }));
    let mut seen = vec![format!("{} {}", set["breakpoints"][0]["verified"], set["breakpoints"][0]["line"])];
    seen.push(client.go("continue"));
    let locals = client.scope("Locals");
    client.ok("setVariable", json!({ "variablesReference": locals, "name": "draft", "value": "mine" }));
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    seen.push(replies_of(&world).join(", "));
    check(
        &seen,
        expect![[r#"
        true 9
        breakpoint: main.prose main.prose:9
        Draft tides, Review a draft, Look up low, Look up high, Report it is good"#]],
    );
}

#[test]
fn branches_are_threads() {
    let world = World::new(
        r#"let topic = "tides"
parallel:
  a = session "Draft A"
  do:
    let b = session "Draft B"
    let c = session "Draft C"
session "Merge"
"#,
        ANSWERS,
    );
    let mut client = world.launch(&[line(5)]);
    let mut seen = vec![client.stop()];
    let threads = client.threads();
    for (id, name) in &threads {
        let stack = client.stack(*id);
        seen.push(format!("{name}: {stack}"));
    }
    // Stepping in the second branch stays in it.
    let (branch, _) = threads[2].clone();
    client.ok("next", json!({ "threadId": branch }));
    seen.push(client.stop());
    client.ok("next", json!({ "threadId": branch }));
    seen.push(client.stop());
    check(
        &seen,
        expect![[r#"
        breakpoint: branch 2 main.prose:5 < main.prose main.prose:2
        main: main.prose main.prose:2
        branch a: branch a main.prose:3 < main.prose main.prose:2
        branch 2: branch 2 main.prose:5 < main.prose main.prose:2
        step: branch 2 main.prose:6 < main.prose main.prose:2
        step: main.prose main.prose:7"#]],
    );
    client.disconnect();
}

#[test]
fn a_question_of_the_run_is_answered_in_the_console() {
    let world = World::new("input topic: \"What about?\"\nsession \"Draft {topic}\"\n", ANSWERS);
    let mut client = world.launch_with(json!({ "harness": "offline", "script": null }), &[line(2)]);
    client.console("The run asks: What about?");
    assert_eq!(client.evaluate(":answer tides"), "The question is answered.");
    let mut seen = vec![client.stop()];
    let inputs = client.scope("Inputs");
    seen.push(client.rows(&inputs));
    check(
        &seen,
        expect![[r#"
        breakpoint: main.prose main.prose:2
        topic = tides"#]],
    );
    client.disconnect();
}

#[test]
fn a_run_that_is_left_is_interrupted_and_can_be_resumed() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[line(9)]);
    client.stop();
    // The client is gone without a word.
    client.close();
    let Some(EventKind::RunEnded(end)) = world.events().pop().map(|event| event.kind) else { panic!() };
    assert_eq!(end.status, RunStatus::Interrupted);
    assert_eq!(end.error.unwrap().message, "the client of the debugger has disconnected");
}

#[test]
fn a_run_that_is_to_continue_continues_without_the_client() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[line(5)]);
    client.stop();
    client.ok("disconnect", json!({ "terminateDebuggee": false }));
    client.close();
    let Some(EventKind::RunEnded(end)) = world.events().pop().map(|event| event.kind) else { panic!() };
    assert_eq!(end.status, RunStatus::Completed);
}

/// Editors send this for sessions that look at a run, whatever the debugger has made of it.
#[test]
fn a_fork_of_a_run_that_is_looked_at_asks_nothing_without_the_client() {
    let world = World::new(PROGRAM, ANSWERS);
    world.run();
    let mut client = world.look_at_last(json!({}), &[line(5)]);
    client.stop();
    client.evaluate(":fork");
    client.ok("disconnect", json!({ "terminateDebuggee": false }));
    client.close();
    let Some(EventKind::RunEnded(end)) = world.events().pop().map(|event| event.kind) else { panic!() };
    assert_eq!(end.status, RunStatus::Interrupted);
}

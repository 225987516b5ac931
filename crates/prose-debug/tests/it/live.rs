//! Programs that are started by the debugger.

use expect_test::expect;
use prose_vm::event::{EventKind, RunStatus};
use serde_json::json;

use crate::client::{World, check, line};

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

#[test]
fn branches_are_threads_and_one_of_them_can_be_paused() {
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
    let threads = client.ok("threads", json!({}));
    let threads: Vec<(u64, String)> = threads["threads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|thread| (thread["id"].as_u64().unwrap(), thread["name"].as_str().unwrap().to_owned()))
        .collect();
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

//! Runs that have ended, step by step and backwards.

use expect_test::expect;
use serde_json::json;

use crate::client::{World, check, line};

const PROGRAM: &str = r#"let topic = "tides"
block review(text):
  let notes = session "Review {text}"
  output notes
let draft = session "Draft {topic}"
for word in ["low", "high"]:
  let found = do review(word)
session "Report {draft}"
"#;

const ANSWERS: &str = r#"
[[session]]
pattern = "Draft"
reply = "a draft"
[[session]]
pattern = "Review low"
reply = "low is good"
[[session]]
pattern = "Review high"
reply = "high is good"
[[session]]
reply = "a report"
"#;

/// A world with a run of a program.
fn recorded(program: &str, answers: &str) -> World {
    let world = World::new(program, answers);
    world.run();
    // Nothing could answer now.
    world.write("answers.toml", "");
    world
}

#[test]
fn a_recorded_run_moves_in_both_directions() {
    let world = recorded(PROGRAM, ANSWERS);
    let before = std::fs::read(world.last().path).unwrap();
    let mut client = world.look_at_last(json!({}), &[]);
    let mut seen = vec![client.stop()];
    for step in
        ["next", "next", "next", "stepIn", "next", "next", "stepBack", "stepBack", "stepBack", "stepOut"]
    {
        let stop = client.go(step);
        seen.push(format!("{step}: {stop}"));
    }
    seen.push(client.locals());
    seen.push(client.go("reverseContinue"));
    check(
        &seen,
        expect![[r#"
        entry: main.prose main.prose:1
        next: step: main.prose main.prose:5
        next: step: main.prose main.prose:6
        next: step: iteration 1 of 2 main.prose:7 < main.prose main.prose:6
        stepIn: step: block review main.prose:3 < iteration 1 of 2 main.prose:7 < main.prose main.prose:6
        next: step: block review main.prose:4 < iteration 1 of 2 main.prose:7 < main.prose main.prose:6
        next: step: iteration 2 of 2 main.prose:7 < main.prose main.prose:6
        stepBack: step: iteration 1 of 2 main.prose:7 < main.prose main.prose:6
        stepBack: step: main.prose main.prose:6
        stepBack: step: main.prose main.prose:5
        stepOut: step: main.prose ?:0
        topic = tides
        draft = a draft
        found = high is good
        step: main.prose main.prose:1"#]],
    );
    client.disconnect();
    // It was only read, and no other run was started.
    assert_eq!(std::fs::read(world.last().path).unwrap(), before);
    assert_eq!(world.project().list_runs().unwrap().len(), 1);
}

#[test]
fn stepping_forward_and_back_shows_the_same() {
    let world = recorded(PROGRAM, ANSWERS);
    let mut client = world.look_at_last(json!({}), &[]);
    let mut there = vec![client.stop()];
    loop {
        there.push(client.go("next"));
        there.push(client.locals());
        if there.iter().any(|line| line.contains("main.prose:8")) {
            break;
        }
    }
    let (stops, locals): (Vec<_>, Vec<_>) = there[1..].chunks(2).map(|pair| (&pair[0], &pair[1])).unzip();
    for (stop, seen) in stops.iter().zip(&locals).rev().skip(1) {
        assert_eq!(client.go("stepBack"), **stop);
        assert_eq!(client.locals(), **seen);
    }
    client.disconnect();
}

#[test]
fn breakpoints_stop_the_movement_in_both_directions() {
    let world = recorded(PROGRAM, ANSWERS);
    let mut client = world.look_at_last(json!({}), &[line(3)]);
    let mut seen = vec![client.stop()];
    for step in ["continue", "continue", "continue", "reverseContinue", "reverseContinue", "reverseContinue"]
    {
        let stop = client.go(step);
        seen.push(format!("{step}: {stop}"));
    }
    check(
        &seen,
        expect![[r#"
        entry: main.prose main.prose:1
        continue: breakpoint: block review main.prose:3 < iteration 1 of 2 main.prose:7 < main.prose main.prose:6
        continue: breakpoint: block review main.prose:3 < iteration 2 of 2 main.prose:7 < main.prose main.prose:6
        continue: step: main.prose ?:0
        reverseContinue: breakpoint: block review main.prose:3 < iteration 2 of 2 main.prose:7 < main.prose main.prose:6
        reverseContinue: breakpoint: block review main.prose:3 < iteration 1 of 2 main.prose:7 < main.prose main.prose:6
        reverseContinue: step: main.prose main.prose:1"#]],
    );
    client.disconnect();
}

#[test]
fn a_failed_run_is_shown_where_it_failed() {
    let world = World::new(
        "block check(text):\n  session \"Check {text}\"\nlet draft = session \"Draft\"\ndo check(draft)\n",
        "[[session]]\npattern = \"Draft\"\nreply = \"a draft\"\n[[session]]\nfail = \"it is wrong\"\n",
    );
    world.run();
    let mut client = world.look_at_last(json!({}), &[]);
    let mut seen = vec![client.stop()];
    let info = client.ok("exceptionInfo", json!({ "threadId": 1 }));
    seen.push(info["description"].as_str().unwrap().to_owned());
    let session = client.scope("Session");
    seen.push(client.rows(&session));
    seen.push(client.go("stepBack"));
    check(
        &seen,
        expect![[r#"
        entry: block check main.prose:2 < main.prose main.prose:4
        it is wrong
        prompt = Check a draft ⏎  ⏎ Execution scope: ⏎   execution_id: 1 ⏎   block: check ⏎   depth: 1
        failure = it is wrong
        step: block check main.prose:2 < main.prose main.prose:4"#]],
    );
    client.disconnect();
}

#[test]
fn continuing_at_the_end_ends_the_session() {
    let world = recorded(PROGRAM, ANSWERS);
    let mut client = world.look_at_last(json!({}), &[]);
    client.stop();
    let end = client.go("continue");
    expect!["step: main.prose ?:0"].assert_eq(&end);
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
}

#[test]
fn the_debugger_goes_to_any_execution_of_a_line() {
    let world = recorded(PROGRAM, ANSWERS);
    let mut client = world.look_at_last(json!({}), &[]);
    client.stop();
    let source = json!({ "path": world.path("main.prose") });
    let targets = client.ok("gotoTargets", json!({ "source": source, "line": 3 }));
    let targets = targets["targets"].as_array().unwrap().clone();
    let mut seen: Vec<String> =
        targets.iter().map(|target| target["label"].as_str().unwrap().to_owned()).collect();
    client.ok("goto", json!({ "threadId": 1, "targetId": targets[1]["id"] }));
    seen.push(client.stop());
    seen.push(client.evaluate("text"));
    seen.push(client.evaluate("word"));
    // The call starts again.
    client.ok("next", json!({ "threadId": 1 }));
    seen.push(client.stop());
    let frame = client.frame(1);
    client.ok("restartFrame", json!({ "frameId": frame }));
    seen.push(client.stop());
    check(
        &seen,
        expect![[r#"
        block review in iteration 1 of 2 (event 17)
        block review in iteration 2 of 2 (event 32)
        goto: block review main.prose:3 < iteration 2 of 2 main.prose:7 < main.prose main.prose:6
        high
        high
        step: block review main.prose:4 < iteration 2 of 2 main.prose:7 < main.prose main.prose:6
        goto: block review main.prose:3 < iteration 2 of 2 main.prose:7 < main.prose main.prose:6"#]],
    );
    client.disconnect();
}

#[test]
fn a_run_of_a_changed_program_is_shown_with_its_own_text() {
    let world = recorded(PROGRAM, ANSWERS);
    world.write("main.prose", "session \"Something else\"\n");
    let mut client = world.look_at_last(json!({}), &[]);
    client.stop();
    let trace = client.ok("stackTrace", json!({ "threadId": 1 }));
    let source = trace["stackFrames"][0]["source"].clone();
    assert_eq!(source["path"], json!(null));
    let text = client.ok("source", json!({ "source": source, "sourceReference": source["sourceReference"] }));
    assert_eq!(text["content"], PROGRAM);
    client.disconnect();
}

#[test]
fn a_run_in_a_database_is_shown_as_one_in_files() {
    let seen = |settings: &str| {
        let world = World::new(PROGRAM, ANSWERS);
        world.write("prose.toml", settings);
        let mut live = world.launch(&[line(3)]);
        let mut seen = vec![live.stop(), live.locals(), live.go("stepBack"), live.go("continue")];
        live.ok(
            "setBreakpoints",
            json!({ "source": { "path": world.path("main.prose") }, "breakpoints": [] }),
        );
        live.ok("continue", json!({ "threadId": 1 }));
        live.event("terminated");
        live.close();
        world.write("answers.toml", "");
        let mut client = world.look_at_last(json!({}), &[]);
        seen.push(client.stop());
        for step in ["next", "next", "stepIn", "stepBack", "stepOut"] {
            seen.push(client.go(step));
        }
        seen.push(client.locals());
        (seen, world.last().path)
    };
    let (files, journal) = seen("");
    let (database, path) = seen("run.state = \"sqlite\"\n");
    assert_eq!(database, files);
    let name = |path: std::path::PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    assert_eq!((name(journal).as_deref(), name(path).as_deref()), (Some("journal.jsonl"), Some("state.db")));
}

//! Changes of what is recorded: they start a fork, and the run itself stays as it was.

use expect_test::expect;
use serde_json::json;

use crate::changes::{story_of, without_name};
use crate::client::{Client, World, check, line};

const PROGRAM: &str = r#"let topic = "tides"
let draft = session "Draft {topic}"
let second = session "Second {draft}"
output third = session "Third {second}"
"#;

const ANSWERS: &str = r#"
[[session]]
pattern = "Draft tides"
reply = "a draft"
[[session]]
pattern = "Draft winds"
reply = "a draft of winds"
[[session]]
pattern = "Second a draft of winds"
reply = "second of winds"
[[session]]
pattern = "Second what if"
reply = "second of what if"
[[session]]
pattern = "another prompt"
reply = "second of another prompt"
[[session]]
pattern = "Second"
reply = "second"
[[session]]
pattern = "Third second of"
reply = "third of a fork"
[[session]]
reply = "third"
"#;

/// A world with a run, and what its journal is.
fn recorded() -> (World, Vec<u8>) {
    let world = World::new(PROGRAM, ANSWERS);
    world.run();
    let journal = std::fs::read(world.last().path).unwrap();
    (world, journal)
}

/// Looks at the run, with answers for what a fork asks.
fn look_at(world: &World, at: u32) -> Client {
    let mut client = world.look_at_last(json!({ "script": "answers.toml" }), &[line(at)]);
    client.stop();
    expect!["breakpoint"].assert_eq(client.go("continue").split(':').next().unwrap());
    client
}

/// Ends the session, and returns the story of the fork.
#[track_caller]
fn ended(world: &World, mut client: Client, original: &[u8]) -> Vec<String> {
    let fork = client.run();
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    let runs = world.project().list_runs().unwrap();
    assert_eq!(runs.len(), 2, "{runs:?}");
    let before = runs.iter().find(|run| run.id != fork).unwrap();
    assert_eq!(std::fs::read(before.folder.join("journal.jsonl")).unwrap(), original);
    story_of(&world.events_of(&fork))
}

#[test]
fn a_variable_that_is_set_in_the_past_starts_a_fork() {
    let (world, journal) = recorded();
    let mut client = look_at(&world, 2);
    let run = client.run();
    let locals = client.scope("Locals");
    let set =
        client.ok("setVariable", json!({ "variablesReference": locals, "name": "topic", "value": "winds" }));
    assert_eq!(set["value"], "winds");
    let fork = client.run();
    assert_ne!(run, fork);
    client.console("The debugger continues with the fork");
    let mut seen = vec![client.stack(1), client.locals()];
    let session = client.scope("Session");
    seen.push(client.rows(&session));
    seen.extend(ended(&world, client, &journal));
    check(
        &seen,
        expect![[r#"
        main.prose main.prose:2
        topic = winds
        prompt = Draft winds
        status = not asked yet
        fork before event 6, sets topic at s1 to Text("winds") by Editor
        reply "a draft of winds"
        reply "second of winds"
        reply "third of a fork"
        Completed [("third", Text("third of a fork"))]"#]],
    );
}

#[test]
fn a_reply_is_changed_at_the_stop_after_it() {
    let (world, journal) = recorded();
    let mut client = look_at(&world, 2);
    // To the prompt, and to the reply.
    let mut seen = vec![client.go("stepIn"), client.go("stepIn")];
    let session = client.scope("Session");
    let arguments = json!({ "variablesReference": session, "name": "reply", "value": "what if" });
    client.ok("setVariable", arguments);
    let session = client.scope("Session");
    seen.push(without_name(&client.rows(&session)));
    seen.push(client.go("next"));
    seen.push(client.locals());
    seen.extend(ended(&world, client, &journal));
    check(
        &seen,
        expect![[r#"
            step: main.prose main.prose:2
            step: main.prose main.prose:2
            prompt = Draft tides
            reply = what if
            given = by ada in the editor
            step: main.prose main.prose:3
            topic = tides
            draft = what if
            fork before event 9, replies at s1/1 by Editor
            reply "what if", given, reused
            reply "second of what if"
            reply "third of a fork"
            Completed [("third", Text("third of a fork"))]"#]],
    );
}

#[test]
fn a_recorded_session_gets_another_prompt_is_skipped_or_asked_again() {
    for (command, expected) in [
        (
            ":prompt another prompt",
            expect![[r#"
            The session is asked with this prompt. The debugger continues with a fork of the run.
            main.prose main.prose:3
            fork before event 14
            reply "a draft", reused
            {"command":"prompt","request":2,"text":"another prompt"} by Editor
            reply "second of another prompt"
            reply "second of another prompt"
            Completed [("third", Text("second of another prompt"))]"#]],
        ),
        (
            ":reply what if",
            expect![[r#"
            The session has this reply. The debugger continues with a fork of the run.
            main.prose main.prose:3
            fork before event 15, replies at s2/1 by Editor
            reply "a draft", reused
            reply "what if", given, reused
            reply "third"
            Completed [("third", Text("third"))]"#]],
        ),
        (
            ":skip",
            expect![[r#"
            The session ends with an empty result. The debugger continues with a fork of the run.
            main.prose main.prose:3
            fork before event 14
            reply "a draft", reused
            {"command":"skip","request":2} by Editor
            reply "", skipped
            reply "third"
            Completed [("third", Text("third"))]"#]],
        ),
        (
            ":retry",
            expect![[r#"
            The session starts again. The debugger continues with a fork of the run.
            main.prose main.prose:3
            fork before event 14
            reply "a draft", reused
            reply "second"
            reply "third"
            Completed [("third", Text("third"))]"#]],
        ),
    ] {
        let (world, journal) = recorded();
        let mut client = look_at(&world, 3);
        let mut seen = vec![client.evaluate(command), client.stack(1)];
        seen.extend(ended(&world, client, &journal));
        check(&seen, expected);
    }
}

#[test]
fn a_run_that_is_executed_is_forked_after_a_step_back() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[line(2), line(4)]);
    let mut seen = vec![client.stop(), client.go("continue"), client.go("reverseContinue")];
    let original = client.run();
    let locals = client.scope("Locals");
    client.ok("setVariable", json!({ "variablesReference": locals, "name": "topic", "value": "winds" }));
    let fork = client.run();
    seen.push(client.go("continue"));
    seen.push(client.locals());
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    seen.push("the fork:".to_owned());
    seen.extend(story_of(&world.events_of(&fork)));
    seen.push("the original, which can be resumed:".to_owned());
    seen.extend(story_of(&world.events_of(&original)));
    check(
        &seen,
        expect![[r#"
        breakpoint: main.prose main.prose:2
        breakpoint: main.prose main.prose:4
        breakpoint: main.prose main.prose:2
        breakpoint: main.prose main.prose:4
        topic = winds
        draft = a draft of winds
        second = second of winds
        the fork:
        fork before event 6, sets topic at s1 to Text("winds") by Editor
        reply "a draft of winds"
        reply "second of winds"
        reply "third of a fork"
        Completed [("third", Text("third of a fork"))]
        the original, which can be resumed:
        reply "a draft"
        reply "second"
        Interrupted []"#]],
    );
}

#[test]
fn a_fork_asks_again_what_comes_after_the_stop() {
    let (world, journal) = recorded();
    let mut client = look_at(&world, 4);
    let mut seen = vec![client.evaluate(":fork")];
    seen.extend(ended(&world, client, &journal));
    check(
        &seen,
        expect![[r#"
        The debugger continues with a fork of the run.
        fork before event 19
        reply "a draft", reused
        reply "second", reused
        reply "third"
        Completed [("third", Text("third"))]"#]],
    );
}

#[test]
fn a_program_that_has_changed_is_not_forked() {
    let (world, _) = recorded();
    let mut client = look_at(&world, 2);
    let run = client.run();
    world.write("main.prose", &PROGRAM.replace("Third", "Fourth"));
    let mut seen = vec![client.evaluate(":reply what if").replace(&run, "RUN")];
    // The debugger stands where it was.
    seen.push(client.stack(1));
    check(
        &seen,
        expect![[r#"
        the program has changed since run RUN; `prose runs fork RUN --program FILE` makes a new run with it as it is now
        main.prose main.prose:2"#]],
    );
    client.disconnect();
    assert_eq!(world.project().list_runs().unwrap().len(), 1);
}

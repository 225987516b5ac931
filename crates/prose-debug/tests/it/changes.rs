//! What a person changes at a stop, and how the journal records it.

use expect_test::expect;
use prose_narration::{Markers, Narrator};
use prose_run::questions::user;
use prose_run::{FromRun, Start};
use prose_state::replay::RecordedRun;
use prose_vm::activity::AnswerSource;
use prose_vm::effect::Outcome;
use prose_vm::event::{Event, EventKind, RunStatus};
use serde_json::json;

use crate::client::{Client, World, check, line};

const PROGRAM: &str = r#"let draft = session "Draft"
let second = session "Second {draft}"
output third = session "Third {second}"
"#;

const ANSWERS: &str = r#"
[[session]]
pattern = "by hand"
reply = "asked by hand"
[[session]]
reply = "from the script"
"#;

/// What a person did in a run, and its outcomes.
pub(crate) fn story_of(events: &[Event]) -> Vec<String> {
    let lines = events.iter().filter_map(|event| match &event.kind {
        EventKind::RunStarted(head) => {
            let earlier = head.earlier.as_ref()?;
            let set = earlier.variables.iter();
            let set: String =
                set.map(|set| format!(", sets {} at {} to {:?}", set.name, set.place, set.value)).collect();
            let replies: String =
                earlier.replies.iter().map(|place| format!(", replies at {place}")).collect();
            let by = earlier.by.as_ref().map_or(String::new(), |by| format!(" by {:?}", by.from));
            Some(format!("fork before event {:?}{set}{replies}{by}", earlier.before.unwrap_or_default()))
        }
        EventKind::Commanded { command, by } => {
            Some(format!("{} by {:?}", serde_json::to_string(&command).unwrap(), by.from))
        }
        EventKind::VariableSet { name, value, by } => {
            Some(format!("{name} is set to {value:?} at {} by {:?}", event.place, by.from))
        }
        EventKind::Effect { outcome: Outcome::Reply(reply), work, .. } => {
            let given = work.given_by.as_ref().map_or("", |_| ", given");
            let skipped = if reply.is_skipped { ", skipped" } else { "" };
            let reused = if work.is_reused { ", reused" } else { "" };
            Some(format!("reply {:?}{given}{skipped}{reused}", &*reply.text))
        }
        EventKind::RunEnded(end) => Some(format!("{:?} {:?}", end.status, end.outputs)),
        _ => None,
    });
    lines.collect()
}

/// A line without the name of the user of this machine.
pub(crate) fn without_name(line: &str) -> String {
    line.replace(&user(AnswerSource::Editor).to_string(), "by ada in the editor")
}

/// The story of the run that was started last.
fn story(world: &World) -> Vec<String> {
    story_of(&world.events())
}

#[test]
fn replies_are_given_by_hand_prompts_are_changed_and_sessions_are_skipped() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[line(1), line(2), line(3)]);
    client.stop();
    let session = client.scope("Session");
    let set = client.ok(
        "setVariable",
        json!({ "variablesReference": session, "name": "reply", "value": "\"my own draft\"" }),
    );
    assert_eq!(set["value"], "my own draft");
    client.go("continue");
    assert_eq!(client.evaluate("draft"), "my own draft");
    let session = client.scope("Session");
    client.ok(
        "setVariable",
        json!({ "variablesReference": session, "name": "prompt", "value": "Write it by hand" }),
    );
    client.go("continue");
    assert_eq!(client.evaluate("second"), "asked by hand");
    assert_eq!(client.evaluate(":skip"), "The session ends with an empty result.");
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    check(
        &story(&world),
        expect![[r#"
        {"command":"reply","request":1,"text":"my own draft"} by Editor
        reply "my own draft", given
        {"command":"prompt","request":2,"text":"Write it by hand"} by Editor
        reply "asked by hand"
        {"command":"skip","request":3} by Editor
        reply "", skipped
        Completed [("third", Text(""))]"#]],
    );
}

#[test]
fn a_changed_run_is_replayed_without_a_question() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[line(1)]);
    client.stop();
    client.evaluate(":reply my own draft");
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    let before = story(&world);
    let recorded = world.last();
    let request = world.replay(FromRun::replay(recorded));
    let finished = prose_run::prepare(request).unwrap().execute(prose_run::RunHooks {
        questions: prose_run::Questions::unanswered(),
        observer: &mut |_, _| {},
        interrupted: Box::pin(std::future::pending()),
        narration: None,
    });
    assert_eq!(finished.unwrap().not_recorded, None);
    let replies = |story: Vec<String>| -> Vec<String> {
        let replies = story.into_iter().filter(|line| line.starts_with("reply"));
        replies.map(|line| line.replace(", reused", "")).collect()
    };
    assert_eq!(replies(before), replies(story(&world)));
}

const ECHO: &str = r#"
[[session]]
pattern = "Draft of mine"
reply = "a draft of mine"
[[session]]
pattern = "mine"
reply = "more of mine"
[[session]]
reply = "from the script"
"#;

const VARIABLES: &str = r#"let topic = "tides"
const kind = "a poem"
let draft = session "Draft of {topic}"
for word in ["low", "high"]:
  let found = session "Find {word} in {topic}"
output end = session "End {draft} {topic} {kind}"
"#;

/// Sets a variable of the scope `Locals`.
fn set(client: &mut Client, name: &str, value: &str) {
    let locals = client.scope("Locals");
    let arguments = json!({ "variablesReference": locals, "name": name, "value": value });
    client.ok("setVariable", arguments);
}

#[test]
fn a_variable_is_set_in_the_run_itself() {
    let world = World::new(VARIABLES, ECHO);
    let mut client = world.launch(&[line(3), line(6)]);
    client.stop();
    let run = client.run();
    set(&mut client, "topic", "nothing");
    // The last value counts, and a constant is set by a person, too.
    set(&mut client, "topic", "\"mine\"");
    set(&mut client, "kind", "a song");
    let mut seen = vec![client.stack(1), client.locals()];
    let session = client.scope("Session");
    seen.push(client.rows(&session));
    // The movement passes the start of the statement once.
    seen.push(client.go("stepBack"));
    seen.push(client.locals());
    seen.push(client.go("continue"));
    seen.push(client.locals());
    seen.push(client.go("continue"));
    let response = client.ok("setExpression", json!({ "expression": "draft", "value": "my last word" }));
    assert_eq!(response["value"], "my last word");
    seen.push(client.locals());
    assert_eq!(client.run(), run, "it is the same run");
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    let console = client.disconnect();
    assert!(console.contains("`topic` was set to mine\n"), "{console}");
    seen.extend(story(&world));
    check(
        &seen,
        expect![[r#"
        main.prose main.prose:3
        topic = mine
        kind = a song
        prompt = Draft of mine
        status = not asked yet
        step: main.prose main.prose:2
        topic = tides
        breakpoint: main.prose main.prose:3
        topic = mine
        kind = a song
        breakpoint: main.prose main.prose:6
        topic = mine
        kind = a song
        draft = my last word
        found = more of mine
        topic is set to Text("nothing") at s2 by Editor
        topic is set to Text("mine") at s2 by Editor
        kind is set to Text("a song") at s2 by Editor
        reply "a draft of mine"
        reply "more of mine"
        reply "more of mine"
        draft is set to Text("my last word") at s4 by Editor
        reply "more of mine"
        Completed [("end", Text("more of mine"))]"#]],
    );
    assert_eq!(world.project().list_runs().unwrap().len(), 1);
}

#[test]
fn a_run_with_variables_that_were_set_is_resumed_and_replayed() {
    let world = World::new(VARIABLES, ECHO);
    let mut client = world.launch(&[line(5)]);
    client.stop();
    set(&mut client, "topic", "mine");
    let run = client.run();
    client.go("continue");
    // The client is gone, and the run was interrupted in the loop.
    client.close();
    let Some(EventKind::RunEnded(end)) = world.events().pop().map(|event| event.kind) else { panic!() };
    assert_eq!(end.status, RunStatus::Interrupted);
    let execute = |start: Start| {
        let mut request = world.replay(FromRun::replay(world.last()));
        (request.harness, request.script) = (Some("script".to_owned()), Some(world.path("answers.toml")));
        request.start = start;
        let finished = prose_run::prepare(request).unwrap().execute(prose_run::RunHooks {
            questions: prose_run::Questions::unanswered(),
            observer: &mut |_, _| {},
            interrupted: Box::pin(std::future::pending()),
            narration: None,
        });
        finished.unwrap()
    };
    let resumed = execute(Start::Resume { run: run.as_str().into(), accept_changes: false });
    assert_eq!(resumed.end.status, RunStatus::Completed);
    let story = story_of(&world.events_of(&run));
    check(
        &story,
        expect![[r#"
        reply "from the script"
        topic is set to Text("mine") at s3/i0/1 by Editor
        reply "more of mine"
        reply "more of mine"
        reply "more of mine"
        Completed [("end", Text("more of mine"))]"#]],
    );
    let recorded = RecordedRun::in_folder(&world.project().existing_run(&run).unwrap()).unwrap();
    let replayed = execute(Start::From(Box::new(FromRun::replay(recorded))));
    assert_eq!((replayed.not_recorded, replayed.end.outputs), (None, resumed.end.outputs));
}

#[test]
fn the_view_and_the_narration_of_a_run_say_what_a_person_did() {
    let world = World::new(VARIABLES, ECHO);
    let mut client = world.launch(&[line(3), line(6)]);
    client.stop();
    set(&mut client, "topic", "mine");
    client.evaluate(":prompt Draft of mine, please");
    client.go("continue");
    client.evaluate(":reply the end");
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    let mut narrator = Narrator::new(Markers::Brackets);
    let mut lines = Vec::new();
    for event in world.events() {
        lines.extend(narrator.narrate(&event));
    }
    lines.retain(|line| line.contains("[Warning]"));
    let lines: Vec<String> = lines.iter().map(|line| without_name(line)).collect();
    check(
        &lines,
        expect![[r#"
            [Warning] variable `topic` was set by ada in the editor, not by the program
            [Warning] the prompt was changed by ada in the editor
            [Warning] the reply was given by ada in the editor, not by an agent"#]],
    );
}

#[test]
fn what_cannot_be_changed_is_refused() {
    let world = World::new(VARIABLES, ECHO);
    let mut client = world.launch(&[line(5)]);
    client.stop();
    let mut seen = Vec::new();
    for (scope, name) in
        [("Locals", "word"), ("Session", "model"), ("Run", "sessions"), ("Locals", "nothing")]
    {
        let reference = client.scope(scope);
        let arguments = json!({ "variablesReference": reference, "name": name, "value": "x" });
        seen.push(client.refused("setVariable", arguments));
    }
    for expression in ["topic.size", "wind"] {
        seen.push(client.refused("setExpression", json!({ "expression": expression, "value": "x" })));
    }
    client.go("stepIn");
    seen.push(client.refused("setExpression", json!({ "expression": "topic", "value": "x" })));
    client.go("next");
    seen.push(client.evaluate(":fork"));
    check(
        &seen,
        expect![[r#"
        `word` belongs to the body around it and keeps its value there
        `model` cannot be changed; the prompt and the reply of a session can
        what the run has done cannot be changed
        `nothing` has no value at this point of the run
        `topic.size` is not a variable; a part of a value changes with the whole variable
        `wind` has no value at this point of the run
        variables are set at the start of a statement; step to the next one
        nothing was asked after this point, so nothing can be asked again"#]],
    );
    client.disconnect();
}

#[test]
fn variables_of_blocks_branches_and_imported_programs_are_set() {
    let world = World::new(
        r#"use "./part.prose" as part
let topic = "tides"
block review(text):
  let notes = session "Review {text} of {topic}"
  output notes
let a = do review("low")
parallel:
  b = session "Branch of {topic}"
  do:
    let inner = "water"
    session "Inner {inner} of {topic}"
let c = part(topic: "winds")
output end = session "End {topic} {c}"
"#,
        "[[session]]\nreply = \"done\"\n",
    );
    world.write(
        "part.prose",
        "input topic: \"What about?\"\nlet words = session \"Find {topic}\"\noutput words = words\n",
    );
    let mut client = world.client();
    client.ok("initialize", json!({ "adapterID": "prose" }));
    client.ok("launch", json!({ "program": "main.prose", "script": "answers.toml" }));
    client.event("initialized");
    let main = json!({ "path": world.path("main.prose") });
    client.ok("setBreakpoints", json!({ "source": main, "breakpoints": [line(4), line(11)] }));
    let part = json!({ "path": world.path("part.prose") });
    client.ok("setBreakpoints", json!({ "source": part, "breakpoints": [line(2)] }));
    client.ok("configurationDone", json!({}));
    let prompt = |client: &mut Client, thread: u64| {
        let session = client.scope_of(thread, "Session");
        client.rows(&session).lines().next().unwrap().to_owned()
    };
    // A parameter of the block, and a variable of the program that it sees.
    let mut seen = vec![client.stop()];
    set(&mut client, "text", "high");
    let program = client.scope("Program");
    let arguments = json!({ "variablesReference": program, "name": "topic", "value": "storms" });
    client.ok("setVariable", arguments);
    seen.push(prompt(&mut client, 1));
    // A variable of a branch, when the session of the other one has its reply already.
    client.ok("continue", json!({ "threadId": 1 }));
    let stopped = client.event("stopped");
    let thread = stopped["threadId"].as_u64().unwrap();
    while !replies_of(&world).contains(&"Branch of storms".to_owned()) {
        std::thread::yield_now();
    }
    let locals = client.scope_of(thread, "Locals");
    let arguments = json!({ "variablesReference": locals, "name": "inner", "value": "fire" });
    client.ok("setVariable", arguments);
    seen.push(prompt(&mut client, thread));
    // The input of an imported program.
    client.ok("continue", json!({ "threadId": 1 }));
    seen.push(client.stop());
    let inputs = client.scope("Inputs");
    let arguments = json!({ "variablesReference": inputs, "name": "topic", "value": "rain" });
    client.ok("setVariable", arguments);
    seen.push(prompt(&mut client, 1));
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    seen.extend(replies_of(&world));
    check(
        &seen,
        expect![[r#"
        breakpoint: block review main.prose:4 < main.prose main.prose:6
        prompt = Review high of storms ⏎  ⏎ Execution scope: ⏎   execution_id: 1 ⏎   block: review ⏎   depth: 1
        prompt = Inner fire of storms
        breakpoint: program part part.prose:2 < main.prose main.prose:12
        prompt = Find rain
        Review high of storms
        Branch of storms
        Inner fire of storms
        Find rain
        End storms {
          "words": "done"
        }"#]],
    );
    assert_eq!(world.project().list_runs().unwrap().len(), 1);
}

/// The tasks of the sessions that have replied, in the order in which they did.
pub(crate) fn replies_of(world: &World) -> Vec<String> {
    let mut asked = std::collections::BTreeMap::new();
    let mut replies = Vec::new();
    for event in world.events() {
        match event.kind {
            EventKind::SessionStarted { request, task } => drop(asked.insert(request, task)),
            EventKind::Effect { request, .. } => {
                replies.extend(asked.get(&request).map(|task| task.task.to_string()));
            }
            _ => {}
        }
    }
    replies
}

#[test]
fn a_changed_prompt_comes_after_the_variables() {
    let world = World::new(VARIABLES, ECHO);
    let mut client = world.launch(&[line(3)]);
    client.stop();
    client.evaluate(":prompt Draft of something else");
    let refused = client.refused("setExpression", json!({ "expression": "topic", "value": "mine" }));
    expect!["the session of this statement has another prompt already; set variables before its prompt"]
        .assert_eq(&refused);
    client.disconnect();
}

//! What a person changes at a stop, and how the journal records it.

use expect_test::expect;
use prose_run::FromRun;
use prose_vm::effect::Outcome;
use prose_vm::event::EventKind;
use serde_json::json;

use crate::client::{World, check, line};

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

/// The commands and outcomes of a run.
fn story(world: &World) -> Vec<String> {
    let events = world.events().into_iter();
    let lines = events.filter_map(|event| match event.kind {
        EventKind::Commanded { command, by } => {
            Some(format!("{} by {:?}", serde_json::to_string(&command).unwrap(), by.from))
        }
        EventKind::Effect { outcome: Outcome::Reply(reply), work, .. } => {
            let given = work.given_by.map_or("", |_| ", given");
            let skipped = if reply.is_skipped { ", skipped" } else { "" };
            Some(format!("reply {:?}{given}{skipped}", &*reply.text))
        }
        EventKind::RunEnded(end) => Some(format!("{:?} {:?}", end.status, end.outputs)),
        _ => None,
    });
    lines.collect()
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
        story.into_iter().filter(|line| line.starts_with("reply")).collect()
    };
    assert_eq!(replies(before), replies(story(&world)));
}

#[test]
fn what_cannot_be_changed_is_refused_with_a_way() {
    let world = World::new(PROGRAM, ANSWERS);
    world.run();
    let run = world.last().head.run;
    let mut client = world.look_at_last(json!({}), &[line(2)]);
    client.stop();
    client.go("continue");
    let mut seen = vec![client.evaluate(":reply something"), client.evaluate(":skip")];
    for (scope, name) in
        [("Session", "prompt"), ("Session", "status"), ("Session", "model"), ("Run", "sessions")]
    {
        let reference = client.scope(scope);
        let arguments = json!({ "variablesReference": reference, "name": name, "value": "x" });
        seen.push(client.refused("setVariable", arguments));
    }
    let seen: Vec<String> = seen.iter().map(|line| line.replace(run.as_str(), "RUN")).collect();
    check(
        &seen,
        expect![[r#"
        a run that has ended is not changed; `prose runs fork RUN --from @9` makes a new run that changes it
        a run that has ended is not changed; `prose runs fork RUN --from @9` makes a new run that changes it
        a run that has ended is not changed; `prose runs fork RUN --from @9` makes a new run that changes it
        a run that has ended is not changed; `prose runs fork RUN --from @9` makes a new run that changes it
        `model` cannot be changed; the prompt and the reply of a session can
        what the run has done cannot be changed"#]],
    );
    client.disconnect();
}

//! Runs that another process executes. Here it is another thread, which the debugger reaches by the same channel.

use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use expect_test::expect;
use prose_run::{FinishedRun, FromRun, Questions, RunHooks, Start, prepare};
use prose_vm::activity::AnswerSource;
use prose_vm::command::Command;
use prose_vm::effect::RequestId;
use prose_vm::event::{EventKind, RunStatus};
use prose_vm::questions::Attribution;
use serde_json::{Value as Json, json};

use crate::changes::story_of;
use crate::client::{World, check, line};

const PROGRAM: &str = r#"agent writer:
  prompt: "You write."
let first = session "First"
let waits = session: writer
  prompt: "gate"
let third = session "Third {waits}"
output end = session "End {third}"
"#;

const ANSWERS: &str = r#"
[[session]]
pattern = "gate"
reply = "too late"
delay = "600s"
[[session]]
pattern = "Third"
reply = "third"
[[session]]
reply = "done"
"#;

/// A run that is executed, at its second session.
struct Running {
    world: World,
    run: String,
    thread: JoinHandle<FinishedRun>,
}

fn start() -> Running {
    let world = World::new(PROGRAM, ANSWERS);
    let mut request = world.request(Start::New);
    (request.harness, request.script) = (Some("script".to_owned()), Some(world.path("answers.toml")));
    let (ready, started) = channel();
    let thread = std::thread::spawn(move || {
        let prepared = prepare(request).unwrap();
        let run = prepared.run().to_owned();
        let mut ready = Some((ready, run));
        let hooks = RunHooks {
            questions: Questions::unanswered(),
            observer: &mut |event, _| {
                // The session at the gate is asked.
                if matches!(event.kind, EventKind::SessionStarted { request: RequestId(2), .. })
                    && let Some((ready, run)) = ready.take()
                {
                    ready.send(run).unwrap();
                }
            },
            interrupted: Box::pin(std::future::pending()),
            narration: None,
        };
        prepared.execute(hooks).unwrap()
    });
    let run = started.recv().unwrap();
    Running { world, run, thread }
}

impl Running {
    fn attach(&self, breakpoints: &[Json]) -> crate::client::Client {
        self.world.start("attach", json!({ "run": self.run, "script": "answers.toml" }), breakpoints)
    }

    fn control(&self) -> prose_run::control::Client {
        let folder = self.world.project().existing_run(&self.run).unwrap();
        prose_run::control::Client::connect(&folder).unwrap()
    }

    /// Ends the session at the gate from elsewhere.
    fn reply(&self) {
        let by = Attribution { by: Some("ada".into()), from: AnswerSource::Terminal };
        let command = Command::Reply { request: RequestId(2), text: "by hand".into() };
        self.control().command(command, &by).unwrap();
    }
}

#[test]
fn a_run_of_another_process_is_followed_paused_and_continued() {
    let running = start();
    let mut client = running.attach(&[line(6)]);
    client.ok("pause", json!({ "threadId": 1 }));
    let mut seen = vec![client.stop()];
    assert!(running.control().status().unwrap().is_paused);
    let session = client.scope("Session");
    let rows = client.rows(&session);
    seen.extend(rows.lines().filter(|row| !row.starts_with("system")).map(str::to_owned));
    seen.push(client.evaluate(":reply by hand"));
    seen.push(client.go("continue"));
    seen.push(client.locals());
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    let finished = running.thread.join().unwrap();
    assert_eq!(finished.end.status, RunStatus::Completed);
    seen.extend(story_of(&running.world.events_of(&running.run)));
    check(
        &seen,
        expect![[r#"
        pause: main.prose main.prose:4
        agent = writer
        prompt = gate
        status = at work
        The session has this reply; the agent is not asked.
        breakpoint: main.prose main.prose:6
        first = done
        waits = by hand
        reply "done"
        {"command":"pause"} by Editor
        {"command":"reply","request":2,"text":"by hand"} by Editor
        reply "by hand", given
        {"command":"continue"} by Editor
        reply "third"
        reply "done"
        Completed [("end", Text("done"))]"#]],
    );
}

#[test]
fn a_run_of_another_process_continues_when_the_debugger_leaves() {
    for is_polite in [true, false] {
        let running = start();
        let mut client = running.attach(&[]);
        client.ok("pause", json!({ "threadId": 1 }));
        client.stop();
        // It belongs to the other process, whatever the client wants.
        let refused = client.refused("terminate", json!({}));
        assert!(refused.contains("`prose runs stop`"), "{refused}");
        match is_polite {
            true => drop(client.disconnect()),
            false => drop(client.close()),
        }
        assert!(!running.control().status().unwrap().is_paused);
        running.reply();
        assert_eq!(running.thread.join().unwrap().end.status, RunStatus::Completed);
    }
}

#[test]
fn a_run_of_another_process_is_forked_and_goes_on() {
    let running = start();
    let mut client = running.attach(&[]);
    client.ok("pause", json!({ "threadId": 1 }));
    client.stop();
    let mut seen = vec![client.go("stepBack")];
    let locals = client.scope("Locals");
    client.ok("setVariable", json!({ "variablesReference": locals, "name": "first", "value": "mine" }));
    let fork = client.run();
    assert_ne!(fork, running.run);
    seen.push(client.locals());
    seen.push(client.evaluate(":reply from the fork"));
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
    seen.extend(story_of(&running.world.events_of(&fork)));
    running.reply();
    assert_eq!(running.thread.join().unwrap().end.status, RunStatus::Completed);
    check(
        &seen,
        expect![[r#"
        step: main.prose main.prose:4
        first = mine
        The session has this reply; the agent is not asked.
        fork before event 9, sets first at s2 to Text("mine") by Editor
        reply "done", reused
        {"command":"reply","request":2,"text":"from the fork"} by Editor
        reply "from the fork", given
        reply "third"
        reply "done"
        Completed [("end", Text("done"))]"#]],
    );
}

#[test]
fn a_run_whose_process_is_gone_is_looked_at() {
    let running = start();
    running.reply();
    let Running { world, run, thread } = running;
    thread.join().unwrap();
    let mut client = world.start("attach", json!({ "run": run }), &[]);
    expect!["entry: main.prose main.prose:3"].assert_eq(&client.stop());
    client.disconnect();
    let from = FromRun::replay(world.last());
    assert_eq!(from.recorded.head.run, run);
}

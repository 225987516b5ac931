//! The logs of agents.

use std::fs;

use expect_test::expect;
use prose_state::agent_log::{AgentLogs, path};
use prose_vm::effect::RequestId;
use prose_vm::event::Event;
use serde_json::{Value, json};

fn event(at: u64, mut what: Value) -> Event {
    what["seq"] = json!(1);
    what["at"] = json!(at);
    what["place"] = json!("s0");
    serde_json::from_value(what).unwrap()
}

fn activity(at: u64, mut what: Value) -> Event {
    what["event"] = json!("activity");
    what["request"] = json!(7);
    event(at, what)
}

fn started() -> Event {
    let binding = json!({ "name": "draft", "kind": "let", "path": "bindings/draft.md", "source": "" });
    event(
        0,
        json!({ "event": "session-started", "request": 7, "task": { "task": "x", "prompt": "x", "binding": binding } }),
    )
}

fn ended(at: u64) -> Event {
    let outcome = json!({ "reply": { "text": "Done." } });
    event(
        at,
        json!({ "event": "effect", "request": 7, "effect": "session", "fingerprint": "", "outcome": outcome }),
    )
}

fn log(run: &std::path::Path) -> String {
    fs::read_to_string(run.join(path(RequestId(7), "draft"))).unwrap()
}

#[test]
fn a_log_has_what_the_agent_of_a_session_reported() {
    let run = tempfile::tempdir().unwrap();
    let mut logs = AgentLogs::new(run.path());
    let tool = |status: &str| json!({ "activity": "tool", "id": "1", "kind": "edit", "title": "Edit", "paths": ["a.rs"], "status": status });
    for event in [
        started(),
        activity(
            1,
            json!({ "activity": "agent", "id": "abc", "model": "small", "transcript": "/t/abc.jsonl" }),
        ),
        activity(2, json!({ "activity": "text", "text": "Let me\nse" })),
        activity(3, json!({ "activity": "text", "text": "e." })),
        activity(4, json!({ "activity": "reasoning", "text": "Hm." })),
        activity(5, tool("running")),
        activity(6, tool("completed")),
        activity(7, json!({ "activity": "denied", "title": "git push", "reason": "execute: deny" })),
        activity(
            8,
            json!({ "activity": "provider-retry", "attempt": 1, "status": 429, "delay_ms": 2000, "message": "slow\ndown" }),
        ),
        activity(9, json!({ "activity": "used", "input_tokens": 10, "output_tokens": 5, "cost": 0.02 })),
        activity(10, json!({ "activity": "stalled", "silent_ms": 600_000 })),
        activity(11, json!({ "activity": "text", "text": "Done." })),
        ended(12),
    ] {
        logs.observe(&event);
    }
    expect![[r#"
        [1970-01-01T00:00:00.001Z] session abc, model small, transcript /t/abc.jsonl
        [1970-01-01T00:00:00.002Z] text
        Let me
        see.
        [1970-01-01T00:00:00.004Z] reasoning
        Hm.
        [1970-01-01T00:00:00.005Z] tool 1 edit running: Edit a.rs
        [1970-01-01T00:00:00.006Z] tool 1 edit completed: Edit a.rs
        [1970-01-01T00:00:00.007Z] denied (execute: deny): git push
        [1970-01-01T00:00:00.008Z] provider failed with status 429, retry 1 in 2s: slow down
        [1970-01-01T00:00:00.009Z] used 10 input tokens, 5 output tokens, $0.0200
        [1970-01-01T00:00:00.010Z] no report for 10m
        [1970-01-01T00:00:00.011Z] text
        Done.
    "#]]
    .assert_eq(&log(run.path()));
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_a_log() {
    use std::os::unix::fs::PermissionsExt;

    let run = tempfile::tempdir().unwrap();
    let mut logs = AgentLogs::new(run.path());
    [started(), activity(1, json!({ "activity": "text", "text": "x" }))]
        .iter()
        .for_each(|event| logs.observe(event));
    let mode = |path: &str| fs::metadata(run.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("agents"), mode("agents/7-draft.log")), (0o700, 0o600));
}

#[test]
fn a_log_that_reaches_its_limit_says_what_was_cut() {
    let run = tempfile::tempdir().unwrap();
    let mut logs = AgentLogs::with_limit(run.path(), 1024 * 1024);
    logs.observe(&started());
    for at in 0..200 {
        logs.observe(&activity(at, json!({ "activity": "text", "text": "x".repeat(9_999) + "\n" })));
    }
    logs.observe(&ended(200));
    let log = log(run.path());
    let lines: Vec<&str> = log.lines().filter(|line| !line.starts_with('x')).collect();
    expect![[r#"
        [
            "[1970-01-01T00:00:00.000Z] text",
            "",
            "This log has reached its limit of 1 MiB; later reports are left out.",
            "Left out: 960000 bytes.",
        ]
    "#]]
    .assert_eq(&format!("{lines:#?}\n"));
    assert!((1_040_000..1_060_000).contains(&log.len()), "{}", log.len());
}

#[test]
fn a_session_without_reports_and_one_that_cannot_be_logged_have_no_log() {
    let run = tempfile::tempdir().unwrap();
    let mut logs = AgentLogs::new(run.path());
    [started(), ended(1)].iter().for_each(|event| logs.observe(event));
    assert!(!run.path().join("agents").exists());

    let mut logs = AgentLogs::new(&run.path().join("gone"));
    [started(), activity(1, json!({ "activity": "text", "text": "x" })), ended(2)]
        .iter()
        .for_each(|event| logs.observe(event));
    assert!(!run.path().join("gone").exists());
}

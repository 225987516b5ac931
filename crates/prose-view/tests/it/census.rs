//! The census of a run.

use expect_test::{Expect, expect};
use prose_view::{Handling, View};
use prose_vm::event::Event;
use serde_json::{Value, json};

use crate::events::{ended, event, recorded, run, run_ended, session};

/// The census in lines.
fn lines(view: &View) -> String {
    let census = view.census();
    let lines = [census.summary()].into_iter().chain(census.details(10));
    lines.map(|line| line + "\n").collect()
}

#[track_caller]
fn check(events: &[Event], expected: Expect) {
    expected.assert_eq(&lines(&View::of(events)));
}

fn error(line: u32, statement: &str, message: &str) -> Value {
    json!({ "kind": "session", "message": message, "statement": statement, "line": line })
}

fn failed(request: u64, error: &Value) -> Value {
    json!({ "event": "session-ended", "request": request, "status": "failed", "error": error })
}

/// A session that binds a name.
fn binds(request: u64, name: &str, retries: u32, attempt: u32) -> Value {
    let mut started = session(request, name);
    started["task"]["binding"]["name"] = json!(name);
    started["task"]["retries"] = json!(retries);
    started["task"]["attempt"] = json!(attempt);
    started
}

/// The outcome of a session that used so many tokens.
fn used(request: u64, tokens: u32) -> Value {
    let usage = json!({ "input_tokens": tokens, "output_tokens": 0 });
    json!({
        "event": "effect", "request": request, "effect": "session", "fingerprint": "",
        "outcome": { "reply": { "text": "Done." } }, "work": { "usage": usage }
    })
}

fn parallel(policy: &str, branches: &[&str]) -> Value {
    json!({ "event": "parallel-started", "branches": branches, "strategy": "all", "policy": policy, "count": branches.len(), "is_loop": false })
}

fn branch(index: u32, name: &str) -> Value {
    json!({ "event": "branch-started", "index": index, "name": name })
}

fn branch_failed(index: u32, name: &str, error: &Value) -> Value {
    json!({ "event": "branch-ended", "index": index, "name": name, "status": "failed", "value": { "$error": error } })
}

#[test]
fn a_real_run_has_a_retry_and_a_caught_failure() {
    check(
        &recorded(),
        expect![[r#"
        15 sessions done, 1 failed, 1 retried; 3 conditions judged
        line 22, facts: the agent did not answer in time (retried)
        line 43, session "Publish it": there is no room (caught)
    "#]],
    );
}

#[test]
fn what_a_failed_part_used_is_counted_once() {
    let lost = error(2, "a = session \"Look\"", "connection lost");
    let full = error(3, "session \"Save\"", "there is no room");
    let retrying = json!({ "event": "retrying", "attempt": 1, "retries": 1, "delay_ms": 0, "error": lost });
    let view = View::of(&run(vec![
        ("s0", parallel("continue", &["a", "b"])),
        ("s0/b0", branch(0, "a")),
        ("s0/b0/0", binds(1, "a", 1, 0)),
        ("s0/b0/0", used(1, 10)),
        ("s0/b0/0", failed(1, &lost)),
        ("s0/b0/0/a1", retrying),
        ("s0/b0/0/a1", binds(2, "a", 1, 1)),
        ("s0/b0/0/a1", used(2, 5)),
        ("s0/b0/0/a1", ended(2, "complete")),
        ("s0/b0/1", binds(3, "anon_001", 0, 0)),
        ("s0/b0/1", used(3, 100)),
        ("s0/b0/1", failed(3, &full)),
        ("s0/b0", branch_failed(0, "a", &full)),
        ("", run_ended("completed")),
    ]));
    expect![[r#"
        1 session done, 1 failed, 1 retried
        used by what failed: 115 tokens
        without a result: a (line 1)
        line 2, a: connection lost (retried)
        line 3, a: there is no room (on-fail: continue)
    "#]]
    .assert_eq(&lines(&view));
    let census = view.census();
    // The retry lies in the branch, whose usage has that of all attempts.
    assert_eq!(census.failed_usage.map(|usage| usage.input_tokens), Some(115));
    let handlings: Vec<Handling> = census.failures.iter().map(|failure| failure.handling).collect();
    assert_eq!(handlings, [Handling::Retry { attempts: 1 }, Handling::Continue]);
}

#[test]
fn what_ended_before_the_run_was_stopped_is_reused() {
    let stopped = |events: Vec<(&str, Value)>, stops_at: u64| {
        let mut events = run(events);
        events.iter_mut().filter(|event| event.seq >= stops_at).for_each(|event| {
            (event.at, event.paused) = (event.at + 50, 50);
        });
        View::of(&events).census().sessions
    };
    let events = vec![
        ("s0", binds(1, "a", 0, 0)),
        ("s0", ended(1, "complete")),
        ("s1", binds(2, "b", 0, 0)),
        ("s1", ended(2, "complete")),
        ("", run_ended("completed")),
    ];
    let reused = |stops_at| stopped(events.clone(), stops_at).reused;
    assert_eq!([2, 4, 5, 6].map(reused), [0, 1, 1, 2]);
}

#[test]
fn a_denied_tool_call_of_a_cancelled_session_counts_once_live_and_as_it_is_recorded() {
    let denial = json!({ "title": "git push", "reason": "bash: deny" });
    let mut reported = denial.clone();
    (reported["event"], reported["activity"], reported["request"]) =
        (json!("activity"), json!("denied"), json!(1));
    let skipped =
        json!({ "event": "branch-ended", "index": 0, "name": "a", "status": "skipped", "value": null });
    let expense = json!({
        "event": "expense", "request": 1, "effect": "session", "requests": 0, "work": { "denials": [denial] }
    });
    let live = vec![
        ("s0", parallel("fail-fast", &["a", "b"])),
        ("s0/b0", branch(0, "a")),
        ("s0/b0", binds(1, "a", 0, 0)),
        ("s0/b0", reported),
        ("s0/b0", skipped),
        ("s0/b0", expense),
        ("", run_ended("completed")),
    ];
    let recorded: Vec<_> = live.iter().filter(|(_, what)| what["event"] != "activity").cloned().collect();
    let [live, recorded] = [live, recorded].map(|events| View::of(&run(events)).census());
    assert_eq!(live, recorded);
    assert_eq!((live.denied, live.sessions.cancelled), (1, 1));
    assert!(live.missing.iter().any(|missing| missing.name == "a" && missing.is_cancelled));
}

#[test]
fn a_name_that_gets_a_value_later_is_not_missing() {
    let why = error(2, "a = session \"Look\"", "connection lost");
    let bound = |value: Value| {
        let binding = json!({ "name": "a", "kind": "let", "path": "bindings/a.md", "source": "" });
        json!({ "event": "bound", "binding": binding, "value": value, "mutable": true, "anonymous": false })
    };
    let missing = |value: Value| {
        let events = run(vec![
            ("s0", binds(1, "a", 0, 0)),
            ("s0", failed(1, &why)),
            ("s1", bound(value)),
            ("", run_ended("completed")),
        ]);
        View::of(&events).census().missing.len()
    };
    assert_eq!(missing(json!("other")), 0);
    assert_eq!(missing(Value::Null), 1);
}

#[test]
fn lists_have_a_limit_and_say_what_they_leave_out() {
    let why = error(2, "a = session \"Look\"", "connection lost");
    let mut events = vec![("s0".to_owned(), parallel("ignore", &[]))];
    for index in 0..120 {
        let name = format!("a{index}");
        let place = format!("s0/b{index}");
        events.push((place.clone(), branch(index, &name)));
        events.push((place, branch_failed(index, &name, &why)));
    }
    let events: Vec<_> = events.iter().map(|(place, what)| (place.as_str(), what.clone())).collect();
    let mut events = run(events);
    events.push(event(events.len() as u64 + 1, "", run_ended("completed")));
    let view = View::of(&events);
    assert_eq!(lines(&view).lines().last(), Some("110 more failures"));
    let shown = json!(view.since(0))["census"].take();
    let length = |key: &str| shown[key].as_array().unwrap().len();
    assert_eq!((length("failures"), length("missing")), (100, 100));
    assert_eq!((&shown["failureCount"], &shown["missingCount"]), (&json!(120), &json!(120)));
}

#[test]
fn a_session_that_a_person_had_start_again_is_retried() {
    let cancelled = json!({
        "event": "expense", "request": 1, "effect": "session", "requests": 1,
        "work": { "usage": { "input_tokens": 30, "output_tokens": 0 } }
    });
    let events = run(vec![
        ("s0", binds(1, "facts", 0, 0)),
        ("s0", cancelled),
        ("s0", used(1, 50)),
        ("s0", ended(1, "complete")),
        ("", run_ended("completed")),
    ]);
    check(
        &events,
        expect![[r#"
        1 session done, 1 retried
    "#]],
    );
    let requests = prose_view::Requests::of(&events);
    let shown = requests
        .all()
        .iter()
        .map(|request| format!("{:?} {:?}\n", request.status, request.usage.map(|usage| usage.input_tokens)));
    expect![[r#"
        Cancelled Some(30)
        Complete Some(50)
    "#]]
    .assert_eq(&shown.collect::<String>());
}

#[test]
fn a_session_that_a_person_has_skipped_at_work_is_not_retried() {
    let expense = json!({ "event": "expense", "request": 1, "effect": "session", "requests": 1, "work": {} });
    let skipped = json!({
        "event": "effect", "request": 1, "effect": "session", "fingerprint": "",
        "outcome": { "reply": { "text": "", "is_skipped": true } },
    });
    let events = |before: &[Value]| {
        let mut events = vec![("s0", binds(1, "a", 0, 0))];
        events.extend(before.iter().map(|event| ("s0", event.clone())));
        events.extend([("s0", skipped.clone()), ("s0", ended(1, "complete")), ("", run_ended("completed"))]);
        View::of(&run(events)).census().sessions.retried
    };
    // Cancelled by the skip itself, and before that because a person had it start again.
    assert_eq!(events(std::slice::from_ref(&expense)), 0);
    assert_eq!(events(&[expense.clone(), expense.clone()]), 1);
    assert_eq!(events(&[]), 0);
}

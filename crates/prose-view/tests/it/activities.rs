//! What backends report, live and from a journal.

use expect_test::{Expect, expect};
use prose_view::{Status, View, WaitsFor};
use serde_json::{Value, json};

use crate::events::{ended, event, run, session};

fn activity(request: u64, mut what: Value) -> Value {
    what["event"] = json!("activity");
    what["request"] = json!(request);
    what
}

fn tool(id: &str, title: &str, status: &str) -> Value {
    json!({ "activity": "tool", "id": id, "kind": "edit", "title": title, "paths": ["a.rs"], "status": status })
}

fn asked() -> Value {
    json!({ "activity": "asked", "id": "q", "title": "git push", "rule": "execute: prompt" })
}

fn answered(is_allowed: bool, from: &str) -> Value {
    json!({ "activity": "answered", "id": "q", "is_allowed": is_allowed, "from": from })
}

fn denied(reason: &str) -> Value {
    json!({ "activity": "denied", "title": "git push", "reason": reason })
}

/// A session with reports.
fn reporting(reports: Vec<Value>) -> Vec<(&'static str, Value)> {
    let reports = reports.into_iter().map(|report| ("s1", activity(1, report)));
    std::iter::once(("s1", session(1, "Write"))).chain(reports).collect()
}

fn used(input: u64, output: u64) -> Value {
    json!({ "activity": "used", "input_tokens": input, "output_tokens": output, "cost": 0.25 })
}

fn effect(request: u64, effect: &str, outcome: Value, work: Value) -> Value {
    json!({ "event": "effect", "request": request, "effect": effect, "fingerprint": "", "outcome": outcome, "work": work })
}

fn replied(work: Value) -> Value {
    effect(1, "session", json!({ "reply": { "text": "Done." } }), work)
}

/// What a session does after each of its activities.
#[track_caller]
fn check(activities: &[Value], expected: Expect) {
    let mut view = View::of(&run(vec![("s1", session(1, "Write"))]));
    let mut lines = String::new();
    for (number, what) in activities.iter().enumerate() {
        let at = 1000 * (number as u64 + 1);
        let mut what = activity(1, what.clone());
        what["at"] = json!(at);
        view.apply(&event(2, "s1", what));
        let (id, node) = view.nodes().nth(1).unwrap();
        let now = view.activity(id).unwrap();
        let waits = node.waits_for.map_or(String::new(), |waits| format!(" [{waits:?}]").to_lowercase());
        lines += &format!("{}: {}{waits}\n", now.calls, now.summary(view.now() + 100));
    }
    expected.assert_eq(&lines);
}

#[test]
fn a_session_shows_the_open_tool_call_else_its_last_line() {
    check(
        &[
            json!({ "activity": "reasoning", "text": "Let me think" }),
            json!({ "activity": "text", "text": "I look at the\ntests" }),
            json!({ "activity": "text", "text": " first.\n" }),
            tool("1", "Edit a.rs", "running"),
            tool("2", "cargo test", "running"),
            tool("2", "cargo test", "completed"),
            tool("1", "Edit a.rs", "completed"),
            json!({ "activity": "text", "text": "Done." }),
        ],
        expect![[r#"
            0: thinking
            0: tests
            0: tests first.
            1: Edit a.rs
            2: cargo test
            2: Edit a.rs
            2: tests first.
            2: Done.
        "#]],
    );
}

#[test]
fn a_session_shows_what_it_waits_for() {
    check(
        &[
            tool("1", "git push", "pending"),
            asked(),
            answered(false, "terminal"),
            json!({ "activity": "provider-retry", "attempt": 1, "status": 429, "delay_ms": 2100, "message": "slow down" }),
            json!({ "activity": "stalled", "silent_ms": 600_000 }),
            tool("1", "git push", "denied"),
        ],
        expect![[r#"
            1: git push
            1: waits for permission: git push [permission]
            1: git push
            1: provider failed 429, retrying in 2.0 s
            1: no activity for 4.1 s in git push
            1: git push
        "#]],
    );
}

#[test]
fn a_permission_question_waits_for_a_person() {
    let mut view = View::of(&run(reporting(vec![asked()])));
    let (_, node) = view.nodes().nth(1).unwrap();
    assert_eq!((node.status, node.waits_for), (Status::Waiting, Some(WaitsFor::Permission)));
    assert_eq!(view.root().unwrap().sessions.waiting, 1);
    view.apply(&event(2, "s1", activity(1, answered(true, "terminal"))));
    let (_, node) = view.nodes().nth(1).unwrap();
    assert_eq!((node.status, node.waits_for), (Status::Running, None));
}

#[test]
fn a_question_that_no_one_answers_is_not_waited_for() {
    let reports = vec![asked(), answered(false, "no-one"), denied("no one is there")];
    let view = View::of(&run(reporting(reports)));
    let (_, node) = view.nodes().nth(1).unwrap();
    assert_eq!((node.status, node.waits_for), (Status::Running, None));
}

/// What reports of a session come to, with the outcome that was recorded.
fn reported() -> (Vec<(&'static str, Value)>, Value) {
    let activities = reporting(vec![
        json!({ "activity": "agent", "id": "abc", "model": "small", "transcript": "/t/abc.jsonl" }),
        tool("1", "Edit a.rs", "running"),
        tool("1", "Edit a.rs", "completed"),
        tool("2", "cargo test", "completed"),
        used(10, 5),
        denied("execute: deny"),
        used(20, 1),
    ]);
    let work = json!({
        "usage": { "input_tokens": 30, "output_tokens": 6, "cost": 0.5 }, "calls": 2,
        "denials": [{ "title": "git push", "reason": "execute: deny" }],
        "agent": { "id": "abc", "model": "small", "transcript": "/t/abc.jsonl" }
    });
    (activities, work)
}

fn without_times(view: &View) -> Value {
    let mut nodes = json!(view.since(0))["nodes"].clone();
    for node in nodes.as_array_mut().unwrap() {
        for key in ["from", "to"] {
            node.as_object_mut().unwrap().remove(key);
            for attempt in node["attempts"].as_array_mut().into_iter().flatten() {
                attempt.as_object_mut().unwrap().remove(key);
            }
        }
    }
    nodes
}

#[test]
fn a_run_from_its_journal_shows_the_calls_denials_usage_and_session_that_were_shown_live() {
    let (mut live, work) = reported();
    let end = [("s1", replied(work)), ("s1", ended(1, "complete"))];
    live.extend(end.clone());
    let recorded = [vec![("s1", session(1, "Write"))], end.to_vec()].concat();
    let (live, recorded) = (View::of(&run(live)), View::of(&run(recorded)));
    assert_eq!(without_times(&live), without_times(&recorded));
    let entries = |view: &View| -> Vec<Value> {
        let delta = json!(view.since(0));
        delta["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].clone()).collect()
    };
    assert_eq!(entries(&live), entries(&recorded));
    let attempt = json!(recorded.since(0))["nodes"][1]["attempts"][0].clone();
    expect![[r#"
        {
          "calls": 2,
          "denials": [
            {
              "reason": "execute: deny",
              "title": "git push"
            }
          ],
          "from": 2,
          "request": 1,
          "session": {
            "id": "abc",
            "model": "small",
            "transcript": "/t/abc.jsonl"
          },
          "status": "complete",
          "to": 4,
          "usage": {
            "cost": 0.5,
            "input_tokens": 30,
            "output_tokens": 6
          }
        }
    "#]]
    .assert_eq(&format!("{}\n", serde_json::to_string_pretty(&attempt).unwrap()));
}

#[test]
fn usage_is_counted_while_a_session_works_and_not_twice() {
    let (activities, work) = reported();
    let mut view = View::of(&run(activities));
    let usage = |view: &View| view.root().unwrap().usage.map(|usage| (usage.input_tokens, usage.cost));
    assert_eq!(usage(&view), Some((30, Some(0.5))));
    // What the driver reports last may have got lost.
    let mut work = work;
    work["usage"]["input_tokens"] = json!(31);
    view.apply(&event(9, "s1", replied(work)));
    assert_eq!(usage(&view), Some((31, Some(0.5))));
}

#[test]
fn a_cancelled_session_keeps_what_it_has_used_and_called() {
    let (mut events, _) = reported();
    events.push(("s1", ended(1, "skipped")));
    let view = View::of(&run(events));
    let (_, node) = view.nodes().nth(1).unwrap();
    let attempt = &node.session().unwrap().attempts[0];
    assert_eq!((attempt.calls, attempt.usage.unwrap().input_tokens, attempt.denials.len()), (2, 30, 1));
}

#[test]
fn decisions_have_usage_too() {
    let usage = json!({ "usage": { "input_tokens": 154, "output_tokens": 6 } });
    let view = View::of(&run(vec![
        ("s0", json!({ "event": "loop-started", "kind": "until", "header": "**good**", "max": 3 })),
        ("s0/c", json!({ "event": "condition-asked", "request": 1, "text": "good", "of": "loop" })),
        ("s0/c", activity(1, used(100, 1))),
        ("s0/c", effect(1, "judge", json!({ "verdict": { "met": true } }), usage.clone())),
        ("s0/c", json!({ "event": "condition-judged", "met": true, "reason": "", "of": "loop" })),
        ("s0", json!({ "event": "loop-ended", "why": "satisfied", "iterations": 0 })),
        ("s1", effect(2, "choose", json!({ "choice": { "index": 0 } }), usage.clone())),
        ("s1", json!({ "event": "chosen", "criterion": "best", "label": "A", "reason": "" })),
        ("s2", effect(3, "summarise", json!({ "value": "x" }), usage.clone())),
        ("s3", effect(4, "extract", json!({ "value": "x" }), usage)),
    ]));
    let usages: Vec<_> = view
        .nodes()
        .map(|(_, node)| (node.kind.name(), node.usage.map_or(0, |usage| usage.input_tokens)))
        .collect();
    assert_eq!(usages, [("run", 616), ("loop", 154), ("condition", 154), ("choice", 154)]);
}

#[test]
fn texts_change_nothing_but_the_activity() {
    let mut view = View::of(&run(vec![("s1", session(1, "Write"))]));
    let text = |text: &str| activity(1, json!({ "activity": "text", "text": text, "at": 50 }));
    view.apply(&event(2, "s1", text("One\n")));
    let before = view.revision();
    view.apply(&event(2, "s1", text(&"two ".repeat(1000))));
    let delta = json!(view.since(before));
    assert_eq!(delta["nodes"], json!([]));
    assert!(delta.to_string().len() < 500, "{delta}");
    expect![[r#"
        [
          {
            "calls": 0,
            "last": 50,
            "node": 1,
            "text": "two two two two two two two two two two two two two two two two two two two two two two two two two two two two two two…"
          }
        ]
    "#]].assert_eq(&format!("{}\n", serde_json::to_string_pretty(&delta["activities"]).unwrap()));
}

#[test]
fn the_next_attempt_of_a_session_starts_without_the_activity_of_the_one_before() {
    let mut first = session(1, "Write");
    first["task"]["retries"] = json!(1);
    let mut second = session(2, "Write");
    (second["task"]["retries"], second["task"]["attempt"]) = (json!(1), json!(1));
    let mut view = View::of(&run(vec![
        ("s1", first),
        ("s1", activity(1, tool("1", "Edit a.rs", "running"))),
        ("s1", ended(1, "failed")),
    ]));
    assert_eq!(json!(view.since(0)).get("activities"), None);
    let before = view.revision();
    view.apply(&event(5, "s1/a1", second));
    assert_eq!(json!(view.since(before))["activities"], json!([{ "node": 1, "last": 0, "calls": 0 }]));
}

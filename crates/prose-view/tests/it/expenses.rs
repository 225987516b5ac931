//! What agents, statements and branches have used.

use std::fmt::Write;

use expect_test::{Expect, expect};
use prose_view::{NodeKind, View};
use prose_vm::effect::Usage;
use prose_vm::event::Event;
use serde_json::{Value, json};

use crate::events::{ended, event, run, run_ended, session};

/// So many cents, and a token for each.
fn cents(cents: u32) -> Value {
    json!({ "input_tokens": cents, "output_tokens": 0, "cost": f64::from(cents) / 100.0 })
}

fn of_agent(request: u64, agent: &str) -> Value {
    let mut session = session(request, "Write");
    session["task"]["agent"] = json!(agent);
    session
}

fn statement(line: u32) -> Value {
    json!({
        "event": "statement-started", "number": null, "source": "x", "kind": "session",
        "site": { "start": line, "end": line, "line": line, "last_line": line }
    })
}

fn on_line(line: u32, mut what: Value) -> Value {
    what["site"] = json!({ "start": line, "end": line, "line": line, "last_line": line });
    what
}

fn used(request: u64, used: u32) -> Value {
    let mut what = cents(used);
    (what["event"], what["activity"], what["request"]) = (json!("activity"), json!("used"), json!(request));
    what
}

fn effect(request: u64, kind: &str, outcome: Value, used: u32) -> Value {
    json!({
        "event": "effect", "request": request, "effect": kind, "fingerprint": "", "outcome": outcome,
        "work": { "usage": cents(used) }
    })
}

fn expense(request: u64, kind: &str, agent: Option<&str>, requests: u32, used: u32) -> Value {
    json!({
        "event": "expense", "request": request, "effect": kind, "agent": agent, "requests": requests,
        "work": { "usage": cents(used) }
    })
}

/// A parallel of two branches: the second one is cancelled.
fn race() -> Vec<(&'static str, Value)> {
    let started = json!({ "event": "parallel-started", "branches": ["a", "b"], "strategy": "first", "policy": "fail-fast", "count": 1, "is_loop": false });
    let branch = |index: u32, name: &str| json!({ "event": "branch-started", "index": index, "name": name });
    let skipped =
        json!({ "event": "branch-ended", "index": 1, "name": "b", "status": "skipped", "value": null });
    // The cost that is reported last is less than the estimated one.
    let mut ended_cheaper = effect(1, "session", json!({ "reply": { "text": "ok" } }), 10);
    ended_cheaper["work"]["usage"]["cost"] = json!(0.08);
    vec![
        ("s0", statement(1)),
        ("s0", started),
        ("s0/b0", branch(0, "a")),
        ("s0/b0/1", statement(2)),
        ("s0/b0/1", on_line(2, of_agent(1, "writer"))),
        ("s0/b1", branch(1, "b")),
        ("s0/b1/1", statement(3)),
        ("s0/b1/1", on_line(3, of_agent(2, "critic"))),
        ("s0/b0/1", on_line(2, used(1, 10))),
        ("s0/b1/1", on_line(3, used(2, 5))),
        ("s0/b0/1", on_line(2, ended_cheaper)),
        ("s0/b0/1", on_line(2, ended(1, "complete"))),
        ("s0/b1", skipped),
        ("s0/b1/1", on_line(3, expense(2, "session", Some("critic"), 1, 6))),
        ("s0/b1/1", on_line(3, expense(2, "session", Some("critic"), 0, 3))),
        ("s1", statement(5)),
        ("s1", on_line(5, effect(3, "extract", json!({ "value": "x" }), 2))),
        ("s1", on_line(5, expense(4, "judge", None, 1, 1))),
    ]
}

fn shown(view: &View) -> String {
    let cost = |usage: Option<Usage>| {
        usage.map_or_else(String::new, |usage| {
            format!(" {} ${:.2}", usage.input_tokens, usage.cost.unwrap_or_default())
        })
    };
    let mut shown = format!("run:{}\n", cost(view.root().unwrap().usage));
    for agent in view.agents() {
        writeln!(shown, "{}: {} requests{}", agent.name(), agent.requests, cost(agent.usage)).unwrap();
    }
    for (_, node) in view.nodes().filter(|(_, node)| matches!(node.kind, NodeKind::Branch(_))) {
        writeln!(shown, "branch {}:{}", node.label, cost(node.usage)).unwrap();
    }
    for statement in view.statements(0) {
        writeln!(shown, "line {}:{}", statement.site.line, cost(statement.usage)).unwrap();
    }
    for (_, node) in view.nodes() {
        for attempt in node.session().map_or(&[][..], |session| &session.attempts) {
            writeln!(shown, "attempt {}:{} {:?}", attempt.request.0, cost(attempt.usage), attempt.status)
                .unwrap();
        }
    }
    shown
}

#[track_caller]
fn check(events: &[Event], expected: Expect) {
    expected.assert_eq(&shown(&View::of(events)));
}

#[test]
fn each_agent_statement_and_branch_has_a_sum_live_and_from_the_journal() {
    let live = run(race());
    let expected = expect![[r#"
        run: 22 $0.20
        writer: 1 requests 10 $0.08
        critic: 1 requests 9 $0.09
        (decisions): 2 requests 3 $0.03
        branch a: 10 $0.08
        branch b: 9 $0.09
        line 1: 19 $0.17
        line 2: 10 $0.08
        line 3: 9 $0.09
        line 5: 3 $0.03
        attempt 1: 10 $0.08 Complete
        attempt 2: 9 $0.09 Skipped
    "#]];
    expected.assert_eq(&shown(&View::of(&live)));
    let is_recorded = |event: &&Event| !matches!(event.kind, prose_vm::event::EventKind::Activity { .. });
    let recorded: Vec<Event> = live.iter().filter(is_recorded).cloned().collect();
    assert_eq!(shown(&View::of(&recorded)), shown(&View::of(&live)));
}

#[test]
fn usage_before_the_program_changed_counts_once() {
    let carried =
        json!({ "event": "expense", "effect": "session", "requests": 3, "work": { "usage": cents(35) } });
    let mut reused = effect(1, "session", json!({ "reply": { "text": "ok" } }), 10);
    reused["work"]["is_reused"] = json!(true);
    let events = run(vec![
        ("", carried),
        ("s0", statement(1)),
        ("s0", on_line(1, session(1, "Write"))),
        ("s0", on_line(1, reused)),
        ("s0", on_line(1, ended(1, "complete"))),
    ]);
    check(
        &events,
        expect![[r#"
        run: 35 $0.35
        (no agent): 3 requests 35 $0.35
        line 1: 10 $0.10
        attempt 1: 10 $0.10 Complete
    "#]],
    );
}

#[test]
fn sessions_that_were_never_started_are_not_counted() {
    let view = View::of(&run(vec![
        ("s0/b0", of_agent(1, "writer")),
        ("s0/b1", of_agent(2, "writer")),
        ("s0/b2", of_agent(3, "writer")),
        ("s0/b0", effect(1, "session", json!({ "reply": { "text": "ok" } }), 10)),
        ("s0/b0", ended(1, "complete")),
        ("s0/b1", expense(2, "session", Some("writer"), 1, 5)),
        ("", run_ended("interrupted")),
    ]));
    let requests: Vec<u32> = view.agents().map(|agent| agent.requests).collect();
    assert_eq!(requests, [2]);
}

#[test]
fn a_delta_has_the_agents_whose_usage_changed() {
    let mut view = View::of(&run(race()));
    let before = view.revision();
    view.apply(&event(30, "s1", effect(9, "choose", json!({ "choice": { "index": 0 } }), 4)));
    let delta = json!(view.since(before));
    let names: Vec<&Value> = delta["agents"].as_array().unwrap().iter().map(|agent| &agent["name"]).collect();
    assert_eq!(names, ["(decisions)"]);
}

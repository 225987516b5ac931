//! Work, waiting for people, and stopped time.

use expect_test::expect;
use prose_view::{NodeKind, Outcome, Times, View, compare};
use prose_vm::event::Event;
use serde_json::{Value, json};

use crate::events::{ended, event, replied, run_ended, session, statement};

/// Events at these times in milliseconds after the start of a run. After the first number is the time for which the run was stopped before.
fn told(events: Vec<(u64, u64, &str, Value)>) -> Vec<Event> {
    let start = crate::events::run(Vec::new()).remove(0);
    let mut told = vec![Event { at: 0, ..start }];
    told.extend(events.into_iter().enumerate().map(|(index, (at, paused, place, what))| Event {
        at,
        paused,
        ..event(index as u64 + 2, place, what)
    }));
    told
}

fn asked(name: &str) -> Value {
    json!({ "event": "input-asked", "request": 9, "name": name, "prompt": "Which?" })
}

fn given(name: &str) -> Value {
    json!({ "event": "input-given", "name": name, "value": "that" })
}

fn reports(activity: Value) -> Value {
    let mut activity = activity;
    activity["event"] = json!("activity");
    activity["request"] = json!(1);
    activity
}

fn done() -> Value {
    json!({ "event": "statement-ended", "status": "complete", "error": null })
}

fn times(work: u64, waiting: u64, stopped: u64) -> Times {
    Times { work, waiting, stopped }
}

#[test]
fn a_run_that_waits_for_an_input_does_no_work() {
    let events = told(vec![
        (0, 0, "s0", statement()),
        (0, 0, "s0", session(1, "a")),
        (2_000, 0, "s0", replied(1, json!(null))),
        (2_000, 0, "s0", ended(1, "complete")),
        (2_000, 0, "s0", done()),
        (2_000, 0, "s1", statement()),
        (2_000, 0, "s1", asked("topic")),
        (21_000, 0, "s1", given("topic")),
        (21_100, 0, "s1", done()),
        (21_200, 0, "", run_ended("completed")),
    ]);
    let mut view = View::default();
    for event in &events[..8] {
        view.apply(event);
    }
    assert_eq!(json!(view.since(0))["waits"], true);
    assert_eq!((view.now(), view.times()), (2_000, times(2_000, 0, 0)));
    events[8..].iter().for_each(|event| view.apply(event));
    assert_eq!(view.times(), times(2_200, 19_000, 0));
    let shown = json!(view.since(0));
    assert_eq!((&shown["now"], &shown["paused"], shown.get("waits")), (&json!(2_200), &json!(19_000), None));
    let took = view.statements(0).filter_map(|statement| match &statement.outcome {
        Some(Outcome::Done { took, .. }) => Some(*took),
        _ => None,
    });
    // Both statements stand in line 1, where the second one ended last.
    assert_eq!(took.collect::<Vec<_>>(), [100]);
}

#[test]
fn what_works_meanwhile_is_work() {
    let events = told(vec![
        (0, 0, "s0/b0", session(1, "a")),
        (1_000, 0, "s0/b1", asked("topic")),
        (3_000, 0, "s0/b0", replied(1, json!(null))),
        (3_000, 0, "s0/b0", ended(1, "complete")),
        (9_000, 0, "s0/b1", given("topic")),
        (9_000, 0, "", run_ended("completed")),
    ]);
    let view = View::of(&events);
    assert_eq!(view.times(), times(3_000, 6_000, 0));
    let input = view.nodes().find(|(_, node)| node.kind == NodeKind::Input).unwrap().1;
    assert_eq!((input.from, input.to), (1_000, Some(3_000)));
}

#[test]
fn an_agent_that_asks_for_a_permission_waits_too() {
    let events = told(vec![
        (0, 0, "s0", session(1, "a")),
        (
            500,
            0,
            "s0",
            reports(
                json!({ "activity": "asked", "id": "q", "title": "git push", "rule": "execute: prompt" }),
            ),
        ),
        (
            8_500,
            0,
            "s0",
            reports(json!({ "activity": "answered", "id": "q", "is_allowed": true, "from": "terminal" })),
        ),
        (9_000, 0, "s0", replied(1, json!(null))),
        (9_000, 0, "s0", ended(1, "complete")),
        (9_000, 0, "", run_ended("completed")),
    ]);
    let view = View::of(&events);
    assert_eq!(view.times(), times(1_000, 8_000, 0));
    let session = view.nodes().find(|(_, node)| node.session().is_some()).unwrap().1;
    assert_eq!((session.from, session.to), (0, Some(1_000)));
}

#[test]
fn a_run_that_is_resumed_on_the_next_day_shows_its_work() {
    const DAY: u64 = 86_400_000;
    let resumed = || json!({ "event": "resumed", "harness": "offline" });
    let events = |end: &str| {
        told(vec![
            (0, 0, "s0", session(1, "a")),
            (1_000, 0, "", run_ended(end)),
            (DAY + 1_000, DAY, "", resumed()),
            (DAY + 2_000, DAY, "s0", replied(1, json!(null))),
            (DAY + 2_000, DAY, "s0", ended(1, "complete")),
            (DAY + 2_000, DAY, "", run_ended("completed")),
        ])
    };
    assert_eq!(View::of(&events("interrupted")).times(), times(2_000, 0, DAY));
    assert_eq!(View::of(&events("waiting")).times(), times(2_000, DAY, 0));
    let asked = told(vec![(1_000, 0, "s1", asked("topic")), (DAY + 3_000, DAY, "", run_ended("waiting"))]);
    assert_eq!(View::of(&asked).times(), times(1_000, DAY + 2_000, 0));
}

#[test]
fn a_comparison_counts_no_waiting_either() {
    let events = |waited: u64| {
        let given_at = 3_000 + waited;
        let answer = json!({
            "event": "effect", "request": 9, "effect": "input", "fingerprint": "", "outcome": { "value": "that" },
        });
        told(vec![
            (0, 0, "s0", session(1, "a")),
            (3_000, 0, "s0", replied(1, json!(null))),
            (3_000, 0, "s0", ended(1, "complete")),
            (3_000, 0, "s1", asked("topic")),
            (given_at, 0, "s1", answer),
            (given_at, 0, "s1", given("topic")),
            (given_at + 500, 0, "", run_ended("completed")),
        ])
    };
    let comparison = compare(events(10), events(86_400_000));
    assert_eq!((comparison.a.took, comparison.b.took), (3_500, 3_500));
    let took = |pair: &prose_view::Pair| pair.b.as_ref().and_then(|step| step.took);
    assert_eq!(comparison.steps.iter().map(took).collect::<Vec<_>>(), [Some(3_000), Some(0)]);
}

/// A branch that asks for a permission from 1 s to 9 s while the other one works for 10 s, with the events that tell so.
fn a_branch_that_asks(asks: Value, answered: Value) -> View {
    let parallel = json!({ "event": "parallel-started", "branches": ["a", "b"], "strategy": "all", "policy": "fail-fast", "count": 2, "is_loop": false });
    let branch = |index: u32, name: &str| json!({ "event": "branch-started", "index": index, "name": name });
    let left = |index: u32, name: &str| json!({ "event": "branch-ended", "index": index, "name": name, "status": "complete", "value": null });
    View::of(&told(vec![
        (0, 0, "s0", statement()),
        (0, 0, "s0", parallel),
        (0, 0, "s0/b0", branch(0, "a")),
        (0, 0, "s0/b0/0", statement()),
        (0, 0, "s0/b0/0", session(1, "asks")),
        (0, 0, "s0/b1", branch(1, "b")),
        (0, 0, "s0/b1/0", session(2, "works")),
        (1_000, 0, "", asks),
        (9_000, 0, "", answered),
        (9_500, 0, "s0/b0/0", replied(1, json!(null))),
        (9_500, 0, "s0/b0/0", ended(1, "complete")),
        (9_500, 0, "s0/b0/0", done()),
        (9_500, 0, "s0/b0", left(0, "a")),
        (10_000, 0, "s0/b1/0", replied(2, json!(null))),
        (10_000, 0, "s0/b1/0", ended(2, "complete")),
        (10_000, 0, "s0/b1", left(1, "b")),
        (
            10_000,
            0,
            "s0",
            json!({ "event": "parallel-ended", "bound": [], "failures": [], "status": "complete" }),
        ),
        (10_000, 0, "s0", done()),
        (10_000, 0, "", run_ended("completed")),
    ]))
}

#[test]
fn a_branch_that_waits_for_a_person_does_not_work_while_another_one_does() {
    let question = json!([{ "id": 1, "about": "approval", "rule": "execute: prompt", "title": "git push", "prompt": "Allow it?", "since": 1_000, "asked_at": "s0/b0/0" }]);
    let open = |questions: Value| json!({ "event": "questions-open", "questions": questions });
    let asked = json!({ "activity": "asked", "id": "q", "title": "git push", "rule": "execute: prompt" });
    let answered = json!({ "activity": "answered", "id": "q", "is_allowed": true, "from": "terminal" });
    // What agents report is not recorded, so that a run that is read again has other events than one that is watched.
    for (asks, answered) in [(reports(asked), reports(answered)), (open(question), open(json!([])))] {
        let view = a_branch_that_asks(asks, answered);
        let parts = view.nodes().map(|(_, node)| {
            let Times { work, waiting, .. } = view.times_of(node);
            format!("{} {}: {work} ms, waited {waiting} ms\n", node.kind.name(), node.label)
        });
        expect![[r#"
            run race.prose: 10000 ms, waited 0 ms
            parallel parallel: 10000 ms, waited 0 ms
            branch a: 1500 ms, waited 8000 ms
            session asks: 1500 ms, waited 8000 ms
            branch b: 10000 ms, waited 0 ms
            session works: 10000 ms, waited 0 ms
        "#]]
        .assert_eq(&parts.collect::<String>());
        assert_eq!(view.times(), times(10_000, 0, 0));
        let session = view.nodes().find(|(_, node)| node.label == "asks").unwrap().1.session().unwrap();
        assert_eq!(session.attempts[0].waited, 8_000);
        let took = view.executions().map(|execution| execution.to);
        assert_eq!(took.collect::<Vec<_>>(), [Some(10_000), Some(9_500)]);
        // Both statements stand in the same lines.
        assert_eq!(view.statements(0).map(|statement| statement.took).collect::<Vec<_>>(), [11_500]);
    }
}

#[test]
fn a_loop_whose_only_branch_asks_has_not_worked_meanwhile() {
    let events = told(vec![
        (0, 0, "s0", json!({ "event": "loop-started", "kind": "repeat", "header": "2 times", "max": 2 })),
        (0, 0, "s0/i0", json!({ "event": "iteration-started", "number": 1, "max": 2 })),
        (100, 0, "s0/i0/0", asked("topic")),
        (100, 0, "s1", session(1, "meanwhile")),
        (5_000, 0, "s0/i0/0", given("topic")),
        (5_300, 0, "s0", json!({ "event": "loop-ended", "iterations": 1, "why": "left" })),
    ]);
    let mut view = View::default();
    events[..6].iter().for_each(|event| view.apply(event));
    let shown = json!(view.since(0));
    let waiting = |index: usize| shown["nodes"][index]["waiting"].clone();
    assert_eq!([waiting(0), waiting(1)], [json!(null), json!({ "total": 4_900, "within": 4_900 })]);
    view.apply(&events[6]);
    let of = |kind: &str| view.times_of(view.nodes().find(|(_, node)| node.kind.name() == kind).unwrap().1);
    assert_eq!(
        [of("loop"), of("iteration"), of("input")],
        [times(400, 4_900, 0), times(400, 4_900, 0), times(0, 4_900, 0)]
    );
}

#[test]
fn a_part_was_stopped_only_if_the_run_stopped_inside_it() {
    let events = told(vec![
        (0, 0, "s0", json!({ "event": "loop-started", "kind": "repeat", "header": "2 times", "max": 2 })),
        (0, 0, "s0/i0", json!({ "event": "iteration-started", "number": 1, "max": 2 })),
        (0, 0, "s0/i0/0", session(1, "before")),
        (1_000, 0, "s0/i0/0", replied(1, json!(null))),
        (1_000, 0, "s0/i0/0", ended(1, "complete")),
        // Without an event of its end, as when its process is killed.
        (1_000, 0, "s0/i0/1", session(2, "during")),
        (61_000, 60_000, "", json!({ "event": "resumed", "harness": "offline" })),
        (61_000, 60_000, "s0/i0/2", session(3, "after")),
        // As soon as it goes on.
        (61_000, 60_000, "s0/i0/1", replied(2, json!(null))),
        (61_000, 60_000, "s0/i0/1", ended(2, "complete")),
        (63_000, 60_000, "s0/i0/2", replied(3, json!(null))),
    ]);
    let view = View::of(&events);
    let shown = json!(view.since(0));
    let parts = view.nodes().enumerate().map(|(index, (_, node))| {
        let Times { work, stopped, .. } = view.times_of(node);
        let sent = &shown["nodes"][index]["stopped"];
        format!("{} {}: {work} ms, stopped {stopped} ms, shown {sent}\n", node.kind.name(), node.label)
    });
    expect![[r#"
        run race.prose: 3000 ms, stopped 60000 ms, shown 60000
        loop repeat 2 times: 3000 ms, stopped 60000 ms, shown 60000
        iteration iteration 1 of 2: 3000 ms, stopped 60000 ms, shown 60000
        session before: 1000 ms, stopped 0 ms, shown null
        session during: 0 ms, stopped 60000 ms, shown 60000
        session after: 2000 ms, stopped 0 ms, shown null
    "#]]
    .assert_eq(&parts.collect::<String>());
}

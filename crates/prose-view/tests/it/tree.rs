//! The tree of a run, its statements and what is open in it.

use expect_test::{Expect, expect};
use prose_view::{Outcome, Status, View, WaitsFor};
use serde_json::json;

use crate::events::{ended, outline, recorded, replied, run, run_ended, session, statement};

#[track_caller]
fn check(view: &View, expected: Expect) {
    expected.assert_eq(&outline(view));
}

#[test]
fn a_run_is_a_tree_of_branches_iterations_calls_and_sessions() {
    check(
        &View::of(&recorded()),
        expect![[r#"
            run review.prose: complete
              session Write about tides: complete
              parallel parallel: complete
                branch facts: complete
                  session Look for facts: complete, 2 attempts
                branch style: complete
                  session Look for style: complete
                branch opinion: complete
                  block review: complete
                    session Review it: complete
              loop loop until **the draft is good**: complete -> condition met
                condition the draft is good: complete -> no: too short
                iteration iteration 1 of 3: complete
                  session Improve the draft: complete
                condition the draft is good: complete -> yes
              condition the draft is long: complete -> yes
              session Shorten it: complete
              parallel parallel for: complete
                branch iteration 1: complete
                  session Write for children: complete
                branch iteration 2: complete
                  session Write for students: complete
                branch iteration 3: complete
                  session Write for experts: complete
              try try: complete
                session Publish it: failed
                part catch problem: complete
                  session Say why it was not published: there is no room: complete
                part finally: complete
                  session Clean up: complete
              pipeline pipeline: complete
                stage map: complete
                  session A title for children: complete
                  session A title for students: complete
                  session A title for experts: complete
              session Sum up: complete
        "#]],
    );
}

#[test]
fn at_every_event_what_has_not_ended_is_open_and_the_counts_are_those_of_the_sessions() {
    let mut view = View::default();
    for event in recorded() {
        view.apply(&event);
        let sessions: Vec<_> = view.nodes().filter(|(_, node)| node.session().is_some()).collect();
        let count = |status| sessions.iter().filter(|(_, node)| node.status == status).count() as u32;
        let counts = view.root().unwrap().sessions;
        assert_eq!(counts.total, sessions.len() as u32);
        assert_eq!(
            [counts.running, counts.waiting, counts.complete, counts.failed],
            [Status::Running, Status::Waiting, Status::Complete, Status::Failed].map(count),
        );
        for (_, node) in view.nodes() {
            assert_eq!(node.to.is_none(), node.status.is_open(), "{}: {node:?}", event.seq);
        }
    }
    assert!(view.end().is_some());
    assert_eq!(view.open_sessions().count(), 0);
}

#[test]
fn a_run_that_is_told_from_its_start_again_is_the_same() {
    let events = recorded();
    let mut view = View::of(&events);
    let once = outline(&view);
    events.iter().for_each(|event| view.apply(event));
    assert_eq!(outline(&view), once);
    assert_eq!(view.seq(), events.last().unwrap().seq);
}

#[test]
fn a_session_that_is_tried_again_has_its_attempts_and_the_pauses_between_them() {
    let view = View::of(&recorded());
    let (_, facts) = view.nodes().find(|(_, node)| node.label == "Look for facts").unwrap();
    let session = facts.session().unwrap();
    let statuses: Vec<Status> = session.attempts.iter().map(|attempt| attempt.status).collect();
    assert_eq!(statuses, [Status::Failed, Status::Complete]);
    // `backoff: linear` waits for a second.
    assert!(session.pauses[0].to.unwrap() - session.pauses[0].from >= 900);
    assert_eq!(facts.error, None);
}

#[test]
fn a_session_that_waits_for_an_agent_says_so_and_how_long_it_waited() {
    let mut view = View::default();
    let mut waited = Vec::new();
    for event in recorded() {
        view.apply(&event);
        let waiting = view.nodes().filter(|(_, node)| node.waits_for == Some(WaitsFor::Agent));
        waited.extend(waiting.map(|(_, node)| node.label.clone()));
    }
    waited.dedup();
    assert_eq!(waited, ["Review it", "Write for experts"]);
    let (_, node) = view.nodes().find(|(_, node)| node.label == "Write for experts").unwrap();
    let attempt = &node.session().unwrap().attempts[0];
    assert!(attempt.began.unwrap() > attempt.from);
}

#[test]
fn a_branch_that_nothing_waits_for_is_skipped_with_what_is_in_it() {
    let skipped =
        json!({ "event": "branch-ended", "index": 1, "name": "b", "status": "skipped", "value": null });
    let complete =
        json!({ "event": "branch-ended", "index": 0, "name": "a", "status": "complete", "value": null });
    let branch = |name| json!({ "event": "branch-started", "index": 0, "name": name });
    let events = run(vec![
        (
            "s0",
            json!({ "event": "parallel-started", "branches": ["a", "b"], "strategy": "first", "policy": "fail-fast", "count": 1, "is_loop": false }),
        ),
        ("s0/b0", branch("a")),
        ("s0/b0/1", session(1, "Fast")),
        ("s0/b1", branch("b")),
        ("s0/b1", statement()),
        ("s0/b1/1", session(2, "Slow")),
        ("s0/b0/1", ended(1, "complete")),
        ("s0/b0", complete),
        ("s0/b1", skipped),
        ("s0", json!({ "event": "parallel-ended", "bound": [], "failures": [], "status": "complete" })),
    ]);
    let view = View::of(&events);
    check(
        &view,
        expect![[r#"
            run race.prose: running
              parallel parallel: complete
                branch a: complete
                  session Fast: complete
                branch b: skipped
                  session Slow: skipped
        "#]],
    );
    let statement = view.statements(0).next().unwrap();
    assert_eq!((statement.running, statement.ended, &statement.outcome), (0, 0, &Some(Outcome::Stopped)));
    assert_eq!(view.open_sessions().count(), 0);
}

#[test]
fn a_run_that_goes_on_after_it_was_stopped_is_open_and_its_pauses_take_no_time() {
    let mut events = run(vec![("s0", session(1, "Long")), ("", run_ended("interrupted"))]);
    let mut view = View::of(&events);
    assert_eq!(view.root().unwrap().status, Status::Interrupted);
    assert_eq!(view.root().unwrap().error.as_ref().unwrap().message, "stopped in the editor");

    // A day later the run is told from its start again.
    events.pop();
    let day = 24 * 60 * 60 * 1000;
    let resumed = json!({ "event": "resumed", "harness": "offline", "at": day + 2, "paused": day });
    let end = json!({ "event": "session-ended", "request": 1, "status": "complete", "error": null, "at": day + 9, "paused": day });
    events.push(crate::events::event(2, "", resumed));
    events.push(crate::events::event(3, "s0", end));
    events.iter().for_each(|event| view.apply(event));
    let (_, node) = view.nodes().nth(1).unwrap();
    let attempt = &node.session().unwrap().attempts[0];
    assert_eq!((node.from, node.to, attempt.again), (2, Some(9), Some(2)));
    assert_eq!(view.root().unwrap().status, Status::Running);
}

#[test]
fn tokens_and_cost_add_up_where_they_are_reported() {
    let usage = json!({ "input_tokens": 600, "output_tokens": 100, "cost": 0.02 });
    let view = View::of(&run(vec![
        ("s1", session(1, "x")),
        ("s1", replied(1, usage.clone())),
        ("s1", ended(1, "complete")),
        ("s2", session(2, "y")),
        ("s2", replied(2, usage)),
        ("s2", ended(2, "complete")),
        ("s3", session(3, "z")),
        ("s3", replied(3, json!(null))),
    ]));
    let usage = view.root().unwrap().usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost), (1200, 200, Some(0.04)));
    let (_, last) = view.nodes().next_back().unwrap();
    assert_eq!((last.usage, last.note.as_str()), (None, "Done."));
}

#[test]
fn statements_have_how_often_they_were_executed() {
    let view = View::of(&recorded());
    let times = view.statements(0).filter(|statement| statement.times > 1);
    let times: Vec<_> =
        times.map(|statement| (statement.site.line, statement.times, statement.complete)).collect();
    assert_eq!(times, [(40, 3, 3), (51, 3, 3)]);
}

#[test]
fn an_input_that_is_asked_for_is_waited_for() {
    let asked = json!({ "event": "input-asked", "request": 1, "name": "topic", "prompt": "What?" });
    let given = json!({ "event": "input-given", "name": "topic", "value": "tides" });
    let mut events = run(vec![("s0", asked), ("s0", given)]);
    let given = events.pop().unwrap();
    let mut view = View::of(&events);
    let waiting: Vec<_> = view.awaited_inputs().map(|node| (&*node.label, &*node.detail)).collect();
    assert_eq!(waiting, [("topic", "What?")]);
    view.apply(&given);
    assert_eq!(view.awaited_inputs().count(), 0);
}

#[test]
fn a_value_is_shown_by_its_first_line_and_says_that_there_is_more() {
    let binding = json!({ "name": "a", "kind": "let", "path": "bindings/a.md", "source": "" });
    let bound = json!({ "event": "bound", "binding": binding, "value": "One.\nTwo.", "mutable": true, "anonymous": false });
    let done = json!({ "event": "statement-ended", "status": "complete", "error": null });
    let view = View::of(&run(vec![("s0", statement()), ("s0", bound), ("s0", done)]));
    let outcome = view.statements(0).next().unwrap().outcome.clone();
    assert_eq!(outcome, Some(Outcome::Done { took: 2, value: "One.…".into() }));
    let names: Vec<_> =
        view.program(0).unwrap().names.iter().map(|name| (&*name.binding.path, name.seq)).collect();
    assert_eq!(names, [("bindings/a.md", 3)]);
}

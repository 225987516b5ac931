//! Runs that a person has paused.

use prose_view::View;
use serde_json::{Value, json};

use crate::events::{event, run, session};

fn commanded(command: &str) -> Value {
    json!({ "event": "commanded", "command": command, "by": "ada", "from": "terminal" })
}

/// Who has paused the run, after some events.
fn pauses(events: Vec<(&str, Value)>) -> Vec<String> {
    let mut view = View::default();
    let shown = run(events).into_iter().map(|event| {
        view.apply(&event);
        let shown = json!(view.since(0));
        assert_eq!(shown.get("pause"), view.pause().map(|pause| json!(pause)).as_ref());
        view.pause().map_or("-".to_owned(), |pause| format!("{} {}", pause.since, pause.by))
    });
    shown.collect()
}

#[test]
fn a_paused_run_says_since_when_and_by_whom_until_it_continues() {
    let events = vec![
        ("", commanded("pause")),
        ("s1", session(1, "x")),
        ("", commanded("continue")),
        ("", commanded("stop")),
    ];
    assert_eq!(pauses(events), ["-", "2 by ada at the terminal", "2 by ada at the terminal", "-", "-"]);
}

#[test]
fn a_run_that_ends_or_is_resumed_is_not_paused() {
    let end = json!({ "event": "run-ended", "status": "interrupted", "outputs": [], "value": null, "error": null, "sessions": 0 });
    assert_eq!(pauses(vec![("", commanded("pause")), ("", end)])[2], "-");
    let resumed = json!({ "event": "resumed", "harness": "offline" });
    assert_eq!(pauses(vec![("", commanded("pause")), ("", resumed)])[2], "-");
    // The journal of a run that was killed has no end, and tells of the next execution only by its times.
    let mut later = event(3, "s1", session(1, "x"));
    later.paused = 10;
    let mut view = View::of(&run(vec![("", commanded("pause"))]));
    assert!(view.pause().is_some());
    view.apply(&later);
    assert_eq!(view.pause(), None);
    // The process of a run that is followed has died.
    let mut view = View::of(&run(vec![("", commanded("pause"))]));
    view.interrupt();
    assert_eq!(view.pause(), None);
}

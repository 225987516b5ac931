//! Sessions that the system has no room for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use prose_vm::budget::Budget;
use prose_vm::event::{EventKind, RunStatus};

use crate::support::{Cramped, Ran, run_with};

const FIVE: &str = "parallel for x in [1, 2, 3, 4, 5]:\n  session \"S{x}\"\n";
const SLOW: &str = "[[session]]\nreply = \"ok\"\ndelay = \"1s\"";

/// Runs five branches where there is room for so many at the same time. Gives how often there was none, too.
fn cramped(room: usize, max_sessions: Option<u32>) -> (Ran, usize) {
    let mut harness = None;
    let ran = run_with(FIVE, SLOW, |setup| {
        let inner = Arc::clone(&setup.harness);
        let (at_work, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let cramped = Arc::new(Cramped { inner, room, at_work, refused });
        harness = Some(Arc::clone(&cramped));
        setup.harness = cramped;
        setup.limits.budget = max_sessions.map(Budget::sessions).unwrap_or_default();
    });
    let refused = harness.map_or(0, |harness| harness.refused.load(Ordering::SeqCst));
    (ran, refused)
}

fn warnings(ran: &Ran) -> Vec<&str> {
    let warnings = ran.events.iter().filter_map(|event| match &event.kind {
        EventKind::Warning { message } => Some(message.as_str()),
        _ => None,
    });
    warnings.collect()
}

#[test]
fn what_there_is_no_room_for_waits_for_another_session() {
    let (ran, refused) = cramped(2, None);
    assert_eq!(ran.end.status, RunStatus::Completed);
    assert_eq!(ran.end.sessions, 5);
    // Three of the five that start together, and nobody tries again before there is room.
    assert_eq!(refused, 3);
    expect![[r#"
        [
            "there is no room for another session. The run continues with fewer parallel sessions",
        ]
    "#]]
    .assert_debug_eq(&warnings(&ran));
    let last = ran.events.iter().map(|event| event.at).max();
    assert_eq!(last, Some(3000), "two at a time take three seconds");
}

#[test]
fn it_starts_no_more_sessions_than_it_may() {
    let (ran, _) = cramped(2, Some(5));
    assert_eq!(ran.end.status, RunStatus::Completed);
}

#[test]
fn a_run_that_never_finds_room_fails_after_a_while() {
    let (ran, refused) = cramped(0, None);
    assert_eq!(ran.end.status, RunStatus::Failed);
    let error = ran.end.error.as_ref().map(|error| error.message.clone());
    assert_eq!(error.as_deref(), Some("there is no room for another session."));
    assert_eq!(warnings(&ran).len(), 1);
    assert!((8..20).contains(&refused), "{refused}");
    let last = ran.events.iter().map(|event| event.at).max();
    assert_eq!(last, Some(31_750));
}

//! Sessions that the system has no room for.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use prose_vm::budget::Budget;
use prose_vm::effect::RequestId;
use prose_vm::event::{EventKind, RunStatus};
use prose_vm::runner::Capacity;

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
    let warning = "there is no room for another session. The run continues with fewer parallel sessions";
    assert_eq!(warnings(&ran), [warning]);
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

/// A machine for so many sessions, after it has refused some.
#[derive(Debug, Default)]
struct Small {
    sessions: usize,
    refusals: AtomicUsize,
    at_work: Mutex<BTreeSet<RequestId>>,
    most: AtomicUsize,
}

impl Capacity for Small {
    fn begin(&self, request: RequestId, harness: &str) -> bool {
        assert_eq!(harness, "script");
        let mut at_work = self.at_work.lock().unwrap();
        let is_refused = |left: usize| left.checked_sub(1);
        if !at_work.is_empty()
            && (at_work.len() >= self.sessions
                || self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, is_refused).is_ok())
        {
            return false;
        }
        assert!(at_work.insert(request), "each session is counted once");
        self.most.fetch_max(at_work.len(), Ordering::SeqCst);
        true
    }

    fn end(&self, request: RequestId) {
        assert!(self.at_work.lock().unwrap().remove(&request));
    }
}

fn on(machine: Small, program: &str) -> (Ran, Arc<Small>) {
    let machine = Arc::new(machine);
    let capacity: Arc<dyn Capacity> = Arc::clone(&machine) as _;
    let ran = run_with(program, SLOW, |setup| setup.limits.capacity = Some(capacity));
    assert!(machine.at_work.lock().unwrap().is_empty(), "everything is released");
    (ran, machine)
}

fn last_end(ran: &Ran) -> Option<u64> {
    ran.events.iter().map(|event| event.at).max()
}

#[test]
fn sessions_wait_until_the_machine_has_resources() {
    let (ran, machine) = on(Small { sessions: 2, ..Small::default() }, FIVE);
    assert_eq!((ran.end.status, ran.end.sessions), (RunStatus::Completed, 5));
    assert_eq!(machine.most.load(Ordering::SeqCst), 2);
    assert_eq!(last_end(&ran), Some(3000), "two at a time take three seconds");
}

#[test]
fn resources_that_become_free_are_used_while_others_are_at_work() {
    let refusals = AtomicUsize::new(1);
    let (ran, _) = on(Small { sessions: 5, refusals, ..Small::default() }, FIVE);
    assert_eq!(last_end(&ran), Some(1500), "the others start after half a second");
}

#[test]
fn one_session_is_always_at_work() {
    let (ran, machine) = on(Small::default(), FIVE);
    assert_eq!((ran.end.status, ran.end.sessions), (RunStatus::Completed, 5));
    assert_eq!(machine.most.load(Ordering::SeqCst), 1);
}

#[test]
fn what_is_cancelled_or_fails_is_released() {
    let program = "try:\n  parallel (\"first\"):\n    session \"A\"\n    session \"B\"\n    session \"C\"\ncatch:\n  session \"D\"\n";
    let (ran, _) = on(Small { sessions: 2, ..Small::default() }, program);
    assert_eq!(ran.end.status, RunStatus::Completed);
}

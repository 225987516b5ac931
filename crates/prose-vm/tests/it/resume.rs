//! Runs that go on after they have stopped.

use std::sync::Arc;

use prose_vm::budget::Budget;
use prose_vm::event::{Event, EventKind, RunStatus};

use crate::support::{Ran, recorded, run_with};

const PROGRAM: &str = "let a = session \"A\"\nlet b = session \"B\"\noutput o = session \"C\"\n";

/// Each session takes ten seconds.
const SCRIPT: &str = "[[session]]\nreply = \"ok\"\ndelay = \"10s\"\n";

/// Executes the program after `earlier`, from a time in seconds on, with at most so many sessions in all.
fn execute(earlier: &[Event], starts_at: u64, sessions: u32) -> Ran {
    run_with(PROGRAM, SCRIPT, |setup| {
        setup.earlier = recorded(earlier);
        setup.starts_at = starts_at * 1000;
        setup.limits.budget = Budget::sessions(sessions);
    })
}

/// How long the run took up to its end, with and without the time for which it lay stopped, in seconds.
fn took(events: &[Event]) -> (u64, u64) {
    let (first, last) = (&events[0], &events[events.len() - 1]);
    ((last.at - first.at) / 1000, (last.active_at() - first.active_at()) / 1000)
}

#[test]
fn time_for_which_a_run_lay_stopped_is_no_active_time() {
    let first = execute(&[], 0, 1);
    assert_eq!((first.end.status, took(&first.events)), (RunStatus::Interrupted, (10, 10)));
    let second = execute(&first.events, 1000, 2);
    assert_eq!((second.end.status, took(&second.events)), (RunStatus::Interrupted, (1010, 20)));
    // An execution that comes to nothing counts as well as one that records something.
    let third = execute(&second.events, 2000, 2);
    assert_eq!(took(&third.events), (2000, 20));
    let last = execute(&third.events, 5000, 3);
    assert_eq!((last.end.status, took(&last.events)), (RunStatus::Completed, (5010, 30)));
}

/// After a crash, the last event that was recorded is the last that is known.
#[test]
fn a_crash_stops_a_run_at_its_last_event() {
    let mut first = execute(&[], 0, 2).events;
    let is_session = |event: &Event| matches!(event.kind, EventKind::SessionEnded { .. });
    let last = first.iter().rposition(is_session).unwrap();
    first.truncate(last + 1);
    let second = execute(&first, 3600, 9);
    assert_eq!((second.end.status, took(&second.events)), (RunStatus::Completed, (3610, 30)));
}

/// A later version may word a message differently; the run that an earlier version started is resumed all the same.
#[test]
fn a_message_of_an_earlier_version_does_not_stop_a_run_from_being_resumed() {
    let execute = |earlier: Vec<Event>, sessions| {
        run_with(
            "block two(a):\n  session \"{a}\"\n\ndo two(\"1\", \"2\")\nsession \"B\"\n",
            SCRIPT,
            |setup| {
                setup.earlier = earlier;
                setup.limits.budget = Budget::sessions(sessions);
            },
        )
    };
    let mut first = execute(Vec::new(), 1).events;
    assert!(matches!(first.pop().unwrap().kind, EventKind::RunEnded(_)));
    let warning = first.iter_mut().find_map(|event| match &mut event.kind {
        EventKind::Warning { message } => Some(message),
        _ => None,
    });
    *warning.unwrap() = "one argument too many".to_owned();
    assert_eq!(execute(first, 9).end.status, RunStatus::Completed);
}

/// An earlier version asked agents in other words, to write whole files and their memories, and counted other sessions.
#[test]
fn a_run_of_an_earlier_version_with_other_prompts_is_resumed() {
    let program = "agent a:\n  persist: true\n  prompt: \"You work\"\nlet x = session: a\n  retry: 1\nif **it is done**:\n  session \"Then\"\nlet y = resume: a\n  prompt: \"Go on\"\n";
    let script = "[[session]]\nreply = \"ok\"\n[[condition]]\nmet = true\n";
    let execute = |earlier: Vec<Event>| {
        run_with(program, script, |setup| {
            setup.with_files();
            setup.earlier = earlier;
        })
    };
    let mut first = execute(Vec::new());
    let last = first.sessions().len();
    assert_eq!((first.end.status, last), (RunStatus::Completed, 3));
    for event in &mut first.events {
        match &mut event.kind {
            EventKind::SessionStarted { task, .. } => {
                let task = Arc::make_mut(task);
                assert!(task.writes_result);
                task.prompt = "Write your output to:".into();
                (task.writes_result, task.mark) = (false, None);
            }
            EventKind::RunEnded(end) => end.sessions = 1,
            _ => {}
        }
    }
    // Up to the last session.
    let is_start = |event: &Event| matches!(event.kind, EventKind::SessionStarted { .. });
    first.events.truncate(first.events.iter().rposition(is_start).unwrap() + 1);
    let second = execute(first.events);
    assert_eq!((second.end.status, second.end.sessions), (RunStatus::Completed, 3));
}

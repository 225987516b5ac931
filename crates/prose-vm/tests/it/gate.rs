//! Gates, which hold the requests of a run that is debugged.

use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::{Expect, expect};
use prose_vm::effect::Request;
use prose_vm::event::{Event, EventKind};
use prose_vm::gate::{Gate, Opened};
use tokio::sync::Notify;

use crate::support::{Ran, run, run_with};

/// Each session takes a second.
const SCRIPT: &str =
    "[[session]]\nreply = \"ok\"\ndelay = \"1s\"\n[[condition]]\nmet = true\ndelay = \"1s\"\n";

/// Holds the requests with some numbers until a time.
#[derive(Default)]
struct Held {
    numbers: Vec<u64>,
    is_open: Mutex<bool>,
    opened: Notify,
    /// What it was notified of.
    said: Mutex<String>,
}

impl Gate for Held {
    fn requested(&self, request: &Request) {
        writeln!(self.said.lock().unwrap(), "{} {}", request.id.0, request.effect.kind()).unwrap();
    }

    fn settled(&self) {
        let mut said = self.said.lock().unwrap();
        if !said.ends_with("settled\n") {
            said.push_str("settled\n");
        }
    }

    fn may_start(&self, request: &Request) -> bool {
        *self.is_open.lock().unwrap() || !self.numbers.contains(&request.id.0)
    }

    fn opened(&self) -> Opened<'_> {
        Box::pin(self.opened.notified())
    }
}

/// Runs a program behind a gate that holds some requests for so many milliseconds.
fn held(program: &str, numbers: &[u64], for_ms: u64) -> (Ran, Arc<Held>) {
    let gate = Arc::new(Held { numbers: numbers.to_vec(), ..Held::default() });
    let used = Arc::clone(&gate);
    let ran = run_with(program, SCRIPT, move |setup| {
        setup.gate = Some(Arc::clone(&used) as Arc<dyn Gate>);
        // It never interrupts the run, and is polled as long as that is executed.
        setup.interrupted = Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(for_ms)).await;
            *used.is_open.lock().unwrap() = true;
            used.opened.notify_one();
            std::future::pending().await
        });
    });
    (ran, gate)
}

/// The outcomes of a run with their times.
fn outcomes(ran: &Ran) -> String {
    let mut shown = String::new();
    for event in &ran.events {
        if let EventKind::Effect { request, effect, .. } = &event.kind {
            writeln!(shown, "{}: {} {effect}", event.at, request.0).unwrap();
        }
    }
    shown
}

#[track_caller]
fn check(program: &str, numbers: &[u64], expected: Expect) {
    let (ran, gate) = held(program, numbers, 5000);
    expected.assert_eq(&format!("{}{}", gate.said.lock().unwrap(), outcomes(&ran)));
    // A run whose requests start later is the same run.
    let happened = |events: &[Event]| -> Vec<String> {
        let recorded = events.iter().filter(|event| event.kind.is_recorded());
        let mut happened: Vec<String> = recorded
            .map(|event| format!("{} {}", event.place, serde_json::to_value(&event.kind).unwrap()["event"]))
            .collect();
        happened.sort();
        happened
    };
    assert_eq!(happened(&ran.events), happened(&run(program, SCRIPT).events));
}

#[test]
fn a_request_that_is_held_starts_when_the_gate_opens() {
    check(
        "session \"a\"\nsession \"b\"\n",
        &[2],
        expect![[r#"
        1 session
        settled
        2 session
        settled
        1000: 1 session
        6000: 2 session
    "#]],
    );
}

#[test]
fn other_branches_continue_while_the_requests_of_one_are_held() {
    check(
        "parallel:\n  do:\n    session \"a\"\n    session \"b\"\n  do:\n    session \"c\"\n    session \"d\"\nsession \"e\"\n",
        &[1],
        expect![[r#"
            1 session
            2 session
            settled
            3 session
            settled
            4 session
            settled
            5 session
            settled
            1000: 2 session
            2000: 3 session
            6000: 1 session
            7000: 4 session
            8000: 5 session
        "#]],
    );
}

#[test]
fn conditions_and_files_are_held_like_sessions() {
    check(
        "if **it is calm**:\n  session \"a\"\n",
        &[1],
        expect![[r#"
        1 judge
        settled
        2 session
        settled
        6000: 1 judge
        7000: 2 session
    "#]],
    );
}

#[test]
fn nothing_that_is_held_is_used_when_the_run_is_interrupted() {
    let ran = run_with("session \"a\"\nsession \"b\"\n", SCRIPT, |setup| {
        setup.gate = Some(Arc::new(Held { numbers: vec![2], ..Held::default() }));
        setup.interrupted = Box::pin(async {
            tokio::time::sleep(Duration::from_secs(9)).await;
            "enough".to_owned()
        });
    });
    expect![[r#"
        1000: 1 session
    "#]]
    .assert_eq(&outcomes(&ran));
    assert_eq!(ran.end.sessions, 1);
}

//! What requests have used that have no outcome.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use prose_vm::activity::{Activity, Reporter};
use prose_vm::budget::{Budget, Limit, LimitScope, Maximum};
use prose_vm::effect::{Effect, Outcome, PermissionRule, Request, Usage};
use prose_vm::event::{Event, EventKind};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};

use crate::support::{Ran, Setup, recorded, run_with};

const USAGE: Usage = Usage {
    input_tokens: 10,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
    cost: Some(0.4),
};

/// `B` takes long, the others a second.
const SCRIPT: &str = "[[session]]\nlabel = \"B\"\nreply = \"late\"\ndelay = \"90s\"\n[[session]]\nreply = \"ok\"\ndelay = \"5s\"\n[[condition]]\nmet = true\ndelay = \"90s\"\n";

/// Reports 10 tokens and 40 cents for each request after a delay, also if it was cancelled by then.
struct Reporting(Arc<dyn Harness>, Duration);

impl Harness for Reporting {
    fn name(&self) -> &str {
        "reporting"
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        self.0.enforces(about, rule)
    }

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        let (own, after) = (reporter.clone(), self.1);
        let is_late = matches!(&request.effect, Effect::Session(task) if &*task.task == "B");
        tokio::spawn(async move {
            if is_late {
                tokio::time::sleep(after).await;
            }
            own.report(Activity::Used(USAGE));
        });
        self.0.perform(request, reporter)
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(self.1))
    }
}

fn reports_after(setup: &mut Setup, seconds: u64) {
    setup.harness = Arc::new(Reporting(Arc::clone(&setup.harness), Duration::from_secs(seconds)));
}

/// The expenses of a run, and its end.
fn shown(ran: &Ran) -> String {
    let mut shown = String::new();
    for event in &ran.events {
        if let EventKind::Expense(expense) = &event.kind {
            let agent = expense.agent.as_deref().unwrap_or("no agent");
            let usage = expense.work.usage.unwrap_or_default();
            shown += &format!(
                "{} at `{}`, {agent}: {} started, {} tokens\n",
                expense.effect,
                event.place.as_str(),
                expense.requests,
                usage.input_tokens
            );
        }
    }
    let usage = ran.end.usage.unwrap_or_default();
    let why = ran.end.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
    let cost = usage.cost.unwrap_or_default();
    shown + &format!("{} tokens, ${cost:.2}, {:?}{why}\n", usage.input_tokens, ran.end.status)
}

/// What the journal of a run has that was killed before its end.
fn journal(ran: &Ran) -> Vec<Event> {
    let mut journal = recorded(&ran.events);
    journal.pop_if(|event| matches!(event.kind, EventKind::RunEnded(_)));
    journal
}

fn at_most(cost: f64) -> Budget {
    Budget { limits: vec![Limit::hard(LimitScope::Run, Maximum::Cost(cost), "`--max-cost`")] }
}

const PROGRAM: &str = "agent b:\n  prompt: \"B\"\nparallel (\"first\"):\n  session \"A\"\n  session: b\n    prompt: \"B\"\nsession \"C\"\nsession \"D\"\n";

/// Runs a program, and resumes it with a higher limit after it was killed.
#[track_caller]
fn check(seconds: u64, cost: f64, expected: Expect, resumed: Expect) {
    let execute = |earlier: Vec<Event>, cost: f64| {
        run_with(PROGRAM, SCRIPT, |setup| {
            reports_after(setup, seconds);
            setup.limits.budget = at_most(cost);
            setup.earlier = earlier;
        })
    };
    let first = execute(Vec::new(), cost);
    expected.assert_eq(&shown(&first));
    resumed.assert_eq(&shown(&execute(journal(&first), 9.0)));
}

#[test]
fn a_cancelled_request_is_recorded_with_its_usage() {
    check(
        0,
        1.0,
        expect![[r#"
        session at `s1/b1`, b: 1 started, 10 tokens
        30 tokens, $1.20, Interrupted: the limit of $1.00 is reached (`--max-cost`): $1.20 used
    "#]],
        expect![[r#"
        session at `s1/b1`, b: 1 started, 10 tokens
        40 tokens, $1.60, Completed
    "#]],
    );
}

#[test]
fn usage_that_is_reported_after_the_cancellation_counts_against_limits() {
    check(
        7,
        1.0,
        expect![[r#"
        session at `s1/b1`, b: 0 started, 10 tokens
        30 tokens, $1.20, Interrupted: the limit of $1.00 is reached (`--max-cost`): $1.20 used
    "#]],
        expect![[r#"
        session at `s1/b1`, b: 0 started, 10 tokens
        40 tokens, $1.60, Completed
    "#]],
    );
}

#[test]
fn what_agents_report_when_they_are_ended_counts_in_a_run_that_stops() {
    let rejected =
        "[[session]]\nlabel = \"A\"\nfail = \"the key is rejected\"\nkind = \"auth\"\ndelay = \"5s\"\n";
    let ran =
        run_with("parallel:\n  session \"A\"\n  session \"B\"\n", &format!("{rejected}{SCRIPT}"), |setup| {
            reports_after(setup, 7);
        });
    expect![[r#"
        session at `s0/b0`, no agent: 1 started, 10 tokens
        session at `s0/b1`, no agent: 0 started, 10 tokens
        20 tokens, $0.80, Interrupted: the key is rejected
    "#]]
    .assert_eq(&shown(&ran));
}

#[test]
fn requests_at_work_are_recorded_when_the_run_stops() {
    let program = "parallel:\n  session \"B\"\n  if **fine**:\n    session \"A\"\n";
    let first = run_with(program, SCRIPT, |setup| {
        reports_after(setup, 0);
        setup.interrupted = Box::pin(async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            "stopped".to_owned()
        });
    });
    expect![[r#"
        session at `s0/b0`, no agent: 1 started, 10 tokens
        judge at `s0/b1/if0/c29`, no agent: 1 started, 10 tokens
        20 tokens, $0.80, Interrupted: stopped
    "#]]
    .assert_eq(&shown(&first));
    let resumed = run_with(program, SCRIPT, |setup| {
        reports_after(setup, 0);
        setup.earlier = journal(&first);
    });
    expect![[r#"
        session at `s0/b0`, no agent: 1 started, 10 tokens
        judge at `s0/b1/if0/c29`, no agent: 1 started, 10 tokens
        50 tokens, $2.00, Completed
    "#]]
    .assert_eq(&shown(&resumed));
    let again = run_with(program, SCRIPT, |setup| {
        reports_after(setup, 0);
        setup.earlier = journal(&resumed);
    });
    assert_eq!(again.end, resumed.end);
}

#[test]
fn cancelled_sessions_of_an_agent_count_against_its_limit_after_the_run_is_resumed() {
    let program = format!("{PROGRAM}session: b\n  prompt: \"E\"\n");
    let execute = |earlier: Vec<Event>| {
        run_with(&program, SCRIPT, |setup| {
            reports_after(setup, 0);
            let limit = Limit::hard(LimitScope::Agent("b".into()), Maximum::Tokens(10), "`x`");
            setup.limits.budget = Budget { limits: vec![limit] };
            setup.earlier = earlier;
        })
    };
    let first = execute(Vec::new());
    assert_eq!(shown(&execute(journal(&first))), shown(&first));
    assert!(shown(&first).contains("of agent `b` is reached"), "{}", shown(&first));
}

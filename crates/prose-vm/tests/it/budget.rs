//! What runs use, and the limits that stop them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use prose_vm::activity::{AnswerFuture, AnswerSource, Approvals, PermissionAnswer, PermissionQuestion};
use prose_vm::budget::{Accounts, Budget, Limit, LimitScope, Maximum, Spent};
use prose_vm::effect::Usage;
use prose_vm::event::{Event, EventKind, RunStatus};

use crate::support::{Counting, Ran, Setup, recorded, run_with};

const OK: &str = "[[session]]\nreply = \"ok\"\ndelay = \"1s\"\n";

/// 10 tokens and 40 cents for each request.
fn forty_cents(_: &str) -> Option<Usage> {
    Some(Usage { input_tokens: 10, cost: Some(0.4), ..Usage::default() })
}

fn spends(setup: &mut Setup, usage: fn(&str) -> Option<Usage>) {
    setup.harness =
        Arc::new(Counting { inner: Arc::clone(&setup.harness), usage, changes: None, is_live: true });
}

fn run_costs() -> Limit {
    Limit::hard(LimitScope::Run, Maximum::Cost(1.0), "`--max-cost`")
}

/// Runs a program whose requests cost 40 cents each with a limit. Shows the sessions, the usage and the end.
#[track_caller]
fn check(program: &str, script: &str, limit: Limit, expected: Expect) -> Ran {
    let ran = run_with(program, script, |setup| {
        spends(setup, forty_cents);
        setup.limits.budget = Budget { limits: vec![limit] };
    });
    expected.assert_eq(&shown(&ran));
    ran
}

fn shown(ran: &Ran) -> String {
    let usage = ran.end.usage.unwrap_or_default();
    let why = ran.end.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
    format!(
        "{} sessions, {} tokens, ${:.2}, {:?}{why}\n",
        ran.end.sessions,
        usage.input_tokens,
        usage.cost.unwrap_or_default(),
        ran.end.status
    )
}

#[test]
fn a_limit_lets_no_session_start_once_it_is_reached() {
    check(
        "repeat 5:\n  session \"A\"\n",
        OK,
        run_costs(),
        expect![[r#"
        3 sessions, 30 tokens, $1.20, Interrupted: the limit of $1.00 is reached (`--max-cost`): $1.20 used
    "#]],
    );
    let tokens = Limit::hard(LimitScope::Run, Maximum::Tokens(20), "`--max-tokens`");
    check(
        "repeat 5:\n  session \"A\"\n",
        OK,
        tokens,
        expect![[r#"
        2 sessions, 20 tokens, $0.80, Interrupted: the limit of 20 tokens is reached (`--max-tokens`): 20 used
    "#]],
    );
}

#[test]
fn sessions_at_work_are_completed_and_no_others_start() {
    let program = "parallel for x in [1, 2, 3, 4, 5, 6, 7, 8, 9]:\n  session \"{x}\"\n";
    let limit = Limit { maximum: Maximum::Cost(0.1), ..run_costs() };
    check(
        program,
        OK,
        limit,
        expect![[r#"
        8 sessions, 80 tokens, $3.20, Interrupted: the limit of $0.10 is reached (`--max-cost`): $3.20 used
    "#]],
    );
}

#[test]
fn failed_attempts_and_judges_count() {
    let program = "agent a:\n  retry: 1\ntry:\n  session: a\n    prompt: \"bad\"\ncatch:\n  if **fine**:\n    session \"B\"\n  session \"C\"\n";
    let script = "[[session]]\npattern = \"bad\"\nfail = \"no\"\n[[session]]\nreply = \"ok\"\n[[condition]]\nmet = true\n";
    check(
        program,
        script,
        run_costs(),
        expect![[r#"
        2 sessions, 30 tokens, $1.20, Interrupted: the limit of $1.00 is reached (`--max-cost`): $1.20 used
    "#]],
    );
}

#[test]
fn cancelled_sessions_are_paid_for() {
    let program = "parallel (\"first\"):\n  session \"A\"\n  session \"B\"\nsession \"C\"\n";
    let script = "[[session]]\nlabel = \"B\"\nreply = \"late\"\ndelay = \"9s\"\n[[session]]\nreply = \"ok\"\ndelay = \"1s\"\n";
    let ran = check(
        program,
        script,
        run_costs(),
        expect![[r#"
        2 sessions, 30 tokens, $1.20, Completed
    "#]],
    );
    assert_eq!(ran.end.status, RunStatus::Completed);
}

#[test]
fn earlier_executions_count_and_a_higher_limit_continues_the_run() {
    let program = "parallel (\"first\"):\n  session \"A\"\n  session \"B\"\nsession \"C\"\nsession \"D\"\n";
    let script = "[[session]]\nlabel = \"B\"\nreply = \"late\"\ndelay = \"9s\"\n[[session]]\nreply = \"ok\"\ndelay = \"1s\"\n";
    let execute = |earlier: Vec<Event>, most: f64| {
        run_with(program, script, |setup| {
            spends(setup, forty_cents);
            setup.earlier = recorded(&earlier);
            setup.limits.budget =
                Budget { limits: vec![Limit { maximum: Maximum::Cost(most), ..run_costs() }] };
        })
    };
    let first = execute(Vec::new(), 1.0);
    expect![[r#"
        2 sessions, 30 tokens, $1.20, Interrupted: the limit of $1.00 is reached (`--max-cost`): $1.20 used
    "#]]
    .assert_eq(&shown(&first));
    let same = execute(first.events.clone(), 1.0);
    expect![[r#"
        2 sessions, 30 tokens, $1.20, Interrupted: the limit of $1.00 is reached (`--max-cost`): $1.20 used
    "#]]
    .assert_eq(&shown(&same));
    let higher = execute(same.events, 9.0);
    expect![[r#"
        3 sessions, 40 tokens, $1.60, Completed
    "#]]
    .assert_eq(&shown(&higher));
}

#[test]
fn a_limit_of_an_agent_lets_the_others_go_on() {
    let program = "agent writer:\n  prompt: \"W\"\nparallel:\n  do:\n    session: writer\n    session: writer\n  do:\n    session \"A\"\n    session \"B\"\n    session \"C\"\n";
    let limit = Limit::hard(
        LimitScope::Agent("writer".into()),
        Maximum::Sessions(1),
        "`limits.agents.writer.max-sessions`",
    );
    check(
        program,
        OK,
        limit,
        expect![[r#"
        4 sessions, 40 tokens, $1.60, Interrupted: the limit of 1 session of agent `writer` is reached (`limits.agents.writer.max-sessions`)
    "#]],
    );
}

/// Allows the first questions, and then no more.
struct Allowing(usize, AtomicUsize);

impl Approvals for Allowing {
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> AnswerFuture<'a> {
        assert!(question.title.starts_with("the limit of $"), "{}", question.title);
        let is_allowed = self.1.fetch_add(1, Ordering::SeqCst) < self.0;
        Box::pin(std::future::ready(PermissionAnswer::once(is_allowed, AnswerSource::Terminal, None)))
    }
}

#[test]
fn a_soft_limit_asks_the_person() {
    let limit = Limit { is_soft: true, ..run_costs() };
    let program = "repeat 9:\n  session \"A\"\n";
    let run = |approvals: Option<Arc<dyn Approvals>>| {
        let ran = run_with(program, OK, |setup| {
            spends(setup, forty_cents);
            setup.limits.budget = Budget { limits: vec![limit.clone()] };
            if let Some(approvals) = approvals {
                setup.approvals = approvals;
            }
        });
        shown(&ran)
    };
    expect![[r#"
        3 sessions, 30 tokens, $1.20, Interrupted: the limit of $1.00 is reached (`--max-cost`): $1.20 used
    "#]]
    .assert_eq(&run(None));
    expect![[r#"
        6 sessions, 60 tokens, $2.40, Interrupted: the limit of $2.20 is reached (`--max-cost`): $2.40 used
    "#]]
    .assert_eq(&run(Some(Arc::new(Allowing(1, AtomicUsize::new(0))))));
    expect![[r#"
        9 sessions, 90 tokens, $3.60, Completed
    "#]]
    .assert_eq(&run(Some(Arc::new(Allowing(9, AtomicUsize::new(0))))));
}

/// A cent for each token, and estimates of a token for each byte.
struct Cents;

impl Accounts for Cents {
    fn cost(&self, _: Option<&str>, usage: &Usage) -> Option<f64> {
        Some(0.01 * (usage.input_tokens + usage.output_tokens) as f64)
    }

    fn estimate(&self, prompt: usize, reply: usize) -> Option<Usage> {
        Some(Usage { input_tokens: prompt as u64, output_tokens: reply as u64, ..Usage::default() })
    }

    fn spend(&self, _: Spent, _: Spent) -> Spent {
        Spent::default()
    }

    fn today(&self) -> Spent {
        Spent::default()
    }
}

#[test]
fn usage_without_a_cost_is_priced_and_no_usage_is_estimated() {
    let tokens = |text: &str| (text != "none").then_some(Usage { input_tokens: 100, ..Usage::default() });
    let ran = run_with("session \"some\"\nsession \"none\"\n", OK, |setup| {
        spends(setup, tokens);
        setup.accounts = Arc::new(Cents);
    });
    let works = ran.events.iter().filter_map(|event| match &event.kind {
        EventKind::Effect { work, .. } => {
            Some((work.usage?.input_tokens, work.usage?.cost, work.is_estimated))
        }
        _ => None,
    });
    let works: Vec<_> = works.collect();
    assert_eq!(works[0], (100, Some(1.0), false));
    assert!(works[1].0 > 0 && works[1].1.is_some() && works[1].2, "{works:?}");
}

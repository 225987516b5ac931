//! Each limit stops a run or asks the user, and is exceeded by no more than the sessions at work.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use prose_vm::activity::{AnswerFuture, AnswerSource, Approvals, PermissionAnswer, PermissionQuestion};
use prose_vm::budget::{Accounts, Budget, Limit, LimitScope, Maximum, Spent};
use prose_vm::effect::Usage;
use prose_vm::event::{Event, EventKind, RunStatus};

use crate::support::{Counting, Ran, recorded, run_with};

const OK: &str = "[[session]]\nreply = \"ok\"\ndelay = \"1s\"\n[[condition]]\nmet = true\n";

/// Each request uses 10 tokens and 50 cents.
fn usage(_: &str) -> Option<Usage> {
    Some(Usage { input_tokens: 10, cost: Some(0.5), ..Usage::default() })
}

/// The total of the day of several runs.
#[derive(Default)]
struct Day(Mutex<Spent>);

impl Accounts for Day {
    fn cost(&self, _: Option<&str>, _: &Usage) -> Option<f64> {
        None
    }

    fn estimate(&self, _: usize, _: usize) -> Option<Usage> {
        Some(Usage::default())
    }

    fn spend(&self, before: Spent, now: Spent) -> Spent {
        let mut total = self.0.lock().unwrap();
        total.cost += now.cost - before.cost;
        total.tokens = total.tokens + now.tokens - before.tokens;
        total.sessions = total.sessions + now.sessions - before.sessions;
        total.unpriced_tokens = total.unpriced_tokens + now.unpriced_tokens - before.unpriced_tokens;
        total.unpriced_requests = total.unpriced_requests + now.unpriced_requests - before.unpriced_requests;
        *total
    }

    fn today(&self) -> Spent {
        *self.0.lock().unwrap()
    }
}

/// Allows a number of questions.
struct Allowing(u32, AtomicU32);

impl Approvals for Allowing {
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> AnswerFuture<'a> {
        assert!(question.title.contains(" is reached"), "{}", question.title);
        let is_allowed = self.1.fetch_add(1, Ordering::SeqCst) < self.0;
        Box::pin(std::future::ready(PermissionAnswer::once(is_allowed, AnswerSource::Terminal, None)))
    }
}

fn run(program: &str, limit: &Limit, day: &Arc<Day>, allowed: u32, earlier: Vec<Event>) -> Ran {
    run_with(program, OK, |setup| {
        let inner = Arc::clone(&setup.harness);
        setup.harness = Arc::new(Counting { inner, usage, changes: None, is_live: true });
        setup.limits.budget = Budget { limits: vec![limit.clone()] };
        setup.accounts = Arc::clone(day) as Arc<dyn Accounts>;
        setup.approvals = Arc::new(Allowing(allowed, AtomicU32::new(0)));
        setup.earlier = earlier;
    })
}

#[test]
fn each_limit_stops_the_run_and_a_higher_one_continues_it() {
    let program = "agent writer:\n  prompt: \"W\"\nrepeat 9:\n  session: writer\n    prompt: \"A\"\n";
    let scopes = [LimitScope::Run, LimitScope::Agent("writer".into()), LimitScope::Day];
    // Each is reached by four sessions.
    let maxima = [
        (Maximum::Cost(2.0), Maximum::Cost(100.0)),
        (Maximum::Tokens(40), Maximum::Tokens(1_000)),
        (Maximum::Sessions(4), Maximum::Sessions(100)),
    ];
    for scope in scopes {
        for (maximum, higher) in maxima {
            for is_soft in [false, true] {
                let what = format!("{scope:?} {maximum:?}, soft: {is_soft}");
                let limit = Limit { is_soft, ..Limit::hard(scope.clone(), maximum, "`limit`") };
                let day = Arc::default();
                let stopped = run(program, &limit, &day, 0, Vec::new());
                assert_eq!((stopped.end.sessions, stopped.end.status), (4, RunStatus::Interrupted), "{what}");
                let reason = stopped.end.error.as_ref().unwrap().to_string();
                assert!(reason.contains("is reached (`limit`)"), "{what}: {reason}");

                let same = run(program, &limit, &day, 0, recorded(&stopped.events));
                assert_eq!((same.end.sessions, same.end.status), (4, RunStatus::Interrupted), "{what}");

                let limit = Limit { maximum: higher, ..limit };
                let resumed = run(program, &limit, &day, 0, recorded(&same.events));
                assert_eq!((resumed.end.sessions, resumed.end.status), (9, RunStatus::Completed), "{what}");
                let usage = resumed.end.usage.unwrap();
                assert_eq!((usage.input_tokens, usage.cost), (90, Some(4.5)), "{what}");
                let today = day.today();
                assert_eq!((today.tokens, today.cost, today.sessions), (90, 4.5, 9), "{what}");
            }
            // The user allows as much again, once.
            let limit = Limit { is_soft: true, ..Limit::hard(scope.clone(), maximum, "`limit`") };
            let raised = run(program, &limit, &Arc::default(), 1, Vec::new());
            assert_eq!(
                (raised.end.sessions, raised.end.status),
                (8, RunStatus::Interrupted),
                "{scope:?} {maximum:?}"
            );
        }
    }
}

#[test]
fn the_limit_of_an_agent_does_not_concern_other_agents() {
    let program = "agent writer:\n  prompt: \"W\"\nagent critic:\n  prompt: \"C\"\nrepeat 3:\n  session: critic\nsession: writer\n";
    for maximum in [Maximum::Cost(0.5), Maximum::Tokens(10), Maximum::Sessions(1)] {
        let limit = Limit::hard(LimitScope::Agent("writer".into()), maximum, "`limit`");
        let ran = run(program, &limit, &Arc::default(), 0, Vec::new());
        assert_eq!((ran.end.sessions, ran.end.status), (4, RunStatus::Completed), "{maximum:?}");
    }
}

/// A program with sessions in nested constructs.
fn generated(random: &mut Rng) -> String {
    fn statements(random: &mut Rng, indent: usize, depth: u32, out: &mut String) {
        for _ in 0..random.u32(1..4) {
            let pad = " ".repeat(indent);
            let kind = if depth == 0 { 0 } else { random.u32(0..7) };
            match kind {
                1 => *out += &format!("{pad}parallel:\n"),
                2 => *out += &format!("{pad}parallel (\"first\"):\n"),
                3 => *out += &format!("{pad}repeat {}:\n", random.u32(1..4)),
                4 => *out += &format!("{pad}if **fine**:\n"),
                5 => *out += &format!("{pad}parallel for x in [1, 2, 3]:\n"),
                6 => *out += &format!("{pad}session: writer\n{pad}  prompt: \"W\"\n"),
                _ => *out += &format!("{pad}session \"A\"\n"),
            }
            if (1..6).contains(&kind) {
                statements(random, indent + 2, depth - 1, out);
            }
        }
    }
    let mut program = "agent writer:\n  prompt: \"Write\"\n".to_owned();
    statements(random, 0, 3, &mut program);
    program
}

const PARALLEL: u32 = 8;

#[test]
fn hard_limits_are_exceeded_by_no_more_than_the_sessions_at_work() {
    let mut random = Rng::with_seed(16);
    let mut stopped = 0;
    for number in 0..120 {
        let program = generated(&mut random);
        let most = random.u32(1..12);
        let scope = match random.u32(0..3) {
            0 => LimitScope::Run,
            1 => LimitScope::Agent("writer".into()),
            _ => LimitScope::Day,
        };
        let maximum = match random.u32(0..3) {
            0 => Maximum::Cost(f64::from(most) * 0.5),
            1 => Maximum::Tokens(u64::from(most) * 10),
            _ => Maximum::Sessions(most),
        };
        let limit = Limit::hard(scope.clone(), maximum, "`limit`");
        let day: Arc<Day> = Arc::default();
        let ran = run(&program, &limit, &day, 0, Vec::new());
        let what = format!("{number}: {limit:?}\n{program}");
        let spent = match &scope {
            LimitScope::Agent(agent) => of_agent(&ran, agent),
            _ => day.today(),
        };
        let at_work = f64::from(PARALLEL) * 0.5;
        match maximum {
            Maximum::Sessions(most) => assert!(spent.sessions <= most, "{spent:?} {what}"),
            Maximum::Tokens(most) => {
                assert!(spent.tokens < most + u64::from(PARALLEL) * 10, "{spent:?} {what}");
            }
            Maximum::Cost(most) => assert!(spent.cost < most + at_work, "{spent:?} {what}"),
        }
        let total = ran.end.usage.unwrap_or_default();
        assert_eq!(
            (total.input_tokens, total.cost.unwrap_or_default()),
            (day.today().tokens, day.today().cost),
            "{what}"
        );
        if ran.end.status == RunStatus::Interrupted {
            stopped += 1;
            let higher = Limit { maximum: Maximum::Tokens(1_000_000), ..limit };
            let resumed = run(&program, &higher, &day, 0, recorded(&ran.events));
            assert_eq!(resumed.end.status, RunStatus::Completed, "{what}");
            let total = resumed.end.usage.unwrap_or_default();
            assert_eq!(total.input_tokens, day.today().tokens, "{what}");
        }
    }
    assert!(stopped > 30, "{stopped}");
}

/// What the requests of an agent have used, by the events of a run.
fn of_agent(ran: &Ran, agent: &str) -> Spent {
    let mut spent = Spent::default();
    let mut own = Vec::new();
    for event in &ran.events {
        match &event.kind {
            EventKind::SessionStarted { request, task } if task.agent.as_deref() == Some(agent) => {
                own.push(*request);
            }
            EventKind::Effect { request, .. } if own.contains(request) => {
                spent = spent.and(Spent::SESSION).and(Spent::of(event.kind.usage().unwrap_or_default()));
            }
            EventKind::Expense(expense) if expense.agent.as_deref() == Some(agent) => {
                let sessions = Spent { sessions: expense.sessions(), ..Spent::default() };
                spent = spent.and(sessions).and(Spent::of(expense.work.usage.unwrap_or_default()));
            }
            _ => {}
        }
    }
    spent
}

#[test]
fn runs_at_the_same_time_share_the_limit_of_the_day() {
    let program = "parallel for x in [1, 2, 3, 4, 5, 6, 7, 8, 9]:\n  repeat 9:\n    session \"A\"\n";
    for maximum in [Maximum::Cost(10.0), Maximum::Tokens(200), Maximum::Sessions(20)] {
        let day: Arc<Day> = Arc::default();
        let limit = Limit::hard(LimitScope::Day, maximum, "`limit`");
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let ran = run(program, &limit, &day, 0, Vec::new());
                    assert_eq!(ran.end.status, RunStatus::Interrupted);
                });
            }
        });
        let today = day.today();
        assert!((20..20 + 3 * PARALLEL).contains(&today.sessions), "{maximum:?}: {today:?}");
    }
}

//! What counts against limits, and when they are reached.

use super::*;

fn usage(tokens: u64, cost: Option<f64>) -> Usage {
    Usage { input_tokens: tokens, cost, ..Usage::default() }
}

fn meter(limits: impl IntoIterator<Item = Limit>) -> Meter {
    Meter::new(Budget { limits: limits.into_iter().collect() }, Spent::default())
}

fn reason(meter: &Meter, agent: Option<&str>) -> String {
    let agent = agent.map(SmolStr::new);
    meter.reached(agent.as_ref(), true).map_or_else(|| "goes on".to_owned(), |reached| reached.reason)
}

#[test]
fn a_sum_of_costs_reaches_its_limit_exactly() {
    for (most, requests) in [(0.3, 3), (0.8, 8), (1.0, 10)] {
        let mut meter = meter([Limit::hard(LimitScope::Run, Maximum::Cost(most), "`--max-cost`")]);
        for request in 0..requests {
            assert_eq!(reason(&meter, None), "goes on", "{request} of {requests}");
            meter.settle(RequestId(request), None, Spent::of(usage(10, Some(0.1))));
        }
        assert_ne!(reason(&meter, None), "goes on", "{requests} requests");
    }
}

#[test]
fn what_requests_at_work_have_used_so_far_counts() {
    let mut meter = meter([Limit::hard(LimitScope::Run, Maximum::Cost(1.0), "`--max-cost`")]);
    meter.report(RequestId(1), None, usage(10, Some(0.6)));
    assert_eq!(reason(&meter, None), "goes on");
    meter.report(RequestId(2), None, usage(10, Some(0.5)));
    assert_eq!(reason(&meter, None), "the limit of $1.00 is reached (`--max-cost`): $1.10 used");
    // The provider's final figure replaces what was reported before.
    meter.settle(RequestId(1), None, Spent::of(usage(10, Some(0.2))));
    assert_eq!(reason(&meter, None), "goes on");
}

#[test]
fn tokens_stand_for_money_where_no_price_is_known() {
    let mut meter = meter([Limit::hard(LimitScope::Run, Maximum::Cost(5.0), "`limits.run.max-cost`")]);
    meter.settle(RequestId(1), None, Spent::of(usage(999_999, None)));
    assert_eq!(reason(&meter, None), "goes on");
    meter.settle(RequestId(2), None, Spent::of(usage(1, None)));
    assert_eq!(
        reason(&meter, None),
        "the limit of $5.00 is reached (`limits.run.max-cost`): no price is known for 1,000,000 tokens of 2 requests"
    );
}

#[test]
fn requests_that_report_nothing_are_counted_where_no_price_is_known() {
    let mut meter = meter([Limit::hard(LimitScope::Run, Maximum::Cost(0.1), "`--max-cost`")]);
    meter.settle(RequestId(1), None, Spent::of(Usage::default()));
    assert_eq!(reason(&meter, None), "goes on");
    meter.settle(RequestId(2), None, Spent::of(Usage::default()));
    assert!(reason(&meter, None).starts_with("the limit of $0.10 is reached"));
}

#[test]
fn a_limit_of_an_agent_stops_only_that_agent() {
    let scope = LimitScope::Agent("writer".into());
    let mut meter = meter([Limit::hard(scope, Maximum::Sessions(1), "`limits.agents.writer.max-sessions`")]);
    meter.count(Some(&"critic".into()), Spent::SESSION);
    assert_eq!(reason(&meter, Some("writer")), "goes on");
    meter.count(Some(&"writer".into()), Spent::SESSION);
    assert_eq!(
        reason(&meter, Some("writer")),
        "the limit of 1 session of agent `writer` is reached (`limits.agents.writer.max-sessions`)"
    );
    assert_eq!(reason(&meter, Some("critic")), "goes on");
}

#[test]
fn a_soft_limit_is_raised_by_as_much_again() {
    let limit = Limit::hard(LimitScope::Run, Maximum::Tokens(100), "`limits.run.ask-tokens`");
    let mut meter = meter([Limit { is_soft: true, ..limit }]);
    meter.settle(RequestId(1), None, Spent::of(usage(150, None)));
    let reached = meter.reached(None, true).unwrap();
    assert!(reached.is_soft);
    assert_eq!(meter.question(reached.limit).0, "use up to 100 tokens more");
    meter.raise(reached.limit);
    assert_eq!(reason(&meter, None), "goes on");
    meter.harden(reached.limit);
    meter.settle(RequestId(2), None, Spent::of(usage(100, None)));
    assert!(!meter.reached(None, true).unwrap().is_soft);
}

#[test]
fn a_limit_that_sessions_at_work_have_exceeded_is_raised_from_what_they_have_used() {
    let limit = Limit::hard(LimitScope::Run, Maximum::Cost(0.1), "`limits.run.ask-cost`");
    let mut meter = meter([Limit { is_soft: true, ..limit }]);
    meter.settle(RequestId(1), None, Spent::of(usage(10, Some(0.37))));
    let reached = meter.reached(None, true).unwrap();
    let (question, rule) = meter.question(reached.limit);
    assert_eq!(question, "use up to $0.10 more");
    meter.raise(reached.limit);
    assert_eq!(reason(&meter, None), "goes on");
    meter.settle(RequestId(2), None, Spent::of(usage(10, Some(0.1))));
    assert_eq!(reason(&meter, None), "the limit of $0.47 is reached (`limits.run.ask-cost`): $0.47 used");
    // An answer for the run covers the raised limit, too.
    assert_eq!(meter.question(reached.limit).1, rule);
}

#[test]
fn what_stands_for_an_unknown_cost_raises_its_limit() {
    let limit = Limit::hard(LimitScope::Run, Maximum::Cost(0.1), "`limits.run.ask-cost`");
    let mut meter = meter([Limit { is_soft: true, ..limit }]);
    meter.settle(RequestId(1), None, Spent::of(usage(100_000, None)));
    let reached = meter.reached(None, true).unwrap();
    meter.raise(reached.limit);
    assert_eq!(reason(&meter, None), "goes on");
}

#[test]
fn an_earlier_answer_raises_a_limit_once() {
    let limit = Limit::hard(LimitScope::Run, Maximum::Tokens(100), "`limits.run.ask-tokens`");
    let mut meter = meter([Limit { is_soft: true, ..limit }]);
    meter.settle(RequestId(1), None, Spent::of(usage(150, None)));
    let (_, rule) = meter.question(0);
    // The journal is repeated: the answer was given here.
    meter.repeat_raise(&rule);
    meter.settle(RequestId(2), None, Spent::of(usage(100, None)));
    assert!(reason(&meter, None).starts_with("the limit of 250 tokens is reached"));
    meter.recall_raise(0);
    assert!(reason(&meter, None).starts_with("the limit of 250 tokens is reached"));
    // Of another program it is not known where it was given.
    meter.recall_raise(0);
    assert_eq!(reason(&meter, None), "goes on");
}

#[test]
fn an_earlier_answer_about_the_day_allows_no_more_when_the_run_is_resumed() {
    let limit = Limit::hard(LimitScope::Day, Maximum::Sessions(2), "`limits.day.ask-sessions`");
    let used = |sessions| Spent { sessions, ..Spent::default() };
    let mut meter = Meter::new(Budget { limits: vec![Limit { is_soft: true, ..limit }] }, used(4));
    let (_, rule) = meter.question(0);
    meter.repeat_raise(&rule);
    assert!(reason(&meter, None).starts_with("the limit of 4 sessions per day is reached"));
}

#[test]
fn other_runs_of_the_day_count_against_the_limit_of_the_day() {
    let mut meter = Meter::new(
        Budget { limits: vec![Limit::hard(LimitScope::Day, Maximum::Cost(10.0), "`limits.day.max-cost`")] },
        Spent { cost: 9.5, ..Spent::default() },
    );
    assert_eq!(reason(&meter, None), "goes on");
    // Another run has used something meanwhile.
    meter.set_day(Spent { cost: 10.25, ..Spent::default() });
    assert_eq!(
        reason(&meter, None),
        "the limit of $10.00 per day is reached (`limits.day.max-cost`): $10.25 used"
    );
}

#[test]
fn large_numbers_are_grouped() {
    assert_eq!([grouped(7), grouped(1000), grouped(1_234_567)], ["7", "1,000", "1,234,567"]);
}

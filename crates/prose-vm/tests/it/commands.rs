//! Commands of a person to a run: pause, continue, stop, skip, retry, set-limit.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use futures_util::FutureExt;
use prose_vm::activity::AnswerSource;
use prose_vm::budget::{Budget, Maximum};
use prose_vm::command::{Command, CommandError, Commands};
use prose_vm::effect::{Outcome, RequestId};
use prose_vm::event::{Event, EventKind};
use prose_vm::questions::Attribution;

use crate::support::{Ran, recorded, run_with};

/// Each session takes a second; `slow` takes ten, unless it has another prompt.
const SCRIPT: &str = "[[session]]\npattern = \"quick\"\nreply = \"at once\"\ndelay = \"1s\"\n[[session]]\nlabel = \"slow\"\nreply = \"at last\"\ndelay = \"10s\"\n[[session]]\nreply = \"ok\"\ndelay = \"1s\"\n";

fn ada() -> Attribution {
    Attribution { by: Some("ada".into()), from: AnswerSource::Terminal }
}

/// What commands were answered, in their order.
type Answers = Rc<RefCell<Vec<Result<(), CommandError>>>>;

/// Runs a program and gives it commands, each after so many milliseconds; one after none has arrived when the run starts.
fn commanded(
    program: &str,
    sessions: Option<u32>,
    commands: &[(u64, Command)],
    earlier: Vec<Event>,
) -> (Ran, Answers) {
    let answers = Answers::default();
    let given = Rc::clone(&answers);
    let commands = commands.to_vec();
    let ran = run_with(program, SCRIPT, move |setup| {
        let (sender, received) = Commands::channel();
        setup.commands = received;
        setup.earlier = earlier;
        setup.limits.budget = sessions.map(Budget::sessions).unwrap_or_default();
        let arrives_before = commands.first().is_some_and(|(at, _)| *at == 0);
        // It never interrupts the run, and is polled as long as that is executed.
        setup.interrupted = Box::pin(async move {
            let mut now = 0;
            for (at, command) in &commands {
                if *at > now {
                    tokio::time::sleep(Duration::from_millis(at - now)).await;
                }
                now = *at;
                let answer = sender.send(command.clone(), ada()).await;
                given.borrow_mut().push(answer);
            }
            std::future::pending().await
        });
        if arrives_before {
            assert!((&mut setup.interrupted).now_or_never().is_none());
        }
    });
    (ran, answers)
}

/// The sessions, the commands and the end of a run, with their times in milliseconds.
fn shown(ran: &Ran, answers: &Answers) -> String {
    let mut shown = String::new();
    for event in &ran.events {
        _ = match &event.kind {
            EventKind::Commanded { command, by } => writeln!(shown, "{}: {command:?} {by}", event.at),
            EventKind::Effect { request, outcome: Outcome::Reply(reply), .. } => {
                writeln!(shown, "{}: session {} replies {:?}", event.at, request.0, reply.text)
            }
            EventKind::Warning { message } => writeln!(shown, "{}: {message}", event.at),
            EventKind::Begun { request } => writeln!(shown, "{}: session {} begins", event.at, request.0),
            EventKind::Expense(expense) => {
                writeln!(shown, "{}: {} {} without a reply", event.at, expense.requests, expense.effect)
            }
            EventKind::RunEnded(end) => {
                let why = end.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
                writeln!(shown, "{}: {:?} with {:?}{why}", event.at, end.status, end.value)
            }
            _ => Ok(()),
        };
    }
    for refused in answers.borrow().iter().filter_map(|answer| answer.err()) {
        _ = writeln!(shown, "refused: {refused}");
    }
    shown
}

#[track_caller]
fn check(program: &str, sessions: Option<u32>, commands: &[(u64, Command)], expected: Expect) {
    let (ran, answers) = commanded(program, sessions, commands, Vec::new());
    expected.assert_eq(&shown(&ran, &answers));
}

const REQUEST: RequestId = RequestId(1);

#[test]
fn a_paused_run_keeps_what_is_at_work_and_starts_nothing_until_it_continues() {
    check(
        "session \"a\"\nsession \"b\"\n",
        None,
        &[(500, Command::Pause), (600, Command::Pause), (5000, Command::Continue), (5500, Command::Continue)],
        expect![[r#"
            500: Pause by ada at the terminal
            1000: session 1 replies "ok"
            5000: Continue by ada at the terminal
            5000: session 2 begins
            6000: session 2 replies "ok"
            6000: Completed with Text("ok")
            refused: the run is not paused
        "#]],
    );
}

#[test]
fn stop_interrupts_the_run() {
    check(
        "session \"slow\"\n",
        None,
        &[(500, Command::Stop)],
        expect![[r#"
            500: Stop by ada at the terminal
            500: Interrupted with Null: stopped by ada at the terminal
        "#]],
    );
}

#[test]
fn a_skipped_session_ends_with_an_empty_text_and_a_warning() {
    check(
        "let x = session \"slow\"\nlet y = session \"b\"\noutput \"<{x}> <{y}>\"\n",
        None,
        &[
            (500, Command::Skip { request: REQUEST }),
            (600, Command::Skip { request: REQUEST }),
            (700, Command::Skip { request: RequestId(99) }),
        ],
        expect![[r#"
            500: Skip { request: RequestId(1) } by ada at the terminal
            500: 1 session without a reply
            500: session 1 replies ""
            500: the session was skipped by ada at the terminal, so its result is empty
            1500: session 2 replies "ok"
            1500: Completed with Text("<> <ok>")
            refused: no such session is at work or waits for an agent
            refused: no such session is at work or waits for an agent
        "#]],
    );
}

#[test]
fn a_session_is_skipped_that_was_just_about_to_start() {
    check(
        "session \"a\"\nsession \"b\"\n",
        None,
        &[(0, Command::Skip { request: REQUEST })],
        expect![[r#"
            0: Skip { request: RequestId(1) } by ada at the terminal
            0: session 1 replies ""
            0: the session was skipped by ada at the terminal, so its result is empty
            1000: session 2 replies "ok"
            1000: Completed with Text("ok")
        "#]],
    );
}

#[test]
fn a_session_that_waits_is_skipped_without_being_counted() {
    check(
        "session \"a\"\nsession \"b\"\nsession \"c\"\n",
        Some(2),
        &[
            (500, Command::Pause),
            (2000, Command::Retry { request: RequestId(2) }),
            (2000, Command::Skip { request: RequestId(2) }),
            (3000, Command::Continue),
        ],
        expect![[r#"
            500: Pause by ada at the terminal
            1000: session 1 replies "ok"
            2000: Skip { request: RequestId(2) } by ada at the terminal
            2000: session 2 replies ""
            2000: the session was skipped by ada at the terminal, so its result is empty
            3000: Continue by ada at the terminal
            3000: session 3 begins
            4000: session 3 replies "ok"
            4000: Completed with Text("ok")
            refused: the session is not at work yet, so there is nothing to retry
        "#]],
    );
}

#[test]
fn a_retried_session_starts_again_and_counts_twice() {
    check(
        "session \"slow\"\nsession \"b\"\n",
        Some(2),
        &[(500, Command::Retry { request: REQUEST })],
        expect![[r#"
            500: Retry { request: RequestId(1) } by ada at the terminal
            500: 1 session without a reply
            500: session 1 begins
            10500: session 1 replies "at last"
            10500: Interrupted with Null: the limit of 2 sessions is reached (`--max-sessions`)
        "#]],
    );
}

#[test]
fn a_higher_limit_lets_a_run_continue_that_is_about_to_stop() {
    check(
        "parallel:\n  session \"slow\"\n  session \"b\"\n  session \"c\"\n",
        Some(2),
        &[(5000, Command::SetLimit { limit: Maximum::Sessions(3) })],
        expect![[r#"
            1000: session 2 replies "ok"
            5000: SetLimit { limit: Sessions(3) } by ada at the terminal
            5000: session 3 begins
            6000: session 3 replies "ok"
            10000: session 1 replies "at last"
            10000: Completed with Array([Text("at last"), Text("ok"), Text("ok")])
        "#]],
    );
}

#[test]
fn a_lower_limit_stops_a_run() {
    check(
        "session \"a\"\nsession \"b\"\nsession \"c\"\n",
        None,
        &[
            (500, Command::SetLimit { limit: Maximum::Cost(f64::NAN) }),
            (600, Command::SetLimit { limit: Maximum::Sessions(2) }),
        ],
        expect![[r#"
            600: SetLimit { limit: Sessions(2) } by ada at the terminal
            1000: session 1 replies "ok"
            2000: session 2 replies "ok"
            2000: Interrupted with Null: the limit of 2 sessions is reached (`--max-sessions`)
            refused: a limit is a number from 0 on
        "#]],
    );
}

#[test]
fn a_resumed_run_obeys_the_commands_that_are_recorded() {
    let program = "session \"slow\"\nsession \"slow\"\nsession \"c\"\nsession \"d\"\n";
    let commands = &[
        (200, Command::SetLimit { limit: Maximum::Sessions(4) }),
        (500, Command::Skip { request: REQUEST }),
        (700, Command::Retry { request: RequestId(2) }),
        (11_000, Command::Pause),
        (11_500, Command::Stop),
    ];
    let (first, _) = commanded(program, None, commands, Vec::new());
    let before = recorded(&first.events);
    let (second, answers) = commanded(program, None, &[], before.clone());
    // Nothing that is recorded happens again, whatever a person said in between, and the limit still holds.
    let repeated = before.len() - 1;
    assert_eq!(second.events[..repeated], before[..repeated]);
    expect![[r#"
        200: SetLimit { limit: Sessions(4) } by ada at the terminal
        500: Skip { request: RequestId(1) } by ada at the terminal
        500: 1 session without a reply
        500: session 1 replies ""
        500: the session was skipped by ada at the terminal, so its result is empty
        700: Retry { request: RequestId(2) } by ada at the terminal
        700: 1 session without a reply
        10700: session 2 replies "at last"
        11000: Pause by ada at the terminal
        11500: Stop by ada at the terminal
        1000: session 3 replies "ok"
        1000: Interrupted with Null: the limit of 4 sessions is reached (`--max-sessions`)
    "#]]
    .assert_eq(&shown(&second, &answers));
    // A flag of the later execution is the later word.
    let (third, answers) = commanded(program, Some(9), &[], before);
    expect![[r#"
        200: SetLimit { limit: Sessions(4) } by ada at the terminal
        500: Skip { request: RequestId(1) } by ada at the terminal
        500: 1 session without a reply
        500: session 1 replies ""
        500: the session was skipped by ada at the terminal, so its result is empty
        700: Retry { request: RequestId(2) } by ada at the terminal
        700: 1 session without a reply
        10700: session 2 replies "at last"
        11000: Pause by ada at the terminal
        11500: Stop by ada at the terminal
        1000: session 3 replies "ok"
        2000: session 4 replies "ok"
        2000: Completed with Text("ok")
    "#]]
    .assert_eq(&shown(&third, &answers));
}

#[test]
fn a_session_is_skipped_when_the_process_ended_before_its_result_was_recorded() {
    let program = "session \"slow\"\nsession \"b\"\n";
    let (first, _) = commanded(program, None, &[(500, Command::Skip { request: REQUEST })], Vec::new());
    let mut before = recorded(&first.events);
    let cut = before.iter().position(|event| matches!(event.kind, EventKind::Commanded { .. }));
    before.truncate(cut.unwrap() + 1);
    let (second, answers) = commanded(program, None, &[], before);
    expect![[r#"
        500: Skip { request: RequestId(1) } by ada at the terminal
        0: session 1 replies ""
        0: the session was skipped by ada at the terminal, so its result is empty
        1000: session 2 replies "ok"
        1000: Completed with Text("ok")
    "#]]
    .assert_eq(&shown(&second, &answers));
}

#[test]
fn a_run_tells_what_it_does() {
    let reports = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&reports);
    run_with(
        "agent scout:\n  prompt: \"x\"\nlet found = session: scout\n  prompt: \"slow\"\nsession \"b\"\n",
        SCRIPT,
        |setup| {
            let (sender, received) = Commands::channel();
            setup.commands = received;
            setup.limits.budget = Budget::sessions(7);
            setup.interrupted = Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(500)).await;
                let report = sender.status().await.unwrap();
                kept.borrow_mut().push(serde_json::to_string_pretty(&report).unwrap());
                std::future::pending().await
            });
        },
    );
    expect![[r#"
        {
          "is_paused": false,
          "sessions": [
            {
              "request": 1,
              "line": 3,
              "agent": "scout",
              "name": "found",
              "task": "slow",
              "is_at_work": true
            }
          ],
          "used": {
            "cost": 0.0,
            "tokens": 0,
            "sessions": 1,
            "unpriced_tokens": 0,
            "unpriced_requests": 0
          },
          "limits": [
            "7 sessions (`--max-sessions`)"
          ]
        }"#]]
    .assert_eq(&reports.borrow().join("\n"));
}

#[test]
fn a_reply_by_hand_ends_a_session_that_waits_or_is_at_work() {
    check(
        "let x = session \"slow\"\nlet y = session \"b\"\noutput \"<{x}> <{y}>\"\n",
        None,
        &[
            (500, Command::Pause),
            (500, Command::Reply { request: REQUEST, text: Arc::from("by hand") }),
            (600, Command::Reply { request: RequestId(2), text: Arc::from("without an agent") }),
            (700, Command::Reply { request: RequestId(2), text: Arc::from("too late") }),
            (800, Command::Continue),
        ],
        expect![[r#"
            500: Pause by ada at the terminal
            500: Reply { request: RequestId(1), text: "by hand" } by ada at the terminal
            500: 1 session without a reply
            500: session 1 replies "by hand"
            500: the reply was given by ada at the terminal, not by an agent
            600: Reply { request: RequestId(2), text: "without an agent" } by ada at the terminal
            600: session 2 replies "without an agent"
            600: the reply was given by ada at the terminal, not by an agent
            600: Completed with Text("<by hand> <without an agent>")
        "#]],
    );
}

#[test]
fn a_changed_prompt_is_the_one_that_the_agent_gets() {
    check(
        "let x = session \"slow\"\noutput x\n",
        None,
        &[
            (500, Command::Prompt { request: REQUEST, text: Arc::from("quick") }),
            (900, Command::Prompt { request: RequestId(9), text: Arc::from("nobody") }),
        ],
        expect![[r#"
            500: Prompt { request: RequestId(1), text: "quick" } by ada at the terminal
            500: 1 session without a reply
            500: session 1 begins
            1500: session 1 replies "at once"
            1500: the prompt was changed by ada at the terminal
            1500: Completed with Text("at once")
            refused: no such session is at work or waits for an agent
        "#]],
    );
}

#[test]
fn a_resumed_run_repeats_replies_and_prompts_by_hand() {
    let program = "session \"slow\"\nsession \"slow\"\n";
    let commands = &[
        (500, Command::Reply { request: REQUEST, text: Arc::from("by hand") }),
        (700, Command::Prompt { request: RequestId(2), text: Arc::from("quick") }),
        (800, Command::Stop),
    ];
    let (first, _) = commanded(program, None, commands, Vec::new());
    let before = recorded(&first.events);
    let (second, answers) = commanded(program, None, &[], before.clone());
    expect![[r#"
        500: Reply { request: RequestId(1), text: "by hand" } by ada at the terminal
        500: 1 session without a reply
        500: session 1 replies "by hand"
        500: the reply was given by ada at the terminal, not by an agent
        700: Prompt { request: RequestId(2), text: "quick" } by ada at the terminal
        700: 1 session without a reply
        800: Stop by ada at the terminal
        1000: session 2 replies "at once"
        1000: the prompt was changed by ada at the terminal
        1000: Completed with Text("at once")
    "#]]
    .assert_eq(&shown(&second, &answers));
    // The process may have ended before the outcome was recorded.
    let cut = before.iter().position(|event| matches!(event.kind, EventKind::Commanded { .. })).unwrap();
    let (third, answers) = commanded(program, None, &[], before[..=cut].to_vec());
    expect![[r#"
        500: Reply { request: RequestId(1), text: "by hand" } by ada at the terminal
        0: session 1 replies "by hand"
        0: the reply was given by ada at the terminal, not by an agent
        10000: session 2 replies "at last"
        10000: Completed with Text("at last")
    "#]]
    .assert_eq(&shown(&third, &answers));
}

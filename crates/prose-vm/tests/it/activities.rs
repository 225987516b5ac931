//! What backends report while they work, as observers of a run receive it.

use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use prose_vm::activity::{
    AnswerFuture, AnswerSource, Approvals, NoApprovals, PermissionAnswer, PermissionQuestion,
};
use prose_vm::error::ErrorKind;
use prose_vm::event::{EventKind, RunStatus};
use prose_vm::secrets::Secrets;

use crate::support::{Setup, run_with};

/// The activities of a run with their times in seconds, and what was recorded of them.
#[track_caller]
fn check(script: &str, change: impl FnOnce(&mut Setup), expected: Expect) {
    let ran = run_with("let draft = session \"Write\"\n", script, change);
    let mut lines = String::new();
    for event in &ran.events {
        let seconds = (event.at - ran.events[0].at) as f64 / 1000.0;
        match &event.kind {
            EventKind::Activity { activity, .. } => {
                lines += &format!("{seconds}: {}\n", serde_json::to_string(activity).unwrap());
            }
            EventKind::Effect { work, .. } if !work.is_empty() => {
                lines += &format!("{seconds}: recorded {}\n", serde_json::to_string(work).unwrap());
            }
            _ => {}
        }
    }
    expected.assert_eq(&lines);
}

#[test]
fn activities_are_emitted_when_they_happen_and_what_has_to_survive_is_recorded() {
    check(
        r#"
            [[session]]
            delay = "6s"
            reply = "Done."
            activity = [
              { agent = "abc", model = "small" },
              { tool = "edit", title = "Edit a.rs", paths = ["a.rs"] },
              { used = { input = 10, output = 5 } },
              { denied = "git push", reason = "execute: deny" },
              { used = { input = 1, output = 2, cost = 0.5 } },
            ]
        "#,
        |_| {},
        expect![[r#"
            1: {"activity":"agent","id":"abc","model":"small"}
            2: {"activity":"tool","id":"1","kind":"edit","title":"Edit a.rs","paths":["a.rs"],"status":"running"}
            3: {"activity":"tool","id":"1","kind":"edit","title":"Edit a.rs","paths":["a.rs"],"status":"completed"}
            3: {"activity":"used","input_tokens":10,"output_tokens":5}
            4: {"activity":"denied","title":"git push","reason":"execute: deny"}
            5: {"activity":"used","input_tokens":1,"output_tokens":2,"cost":0.5}
            6: recorded {"usage":{"input_tokens":11,"output_tokens":7,"cost":0.5},"calls":1,"denials":[{"title":"git push","reason":"execute: deny"}],"agent":{"id":"abc","model":"small"}}
        "#]],
    );
}

#[test]
fn parts_of_a_text_that_follow_soon_are_one_report() {
    check(
        r#"
            [[session]]
            delay = "400ms"
            reply = "Done."
            activity = [
              { text = "One" }, { text = " two" }, { text = " three" }, { reasoning = "Hm" }, { text = "Four" }, { text = " five" },
              { text = " six" },
            ]
        "#,
        |_| {},
        expect![[r#"
            0.15: {"activity":"text","text":"One two three"}
            0.25: {"activity":"reasoning","text":"Hm"}
            0.35: {"activity":"text","text":"Four five six"}
        "#]],
    );
}

#[test]
fn a_request_without_a_report_is_stalled_once_until_it_reports_again() {
    check(
        r#"
            [[session]]
            delay = "60m"
            reply = "Done."
            activity = [{ tool = "execute", title = "sleep" }, { text = "Back" }]
        "#,
        |_| {},
        expect![[r#"
            1200: {"activity":"tool","id":"0","kind":"execute","title":"sleep","status":"running"}
            1800: {"activity":"stalled","silent_ms":600000}
            2400: {"activity":"tool","id":"0","kind":"execute","title":"sleep","status":"completed"}
            2400.1: {"activity":"text","text":"Back"}
            3000: {"activity":"stalled","silent_ms":600000}
            3600: recorded {"calls":1}
        "#]],
    );
}

#[test]
fn a_request_that_never_reports_anything_is_not_stalled() {
    check("[[session]]\ndelay = \"60m\"\nreply = \"Done.\"\n", |_| {}, expect![[""]]);
}

#[test]
fn the_delay_that_a_provider_asks_for_is_no_stall() {
    check(
        r#"
            [[session]]
            delay = "20m"
            reply = "Done."
            activity = [{ retry = 429, delay = "5m" }]
        "#,
        |setup| setup.limits.stalled_after = Some(Duration::from_secs(6 * 60)),
        expect![[r#"
            600: {"activity":"provider-retry","attempt":1,"status":429,"delay_ms":300000,"message":"the provider returned status 429"}
        "#]],
    );
}

#[test]
fn secrets_are_masked_also_across_the_parts_of_a_text() {
    let secrets = Secrets::new(["sk-12345678".to_owned()]);
    check(
        r#"
            [[session]]
            delay = "10s"
            reply = "Done."
            activity = [
              { text = "the key is sk-12" }, { text = "345678, s" }, { tool = "execute", title = "curl sk-12345678" }, { denied = "sk-12345678" },
            ]
        "#,
        |setup| setup.secrets = secrets.into(),
        expect![[r#"
            2.1: {"activity":"text","text":"the key is "}
            4.1: {"activity":"text","text":"[masked], "}
            6: {"activity":"text","text":"s"}
            6: {"activity":"tool","id":"2","kind":"execute","title":"curl [masked]","status":"running"}
            8: {"activity":"tool","id":"2","kind":"execute","title":"curl [masked]","status":"completed"}
            8: {"activity":"denied","title":"[masked]","reason":""}
            10: recorded {"calls":1,"denials":[{"title":"[masked]","reason":""}]}
        "#]],
    );
}

#[test]
fn a_question_that_no_one_answers_is_denied() {
    check(
        "[[session]]\nreply = \"Done.\"\nactivity = [{ ask = \"git push\", rule = \"execute: prompt\" }]\n",
        |_| {},
        expect![[r#"
            0: {"activity":"asked","id":"0","title":"git push","rule":"execute: prompt"}
            0: {"activity":"answered","id":"0","is_allowed":false,"from":"no-one"}
            0: {"activity":"denied","title":"git push","reason":"execute: prompt"}
            0: recorded {"denials":[{"title":"git push","reason":"execute: prompt"}],"questions":[{"question":{"id":"0","title":"git push","rule":"execute: prompt"},"from":"no-one","answered_at":0}]}
        "#]],
    );
}

/// A person who allows everything, but takes time to read it.
struct Slow(Duration);

impl Approvals for Slow {
    fn ask<'a>(&'a self, _: &'a PermissionQuestion) -> AnswerFuture<'a> {
        Box::pin(async move {
            tokio::time::sleep(self.0).await;
            PermissionAnswer::once(true, AnswerSource::Terminal, Some("ada".into()))
        })
    }
}

#[test]
fn an_answer_is_recorded_with_who_gave_it_and_when_and_waiting_for_it_is_no_stall() {
    check(
        r#"
            [[session]]
            delay = "10s"
            reply = "Done."
            activity = [{ ask = "git push", rule = "execute: prompt" }]
        "#,
        |setup| {
            setup.approvals = Arc::new(Slow(Duration::from_secs(3600)));
            setup.starts_at = 1_768_487_452_000;
        },
        expect![[r#"
            5: {"activity":"asked","id":"0","title":"git push","rule":"execute: prompt"}
            3605: {"activity":"answered","id":"0","is_allowed":true,"from":"terminal","by":"ada"}
            3610: recorded {"questions":[{"question":{"id":"0","title":"git push","rule":"execute: prompt"},"asked_at":1768487457000,"is_allowed":true,"from":"terminal","by":"ada","answered_at":1768491057000}]}
        "#]],
    );
}

#[test]
fn waiting_for_answers_does_not_count_towards_the_timeout() {
    // The session works for 30 seconds and waits for twice an hour.
    let script = r#"
        [[session]]
        delay = "30s"
        reply = "Done."
        activity = [{ ask = "git push", rule = "execute: prompt" }, { ask = "git tag", rule = "execute: prompt" }]
    "#;
    let how = |timeout: &str, approvals: Arc<dyn Approvals>| {
        let program = format!("session \"Write\"\n  timeout: \"{timeout}\"\n");
        let ran = run_with(&program, script, |setup| setup.approvals = approvals);
        let took = Duration::from_millis(ran.events.last().unwrap().at - ran.events[0].at);
        let is_timeout = ran.end.error.is_some_and(|error| error.kind == ErrorKind::Timeout);
        (ran.end.status, is_timeout, took)
    };
    let hour = Duration::from_secs(3600);
    let slow = || Arc::new(Slow(hour));
    let completed = (RunStatus::Completed, false, 2 * hour + Duration::from_secs(30));
    assert_eq!(how("31s", slow()), completed);
    assert_eq!(how("29s", slow()), (RunStatus::Failed, true, 2 * hour + Duration::from_secs(29)));
    // Without a person there is no wait.
    assert_eq!(how("29s", Arc::new(NoApprovals)), (RunStatus::Failed, true, Duration::from_secs(29)));
}

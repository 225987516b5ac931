//! What backends report while they work, as observers of a run receive it.

use std::time::Duration;

use expect_test::{Expect, expect};
use prose_vm::activity::Activity;
use prose_vm::event::EventKind;
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
    let ran = run_with(
        "session \"Write\"\n",
        "[[session]]\nreply = \"Done.\"\nactivity = [{ ask = \"git push\", rule = \"execute: prompt\" }]\n",
        |_| {},
    );
    let activities: Vec<&Activity> = ran
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Activity { activity, .. } => Some(activity),
            _ => None,
        })
        .collect();
    assert!(
        matches!(&activities[..], [Activity::Asked(_), Activity::Denied(denial)] if denial.title == "git push"),
        "{activities:?}"
    );
}

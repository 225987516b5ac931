//! What is answered without a model.

use std::time::Duration;

use expect_test::{Expect, expect};
use prose_harness::offline::{MARK, Offline};
use prose_vm::effect::{Effect, Outcome, Question, SummaryLength};
use prose_vm::event::LoopKind;
use prose_vm::harness::Harness;
use tokio::time::Instant;

use crate::support::*;

#[track_caller]
fn check(reply: &str, expected: Expect) {
    expected.assert_eq(reply);
}

#[tokio::test]
async fn a_reply_takes_up_the_words_of_its_task() {
    let reply =
        said(&Offline::new(0), &session("s1", "Research the history of tidal power in Brittany")).await;
    check(
        &reply,
        expect![
            "Went through tidal with an eye on power. Compared with power, history is the smaller part. One open question about power remains. [offline]"
        ],
    );
}

#[tokio::test]
async fn a_reply_says_what_was_passed_to_it() {
    let task = prose_vm::effect::SessionTask {
        context: vec![item("research", "Long ago …"), item("notes", "…")],
        ..task("Summarise the findings for the board")
    };
    let reply = said(&Offline::new(0), &request("s2", Effect::Session(task.into()))).await;
    assert!(reply.contains("Took research, notes into account."), "{reply}");
}

#[tokio::test]
async fn a_task_that_asks_for_a_list_gets_as_many_items() {
    let reply =
        said(&Offline::new(0), &session("s1", "Give me five fresh ideas for a harbour festival")).await;
    check(
        &reply,
        expect![[r#"
        - Look closer at fresh
        - Clarify festival
        - Compare fresh with ideas
        - Compare festival with fresh
        - Compare harbour with festival [offline]"#]],
    );
}

#[tokio::test]
async fn a_task_that_asks_for_json_gets_json_with_its_fields() {
    let tasks = [
        "Rate the plan. Answer as JSON: {\"score\": 1-10, \"is_ready\": true or not, \"reasons\": [...]}",
        "Return JSON with the fields title, steps and owner for the launch of the ferry",
        "Return a JSON array of three harbours",
        "Return the outcome as JSON",
    ];
    let mut shown = String::new();
    for task in tasks {
        let reply = said(&Offline::new(0), &session("s1", task)).await;
        let json: serde_json::Value = serde_json::from_str(&reply).unwrap();
        shown.push_str(&format!("{json}\n"));
    }
    check(
        &shown,
        expect![[r#"
        {"is_ready":false,"reasons":["Settle score before 1-10 [offline]","Clarify is_ready"],"score":10}
        {"owner":"What matters most is owner, and launch follows from it. [offline]","steps":["Settle owner before launch","Compare launch with ferry","Settle title before steps"],"title":"What matters most is launch, and ferry follows from it."}
        ["Look closer at array [offline]","Compare three with harbours","Clarify array"]
        {"items":["Look closer at outcome [offline]","Look closer at outcome"],"summary":"Compared with the rest, outcome is the smaller part."}
    "#]],
    );
}

#[tokio::test]
async fn a_task_that_asks_for_yes_or_no_gets_that() {
    let mut replies = std::collections::BTreeSet::new();
    for number in 0..20 {
        let place = format!("s{number}");
        replies
            .insert(said(&Offline::new(0), &session(&place, "Is the bridge safe? Answer yes or no.")).await);
        replies
            .insert(said(&Offline::new(0), &session(&place, "Is it done? Reply with true or false")).await);
    }
    let replies: Vec<_> = replies.into_iter().collect();
    assert_eq!(replies, ["false [offline]", "no [offline]", "true [offline]", "yes [offline]"]);
}

#[tokio::test]
async fn strange_tasks_get_a_reply_too() {
    let long = "Ünïcödé … ".repeat(5_000);
    for task in
        ["", " \n ", "?", "json", "list 99999999999999999999 items", "yes or no", "\0", "{a} {b}", &long]
    {
        let reply = said(&Offline::new(0), &session("s1", task)).await;
        assert!(reply.contains(MARK), "{task}: {reply}");
        assert!(reply.len() < 4_000);
    }
}

#[tokio::test]
async fn the_same_seed_gives_the_same_and_another_one_something_else() {
    let first = session("s1", "Research tidal power stations in Brittany and Wales");
    let second = session("s2", "Research tidal power stations in Brittany and Wales");
    let harness = Offline::new(7);
    let one = said(&harness, &first).await;
    let other = said(&harness, &second).await;
    assert_ne!(one, other, "the place counts");
    assert_eq!(said(&harness, &first).await, one, "earlier requests do not count");
    assert_eq!(said(&Offline::new(7), &first).await, one);
    assert_ne!(said(&Offline::new(8), &first).await, one);
}

/// How many iterations a loop has, if it ends at all. Its condition is checked before each (R60).
async fn iterations(seed: u64, kind: LoopKind) -> usize {
    for number in 0..100 {
        let asked = loop_condition(&format!("s3/i{number}"), "the draft is good", kind);
        let Some(Outcome::Verdict(verdict)) = answer(&Offline::new(seed), &asked).await else { panic!() };
        if verdict.met == (kind == LoopKind::Until) {
            return number;
        }
    }
    panic!("the loop never ends");
}

#[tokio::test]
async fn r060_loops_end_after_one_to_three_iterations() {
    for kind in [LoopKind::Until, LoopKind::While] {
        let mut seen = [0; 4];
        for seed in 0..50 {
            seen[iterations(seed, kind).await] += 1;
        }
        assert_eq!(seen[0], 0);
        assert!(seen[1..].iter().all(|count| *count > 5), "{seen:?}");
    }
}

#[tokio::test]
async fn r064_other_conditions_are_met_at_some_time() {
    let mut met = 0;
    for number in 1..=100 {
        let asked = condition(&format!("s1/i{number}/s0"), "time to stop");
        met += usize::from(said(&Offline::new(0), &asked).await.starts_with("yes"));
    }
    assert!((30..70).contains(&met), "{met}");
}

#[tokio::test]
async fn r067_every_label_is_chosen_at_some_time() {
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..40 {
        let asked = choice(&format!("s{number}"), "how to go on", &["Ship", "Wait", "Stop"]);
        seen.insert(said(&Offline::new(0), &asked).await);
    }
    assert_eq!(seen.len(), 3);
    let nothing = said(&Offline::new(0), &choice("s1", "how to go on", &[])).await;
    assert!(nothing.contains("no options to choose from"), "{nothing}");
}

#[tokio::test]
async fn r009_the_sentence_that_names_the_part_is_taken_out() {
    let text = "The ferry leaves at nine. Its due date is in May. It is blue. [offline]";
    let part = said(&Offline::new(0), &extract("s1", "due_date", text)).await;
    assert_eq!(part, "Its due date is in May. [offline]");
    assert_eq!(
        said(&Offline::new(0), &extract("s1", "weight", text)).await,
        "The ferry leaves at nine. [offline]"
    );
    assert_eq!(said(&Offline::new(0), &extract("s1", "weight", "")).await, "null");
    let nothing = request("s1", Effect::Extract(Question { context: Vec::new(), ..question("x") }.into()));
    assert_eq!(said(&Offline::new(0), &nothing).await, "null");
}

#[tokio::test]
async fn r038_summaries_end_with_a_sentence() {
    let text = "This is a sentence of forty characters. ".repeat(200);
    for (extent, longest) in [(SummaryLength::KeyPoints, 1_500), (SummaryLength::Essentials, 1_000)] {
        let short = said(&Offline::new(0), &summary("s1", "report", &text, extent)).await;
        assert!(short.ends_with("characters. … [offline]"), "{short}");
        assert!((longest - 60..longest + 20).contains(&short.len()), "{}", short.len());
    }
    // One sentence that is too long is cut between words, and one word anywhere.
    let words =
        said(&Offline::new(0), &summary("s1", "report", &"wörter ".repeat(2_000), SummaryLength::Essentials))
            .await;
    assert!(words.ends_with("wörter … [offline]"), "{words}");
    let word =
        said(&Offline::new(0), &summary("s1", "report", &"ö".repeat(9_000), SummaryLength::Essentials)).await;
    assert!(word.len() < 1_020);
}

#[tokio::test(start_paused = true)]
async fn it_takes_its_time_if_told_to() {
    let asked = session("s1", "Wait");
    let start = Instant::now();
    said(&Offline::new(0), &asked).await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    said(&Offline::new(0).with_delay(Duration::from_millis(100)), &asked).await;
    assert_eq!(start.elapsed(), Duration::from_millis(100));
}

#[test]
fn it_neither_reads_nor_writes_files() {
    let harness = Offline::new(0);
    assert_eq!(harness.name(), "offline");
    assert!(!harness.capabilities().reads_files && !harness.capabilities().writes_files);
}

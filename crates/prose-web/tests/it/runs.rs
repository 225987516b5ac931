//! Runs in a page, which move on only in turns.

use std::thread::sleep;
use std::time::{Duration, Instant};

use expect_test::expect;
use prose_web::Language;
use serde_json::{Value, json};

use crate::{error, page, result};

fn start(language: &mut Language, options: Value) {
    let mut all = json!({ "name": "main.prose", "harness": "offline" });
    all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    result(language, "start", all);
}

fn turn(language: &mut Language) -> Value {
    result(language, "turn", json!({}))
}

/// Turns until a turn is as it should be.
#[track_caller]
fn turn_until(language: &mut Language, is_meant: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let turn = turn(language);
        if is_meant(&turn) {
            return turn;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{turn}");
        sleep(Duration::from_millis(1));
    }
}

fn has_ended(turn: &Value) -> bool {
    !turn["end"].is_null()
}

fn asks(turn: &Value) -> bool {
    turn["questions"] != json!([])
}

#[test]
fn a_run_shows_its_sessions_and_its_outputs() {
    let mut language = page(
        "input topic: \"What about?\"\nlet draft = session \"Write about {topic}\"\noutput draft = draft\n",
    );
    start(&mut language, json!({ "inputs": { "topic": "tides" } }));
    let first = turn(&mut language);
    assert!(first["delta"].is_object(), "{first}");
    let last = turn_until(&mut language, has_ended);
    assert_eq!(
        (&last["end"]["status"], &last["end"]["outputs"][0]["name"]),
        (&json!("completed"), &json!("draft"))
    );
    let text = last["end"]["outputs"][0]["text"].as_str().unwrap();
    assert!(text.contains("[offline]"), "{text}");
    let sessions = result(&mut language, "sessions", json!({ "requests": [2] }));
    let sessions = if sessions == json!([]) {
        result(&mut language, "sessions", json!({ "requests": [1] }))
    } else {
        sessions
    };
    assert_eq!((&sessions[0]["task"], &sessions[0]["reply"]), (&json!("Write about tides"), &json!(text)));
    // Nothing happens any more.
    assert_eq!(turn(&mut language)["delta"], Value::Null);
}

#[test]
fn the_same_seed_gives_the_same_replies() {
    let replies: Vec<Value> = [1, 1, 2]
        .map(|seed| {
            let mut language =
                page("output a = session \"Write a long story about the sea and its tides\"\n");
            start(&mut language, json!({ "seed": seed }));
            turn_until(&mut language, has_ended)["end"]["outputs"].clone()
        })
        .into();
    assert_eq!(replies[0], replies[1]);
    assert_ne!(replies[0], replies[2]);
}

#[test]
fn a_delay_passes_by_the_clock_and_not_by_turns() {
    let mut language = page("session \"a\"\nsession \"b\"\n");
    start(&mut language, json!({ "delay": 40 }));
    let began = Instant::now();
    for _ in 0..20 {
        assert!(!has_ended(&turn(&mut language)) || began.elapsed() >= Duration::from_millis(80));
    }
    turn_until(&mut language, has_ended);
    assert!(began.elapsed() >= Duration::from_millis(80));
}

#[test]
fn questions_wait_for_answers_that_fit() {
    let mut language = page("input go: \"Go on? (yes/no)\"\noutput said = session \"They said {go}\"\n");
    start(&mut language, json!({}));
    let asked = turn_until(&mut language, asks);
    let question = &asked["questions"][0];
    expect![[r#"["input","Go on? (yes/no)",1,["yes","no"]]"#]].assert_eq(
        &json!([
            question["kind"],
            question["text"],
            question["line"],
            [question["choices"][0]["value"], question["choices"][1]["value"]]
        ])
        .to_string(),
    );
    let id = &question["id"];
    expect!["`perhaps` is not one of the answers; choose one of [y]es, [n]o"].assert_eq(&error(
        &mut language,
        "answer",
        json!({ "id": id, "text": "perhaps" }),
    ));
    expect!["the answer is empty, and the question is not optional"].assert_eq(&error(
        &mut language,
        "answer",
        json!({ "id": id, "text": " " }),
    ));
    result(&mut language, "answer", json!({ "id": id, "text": "Y" }));
    let end = turn_until(&mut language, has_ended);
    assert_eq!(end["questions"], json!([]));
    expect!["the question is no longer open"].assert_eq(&error(
        &mut language,
        "answer",
        json!({ "id": id, "text": "yes" }),
    ));
}

#[test]
fn a_script_replies_and_its_tools_ask_for_permission() {
    let mut language = page(
        r#"agent writer:
  model: sonnet
  permissions:
    execute: prompt

output text = session: writer
  prompt: "Write it"
//- script.toml
[[session]]
label = "Write it"
reply = "Once upon a time"

tools = ["bash: npm test"]
"#,
    );
    start(&mut language, json!({ "harness": "script", "script": "script.toml" }));
    let asked = turn_until(&mut language, asks);
    let question = &asked["questions"][0];
    assert_eq!(question["kind"], "permission");
    result(&mut language, "answer", json!({ "id": question["id"], "text": "once" }));
    let end = turn_until(&mut language, has_ended);
    assert_eq!(end["end"]["outputs"][0]["text"], "Once upon a time");
}

#[test]
fn runs_are_paused_continued_and_stopped() {
    let mut language = page("repeat 200:\n  session \"Count\"\n");
    start(&mut language, json!({ "delay": 2 }));
    turn(&mut language);
    result(&mut language, "command", json!({ "command": "pause" }));
    turn_until(&mut language, |turn| turn["delta"]["pause"].is_object());
    // What was at work completes; then nothing happens.
    sleep(Duration::from_millis(20));
    turn(&mut language);
    sleep(Duration::from_millis(20));
    assert_eq!(turn(&mut language)["delta"], Value::Null);
    expect!["a program is running; stop it first"].assert_eq(&error(
        &mut language,
        "start",
        json!({ "name": "main.prose", "harness": "offline" }),
    ));
    result(&mut language, "command", json!({ "command": "continue" }));
    turn_until(&mut language, |turn| turn["delta"].is_object());
    result(&mut language, "command", json!({ "command": "stop" }));
    let end = turn_until(&mut language, has_ended);
    assert_eq!(end["end"]["status"], "interrupted");
    expect!["the run has ended"].assert_eq(&error(&mut language, "command", json!({ "command": "stop" })));
    start(&mut language, json!({}));
}

#[test]
fn sessions_are_skipped() {
    let mut language = page("session \"Wait\"\n");
    start(&mut language, json!({ "delay": 3_600_000 }));
    let begun = turn_until(&mut language, |turn| turn["delta"].is_object());
    assert!(!has_ended(&begun));
    result(&mut language, "command", json!({ "command": "skip", "request": 1 }));
    let end = turn_until(&mut language, has_ended);
    assert_eq!(end["end"]["status"], "completed");
}

#[test]
fn a_failed_run_says_why() {
    let mut language = page("session \"a\"\nthrow \"there is no room\"\n");
    start(&mut language, json!({}));
    let end = turn_until(&mut language, has_ended);
    assert_eq!(end["end"]["status"], "failed");
    assert!(end["end"]["error"].as_str().unwrap().contains("there is no room"), "{end}");
}

#[test]
fn programs_that_cannot_run_are_refused() {
    let refused = |files: &str, options: Value| {
        let mut all = json!({ "name": "main.prose", "harness": "offline" });
        all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        error(&mut page(files), "start", all)
    };
    expect!["`main.prose` has 1 error and is not run"].assert_eq(&refused("session: nobody\n", json!({})));
    expect!["the import `alice/research` is not available: a page fetches nothing; add the program as a file and import it by its path"]
        .assert_eq(&refused("use \"alice/research\" as research\noutput found = research()\n", json!({})));
    expect!["the program has no input `speed`; it has none"]
        .assert_eq(&refused("session \"a\"\n", json!({ "inputs": { "speed": "1" } })));
    expect!["the harness `script` needs a script"]
        .assert_eq(&refused("session \"a\"\n", json!({ "harness": "script" })));
    let wrong = refused(
        "session \"a\"\n//- s.toml\n[[sesion]]\n",
        json!({ "harness": "script", "script": "s.toml" }),
    );
    assert!(wrong.starts_with("s.toml:1:"), "{wrong}");
    expect!["no program has been started"].assert_eq(&error(&mut page(""), "turn", json!({})));
}

#[test]
fn a_program_that_loops_does_not_hold_up_the_page() {
    let mut language = page("repeat 50000:\n  session \"Again\"\n");
    start(&mut language, json!({}));
    let began = Instant::now();
    let first = turn(&mut language);
    // A turn ends although there is more to do.
    assert!(!has_ended(&first) && began.elapsed() < Duration::from_secs(5));
    result(&mut language, "command", json!({ "command": "stop" }));
    turn_until(&mut language, has_ended);
}

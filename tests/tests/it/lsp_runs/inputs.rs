//! Inputs of programs that are run from an editor.

use expect_test::expect;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

use super::*;

#[test]
fn a_person_is_asked_for_inputs() {
    let program = r#"input topic: "What should it be about?"
input style: "Optional: how should it sound?"
session "Write about {topic}, {style}"
"#;
    let mut workspace = Workspace::with(able(), &[("ask.prose", program)]).opened("ask.prose");
    let id = run(&mut workspace, "ask.prose", json!({}));
    let question = workspace.client.wait_for_method("prose/input");
    assert_eq!(
        question["params"],
        json!({
            "run": id, "question": 1, "name": "topic", "prompt": "What should it be about?", "mayRephrase": false, "optional": false,
        })
    );
    answer(&mut workspace, &question, json!({ "value": "tides" }));
    let question = workspace.client.wait_for_method("prose/input");
    assert_eq!(
        (&question["params"]["name"], &question["params"]["optional"]),
        (&json!("style"), &json!(true))
    );
    answer(&mut workspace, &question, Value::Null);
    let started = event(&mut workspace, &id, |event| event["event"] == "session-started");
    assert_eq!(started["task"]["prompt"].as_str().unwrap().split(',').next(), Some("Write about tides"));
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
}

#[test]
fn a_run_that_nobody_gives_an_input_waits_for_it_as_a_run_to_resume() {
    let program = "session \"First\"\ninput topic: \"What about?\"\nsession \"Write about {topic}\"\n";
    let mut workspace = Workspace::with(hearing(), &[("ask.prose", program)]).opened("ask.prose");
    let id = run(&mut workspace, "ask.prose", json!({}));
    assert_eq!(ended(&mut workspace, &id)["status"], "waiting");
    check(
        &message(&mut workspace),
        expect![
            "ask.prose waits for an answer: topic: What about? – Resume the run with it: `prose.resume` with { \"inputs\": { \"topic\": … } }"
        ],
    );
    workspace.client.take_all();
    let resumed =
        command(&mut workspace, "prose.resume", "ask.prose", json!({ "inputs": { "topic": "tides" } }));
    assert_eq!(resumed["run"], id.as_str());
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
}

#[test]
fn an_input_without_a_name_is_given_by_its_variable_or_its_number() {
    let program = "let topic = input \"What about?\"\noutput o = [topic, input \"How long?\"]\n";
    let mut workspace = Workspace::with(hearing(), &[("ask.prose", program)]).opened("ask.prose");
    let id = run(&mut workspace, "ask.prose", json!({ "inputs": { "topic": "tides" } }));
    assert_eq!(ended(&mut workspace, &id)["status"], "waiting");
    check(
        &message(&mut workspace),
        expect![[
            r#"ask.prose waits for an answer: How long? – Resume the run with it: `prose.resume` with { "inputs": { "2": … } }"#
        ]],
    );
    workspace.client.take_all();
    command(&mut workspace, "prose.resume", "ask.prose", json!({ "inputs": { "2": 3 } }));
    assert_eq!(ended(&mut workspace, &id)["outputs"], json!([["o", ["tides", 3]]]));
}

#[test]
fn clients_without_a_field_for_inputs_show_the_answers_that_one_offers() {
    let program = "let go = input \"Ship it? (yes/no)\"\noutput done = go\n";
    let mut workspace = Workspace::with(hearing(), &[("ask.prose", program)]).opened("ask.prose");
    let id = run(&mut workspace, "ask.prose", json!({}));
    let question = workspace.client.wait_for_method("window/showMessageRequest");
    assert_eq!(
        question["params"],
        json!({
            "type": 3,
            "message": "ask.prose: Ship it? (yes/no)",
            "actions": [{ "title": "yes" }, { "title": "no" }],
        })
    );
    answer(&mut workspace, &question, json!({ "title": "yes" }));
    assert_eq!(ended(&mut workspace, &id)["outputs"], json!([["done", "yes"]]));
    // A message that is closed is no answer.
    workspace.client.take_all();
    let id = run(&mut workspace, "ask.prose", json!({}));
    let question = workspace.client.wait_for_method("window/showMessageRequest");
    answer(&mut workspace, &question, Value::Null);
    assert_eq!(ended(&mut workspace, &id)["status"], "waiting");
}

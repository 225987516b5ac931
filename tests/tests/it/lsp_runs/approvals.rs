//! Permission questions of agents, asked of the user of the editor.

use expect_test::expect;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

use super::*;

const PROGRAM: &str =
    "agent clerk:\n  prompt: \"Work\"\n  permissions:\n    bash: prompt\n\nsession: clerk\n";
const SCRIPT: &str = "[[session]]\nreply = \"done\"\ntools = [\"bash: git log\", \"bash: git show\"]\n";

fn started() -> (Workspace, String) {
    let files = &[("main.prose", PROGRAM), ("script.toml", SCRIPT)];
    let mut workspace = Workspace::with(hearing(), files).opened("main.prose");
    let id = run(&mut workspace, "main.prose", json!({ "script": "script.toml" }));
    (workspace, id)
}

fn question(workspace: &mut Workspace) -> Value {
    workspace.client.wait_for_method("window/showMessageRequest")
}

#[test]
fn the_user_is_asked_and_may_allow_a_rule_for_the_run() {
    let (mut workspace, id) = started();
    let asked = question(&mut workspace);
    assert_eq!(
        asked["params"],
        json!({
            "type": 2,
            "message": "main.prose: Agent `clerk` asks for permission: git log (bash: prompt)",
            "actions": [{ "title": "Allow once" }, { "title": "Allow for this run" }, { "title": "Deny" }],
        })
    );
    answer(&mut workspace, &asked, json!({ "title": "Allow for this run" }));
    let worked = event(&mut workspace, &id, |event| event["work"]["questions"].is_array());
    let questions = worked["work"]["questions"].as_array().unwrap().iter();
    let answers: Vec<_> =
        questions.map(|asked| (&asked["is_allowed"], asked["from"].as_str().unwrap())).collect();
    assert_eq!(answers, [(&json!(true), "editor"), (&json!(true), "rule")]);
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");
}

#[test]
fn a_denied_call_is_a_warning_and_a_closed_question_leaves_the_run_waiting() {
    let (mut workspace, id) = started();
    let asked = question(&mut workspace);
    answer(&mut workspace, &asked, json!({ "title": "Deny" }));
    let asked = question(&mut workspace);
    answer(&mut workspace, &asked, json!({ "title": "Allow once" }));
    let warning = event(&mut workspace, &id, |event| event["event"] == "warning");
    check(
        warning["message"].as_str().unwrap(),
        expect!["denied: `git log` (the user denied it (bash: prompt))"],
    );
    assert_eq!(ended(&mut workspace, &id)["status"], "completed");

    let (mut workspace, id) = started();
    let asked = question(&mut workspace);
    answer(&mut workspace, &asked, Value::Null);
    assert_eq!(ended(&mut workspace, &id)["status"], "waiting");
    check(
        &message(&mut workspace),
        expect![
            "main.prose waits for an answer: Agent `clerk` asks for permission: git log (bash: prompt) – Resume the run to answer"
        ],
    );
}

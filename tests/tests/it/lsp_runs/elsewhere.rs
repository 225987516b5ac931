//! Runs of a terminal that an editor watches and controls, and the other way round.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};

use super::*;

const SLOW: &str = "session \"First\"\nsession \"Second\"\n";
const ANSWERS: &str = "[[session]]\nreply = \"late\"\ndelay = \"600s\"\n";

/// A run in a terminal, once its first session has started, with its id and what it writes.
fn in_terminal(workspace: &Workspace, program: &str, delay: &str) -> (Child, BufReader<ChildStderr>, String) {
    let mut command = workspace.prose();
    command.args(["run", program, "--delay", delay]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut seen = String::new();
    while !seen.contains("… First") {
        assert!(lines.read_line(&mut seen).unwrap() > 0, "{seen}");
    }
    let id = seen.split_once("Run ").unwrap().1.split(' ').next().unwrap().to_owned();
    (child, lines, id)
}

#[test]
fn a_run_of_a_terminal_is_followed_and_controlled_in_the_editor() {
    let mut workspace = Workspace::with(hearing(), &[("slow.prose", SLOW)]).opened("slow.prose");
    let (mut child, _lines, id) = in_terminal(&workspace, "slow.prose", "1h");
    let runs = workspace.client.request("prose/runs", Value::Null);
    assert_eq!(runs["result"]["runs"][0]["run"], json!(id));
    assert_eq!(runs["result"]["runs"][0]["here"], json!(false));
    event(&mut workspace, &id, |event| event["event"] == "session-started");
    for name in ["pause", "continue"] {
        let answer = workspace.execute(&format!("prose.{name}"), json!({ "run": id }));
        assert_eq!(answer.get("error"), None);
        let told = event(&mut workspace, &id, |event| event["command"] == name);
        assert_eq!(told["from"], "editor");
        let listed = workspace.client.request("prose/runs", Value::Null)["result"]["runs"][0].clone();
        let (status, from) = match name {
            "pause" => ("paused", json!("editor")),
            _ => ("running", Value::Null),
        };
        assert_eq!((listed["status"].as_str(), &listed["pause"]["from"]), (Some(status), &from));
    }
    let answer = workspace.execute("prose.skip", json!({ "run": id }));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("`prose.skip` needs a run and one of its sessions"), "{message}");
    for (name, request) in [("retry", 1), ("skip", 1)] {
        let session = json!({ "run": id, "request": request });
        let answer = workspace.execute(&format!("prose.{name}"), session);
        assert_eq!(answer.get("error"), None);
        let told = event(&mut workspace, &id, |event| event["command"] == name);
        assert_eq!((&told["from"], &told["request"]), (&json!("editor"), &json!(request)));
    }
    event(&mut workspace, &id, |event| event["event"] == "session-started" && event["request"] == 2);
    let answer = workspace.execute("prose.retry", json!({ "run": id, "request": 1 }));
    assert_eq!(answer["error"]["message"], "no such session is at work or waits for an agent");
    command(&mut workspace, "prose.cancel", "slow.prose", json!({}));
    assert_eq!(ended(&mut workspace, &id)["status"], "interrupted");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let answer = workspace.execute("prose.pause", json!({ "run": id }));
    assert_eq!(answer["error"]["message"], "no such run is executed now");
}

#[test]
fn a_run_of_the_editor_is_stopped_from_a_terminal() {
    let files = &[("slow.prose", SLOW), ("answers.toml", ANSWERS)];
    let mut workspace = Workspace::with(hearing(), files).opened("slow.prose");
    let id = run(&mut workspace, "slow.prose", json!({ "script": "answers.toml" }));
    event(&mut workspace, &id, |event| event["event"] == "session-started");
    let stopped = workspace.prose().args(["runs", "stop", &id]).output().unwrap();
    assert!(stopped.status.success(), "{}", String::from_utf8_lossy(&stopped.stderr));
    assert_eq!(ended(&mut workspace, &id)["status"], "interrupted");
}

#[test]
fn questions_of_a_run_of_a_terminal_are_answered_in_the_editor() {
    let program = "session \"First\"\nlet go = input \"Ship it? (yes/no)\"\nlet name = input \"What is it called?\"\noutput done = [go, name]\n";
    let files = &[("ask.prose", program), ("prose.toml", "[run]\nwhen-waiting = \"stay\"\n")];
    let mut workspace = Workspace::with(able(), files).opened("ask.prose");
    let (mut child, _lines, id) = in_terminal(&workspace, "ask.prose", "0s");
    workspace.client.request("prose/runs", Value::Null);
    // Its choices are the actions, and a field for another answer opens only when the user wants it.
    let shown = workspace.client.wait_for_method("window/showMessageRequest");
    assert_eq!(
        shown["params"],
        json!({
            "type": 3,
            "message": "ask.prose waits for an answer: Ship it? (yes/no)",
            "actions": [{ "title": "yes" }, { "title": "no" }],
        })
    );
    answer(&mut workspace, &shown, json!({ "title": "no" }));
    let shown = workspace.client.wait_for_method("window/showMessageRequest");
    assert_eq!(shown["params"]["actions"], json!([{ "title": "Answer" }]));
    answer(&mut workspace, &shown, json!({ "title": "Answer" }));
    let asked = workspace.client.wait_for_method("prose/input");
    assert_eq!(
        (&asked["params"]["run"], &asked["params"]["prompt"]),
        (&json!(id), &json!("What is it called?"))
    );
    answer(&mut workspace, &asked, json!({ "value": "Otter" }));
    let end = ended(&mut workspace, &id);
    assert_eq!((&end["status"], &end["outputs"]), (&json!("completed"), &json!([["done", ["no", "Otter"]]])));
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_question_that_is_answered_in_a_terminal_disappears_from_the_editor() {
    let program = "session \"First\"\nlet go = input \"Ship it? (yes/no)\"\noutput done = go\n";
    let files = &[("ask.prose", program), ("prose.toml", "[run]\nwhen-waiting = \"stay\"\n")];
    let mut workspace = Workspace::with(able(), files).opened("ask.prose");
    let (mut child, _lines, id) = in_terminal(&workspace, "ask.prose", "0s");
    workspace.client.request("prose/runs", Value::Null);
    let shown = workspace.client.wait_for_method("window/showMessageRequest");
    let answered = workspace.prose().args(["runs", "answer", &id, "y"]).output().unwrap();
    assert!(answered.status.success(), "{}", String::from_utf8_lossy(&answered.stderr));
    let cancelled = workspace.client.wait_for_method("$/cancelRequest");
    assert_eq!(cancelled["params"]["id"], shown["id"]);
    assert_eq!(ended(&mut workspace, &id)["outputs"], json!([["done", "yes"]]));
    assert!(child.wait().unwrap().success());
}

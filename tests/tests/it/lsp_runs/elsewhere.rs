//! Runs of a terminal that an editor watches and controls, and the other way round.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};

use super::*;

const SLOW: &str = "session \"First\"\nsession \"Second\"\n";
const ANSWERS: &str = "[[session]]\nreply = \"late\"\ndelay = \"600s\"\n";

/// A run of sessions that take an hour in a terminal, once the first one has started, with its id and what it writes.
fn in_terminal(workspace: &Workspace) -> (Child, BufReader<ChildStderr>, String) {
    let mut command = workspace.prose();
    command.args(["run", "slow.prose", "--delay", "1h"]).stdout(Stdio::null()).stderr(Stdio::piped());
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
    let (mut child, _lines, id) = in_terminal(&workspace);
    let runs = workspace.client.request("prose/runs", Value::Null);
    assert_eq!(runs["result"]["runs"][0]["run"], json!(id));
    assert_eq!(runs["result"]["runs"][0]["here"], json!(false));
    event(&mut workspace, &id, |event| event["event"] == "session-started");
    for name in ["pause", "continue"] {
        let answer = workspace.execute(&format!("prose.{name}"), json!({ "run": id }));
        assert_eq!(answer.get("error"), None);
        let told = event(&mut workspace, &id, |event| event["command"] == name);
        assert_eq!(told["from"], "editor");
    }
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

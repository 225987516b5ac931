//! `run.notify`: the command that a project starts when one of its runs starts to wait, fails or ends.

use expect_test::expect;
use serde_json::Value;

use crate::common::Workspace;

/// A workspace with a program, and a command that is notified of its runs.
fn workspace(program: &str, command: &str) -> Workspace {
    let script = format!("#!/bin/sh\n{command}\n");
    let settings = "[run]\nnotify = [\"./notify.sh\", \"flows\"]\n";
    Workspace::new(&[("main.prose", program), ("prose.toml", settings), ("notify.sh", &script)])
}

/// What the command received, without what differs between runs.
fn received(workspace: &Workspace) -> Value {
    let mut event: Value = serde_json::from_str(&workspace.read("received.json")).expect("it is JSON");
    let run = event["run"].take();
    let folder = event["folder"].take();
    assert!(folder.as_str().is_some_and(|folder| folder.ends_with(run.as_str().unwrap_or("?"))), "{folder}");
    assert!(event["at"].take().is_u64() && event["project"].take().is_string());
    event
}

const RECEIVE: &str = "cat > received.json; echo $1 > argument; env > environment";

#[test]
fn a_command_is_started_when_a_run_ends() {
    let workspace = workspace("try:\n  throw \"no\"\ncatch:\n  session \"go\"\n", RECEIVE);
    workspace.trust();
    let mut command = workspace.command();
    command.env("UNRELATED_TOKEN", "secret").args(["run", "main.prose", "-q"]);
    assert!(command.status().expect("the binary starts").success());
    expect![[r#"
        {"at":null,"error":null,"event":"ended","failures":1,"folder":null,"line":null,"program":"main.prose","project":null,"run":null,"sessions":1,"status":"completed with failures","usage":null}
    "#]].assert_eq(&(received(&workspace).to_string() + "\n"));
    assert_eq!(workspace.read("argument"), "flows\n");
    assert!(!workspace.read("environment").contains("UNRELATED_TOKEN"), "it has the environment of agents");
}

#[test]
fn a_command_is_started_when_a_run_fails() {
    let workspace = workspace("let a = 1\nthrow \"no room\"\n", RECEIVE);
    workspace.trust();
    workspace.prose(&["run", "main.prose", "-q"]).ended(1);
    expect![[r#"
        {"at":null,"error":"no room","event":"failed","failures":0,"folder":null,"line":2,"program":"main.prose","project":null,"run":null,"sessions":0,"status":"failed","usage":null}
    "#]].assert_eq(&(received(&workspace).to_string() + "\n"));
}

#[test]
fn a_command_is_started_when_a_run_starts_to_wait_and_when_it_ends() {
    let program = "let plan = session \"Plan\"\ninput go: \"Ship it? (yes/no)\"\noutput done = go\n";
    let workspace = workspace(program, RECEIVE);
    workspace.trust();
    assert_eq!(workspace.prose(&["run", "main.prose", "-q"]).status, 5);
    expect![[r#"
        {"at":null,"event":"waiting","folder":null,"program":"main.prose","project":null,"question":{"id":1,"kind":"input","line":2,"program":null,"prompt":"Ship it? (yes/no)"},"run":null,"status":"waiting"}
    "#]]
    .assert_eq(&(received(&workspace).to_string() + "\n"));
    // What is answered and ends is reported as ended alone.
    assert_eq!(workspace.prose(&["runs", "answer", "2", "yes", "-q"]).status, 0);
    assert_eq!(received(&workspace)["event"], "ended");
}

#[test]
fn a_command_that_fails_is_a_warning() {
    let workspace = workspace("session \"go\"\n", "echo 'no network' >&2; exit 3");
    workspace.trust();
    let run = workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    expect![[r#"
        warning: the command of `run.notify` failed: `./notify.sh` failed with exit status: 3: no network
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn nothing_is_started_in_a_project_that_is_not_trusted_or_by_a_dry_run() {
    let workspace = workspace("session \"go\"\n", RECEIVE);
    let run = workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    expect![[r#"
        note: `run.notify` has no effect, since the project is not trusted; if you trust it, run `prose trust`
    "#]]
    .assert_eq(&run.stderr);
    workspace.trust();
    workspace.prose(&["run", "main.prose", "--dry-run"]).ended(0);
    assert!(!workspace.path("received.json").exists());
    // Another command is another setting.
    workspace.write("prose.toml", b"[run]\nnotify = [\"./notify.sh\", \"other\"]\n");
    workspace.prose(&["run", "main.prose", "-q"]).ended(0);
    assert!(!workspace.path("received.json").exists());
}

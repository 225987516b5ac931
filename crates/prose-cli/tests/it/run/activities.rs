//! What is shown of sessions at work, and kept of them.

use expect_test::expect;
use serde_json::Value;

use crate::common::{Run, Workspace};

const PROGRAM: &str = r#"agent writer:
  model: sonnet
  prompt: "Write."

session: writer
  prompt: "Write the draft"
  timeout: 2h
"#;

/// A session with all kinds of reports.
const ANSWERS: &str = r#"
[[session]]
reply = "Done."
activity = [
  { agent = "abc", model = "small-1", transcript = "/t/abc.jsonl" },
  { text = "I look at the tests." },
  { tool = "edit", title = "Edit a.rs", paths = ["a.rs"] },
  { tool = "execute", title = "cargo test", status = "failed" },
  { retry = 429, delay = "2s", message = "slow down" },
  { denied = "git push", reason = "execute: deny" },
  { used = { input = 1200, output = 40, cost = 0.03 } },
]
"#;

fn workspace() -> Workspace {
    Workspace::new(&[("main.prose", PROGRAM), ("answers.toml", ANSWERS)])
}

#[test]
fn lines_show_tool_calls_retries_and_denials() {
    workspace().check(
        &["run", "main.prose", "--script", "answers.toml"],
        expect![[r#"
            status: 0
            ---- stdout
            Done.
            ---- stderr
            Run ID with script
            … writer: Write the draft
            · writer: Edit a.rs
            · writer: cargo test
            writer: provider failed with status 429, retrying in 2s: slow down
            warning: line 5: denied: `git push` (execute: deny)
            ✓ writer: Write the draft (TIME)
            1 session: 1.2k tokens, $0.03
        "#]],
    );
}

#[test]
fn with_quiet_only_denials_are_shown() {
    workspace().check(
        &["run", "main.prose", "--script", "answers.toml", "--quiet"],
        expect![[r#"
            status: 0
            ---- stdout
            Done.
            ---- stderr
            warning: line 5: denied: `git push` (execute: deny)
        "#]],
    );
}

#[test]
fn events_in_json_contain_the_activities() {
    let run = workspace().prose(&["run", "main.prose", "--script", "answers.toml", "--json", "--quiet"]);
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut shown = String::new();
    for event in &events {
        if event["event"] == "activity" {
            shown += &format!("{}\n", event["activity"].as_str().unwrap());
        } else if event["event"] == "effect" {
            shown += &format!("{}\n", serde_json::to_string_pretty(&event["work"]).unwrap());
        }
    }
    expect![[r#"
        agent
        text
        tool
        tool
        tool
        tool
        provider-retry
        denied
        used
        {
          "agent": {
            "id": "abc",
            "model": "small-1",
            "transcript": "/t/abc.jsonl"
          },
          "calls": 2,
          "denials": [
            {
              "reason": "execute: deny",
              "title": "git push"
            }
          ],
          "usage": {
            "cost": 0.03,
            "input_tokens": 1200,
            "output_tokens": 40
          }
        }
    "#]]
    .assert_eq(&shown);
}

#[test]
fn recorded_runs_show_what_their_agents_reported() {
    let workspace = workspace();
    workspace.prose(&["run", "main.prose", "--script", "answers.toml"]);
    let shown = workspace.prose(&["runs", "show"]).stdout;
    let sessions = &shown[shown.find("sessions\n").unwrap()..];
    expect![[r#"
        sessions
          line 5: writer: Write the draft: complete, 2 tool calls, 1.2k tokens, $0.03
            session abc with small-1
            transcript /t/abc.jsonl
            denied: git push (execute: deny)
            log agents/1-anon_001.log
    "#]]
    .assert_eq(sessions);

    let json: Value = serde_json::from_str(&workspace.prose(&["runs", "show", "--json"]).stdout).unwrap();
    let attempt = &json["nodes"][1]["attempts"][0];
    assert_eq!(attempt["session"]["transcript"], "/t/abc.jsonl");
    assert_eq!(attempt["usage"]["input_tokens"], 1200);
    assert_eq!(attempt["denials"][0]["title"], "git push");
    assert_eq!(attempt["calls"], 2);
}

#[test]
fn the_log_of_an_agent_has_no_keys() {
    let answers =
        ANSWERS.replace("cargo test", "curl -H sk-abcdefgh").replace("at the tests", "at sk-abcdefgh");
    let workspace = Workspace::new(&[("main.prose", PROGRAM), ("answers.toml", &answers)]);
    let arguments = ["run", "main.prose", "--script", "answers.toml", "--json"];
    let run = Run::of(workspace.command().args(arguments).env("MY_API_KEY", "sk-abcdefgh"));
    let folder = workspace.run_folder();
    let log = std::fs::read_to_string(folder.join("agents/1-anon_001.log")).unwrap_or_else(|error| {
        let names: Vec<_> = std::fs::read_dir(folder.join("agents"))
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        panic!("{error}: {names:?}")
    });
    let without_times: String = log
        .lines()
        .map(|line| match line.split_once("] ") {
            Some((_, rest)) if line.starts_with('[') => format!("[TIME] {rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    expect![[r#"
        [TIME] session abc, model small-1, transcript /t/abc.jsonl
        [TIME] text
        I look at [masked].
        [TIME] tool 2 edit running: Edit a.rs
        [TIME] tool 2 edit completed: Edit a.rs
        [TIME] tool 3 execute running: curl -H [masked]
        [TIME] tool 3 execute failed: curl -H [masked]
        [TIME] provider failed with status 429, retry 1 in 2s: slow down
        [TIME] denied (execute: deny): git push
        [TIME] used 1200 input tokens, 40 output tokens, $0.0300
    "#]]
    .assert_eq(&without_times);
    for text in [run.stdout, run.stderr, std::fs::read_to_string(folder.join("journal.jsonl")).unwrap()] {
        assert!(!text.contains("sk-abcdefgh"), "{text}");
    }
}

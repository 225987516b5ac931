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
            Completed: 1 session done; 1 warning, 1 tool call denied; 1.2k tokens, $0.03
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

/// A race of two agents, a retry and a condition.
const RACE: &str = r#"agent writer:
  prompt: "Write."
agent critic:
  prompt: "Criticise."

parallel ("first"):
  session: writer
    prompt: "Quick"
    retry: 1
    backoff: none
  session: critic
    prompt: "Slow"
if **it is fine**:
  session "Done"
"#;

const RACERS: &str = r#"
[[session]]
label = "Quick"
fail = "no luck"
times = 1
activity = [{ used = { input = 10, output = 1, cost = 0.25 } }]

[[session]]
label = "Quick"
reply = "ok"
delay = "20ms"
activity = [{ used = { input = 20, output = 2, cost = 0.50 } }]

[[session]]
label = "Slow"
reply = "late"
delay = "1h"
activity = [{ used = { input = 40, output = 4, cost = 1 }, after = "1ms" }]

[[condition]]
met = true

[[session]]
reply = "ok"
activity = [{ used = { input = 80, output = 8, cost = 2 } }]
"#;

#[test]
fn each_agent_and_request_is_shown_with_what_it_has_used() {
    let workspace = Workspace::new(&[("main.prose", RACE), ("answers.toml", RACERS)]);
    let run = workspace.prose(&["run", "main.prose", "--script", "answers.toml"]);
    let sum = &run.stderr[run.stderr.find("Completed").unwrap_or_else(|| panic!("{}", run.stderr))..];
    expect![[r#"
        Completed with 1 failure: 2 sessions done, 1 retried, 1 cancelled; 1 condition judged; 165 tokens, $3.75
          writer       2 sessions  33 tokens, $0.75
          critic       1 session   44 tokens, $1.00
          (decisions)  1 decision  no usage reported
          (no agent)   1 session   88 tokens, $2.00
          used by what failed: 11 tokens, $0.25
          line 7, session: writer: no luck (retried)
    "#]]
    .assert_eq(sum);

    let shown = workspace.prose(&["runs", "show"]).stdout;
    let agents = &shown[shown.find("agents\n").unwrap()..shown.find("\nsessions\n").unwrap()];
    expect![[r#"
        agents
          writer       2 sessions  33 tokens, $0.75
          critic       1 session   44 tokens, $1.00
          (decisions)  1 decision  no usage reported
          (no agent)   1 session   88 tokens, $2.00
    "#]]
    .assert_eq(agents);

    let json: Value = serde_json::from_str(&workspace.prose(&["runs", "show", "--json"]).stdout).unwrap();
    let requests = json["requests"].as_array().unwrap().iter().map(|request| {
        let error = request["error"]["message"].as_str().unwrap_or_default();
        let [kind, agent, label, status] =
            ["kind", "agent", "label", "status"].map(|key| request[key].as_str().unwrap_or("-"));
        let [attempt, cost] = [&request["attempt"], &request["usage"]["cost"]];
        format!("{kind}, {agent}, {label}, attempt {attempt}, {status}, {cost} {error}\n")
    });
    expect![[r#"
        session, writer, Quick, attempt 1, failed, 0.25 no luck
        session, critic, Slow, attempt 1, cancelled, 1.0 
        session, writer, Quick, attempt 2, complete, 0.5 
        judge, -, it is fine, attempt null, complete, null 
        session, -, Done, attempt 1, complete, 2.0 
    "#]]
    .assert_eq(&requests.collect::<String>());
    assert_eq!(json["agents"][0]["usage"]["cost"], 0.75);
    assert_eq!(json["nodes"][0]["usage"]["cost"], 3.75);
}

#[test]
fn recorded_runs_show_what_their_agents_reported() {
    let workspace = workspace();
    workspace.prose(&["run", "main.prose", "--script", "answers.toml"]);
    let shown = workspace.masked(&workspace.prose(&["runs", "show"]).stdout);
    let sessions = &shown[shown.find("sessions\n").unwrap()..];
    expect![[r#"
        sessions
          line 5: Write the draft (writer): complete, 2 tool calls, 1.2k tokens, $0.03, TIME
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

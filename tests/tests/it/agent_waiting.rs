//! A run with the real Claude Code whose agent asks for a permission, which is answered when no process executes the run any more.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use prose_tests::agents::{AgentProject, claude_program, occurrences};
use prose_tests::prose_binary;
use serde_json::{Value, json};

const PROGRAM: &str = r#"
agent clerk:
  permissions:
    bash: prompt
    write: allow
output said = session: clerk
  prompt: "Make the file"
"#;

/// What the model calls and replies in the first execution, and in the one after the answer.
fn fixtures(_: &Path) -> Vec<Value> {
    let touch = json!({ "command": "touch made", "description": "Makes the file" });
    let call = json!({ "content": "I make it.", "toolCalls": [{ "name": "Bash", "arguments": touch }], "usage": { "input_tokens": 100, "output_tokens": 7 } });
    let done = json!({ "content": "Forty-two waves came in.", "usage": { "input_tokens": 200, "output_tokens": 11 } });
    vec![
        json!({ "match": { "userMessage": "You were stopped", "hasToolResult": false }, "response": call }),
        json!({ "match": { "userMessage": "You were stopped" }, "response": done }),
        json!({ "match": { "userMessage": "Make the file", "hasToolResult": false }, "response": call }),
        json!({ "match": { "userMessage": "Make the file" }, "response": done }),
    ]
}

#[test]
#[ignore = "needs npm"]
fn a_session_that_waited_for_a_permission_is_continued_after_the_answer() {
    let project = AgentProject::new(fixtures);
    let root = project.root();
    fs::write(root.join("main.prose"), PROGRAM).unwrap();
    let programs = prose_fixture::tempdir().unwrap();
    std::os::unix::fs::symlink(claude_program(), programs.path().join("claude")).unwrap();
    let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
    let prose = |arguments: &[&str]| -> Output {
        let mut command = Command::new(prose_binary());
        command.args(arguments).current_dir(&root).env_clear().env("PATH", &path).stdin(Stdio::null());
        command.env("HOME", project.home()).env("ANTHROPIC_BASE_URL", &project.provider.address);
        command.env("ANTHROPIC_API_KEY", "none").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command.output().unwrap()
    };

    let run = prose(&["run", "main.prose", "--trust", "--harness", "claude"]);
    let shown = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(5), "{shown}");
    assert!(shown.contains("Agent `clerk` asks for permission: touch made (bash: prompt)"), "{shown}");
    assert!(!root.join("made").exists());
    let asked_before = project.provider.requests("/v1/messages").len();

    let answered = prose(&["runs", "answer", "2", "once"]);
    let shown = String::from_utf8_lossy(&answered.stderr);
    assert_eq!(answered.status.code(), Some(0), "{shown}");
    assert_eq!(String::from_utf8_lossy(&answered.stdout), "said: Forty-two waves came in.\n");
    assert!(root.join("made").exists());

    // The agent's own session continues: the model receives what was said before, and not a new task.
    let requests = project.provider.requests("/v1/messages").split_off(asked_before);
    let last = requests.last().unwrap()["body"]["messages"].as_array().unwrap().clone();
    let told = last.iter().filter(|message| message["role"] == "user" || message["role"] == "assistant");
    let told: Vec<String> = told.map(|message| message["content"].to_string()).collect();
    assert_eq!(occurrences(&told, "Make the file"), 1, "{told:#?}");
    assert_eq!(occurrences(&told, "You were stopped while you waited for a permission"), 1, "{told:#?}");

    // What was said is recorded, and the session that was ended counts.
    let journal = fs::read_dir(root.join(".prose/runs"))
        .unwrap()
        .flatten()
        .find_map(|run| fs::read_to_string(run.path().join("journal.jsonl")).ok());
    let journal = journal.unwrap();
    let events: Vec<Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
    let answers: Vec<_> =
        of("answered").iter().map(|event| (event["answer"].clone(), event["from"].clone())).collect();
    assert_eq!(answers, [(json!("once"), json!("command-line"))]);
    let expenses: Vec<_> = of("expense").iter().map(|event| event["requests"].clone()).collect();
    assert_eq!(expenses, [json!(1)]);
    // What the session had used before is not counted again.
    let used: Vec<_> = ["expense", "effect"]
        .iter()
        .flat_map(|name| of(name))
        .map(|event| &event["work"]["usage"])
        .map(|usage| (usage["input_tokens"].clone(), usage["output_tokens"].clone()))
        .collect();
    assert_eq!(used, [(json!(100), json!(7)), (json!(300), json!(18))]);
}

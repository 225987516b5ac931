//! The plugin for Claude Code, with the real Claude Code and a server on this machine in the place of its provider.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use prose_tests::agents::{AgentProject, claude_program};
use prose_tests::{prose_binary, repository};
use serde_json::{Value, json};

const WRONG: &str = r#"let facts = sesion "List facts"
input topic: "What is it about?"
output article = session "Write about {topic}"
  context: facts
"#;

/// The model calls a tool in its turn with this number.
fn calls(turn: u32, tool: &str, input: Value) -> Value {
    let call = json!({ "id": format!("call_{turn}"), "name": tool, "arguments": input });
    json!({ "match": { "turnIndex": turn }, "response": { "toolCalls": [call] } })
}

/// A tool of the plugin's server.
fn tool(name: &str) -> String {
    format!("mcp__plugin_openprose_prose__{name}")
}

#[test]
#[ignore = "needs npm"]
fn claude_writes_a_program_is_told_its_mistake_and_runs_it() {
    let project = AgentProject::new(|root| {
        let file = root.join("tides.prose");
        vec![
            calls(0, "Write", json!({ "file_path": file, "content": WRONG })),
            calls(1, "Edit", json!({ "file_path": file, "old_string": "sesion", "new_string": "session" })),
            calls(2, &tool("check"), json!({ "path": "tides.prose" })),
            calls(3, &tool("run"), json!({ "path": "tides.prose" })),
            // Ids of runs start with the year.
            calls(4, &tool("answer"), json!({ "run": "2", "value": "tides" })),
            json!({ "match": { "turnIndex": 5 }, "response": { "content": "The article is written." } }),
        ]
    });
    fs::write(project.root().join("prose.toml"), "[mcp]\nrun = true\n").unwrap();
    let prose = project.program("prose", &prose_binary().display().to_string());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(prose.parent().unwrap().to_owned()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).unwrap();
    let trusted = Command::new(&prose).arg("trust").current_dir(project.root()).output().unwrap();
    assert!(trusted.status.success(), "{trusted:?}");

    let mut claude = Command::new(claude_program());
    claude
        .args([
            "-p",
            "Write a program about tides, and run it",
            "--output-format",
            "stream-json",
            "--verbose",
        ])
        .args(["--include-hook-events", "--allowedTools", "Write,Edit,mcp__plugin_openprose_prose"])
        .arg("--plugin-dir")
        .arg(repository().join("editors/agents/claude-code"))
        .current_dir(project.root())
        .env_clear()
        .env("PATH", path)
        .env("HOME", project.home())
        .env("ANTHROPIC_BASE_URL", &project.provider.address)
        .env("ANTHROPIC_API_KEY", "none")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .stdin(Stdio::null());
    let output = claude.output().unwrap();
    let transcript = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{transcript}");
    let messages: Vec<Value> = transcript.lines().map(|line| serde_json::from_str(line).unwrap()).collect();

    let hooks: Vec<&str> = messages
        .iter()
        .filter(|message| message["subtype"] == "hook_response" && message["hook_event"] == "PostToolUse")
        .map(|message| message["stderr"].as_str().unwrap())
        .collect();
    assert_eq!(hooks.len(), 2, "{transcript}");
    assert!(hooks[0].contains("tides.prose:1:13: error[E107]: unknown keyword `sesion`"), "{hooks:?}");
    assert_eq!(hooks[1], "", "the repaired program is clean");

    let results = results(&messages);
    assert_eq!(results["call_2"]["errors"], 0, "{transcript}");
    let run = &results["call_3"];
    assert_eq!(
        (&run["status"], &run["questions"][0]["prompt"]),
        (&json!("waiting"), &json!("What is it about?"))
    );
    let ended = &results["call_4"];
    assert_eq!((&ended["status"], &ended["run"]), (&json!("completed"), &run["run"]), "{transcript}");
    assert!(ended["outputs"]["article"].as_str().is_some_and(|text| !text.is_empty()));
    let last = messages.last().unwrap();
    assert_eq!(last["result"], "The article is written.");
}

/// The results of the tools of the server, by their calls.
fn results(messages: &[Value]) -> BTreeMap<String, Value> {
    let contents = messages.iter().filter(|message| message["type"] == "user");
    let blocks =
        contents.flat_map(|message| message["message"]["content"].as_array().cloned().unwrap_or_default());
    blocks
        .filter_map(|block| {
            let result = serde_json::from_str(block["content"].as_str()?).ok()?;
            Some((block["tool_use_id"].as_str()?.to_owned(), result))
        })
        .collect()
}

//! Runs with the real agents that ask for a permission, which is answered when no process executes the run any more.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Output;

use prose_tests::agents::{AgentProject, USAGE, calls_tool, occurrences};
use prose_tests::drivers::Driver;
use serde_json::{Value, json};

const PROGRAM: &str = r#"
agent clerk:
  permissions:
    write: prompt
output said = session: clerk
  prompt: "Make the file"
"#;

const WAITED: &str = "You were stopped while you waited for a permission";

/// An agent, with the start of the paths by which it asks its provider, and how its model writes a file.
struct Waiting {
    name: &'static str,
    requests: &'static str,
    writes: fn(&str) -> (&'static str, Value),
    /// Whether it continues its own session in another process, also in the minute in which that has begun.
    continues: bool,
}

const AGENTS: &[Waiting] =
    &[Waiting { name: "claude", requests: "/v1/messages", writes: of_claude, continues: true }];

fn of_claude(path: &str) -> (&'static str, Value) {
    ("Write", json!({ "file_path": path, "content": "x" }))
}

/// What the model calls and replies in the first execution, and in the one after the answer.
fn fixtures(agent: &Waiting, root: &Path) -> Vec<Value> {
    let (tool, arguments) = (agent.writes)(&root.join("made").to_string_lossy());
    let after = calls_tool("You were stopped", tool, arguments.clone(), "Forty-two waves came in.");
    let before = calls_tool("Make the file", tool, arguments, "Forty-two waves came in.");
    after.into_iter().chain(before).collect()
}

/// The result of a part of a test.
fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn waits(agent: &Waiting) -> Result<(), String> {
    let driver = Driver::named(agent.name);
    let project = AgentProject::new(|root| fixtures(agent, root));
    let (root, address) = (project.root(), project.provider.address.clone());
    // Claude Code below `claude-agent-acp` also asks for a title.
    let is_work = |request: &Value| !request.to_string().contains("naming a coding session");
    let asked = || project.provider.requests(agent.requests).into_iter().filter(is_work).collect::<Vec<_>>();
    let shown = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();

    let run = driver.run(&project, &address, "none", PROGRAM).output().unwrap();
    let asks = run.status.code() == Some(5) && shown(&run).contains("Agent `clerk` asks for permission: ");
    expect(asks && !root.join("made").exists(), || format!("{}: {}", run.status, shown(&run)))?;
    // An agent that waits and is ended asks nothing more.
    let before = asked().len();
    expect(before == 1, || format!("the model was asked {before} times"))?;

    let answer =
        driver.prose(&project, &address, "none").args(["runs", "answer", "2", "once"]).output().unwrap();
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    expect(said == "said: Forty-two waves came in.\n", || format!("{said}{}", shown(&answer)))?;
    expect(root.join("made").exists(), || "there is no file".to_owned())?;

    if agent.continues {
        // The agent's own session continues: the model receives what was said before, and not a new task.
        let last = asked().last().unwrap()["body"]["messages"].as_array().cloned().unwrap_or_default();
        let told = last.iter().filter(|message| message["role"] == "user" || message["role"] == "assistant");
        let told: Vec<String> = told.map(|message| message["content"].to_string()).collect();
        let counts = ["Make the file", WAITED].map(|text| occurrences(&told, text));
        expect(counts == [1, 1], || format!("{counts:?}: {told:#?}"))?;
    }

    // What was said is recorded, and the session that was ended counts: each request once.
    let events = project.events();
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
    let answers: Vec<_> =
        of("answered").iter().map(|event| (event["answer"].clone(), event["from"].clone())).collect();
    expect(answers == [(json!("once"), json!("command-line"))], || format!("{answers:?}"))?;
    let expenses: Vec<_> = of("expense").iter().map(|event| event["requests"].clone()).collect();
    expect(expenses.contains(&json!(1)), || format!("{expenses:?}"))?;
    let used = |tokens: &str| -> u64 {
        let of_work = ["expense", "effect"].iter().flat_map(|name| of(name));
        of_work.filter_map(|event| event["work"]["usage"][tokens].as_u64()).sum()
    };
    let (used, requests) = ([used("input_tokens"), used("output_tokens")], asked().len() as u64);
    expect(used == [requests * USAGE.input, requests * USAGE.output], || {
        format!("{used:?} tokens of {requests} requests")
    })
}

#[test]
#[ignore = "needs npm"]
fn a_session_that_waited_for_a_permission_is_continued_after_the_answer() {
    let failed: Vec<String> =
        AGENTS.iter().filter_map(|agent| Some(format!("{}: {}", agent.name, waits(agent).err()?))).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

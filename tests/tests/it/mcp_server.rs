//! `prose mcp` in a process of its own, with runs of other processes: those that a user has started in a terminal, and answers that a user gives there.
#![cfg(unix)]

use std::process::{Child, Stdio};

use prose_tests::served::{Client, Project};
use serde_json::{Value, json};

const SETTINGS: &str = "[mcp]\nrun = true\n[run]\nwhen-waiting = \"stay\"\n";

const ASKS: &str = r#"
let draft = session "Write a draft"
input go: "Ship it? (yes/no)"
output report = "{go}: {draft}"
"#;

const HISTORIAN: &str = r#"
agent historian:
  permissions:
    bash: prompt

output log = session: historian
  prompt: "Look"
"#;

const SCRIPT: &str = "[[session]]\nreply = \"Two commits\"\ntools = [\"bash: git log\"]\n";

/// Starts a run as a user does whose terminal is busy.
fn start(project: &Project, arguments: &[&str]) -> Child {
    let mut command = project.command(&[&["run"], arguments].concat());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until the only run of a project asks something, and returns how it stands.
fn until_asked(client: &mut Client) -> Value {
    loop {
        let listed = client.tool("status", &json!({}));
        if let Some(line) = listed.strip_prefix("1 run:\n") {
            let run = line.split_whitespace().next().unwrap();
            let state = client.facts("status", &json!({ "run": run, "wait_seconds": 600 }));
            // The folder of a run is there before its process can be asked.
            if state["status"] == "waiting" {
                return state;
            }
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_run_of_a_terminal_is_answered_by_an_agent() {
    let project = Project::new(&[("asks.prose", ASKS), ("prose.toml", SETTINGS)]);
    let mut client = Client::mcp(&project);
    let mut terminal = start(&project, &["asks.prose", "--quiet"]);
    let state = until_asked(&mut client);
    assert_eq!(state["status"], "waiting", "{state}");
    assert_eq!(state["questions"][0]["choices"], json!(["yes", "no"]));
    assert_eq!(state["executedBy"], format!("process {}", terminal.id()));
    let run = state["run"].as_str().unwrap();
    let refused = client.tool("answer", &json!({ "run": run, "value": "maybe" }));
    assert_eq!(
        refused,
        format!("error: run {run}: `maybe` is not one of the answers; choose one of [y]es, [n]o")
    );
    let state = client.facts("answer", &json!({ "run": run, "value": "Y" }));
    assert_eq!(state["status"], "completed", "{state}");
    assert!(state["outputs"]["report"].as_str().unwrap().starts_with("yes: "), "{state}");
    assert!(terminal.wait().unwrap().success());
    let journal = project.path().join(".prose/runs").join(run).join("journal.jsonl");
    let journal = std::fs::read_to_string(journal).unwrap();
    let given = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let given: Vec<Value> = given
        .filter(|event| event["effect"] == "input")
        .map(|mut event| event["work"]["given_by"]["from"].take())
        .collect();
    assert_eq!(given, ["mcp"]);
    client.close();
}

#[test]
fn a_run_of_a_terminal_is_stopped_by_an_agent() {
    let project = Project::new(&[("asks.prose", ASKS), ("prose.toml", SETTINGS)]);
    let mut client = Client::mcp(&project);
    let mut terminal = start(&project, &["asks.prose", "--quiet"]);
    let run = until_asked(&mut client)["run"].as_str().unwrap().to_owned();
    let state = client.facts("stop", &json!({ "run": run }));
    assert_eq!((&state["status"], &state["canResume"]), (&json!("interrupted"), &json!(true)), "{state}");
    assert_eq!(terminal.wait().unwrap().code(), Some(3));
    let value = client.tool("read_value", &json!({ "run": run, "name": "draft" }));
    assert!(value.contains("draft"), "{value}");
    let again = client.tool("stop", &json!({ "run": run }));
    assert_eq!(again, format!("error: run {run} (interrupted) is not being executed"));
    client.close();
}

#[test]
fn runs_of_a_terminal_are_left_alone_without_the_setting() {
    let settings = "[run]\nwhen-waiting = \"stay\"\n";
    let project = Project::new(&[("asks.prose", ASKS), ("prose.toml", settings)]);
    let mut client = Client::mcp(&project);
    let mut terminal = start(&project, &["asks.prose", "--quiet"]);
    let run = until_asked(&mut client)["run"].as_str().unwrap().to_owned();
    for (tool, arguments) in
        [("answer", json!({ "run": run, "value": "yes" })), ("stop", json!({ "run": run }))]
    {
        let refused = client.tool(tool, &arguments);
        assert!(
            refused.starts_with("error: the project does not let clients run programs"),
            "{tool}: {refused}"
        );
    }
    let answered = project.prose(&["runs", "answer", &run, "no"]);
    assert!(answered.status.success(), "{answered:?}");
    assert!(terminal.wait().unwrap().success());
    client.close();
}

#[test]
fn a_person_answers_a_permission_of_a_run_that_an_agent_has_started() {
    let files = [("main.prose", HISTORIAN), ("script.toml", SCRIPT), ("prose.toml", "mcp.run = true\n")];
    let project = Project::new(&files);
    let stopped = project.prose(&["run", "main.prose", "--script", "script.toml", "--quiet"]);
    assert_eq!(stopped.status.code(), Some(5), "{stopped:?}");
    let mut client = Client::mcp(&project);
    let state = until_asked(&mut client);
    let run = state["run"].as_str().unwrap().to_owned();
    assert_eq!((&state["status"], &state["questions"][0]["about"]), (&json!("waiting"), &json!("approval")));
    let command = format!("prose runs answer {run} 1 once|run|deny");
    let refusal = format!(
        "error: question 1 is not for an agent: a person answers it, with `{command}` in a terminal or in the editor"
    );
    // Neither in the files of the run nor in its process.
    assert_eq!(client.tool("answer", &json!({ "run": run, "value": "once" })), refusal);
    let state = client.facts("resume", &json!({ "run": run }));
    assert_eq!(state["status"], "waiting", "{state}");
    assert!(state["questions"][0]["forPerson"].as_str().unwrap().contains(&command), "{state}");
    for question in [json!(null), json!(1)] {
        let answer = json!({ "run": run, "question": question, "value": "run" });
        assert_eq!(client.tool("answer", &answer), refusal);
    }
    let answered = project.prose(&["runs", "answer", &run, "1", "once"]);
    assert!(answered.status.success(), "{answered:?}");
    let state = client.facts("status", &json!({ "run": run, "wait_seconds": 600 }));
    assert_eq!((&state["status"], &state["outputs"]["log"]), (&json!("completed"), &json!("Two commits")));
    let shown = project.prose(&["runs", "show", &run]);
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("on the command line"), "{shown}");
    client.close();
}

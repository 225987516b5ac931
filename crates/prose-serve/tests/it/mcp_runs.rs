//! Runs that a client starts.

use expect_test::expect;
use serde_json::json;

use crate::project::{Served, sources_of_inputs};

const ASKS: &str = r#"
let draft = session "Write a draft"
input topic: "What is it about?"
output report = session "Write about {topic}"
  context: draft
"#;

const SETTINGS: &str = "[mcp]\nrun = true\n";

/// A project whose user lets clients run programs, and trusts it.
async fn allowed(files: &[(&str, &str)]) -> Served {
    let served = Served::new(&[files, &[("prose.toml", SETTINGS)]].concat()).await;
    served.trust(SETTINGS);
    served
}

#[tokio::test]
async fn nothing_runs_without_the_setting() {
    let served = Served::new(&[("a.prose", "session \"A\"\n")]).await;
    let text = served.text("run", json!({ "path": "a.prose" })).await;
    expect!["error: the project does not let clients run programs; ask the user to set `run = true` in the table `[mcp]` of its prose.toml, or to run the program with `prose run`"].assert_eq(&text);
    assert!(!served.path().join(".prose").exists());
    served.close().await;
}

#[tokio::test]
async fn nothing_runs_in_a_project_that_is_not_trusted() {
    let served = Served::new(&[("a.prose", "session \"A\"\n"), ("prose.toml", "mcp.run = true\n")]).await;
    let text = served.text("run", json!({ "path": "a.prose" })).await;
    expect!["error: the user does not trust the project $DIR; ask the user to run `prose trust` in it"]
        .assert_eq(&text);
    served.close().await;
}

#[tokio::test]
async fn a_run_asks_and_is_answered() {
    let served = allowed(&[("asks.prose", ASKS)]).await;
    let missing = served.text("run", json!({ "path": "asks.prose" })).await;
    let started = served.call("run", json!({ "path": "asks.prose" })).await;
    let facts = started.structured_content.unwrap_or_else(|| panic!("{missing}"));
    assert_eq!(facts["status"], "waiting", "{facts}");
    assert_eq!(facts["questions"][0]["prompt"], "What is it about?");
    let run = facts["run"].as_str().unwrap();
    let answered = served.call("answer", json!({ "run": run, "value": "whales" })).await;
    let facts = answered.structured_content.unwrap();
    assert_eq!(facts["status"], "completed", "{facts}");
    assert!(facts["outputs"]["report"].is_string());
    let value = served.text("read_value", json!({ "run": run, "name": "report" })).await;
    assert_eq!(value, facts["outputs"]["report"].as_str().unwrap());
    let again = served.text("answer", json!({ "run": run, "value": "whales" })).await;
    assert_eq!(again, "error: the run has no open question");
    assert_eq!(sources_of_inputs(served.path()), ["mcp"]);
    served.close().await;
}

#[tokio::test]
async fn a_run_that_was_stopped_is_resumed_with_its_answer() {
    let served = allowed(&[("asks.prose", ASKS)]).await;
    let started = served.call("run", json!({ "path": "asks.prose" })).await;
    let run = started.structured_content.unwrap()["run"].as_str().unwrap().to_owned();
    let stopped = served.call("stop", json!({ "run": run })).await.structured_content.unwrap();
    assert_eq!(stopped["status"], "interrupted");
    let resumed = served.call("resume", json!({ "run": run, "inputs": { "topic": "whales" } })).await;
    let facts = resumed.structured_content.unwrap();
    assert_eq!(facts["status"], "completed", "{facts}");
    assert_eq!(facts["sessions"], 2);
    let listed = served.text("status", json!({})).await;
    assert!(listed.starts_with("1 run:\n") && listed.contains("completed  asks.prose"), "{listed}");
    served.close().await;
}

#[tokio::test]
async fn runs_of_projects_in_the_folder_are_found() {
    let served =
        Served::new(&[("flows/a.prose", "output a = \"A\"\n"), ("flows/prose.toml", SETTINGS)]).await;
    served.trust_at("flows", SETTINGS);
    let facts = served.call("run", json!({ "path": "flows/a.prose" })).await.structured_content.unwrap();
    let run = facts["run"].as_str().unwrap();
    assert!(served.path().join("flows/.prose/runs").join(run).is_dir());
    assert_eq!(served.text("read_value", json!({ "run": run, "name": "a" })).await, "A");
    let listed = served.text("status", json!({})).await;
    assert!(listed.starts_with("1 run:\n") && listed.contains(run), "{listed}");
    served.close().await;
}

#[tokio::test]
async fn the_end_of_the_connection_stops_runs() {
    let served = allowed(&[("asks.prose", ASKS)]).await;
    let started = served.call("run", json!({ "path": "asks.prose" })).await;
    let run = started.structured_content.unwrap()["run"].as_str().unwrap().to_owned();
    let Served { folder, client, .. } = served;
    client.cancel().await.unwrap();
    let project = prose_run::Project::new(folder.path());
    // The server records that it was stopped before it ends.
    let ended = async {
        while project.show_run(&run).unwrap().summary.status != prose_state::runs::RunState::Interrupted {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), ended).await.unwrap();
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let served = allowed(&[("a.prose", "session \"A\"\n")]).await;
    let mut told = String::new();
    for (tool, arguments) in [
        ("run", json!({ "path": "b.prose" })),
        ("run", json!({ "path": "a.prose", "inputs": { "other": 1 } })),
        ("status", json!({ "run": "20200101" })),
        ("answer", json!({ "run": "20200101", "value": 1 })),
        ("stop", json!({ "run": "20200101" })),
        ("read_value", json!({ "run": "20200101", "name": "a" })),
    ] {
        told.push_str(&format!("{tool}: {}\n", served.text(tool, arguments).await));
    }
    expect![[r#"
        run: error: `b.prose` does not exist
        run: error: the program has no input `other`; it has none
        status: error: run `20200101` does not exist in $DIR/.prose/runs; list the runs with `prose runs list`
        answer: error: run `20200101` does not exist in $DIR/.prose/runs; list the runs with `prose runs list`
        stop: error: run `20200101` does not exist in $DIR/.prose/runs; list the runs with `prose runs list`
        read_value: error: run `20200101` does not exist in $DIR/.prose/runs; list the runs with `prose runs list`
    "#]].assert_eq(&told);
    served.close().await;
}

#[tokio::test]
async fn a_run_whose_program_handled_a_failure_says_so() {
    let program = "try:\n  throw \"there is no room\"\ncatch:\n  session \"Repair\"\n";
    let served = allowed(&[("a.prose", program)]).await;
    let facts = served.call("run", json!({ "path": "a.prose" })).await.structured_content.unwrap();
    assert_eq!(facts["status"], "completed with failures", "{facts}");
    assert_eq!(facts["census"]["failures"][0]["line"], 2, "{facts}");
    let run = facts["run"].as_str().unwrap();
    let text = served.text("status", json!({ "run": run })).await;
    let handled = "line 2, throw \"there is no room\": there is no room (caught)\n";
    assert!(text.contains("1 session done\n") && text.contains(handled), "{text}");
    served.close().await;
}

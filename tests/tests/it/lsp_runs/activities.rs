//! What an editor shows of sessions at work.

use expect_test::expect;
use prose_tests::lsp::pretty;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

use super::*;

const PROGRAM: &str = "agent writer:\n  prompt: \"Write.\"\n\nsession: writer\n  prompt: \"Write it\"\n";

/// A session that goes on for long after its reports.
const AT_WORK: &str = r#"
[[session]]
reply = "Done."
delay = "1h"
activity = [
  { text = "I look at", after = "0s" },
  { text = " the tests.", after = "0s" },
  { denied = "git push", reason = "execute: deny", after = "0s" },
  { used = { input = 1200, output = 40 }, after = "0s" },
  { tool = "edit", title = "Edit a.rs", paths = ["a.rs"], after = "0s" },
  { text = "never", after = "1h" },
]
"#;

/// The first change of a run's view for which something holds.
#[track_caller]
fn view(workspace: &mut Workspace, wanted: impl Fn(&Value) -> bool) -> Value {
    let is_view = |message: &Value| message["method"] == "prose/runView";
    let message = workspace.client.wait_for(|message| is_view(message) && wanted(&message["params"]["view"]));
    message["params"]["view"].clone()
}

#[test]
fn a_session_at_work_shows_what_its_agent_does() {
    let capabilities = json!({
        "window": { "workDoneProgress": true },
        "workspace": { "inlayHint": { "refreshSupport": true } },
        "experimental": { "proseRunViews": true },
    });
    let mut workspace = Workspace::with(capabilities, &[("main.prose", PROGRAM), ("answers.toml", AT_WORK)]);
    workspace.open_saved("main.prose");
    let run = run(&mut workspace, "main.prose", json!({ "script": "answers.toml" }));

    let has_tool = |view: &Value| view["activities"][0]["tool"]["title"] == "Edit a.rs";
    let mut shown = view(&mut workspace, has_tool)["activities"][0].clone();
    assert!(shown["last"].as_u64().unwrap() > 0);
    shown["last"].take();
    expect![[r#"
        {
          "calls": 1,
          "denied": 1,
          "last": null,
          "node": 1,
          "text": "I look at the tests.",
          "tool": {"id":"4","kind":"edit","paths":["a.rs"],"status":"running","title":"Edit a.rs"}
        }
    "#]]
    .assert_eq(&format!("{}\n", pretty(&shown)));

    let is_progress = |message: &Value| message["params"]["token"] == format!("run-{run}").as_str();
    workspace.client.wait_for(|message| {
        let message_of = message["params"]["value"]["message"].as_str().unwrap_or_default();
        is_progress(message) && message_of.contains("1 running, 1.2k tokens")
    });
    let mut hint = String::new();
    eventually(|| {
        hint = hints(&mut workspace, "main.prose");
        hint.contains("Edit a.rs")
    });
    check(
        &hint,
        expect![[r#"
            3:15 ⟳ Edit a.rs · 1 tool call · 1.2k tokens  ⚠ 1 tool call denied
        "#]],
    );

    command(&mut workspace, "prose.cancel", "main.prose", json!({}));
    let last = view(&mut workspace, |view| view.get("end").is_some());
    let session = last["nodes"].as_array().unwrap().iter().find(|node| node["kind"] == "session").unwrap();
    assert_eq!(session["attempts"][0]["calls"], 1);
    assert_eq!(session["attempts"][0]["denials"][0]["title"], "git push");
    assert_eq!(last.get("activities"), None);
    workspace.client.shut_down();
}

#[test]
fn the_details_of_a_session_have_what_was_recorded_of_its_agent() {
    let answers = AT_WORK.replace("delay = \"1h\"", "").replace("after = \"1h\"", "after = \"0s\"");
    let mut workspace = Workspace::new(&[("main.prose", PROGRAM), ("answers.toml", &answers)]);
    workspace.open_saved("main.prose");
    let id = run(&mut workspace, "main.prose", json!({ "script": "answers.toml" }));
    message(&mut workspace);
    let folder = workspace.uri(&format!(".prose/runs/{id}"));
    let answer = workspace.client.request("prose/session", json!({ "folder": folder, "request": 1 }));
    let session = &answer["result"];
    assert_eq!((&session["calls"], &session["usage"]["input_tokens"]), (&json!(1), &json!(1200)));
    assert_eq!(session["denials"], json!([{ "title": "git push", "reason": "execute: deny" }]));
    assert!(session["log"].as_str().unwrap().starts_with(&*format!("{folder}/agents/1-")), "{session}");
    workspace.client.shut_down();
}

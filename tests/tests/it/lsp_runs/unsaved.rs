//! Programs that were never saved, which run in a temporary project.

use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

use super::*;

const UNSAVED: &str = "untitled:Untitled-1";

/// The runs that the server lists.
fn runs(workspace: &mut Workspace) -> Vec<Value> {
    let answer = workspace.client.request("prose/runs", json!({}));
    assert_eq!(answer["result"]["problems"], json!([]));
    answer["result"]["runs"].as_array().unwrap().clone()
}

#[test]
fn a_program_that_was_never_saved_runs_and_its_run_is_kept_with_it() {
    let ends = json!({ "experimental": { "proseRunEvents": true, "proseRunEnds": true } });
    let mut workspace = Workspace::with(ends, &[]);
    let text = "session \"a\"\nthrow \"no room\"\n";
    workspace.client.open(UNSAVED, 1, text);
    let state = workspace.folder.path().join(".state/prose/unsaved");
    let answer = workspace.execute("prose.dryRun", json!({ "uri": UNSAVED }));
    assert_eq!(answer["result"]["prompts"][0]["prompt"], "a");
    assert!(!state.exists(), "a dry run writes no files");

    let answer = workspace.execute("prose.run", json!({ "uri": UNSAVED }));
    let id = answer["result"]["run"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    let ended = workspace.client.wait_for_method("prose/runEnded");
    let params = &ended["params"];
    assert_eq!(
        [&params["run"], &params["uri"], &params["type"], &params["canResume"]],
        [&json!(id), &json!(UNSAVED), &json!(1), &json!(true)]
    );
    assert_eq!(params["message"], "untitled:Untitled-1 failed at line 2: no room");
    let listed = runs(&mut workspace);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((&listed[0]["run"], &listed[0]["isTemporary"]), (&json!(id), &json!(true)));
    assert_eq!(params["folder"], listed[0]["folder"]);
    assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1);
    eventually(|| {
        let lenses =
            workspace.client.request("textDocument/codeLens", json!({ "textDocument": { "uri": UNSAVED } }));
        lenses.to_string().contains("Resume last run")
    });

    // It is saved with its program and continues there.
    let save = |workspace: &mut Workspace, uri: &str| {
        workspace.execute("prose.saveRun", json!({ "uri": uri, "run": id }))
    };
    let refused = save(&mut workspace, UNSAVED);
    check(
        refused["error"]["message"].as_str().unwrap(),
        expect_test::expect!["a run is saved with its program; save the program to a file first"],
    );
    workspace.write("saved.prose", text);
    workspace.open_saved("saved.prose");
    let uri = workspace.uri("saved.prose");
    let kept = save(&mut workspace, &uri);
    let folder = workspace.uri(&format!(".prose/runs/{id}"));
    assert_eq!(kept["result"], json!({ "run": id, "folder": folder }));
    let listed = runs(&mut workspace);
    assert_eq!(listed.len(), 1, "{listed:?}");
    let found = ["uri", "folder", "program", "isTemporary", "canResume"].map(|key| &listed[0][key]);
    assert_eq!(found, [&json!(uri), &json!(folder), &json!("saved.prose"), &json!(false), &json!(true)]);
    // What failed is mended, and the session before it is not asked again.
    workspace.replace("saved.prose", 2, "session \"a\"\nsession \"b\"\n");
    let accepting = json!({ "run": id, "acceptChanges": true });
    let resumed = command(&mut workspace, "prose.resume", "saved.prose", accepting);
    assert_eq!(resumed["run"], json!(id));
    let ended = workspace.client.wait_for_method("prose/runEnded");
    let message = ended["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("saved.prose is done: 2 sessions, 1 result"), "{message}");
    workspace.client.shut_down();
}

#[test]
fn what_a_run_would_need_and_is_not_installed_is_known_before() {
    let settings = "[run]\nharness = \"command\"\ncommand = [\"no-such-agent\"]\n";
    let mut workspace =
        Workspace::new(&[("a.prose", "session \"a\"\n"), ("prose.toml", settings)]).opened("a.prose");
    let document = json!({ "textDocument": { "uri": workspace.uri("a.prose") } });
    let missing = "`no-such-agent` of `run.command` is not installed; install it, or set its full path";
    let answer = workspace.client.request("prose/harness", document.clone());
    assert_eq!(answer["result"], json!({ "harness": "command", "isSet": false, "missing": missing }));
    workspace.configure(json!({ "run": { "harness": "offline" }, "trusted": true }));
    let answer = workspace.client.request("prose/harness", document);
    assert_eq!(answer["result"], json!({ "harness": "offline", "isSet": true, "missing": null }));
    workspace.client.shut_down();
}

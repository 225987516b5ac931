//! Whom the programs of a workspace may have started.

use expect_test::expect;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

use super::{check, message, refusal, run};

const PROGRAM: &str = "session \"Say hello\"\n";

/// A workspace whose settings start an agent that leaves a file.
fn clone(settings: Value) -> Workspace {
    let agent = json!("cat > /dev/null; echo started >> started.txt; echo answer");
    let toml = format!(
        "[run]\nharness = \"command\"\ncommand = [\"sh\", \"-c\", {agent}]\nenvironment = [\"SECRET_KEY\"]\n"
    );
    let mut workspace =
        Workspace::with_settings(json!({}), settings, &[("a.prose", PROGRAM), ("prose.toml", &toml)]);
    workspace.open_saved("a.prose");
    workspace
}

fn was_started(workspace: &Workspace) -> bool {
    workspace.folder.path().join("started.txt").exists()
}

#[track_caller]
fn runs_an_agent(workspace: &mut Workspace) {
    run(workspace, "a.prose", json!({}));
    check(&message(workspace), expect!["a.prose is done: 1 session"]);
    assert!(was_started(workspace));
}

#[test]
fn a_client_that_says_nothing_about_trust_starts_no_agent() {
    let mut workspace = clone(Value::Null);
    let folder = workspace.folder.path().canonicalize().unwrap();
    let refused = refusal(&mut workspace, "prose.run", "a.prose", json!({}));
    check(
        &refused.replace(folder.to_str().unwrap(), "FOLDER"),
        expect![
            "the project FOLDER is not trusted yet, and the harness `command` would start `sh -c 'cat > /dev/null; echo started >> started.txt; echo answer'` for each session, with the variables `SECRET_KEY`. If you trust it, run `prose trust FOLDER` in a terminal, or have the editor send the setting `trusted` as true"
        ],
    );
    let chosen = refusal(&mut workspace, "prose.run", "a.prose", json!({ "harness": "claude" }));
    assert!(chosen.contains("is not trusted yet"), "{chosen}");
    assert!(!was_started(&workspace));
    assert!(!workspace.folder.path().join(".prose").exists(), "a run that is refused leaves nothing");

    // What starts nothing needs no trust.
    run(&mut workspace, "a.prose", json!({ "harness": "offline" }));
    assert!(message(&mut workspace).starts_with("a.prose is done: 1 session. All answers are placeholders"));
    assert!(!was_started(&workspace));
}

#[test]
fn a_client_that_trusts_the_workspace_starts_the_agent_of_its_settings() {
    let mut workspace = clone(json!({ "trusted": true }));
    runs_an_agent(&mut workspace);
}

#[test]
fn what_is_trusted_in_a_terminal_is_trusted_in_the_editor() {
    let mut workspace = clone(Value::Null);
    workspace.trust(&[]);
    runs_an_agent(&mut workspace);

    // Settings of the client that start something else are others.
    workspace.configure(json!({ "run": { "command": ["sh", "-c", "echo other"] } }));
    let refused = refusal(&mut workspace, "prose.run", "a.prose", json!({}));
    assert!(refused.contains("have changed since you trusted it: `run.command`"), "{refused}");

    // Which harness is used is the choice of whoever uses the editor.
    workspace.configure(json!({ "run": { "harness": "offline" } }));
    run(&mut workspace, "a.prose", json!({}));
    message(&mut workspace);
    workspace.trust(&["--revoke"]);
    workspace.configure(json!({}));
    let refused = refusal(&mut workspace, "prose.run", "a.prose", json!({}));
    assert!(refused.contains("is not trusted yet"), "{refused}");
}

#[test]
fn a_workspace_that_the_client_does_not_trust_runs_nothing_whatever_was_said_elsewhere() {
    let mut workspace = clone(json!({ "trusted": false }));
    workspace.trust(&[]);
    let refused = refusal(&mut workspace, "prose.run", "a.prose", json!({ "harness": "offline" }));
    assert!(refused.contains("this workspace is not trusted"), "{refused}");
    assert!(!was_started(&workspace));
}

#[test]
fn a_forged_journal_does_not_choose_the_harness_of_a_run_that_is_resumed_in_the_editor() {
    let mut workspace = clone(Value::Null);
    let toml = std::fs::read_to_string(workspace.folder.path().join("prose.toml")).unwrap();
    workspace.write_watched("prose.toml", &toml.replace("harness = \"command\"\n", ""));
    workspace.trust(&[]);
    let stopped = workspace.prose().args(["run", "a.prose", "-q", "--max-sessions", "0"]).output().unwrap();
    assert_eq!(stopped.status.code(), Some(3), "{}", String::from_utf8_lossy(&stopped.stderr));

    let runs = std::fs::read_dir(workspace.folder.path().join(".prose/runs")).unwrap();
    let journal =
        runs.map(|run| run.unwrap().path().join("journal.jsonl")).find(|path| path.is_file()).unwrap();
    let text = std::fs::read_to_string(&journal).unwrap();
    let (head, rest) = text.split_once('\n').unwrap();
    let body = &head[r#"{"crc":"00000000","#.len()..];
    let forged = body.replacen(r#""harness":"offline""#, r#""harness":"command""#, 1);
    assert_ne!(forged, body);
    // The limit has stopped the run before its first session, and would stop it again.
    let body = forged.clone();
    let forged = body.replacen(r#""caps":[{"sessions":0}],"#, "", 1);
    assert_ne!(forged, body);
    let crc = crc32fast::hash(forged.as_bytes());
    std::fs::write(&journal, format!("{{\"crc\":\"{crc:08x}\",{forged}\n{rest}")).unwrap();

    let refused = refusal(&mut workspace, "prose.resume", "a.prose", json!({}));
    assert!(refused.starts_with("cannot confirm that you started run "), "{refused}");
    assert!(!was_started(&workspace));
    // Who uses the editor may name it.
    let argument = json!({ "harness": "command" });
    super::command(&mut workspace, "prose.resume", "a.prose", argument);
    message(&mut workspace);
    assert!(was_started(&workspace));
}

//! Runs whose state is in a database, by the commands for runs.

use std::path::PathBuf;

use expect_test::expect;

use super::{ANSWERS, TWO};
use crate::common::Workspace;

/// A workspace whose runs keep their state in a database by its settings.
fn workspace(files: &[(&str, &str)]) -> Workspace {
    Workspace::new(&[files, &[("prose.toml", "[run]\nstate = \"sqlite\"\n")]].concat())
}

/// The files with the state of the runs.
fn states(workspace: &Workspace) -> Vec<String> {
    let runs = workspace.path(".prose/runs").read_dir().expect("there are runs");
    let folders: Vec<PathBuf> = runs.map(|run| run.expect("it can be read").path()).collect();
    let mut states: Vec<String> = Vec::new();
    for folder in folders {
        for file in ["journal.jsonl", "state.md", "state.db"] {
            states.extend(folder.join(file).exists().then(|| file.to_owned()));
        }
    }
    states.sort();
    states
}

const REPLAYED: &[&str] = &["run", "two.prose", "-q", "--script", "answers.toml"];

#[test]
fn the_commands_for_runs_show_a_run_in_a_database() {
    let workspace = workspace(&[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    workspace.prose(REPLAYED).ended(0);
    assert_eq!(states(&workspace), ["state.db"]);
    let listed = workspace.prose(&["runs", "list"]).ended(0).stdout;
    assert!(listed.contains("  completed  ") && listed.contains("  2 sessions  two.prose\n"), "{listed}");
    let shown = workspace.prose(&["runs", "show"]).ended(0).stdout;
    assert!(shown.contains("\nbindings\n  let    a (3 bytes)\n  output text (3 bytes)\n"), "{shown}");
    workspace.check(
        &["runs", "tail"],
        expect![[r#"
        status: 0
        ---- stdout
        [Program] Program Start
           Collecting definitions...

        [Position] Statement 1: let a = session "First"
           [Task tool call]
        [Success] Session complete: "one"
        [Binding] let a = <result>

        [Position] Statement 2: output text = session "Second"
           [Task with serialized context]
        [Success] Session complete: "two"
        [Output] output text = "two" (will return to caller)

        [Program] Program Complete
    "#]],
    );
    let id = workspace.path(".prose/runs").read_dir().unwrap().next().unwrap().unwrap().file_name();
    let id = id.to_str().unwrap();
    workspace.prose(&["runs", "fork", id, "--from", "2", "-q", "-y", "--script", "answers.toml"]).ended(0);
    workspace.prose(&["run", "two.prose", "-q", "--replay", id]).ended(0);
    // Each is kept where the first one is.
    assert_eq!(states(&workspace), ["state.db"; 3]);
    workspace
        .prose(&["run", "two.prose", "-q", "--state", "filesystem", "--script", "answers.toml"])
        .ended(0);
    assert_eq!(states(&workspace), ["journal.jsonl", "state.db", "state.db", "state.db", "state.md"]);
    let ids: Vec<String> = workspace
        .prose(&["runs", "list"])
        .stdout
        .lines()
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect();
    let files = ids.iter().find(|id| workspace.path(".prose/runs").join(id).join("journal.jsonl").exists());
    let same = workspace.prose(&["runs", "diff", id, files.unwrap()]);
    assert_eq!(same.status, 0, "{same:?}");
    workspace.prose(&["runs", "rm", id]).ended(0);
    assert_eq!(states(&workspace), ["journal.jsonl", "state.db", "state.db", "state.md"]);
}

#[test]
fn a_run_moves_from_files_to_a_database_and_back_and_goes_on_there() {
    let workspace = Workspace::new(&[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    let one = ["run", "two.prose", "-q", "--script", "answers.toml", "--max-sessions", "1"];
    workspace.prose(&one).ended(3);
    assert_eq!(states(&workspace), ["journal.jsonl", "state.md"]);
    for (to, expected) in [
        ("sqlite", vec!["state.db"]),
        ("filesystem", vec!["journal.jsonl", "state.md"]),
        ("sqlite", vec!["state.db"]),
    ] {
        workspace.prose(&["runs", "export", "2", "run.prose-run", "--force"]).ended(0);
        workspace.prose(&["runs", "rm", "2"]).ended(0);
        workspace.prose(&["runs", "import", "run.prose-run", "--state", to]).ended(0);
        assert_eq!(states(&workspace), expected);
    }
    // A run from a file was not started here, so its program is named.
    let resume = ["resume", "2", "--program", "two.prose", "--script", "answers.toml", "--max-sessions", "2"];
    let resumed = workspace.prose(&resume);
    assert_eq!((resumed.status, resumed.stdout.as_str()), (0, "text: two\n"), "{resumed:?}");
    assert!(resumed.stderr.contains("Reused 1 result"), "{resumed:?}");
    // Without `--state`, it stays as it was exported.
    workspace.prose(&["runs", "export", "2", "run.prose-run", "--force"]).ended(0);
    workspace.prose(&["runs", "rm", "2"]).ended(0);
    workspace.prose(&["runs", "import", "run.prose-run"]).ended(0);
    assert_eq!(states(&workspace), ["state.db"]);
}

#[test]
fn a_run_in_a_database_waits_and_is_answered() {
    let release = "let plan = session \"Plan\"\ninput go: \"Ship it? (yes/no)\"\noutput done = go\n";
    let workspace = workspace(&[("release.prose", release)]);
    workspace.prose(&["run", "release.prose", "-q"]).ended(5);
    let listed = workspace.prose(&["runs", "list", "--status", "waiting"]).stdout;
    assert!(listed.contains(": go: Ship it? (yes/no)"), "{listed}");
    let answered = workspace.prose(&["runs", "answer", "2", "yes"]).ended(0);
    assert_eq!(answered.stdout, "done: yes\n", "{answered:?}");
    assert!(answered.stderr.contains("Reused 1 result from the earlier execution, ran 0."), "{answered:?}");
    assert_eq!(states(&workspace), ["state.db"]);
}

#[test]
fn a_changed_program_continues_in_its_database() {
    let workspace = workspace(&[("two.prose", TWO)]);
    workspace.prose(&["run", "two.prose", "-q"]).ended(0);
    workspace.write("two.prose", TWO.replace("Second", "Other").as_bytes());
    let resumed = workspace.prose(&["resume", "--accept-changes"]).ended(0);
    assert!(resumed.stderr.contains("Reused 1 result from the earlier execution, ran 1."), "{resumed:?}");
    let told = workspace.prose(&["runs", "tail"]).stdout;
    assert!(told.contains("session \"Other\"") && !told.contains("Second"), "{told}");
    assert_eq!(states(&workspace), ["state.db"]);
}

#[test]
fn a_database_that_cannot_be_used_is_told_of_once() {
    let workspace = workspace(&[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    workspace.prose(&["run", "two.prose", "-q", "--script", "answers.toml", "--max-sessions", "1"]).ended(3);
    let run = workspace.path(".prose/runs").read_dir().unwrap().next().unwrap().unwrap().path();
    std::fs::write(run.join("state.db"), "no database").unwrap();
    workspace.refuses(&["resume"], expect!["cannot read FOLDER/.prose/runs/ID/state.db: file is not a database; `sqlite3 state.db .recover` prints what can still be read of it"]);
    workspace.check(&["runs", "list"], expect![[r#"
        status: 0
        ---- stdout
        ID  damaged      ?  cannot read FOLDER/.prose/runs/ID/state.db: file is not a database; `sqlite3 state.db .recover` prints what can still be read of it
    "#]]);
    assert_eq!(std::fs::read(run.join("state.db")).unwrap(), b"no database");
}

/// The prompts name files with the values, which the run then has, and no file to write to: agents reply (R113).
#[test]
fn agents_that_read_files_have_the_values_as_files_and_reply() {
    let workspace = workspace(&[("two.prose", TWO)]);
    let prompts = |state: &str| {
        let dry = ["run", "two.prose", "--dry-run", "--harness", "claude", "--state", state];
        workspace.prose(&dry).ended(0).stdout
    };
    assert!(prompts("filesystem").contains("/bindings/text.md"), "{}", prompts("filesystem"));
    let prompts = prompts("sqlite");
    assert!(prompts.contains("/bindings/a.md") && !prompts.contains("/bindings/text.md"), "{prompts}");
}

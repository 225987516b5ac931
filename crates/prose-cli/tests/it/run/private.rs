//! What a run keeps is the business of whoever started it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::common::{Run, Workspace};

const REMEMBERING: &str = r#"agent keeper:
  persist: project

agent known:
  persist: user

agent here:
  persist: true

let a = session: keeper
  prompt: "First"
let b = session: known
  prompt: "Second"
output c = session: here
  prompt: "Third"
"#;

/// A command for whose files nobody has taken anything away.
fn open_to_all(workspace: &Workspace, arguments: &[&str]) -> Command {
    let plain = workspace.command();
    let mut command = Command::new("sh");
    command.args(["-c", "umask 0; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_prose")]).args(arguments);
    command.current_dir(workspace.path(""));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// The files and folders that anybody but their owner may do something with.
fn open_ones(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = path.symlink_metadata().expect("it is there");
        if metadata.permissions().mode() & 0o077 != 0 {
            found.push(path.display().to_string());
        }
        if metadata.is_dir() {
            waiting.extend(
                fs::read_dir(&path).expect("it is ours").map(|entry| entry.expect("it is ours").path()),
            );
        }
    }
    found
}

#[test]
fn what_a_run_keeps_is_private_whatever_the_umask_is() {
    let workspace = Workspace::new(&[("main.prose", REMEMBERING)]);
    fs::create_dir(workspace.path("no-home")).expect("folders can be made");
    Run::of(&mut open_to_all(&workspace, &["run", "main.prose", "--quiet"])).ended(0);
    for folder in [".prose", "no-home/.prose"] {
        assert_eq!(open_ones(&workspace.path(folder)), Vec::<String>::new());
    }
    assert_eq!(workspace.read(".prose/.gitignore"), "runs/\n.env\nagents.db\n");
    // One that somebody has changed stays.
    workspace.write(".prose/.gitignore", b"*\n");
    Run::of(&mut open_to_all(&workspace, &["run", "main.prose", "--quiet"])).ended(0);
    assert_eq!(workspace.read(".prose/.gitignore"), "*\n");
}

#[test]
fn what_earlier_versions_left_open_is_made_private_once() {
    let workspace =
        Workspace::new(&[(".prose/agents/a/memory.md", "kept"), (".prose/runs/1/state.md", "kept")]);
    for path in [".prose", ".prose/agents", ".prose/agents/a", ".prose/runs", ".prose/runs/1"] {
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(workspace.path(path), open).expect("it is ours");
    }
    for path in [".prose/agents/a/memory.md", ".prose/runs/1/state.md"] {
        let open = fs::Permissions::from_mode(0o644);
        fs::set_permissions(workspace.path(path), open).expect("it is ours");
    }
    workspace.check(
        &["update"],
        expect![[r#"
            status: 0
            ---- stdout
            🔄 Migrating OpenProse workspace...
              ✓ Made 7 files and folders private
            ✅ Migration complete. Your workspace is up to date.
        "#]],
    );
    assert_eq!(open_ones(&workspace.path(".prose")), Vec::<String>::new());
    workspace.prints(&["update"], expect!["✅ Workspace already up to date. No migration needed."]);
}

#[test]
fn a_folder_of_runs_that_lies_outside_is_used_only_if_that_is_allowed() {
    let workspace = Workspace::new(&[("main.prose", "output a = session \"A\"\n"), ("prose.toml", "")]);
    let outside = prose_fixture::tempdir().expect("a temporary folder can be made");
    std::os::unix::fs::symlink(outside.path(), workspace.path(".prose")).expect("links can be made");
    let refused = workspace.prose(&["run", "main.prose"]).ended(2);
    assert!(refused.stderr.contains(".prose`: it is a link that leads out of"), "{refused:?}");
    assert!(refused.stderr.contains("or pass `--allow-outside`"), "{refused:?}");
    assert_eq!(fs::read_dir(outside.path()).expect("it is there").count(), 0);
    workspace.prose(&["run", "main.prose", "--allow-outside", "--quiet"]).ended(0);
    assert!(outside.path().join("runs").is_dir());
}

/// A run that starts is on the disk before the program does anything, so that a loss of power leaves one that can go on.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs strace"]
fn the_folder_of_a_new_run_is_synced() {
    let workspace = Workspace::new(&[("main.prose", "output a = session \"A\"\n")]);
    let trace = workspace.traced("fsync", &["run", "main.prose", "--quiet"]);
    let run = workspace.run_folder();
    for folder in [run.as_path(), &workspace.path(".prose/runs"), &workspace.path(".prose")] {
        let folder = folder.canonicalize().expect("it is there");
        assert!(trace.contains(&format!("<{}>)", folder.display())), "{trace}");
    }
}

//! Files of settings that belong to another user.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::Path;

use expect_test::expect;
use rustix::process::geteuid;

use crate::common::{Run, Workspace};
use crate::run::TWO;

/// Not the user of any test.
const OTHER: u32 = 54_321;

/// Settings that start an agent, and what it would leave.
fn clone() -> Workspace {
    let agent = "#!/bin/sh\ncat > /dev/null\necho started >> started.txt\necho answer\n";
    let settings =
        "[run]\nharness = \"command\"\ncommand = [\"./agent.sh\"]\n[check.levels]\nE004 = \"off\"\n";
    Workspace::new(&[("main.prose", TWO), ("prose.toml", settings), ("agent.sh", agent)])
}

/// A file of another user: of root, or if this is root, of somebody else.
fn file_of_another(workspace: &Workspace) -> std::path::PathBuf {
    if geteuid().is_root() {
        workspace.write("theirs.toml", b"no settings at all");
        chown(workspace.path("theirs.toml"), Some(OTHER), None).unwrap();
        workspace.path("theirs.toml")
    } else {
        Path::new("/etc/passwd").to_owned()
    }
}

#[test]
fn settings_of_another_user_are_ignored_also_behind_a_link_of_ones_own() {
    let workspace = Workspace::new(&[("main.prose", TWO)]);
    symlink(file_of_another(&workspace), workspace.path("prose.toml")).unwrap();
    workspace.check(&["check", "main.prose"], expect![[r#"
        status: 0
        ---- stderr
        warning: `prose.toml` belongs to another user and is ignored; if you trust its folder, run `prose trust .`
        1 file is clean.
    "#]]);
    workspace.check(&["run", "main.prose", "-q", "--max-sessions", "0"], expect![[r#"
        status: 3
        ---- stderr
        warning: `prose.toml` belongs to another user and is ignored; if you trust its folder, run `prose trust .`
        stopped: the limit of 0 sessions is reached (`--max-sessions`)
        help: continue it with a higher limit: `prose resume ID --max-sessions N`; recorded results are reused
    "#]]);
    // Whoever names the folder means them, and hears what is wrong with them.
    workspace.prose(&["trust"]);
    workspace.prose(&["run", "main.prose", "-q"]).ended(2);
    workspace.prose(&["trust", "--revoke"]).ended(0);
    workspace.prose(&["run", "main.prose", "-q"]).ended(0);
}

#[test]
#[ignore = "needs root"]
fn settings_of_another_user_start_nothing_until_their_folder_is_named() {
    assert!(geteuid().is_root(), "only root can give files away");
    let workspace = clone();
    chown(workspace.path("prose.toml"), Some(OTHER), None).unwrap();
    let started = || fs::read_to_string(workspace.path("started.txt")).unwrap_or_default().lines().count();
    // `--trust` is about the settings that are read.
    let run = workspace.prose(&["run", "main.prose", "-q", "--trust"]);
    assert_eq!((run.status, started()), (0, 0), "{run:?}");
    assert!(run.stderr.contains("belongs to another user and is ignored"), "{run:?}");
    workspace.write("below/main.prose", TWO.as_bytes());
    let run = workspace.prose(&["run", "below/main.prose", "-q"]);
    assert_eq!((run.status, started()), (0, 0), "a file above is ignored as well: {run:?}");

    let mut sudo = workspace.command();
    let output = sudo.args(["run", "main.prose"]).env("SUDO_UID", OTHER.to_string());
    let run = Run::of(output);
    assert_eq!((run.status, started()), (2, 0), "they are read for the user who called `sudo`: {run:?}");
    assert!(run.stderr.contains("is not trusted yet"), "{run:?}");

    let run = workspace.prose(&["trust", "."]);
    assert!(run.stdout.contains("run.command: ./agent.sh"), "{run:?}");
    let run = workspace.prose(&["run", "main.prose", "-q"]);
    assert_eq!((run.status, started()), (0, 2), "{run:?}");
    assert_eq!(run.stderr, "");
}

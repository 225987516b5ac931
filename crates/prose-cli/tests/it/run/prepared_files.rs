//! Files that somebody has prepared: pipes, devices, links and files without an end.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;

use expect_test::expect;

use crate::common::Workspace;
use crate::run::{ANSWERS, TWO};

/// Puts a pipe that nobody writes to in the place of a file.
#[track_caller]
fn make_pipe(workspace: &Workspace, name: &str) {
    let path = workspace.path(name);
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo starts").success());
}

/// Everybody who reads a file says at once that it is a pipe, and names it.
#[test]
fn pipes_are_refused_by_name_wherever_a_path_is_read() {
    let workspace = Workspace::new(&[
        ("main.prose", TWO),
        ("importing.prose", "use \"./pipe.prose\" as other\nother()\n"),
        ("script.toml", ANSWERS),
    ]);
    for pipe in ["pipe.prose", "pipe.toml", "pipe.txt"] {
        make_pipe(&workspace, pipe);
    }
    let refused = |arguments: &[&str]| {
        let run = workspace.prose(arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {run:?}");
        run.stderr
    };
    let hint = "; to read it, use `prose check - <` and its name";
    for command in ["check", "run", "compile", "fmt"] {
        assert!(
            refused(&[command, "pipe.prose"])
                .contains(&format!("`pipe.prose` is a named pipe, not a file{hint}")),
            "{command}"
        );
    }
    assert!(refused(&["run", "importing.prose"]).contains("is a named pipe, not a file"));
    for arguments in [
        ["run", "main.prose", "--script", "pipe.toml"],
        ["run", "main.prose", "--inputs", "pipe.toml"],
        ["check", "main.prose", "--config", "pipe.toml"],
        ["resume", "main.prose", "--transcript", "pipe.txt"],
    ] {
        let said = refused(&arguments);
        assert!(said.contains("` is a named pipe, not a file\n"), "{arguments:?}: {said}");
    }
    make_pipe(&workspace, "prose.toml");
    let said = refused(&["run", "main.prose"]);
    assert!(said.contains("error: `prose.toml` is a named pipe, not a file\n"), "{said}");
    assert!(workspace.runs().is_empty());
}

#[test]
fn a_lock_file_that_is_a_pipe_or_has_no_end_is_refused() {
    let workspace = Workspace::new(&[
        ("main.prose", "use \"alice/research\" as research\nresearch()\n"),
        ("prose.toml", "[registry]\nurl = \"http://127.0.0.1:9\"\n"),
    ]);
    make_pipe(&workspace, "prose.lock");
    let said = workspace.prose(&["run", "main.prose", "--locked"]).stderr;
    assert!(said.contains("prose.lock") && said.contains("is a named pipe, not a file"), "{said}");
    fs::remove_file(workspace.path("prose.lock")).expect("it is there");
    File::create(workspace.path("prose.lock")).expect("it can be made").set_len(1 << 40).expect("holes");
    let said = workspace.prose(&["run", "main.prose", "--locked"]).stderr;
    assert!(said.contains("is too large: a lock file may have at most 16 MiB"), "{said}");
}

#[test]
fn files_without_an_end_are_refused_by_name() {
    let workspace = Workspace::new(&[("main.prose", TWO)]);
    for name in ["large.prose", "large.toml", "large.txt"] {
        // A hole takes no room on the disk.
        File::create(workspace.path(name))
            .expect("it can be made")
            .set_len(1 << 40)
            .expect("holes can be made");
    }
    workspace.refuses(
        &["run", "large.prose"],
        expect!["`large.prose` is too large: a program may have at most 16 MiB"],
    );
    workspace.refuses(
        &["run", "main.prose", "--script", "large.toml"],
        expect!["the script `large.toml` is too large: a script may have at most 64 MiB"],
    );
    workspace.refuses(
        &["run", "main.prose", "--inputs", "large.toml"],
        expect!["`large.toml` is too large: an inputs file may have at most 16 MiB"],
    );
    workspace.refuses(
        &["resume", "main.prose", "--transcript", "large.txt"],
        expect!["the narration `large.txt` is too large: a narration may have at most 256 MiB"],
    );
    symlink("large.toml", workspace.path("prose.toml")).expect("links can be made");
    workspace.refuses(
        &["run", "main.prose"],
        expect!["`prose.toml` is too large: a settings file may have at most 1 MiB"],
    );
}

#[test]
fn pipes_that_a_shell_makes_are_read() {
    let workspace = Workspace::new(&[("main.prose", "input topic: \"What about\"\noutput text = topic\n")]);
    let run = |command: &str| {
        let mut shell = Command::new("bash");
        shell.current_dir(workspace.path("")).args(["-c", command, env!("CARGO_BIN_EXE_prose")]);
        let output = shell.output().expect("bash starts");
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it is text")
    };
    assert_eq!(run("\"$0\" run main.prose --quiet --inputs <(echo 'topic = \"tides\"')"), "text: tides\n");
    assert_eq!(run("\"$0\" run <(cat main.prose) --quiet --input topic=tides"), "text: tides\n");
    assert_eq!(run("\"$0\" check <(cat main.prose) --quiet"), "");
    assert_eq!(run("\"$0\" check - --quiet < main.prose"), "");
}

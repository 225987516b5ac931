//! The GitHub Action and the hooks of pre-commit.

use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::common::{Run, Workspace};

const BROKEN: &str = "session \"C:\\q\"\n";

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A workspace with broken programs, in which `prose` is installed as the action does it.
fn workspace() -> Workspace {
    let workspace = Workspace::new(&[
        ("flows/a.prose", BROKEN),
        ("b.prose", "session \"Say hello\"\n"),
        ("my c.prose", BROKEN),
    ]);
    std::fs::create_dir_all(workspace.path("root/bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_prose"), workspace.path("root/bin/prose")).unwrap();
    workspace
}

/// Runs the step of the action that checks programs.
fn check(workspace: &Workspace, paths: &str, args: &str, file: &str) -> Run {
    let script = repository().join(".github/action/check");
    let mut command = workspace.command_of(script.to_str().unwrap());
    command.env("PROSE_ROOT", workspace.path("root")).env("PROSE_PATHS", paths).env("PROSE_ARGS", args);
    Run::of(command.env("PROSE_OUTPUT_FORMAT", "github").env("PROSE_OUTPUT_FILE", file))
}

#[test]
fn the_action_annotates_lines() {
    let workspace = workspace();
    check(&workspace, "flows b.prose", "", "").check(expect![[r#"
        status: 1
        ---- stdout
        ::error file=flows/a.prose,line=1,endLine=1,col=12,endColumn=14,title=E002%3A unknown escape sequence::unknown escape `\q`; write a backslash as `\\`
    "#]]);
    check(&workspace, ".", "--ignore E002  --quiet", "").check(expect![[r#"
        status: 0
    "#]]);
    check(&workspace, "flows", "", "out.txt").check(expect![[r#"
        status: 1
    "#]]);
    assert!(workspace.read("out.txt").starts_with("::error file=flows/a.prose"));
    // Inputs are no commands.
    check(&workspace, "$(touch x) *", "", "").check(expect![[r#"
        status: 2
        ---- stdout
        ::error file=$(touch,title=not checked::This file does not exist
        ::error file=*,title=not checked::This file does not exist
        ::error file=x),title=not checked::This file does not exist
        ---- stderr
        error: `$(touch` does not exist
        error: `*` does not exist
        error: `x)` does not exist
    "#]]);
    assert!(!workspace.path("x").exists());
}

#[test]
fn the_action_sets_what_its_scripts_read() {
    let action = std::fs::read_to_string(repository().join("action.yml")).unwrap();
    let script = std::fs::read_to_string(repository().join(".github/action/check")).unwrap();
    let variables = script.split('$').filter_map(|text| {
        let text = text.trim_start_matches('{');
        let end = text.find(|character: char| !character.is_ascii_uppercase() && character != '_')?;
        text[..end].strip_prefix("PROSE_")
    });
    let variables: std::collections::BTreeSet<&str> = variables.collect();
    assert_eq!(variables.len(), 5, "{variables:?}");
    for variable in variables {
        assert!(action.contains(&format!("PROSE_{variable}: ${{{{ ")), "{variable}");
    }
}

#[test]
fn the_key_of_the_cache_is_that_of_the_sources() {
    let workspace = Workspace::new(&[("action/crates/a.rs", "a"), ("action/target/debug/x", "x")]);
    let mut keys = Vec::new();
    for (file, text) in [("target/debug/x", "y"), ("crates/a.rs", "a"), ("crates/a.rs", "b")] {
        workspace.write(&format!("action/{file}"), text.as_bytes());
        let mut command = workspace.command_of(repository().join(".github/action/prepare").to_str().unwrap());
        command.env("GITHUB_ACTION_PATH", workspace.path("action")).env("RUNNER_TOOL_CACHE", "/tools");
        Run::of(command.env("GITHUB_OUTPUT", workspace.path("output"))).ended(0);
        keys.push(workspace.read("output"));
        std::fs::remove_file(workspace.path("output")).unwrap();
    }
    assert!(keys[0].starts_with("root=/tools/prose\nhash="), "{keys:?}");
    assert!(keys[0] == keys[1] && keys[1] != keys[2], "{keys:?}");
}

/// Runs Git in a folder.
#[track_caller]
fn git(folder: &Path, arguments: &[&str]) {
    let user = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    let status = Command::new("git").args(user).args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

#[test]
#[ignore = "needs pre-commit"]
fn the_hooks_check_and_format_programs() {
    let hooks = Workspace::new(&[]);
    let manifest = std::fs::read(repository().join(".pre-commit-hooks.yaml")).unwrap();
    hooks.write(".pre-commit-hooks.yaml", &manifest);
    let workspace = workspace();
    workspace.write("long.prose", b"parallel:\n      a = session \"A\"\n      b = session \"B\"\n");
    for folder in [hooks.path(""), workspace.path("")] {
        git(&folder, &["init", "--quiet"]);
        git(&folder, &["add", "--all"]);
        git(&folder, &["commit", "--quiet", "--message", "first"]);
    }
    let run = |hook: &str| {
        let mut command = workspace.command_of("python3");
        command.args(["-m", "pre_commit", "try-repo", "--color", "never"]).arg(hooks.path("")).arg(hook);
        command.arg("--all-files").env("PYTHONPATH", repository().join("tests/.cache/pre-commit"));
        let program = Path::new(env!("CARGO_BIN_EXE_prose")).parent().unwrap();
        command.env("PATH", format!("{}:{}", program.display(), std::env::var("PATH").unwrap()));
        command.env("PRE_COMMIT_HOME", hooks.path("home"));
        Run::of(&mut command)
    };
    let checked = run("prose-check");
    assert_eq!(checked.status, 1, "{checked:?}");
    for file in ["flows/a.prose:1:12", "my c.prose:1:12"] {
        assert!(checked.stdout.contains(file), "{checked:?}");
    }
    let formatted = run("prose-fmt");
    assert!(
        formatted.status == 1 && formatted.stdout.contains("files were modified by this hook"),
        "{formatted:?}"
    );
    assert_eq!(workspace.read("long.prose"), "parallel:\n  a = session \"A\"\n  b = session \"B\"\n");
    assert_eq!(run("prose-fmt").status, 0);
}

//! What is not run at all: status 2, and nothing is left behind.

use expect_test::{Expect, expect};

use crate::common::Workspace;
use crate::run::{ANSWERS, TWO};

#[test]
fn a_program_that_cannot_be_read_or_has_errors() {
    let workspace = Workspace::new(&[("wrong.prose", "sesion \"x\"\n"), ("empty.prose", "")]);
    workspace.write("bytes.prose", b"session \"\xff\"");
    workspace.refuses(&["run", "missing.prose"], expect!["`missing.prose` does not exist"]);
    workspace.refuses(&["run", "."], expect!["`.` is a folder, not a file"]);
    workspace.refuses(
        &["run", "bytes.prose"],
        expect!["`bytes.prose` is not valid UTF-8: byte 0xff at offset 9, in line 1"],
    );
    workspace.check(
        &["run", "wrong.prose"],
        expect![[r#"
        status: 2
        ---- stderr
        error[E107]: unknown statement `sesion`; did you mean `session`?
         --> wrong.prose:1:1
          |
        1 | sesion "x"
          | ^^^^^^
          |
        help: Change to `session`
          |
        1 | session "x"
          |    +

        error: `wrong.prose` has 1 error and is not run
    "#]],
    );
    assert!(workspace.runs().is_empty());
    workspace.check(
        &["run", "empty.prose"],
        expect![[r#"
        status: 0
        ---- stderr
        Run ID with offline (placeholder replies)
    "#]],
    );
}

#[test]
fn a_harness_that_cannot_work_leaves_no_run_behind() {
    let workspace =
        Workspace::new(&[("two.prose", TWO), ("answers.toml", ANSWERS), ("wrong.toml", "[[sesion]]\n")]);
    workspace.refuses(
        &["run", "two.prose", "--harness", "nope"],
        expect!["harness `nope` does not exist; use one of `offline`, `script`, `claude`, `codex`, `opencode`, `claude-agent-acp`, `codex-acp`, `gemini`, `opencode-acp`, `qwen`, `acp`, `command`, `provider`"],
    );
    workspace.refuses(
        &["run", "two.prose", "--harness", "script"],
        expect!["harness `script` needs a script; pass it with `--script FILE.toml`"],
    );
    workspace.refuses(
        &["run", "two.prose", "--harness", "command"],
        expect![[r#"harness `command` needs a program to start; set it in `run.command` in `prose.toml`, such as `command = ["my-agent", "--quiet"]`"#]],
    );
    workspace.refuses(
        &["run", "two.prose", "--script", "missing.toml"],
        expect!["the script `missing.toml` does not exist"],
    );
    workspace.refuses(
        &["run", "two.prose", "--script", "wrong.toml"],
        expect!["wrong.toml:1:3: a script has no `sesion`; did you mean `session`?"],
    );
    workspace.refuses(
        &["run", "two.prose", "--script", "answers.toml", "--harness", "offline"],
        expect!["`--script` needs the harness `script`; remove `--harness` or `--script`"],
    );
    assert!(workspace.runs().is_empty());
}

#[test]
fn arguments_that_contradict_each_other() {
    let workspace = Workspace::new(&[("two.prose", TWO)]);
    workspace.refuses(
        &["run", "two.prose", "--json", "--state", "in-context"],
        expect!["`--json` cannot be combined with `--in-context`, whose only state is the narration on standard output"],
    );
    for arguments in [
        &["--json", "--narrate", "emoji"][..],
        &["--dry-run", "--json"],
        &["--dry-run", "--script", "x.toml"],
        &["--dry-run", "--narrate", "emoji"],
        &["--dry-run", "--record-script", "x.toml"],
        &["--max-parallel", "0"],
        &["--timeout", "5"],
        &["--state", "disk"],
    ] {
        let run = workspace.prose(&[&["run", "two.prose"], arguments].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    }
    assert!(workspace.runs().is_empty());
}

#[test]
fn settings_that_are_not_understood() {
    let workspace = Workspace::new(&[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    let check = |settings: &str, expected: Expect| {
        workspace.write("prose.toml", settings.as_bytes());
        workspace.check(&["run", "two.prose", "-q", "--script", "answers.toml"], expected);
    };
    check(
        "[run]\nharness = \"claud\"\nmax-paralel = 3\nmax-parallel = 0\n",
        expect![[r#"
            status: 2
            ---- stderr
            warning[E142]: prose.toml:3:1: `run.max-paralel` is not a setting; did you mean `max-parallel`?
            warning[E142]: prose.toml:4:16: `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`
            error: `two.prose` is not run: fix prose.toml:2:11: `run.harness` must be `"offline"`, `"script"`, `"claude"`, `"codex"`, `"opencode"`, `"claude-agent-acp"`, `"codex-acp"`, `"gemini"`, `"opencode-acp"`, `"qwen"`, `"acp"`, `"command"` or `"provider"`, not the string "claud"; did you mean "claude"?
        "#]],
    );
    check(
        "[run\nharness = \"claude\"\n",
        expect![[r#"
            status: 2
            ---- stderr
            error: `two.prose` is not run: fix prose.toml:1:5: missing `]` after the table name
        "#]],
    );
    assert!(workspace.runs().is_empty());
    check(
        "[check]\nprofil = 3\nprofile = \"x\"\n",
        expect![[r#"
            status: 0
            ---- stdout
            text: two
            ---- stderr
            warning[W141]: prose.toml:2:1: `check.profil` is not a setting; did you mean `profile`?
            warning[E142]: prose.toml:3:11: `check.profile` must be `"default"` or `"strict"`, not the string "x"
        "#]],
    );
}

#[test]
fn a_script_is_recorded_over_a_file_only_if_that_is_wanted() {
    let workspace = Workspace::new(&[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    workspace.refuses(
        &["run", "two.prose", "--record-script", "answers.toml"],
        expect!["script `answers.toml` already exists; pass another file, or overwrite it with `--force`"],
    );
    assert!(workspace.runs().is_empty());
    let read = || std::fs::read_to_string(workspace.path("answers.toml")).expect("it is there");
    assert_eq!(read(), ANSWERS);
    workspace.prose(&["run", "two.prose", "-q", "--record-script", "answers.toml", "--force"]).ended(0);
    assert!(read().contains("[offline]"), "{}", read());
}

#[test]
fn a_script_that_cannot_be_written_is_found_out_before_the_run() {
    let workspace = Workspace::new(&[("two.prose", TWO)]);
    workspace.refuses(
        &["run", "two.prose", "--record-script", "nowhere/x.toml"],
        expect!["cannot write script `nowhere/x.toml`: No such file or directory (os error 2)"],
    );
    assert!(workspace.runs().is_empty());
}

#[cfg(unix)]
#[test]
fn a_model_that_would_be_an_option_starts_no_agent() {
    let program = "session \"x\"\n  model: \"--yes\"\n";
    let workspace = Workspace::new(&[("main.prose", program)]);
    let run = workspace.prose(&["run", "main.prose"]).ended(2);
    assert!(run.stderr.contains("error[E148]"), "{}", run.stderr);
    let settings = "[models]\nfast = \"--yes\"\n";
    let program = "session \"x\"\n  model: fast\n";
    let workspace = Workspace::new(&[("main.prose", program), ("prose.toml", settings)]);
    let run = workspace.prose(&["run", "main.prose"]).ended(1);
    assert!(run.stderr.contains("`fast` has no usable id in `[models]` of prose.toml"), "{}", run.stderr);
}

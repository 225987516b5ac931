//! Replays and forks of runs that were exported, or stopped for a question.

use expect_test::{Expect, expect};

use super::replay::{check, last, recorded};
use crate::common::{Run, Workspace};

/// Replays an exported run whose text `Ada` is redacted.
#[track_caller]
fn check_redacted(program: &str, expected: Expect) {
    let settings = "[run]\nredact = [\"Ada\"]\n";
    let answers = "[[session]]\nlabel = \"Who\"\nreply = \"Ada\"\n[[session]]\nreply = \"more\"\n";
    let workspace =
        Workspace::new(&[("main.prose", program), ("prose.toml", settings), ("answers.toml", answers)]);
    workspace.prose(&["run", "main.prose", "--script", "answers.toml", "--quiet"]).ended(0);
    let id = last(&workspace);
    workspace.prose(&["runs", "export", &id, "run.prose-run"]).ended(0);
    check(&workspace.prose(&["run", "main.prose", "--replay", "run.prose-run", "--quiet"]), &id, expected);
}

#[test]
fn a_replay_of_a_redacted_run_reports_where_it_goes_another_way() {
    let who = "let who = session \"Who\"\n";
    check_redacted(
        &format!("{who}output name = session \"Greet {{who}}\"\n"),
        expect![[r#"
        status: 0
        name: more
        ---- stderr
    "#]],
    );
    let asks =
        "if who == \"Ada\":\n  output end = session \"Known\"\nelse:\n  output end = session \"Unknown\"\n";
    check_redacted(
        &format!("{who}{asks}"),
        expect![[r#"
            status: 6
            ---- stderr
            warning: line 5: the program executes a statement here that was not executed in run EARLIER: texts of that run are redacted, so comparisons can have other results, and so can this run
            not recorded: run EARLIER has no answer for the session at line 5 (s1/3/4)
            --- recorded at line 1 (s0/1, event 4)
            +++ asked at line 5 (s1/3/4)
            @@ -1,2 +1,2 @@
             [task]
            -Who
            +Unknown
            help: `prose run main.prose --replay run.prose-run --live` asks the harness from there on
        "#]],
    );
    let adds = "if who == \"[redacted]\":\n  let end = 1\n";
    check_redacted(
        &format!("{who}{adds}"),
        expect![[r#"
        status: 0
        1
        ---- stderr
        warning: line 3: the program executes a statement here that was not executed in run EARLIER: texts of that run are redacted, so comparisons can have other results, and so can this run
    "#]],
    );
    let skips = "if who == \"Ada\":\n  output end = session \"Known\"\n";
    check_redacted(
        &format!("{who}{skips}"),
        expect![[r#"
            status: 0
            ---- stderr
            warning: the program has not executed line 3, which was executed in run EARLIER: texts of that run are redacted, so comparisons can have other results, and so can this run
        "#]],
    );
}

const ASKS: &str =
    "let a = session \"One\"\ninput go: \"Ship it? (yes/no)\"\noutput c = session \"Two {go}\"\n";

/// A workspace with a run of [`ASKS`] that waits, and its id.
fn waiting() -> (Workspace, String) {
    let answers = "[[session]]\nlabel = \"One\"\nreply = \"one\"\n[[session]]\npattern = \"Two yes\"\nreply = \"two\"\n";
    let workspace = Workspace::new(&[("main.prose", ASKS), ("answers.toml", answers)]);
    workspace.prose(&["run", "main.prose", "--script", "answers.toml", "--quiet"]).ended(5);
    let id = last(&workspace);
    (workspace, id)
}

#[test]
fn a_question_without_an_answer_is_not_said_to_have_another_one() {
    let (workspace, id) = waiting();
    check(
        &workspace.prose(&["run", "main.prose", "--replay", &id, "--quiet"]),
        &id,
        expect![[r#"
        status: 6
        ---- stderr
        not recorded: run EARLIER has no answer for the input at line 2 (s1/input)
        The same input was asked at line 2 (s1, event 10) and had no answer when the run stopped.
        help: `prose run main.prose --replay EARLIER --live` asks the harness from there on
    "#]],
    );
}

#[test]
fn an_answer_that_was_given_without_resuming_the_run_is_replayed() {
    let (workspace, id) = waiting();
    workspace.prose(&["runs", "answer", &id, "yes", "--no-resume"]).ended(0);
    check(
        &workspace.prose(&["run", "main.prose", "--replay", &id, "--quiet"]),
        &id,
        expect![[r#"
        status: 6
        ---- stderr
        not recorded: run EARLIER has no answer for the session at line 3 (s2/1)
        --- recorded at line 1 (s0/1, event 4)
        +++ asked at line 3 (s2/1)
        @@ -1,2 +1,2 @@
         [task]
        -One
        +Two yes
        help: `prose run main.prose --replay EARLIER --live` asks the harness from there on
    "#]],
    );
    let fork = ["runs", "fork", &id, "--from", "@12", "--script", "answers.toml", "--quiet"];
    check(
        &workspace.prose(&fork),
        &id,
        expect![[r#"
        status: 0
        c: two
        ---- stderr
    "#]],
    );
    // An edited program may ask something else, which nobody is there to answer.
    workspace.write("main.prose", ASKS.replace("Ship it?", "Stop it?").as_bytes());
    check(
        &workspace.prose(&["run", "main.prose", "--replay", &id, "--quiet"]),
        &id,
        expect![[r#"
        status: 6
        ---- stderr
        not recorded: run EARLIER has no answer for the input at line 2 (s1/input)
        --- recorded at line 2 (s1, event 10)
        +++ asked at line 2 (s1/input)
        @@ -1 +1 @@
        -Ship it? (yes/no)
        \ No newline at end of file
        +Stop it? (yes/no)
        \ No newline at end of file
        help: `prose run main.prose --replay EARLIER --live` asks the harness from there on
    "#]],
    );
}

#[test]
fn a_fork_of_an_imported_run_says_how_to_name_its_program() {
    let (workspace, id) = waiting();
    workspace.write("prose.toml", b"[run]\nredact = [\"Two\"]\n");
    workspace.prose(&["runs", "export", &id, "redacted.prose-run"]).ended(0);
    std::fs::remove_file(workspace.path("prose.toml")).unwrap();
    workspace.prose(&["runs", "export", &id, "whole.prose-run"]).ended(0);
    let whole = Workspace::new(&[("whole.prose-run", &workspace.read("whole.prose-run"))]);
    whole.prose(&["runs", "import", "whole.prose-run"]).ended(0);
    let refused = whole.prose(&["runs", "fork", &id, "--from", "1"]).ended(2).stderr;
    let program = workspace.path("main.prose");
    let named = std::path::Path::new(&program).canonicalize().unwrap();
    assert!(
        refused.ends_with(&format!("If that is right, pass it with `--program {}`\n", named.display())),
        "{refused}"
    );

    let redacted = Workspace::new(&[("redacted.prose-run", &workspace.read("redacted.prose-run"))]);
    redacted.prose(&["runs", "import", "redacted.prose-run"]).ended(0);
    std::fs::remove_file(program).unwrap();
    check(
        &redacted.prose(&["runs", "fork", &id, "--from", "1"]),
        &id,
        expect![[r#"
        status: 2
        ---- stderr
        error: the text of the program of run EARLIER was redacted when the run was exported; pass the program with `--program FILE`, or fork with the redacted text by `--program .prose/runs/EARLIER/program.prose`
    "#]],
    );
}

#[test]
fn what_is_redacted_is_in_no_object_of_the_exported_file() {
    let program = "input key: \"The key\"\nlet o = { key: key, pin: 99118822 }\nlet r = session \"Use it\"\n  context: o\noutput all = o\n";
    let settings = "[run]\nredact = [\"99118822\"]\nenvironment = [\"PLANTED\"]\n";
    let workspace = Workspace::new(&[("main.prose", program), ("prose.toml", settings)]);
    let key = "-----BEGIN\nTides\"def\\ghi\nEND-----";
    workspace.prose(&["run", "main.prose", "--input", &format!("key={key}"), "--quiet"]).ended(0);
    let mut export = workspace.command();
    export.args(["runs", "export", "2", "run.prose-run"]).env("PLANTED", key);
    Run::of(&mut export).ended(0);
    let file = workspace.read("run.prose-run");
    assert!(!file.contains("Tides") && !file.contains("99118822"), "{file}");
    workspace.prose(&["run", "main.prose", "--replay", "run.prose-run", "--quiet"]).ended(0);
}

#[test]
fn nothing_is_exported_where_the_settings_do_not_say_what_is_redacted() {
    let workspace = Workspace::new(&[("main.prose", "output a = 1\n")]);
    workspace.prose(&["run", "main.prose", "--quiet"]).ended(0);
    workspace.write("prose.toml", b"[run]\nredacts = [\"Ada\"]\n");
    workspace.refuses(&["runs", "export", "2", "run.prose-run"], expect!["run ID is not exported: fix FOLDER/prose.toml:2:1: `run.redacts` is not a setting; did you mean `redact`?"]);
    workspace.write("prose.toml", b"[run]\nredact = [\"$PLANTED_NOWHERE\"]\n");
    workspace.refuses(&["runs", "export", "2", "run.prose-run"], expect!["`run.redact` names `$PLANTED_NOWHERE`, which is not set here, so that its value cannot be found in the run; set it, or remove the name"]);
}

#[test]
fn what_cannot_be_redacted_is_named_without_its_text() {
    let (workspace, id) = recorded();
    let refused = |settings: &str| {
        workspace.write("prose.toml", settings.as_bytes());
        let mut export = workspace.command();
        let export =
            export.args(["runs", "export", &id, "run.prose-run"]).env("PLANTED", "statement-started");
        let stderr = Run::of(export).ended(2).stderr.replace(&id, "EARLIER");
        assert!(!workspace.path("run.prose-run").exists());
        stderr.replace(&*workspace.path("").to_string_lossy(), "FOLDER/")
    };
    expect![[r#"
        error: entry 2 of `run.redact` is also a word of the format of runs, so that the exported run could not be read; redact a longer text
    "#]].assert_eq(&refused("[run]\nredact = [\"winds\", \"session\"]\n"));
    expect![[r#"
        error: entry 1 of `run.redact` and the value of `PLANTED` are also a word of the format of runs, so that the exported run could not be read; redact a longer text
    "#]].assert_eq(&refused("[run]\nredact = [\"event\", \"$PLANTED\"]\n"));
    expect![[r#"
        error: the value of `PLANTED` is also a word of the format of runs, so that the exported run could not be read; redact a longer text
    "#]].assert_eq(&refused("[run]\nenvironment = [\"PLANTED\"]\n"));
    expect![[r#"
        error: run EARLIER is not exported: fix FOLDER/prose.toml:2:11: `run.redact` must be a string of at least one character, not an empty string
    "#]].assert_eq(&refused("[run]\nredact = [\"\"]\n"));
}

//! `prose runs fork` of runs of all kinds, and its confirmation.

use expect_test::{Expect, expect};

use super::TWO;
use super::replay::{check, last, recorded};
use crate::common::Workspace;
#[cfg(unix)]
use crate::terminal::answered;

const THREE: &str =
    "let a = session \"First\"\nlet b = session \"Second {a}\"\noutput c = session \"Third {b}\"\n";

/// A workspace with a run that failed at its second session.
fn failed() -> (Workspace, String) {
    let answers = "[[session]]\nlabel = \"First\"\nreply = \"one\"\n[[session]]\nfail = \"no\"\n";
    let workspace = Workspace::new(&[("main.prose", THREE), ("answers.toml", answers)]);
    let run = workspace.prose(&["run", "main.prose", "--script", "answers.toml", "--quiet"]);
    assert_eq!(run.status, 1, "{run:?}");
    let id = last(&workspace);
    workspace.write("answers.toml", b"[[session]]\nreply = \"fine\"\n");
    (workspace, id)
}

/// What is said before a fork starts.
#[track_caller]
fn check_plan(workspace: &Workspace, id: &str, arguments: &[&str], expected: Expect) {
    let run = workspace.prose(&[&["runs", "fork", id], arguments].concat());
    let plan: Vec<&str> = run.stderr.lines().take_while(|line| !line.starts_with("Run ")).collect();
    expected.assert_eq(&(plan.join("\n").replace(id, "EARLIER") + "\n"));
}

#[test]
fn the_rest_of_a_run_that_failed_is_estimated() {
    let (workspace, id) = failed();
    check_plan(
        &workspace,
        &id,
        &["--from", "failure", "--script", "answers.toml"],
        expect![[r#"
        Fork of run EARLIER before line 2 (s1, event 9)
        reuses 1 session and 0 decisions
        asks script the rest of the program, estimated at 2 sessions
    "#]],
    );
    check_plan(
        &workspace,
        &id,
        &["--from", "1", "--script", "answers.toml"],
        expect![[r#"
        Fork of run EARLIER before line 1 (s0, event 3)
        reuses 0 sessions and 0 decisions
        asks script the rest of the program, estimated at 3 sessions
    "#]],
    );
}

#[test]
fn a_point_inside_of_a_statement_is_named_by_that_statement() {
    let (workspace, id) = failed();
    check_plan(
        &workspace,
        &id,
        &["--from", "@4", "--script", "answers.toml"],
        expect![[r#"
        Fork of run EARLIER inside line 1 (s0/1, event 4)
        reuses 0 sessions and 0 decisions
        asks script the rest of the program, estimated at 3 sessions
    "#]],
    );
}

#[test]
fn an_edited_program_reuses_what_still_matches() {
    let (workspace, id) = recorded();
    workspace.write("edited.prose", TWO.replace("\"Second\"", "\"Second and last\"").as_bytes());
    check(
        &workspace.prose(&["runs", "fork", &id, "--program", "edited.prose", "--harness", "offline"]),
        &id,
        expect![[r#"
            status: 0
            text: Here is what last comes down to. Took a into account. What matters most is Second, and the rest follows from it. Compared with the rest, Second is the smaller part. One open question about the rest remains. [offline]
            ---- stderr
            Fork of run EARLIER
            reuses at most 2 sessions and 0 decisions
            asks offline the rest of the program, estimated at 0–2 sessions
            note: the program has changed since the run; answers are reused where it still asks the same
            Run NEW with offline (placeholder replies)
            … First
            ✓ First (TIME)
            … Second and last
            Recorded results reused; the run continues.
            ✓ Second and last (TIME)
            Reused 1 result of run EARLIER, ran 1.
            Completed: 2 sessions done, 1 reused
        "#]],
    );
    check_plan(
        &workspace,
        &id,
        &["--from", "2", "--program", "edited.prose", "--harness", "offline"],
        expect![[r#"
        Fork of run EARLIER before line 2 (s1, event 9)
        reuses at most 1 session and 0 decisions
        asks offline the rest of the program, estimated at 1–2 sessions
        note: the program has changed since the run; answers are reused where it still asks the same
    "#]],
    );
}

#[test]
fn a_waiting_run_is_forked_and_still_waits() {
    let program = "let plan = session \"Plan\"\ninput go: \"Ship it? (yes/no)\"\noutput done = session \"Do {plan} {go}\"\n";
    let workspace = Workspace::new(&[("main.prose", program)]);
    workspace.prose(&["run", "main.prose", "--quiet"]).ended(5);
    let id = last(&workspace);
    workspace.prose(&["runs", "fork", &id, "--reply", "s0=Ship", "--quiet"]).ended(5);
    let fork = last(&workspace);
    assert_ne!(fork, id);
    check(
        &workspace.prose(&["runs", "answer", &fork, "yes", "--quiet"]),
        &fork,
        expect![[r#"
        status: 0
        done: Went through Ship with an eye on the details. Most of the work lies in the details; the rest is in good shape. Compared with the rest, Ship is the smaller part. Nothing stands in the way of the details. [offline]
        ---- stderr
        answered question 1 at line 2: go: Ship it? (yes/no): yes
    "#]],
    );
    let shown = workspace.prose(&["runs", "show", &id]).stdout;
    assert!(shown.contains("waiting:  question 1 at line 2: go: Ship it? (yes/no)\n"), "{shown}");
}

#[cfg(unix)]
#[test]
fn a_fork_starts_at_a_terminal_after_a_confirmation() {
    let (workspace, id) = recorded();
    let fork = || {
        let mut command = workspace.command();
        command.args(["runs", "fork", &id, "--from", "2", "--harness", "offline", "--color", "never"]);
        command
    };
    let count = || workspace.runs().len();
    let (status, shown) = answered(&mut fork(), &[("Start it? [Y/n] ", "n\n")]);
    assert!(shown.contains("reuses 1 session and 0 decisions"), "{shown}");
    assert_eq!((status, count()), (2, 1), "{shown}");
    let (status, shown) = answered(&mut fork(), &[("Start it? [Y/n] ", "\n")]);
    assert_eq!((status, count()), (0, 2), "{shown}");
    let (status, shown) = answered(fork().arg("--yes"), &[]);
    assert!(!shown.contains("Start it?"), "{shown}");
    assert_eq!((status, count()), (0, 3), "{shown}");
}

#[test]
fn an_export_of_another_program_is_no_answer_and_a_newer_one_is_refused() {
    let (workspace, id) = recorded();
    workspace.prose(&["runs", "export", &id, "run.prose-run"]).ended(0);
    workspace.write("other.prose", b"session \"Something else\"\n");
    check(
        &workspace.prose(&["run", "other.prose", "--replay", "run.prose-run", "--quiet"]),
        &id,
        expect![[r#"
            status: 6
            ---- stderr
            not recorded: run EARLIER has no answer for the session at line 1 (s0)
            --- recorded at line 1 (s0/1, event 4)
            +++ asked at line 1 (s0)
            @@ -1,2 +1,2 @@
             [task]
            -First
            +Something else
            help: `prose run other.prose --replay EARLIER --live` asks the harness from there on
        "#]],
    );
    let newer = workspace.read("run.prose-run").replacen("\"prose-run\":1", "\"prose-run\":2", 1);
    workspace.write("newer.prose-run", newer.as_bytes());
    let refused = "cannot use `newer.prose-run`: it has version 2 of the format, but this `prose` supports versions up to 1; use a newer `prose`";
    for arguments in [vec!["runs", "import", "newer.prose-run"], vec!["runs", "diff", "newer.prose-run", &id]]
    {
        let run = workspace.prose(&arguments);
        assert_eq!(
            (run.status, run.stderr.trim_end()),
            (2, format!("error: {refused}").as_str()),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_journal_that_is_being_written_is_forked_compared_and_exported_up_to_its_last_whole_line() {
    let (workspace, id) = recorded();
    let journal = format!(".prose/runs/{id}/journal.jsonl");
    let whole = workspace.read(&journal);
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let cut = lines.iter().position(|line| line.contains("\"Second\"")).expect("it is asked");
    workspace.write(&journal, (lines[..cut].concat() + &lines[cut][..20]).as_bytes());
    check_plan(
        &workspace,
        &id,
        &["--from", "2", "--harness", "offline"],
        expect![[r#"
        Fork of run EARLIER before line 2 (s1, event 9)
        reuses 1 session and 0 decisions
        asks offline the rest of the program, estimated at 1 session
    "#]],
    );
    let fork = last(&workspace);
    let diff = workspace.prose(&["runs", "diff", &id, &fork, "--json"]);
    assert_eq!(diff.status, 1, "{diff:?}");
    workspace.prose(&["runs", "export", &id, "part.prose-run"]).ended(0);
    let replay = workspace.prose(&["run", "main.prose", "--replay", "part.prose-run", "--quiet"]);
    assert_eq!(replay.status, 6, "{replay:?}");
    assert!(workspace.read(&journal).starts_with(&lines[..cut].concat()), "nothing recorded is lost");
}

//! Runs that no one answers: they wait, and are answered later.

use std::process::Stdio;

use expect_test::expect;

use crate::common::Workspace;
use crate::terminal::answered;

const RELEASE: &str = "let plan = session \"Plan\"\ninput go: \"Ship it? (yes/no)\"\noutput done = go\n";

fn release() -> Workspace {
    Workspace::new(&[("release.prose", RELEASE)])
}

#[test]
fn a_run_that_no_one_answers_waits_and_is_answered_later() {
    let workspace = release();
    workspace.check(
        &["run", "release.prose", "-q"],
        expect![[r#"
        status: 5
        ---- stderr
        waiting: question 1 at line 2: go: Ship it? (yes/no)
        help: answer with `prose runs answer ID yes|no`; recorded results are reused
    "#]],
    );
    workspace.refuses(
        &["runs", "answer", "2", "perhaps"],
        expect!["`perhaps` is not one of the answers; choose one of [y]es, [n]o"],
    );
    workspace.refuses(
        &["runs", "answer", "2", "other", "yes"],
        expect!["run ID has no open question `other`; `prose runs show` lists its questions"],
    );
    let shown = workspace.prose(&["runs", "show"]).stdout;
    assert!(shown.contains("waiting:  question 1 at line 2: go: Ship it? (yes/no)\n"), "{shown}");
    assert!(shown.contains("since 2"), "{shown}");
    assert!(shown.contains("answers: [y]es, [n]o\n"), "{shown}");
    let listed = workspace.prose(&["runs", "list"]).stdout;
    assert!(listed.contains("  waiting  "), "{listed}");
    assert!(listed.contains(": go: Ship it? (yes/no)"), "{listed}");
    workspace.check(
        &["runs", "answer", "2", "Y"],
        expect![[r#"
            status: 0
            ---- stdout
            done: yes
            ---- stderr
            answered question 1 at line 2: go: Ship it? (yes/no): yes
            Run ID with offline (placeholder replies)
            Recorded results reused; the run continues.
            Reused 1 result from the earlier execution, ran 0.
            Completed: 1 session done, 1 reused
        "#]],
    );
    workspace
        .refuses(&["runs", "answer", "2", "yes"], expect!["run ID (completed) does not wait for an answer"]);
}

#[test]
fn a_command_for_a_run_that_waits_without_a_process_says_how_to_answer_it() {
    let workspace = release();
    workspace.prose(&["run", "release.prose"]).ended(5);
    for arguments in [
        &["runs", "attach"][..],
        &["runs", "stop", "20"],
        &["runs", "set-limit", "20", "--max-sessions", "9"],
    ] {
        workspace.refuses(
            arguments,
            expect!["run ID waits without a process; answer it with `prose runs answer ID yes|no`"],
        );
    }
}

#[test]
fn an_answer_is_recorded_without_resuming_the_run() {
    let workspace = release();
    workspace.prose(&["run", "release.prose"]).ended(5);
    workspace.check(
        &["runs", "answer", "2", "go", "no", "--no-resume"],
        expect![[r#"
        status: 0
        ---- stderr
        answered question 1 at line 2: go: Ship it? (yes/no): no
    "#]],
    );
    workspace.prints(&["resume", "-q"], expect!["done: no"]);
}

#[test]
fn a_run_that_was_killed_after_its_answer_goes_on_with_it() {
    let workspace = Workspace::new(&[(
        "release.prose",
        "let plan = session \"Plan\"\ninput go: \"Ship it? (yes/no)\"\noutput done = session \"Deploy {go}\"\n",
    )]);
    workspace.prose(&["run", "release.prose"]).ended(5);
    let mut command = workspace.command();
    command
        .args(["runs", "answer", "2", "yes", "--delay", "1h"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut answering = command.spawn().expect("the binary starts");
    let stderr = std::io::BufReader::new(answering.stderr.take().expect("it is piped"));
    let mut said = std::io::BufRead::lines(stderr).map(|line| line.expect("it says something"));
    assert!(said.any(|line| line.contains("… Deploy yes")));
    // While a process has the run, the answer is that process's matter.
    workspace.prose(&["runs", "answer", "2", "no"]).ended(2);
    answering.kill().expect("it runs");
    answering.wait().expect("it ends");
    let resumed = workspace.prose(&["resume"]).ended(0);
    assert!(resumed.stderr.contains("Reused 1 result from the earlier execution, ran 1."), "{resumed:?}");
}

#[test]
fn a_value_that_an_input_does_not_offer_is_refused_before_anything_starts() {
    let workspace = release();
    for arguments in [
        &["run", "release.prose", "-i", "go=perhaps"][..],
        &["run", "release.prose", "--dry-run", "-i", "go=perhaps"],
    ] {
        workspace.check(
            arguments,
            expect![[r#"
                status: 2
                ---- stderr
                error: `perhaps` is not one of the answers to input `go`; choose one of [y]es, [n]o
            "#]],
        );
    }
    assert!(!workspace.path(".prose").exists());
    // Those that it offers are given in the one form, in whatever form they come.
    for (given, expected) in [("go=Y", "done: yes\n"), ("go=NO.", "done: no\n")] {
        let run = workspace.prose(&["run", "release.prose", "-q", "-i", given]);
        assert_eq!((run.status, run.stdout.as_str()), (0, expected), "{run:?}");
    }
    workspace.write("in.toml", b"go = false\n");
    let run = workspace.prose(&["run", "release.prose", "-q", "--inputs", "in.toml"]);
    assert_eq!(run.stdout, "done: no\n");
    // A run that waits is not resumed with another one, either.
    assert_eq!(workspace.prose(&["run", "release.prose", "-q"]).status, 5);
    workspace.check(
        &["resume", "-q", "-i", "go=perhaps"],
        expect![[r#"
            status: 2
            ---- stderr
            error: `perhaps` is not one of the answers to input `go`; choose one of [y]es, [n]o
        "#]],
    );
    assert_eq!(workspace.prose(&["resume", "-q", "-i", "go=y"]).stdout, "done: yes\n");
}

#[test]
fn at_a_terminal_an_answer_that_is_not_offered_is_asked_again() {
    let workspace = release();
    let mut command = workspace.command();
    command.args(["run", "release.prose", "-q", "--color", "never"]);
    let (status, shown) = answered(&mut command, &[("[n]o: ", "perhaps\n"), ("[n]o: ", "N\n")]);
    expect![[r#"
        status: 0
        go — Ship it? (yes/no) [y]es, [n]o: perhaps
        `perhaps` is not one of the answers; choose one of [y]es, [n]o
        go — Ship it? (yes/no) [y]es, [n]o: N
    "#]]
    .assert_eq(&workspace.masked(&format!("status: {status}\n{shown}")));
}

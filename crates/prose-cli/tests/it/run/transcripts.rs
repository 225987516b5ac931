//! Runs that keep nothing but their narration.

use expect_test::expect;

use crate::common::Workspace;
use crate::run::{ANSWERS, TWO};

fn narrated() -> (Workspace, String) {
    let workspace = Workspace::new(&[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    let run =
        workspace.prose(&["run", "two.prose", "--state", "in-context", "--script", "answers.toml"]).ended(0);
    (workspace, run.stdout)
}

#[test]
fn the_state_system_is_announced() {
    let (workspace, _) = narrated();
    let run = workspace.prose(&["run", "two.prose", "--state", "in-context", "--script", "answers.toml"]);
    assert!(run.stdout.starts_with("OpenProse Program Start\n   State mode: in-context"), "{run:?}");
    assert!(!workspace.path(".prose").exists());
    let large = "session \"x\"\n".repeat(40);
    workspace.write("large.prose", large.as_bytes());
    let run = workspace.prose(&["run", "large.prose", "--state", "in-context", "-q"]);
    assert!(run.stdout.contains("40 statements (at most 29)"), "{run:?}");
}

#[test]
fn a_narration_that_is_cut_off_anywhere_goes_on() {
    let (workspace, narration) = narrated();
    let last = narration.lines().last().expect("there are lines").to_owned();
    let cuts = (0..narration.len()).step_by(97).filter(|&at| narration.is_char_boundary(at));
    for cut in cuts {
        workspace.write("cut.txt", &narration.as_bytes()[..cut]);
        let arguments = ["resume", "--transcript", "cut.txt", "two.prose", "--script", "answers.toml"];
        let run = workspace.prose(&arguments);
        assert_eq!(run.status, 0, "cut at {cut}: {run:?}");
        assert_eq!(run.stdout.lines().last(), Some(last.as_str()), "cut at {cut}");
    }
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let (workspace, narration) = narrated();
    workspace.write("whole.txt", narration.as_bytes());
    workspace.write("empty.txt", b"");
    workspace.write("bytes.txt", b"\xff");
    workspace.refuses(
        &["resume", "--transcript", "whole.txt"],
        expect!["the narrated program has already completed"],
    );
    workspace.refuses(
        &["resume", "--transcript", "empty.txt"],
        expect!["the narration does not contain the path of its program; pass it: `prose resume --transcript FILE PROGRAM`"],
    );
    workspace.refuses(
        &["resume", "--transcript", "bytes.txt"],
        expect!["the narration does not contain the path of its program; pass it: `prose resume --transcript FILE PROGRAM`"],
    );
    workspace.refuses(
        &["resume", "--transcript", "missing.txt"],
        expect!["the narration `missing.txt` does not exist"],
    );
    workspace.refuses(
        &["resume", "--transcript", "empty.txt", "two.prose", "--json"],
        expect!["`--json` cannot be combined with `--in-context`, whose only state is the narration on standard output"],
    );
}

#[test]
fn a_run_that_stops_says_how_to_go_on() {
    let (workspace, _) = narrated();
    let arguments =
        ["run", "two.prose", "--state", "in-context", "--script", "answers.toml", "--max-sessions", "1"];
    let run = workspace.prose(&arguments);
    workspace.write("cut.txt", run.stdout.as_bytes());
    let errors = crate::common::Run { stdout: String::new(), ..run };
    workspace.shows(
        errors,
        &expect![[r#"
            status: 3
            ---- stderr
            Stopped: 1 session done, 1 not asked
            stopped: the limit of 1 session is reached (`--max-sessions`)
            help: save the narration to FILE; continue it with a higher limit: `prose resume --transcript FILE --max-sessions N`; recorded results are reused
        "#]],
    );
    workspace.write("two.prose", TWO.replace("Second", "Zweitens").as_bytes());
    workspace.write("answers.toml", ANSWERS.replace("Second", "Zweitens").as_bytes());
    let run = workspace.prose(&[
        "resume",
        "--transcript",
        "cut.txt",
        "--script",
        "answers.toml",
        "--max-sessions",
        "9",
    ]);
    workspace.shows(crate::common::Run { stdout: String::new(), ..run }, &expect![[r#"
        status: 0
        ---- stderr
        note: the program has changed since it was narrated; results of unchanged sessions are reused
        note: line 14 of the narration, session of `output text = session "Second"`: it had not ended; it is requested again
        note: 1 result was recovered from the narration
        Reused 1 result from the earlier execution, ran 1.
        Completed: 2 sessions done
    "#]]);
}

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
fn a_reply_without_text_is_refused() {
    let (workspace, id) = failed();
    for reply in ["1=", "1= \n"] {
        check(
            &workspace.prose(&["runs", "fork", &id, "--reply", reply, "--script", "answers.toml", "-q"]),
            &id,
            expect![[r#"
                status: 2
                ---- stderr
                error: the reply of the session at line 1 has no text, and a session that answers with nothing fails; pass a reply
            "#]],
        );
    }
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
            help: `prose run other.prose --replay run.prose-run --live` asks the harness from there on
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

const GO_ON: &str =
    "let o = session \"One\"\nlet a = session \"Two {o}\"\noutput c = session \"Three {o}\"\n";

/// A workspace with a run of [`GO_ON`], and an edited program.
fn edited(program: &str) -> (Workspace, String) {
    let answers = "[[session]]\nlabel = \"One\"\nreply = \"A\"\n[[session]]\npattern = \"Two\"\nreply = \"two\"\n[[session]]\npattern = \"Three A\"\nreply = \"three\"\n";
    let workspace =
        Workspace::new(&[("main.prose", GO_ON), ("edited.prose", program), ("answers.toml", answers)]);
    workspace.prose(&["run", "main.prose", "--script", "answers.toml", "--quiet"]).ended(0);
    let now = "[[session]]\nlabel = \"New\"\nreply = \"new\"\n[[session]]\npattern = \"Two B\"\nreply = \"two B\"\n[[session]]\npattern = \"Three B\"\nreply = \"three B\"\n[[session]]\npattern = \"Four B\"\nreply = \"four B\"\n";
    workspace.write("answers.toml", now.as_bytes());
    let id = last(&workspace);
    (workspace, id)
}

#[track_caller]
fn check_edited(program: &str, arguments: &[&str], expected: Expect) {
    let (workspace, id) = edited(program);
    let fixed = ["runs", "fork", &id, "--program", "edited.prose", "--script", "answers.toml", "--quiet"];
    check(&workspace.prose(&[&fixed, arguments].concat()), &id, expected);
}

#[test]
fn a_variable_is_set_at_its_statement_also_where_that_has_moved() {
    let moved = format!("# Edited\nsession \"New\"\n{GO_ON}");
    check_edited(
        &moved,
        &["--from", "3", "--set", "o=B"],
        expect![[r#"
        status: 0
        c: three B
        ---- stderr
    "#]],
    );
    let into_a_loop = "let o = session \"One\"\nrepeat 1:\n  let a = session \"Two {o}\"\n  output c = session \"Three {o}\"\n";
    check_edited(
        into_a_loop,
        &["--from", "3", "--set", "o=B"],
        expect![[r#"
        status: 2
        ---- stderr
        error: `o` cannot be set: the statement at line 3 (s2) of run EARLIER is not in the edited program, or not in the same body
    "#]],
    );
    // An edited statement is the one that was there.
    let asks_something_else = GO_ON.replace("Three", "Four");
    check_edited(
        &asks_something_else,
        &["--from", "3", "--set", "o=B"],
        expect![[r#"
        status: 0
        c: four B
        ---- stderr
    "#]],
    );
    let without_it = "let o = session \"One\"\noutput a = session \"Two {o}\"\n";
    check_edited(
        without_it,
        &["--from", "3", "--set", "o=B"],
        expect![[r#"
        status: 2
        ---- stderr
        error: `o` cannot be set: the statement at line 3 (s2) of run EARLIER is not in the edited program, or not in the same body
    "#]],
    );
}

#[test]
fn a_variable_that_is_not_set_is_reported() {
    let not_reached = GO_ON.replace("let a", "throw \"no\"\nlet a");
    check_edited(
        &not_reached,
        &["--from", "3", "--set", "o=B"],
        expect![[r#"
            status: 1
            ---- stderr
            warning: `o` was not set as requested, because the statement at s3 was not executed
            error: the program failed at line 2: no
            help: fix the program, then run `prose resume NEW --accept-changes`
        "#]],
    );
}

#[test]
fn a_reply_is_changed_also_where_its_session_has_moved_or_asks_something_else() {
    let edited =
        format!("session \"New\"\n{GO_ON}").replace("Two", "Twice").replace("Three {o}", "Three {a}");
    check_edited(
        &edited,
        &["--reply", "2=B"],
        expect![[r#"
        status: 0
        c: three B
        ---- stderr
        warning: line 3: the reply was given by ada on the command line, not by an agent
    "#]],
    );
    let ambiguous = format!("session \"New\"\n{GO_ON}").replace("\"One\"", "\"Another one\"");
    check_edited(
        &ambiguous,
        &["--reply", "1=B"],
        expect![[r#"
        status: 2
        ---- stderr
        error: the reply of the session at s0/1 cannot be replaced: the statement at line 1 (s0/1) of run EARLIER is not in the edited program, or not in the same body
    "#]],
    );
}

/// A workspace with a run of a program whose condition is not met, and its id.
fn run_of(program: &str) -> (Workspace, String) {
    let workspace = Workspace::new(&[("main.prose", program)]);
    workspace.prose(&["run", "main.prose", "--harness", "offline", "--quiet"]);
    let id = last(&workspace);
    (workspace, id)
}

#[track_caller]
fn check_fork(program: &str, arguments: &[&str], expected: Expect) {
    let (workspace, id) = run_of(program);
    let fixed = ["runs", "fork", &id, "--harness", "offline", "--quiet"];
    check(&workspace.prose(&[&fixed, arguments].concat()), &id, expected);
}

#[test]
fn a_line_that_was_not_executed_is_no_point() {
    let program = "let a = \"no\"\nif a == \"yes\":\n  session \"A\"\n    context: a\n\n  session \"B\"\nelse:\n  output b = \"b\"\nsession \"C\"\n  model: opus\n";
    check_fork(
        program,
        &["--from", "3"],
        expect![[r#"
        status: 2
        ---- stderr
        error: line 3 was not executed in run EARLIER; lines 2 and 8 were
    "#]],
    );
    check_fork(
        program,
        &["--from", "4"],
        expect![[r#"
        status: 2
        ---- stderr
        error: line 4 was not executed in run EARLIER; lines 2 and 8 were
    "#]],
    );
    check_fork(
        program,
        &["--from", "10"],
        expect![[r#"
        status: 0
        b: b
        ---- stderr
    "#]],
    );
    check_fork(
        program,
        &["--from", "90"],
        expect![[r#"
        status: 2
        ---- stderr
        error: line 90 was not executed in run EARLIER; line 9 was
    "#]],
    );
}

#[test]
fn parameters_are_set_and_names_of_bodies_are_not() {
    let program = "block greet(name):\n  output hello = \"Hello {name}\"\noutput first = do greet(\"Ada\")\nfor item in [\"a\", \"b\"]:\n  do greet(item)\noutput end = do greet(\"Eve\")\n";
    check_fork(
        program,
        &["--from", "2", "--set", "name=Bo"],
        expect![[r#"
            status: 0
            first: Hello Bo
            end: Hello Eve
            ---- stderr
        "#]],
    );
    check_fork(
        program,
        &["--from", "5", "--set", "item=c"],
        expect![[r#"
            status: 2
            ---- stderr
            error: `item` cannot be set: it is the item of the loop at line 4, which gives it its value; set what that line uses, from line 4 on
        "#]],
    );
    check_fork(
        program,
        &["--from", "6", "--set", "item=c"],
        expect![[r#"
        status: 2
        ---- stderr
        error: `item` has no value before the point in run EARLIER
    "#]],
    );
    check_fork(
        program,
        &["--from", "6", "--set", "name=c"],
        expect![[r#"
        status: 2
        ---- stderr
        error: `name` has no value before the point in run EARLIER
    "#]],
    );
}

#[test]
fn two_values_for_one_thing_are_refused() {
    let program = "let a = session \"One\"\noutput b = session \"Two {a}\"\n";
    check_fork(
        program,
        &["--reply", "1=x", "--reply", "s0=y"],
        expect![[r#"
        status: 2
        ---- stderr
        error: the reply of the session at s0/1 is replaced twice; pass one reply
    "#]],
    );
    check_fork(
        program,
        &["--from", "2", "--set", "a=x", "--set", "a=y"],
        expect![[r#"
        status: 2
        ---- stderr
        error: `a` is set twice; pass one value
    "#]],
    );
}

const CALLS: &str =
    "block work(x):\n  let d = session \"Do {x}\"\n  session \"Check {d}\"\ndo work(\"a\")\ndo work(\"b\")\n";

/// The labels of the requests of the last run, after a run of [`CALLS`] was forked with one more call before the others, by these arguments about a place
/// of the session `Do b`.
fn checked_in_edited_calls(arguments: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let edited = CALLS.replace("do work(\"a\")", "do work(\"new\")\ndo work(\"a\")");
    let workspace = Workspace::new(&[("main.prose", CALLS), ("edited.prose", &edited)]);
    workspace.prose(&["run", "main.prose", "-q", "--harness", "offline"]).ended(0);
    let requests = |workspace: &Workspace| -> Vec<serde_json::Value> {
        let shown = workspace.prose(&["runs", "show", "--json"]).stdout;
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        shown["requests"].as_array().unwrap().clone()
    };
    let place =
        requests(&workspace).into_iter().find(|request| request["label"] == "Do b").unwrap()["place"].clone();
    let place = place.as_str().unwrap();
    assert!(place.contains("/f2/"), "{place}");
    let of_fork = ["--program", "edited.prose", "--harness", "offline", "-q"].map(str::to_owned);
    let last = last(&workspace);
    let fork = ["runs", "fork", &last].map(str::to_owned).into_iter().chain(arguments(place)).chain(of_fork);
    let fork: Vec<String> = fork.collect();
    workspace.prose(&fork.iter().map(String::as_str).collect::<Vec<_>>()).ended(0);
    let labels =
        requests(&workspace).into_iter().map(|request| request["label"].as_str().unwrap().to_owned());
    labels.filter(|label| label.starts_with("Check") && label.len() < 20).collect()
}

#[test]
fn a_changed_reply_follows_its_call_in_an_edited_program() {
    let checked = checked_in_edited_calls(|place| vec!["--reply".into(), format!("{place}=by hand")]);
    assert_eq!(checked, ["Check by hand"]);
}

#[test]
fn a_variable_that_is_set_follows_its_call_in_an_edited_program() {
    let checked = checked_in_edited_calls(|place| {
        let check = place.replace("/f2/1/2", "/f2/3");
        vec!["--from".into(), check, "--set".into(), "d=set by hand".into()]
    });
    assert_eq!(checked, ["Check set by hand"]);
}

#[test]
fn a_fork_of_a_changed_program_says_how_to_fork_with_the_text_that_it_had() {
    let main = "use \"./lib.prose\" as lib\nlet found = lib()\nsession \"Use {found}\"\n";
    let workspace = Workspace::new(&[("flows/main.prose", main), ("flows/lib.prose", "output all = 1\n")]);
    workspace.prose(&["run", "flows/main.prose", "-q"]).ended(0);
    let id = last(&workspace);
    workspace.write("flows/main.prose", main.replace("Use", "Use all of").as_bytes());
    check(
        &workspace.prose(&["runs", "fork", &id, "--from", "3", "-q"]),
        &id,
        expect![[r#"
            status: 2
            ---- stderr
            error: the program `flows/main.prose` has changed since run EARLIER; fork with it as it is now by `--program flows/main.prose`, or copy `.prose/runs/EARLIER/program.prose` into its folder under another name, since it imports `./lib.prose`, and fork with that copy
        "#]],
    );
    std::fs::copy(workspace.run_folder().join("program.prose"), workspace.path("flows/before.prose"))
        .unwrap();
    let fork = ["runs", "fork", &id, "--from", "3", "-q", "--program", "flows/before.prose"];
    workspace.prose(&fork).ended(0);
}

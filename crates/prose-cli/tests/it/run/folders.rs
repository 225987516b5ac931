//! Folders of runs that are damaged, locked, in the way or cannot be written.

use std::fs;

use expect_test::expect;

use crate::common::Workspace;
use crate::run::TWO;

fn stopped() -> Workspace {
    let workspace = Workspace::new(&[("two.prose", TWO)]);
    workspace.prose(&["run", "two.prose", "--max-sessions", "1"]).ended(3);
    workspace
}

/// Changes a line of the journal, counted from 0.
fn change_line(workspace: &Workspace, number: usize, from: &str, to: &str) {
    let path = workspace.run_folder().join("journal.jsonl");
    let journal = fs::read_to_string(&path).expect("there is a journal");
    let mut lines: Vec<String> = journal.lines().map(str::to_owned).collect();
    let changed = lines[number].replacen(from, to, 1);
    assert_ne!(changed, lines[number]);
    lines[number] = changed;
    fs::write(&path, lines.join("\n") + "\n").expect("it can be written");
}

#[test]
fn files_that_are_missing_are_made_again() {
    let workspace = stopped();
    let folder = workspace.run_folder();
    fs::remove_dir_all(folder.join("bindings")).expect("they are there");
    fs::remove_file(folder.join("state.md")).expect("it is there");
    fs::remove_file(folder.join("program.prose")).expect("it is there");
    workspace.prose(&["resume", "--max-sessions", "9", "-q"]).ended(0);
    assert!(folder.join("bindings/a.md").exists() && folder.join("state.md").exists());
}

#[test]
fn a_damaged_line_costs_that_line() {
    let workspace = stopped();
    change_line(&workspace, 6, ":", ";");
    workspace.check(&["runs", "tail", "--no-follow"], expect![[r#"
        status: 2
        ---- stdout
        [Program] Program Start
           Collecting definitions...

        [Position] Statement 1: let a = session "First"
           [Task tool call]
        [Success] Session complete: "Went through First with an eye on the details. Compared with the rest, First is..."
        ---- stderr
        error: line 7 of FOLDER/.prose/runs/ID/journal.jsonl is not a line of a journal
    "#]]);
    workspace.check(&["resume", "--max-sessions", "9"], expect![[r#"
        status: 0
        ---- stdout
        text: Went through Second with an eye on the details. Took a into account. Compared with the rest, Second is the smaller part. Nothing stands in the way of the details. [offline]
        ---- stderr
        note: line 7 of FOLDER/.prose/runs/ID/journal.jsonl is not a line of a journal. Missing results are requested again. The other lines are used; the old journal is kept in journal.kept-1.jsonl
        Run ID with offline (placeholder replies)
        … Second
        Recorded results reused; the run continues.
        the limit is 9 sessions now, set by ada on the command line
        ✓ Second (TIME)
        Reused 1 result from the earlier execution, ran 1.
        Completed: 2 sessions done, 1 reused
    "#]]);
}

#[test]
fn a_result_that_is_damaged_is_asked_again_and_those_after_it_are_not() {
    let three = "let a = session \"First\"\nlet b = session \"Second\"\noutput c = session \"Third\"\n";
    let workspace = Workspace::new(&[("three.prose", three)]);
    workspace.prose(&["run", "three.prose", "--max-sessions", "2"]).ended(3);
    // The reply of the first session.
    let journal = fs::read_to_string(workspace.run_folder().join("journal.jsonl")).expect("there is one");
    let line =
        journal.lines().position(|line| line.contains("\"event\":\"effect\"")).expect("it has a result");
    change_line(&workspace, line, "First", "Worst");
    workspace.check(&["resume", "--max-sessions", "9"], expect![[r#"
        status: 0
        ---- stdout
        c: Went through Third with an eye on the details. The evidence on the rest is mixed, so Third deserves a second look. Compared with the rest, Third is the smaller part. As far as Third goes, this can go ahead as planned. [offline]
        ---- stderr
        note: line 5 of FOLDER/.prose/runs/ID/journal.jsonl was changed or belongs to another run: its checksum does not match. 1 result is lost: 1 session (line 1) is requested again. The other lines are used; the old journal is kept in journal.kept-1.jsonl
        Run ID with offline (placeholder replies)
        … First
        Recorded results reused; the run continues.
        the limit is 9 sessions now, set by ada on the command line
        ✓ First (TIME)
        … Second
        ✓ Second (TIME)
        … Third
        ✓ Third (TIME)
        Reused 1 result from the earlier execution, ran 2.
        Completed: 3 sessions done
    "#]]);
}

#[test]
fn a_head_that_is_lost_costs_the_settings_and_no_session() {
    let asking =
        "input topic: \"What about\"\nlet a = session \"First on {topic}\"\noutput b = session \"Second\"\n";
    let workspace = Workspace::new(&[("asking.prose", asking)]);
    workspace.prose(&["run", "asking.prose", "--input", "topic=tides", "--max-sessions", "1"]).ended(3);
    change_line(&workspace, 0, "offline", "onlinee");
    workspace.prints(
        &["runs", "list"],
        expect!["ID  damaged      asking.prose  line 1 of FOLDER/.prose/runs/ID/journal.jsonl was changed or belongs to another run: its checksum does not match"],
    );
    workspace.check(&["resume"], expect![[r#"
        status: 0
        ---- stdout
        b: Here is what Second comes down to. Most of the work lies in the details; the rest is in good shape. Nothing stands in the way of the details. [offline]
        ---- stderr
        note: line 1 of FOLDER/.prose/runs/ID/journal.jsonl was changed or belongs to another run: its checksum does not match. No result is lost. The settings of the run are lost; those of the project and of the command line are used. The other lines are used; the old journal is kept in journal.kept-1.jsonl
        Run ID with offline (placeholder replies)
        … First on tides
        ✓ First on tides (TIME)
        … Second
        Recorded results reused; the run continues.
        ✓ Second (TIME)
        Reused 1 result from the earlier execution, ran 1.
        Completed: 2 sessions done
    "#]]);
}

#[test]
fn a_later_version_is_left_alone() {
    let workspace = stopped();
    // Its lines need not have the form of this one's.
    let path = workspace.run_folder().join("journal.jsonl");
    let text = fs::read_to_string(&path).expect("there is a journal").replace("{\"crc\":", "{\"sum\":");
    fs::write(&path, text.replace("\"version\":2", "\"version\":99")).expect("it can be written");
    let journal = fs::read(workspace.run_folder().join("journal.jsonl")).expect("there is one");
    workspace.refuses(
        &["resume"],
        expect!["FOLDER/.prose/runs/ID/journal.jsonl has version 99, but this `prose` supports versions up to 2; use the `prose` that wrote it, or a newer one"],
    );
    workspace.check(&["runs", "show"], expect![[r#"
        status: 0
        ---- stdout
        ID  newer
        started:  TIME
        error:    FOLDER/.prose/runs/ID/journal.jsonl has version 99, but this `prose` supports versions up to 2; use the `prose` that wrote it, or a newer one
        folder:   FOLDER/.prose/runs/ID

        bindings
          let    a (227 bytes)
    "#]]);
    assert_eq!(fs::read(workspace.run_folder().join("journal.jsonl")).expect("there is one"), journal);
}

#[test]
fn a_run_of_which_next_to_nothing_is_left() {
    let workspace = stopped();
    let folder = workspace.run_folder();
    for file in ["journal.jsonl", "state.md", "program.prose"] {
        fs::remove_file(folder.join(file)).expect("it is there");
    }
    workspace.refuses(
        &["resume"],
        expect!["the program of run ID does not exist any more, and its copy `FOLDER/.prose/runs/ID/program.prose` does not exist; restore the program to resume the run"],
    );
    workspace.prose(&["runs", "list"]).ended(0);
    fs::remove_dir_all(folder.join("bindings")).expect("they are there");
    workspace.check(
        &["runs", "show"],
        expect![[r#"
        status: 0
        ---- stdout
        ID  damaged
        started:  TIME
        error:    FOLDER/.prose/runs/ID has neither a journal nor state.md; delete the folder
        folder:   FOLDER/.prose/runs/ID
    "#]],
    );
    workspace.refuses(
        &["resume"],
        expect!["run ID was stopped before it started, so there is nothing to resume; start a new run with `prose run`"],
    );
    workspace.prints(&["runs", "rm", "2"], expect!["removed ID"]);
    workspace.check(
        &["runs", "list"],
        expect![[r#"
            status: 0
            ---- stderr
            There are no runs in FOLDER/.prose/runs.
        "#]],
    );
}

#[test]
fn only_runs_are_removed() {
    let workspace = stopped();
    for name in ["", "..", "../..", "/", "nope", "*"] {
        assert_eq!(workspace.prose(&["runs", "rm", name]).status, 2, "{name}");
    }
    workspace.run_folder();
    assert!(workspace.path("two.prose").exists());
}

#[test]
fn a_file_in_the_place_of_the_folder() {
    let workspace = Workspace::new(&[("two.prose", TWO), (".prose", "")]);
    workspace
        .refuses(&["run", "two.prose"], expect!["cannot open FOLDER/.prose: Not a directory (os error 20)"]);
    workspace.check(
        &["runs", "list"],
        expect![[r#"
            status: 0
            ---- stderr
            There are no runs in FOLDER/.prose/runs.
        "#]],
    );
    workspace.prose(&["run", "two.prose", "--state", "in-context"]).ended(0);
}

#[test]
fn runs_at_the_same_time_do_not_meet() {
    let workspace = Workspace::new(&[("two.prose", TWO)]);
    let children: Vec<_> = (0..6)
        .map(|_| workspace.command().args(["run", "two.prose", "-q"]).spawn().expect("the binary starts"))
        .collect();
    for mut child in children {
        assert_eq!(child.wait().expect("it ends").code(), Some(0));
    }
    assert_eq!(workspace.runs().len(), 6);
}

#[test]
fn a_journal_that_is_empty_is_told() {
    let workspace = stopped();
    fs::write(workspace.run_folder().join("journal.jsonl"), "").expect("it can be written");
    let run = workspace.prose(&["resume"]).ended(0);
    assert!(run.stderr.contains("journal.jsonl is empty, so all sessions run again"), "{run:?}");
    assert!(run.stderr.contains("Reused 0 results from the earlier execution, ran 2."), "{run:?}");
}

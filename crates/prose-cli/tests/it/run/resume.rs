//! Runs that stopped go on.

use expect_test::expect;

use crate::common::{Run, Workspace};
use crate::run::{ANSWERS, TWO};

const FIVE: &str = r#"let a = session "One"
let b = session "Two"
parallel:
  c = session "Three"
  d = session "Four"
output text = session "Five"
  context: [a, b, c, d]
"#;

/// Stopped when so many sessions have been started.
fn stopped(sessions: &str) -> Workspace {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    workspace.prose(&["run", "five.prose", "--max-sessions", sessions]).ended(3);
    workspace
}

#[test]
fn what_is_done_is_not_done_again() {
    let workspace = stopped("2");
    workspace.check(&["resume", "--max-sessions", "9"], expect![[r#"
        status: 0
        ---- stdout
        text: Here is what Five comes down to. Took a, b, c, d into account. Compared with the rest, Five is the smaller part. The evidence on the rest is mixed, so Five deserves a second look. As far as Five goes, this can go ahead as planned. [offline]
        ---- stderr
        Run ID with offline (placeholder replies)
        …   Three
        …   Four
        Recorded results reused; the run continues.
        the limit is 9 sessions now, set by ada on the command line
        ✓   Three (TIME)
        ✓   Four (TIME)
        … Five
        ✓ Five (TIME)
        Reused 2 results from the earlier execution, ran 3.
        Completed: 5 sessions done, 2 reused
    "#]]);
    workspace.refuses(
        &["resume", "--max-sessions", "9"],
        expect!["run ID has already completed; start a new run with `prose run`, or change the program and run `prose resume ID --accept-changes` to reuse the results of all unchanged sessions"],
    );
}

#[test]
fn a_run_may_stop_before_its_first_session_and_several_times() {
    let workspace = stopped("0");
    workspace.check(
        &["resume", "--max-sessions", "1"],
        expect![[r#"
            status: 3
            ---- stderr
            Run ID with offline (placeholder replies)
            … One
            Recorded results reused; the run continues.
            the limit is 1 session now, set by ada on the command line
            ✓ One (TIME)
            … Two
            Reused 0 results from the earlier execution, ran 1.
            Stopped: 1 session done, 1 not asked
            stopped: the limit of 1 session is reached (`--max-sessions`)
            help: continue it with a higher limit: `prose resume ID --max-sessions N`; recorded results are reused
        "#]],
    );
    let run = workspace.prose(&["resume", "--max-sessions", "9", "-q"]);
    let whole = workspace.prose(&["run", "five.prose", "-q"]);
    assert_eq!((run.status, run.stdout), (0, whole.stdout));
}

#[test]
fn a_session_that_is_asked_once_more_takes_as_long_as_it_takes_now() {
    let workspace = stopped("0");
    let run = workspace.prose(&["resume", "--max-sessions", "1", "--delay", "300ms"]);
    let line = run.stderr.lines().find(|line| line.starts_with("✓ One (")).expect("it has ended");
    let took = line.trim_start_matches("✓ One (").trim_end_matches(')');
    let seconds: f64 = took.strip_suffix(" s").and_then(|took| took.parse().ok()).expect("it is a duration");
    assert!(seconds >= 0.3, "{line}");
}

#[test]
fn it_stops_when_its_time_is_over() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    let run = workspace.prose(&["run", "five.prose", "-q", "--delay", "1h", "--timeout", "50ms"]);
    workspace.shows(
        run,
        &expect![[r#"
            status: 3
            ---- stderr
            stopped: timed out (`--timeout`)
            help: resume it with `prose resume ID`; recorded results are reused
        "#]],
    );
}

#[test]
fn a_changed_program_is_refused_with_the_first_difference_unless_changes_are_accepted() {
    let workspace = stopped("2");
    workspace.write("five.prose", FIVE.replace("Two", "Zwei").as_bytes());
    workspace.refuses(
        &["resume", "--max-sessions", "9"],
        expect![[r#"the program has changed since run ID was started: line 2 was `let b = session "Two"` and is `let b = session "Zwei"`; undo the change, or pass `--accept-changes` to reuse the results of all unchanged sessions"#]],
    );
    workspace.check(&["resume", "--max-sessions", "9", "--accept-changes"], expect![[r#"
        status: 0
        ---- stdout
        text: Here is what Five comes down to. Took a, b, c, d into account. Compared with the rest, Five is the smaller part. The evidence on the rest is mixed, so Five deserves a second look. As far as Five goes, this can go ahead as planned. [offline]
        ---- stderr
        Run ID with offline (placeholder replies)
        … One
        ✓ One (TIME)
        … Zwei
        Recorded results reused; the run continues.
        the limit is 9 sessions now, set by ada on the command line
        ✓ Zwei (TIME)
        parallel: 2 branches, all
        …   Three
        …   Four
        ✓   Three (TIME)
        ✓   Four (TIME)
        … Five
        ✓ Five (TIME)
        Reused 1 result from the earlier execution, ran 4.
        Completed: 5 sessions done, 1 reused
    "#]]);
}

#[test]
fn a_changed_import_is_a_change() {
    let workspace = Workspace::new(&[
        (
            "main.prose",
            "use \"./inner.prose\" as inner\nlet a = session \"One\"\nlet b = inner()\noutput text = session \"Two\"\n  context: [a, b]\n",
        ),
        ("inner.prose", "output o = session \"Inside\"\n"),
    ]);
    workspace.prose(&["run", "main.prose", "--max-sessions", "1"]);
    workspace.write("inner.prose", b"output o = session \"Elsewhere\"\n");
    workspace.refuses(
        &["resume", "--max-sessions", "9", "-q"],
        expect!["the program has changed since run ID was started: the imported program `./inner.prose` differs; undo the change, or pass `--accept-changes` to reuse the results of all unchanged sessions"],
    );
    std::fs::remove_file(workspace.path("inner.prose")).expect("it is there");
    workspace.prose(&["resume", "--max-sessions", "9", "-q"]).ended(2);
    workspace.write("inner.prose", b"output o = session \"Inside\"\n");
    workspace.prose(&["resume", "--max-sessions", "9", "-q"]).ended(0);
}

#[test]
fn an_input_that_a_run_was_started_with_stays() {
    let workspace = Workspace::new(&[("in.prose", "input topic: \"What about\"\nsession \"On {topic}\"\n")]);
    workspace.prose(&["run", "in.prose", "-i", "topic=tides", "--max-sessions", "0"]);
    workspace.refuses(
        &["resume", "-i", "topic=winds"],
        expect![
            "input `topic` of a resumed run cannot be changed; remove it, or start a new run with `prose run`"
        ],
    );
}

#[test]
fn a_run_that_lacked_an_answer_goes_on_with_another_script() {
    let answer = |label: &str| format!("[[session]]\nlabel = \"{label}\"\nreply = \"x\"\n");
    let workspace = Workspace::new(&[
        ("two.prose", "session \"First\"\nsession \"Second\"\n"),
        ("answers.toml", &answer("First")),
    ]);
    workspace.check(
        &["run", "two.prose", "--script", "answers.toml"],
        expect![[r#"
            status: 1
            ---- stderr
            Run ID with script
            … First
            ✓ First (TIME)
            … Second
            ✗ Second (TIME): answers.toml has no reply for this session: place: s1
            Failed: 1 session done, 1 failed
            error: the program failed at line 2: answers.toml has no reply for this session:
              place: s1
              label: Second
            Add an entry such as this one, or set `unmatched = "offline"` at the top for generated replies:

            [[session]]
            label = "Second"
            reply = "…"
            help: its prompt is in `.prose/runs/ID/prompts/anon_002.md`
            help: resume it with `prose resume ID`; recorded results are reused
        "#]],
    );
    workspace.write("more.toml", answer("Second").as_bytes());
    workspace.prose(&["resume", "-q", "--script", "more.toml"]).ended(0);
}

#[test]
fn a_run_remembers_its_script() {
    let workspace =
        Workspace::new(&[("prose.toml", ""), ("flows/two.prose", TWO), ("flows/answers.toml", ANSWERS)]);
    let mut command = workspace.command();
    command.current_dir(workspace.path("flows"));
    command.args(["run", "two.prose", "-q", "--script", "answers.toml", "--max-sessions", "1"]);
    assert_eq!(command.status().expect("the binary starts").code(), Some(3));
    let shown = || workspace.masked(&workspace.prose(&["runs", "show"]).stdout);
    let before = shown();
    assert!(before.contains("script:   FOLDER/flows/answers.toml\n"), "{before}");

    std::fs::rename(workspace.path("flows/answers.toml"), workspace.path("flows/put-away.toml"))
        .expect("it is there");
    workspace.refuses(
        &["resume", "--max-sessions", "9"],
        expect!["run ID uses the script `answers.toml`, but `FOLDER/flows/answers.toml` does not exist; restore it, or pass another script with `--script FILE.toml`"],
    );
    assert_eq!(shown(), before, "the run that was refused is another one");
    workspace.check(
        &["resume", "--script", "flows/put-away.toml", "--max-sessions", "0"],
        expect![[r#"
            status: 3
            ---- stderr
            Run ID with script
            … Second
            Recorded results reused; the run continues.
            the limit is 0 sessions now, set by ada on the command line
            Reused 1 result from the earlier execution, ran 0.
            Stopped: 1 session done, 1 not asked, 1 reused
            stopped: the limit of 0 sessions is reached (`--max-sessions`)
            help: continue it with a higher limit: `prose resume ID --max-sessions N`; recorded results are reused
        "#]],
    );
    std::fs::rename(workspace.path("flows/put-away.toml"), workspace.path("flows/answers.toml"))
        .expect("it is there");
    workspace.check(
        &["resume", "--max-sessions", "9"],
        expect![[r#"
            status: 0
            ---- stdout
            text: two
            ---- stderr
            Run ID with script
            … Second
            Recorded results reused; the run continues.
            the limit is 9 sessions now, set by ada on the command line
            ✓ Second (TIME)
            Reused 1 result from the earlier execution, ran 1.
            Completed: 2 sessions done, 1 reused
        "#]],
    );
}

#[test]
fn the_script_of_a_run_moves_with_its_project() {
    let workspace = Workspace::new(&[("before/two.prose", TWO), ("before/answers.toml", ANSWERS)]);
    let prose = |folder: &str, arguments: &[&str]| {
        let mut command = workspace.command();
        Run::of(command.current_dir(workspace.path(folder)).args(arguments))
    };
    prose("before", &["run", "two.prose", "--script", "answers.toml", "--max-sessions", "1"]);
    std::fs::rename(workspace.path("before"), workspace.path("after")).expect("it is there");
    let run = prose("after", &["resume", "--max-sessions", "9", "-q"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, "text: two\n"), "{run:?}");
}

#[test]
fn a_run_with_a_script_goes_on_with_another_harness_if_that_is_wanted() {
    let workspace = Workspace::new(&[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    workspace.prose(&["run", "two.prose", "--script", "answers.toml", "--max-sessions", "1"]);
    std::fs::remove_file(workspace.path("answers.toml")).expect("it is there");
    workspace.prose(&["resume", "--max-sessions", "9", "--harness", "offline"]).ended(0);
}

#[test]
fn a_run_is_found_from_below_the_folder_of_the_project() {
    let workspace = Workspace::new(&[("prose.toml", ""), ("flows/five.prose", FIVE), ("flows/deep/x", "")]);
    let mut command = workspace.command();
    command.current_dir(workspace.path("flows")).args(["run", "five.prose", "--max-sessions", "2"]);
    assert_eq!(command.status().expect("the binary starts").code(), Some(3));
    let mut command = workspace.command();
    command.current_dir(workspace.path("flows/deep")).args(["resume", "--max-sessions", "9", "-q"]);
    assert_eq!(command.status().expect("the binary starts").code(), Some(0));
    workspace.run_folder();
}

#[test]
fn a_program_that_is_gone_is_taken_from_the_run() {
    let workspace = stopped("2");
    std::fs::remove_file(workspace.path("five.prose")).expect("it is there");
    workspace.check(&["resume", "--max-sessions", "9"], expect![[r#"
        status: 0
        ---- stdout
        text: Here is what Five comes down to. Took a, b, c, d into account. Compared with the rest, Five is the smaller part. The evidence on the rest is mixed, so Five deserves a second look. As far as Five goes, this can go ahead as planned. [offline]
        ---- stderr
        note: program `FOLDER/five.prose` does not exist any more; the run is resumed with its stored copy
        Run ID with offline (placeholder replies)
        …   Three
        …   Four
        Recorded results reused; the run continues.
        the limit is 9 sessions now, set by ada on the command line
        ✓   Three (TIME)
        ✓   Four (TIME)
        … Five
        ✓ Five (TIME)
        Reused 2 results from the earlier execution, ran 3.
        Completed: 5 sessions done, 2 reused
    "#]]);
}

#[test]
fn there_may_be_no_run_or_no_such_run() {
    let workspace = Workspace::new(&[]);
    workspace
        .refuses(&["resume"], expect!["there are no runs in FOLDER/.prose/runs; start one with `prose run`"]);
    let workspace = stopped("2");
    workspace.refuses(
        &["resume", "1999"],
        expect!["run `1999` does not exist in FOLDER/.prose/runs; list the runs with `prose runs list`"],
    );
    workspace.refuses(&["resume", ""], expect!["the run id is empty; list the runs with `prose runs list`"]);
    workspace.refuses(
        &["resume", "../.."],
        expect!["run `../..` does not exist in FOLDER/.prose/runs; list the runs with `prose runs list`"],
    );
}

#[test]
fn a_run_of_another_machine_goes_on() {
    let workspace = Workspace::new(&[("shared.prose", "output o = session \"Inside\"\n")]);
    let program = "use \"./shared.prose\" as shared\nlet research = session \"Research\"\nlet more = shared()\noutput text = session \"Write\"\n  context: [research, more]\n";
    let run = ".prose/runs/20260115-143052-a7b3c9";
    workspace.write("report.prose", program.as_bytes());
    workspace.write(&format!("{run}/program.prose"), program.as_bytes());
    let state = r#"# Execution State

run: 20260115-143052-a7b3c9
program: report.prose
started: 2026-01-15T14:30:52Z
updated: 2026-01-15T14:35:22Z

## Execution Trace

```prose
let research = session "Research"  # --> bindings/research.md
let more = shared()                # <-- EXECUTING
```
"#;
    workspace.write(&format!("{run}/state.md"), state.as_bytes());
    let binding = "# research\n\nkind: let\n\nsource:\n```prose\nlet research = session \"Research\"\n```\n\n---\n\nTides come and go.\n";
    workspace.write(&format!("{run}/bindings/research.md"), binding.as_bytes());
    workspace.check(
        &["runs", "show"],
        expect![[r#"
            status: 0
            ---- stdout
            ID  foreign
            started:  TIME
            took:     4 m 30 s
            folder:   FOLDER/.prose/runs/ID

            bindings
              let    research (103 bytes)

            Resume it with `prose resume ID`.
        "#]],
    );
    workspace.refuses(
        &["runs", "tail"],
        expect!["run ID has no journal to narrate, since it comes from another implementation; its state is in state.md in FOLDER/.prose/runs/ID"],
    );
    workspace.check(&["resume"], expect![[r#"
        status: 0
        ---- stdout
        text: Here is what the task comes down to. Took research, more into account. What matters most is the details, and the rest follows from it. Compared with the rest, the task is the smaller part. As far as the task goes, this can go ahead as planned. [offline]
        ---- stderr
        note: the run has no journal, so it comes from another implementation; it is resumed from state.md and 1 file of bindings
        Run ID with offline (placeholder replies)
        … Research
        ✓ Research (TIME)
        program shared
        …   Inside
        Recorded results reused; the run continues.
        ✓   Inside (TIME)
        … Write
        ✓ Write (TIME)
        Reused 1 result from the earlier execution, ran 2.
        Completed: 3 sessions done
    "#]]);
}

/// A run that another machine has made of a program that imports one next to it.
fn made_elsewhere(name: &str, files: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new(files);
    let run = ".prose/runs/20260115-143052-a7b3c9";
    workspace.write(&format!("{run}/program.prose"), IMPORTS.as_bytes());
    let state = format!(
        "# Execution State\n\nprogram: {name}\n\n## Execution Trace\n\n```prose\nlet research = session \"Research\"  # --> bindings/research.md\n```\n"
    );
    workspace.write(&format!("{run}/state.md"), state.as_bytes());
    workspace.write(&format!("{run}/bindings/research.md"), b"Tides come and go.\n");
    workspace
}

const IMPORTS: &str =
    "use \"./shared.prose\" as shared\nlet research = session \"Research\"\noutput text = shared()\n";
const SHARED: &str = "output o = session \"Inside\"\n";

#[test]
fn imports_of_a_run_of_another_machine_lie_next_to_its_program() {
    // A machine may say what its program is called and not where it lies.
    for name in ["flows/report.prose", "report.prose"] {
        let files = [
            ("flows/report.prose", IMPORTS),
            ("flows/shared.prose", SHARED),
            ("report.prose", "session \"x\"\n"),
        ];
        let run = made_elsewhere(name, &files).prose(&["resume", "-q"]);
        assert_eq!(run.status, 0, "{name}: {run:?}");
    }
    let next_to_the_copy = [(".prose/runs/20260115-143052-a7b3c9/shared.prose", SHARED)];
    made_elsewhere("report.prose", &next_to_the_copy).prose(&["resume", "-q"]).ended(0);
}

#[test]
fn imports_of_a_run_of_another_machine_that_cannot_be_found_say_why() {
    made_elsewhere("report.prose", &[("shared.prose", SHARED)]).refuses(
        &["resume"],
        expect!["the program of the run ID imports `./shared.prose`, which is looked for next to the program, and no program `report.prose` with the text of `FOLDER/.prose/runs/ID/program.prose` is in FOLDER; put it back, or name its path from there on the line `program:` of `FOLDER/.prose/runs/ID/state.md`"],
    );
    // Nothing outside of the project is looked at.
    for name in ["../report.prose", "/etc/report.prose"] {
        let run = made_elsewhere(name, &[]).prose(&["resume"]).ended(2);
        assert!(!run.stderr.contains(name), "{run:?}");
    }
    let changed = IMPORTS.replace("Research", "Look around");
    let workspace = made_elsewhere("report.prose", &[("report.prose", &changed), ("shared.prose", SHARED)]);
    workspace.refuses(
        &["resume"],
        expect!["the program `FOLDER/report.prose` has changed since the run ID was started, and `./shared.prose`, which it imports, is looked for next to it; undo the change, or use `--accept-changes` to continue with the program as it is"],
    );
    workspace.prose(&["resume", "--accept-changes", "-q"]).ended(0);
}

#[test]
fn the_state_system_has_two_names() {
    let workspace = Workspace::new(&[("two.prose", TWO), ("answers.toml", ANSWERS)]);
    for backend in ["in-context", "in-context+"] {
        let run = workspace.prose(&["run", "two.prose", "--backend", backend, "--script", "answers.toml"]);
        assert!(run.status == 0 && run.stdout.contains("State mode: in-context"), "{run:?}");
    }
    let run =
        workspace.prose(&["run", "two.prose", "--backend", "sqlite+", "--script", "answers.toml", "-q"]);
    assert!(run.status == 0 && run.stderr.is_empty(), "{run:?}");
}

/// What is asked the same is kept; the session that has changed and what depends on it run again.
#[test]
fn an_ended_run_goes_on_from_a_change() {
    let workspace = Workspace::new(&[("two.prose", TWO)]);
    workspace.prose(&["run", "two.prose", "-q"]).ended(0);
    workspace.refuses(
        &["resume", "--accept-changes"],
        expect!["run ID has already completed, and its program has not changed; start a new run with `prose run`, or change the program: changed sessions run again, with everything that depends on them"],
    );
    workspace.write("two.prose", TWO.replace("Second", "Another").as_bytes());
    workspace.check(&["resume", "--accept-changes"], expect![[r#"
        status: 0
        ---- stdout
        text: Looked into the task and the details. Took a into account. What matters most is the details, and the rest follows from it. As far as the task goes, this can go ahead as planned. [offline]
        ---- stderr
        Run ID with offline (placeholder replies)
        … First
        ✓ First (TIME)
        … Another
        Recorded results reused; the run continues.
        ✓ Another (TIME)
        Reused 1 result from the earlier execution, ran 1.
        Completed: 2 sessions done, 1 reused
    "#]]);
}

#[test]
fn an_entry_of_a_script_that_made_the_run_fail_is_used_up() {
    let answers = "[[session]]\nlabel = \"Deploy\"\ntimes = 1\nfail = \"connection lost\"\n[[session]]\nlabel = \"Deploy\"\nreply = \"Deployed.\"\n[[condition]]\ntimes = 1\nfail = \"no idea\"\n[[condition]]\nmet = true\n[[session]]\nlabel = \"End\"\nreply = [\"First end.\"]\n";
    let program = "session \"Deploy\"\nif **it works**:\n  output end = session \"End\"\n";
    let workspace = Workspace::new(&[("main.prose", program), ("answers.toml", answers)]);
    let failed = workspace.prose(&["run", "main.prose", "--script", "answers.toml", "--quiet"]).ended(1);
    assert!(failed.stderr.contains("connection lost"), "{}", failed.stderr);
    let failed = workspace.prose(&["resume", "--quiet"]).ended(1);
    assert!(failed.stderr.contains("no idea"), "{}", failed.stderr);
    assert_eq!(workspace.prose(&["resume", "--quiet"]).ended(0).stdout, "end: First end.\n");
}

#[test]
fn an_edited_script_has_its_entries_when_a_run_is_resumed() {
    let workspace = Workspace::new(&[
        ("main.prose", "session \"First\"\noutput end = session \"Deploy\"\n"),
        ("answers.toml", "[[session]]\norder = 1\nreply = \"one\"\n"),
    ]);
    workspace.prose(&["run", "main.prose", "--script", "answers.toml", "--quiet"]).ended(1);
    workspace.write(
        "answers.toml",
        b"[[session]]\norder = 1\nreply = \"one\"\n[[session]]\norder = 2\ntimes = 1\nreply = \"two\"\n",
    );
    assert_eq!(workspace.prose(&["resume", "--quiet"]).ended(0).stdout, "end: two\n");
}

#[test]
fn a_run_that_was_stopped_before_it_started_is_passed_over() {
    let workspace = stopped("2");
    // As a process leaves it that is killed while it makes the folder of a run.
    let killed = |id: &str, journal: &str, text: &[u8]| {
        workspace.write(&format!(".prose/runs/{id}/.lock"), b"");
        workspace.write(&format!(".prose/runs/{id}/{journal}"), text);
        workspace.write(&format!(".prose/runs/{id}/control.json"), b"{}");
    };
    killed("29990101-000000-aaaaaa", "journal.jsonl", b"");
    workspace.check(
        &["resume", "-q", "--max-sessions", "3"],
        expect![[r#"
        status: 3
        ---- stderr
        note: run ID was stopped before it started; the last run that started is ID
        stopped: the limit of 3 sessions is reached (`--max-sessions`)
        help: continue it with a higher limit: `prose resume ID --max-sessions N`; recorded results are reused
    "#]],
    );
    killed("29990101-000001-aaaaaa", "state.db", b"");
    killed("29990101-000002-aaaaaa", "journal.jsonl", b"{\"c\":\"0");
    killed("29990101-000003-aaaaaa", "program.prose", FIVE.as_bytes());
    std::fs::create_dir(workspace.path(".prose/runs/29990101-000000-aaaaaa/bindings"))
        .expect("it is not there");
    workspace.check(&["resume", "-q", "--max-sessions", "9"], expect![[r#"
        status: 0
        ---- stdout
        text: Here is what Five comes down to. Took a, b, c, d into account. Compared with the rest, Five is the smaller part. The evidence on the rest is mixed, so Five deserves a second look. As far as Five goes, this can go ahead as planned. [offline]
        ---- stderr
        note: 4 runs were stopped before they started; the last run that started is ID
    "#]]);
    let list = workspace.masked(&workspace.prose(&["runs", "list"]).stdout);
    let damaged: Vec<_> = list.lines().filter_map(|line| line.strip_prefix("ID  damaged")).collect();
    let shown: Vec<_> = damaged.iter().map(|line| line.trim_start()).collect();
    expect![[r#"
        ?  FOLDER/.prose/runs/ID has neither a journal nor state.md; delete the folder
        ?  it was stopped before it started; remove it with `prose runs rm ID`
        ?  it was stopped before it started; remove it with `prose runs rm ID`
        ?  it was stopped before it started; remove it with `prose runs rm ID`"#]]
    .assert_eq(&shown.join("\n"));
    // What has lost its first line was started.
    killed("29990101-000004-aaaaaa", "journal.jsonl", b"one line\n");
    workspace.check(&["resume", "-q"], expect![[r#"
        status: 2
        ---- stderr
        error: the program of run ID does not exist any more, and its copy `FOLDER/.prose/runs/ID/program.prose` does not exist; restore the program to resume the run
    "#]]);
}

#[test]
fn there_is_nothing_to_resume_where_no_run_has_started() {
    let workspace =
        Workspace::new(&[("five.prose", FIVE), (".prose/runs/29990101-000000-aaaaaa/journal.jsonl", "")]);
    workspace.check(&["resume"], expect![[r#"
        status: 2
        ---- stderr
        error: run ID was stopped before it started, so there is nothing to resume; start a new run with `prose run`
    "#]]);
    workspace.write(".prose/runs/29990101-000000-aaaaaa/program.prose", FIVE.as_bytes());
    // A run that is named is started.
    workspace.prose(&["resume", "2999", "-q"]).ended(0);
}

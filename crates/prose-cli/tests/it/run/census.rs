//! What became of a run: the block at its end, its status, and what `prose runs show` lists.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::common::{Run, Workspace};

/// A workspace with a program and a script that answers its sessions: those whose task has `fail` in it fail, and others give a result.
fn workspace(program: &str) -> Workspace {
    let script = "[[session]]\nlabel = \"flaky\"\ntimes = 1\nfail = \"connection lost\"\n\
        [[session]]\npattern = \"^fail\"\nfail = \"there is no room\"\n\
        [[session]]\npattern = \"^refused\"\nkind = \"refused\"\nfail = \"the model refused to answer\"\n\
        [[session]]\npattern = \"^slow\"\nreply = \"late\"\ndelay = \"1h\"\n\
        [[session]]\nreply = \"done\"\n\
        [[condition]]\nmet = true\n[[choice]]\nchoose = 1\n";
    Workspace::new(&[("main.prose", program), ("answers.toml", script)])
}

fn run(workspace: &Workspace, arguments: &[&str]) -> Run {
    workspace.prose(&[&["run", "main.prose", "--script", "answers.toml"], arguments].concat())
}

/// The block at the end of a run: all lines from the one that says how it ended.
fn block(run: &Run) -> String {
    let is_head = |line: &&str| ["Completed", "Failed", "Stopped"].iter().any(|how| line.starts_with(how));
    let lines: Vec<&str> = run.stderr.lines().skip_while(|line| !is_head(line)).collect();
    let ends = lines.iter().position(|line| line.starts_with("error:") || line.starts_with("stopped:"));
    lines[..ends.unwrap_or(lines.len())].join("\n") + "\n"
}

/// The census of the last run, as it is recorded.
fn census(workspace: &Workspace) -> Value {
    let shown = workspace.prose(&["runs", "show", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("it is JSON");
    assert_eq!(shown["end"]["failures"].as_u64().unwrap_or(0), shown["census"]["failureCount"], "{shown}");
    shown["census"].clone()
}

/// The block at the end, after the exit status and the status in the list.
#[track_caller]
fn check(program: &str, expected: Expect) {
    let workspace = workspace(program);
    let run = run(&workspace, &[]);
    let list = workspace.prose(&["runs", "list", "--json"]);
    let list: Value = serde_json::from_str(&list.stdout).expect("it is JSON");
    let status = list[0]["status"].as_str().expect("it has a status");
    let shown = block(&run);
    // What was seen while it ran is what is recorded.
    let recorded: Vec<Value> = census(&workspace)["lines"].as_array().expect("they are lines").clone();
    let recorded: String =
        recorded.iter().skip(1).map(|line| format!("  {}\n", line.as_str().unwrap_or_default())).collect();
    assert!(shown.ends_with(&recorded), "{shown}{recorded}");
    expected.assert_eq(&format!("{}, {status}\n{shown}", run.status));
}

#[test]
fn a_run_in_which_nothing_failed_is_completed() {
    check(
        "let a = session \"go\"\nif **it is good**:\n  choice **what is next**:\n    option \"on\":\n      session \"on\"\noutput text = session \"end\"\n",
        expect![[r#"
            0, completed
            Completed: 3 sessions done; 1 condition judged, 1 choice made
        "#]],
    );
}

#[test]
fn failed_branches_that_a_parallel_continues_or_ignores_are_listed() {
    check(
        "parallel (on-fail: \"continue\"):\n  facts = session \"find\"\n  style = session \"fail here\"\n  session \"refused here\"\noutput text = session \"end\"\n",
        expect![[r#"
            0, completed with failures
            Completed with 2 failures: 2 sessions done, 2 failed, 1 refused; 1 warning
              without a result: style (line 3)
              line 3, style: there is no room (on-fail: continue)
              line 4, session "refused here": the model refused to answer (on-fail: continue)
        "#]],
    );
    check(
        "parallel (on-fail: \"ignore\"):\n  facts = session \"find\"\n  style = session \"fail here\"\noutput text = session \"end\"\n",
        expect![[r#"
            0, completed with failures
            Completed with 1 failure: 2 sessions done, 1 failed
              without a result: style (line 3)
              line 3, style: there is no room (on-fail: ignore)
        "#]],
    );
}

#[test]
fn caught_failures_are_listed_once_where_they_are_handled_at_last() {
    check(
        "try:\n  let a = session \"fail\"\ncatch as e:\n  session \"repair\"\n",
        expect![[r#"
        0, completed with failures
        Completed with 1 failure: 1 session done, 1 failed
          without a result: a (line 2)
          line 2, session "fail": there is no room (caught)
    "#]],
    );
    check(
        "try:\n  try:\n    let a = session \"fail\"\n  catch as e:\n    throw\ncatch as e:\n  session \"repair\"\n",
        expect![[r#"
            0, completed with failures
            Completed with 1 failure: 1 session done, 1 failed
              without a result: a (line 3)
              line 3, session "fail": there is no room (caught)
        "#]],
    );
}

#[test]
fn a_result_that_a_catch_gives_is_not_missing() {
    check(
        "try:\n  let a = session \"fail\"\ncatch:\n  let a = session \"other\"\n",
        expect![[r#"
        0, completed with failures
        Completed with 1 failure: 1 session done, 1 failed
          line 2, session "fail": there is no room (caught)
    "#]],
    );
}

#[test]
fn a_retry_is_listed_unless_its_failure_is_raised_at_last() {
    check(
        "let a = session \"flaky\"\n  retry: 2\n",
        expect![[r#"
        0, completed with failures
        Completed with 1 failure: 1 session done, 1 retried
          line 1, a: connection lost (retried)
    "#]],
    );
    check(
        "parallel (on-fail: \"continue\"):\n  a = session \"fail\"\n    retry: 2\n  b = session \"go\"\n",
        expect![[r#"
            0, completed with failures
            Completed with 1 failure: 1 session done, 1 failed, 1 retried; 1 warning
              without a result: a (line 2)
              line 2, a: there is no room (on-fail: continue)
        "#]],
    );
}

#[test]
fn a_finally_that_leaves_the_try_handles_its_failure() {
    check(
        "block work():\n  try:\n    session \"fail\"\n  finally:\n    return \"enough\"\noutput text = do work()\n",
        expect![[r#"
            0, completed with failures
            Completed with 1 failure: 1 session failed
              line 3, session "fail": there is no room (left by finally)
        "#]],
    );
}

#[test]
fn what_a_race_cancels_has_no_result_and_is_no_failure() {
    check(
        "parallel (\"first\"):\n  a = session \"go\"\n  b = session \"slow\"\n",
        expect![[r#"
        0, completed
        Completed: 1 session done, 1 cancelled
          without a result: b (line 3, cancelled)
    "#]],
    );
}

#[test]
fn a_failure_that_nothing_handles_fails_the_run() {
    check(
        "try:\n  session \"fail one\"\ncatch:\n  session \"fail two\"\n",
        expect![[r#"
        1, failed
        Failed: 2 sessions failed
    "#]],
    );
}

#[test]
fn a_run_without_sessions_ends_without_a_census_and_quiet_runs_do_as_well() {
    check(
        "output text = \"done\"\n",
        expect![[r#"
        0, completed

    "#]],
    );
    let workspace = workspace("try:\n  session \"fail\"\ncatch:\n  session \"go\"\n");
    run(&workspace, &["-q"]).check(expect![[r#"
        status: 0
        ---- stdout
        done
    "#]]);
}

#[test]
fn strict_exit_turns_handled_failures_into_status_1() {
    let caught = "try:\n  session \"fail\"\ncatch:\n  session \"go\"\n";
    let status = |program: &str, arguments: &[&str]| run(&workspace(program), arguments).status;
    assert_eq!(status(caught, &["-q"]), 0);
    assert_eq!(status(caught, &["-q", "--strict-exit"]), 1);
    assert_eq!(status("session \"go\"\n", &["-q", "--strict-exit"]), 0);
    let with_setting = workspace(caught);
    with_setting.write("prose.toml", b"[run]\nstrict-exit = true\n");
    assert_eq!(run(&with_setting, &["-q"]).status, 1);
    // The run itself has come to its end.
    let resumed = with_setting.prose(&["resume", "-q"]);
    assert!(resumed.stderr.contains("has already completed"), "{resumed:?}");
}

#[test]
fn the_census_of_a_resumed_run_is_that_of_one_that_was_never_stopped_but_for_what_is_reused() {
    let program = "let a = session \"flaky\"\n  retry: 1\nparallel (on-fail: \"continue\"):\n  b = session \"fail\"\n  c = session \"go\"\n\
        try:\n  let d = session \"fail\"\ncatch:\n  session \"repair\"\noutput text = session \"end\"\n";
    let whole = workspace(program);
    assert_eq!(run(&whole, &["-q"]).status, 0);
    let whole = census(&whole);
    assert_eq!(whole["failureCount"], 3);
    for sessions in ["1", "2", "4", "6"] {
        let stopped = workspace(program);
        let first = run(&stopped, &["-q", "--max-sessions", sessions]);
        assert_eq!(first.status, 3, "{first:?}");
        stopped.prose(&["resume", "-q", "--max-sessions", "99"]).ended(0);
        let mut census = census(&stopped);
        let reused = census["sessions"]["reused"].take();
        assert!(sessions == "1" || reused.as_u64() > Some(0), "{sessions}: {reused}");
        let mut expected = whole.clone();
        expected["sessions"]["reused"].take();
        // Their first line has the counts with those that are reused.
        for lines in [&mut census, &mut expected] {
            lines["lines"][0].take();
        }
        assert_eq!(census, expected, "stopped after {sessions} sessions");
    }
}

#[test]
fn every_session_is_listed_with_its_status() {
    let program = "agent writer:\n  prompt: \"Write\"\nlet draft = session: writer\n  prompt: \"go\"\nlet again = session \"flaky\"\n  retry: 1\n\
        parallel (\"first\"):\n  a = session \"quick\"\n  b = session \"slow\"\ntry:\n  session \"fail\"\ncatch:\n  session \"repair\"\n";
    let workspace = workspace(program);
    assert_eq!(run(&workspace, &["-q"]).status, 0);
    let shown = workspace.prose(&["runs", "show"]).stdout;
    let sections: Vec<&str> = shown
        .split("\n\n")
        .filter(|part| part.starts_with("census") || part.starts_with("sessions"))
        .collect();
    expect![[r#"
        census
          4 sessions done, 1 failed, 1 retried, 1 cancelled
          without a result: b (line 9, cancelled)
          line 5, again: connection lost (retried)
          line 11, session "fail": there is no room (caught)
        sessions
          line 3: draft (writer): complete, TIME
          line 5: again: complete, 2 attempts, TIME
            error of attempt 1: connection lost
          line 8: a: complete, TIME
          line 9: b: cancelled, TIME
          line 11: fail: failed, TIME
            error: there is no room
          line 13: repair: complete, TIME
    "#]]
    .assert_eq(&workspace.masked(&(sections.join("\n") + "\n")));
}

#[test]
fn of_many_sessions_those_that_failed_are_listed_and_all_on_request() {
    let program =
        "repeat 60 as i:\n  session \"go {i}\"\ntry:\n  session \"fail\"\ncatch:\n  session \"repair\"\n";
    let workspace = workspace(program);
    assert_eq!(run(&workspace, &["-q"]).status, 0);
    let listed = |arguments: &[&str]| {
        let shown = workspace.prose(&[&["runs", "show"], arguments].concat()).stdout;
        let sessions = shown.split("\nsessions\n").nth(1).expect("it lists sessions").to_owned();
        let lines = sessions.lines().filter(|line| line.starts_with("  line")).count();
        (lines, sessions.contains("fail: failed"), sessions.contains("12 sessions more; pass `--all`"))
    };
    assert_eq!(listed(&[]), (50, true, true));
    assert_eq!(listed(&["--all"]), (62, true, false));
}

#[test]
fn a_run_that_completed_with_failures_is_listed_by_its_status() {
    let workspace = workspace("try:\n  session \"fail\"\ncatch:\n  session \"go\"\n");
    assert_eq!(run(&workspace, &["-q"]).status, 0);
    let count = |status: &str| {
        let list = workspace.prose(&["runs", "list", "--status", status]).ended(0);
        list.stdout.lines().count()
    };
    assert_eq!(
        [count("completed with failures"), count("completed-with-failures"), count("completed")],
        [1, 1, 0]
    );
}

#[test]
fn a_session_that_a_limit_keeps_from_its_agent_is_not_asked() {
    let workspace = workspace(
        "parallel for topic in [\"tides\", \"waves\", \"winds\", \"clouds\"]:\n  session \"{topic}\"\n",
    );
    let run = run(&workspace, &["--max-sessions", "1"]);
    assert_eq!(run.status, 3, "{run:?}");
    assert_eq!(block(&run), "Stopped: 1 session done, 3 not asked\n");
    assert_eq!(census(&workspace)["sessions"]["interrupted"], 0);
    assert_eq!(census(&workspace)["sessions"]["notAsked"], 3);
    // It is not said any more when the run continues.
    workspace.prose(&["resume", "-q", "--max-sessions", "9"]).ended(0);
    assert_eq!(census(&workspace)["sessions"]["notAsked"], 0);
}

#[test]
fn a_condition_that_needs_no_model_is_not_judged() {
    let program = "let a = session \"First\"\nif a == \"x\":\n  session \"Never\"\nif **it is done**:\n  a = session \"Second\"\nelse:\n  a = session \"Second\"\n";
    let workspace = Workspace::new(&[("main.prose", program)]);
    let run = workspace.prose(&["run", "main.prose"]).ended(0);
    assert!(run.stderr.ends_with("\nCompleted: 2 sessions done; 1 condition judged\n"), "{run:?}");
}

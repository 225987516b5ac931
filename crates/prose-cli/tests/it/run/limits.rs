//! Limits of a run over its executions: what a person allows holds, and what nobody raises holds as well.

use expect_test::expect;

use crate::common::Workspace;

const FIVE: &str = "repeat 5:\n  session \"Work\"\n";

#[test]
fn an_answer_for_the_run_allows_a_limit_however_often_it_is_reached() {
    let workspace =
        Workspace::new(&[("five.prose", FIVE), ("prose.toml", "[limits.run]\nask-sessions = 1\n")]);
    workspace.check(&["run", "five.prose", "-q"], expect![[r#"
        status: 5
        ---- stderr
        waiting: question 1 at line 2: the limit of 1 session is reached (`limits.run.ask-sessions`); use up to 1 session more?
        help: answer with `prose runs answer ID once|run|deny`; recorded results are reused
    "#]]);
    workspace.check(&["runs", "answer", "2", "run"], expect![[r#"
        status: 0
        ---- stdout
        Here is what Work comes down to. The evidence on the rest is mixed, so Work deserves a second look. Nothing stands in the way of the details. [offline]
        ---- stderr
        answered question 1 at line 2: the limit of 1 session is reached (`limits.run.ask-sessions`); use up to 1 session more?: run
        Run ID with offline (placeholder replies)
        …   Work
        Recorded results reused; the run continues.
        ✓   Work (TIME)
        iteration 3 of 5
        …   Work
        ✓   Work (TIME)
        iteration 4 of 5
        …   Work
        ✓   Work (TIME)
        iteration 5 of 5
        …   Work
        ✓   Work (TIME)
        Reused 1 result from the earlier execution, ran 4.
        Completed: 5 sessions done, 1 reused
    "#]]);
}

#[test]
fn an_answer_allows_as_much_in_a_resumed_run_as_it_did_before() {
    let workspace =
        Workspace::new(&[("five.prose", FIVE), ("prose.toml", "[limits.run]\nask-sessions = 2\n")]);
    workspace.prose(&["run", "five.prose", "-q"]);
    workspace.check(&["runs", "answer", "2", "once"], expect![[r#"
        status: 5
        ---- stderr
        answered question 1 at line 2: the limit of 2 sessions is reached (`limits.run.ask-sessions`); use up to 2 sessions more?: once
        Run ID with offline (placeholder replies)
        …   Work
        Recorded results reused; the run continues.
        ✓   Work (TIME)
        iteration 4 of 5
        …   Work
        ✓   Work (TIME)
        iteration 5 of 5
        …   Work
        Reused 2 results from the earlier execution, ran 2.
        Waiting: 4 sessions done, 1 not asked, 2 reused
        waiting: question 1 at line 2: the limit of 4 sessions is reached (`limits.run.ask-sessions`); use up to 2 sessions more?
        help: answer with `prose runs answer ID once|run|deny`; recorded results are reused
    "#]]);
    workspace.check(&["resume", "-q"], expect![[r#"
        status: 5
        ---- stderr
        waiting: question 1 at line 2: the limit of 4 sessions is reached (`limits.run.ask-sessions`); use up to 2 sessions more?
        help: answer with `prose runs answer ID once|run|deny`; recorded results are reused
    "#]]);
    workspace.check(&["runs", "answer", "2", "once"], expect![[r#"
        status: 0
        ---- stdout
        Here is what Work comes down to. The evidence on the rest is mixed, so Work deserves a second look. Nothing stands in the way of the details. [offline]
        ---- stderr
        answered question 1 at line 2: the limit of 4 sessions is reached (`limits.run.ask-sessions`); use up to 2 sessions more?: once
        Run ID with offline (placeholder replies)
        …   Work
        Recorded results reused; the run continues.
        ✓   Work (TIME)
        Reused 4 results from the earlier execution, ran 1.
        Completed: 5 sessions done, 4 reused
    "#]]);
}

#[test]
fn a_limit_from_a_flag_holds_until_another_one_is_given() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    workspace.check(
        &["run", "five.prose", "-q", "--max-sessions", "2"],
        expect![[r#"
            status: 3
            ---- stderr
            stopped: the limit of 2 sessions is reached (`--max-sessions`)
            help: continue it with a higher limit: `prose resume ID --max-sessions N`; recorded results are reused
        "#]],
    );
    workspace.check(
        &["resume", "-q"],
        expect![[r#"
            status: 3
            ---- stderr
            stopped: the limit of 2 sessions is reached (`--max-sessions`)
            help: continue it with a higher limit: `prose resume ID --max-sessions N`; recorded results are reused
        "#]],
    );
    workspace.check(
        &["resume", "-q", "--max-sessions", "4"],
        expect![[r#"
            status: 3
            ---- stderr
            stopped: the limit of 4 sessions is reached (`--max-sessions`)
            help: continue it with a higher limit: `prose resume ID --max-sessions N`; recorded results are reused
        "#]],
    );
    workspace.check(
        &["resume", "-q"],
        expect![[r#"
            status: 3
            ---- stderr
            stopped: the limit of 4 sessions is reached (`--max-sessions`)
            help: continue it with a higher limit: `prose resume ID --max-sessions N`; recorded results are reused
        "#]],
    );
    workspace.check(&["resume", "-q", "--max-sessions", "9"], expect![[r#"
        status: 0
        ---- stdout
        Here is what Work comes down to. The evidence on the rest is mixed, so Work deserves a second look. Nothing stands in the way of the details. [offline]
    "#]]);
}

/// The number of sessions of the last run that have ended with a result.
fn sessions(workspace: &Workspace) -> u64 {
    let list = workspace.prose(&["runs", "list", "--json"]).stdout;
    let list: serde_json::Value = serde_json::from_str(&list).expect("it is JSON");
    list[0]["sessions"].as_u64().expect("it has a number of sessions")
}

#[test]
fn a_lower_limit_of_a_resumed_run_holds_although_it_let_nothing_start() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    workspace.prose(&["run", "five.prose", "-q", "--max-sessions", "3"]).ended(3);
    workspace.prose(&["resume", "-q", "--max-sessions", "2"]).ended(3);
    let resumed = workspace.prose(&["resume", "-q"]).ended(3);
    assert!(resumed.stderr.contains("the limit of 2 sessions is reached (`--max-sessions`)"), "{resumed:?}");
    assert_eq!(sessions(&workspace), 3);
}

#[test]
fn a_fork_keeps_the_last_limit_of_its_run() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    workspace.prose(&["run", "five.prose", "-q", "--max-sessions", "2"]).ended(3);
    workspace.prose(&["resume", "-q", "--max-sessions", "3"]).ended(3);
    let fork = workspace.prose(&["runs", "fork", "2", "--from", "2", "--yes"]).ended(3);
    assert!(fork.stderr.contains("the limit of 3 sessions is reached (`--max-sessions`)"), "{fork:?}");
}

#[test]
fn a_limit_that_a_run_is_resumed_with_comes_before_a_question_about_a_lower_one() {
    let workspace =
        Workspace::new(&[("five.prose", FIVE), ("prose.toml", "[limits.run]\nask-sessions = 2\n")]);
    workspace.prose(&["run", "five.prose", "-q"]).ended(5);
    workspace.prose(&["resume", "-q", "--max-sessions", "4"]).ended(3);
    assert_eq!(sessions(&workspace), 4);
}

/// Executes a run until its agent is at work, and kills it then.
#[cfg(unix)]
fn kill_at_work(workspace: &Workspace, arguments: &[&str]) {
    _ = std::fs::remove_file(workspace.path("ready"));
    let mut command = workspace.command();
    command.args(arguments).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("the binary starts");
    let start = std::time::Instant::now();
    while !workspace.path("ready").exists() {
        assert!(start.elapsed() < std::time::Duration::from_secs(120), "the agent does not start");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
}

#[cfg(unix)]
#[test]
fn a_session_at_work_when_the_process_was_killed_counts_against_the_limits_of_the_run() {
    for state in ["filesystem", "sqlite"] {
        let agent = "if [ -e calls ]; then echo x >> calls; : > ready; exec sleep 600; fi; echo x >> calls; echo done";
        let workspace = super::with_agent(FIVE, agent);
        let stops = |arguments: &[&str], at: &str, calls: usize| {
            let run = workspace.prose(arguments).ended(3);
            assert!(
                run.stderr.contains(&format!("stopped: the limit of {at} is reached")),
                "{state}: {run:?}"
            );
            assert_eq!(workspace.read("calls").lines().count(), calls, "{state}");
        };
        // The first session is completed, the second one is interrupted twice.
        kill_at_work(&workspace, &["run", "main.prose", "-q", "--max-sessions", "3", "--state", state]);
        kill_at_work(&workspace, &["resume", "-q"]);
        assert!(workspace.run_folder().join("at-work.jsonl").exists(), "{state}");
        stops(&["resume", "-q"], "3 sessions", 3);
        stops(&["resume", "-q"], "3 sessions", 3);
        kill_at_work(&workspace, &["resume", "-q", "--max-sessions", "4"]);
        // What killed processes had started counts once, also after a change of the program.
        workspace.write("main.prose", b"repeat 5:\n  session \"Another\"\n");
        stops(&["resume", "-q", "--accept-changes", "--max-sessions", "4"], "4 sessions", 4);
        kill_at_work(&workspace, &["resume", "-q", "--max-sessions", "5"]);
        stops(&["resume", "-q"], "5 sessions", 5);
        assert!(!workspace.run_folder().join("at-work.jsonl").exists(), "{state}: nothing is at work");
    }
}

#[test]
fn a_limit_that_a_run_is_resumed_with_holds_after_a_change_of_its_program() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    workspace.prose(&["run", "five.prose", "-q", "--max-sessions", "1"]).ended(3);
    workspace.prose(&["resume", "-q", "--max-sessions", "2"]).ended(3);
    workspace.write("five.prose", b"repeat 5:\n  session \"Another\"\n");
    let stopped_at = |arguments: &[&str]| {
        let run = workspace.prose(arguments).ended(3);
        run.stderr.lines().next().map(str::to_owned).unwrap_or_default()
    };
    let at_two = "stopped: the limit of 2 sessions is reached (`--max-sessions`)";
    assert_eq!(stopped_at(&["resume", "-q", "--accept-changes"]), at_two);
    let at_four = "stopped: the limit of 4 sessions is reached (`--max-sessions`)";
    assert_eq!(stopped_at(&["resume", "-q", "--accept-changes", "--max-sessions", "4"]), at_four);
    assert_eq!(stopped_at(&["resume", "-q"]), at_four);
}

#[test]
fn a_time_limit_from_a_flag_holds_for_each_execution_of_the_run() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    let times_out = |arguments: &[&str]| {
        let run = workspace.prose(arguments).ended(3);
        assert!(run.stderr.contains("stopped: timed out (`--timeout`)"), "{run:?}");
        run
    };
    times_out(&["run", "five.prose", "-q", "--delay", "1h", "--timeout", "200ms"]);
    let resumed = times_out(&["resume", "--delay", "1h"]);
    assert!(
        resumed.stderr.contains(" (placeholder replies), stops after 200ms (`--timeout`)\n"),
        "{resumed:?}"
    );
    workspace.prose(&["resume", "-q", "--timeout", "1h"]).ended(0);
}

#[test]
fn the_narration_of_a_run_has_its_limits() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    let stops = |arguments: &[&str], at: &str, help: &str| {
        let run = workspace.prose(arguments).ended(3);
        let end = format!(
            "stopped: the limit of {at} is reached (`--max-sessions`)\nhelp: save the narration to FILE; {help}\n"
        );
        assert!(run.stderr.ends_with(&end), "{run:?}");
        workspace.write("run.txt", run.stdout.as_bytes());
        run
    };
    let help = "continue it with a higher limit: `prose resume --transcript FILE --max-sessions N`; recorded results are reused";
    let flags = ["--max-sessions", "2", "--max-cost", "1.5", "--timeout", "1h"];
    let run = [&["run", "five.prose", "--state", "in-context", "-q"], &flags[..]].concat();
    let started = stops(&run, "2 sessions", help);
    assert!(
        started.stdout.contains("   Limits: --max-cost 1.5 --max-sessions 2 --timeout 3600000ms\n"),
        "{started:?}"
    );
    let resumed = stops(&["resume", "--transcript", "run.txt", "-q"], "2 sessions", help);
    assert!(
        resumed.stdout.contains("   Limits: --max-cost 1.5 --max-sessions 2 --timeout 3600000ms\n"),
        "{resumed:?}"
    );
    stops(&["resume", "--transcript", "run.txt", "-q", "--max-sessions", "4"], "4 sessions", help);
    workspace.prose(&["resume", "--transcript", "run.txt", "-q", "--max-sessions", "9"]).ended(0);
}

#[test]
fn a_limit_of_an_agent_that_no_program_has_is_reported() {
    let agent = "agent writer:\n  prompt: \"Write.\"\nsession: writer\n  prompt: \"x\"\n";
    let limits = "[limits.agents.writr]\nmax-sessions = 2\n[limits.agents.editor]\nmax-sessions = 2\n";
    let workspace = Workspace::new(&[("main.prose", agent), ("prose.toml", limits)]);
    let notes = || {
        let run = workspace.prose(&["run", "main.prose", "-q"]).ended(0);
        run.stderr.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let of_writer = "note: `[limits.agents.writr]` limits nothing: no program of the project has the agent `writr`; did you mean `writer`?";
    let of_editor =
        "note: `[limits.agents.editor]` limits nothing: no program of the project has the agent `editor`";
    assert_eq!(notes(), [of_editor, of_writer]);
    workspace.write("other.prose", b"agent editor:\n  prompt: \"Edit.\"\nsession: editor\n  prompt: \"x\"\n");
    assert_eq!(notes(), [of_writer]);
}

#[test]
fn a_question_at_a_limit_that_is_reached_again_has_its_own_answer() {
    let settings = "[limits.run]\nask-sessions = 2\n";
    let workspace =
        Workspace::new(&[("main.prose", "repeat 6:\n  session \"Work\"\n"), ("prose.toml", settings)]);
    workspace.prose(&["run", "main.prose", "-q"]).ended(5);
    workspace.prose(&["runs", "answer", "2", "once"]).ended(5);
    workspace.write("main.prose", b"session \"Top\"\nrepeat 6:\n  session \"Work\"\nsession \"New\"\n");
    workspace.prose(&["resume", "-q", "--accept-changes"]).ended(5);
    workspace.prose(&["runs", "answer", "2", "once"]).ended(0);
    let shown = workspace.prose(&["runs", "show"]).stdout;
    assert!(shown.contains("allowed by") && !shown.contains("not answered"), "{shown}");
}

#[test]
fn sessions_from_before_a_change_of_the_program_are_listed_by_their_number() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    workspace.prose(&["run", "five.prose", "-q", "--max-sessions", "3"]).ended(3);
    workspace.write("five.prose", b"session \"Work\"\nsession \"Another\"\n");
    workspace.prose(&["resume", "-q", "--accept-changes", "--max-sessions", "9"]).ended(0);
    let shown = workspace.prose(&["runs", "show"]).stdout;
    assert!(shown.ends_with("\n  2 sessions more before the program changed\n"), "{shown}");
}

#[test]
fn a_limit_for_a_stopped_run_is_given_when_it_is_resumed() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    workspace.prose(&["run", "five.prose", "-q", "--max-sessions", "1"]).ended(3);
    workspace.refuses(
        &["runs", "set-limit", "2", "--max-sessions", "7", "--max-cost", "2.5"],
        expect!["run ID is not being executed (interrupted); resume it with `prose resume ID --max-cost 2.5 --max-sessions 7`"],
    );
}

#[test]
fn a_run_that_a_limit_has_stopped_says_how_it_continues_when_it_is_shown() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    assert_eq!(workspace.prose(&["run", "five.prose", "-q", "--max-sessions", "1"]).status, 3);
    let shown = workspace.prose(&["runs", "show"]).stdout;
    assert!(shown.contains("\nhelp: continue it with a higher limit: `prose resume 2"), "{shown}");
    assert!(!shown.contains("Resume it with"), "{shown}");
}

#[cfg(unix)]
#[test]
fn a_resumed_run_names_the_limits_that_hold_now() {
    let workspace = super::with_agent(FIVE, "echo done");
    let settings = workspace.read("prose.toml") + "[limits.run]\nmax-tokens = 900000\nask-sessions = 8\n";
    workspace.write("prose.toml", settings.as_bytes());
    workspace.trust();
    let limits_of = |arguments: &[&str]| {
        let run = workspace.prose(arguments).ended(3);
        let first = run.stderr.lines().find(|line| line.starts_with("Run ")).expect("it names the run");
        first.split_once("command, ").expect("it names its limits").1.to_owned()
    };
    let at_start = limits_of(&["run", "main.prose", "--max-sessions", "1"]);
    expect!["at most 900,000 tokens (`limits.run.max-tokens`), 1 session (`--max-sessions`); asks at 8 sessions (`limits.run.ask-sessions`)"]
        .assert_eq(&at_start);
    // The flag of `prose resume` also replaces the number of sessions from which on it would be asked.
    let later = expect!["at most 900,000 tokens (`limits.run.max-tokens`), 2 sessions (`--max-sessions`)"];
    later.assert_eq(&limits_of(&["resume", "--max-sessions", "2"]));
    later.assert_eq(&limits_of(&["resume"]));
    workspace.write("main.prose", b"repeat 5:\n  session \"Another\"\n");
    expect!["at most 900,000 tokens (`limits.run.max-tokens`), 2 sessions (`--max-sessions`); asks at 8 sessions (`limits.run.ask-sessions`)"].assert_eq(&limits_of(&["resume", "--accept-changes"]));
}

#[test]
fn a_time_limit_of_nothing_is_refused() {
    let workspace = Workspace::new(&[("five.prose", FIVE)]);
    workspace.prose(&["run", "five.prose", "-q", "--max-sessions", "1"]).ended(3);
    let refused = |arguments: &[&str]| {
        let run = workspace.prose(arguments).ended(2);
        run.stderr.lines().next().unwrap_or_default().to_owned()
    };
    let expected = expect![
        "error: invalid value '0s' for '--timeout <TIME>': a run needs some time, such as `10m`; without `--timeout`, its time is not limited"
    ];
    expected.assert_eq(&refused(&["run", "five.prose", "--timeout", "0s"]));
    expected.assert_eq(&refused(&["resume", "--timeout", "0s"]));
    expected.assert_eq(&refused(&["runs", "fork", "2", "--from", "2", "--timeout", "0s"]));
    assert_eq!(workspace.runs().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_session_at_work_when_the_process_was_killed_counts_also_after_an_export() {
    let agent = "if [ -e calls ]; then : > ready; exec sleep 600; fi; echo x >> calls; echo done";
    let killed = super::with_agent(FIVE, agent);
    kill_at_work(&killed, &["run", "main.prose", "-q", "--max-sessions", "3"]);
    killed.prose(&["runs", "export", "2", "run.prose-run"]).ended(0);
    let file = killed.read("run.prose-run");
    // Versions that know nothing of it read the file, too.
    assert!(file.starts_with("{\"prose-run\":1,"), "{file}");
    for state in ["filesystem", "sqlite"] {
        let workspace = super::with_agent(FIVE, "echo x >> calls; echo done");
        workspace.write("run.prose-run", file.as_bytes());
        workspace.prose(&["runs", "import", "run.prose-run", "--state", state]).ended(0);
        let again = ["runs", "export", "2", "again.prose-run"];
        workspace.prose(&again).ended(0);
        assert_eq!(workspace.read("again.prose-run").lines().nth(1), file.lines().nth(1), "{state}");
        let resume = ["resume", "-q", "--program", "main.prose", "--harness", "command"];
        let run = workspace.prose(&resume).ended(3);
        assert!(run.stderr.contains("stopped: the limit of 3 sessions is reached"), "{state}: {run:?}");
        assert_eq!(workspace.read("calls").lines().count(), 1, "{state}");
    }
}

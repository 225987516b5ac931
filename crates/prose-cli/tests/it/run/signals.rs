//! What ends a run from outside.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};

use crate::common::{Run, Workspace};

const SLOW: &str = "session \"First\"\nsession \"Second\"\n";

/// Waits until a run is under way.
fn started(workspace: &Workspace) -> Child {
    // SIGHUP has its effect also where the tests were started with `nohup`.
    let defaults = if cfg!(target_os = "linux") { &["env", "--default-signal=HUP"][..] } else { &["env"] };
    started_by(workspace, defaults)
}

/// The same with a command that starts the binary.
fn started_by(workspace: &Workspace, starter: &[&str]) -> Child {
    let binary = workspace.command();
    let mut command = workspace.command_of(starter[0]);
    command.args(&starter[1..]).arg(binary.get_program()).args(["run", "slow.prose", "-q", "--delay", "1h"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary starts");
    let deadline = Instant::now() + Duration::from_secs(120);
    let is_under_way = || {
        workspace.runs().first().is_some_and(|run| {
            std::fs::read_to_string(run.join("journal.jsonl"))
                .is_ok_and(|journal| journal.contains("session-started"))
        })
    };
    while !is_under_way() {
        assert!(Instant::now() < deadline, "the run does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn send(child: &Child, signal: &str) {
    let status = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()));
}

#[track_caller]
fn check(signal: &str, expected: &Expect) {
    let workspace = Workspace::new(&[("slow.prose", SLOW)]);
    let child = started(&workspace);
    send(&child, signal);
    workspace.shows(Run::from(child.wait_with_output().expect("it ends")), expected);
    workspace.prose(&["resume", "-q"]).ended(0);
}

#[test]
fn a_signal_stops_it_cleanly_and_it_says_how_to_go_on() {
    check(
        "-INT",
        &expect![[r#"
            status: 3
            ---- stderr
            stopped: interrupted by Ctrl-C
            help: resume it with `prose resume ID`; recorded results are reused
        "#]],
    );
    check(
        "-TERM",
        &expect![[r#"
            status: 3
            ---- stderr
            stopped: terminated by the system (SIGTERM)
            help: resume it with `prose resume ID`; recorded results are reused
        "#]],
    );
    check(
        "-HUP",
        &expect![[r#"
            status: 3
            ---- stderr
            stopped: the terminal was closed (SIGHUP)
            help: resume it with `prose resume ID`; recorded results are reused
        "#]],
    );
}

#[test]
fn a_run_that_is_started_with_nohup_survives_the_terminal() {
    let workspace = Workspace::new(&[("slow.prose", SLOW)]);
    let child = started_by(&workspace, &["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]);
    send(&child, "-HUP");
    send(&child, "-TERM");
    let run = Run::from(child.wait_with_output().expect("it ends"));
    assert!(run.stderr.contains("stopped: terminated by the system (SIGTERM)"), "{run:?}");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let workspace = Workspace::new(&[("slow.prose", SLOW)]);
    let child = started(&workspace);
    send(&child, "-INT");
    // It may have ended already, which is as good.
    _ = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).output();
    assert_eq!(Run::from(child.wait_with_output().expect("it ends")).status, 3);
    workspace.prose(&["resume", "-q"]).ended(0);
}

#[test]
fn a_run_that_is_killed_goes_on() {
    let workspace = Workspace::new(&[("slow.prose", SLOW)]);
    let mut child = started(&workspace);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    let shown = workspace.prose(&["runs", "show"]).stdout;
    assert!(shown.contains("\ncensus\n  1 session interrupted\n"), "{shown}");
    assert!(shown.contains(": interrupted\n") && !shown.contains("running"), "{shown}");
    workspace.prose(&["resume", "-q"]).ended(0);
}

#[test]
fn a_run_that_is_executed_is_neither_resumed_nor_removed() {
    let workspace = Workspace::new(&[("slow.prose", SLOW)]);
    let mut child = started(&workspace);
    let number = child.id().to_string();
    for arguments in [&["resume"][..], &["runs", "rm", "2"]] {
        let run = workspace.prose(arguments).ended(2);
        assert!(run.stderr.contains(&format!("process {number} is executing run")), "{run:?}");
    }
    assert!(workspace.prose(&["runs", "list"]).stdout.contains("  running  "));
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
}

/// Several people, or programs, resume a run at the same time after its process was killed.
#[test]
fn of_several_that_resume_a_run_one_wins_always() {
    const MAX_RESUMES: usize = 6;
    let workspace = Workspace::new(&[("slow.prose", SLOW)]);
    let mut winner = started(&workspace);
    let run = workspace.run_folder();
    let id = run.file_name().and_then(|name| name.to_str()).expect("ids are plain").to_owned();
    for round in 0..5 {
        winner.kill().expect("it runs");
        winner.wait().expect("it ends");
        let mut command = workspace.command();
        command.args(["resume", &id, "-q", "--delay", "1h"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut waiting: Vec<Child> =
            (0..MAX_RESUMES).map(|_| command.spawn().expect("the binary starts")).collect();
        let mut losers = Vec::new();
        let deadline = Instant::now() + Duration::from_secs(120);
        while waiting.len() > 1 {
            assert!(Instant::now() < deadline, "round {round}: {} of them execute the run", waiting.len());
            let ended = waiting.iter_mut().position(|child| child.try_wait().expect("it is ours").is_some());
            match ended {
                Some(at) => losers.push(waiting.swap_remove(at)),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        winner = waiting.pop().expect("one is left");
        assert!(winner.try_wait().expect("it is ours").is_none(), "round {round}: nobody has won");
        for loser in losers {
            let Run { status, stderr, .. } = Run::from(loser.wait_with_output().expect("it has ended"));
            assert_eq!(status, 2, "{stderr}");
            assert!(stderr.contains(&format!("process {} is executing run", winner.id())), "{stderr}");
        }
    }
    winner.kill().expect("it runs");
    winner.wait().expect("it ends");
    workspace.prose(&["resume", &id, "-q"]).ended(0);
    let journal = std::fs::read_to_string(run.join("journal.jsonl")).expect("it is there");
    let answers = journal.lines().filter(|line| line.contains("\"effect\":\"session\"")).count();
    assert_eq!(answers, 2, "{journal}");
}

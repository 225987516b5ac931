//! Agents whose memory several runs share (R48, R49).

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::common::Workspace;

const TWICE: &str = "agent keeper:\n  prompt: \"You keep notes\"\n  persist: project\nresume: keeper\n  prompt: \"Keep this\"\nsession \"Something else\"\nresume: keeper\n  prompt: \"Keep that\"\n";

const ONCE: &str = "agent keeper:\n  prompt: \"You keep notes\"\n  persist: project\noutput kept = resume: keeper\n  prompt: \"Keep this\"\n";

fn start(workspace: &Workspace, program: &str, delay: &str) -> Child {
    let mut command = workspace.command();
    command.args(["run", program, "--delay", delay]).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("the binary starts")
}

/// Reads what a process says up to a line.
#[track_caller]
pub(super) fn read_to(stderr: &mut impl BufRead, text: &str) {
    let mut said = String::new();
    while !said.lines().last().is_some_and(|line| line.contains(text)) {
        let read = stderr.read_line(&mut said).expect("it says something");
        assert!(read > 0, "it never says `{text}`:\n{said}");
    }
}

/// What the agent remembers holds what each session has left, once, and as many segments.
#[track_caller]
fn check_memory(workspace: &Workspace, sessions: usize) {
    let memory = workspace.read(".prose/agents/keeper/memory.md");
    let mut left: Vec<&str> = memory.lines().filter(|line| line.starts_with("## Segment ")).collect();
    left.sort();
    let mut expected: Vec<String> =
        (1..=sessions).map(|number| format!("## Segment {number} Summary")).collect();
    expected.sort();
    assert_eq!(left, expected, "{memory}");
    let folder = std::fs::read_dir(workspace.path(".prose/agents/keeper")).expect("it is there");
    let mut files: Vec<String> =
        folder.map(|entry| entry.expect("it is there").file_name().to_string_lossy().into_owned()).collect();
    // What a killed process was writing stays until it is old.
    files.retain(|name| !name.starts_with(".prose-tmp"));
    files.sort();
    let mut expected: Vec<String> = (1..=sessions).map(|number| format!("keeper-{number:03}.md")).collect();
    expected.push("memory.md".to_owned());
    assert_eq!(files, expected);
}

#[test]
fn runs_at_the_same_time_lose_nothing_of_what_their_agent_remembers() {
    let workspace = Workspace::new(&[("twice.prose", TWICE)]);
    let mut runs: Vec<Child> = (0..4).map(|_| start(&workspace, "twice.prose", "5ms")).collect();
    for run in &mut runs {
        assert!(run.wait().expect("it ends").success());
    }
    check_memory(&workspace, 8);
}

#[test]
fn a_run_waits_for_another_one_and_goes_on_when_that_is_killed() {
    let workspace = Workspace::new(&[("once.prose", ONCE)]);
    let mut first = start(&workspace, "once.prose", "1h");
    let mut stderr = BufReader::new(first.stderr.take().expect("it is piped"));
    read_to(&mut stderr, "… keeper: Keep this");
    let mut second = start(&workspace, "once.prose", "1ms");
    let mut stderr = BufReader::new(second.stderr.take().expect("it is piped"));
    read_to(&mut stderr, "waiting for the memory of keeper, which another run is using");
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    read_to(&mut stderr, "… keeper: Keep this");
    assert!(second.wait().expect("it ends").success());
    check_memory(&workspace, 1);
    // The first one is told what the second one has left.
    let runs = workspace.runs();
    let killed = runs.iter().find(|run| {
        let journal = std::fs::read_to_string(run.join("journal.jsonl")).expect("there is one");
        !journal.contains("\"run-ended\"")
    });
    let id = killed.and_then(|run| run.file_name()?.to_str()).expect("one was killed");
    let resumed = workspace.prose(&["resume", id]).ended(0);
    let note = "the memory of `keeper` has changed since the interrupted session started";
    assert!(resumed.stderr.contains(note), "{resumed:?}");
    check_memory(&workspace, 2);
}

#[test]
fn what_a_killed_run_has_remembered_is_applied_once() {
    for moment in [20, 45, 70, 110, 150] {
        let workspace = Workspace::new(&[("twice.prose", TWICE)]);
        let mut runs: Vec<Child> = (0..3).map(|_| start(&workspace, "twice.prose", "10ms")).collect();
        std::thread::sleep(Duration::from_millis(moment));
        for run in &mut runs[..2] {
            run.kill().expect("it runs or has ended");
            run.wait().expect("it ends");
        }
        assert!(runs[2].wait().expect("it ends").success());
        let mut count = 0;
        for run in workspace.runs() {
            let journal = std::fs::read_to_string(run.join("journal.jsonl")).unwrap_or_default();
            // One that was killed before its first line was none.
            if journal.is_empty() {
                continue;
            }
            count += 1;
            if !journal.contains("\"run-ended\"") {
                let id = run.file_name().and_then(|id| id.to_str()).expect("it has a name");
                let resumed = workspace.prose(&["resume", id]);
                assert_eq!(resumed.status, 0, "killed after {moment} ms: {resumed:?}");
            }
        }
        check_memory(&workspace, 2 * count);
    }
}

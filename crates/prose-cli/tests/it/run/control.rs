//! Runs that another process watches and controls.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use expect_test::expect;

use crate::common::{Run, Workspace};
#[cfg(unix)]
use crate::terminal::played;

const SLOW: &str = "session \"First\"\nsession \"Second\"\n";

/// A command whose output is read while it runs.
struct Live<R> {
    child: Child,
    output: BufReader<R>,
    seen: String,
}

impl<R: Read> Live<R> {
    /// Reads on until a line contains a text.
    #[track_caller]
    fn wait(&mut self, text: &str) {
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("its output is text");
            assert!(read > 0, "it ended without {text}: {}", self.seen);
            self.seen += &line;
            if line.contains(text) {
                return;
            }
        }
    }

    /// Its exit status.
    fn end(&mut self) -> Option<i32> {
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).expect("it can be read");
        self.child.wait().expect("it ends").code()
    }
}

/// A run of sessions that take an hour, once the first one has started.
fn slow(workspace: &Workspace) -> Live<impl Read> {
    let mut command = workspace.command();
    command.args(["run", "slow.prose", "--delay", "1h"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let output = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut live = Live { child, output, seen: String::new() };
    live.wait("… First");
    live
}

/// `prose runs attach --json`, once it has received the first session.
fn attached(workspace: &Workspace) -> Child {
    let mut command = workspace.command();
    command.args(["runs", "attach", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut live = Live { child, output, seen: String::new() };
    live.wait("\"session-started\"");
    // What else it writes there is not of interest, and it must not wait for a reader.
    std::thread::spawn(move || std::io::copy(&mut live.output, &mut std::io::sink()));
    live.child
}

#[test]
fn a_run_is_controlled_from_another_process() {
    check_controlled("filesystem");
}

#[test]
fn a_run_in_a_database_is_controlled_from_another_process() {
    check_controlled("sqlite");
}

#[track_caller]
fn check_controlled(state: &str) {
    let settings = format!("[run]\nstate = \"{state}\"\n");
    let workspace = Workspace::new(&[("slow.prose", SLOW), ("prose.toml", &settings)]);
    let mut run = slow(&workspace);
    let check = |arguments: &[&str], expected| workspace.check(arguments, expected);
    check(
        &["runs", "pause", "20"],
        expect![[r#"
            status: 0
            ---- stdout
            paused ID; running sessions complete; continue it with `prose runs continue ID`
        "#]],
    );
    run.wait("paused ");
    let listed = |arguments: &[&str]| workspace.prose(&[&["runs", "list"], arguments].concat()).stdout;
    assert!(listed(&[]).contains("  paused  "), "{}", listed(&[]));
    assert_eq!(
        (listed(&["--status", "paused"]), listed(&["--status", "running"])),
        (listed(&[]), String::new())
    );
    let json: serde_json::Value = serde_json::from_str(&listed(&["--json"])).expect("it is JSON");
    assert_eq!((&json[0]["status"], &json[0]["pause"]["from"]), (&"paused".into(), &"command-line".into()));
    let shown = workspace.prose(&["runs", "show"]).stdout;
    assert!(
        shown.contains("\npaused:   ") && shown.contains("Continue it with `prose runs continue "),
        "{shown}"
    );
    check(
        &["runs", "skip", "20", "nobody"],
        expect![[r#"
        status: 2
        ---- stderr
        error: run ID: `nobody` names not exactly one session; pass the number of one of these: session 1 (line 1)
    "#]],
    );
    check(
        &["runs", "skip", "20"],
        expect![[r#"
        status: 0
        ---- stdout
        skipped session 1 (line 1) of ID; its result is empty
    "#]],
    );
    run.wait("skipped after");
    check(
        &["runs", "retry", "20"],
        expect![[r#"
        status: 2
        ---- stderr
        error: run ID has no session at work
    "#]],
    );
    check(
        &["runs", "set-limit", "20", "--max-cost", "2.5", "--max-sessions", "9"],
        expect![[r#"
        status: 0
        ---- stdout
        the limit of ID is $2.50
        the limit of ID is 9 sessions
    "#]],
    );
    check(
        &["runs", "continue", "20"],
        expect![[r#"
        status: 0
        ---- stdout
        continued ID
    "#]],
    );
    run.wait("continued ");
    assert!(listed(&[]).contains("  running  "), "{}", listed(&[]));
    check(
        &["runs", "continue", "20"],
        expect![[r#"
        status: 2
        ---- stderr
        error: run ID: the run is not paused
    "#]],
    );
    check(
        &["runs", "stop", "20"],
        expect![[r#"
        status: 0
        ---- stdout
        stopped ID; resume it with `prose resume ID`
    "#]],
    );
    run.wait("stopped: stopped ");
    assert_eq!(run.end(), Some(3));
    check(
        &["runs", "stop", "20"],
        expect![[r#"
        status: 2
        ---- stderr
        error: run ID is not being executed (interrupted); resume it with `prose resume ID`
    "#]],
    );
    // The first session stays skipped.
    workspace.prints(
        &["resume", "-q"],
        expect!["Went through Second with an eye on the details. Most of the work lies in the details; the rest is in good shape. Compared with the rest, Second is the smaller part. One open question about the rest remains. [offline]"],
    );
    check(
        &["runs", "attach"],
        expect![[r#"
        status: 2
        ---- stderr
        error: run ID has completed
    "#]],
    );
}

/// The next event of a run may be an hour away.
#[test]
fn a_watcher_sees_at_once_what_is_at_work() {
    let workspace = Workspace::new(&[("slow.prose", SLOW)]);
    let mut run = slow(&workspace);
    let mut command = workspace.command();
    command.args(["runs", "attach"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let output = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut watcher = Live { child, output, seen: String::new() };
    watcher.wait("… First");
    workspace.prose(&["runs", "stop", "20"]).ended(0);
    watcher.wait("stopped: stopped ");
    assert_eq!(run.end(), Some(3));
}

#[test]
fn a_watcher_sees_a_run_to_its_end() {
    let workspace = Workspace::new(&[("slow.prose", "session \"First\"\n")]);
    let mut run = slow(&workspace);
    let watcher = attached(&workspace);
    workspace.prose(&["runs", "skip", "20"]).ended(0);
    assert_eq!(run.end(), Some(0));
    workspace.shows(
        Run::from(watcher.wait_with_output().expect("it ends")),
        &expect![[r#"
            status: 0
            ---- stderr
            warning: line 1: the session was skipped by ada on the command line, so its result is empty
        "#]],
    );
}

#[cfg(unix)]
#[test]
fn a_run_without_a_terminal_waits_for_the_answer_of_a_watcher() {
    let program = "session \"First\"\nlet go = input \"Ship it? (yes/no)\"\noutput done = go\n";
    let workspace = Workspace::new(&[("slow.prose", program)]);
    let mut run = slow(&workspace);
    let skip = || {
        assert_eq!(workspace.prose(&["runs", "skip", "20"]).status, 0);
        String::new()
    };
    // The warning of the skip may come while the question is shown, which is then written again. So the second
    // answer waits for what is said about the first.
    let keys: [(&str, &dyn Fn() -> String); 4] = [
        ("leaves it running.\r\n", &skip),
        ("[n]o: ", &|| "perhaps\n".to_owned()),
        ("choose one of", &String::new),
        ("[n]o: ", &|| "Y\n".to_owned()),
    ];
    let mut attach = workspace.command();
    attach.args(["runs", "attach", "--color", "never"]);
    let (status, shown) = played(&mut attach, keys);
    assert_eq!(status, 0, "{shown}");
    assert_eq!(run.end(), Some(0), "{}", run.seen);
    let wrong = "`perhaps` is not one of the answers; choose one of [y]es, [n]o\n";
    assert!(shown.contains(wrong), "{shown}");
    let outputs = workspace.prose(&["runs", "show"]).stdout;
    assert!(outputs.contains("\ndone\nyes\n"), "{outputs}");
}

#[cfg(unix)]
#[test]
fn a_watcher_notices_that_the_process_of_the_run_was_killed() {
    let workspace = Workspace::new(&[("slow.prose", SLOW)]);
    let mut run = slow(&workspace);
    let watcher = attached(&workspace);
    run.child.kill().expect("it is ours");
    workspace.shows(
        Run::from(watcher.wait_with_output().expect("it ends")),
        &expect![[r#"
        status: 2
        ---- stderr
        error: the process of run ID has ended without ending the run; resume it with `prose resume ID`
    "#]],
    );
    run.child.wait().expect("it was killed");
    workspace.refuses(
        &["runs", "pause", "20"],
        expect!["run ID is not being executed (interrupted); resume it with `prose resume ID`"],
    );
    let run = workspace.runs().pop().expect("there is a run");
    assert!(!run.join("control.json").exists(), "the address that is left is removed");
}

//! The screen of a run at a real terminal.

use std::io::BufReader;
use std::process::{Command, Stdio};

use rustix::process::{Signal, kill_process};

use crate::common::Workspace;
use crate::emulator::Emulator;
use crate::run::memories::read_to;
use crate::terminal::started_by;

const TWO: &str = "agent writer:\n  model: sonnet\n\nlet a = session: writer\n  prompt: \"Make an outline\"\noutput text = session \"Write it\"\n";
const ASKS: &str = "input topic: \"What about?\"\noutput text = session \"Write about {topic}\"\n";

fn command(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut command = workspace.command();
    command.args(arguments);
    command
}

fn two() -> Workspace {
    Workspace::new(&[("two.prose", TWO)])
}

#[test]
fn a_run_has_a_screen_and_leaves_its_lines() {
    let workspace = two();
    let mut terminal =
        Emulator::start(&command(&workspace, &["run", "two.prose", "--delay", "1h"]), (80, 24));
    // A frame may come in several parts.
    for text in ["session line 4 · sonnet", "two.prose  run ", "running", "1 running", "p pause", "s skip"] {
        terminal.shows(text);
    }
    assert!(terminal.has_screen());
    terminal.types("s");
    terminal.shows("Write it");
    terminal.types("s");
    let left = terminal.end();
    assert_eq!(left.status, Some(0), "{}", left.contents);
    assert!(left.is_restored, "{}", left.contents);
    let skipped = left.contents.lines().filter(|line| line.contains("(skipped after ")).count();
    assert_eq!(skipped, 2, "{}", left.contents);
}

#[test]
fn a_question_is_answered_on_the_screen() {
    let workspace = Workspace::new(&[("asks.prose", ASKS)]);
    let mut terminal = Emulator::start(&command(&workspace, &["run", "asks.prose"]), (80, 24));
    terminal.shows("waiting: topic: What about?");
    terminal.types("a");
    terminal.shows("Enter answers");
    terminal.types("tides, \u{e9}t\u{e9}");
    terminal.shows("> tides, \u{e9}t\u{e9}");
    terminal.types("\r");
    let left = terminal.end();
    assert_eq!(left.status, Some(0), "{}", left.contents);
    assert!(
        left.is_restored && left.contents.contains("Write about tides, \u{e9}t\u{e9}"),
        "{}",
        left.contents
    );
}

#[test]
fn a_run_is_paused_continued_and_stopped_by_keys() {
    let workspace = two();
    let mut terminal =
        Emulator::start(&command(&workspace, &["run", "two.prose", "--delay", "1h"]), (100, 30));
    terminal.shows("1 running");
    terminal.types("p");
    terminal.until("that it is paused", |shown| shown.contains("paused ·"));
    terminal.types("p");
    terminal.until("that it continues", |shown| shown.contains("running ·"));
    terminal.types("x");
    terminal.shows("Stop the run?");
    terminal.types("y");
    let left = terminal.end();
    assert_eq!(left.status, Some(3), "{}", left.contents);
    assert!(left.is_restored && left.contents.contains("prose resume"), "{}", left.contents);
}

/// Nothing of the screen stays, however it ends.
#[test]
fn no_rows_stay_after_ctrl_c_or_a_signal() {
    for ends in [
        |terminal: &mut Emulator| terminal.types("\u{3}"),
        |terminal: &mut Emulator| {
            kill_process(terminal.process(), Signal::TERM).unwrap();
        },
    ] {
        let workspace = two();
        let mut terminal =
            Emulator::start(&command(&workspace, &["run", "two.prose", "--delay", "1h"]), (80, 24));
        terminal.shows("1 running");
        ends(&mut terminal);
        let left = terminal.end();
        assert_eq!(left.status, Some(3), "{}", left.contents);
        assert!(left.is_restored, "{}", left.contents);
        let stale =
            ["1 running", "p pause", "session line 4"].iter().find(|text| left.contents.contains(**text));
        assert_eq!(stale, None, "{}", left.contents);
        assert!(
            left.contents.contains("stopped") && left.contents.contains("prose resume"),
            "{}",
            left.contents
        );
    }
}

#[test]
fn windows_are_resized() {
    let workspace = two();
    let mut terminal =
        Emulator::start(&command(&workspace, &["run", "two.prose", "--delay", "1h"]), (80, 24));
    terminal.shows("session line 4");
    terminal.resize(160, 12);
    terminal.until("the text next to the tree", |shown| {
        shown
            .lines()
            .any(|line| line.contains("writer: Make an outline") && line.contains(" │ session line 4"))
    });
    terminal.resize(24, 5);
    terminal.until("what fits", |shown| shown.lines().all(|line| line.chars().count() <= 24));
    terminal.resize(1, 1);
    terminal.resize(300, 90);
    terminal.until("the keys at the bottom", |shown| {
        shown.lines().nth(89).is_some_and(|line| line.contains("q leave"))
    });
    terminal.types("\u{3}");
    assert!(terminal.end().is_restored);
}

#[test]
fn lines_are_printed_where_no_screen_is_wanted() {
    let workspace = two();
    let open = "\u{1b}[?1049h";
    let mut plain = command(&workspace, &["run", "two.prose", "--plain", "--delay", "600ms"]);
    let left = Emulator::start(&plain, (80, 24)).end();
    assert!(left.status == Some(0) && !left.bytes.contains(open), "{}", left.bytes);
    plain = command(&workspace, &["run", "two.prose", "--json", "--delay", "600ms"]);
    let left = Emulator::start(&plain, (80, 24)).end();
    assert!(left.status == Some(0) && !left.bytes.contains(open), "{}", left.bytes);
    // Without colours there is a screen, too.
    let uncoloured = command(&workspace, &["run", "two.prose", "--color", "never", "--delay", "600ms"]);
    let left = Emulator::start(&uncoloured, (80, 24)).end();
    assert!(left.status == Some(0) && left.bytes.contains(open), "{}", left.bytes);
    // 39 and 49 are the default colours.
    let colours = ["\u{1b}[3", "\u{1b}[4", "\u{1b}[9"]
        .into_iter()
        .flat_map(|start| left.bytes.match_indices(start).map(|(at, _)| &left.bytes[at + start.len()..]));
    let coloured = colours.filter(|rest| rest.starts_with(|digit| matches!(digit, '0'..='8'))).count();
    assert_eq!(coloured, 0, "{}", left.bytes);
    // A run that is over in a moment does not flicker.
    let left = Emulator::start(&command(&workspace, &["run", "two.prose"]), (80, 24)).end();
    assert!(left.status == Some(0) && !left.bytes.contains(open), "{}", left.bytes);
}

#[test]
fn a_user_who_leaves_the_screen_sees_lines() {
    let workspace = Workspace::new(&[("asks.prose", ASKS)]);
    let mut terminal = Emulator::start(&command(&workspace, &["run", "asks.prose"]), (80, 24));
    terminal.shows("waiting: topic: What about?");
    terminal.types("q");
    terminal.shows("topic — What about?: ");
    assert!(!terminal.has_screen());
    terminal.types("tides\r");
    let left = terminal.end();
    assert_eq!(left.status, Some(0), "{}", left.contents);
}

/// A shell that controls jobs stops the run and continues it.
#[test]
fn a_run_is_suspended_and_continued() {
    let workspace = two();
    let run = command(&workspace, &["run", "two.prose", "--delay", "1h"]);
    let mut shell = Command::new("bash");
    shell.args(["--norc", "--noprofile", "-i"]).current_dir(run.get_current_dir().unwrap());
    shell.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PS1", "ready> ");
    let mut terminal = Emulator::start(&shell, (80, 24));
    terminal.shows("ready> ");
    terminal.types(&format!("{} run two.prose --delay 1h\r", run.get_program().to_str().unwrap()));
    terminal.shows("1 running");
    terminal.types("\u{1a}");
    terminal.shows("Stopped");
    assert!(!terminal.has_screen());
    terminal.types("fg\r");
    terminal.until("the screen", |shown| shown.contains("1 running"));
    assert!(terminal.has_screen());
    terminal.types("\u{3}");
    terminal.shows("prose resume");
    terminal.types("exit\r");
    assert!(terminal.end().is_restored);
}

#[test]
fn a_closed_terminal_interrupts_the_run_unless_that_is_ignored() {
    let workspace = two();
    let terminal = Emulator::start(&command(&workspace, &["run", "two.prose", "--delay", "1h"]), (80, 24));
    terminal.shows("1 running");
    assert_eq!(terminal.close(), Some(3));

    let run = command(&workspace, &["run", "two.prose", "--delay", "2s"]);
    let ignoring = started_by(&["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"], &run);
    let terminal = Emulator::start(&ignoring, (80, 24));
    terminal.shows("1 running");
    assert_eq!(terminal.close(), Some(0));
}

#[test]
fn other_terminals_attach_and_leave() {
    let workspace = two();
    let mut runs = Emulator::start(&command(&workspace, &["run", "two.prose", "--delay", "1h"]), (80, 24));
    runs.shows("1 running");
    let mut attached = Emulator::start(&command(&workspace, &["runs", "attach"]), (80, 24));
    attached.shows("session line 4");
    assert!(attached.has_screen());
    attached.types("q");
    let left = attached.end();
    assert_eq!(left.status, Some(3), "{}", left.contents);
    assert!(left.is_restored, "{}", left.contents);
    // A run that is only watched is not commanded.
    let mut watched = Emulator::start(&command(&workspace, &["runs", "attach", "--read-only"]), (80, 24));
    watched.shows("1 running");
    watched.types("s");
    watched.shows("the run is only watched");
    watched.types("\u{3}");
    assert!(watched.end().is_restored);
    runs.types("\u{3}");
    assert_eq!(runs.end().status, Some(3));
}

#[test]
fn the_runs_of_a_project_are_listed_shown_and_commanded() {
    let workspace = two();
    workspace.prose(&["run", "two.prose", "-q"]).ended(0);
    let runs = Emulator::start(&command(&workspace, &["run", "two.prose", "--delay", "1h"]), (80, 24));
    runs.shows("1 running");
    let mut top = Emulator::start(&command(&workspace, &["top"]), (100, 20));
    top.until("both runs", |shown| {
        shown.contains("1 of 2 at work") && shown.contains("running") && shown.contains("completed")
    });
    top.types("\r");
    top.shows("session line 4");
    // Another process executes it, so that this stops nothing.
    top.types("\u{3}");
    top.shows("1 of 2 at work");
    // The one that has completed.
    top.types("\u{1b}[B\r");
    top.until("its replies", |shown| shown.contains("completed ·") && shown.contains("2 complete"));
    top.types("q");
    top.shows("1 of 2 at work");
    top.types("\u{1b}[Hx");
    top.shows("Stop the run?");
    top.types("y");
    assert_eq!(runs.end().status, Some(3));
    top.shows("0 of 2 at work");
    top.types("q");
    let left = top.end();
    assert!(left.status == Some(0) && left.is_restored, "{}", left.contents);
    assert!(!left.bytes.contains("stopping; Ctrl-C"), "{}", left.contents);

    let refused = workspace.prose(&["top"]);
    assert!(refused.stderr.contains("`prose top` needs a terminal; `prose runs list` prints the runs"));
}

#[test]
fn a_run_whose_process_was_killed_is_shown_as_interrupted() {
    let workspace = two();
    let mut killed = command(&workspace, &["run", "two.prose", "--delay", "1h"]);
    let mut killed = killed.stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(killed.stderr.take().unwrap());
    read_to(&mut stderr, "…");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut top = Emulator::start(&command(&workspace, &["top"]), (100, 20));
    top.shows("0 of 1 at work");
    top.types("\r");
    top.until("how it stands", |shown| shown.contains("interrupted ·") && !shown.contains("running"));
    top.types("qq");
    assert!(top.end().is_restored);
}

//! `prose run`, `prose resume`, `prose runs` and `prose examples`, as a person uses them.

mod activities;
#[cfg(unix)]
mod agents;
#[cfg(unix)]
mod answers;
#[cfg(unix)]
mod approvals;
mod census;
#[cfg(target_os = "linux")]
mod cluster;
#[cfg(unix)]
mod control;
mod databases;
mod estimates;
mod exported;
mod folders;
#[cfg(unix)]
mod forged;
mod forks;
mod imported;
mod inputs;
mod limits;
mod list;
mod markdown;
mod memories;
#[cfg(unix)]
mod notify;
mod output;
#[cfg(unix)]
mod owners;
mod parts;
mod permissions;
#[cfg(target_os = "linux")]
mod postgres;
mod prepared_files;
#[cfg(unix)]
mod private;
#[cfg(unix)]
mod processes;
mod prune;
mod refused;
mod remote;
mod replay;
mod report;
mod resume;
mod rights;
#[cfg(target_os = "linux")]
mod screen;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod terminal_questions;
mod traces;
mod transcripts;
#[cfg(unix)]
mod trees;
mod trust;
#[cfg(unix)]
mod waiting;

use std::path::PathBuf;

use crate::common::{Run, Workspace};
use expect_test::Expect;

/// Two sessions one after the other.
const TWO: &str = "let a = session \"First\"\noutput text = session \"Second\"\n  context: a\n";

/// Answers for [`TWO`].
const ANSWERS: &str = r#"
[[session]]
label = "First"
reply = "one"
[[session]]
label = "Second"
reply = "two"
"#;

/// A workspace with a program, and a shell script that answers its sessions.
#[cfg(unix)]
fn with_agent(program: &str, script: &str) -> Workspace {
    let settings = "[run]\nharness = \"command\"\ncommand = [\"./agent.sh\"]\n";
    let script = format!("#!/bin/sh\n{script}\n");
    let workspace =
        Workspace::new(&[("main.prose", program), ("prose.toml", settings), ("agent.sh", &script)]);
    workspace.trust();
    workspace
}

/// A text with `MARK` for the marks of prompts.
fn without_marks(text: &str) -> String {
    let marks: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("--- ")).collect();
    marks.iter().fold(text.to_owned(), |text, mark| text.replace(mark, "MARK"))
}

impl Workspace {
    /// Everything that a user would see, with `ID` for ids of runs, `TIME` for what took a time, `N` for what depends on the machine and `FOLDER`
    /// for the folder.
    #[track_caller]
    fn check(&self, arguments: &[&str], expected: Expect) {
        self.shows(self.prose(arguments), &expected);
    }

    /// Compares the line of a command that says nothing else, shown in the same way.
    #[track_caller]
    fn prints(&self, arguments: &[&str], line: Expect) {
        let run = self.prose(arguments);
        Run { stdout: self.masked(&run.stdout), ..run }.printed(line);
    }

    /// Compares the error of a command that does nothing, shown in the same way.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], error: Expect) {
        let run = self.prose(arguments);
        Run { stderr: self.masked(&run.stderr), ..run }.refused(error);
    }

    #[track_caller]
    fn shows(&self, run: Run, expected: &Expect) {
        let Run { status, stdout, stderr } = run;
        Run { status, stdout: self.masked(&stdout), stderr: self.masked(&stderr) }.check_ref(expected);
    }

    fn masked(&self, text: &str) -> String {
        let folder = self.path("").canonicalize().expect("the folder exists");
        let folder = folder.to_str().expect("temporary folders have plain names");
        let text = text.replace(folder, "FOLDER").replace(self.path("").to_str().unwrap_or("?"), "FOLDER/");
        let words =
            text.split_inclusive(|character: char| !character.is_ascii_alphanumeric() && character != '-');
        let masked: String = words
            .map(|word| match word.get(..22) {
                Some(id) if is_run(id) => format!("ID{}", &word[22..]),
                _ => word.to_owned(),
            })
            .collect();
        without_marks(&masked.split_inclusive('\n').map(without_time).collect::<String>())
    }

    /// The folders of the runs, in the order of their ids.
    fn runs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path(".prose/runs")).into_iter().flatten().flatten();
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        runs.sort();
        runs
    }

    /// The folder of the only run.
    #[track_caller]
    fn run_folder(&self) -> PathBuf {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }
}

fn is_run(id: &str) -> bool {
    let bytes = id.as_bytes();
    bytes[8] == b'-' && bytes[15] == b'-' && bytes[..8].iter().all(u8::is_ascii_digit)
}

/// How many sessions a machine allows depends on its memory and its cores.
fn of_any_machine(line: &str) -> String {
    let (machine, needs) = line.split_once(" free, ").expect("it says what is free");
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let words: Vec<_> = machine.split(' ').map(|word| if is_number(word) { "N" } else { word }).collect();
    format!("{} free, {needs}", words.join(" ").replace(" MB", " GB").replace("N core,", "N cores,"))
}

/// Lines about sessions that have ended say in brackets how long they took.
fn without_time(line: &str) -> String {
    if line.starts_with("started: ") {
        return "started:  TIME\n".to_owned();
    }
    if line.starts_with("up to ") && line.contains(" at a time: ") {
        return of_any_machine(line);
    }
    // Lists of sessions end with the duration of each.
    if line.starts_with("  line ")
        && let Some((session, time)) = line.trim_end().rsplit_once(", ")
        && time.split(' ').all(|word| word.parse::<f64>().is_ok() || ["ms", "s", "m", "h"].contains(&word))
    {
        return format!("{session}, TIME\n");
    }
    let ended = line.starts_with(['✓', '✗']);
    match (line.rfind(" ("), line.rfind(')')) {
        (Some(start), Some(end)) if ended && start < end => {
            format!("{} (TIME{}", &line[..start], &line[end..])
        }
        _ => line.to_owned(),
    }
}

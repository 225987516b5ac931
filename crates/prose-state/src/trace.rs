//! The execution trace of `state.md`: the text of the program with what happened to its statements as comments (R100).

use std::collections::BTreeMap;
use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::binding_file::fence_for;
use crate::program::{Program, one_line};

/// The column at which comments start where the line is short enough, as in the specification.
const COMMENT_COLUMN: usize = 45;

/// A program and what happened to its lines.
#[derive(Debug)]
pub(crate) struct Trace {
    program: Program,
    /// By line, only for lines that something happened to.
    marks: BTreeMap<u32, Mark>,
    /// The last line that execution has come to.
    position: u32,
}

/// What happened to the statement that starts in a line. The same statement may be executed several times, also at the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Mark {
    /// How many executions of it run now, those aside that wait for statements inside them.
    running: u32,
    /// The attempt and how many there may be, while it is tried again.
    retrying: Option<(u32, u32)>,
    /// How its last execution ended.
    ended: Option<End>,
    /// The file that it has written last.
    file: Option<String>,
}

/// How an execution of a statement ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Complete,
    Failed(String),
    Skipped,
}

impl Trace {
    pub(crate) fn new(text: &str) -> Self {
        Self { program: Program::new(text), marks: BTreeMap::new(), position: 0 }
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// The last line that execution has come to.
    pub(crate) fn position(&self) -> u32 {
        self.position
    }

    /// A statement starts, or those inside it have ended and it goes on.
    pub(crate) fn run(&mut self, line: u32) {
        self.position = self.position.max(line);
        self.marks.entry(line).or_default().running += 1;
    }

    /// A statement waits for those inside it.
    pub(crate) fn wait(&mut self, line: u32) {
        let mark = self.marks.entry(line).or_default();
        mark.running = mark.running.saturating_sub(1);
    }

    /// A statement that ran has ended.
    pub(crate) fn end(&mut self, line: u32, end: End) {
        self.wait(line);
        let mark = self.marks.entry(line).or_default();
        mark.retrying = None;
        mark.ended = Some(end);
    }

    /// A session is tried again.
    pub(crate) fn retry(&mut self, line: u32, attempt: u32, retries: u32) {
        self.marks.entry(line).or_default().retrying = Some((attempt, retries));
    }

    /// A statement has written a file.
    pub(crate) fn bind(&mut self, line: u32, file: &str) {
        self.marks.entry(line).or_default().file = Some(file.to_owned());
    }

    /// An iteration starts: what happened to these lines in the one before is no longer so.
    pub(crate) fn forget(&mut self, first: u32, last: u32) {
        for line in first..=last {
            if let Some(mark) = self.marks.get_mut(&line) {
                (mark.ended, mark.file) = (None, None);
            }
        }
    }

    /// Writes the code block, and returns the last line that it shows.
    pub(crate) fn write(&mut self, out: &mut String) -> u32 {
        let cut = self.program.cut_behind(self.position);
        let mut comments: FxHashMap<u32, String> = FxHashMap::default();
        for (&line, mark) in &self.marks {
            if let Some(comment) = mark.comment() {
                add_comment(&mut comments, self.program.comment_line(line), comment);
            }
        }
        let mut inside = 0;
        let mut has_next = false;
        for statement in self.program.statements_between(self.position, cut) {
            if statement.line <= inside {
                continue;
            }
            if statement.has_body {
                inside = statement.last_line;
                let line = self.program.comment_line(statement.line);
                add_comment(&mut comments, line, "[not yet entered]".to_owned());
            } else if !has_next {
                has_next = true;
                let line = self.program.comment_line(statement.line);
                add_comment(&mut comments, line, "[...next...]".to_owned());
            }
        }
        let fence = fence_for(self.program.text());
        out.push_str(&fence);
        out.push_str("prose\n");
        let is_blank = |line: &u32| self.program.line(*line).trim().is_empty();
        let last = (1..=cut).rev().find(|line| !is_blank(line)).unwrap_or(0);
        for number in 1..=last {
            let line = self.program.line(number);
            match comments.get(&number) {
                None => out.push_str(line),
                Some(comment) => {
                    let width = line.chars().count();
                    let pad = COMMENT_COLUMN.saturating_sub(width).max(2);
                    let _ = write!(out, "{line}{:pad$}# {comment}", "");
                }
            }
            out.push('\n');
        }
        out.push_str(&fence);
        out.push('\n');
        cut
    }
}

/// Lines inside a string take no comment, so that several may come to stand behind its end.
fn add_comment(comments: &mut FxHashMap<u32, String>, line: u32, comment: String) {
    let all = comments.entry(line).or_default();
    if !all.is_empty() {
        all.push_str("; ");
    }
    all.push_str(&comment);
}

impl Mark {
    fn comment(&self) -> Option<String> {
        if self.running > 0 {
            return Some(match self.retrying {
                Some((attempt, retries)) => format!("<-- RETRYING (attempt {attempt}/{retries})"),
                None => "<-- EXECUTING".to_owned(),
            });
        }
        let file = self.file.as_ref().map(|file| format!("--> {file}"));
        match &self.ended {
            None => file,
            Some(End::Complete) => Some(file.map_or("(complete)".to_owned(), |file| file + " (complete)")),
            Some(End::Skipped) => Some("(skipped)".to_owned()),
            Some(End::Failed(message)) => {
                let message = one_line(message);
                Some(match message.chars().nth(80) {
                    None => format!("(failed: {message})"),
                    Some(_) => format!("(failed: {}...)", message.chars().take(77).collect::<String>()),
                })
            }
        }
    }
}

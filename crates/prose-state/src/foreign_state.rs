//! What a `state.md` states, also one that a model has written with small deviations.

use std::collections::BTreeMap;

use prose_syntax::text::one_line;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::program::Program;

/// The title of the table with the calls on the stack.
const CALL_STACK: &str = "## Call Stack";

/// How many `#` of a line are looked at: those inside of strings, that of a comment of the program, and that of the mark.
const MAX_COMMENTS: usize = 32;

/// What is marked at a line of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It has finished.
    Complete,
    /// It was being executed, or tried again.
    Executing,
    /// It had failed.
    Failed,
    /// It had not been reached.
    Ahead,
}

/// What a `state.md` states.
#[derive(Debug, Default)]
pub(crate) struct ForeignState {
    /// By the line of the program.
    marks: BTreeMap<u32, Mark>,
    /// The files that lines have written, by line.
    files: FxHashMap<u32, SmolStr>,
    /// Why lines have failed, where that is stated.
    failures: FxHashMap<u32, String>,
    /// The last line that had been reached.
    position: u32,
    /// The branches of parallel blocks that were active: the lines, the name, and whether it was complete.
    branches: Vec<(u32, u32, SmolStr, bool)>,
    /// Loops that were active, with their first lines and their iteration.
    loops: Vec<(u32, u32)>,
    /// The calls on the stack; none if nothing is stated of a stack.
    stack: Option<FxHashMap<u32, Frame>>,
}

/// A call on the stack.
#[derive(Debug)]
struct Frame {
    block: SmolStr,
    depth: u32,
    is_executing: bool,
}

impl ForeignState {
    pub(crate) fn read(state: &str, program: &Program) -> Self {
        let mut told = Self::default();
        told.read_trace(state, program);
        told.read_constructs(state, program);
        told.read_frames(state);
        for &(first, iteration) in &told.loops {
            if iteration == 0 && !told.marks.contains_key(&first) {
                told.marks.insert(first, Mark::Ahead);
            }
        }
        told
    }

    fn read_trace(&mut self, state: &str, program: &Program) {
        let lines = Lines::of(program);
        // The same text may stand in several lines, so each line of the trace is looked for after the one before.
        let mut at = 1;
        for line in code_block(state) {
            let Some((number, comment)) = lines.find(line, at) else { continue };
            at = number + 1;
            let Some((mark, comment)) = comment.and_then(mark_in) else { continue };
            // After a string that continues over several lines, it is about the statement that the string is in.
            let line = program.commented_line(number);
            self.marks.insert(line, mark);
            if mark != Mark::Ahead {
                self.position = self.position.max(number);
            }
            if let Some(file) = comment.strip_prefix("-->").and_then(|rest| rest.split_whitespace().next()) {
                self.files.insert(line, file.trim_start_matches("bindings/").into());
            }
            if mark == Mark::Failed
                && let Some((_, why)) = comment.split_once(':')
            {
                let why = why.trim();
                self.failures.insert(line, why.strip_suffix([')', ']']).unwrap_or(why).to_owned());
            }
        }
    }

    fn read_constructs(&mut self, state: &str, program: &Program) {
        let mut around = None;
        for line in section(state, "## Active Constructs") {
            if let Some(title) = line.strip_prefix("### ") {
                around = construct(title, program);
                continue;
            }
            let Some((is_loop, first, last)) = around else { continue };
            let Some((key, value)) = line.strip_prefix("- ").and_then(|item| item.split_once(':')) else {
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            if is_loop && key == "iteration" {
                let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
                self.loops.extend(digits.parse().ok().map(|iteration| (first, iteration)));
            } else if !is_loop {
                let is_complete = value.to_ascii_lowercase().starts_with("complete");
                self.branches.push((first, last, key.into(), is_complete));
            }
        }
    }

    fn read_frames(&mut self, state: &str) {
        if !state.contains(CALL_STACK) {
            return;
        }
        let stack = self.stack.insert(FxHashMap::default());
        for line in section(state, CALL_STACK) {
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            if let [id, block, depth, status, ..] = cells[..]
                && let Ok(id) = id.parse()
            {
                let is_executing = status.eq_ignore_ascii_case("executing");
                let depth = depth.parse().unwrap_or_default();
                stack.insert(id, Frame { block: block.into(), depth, is_executing });
            }
        }
    }

    pub(crate) fn mark(&self, line: u32) -> Option<Mark> {
        self.marks.get(&line).copied()
    }

    /// The lines of a part of the program that have marks, with these.
    pub(crate) fn marks_in(&self, first: u32, last: u32) -> impl Iterator<Item = (u32, Mark)> {
        let lines = first..=last.max(first);
        self.marks.range(lines).map(|(line, mark)| (*line, *mark))
    }

    /// Whether a statement in these lines has run or failed, or was running.
    pub(crate) fn has_run(&self, first: u32, last: u32) -> bool {
        first <= last && self.marks_in(first, last).any(|(_, mark)| mark != Mark::Ahead)
    }

    /// The file of a binding that a line has written.
    pub(crate) fn file(&self, line: u32) -> Option<&str> {
        self.files.get(&line).map(SmolStr::as_str)
    }

    /// Why a line has failed.
    pub(crate) fn failure(&self, line: u32) -> Option<&str> {
        self.failures.get(&line).map(String::as_str)
    }

    /// The last line that had been reached.
    pub(crate) fn position(&self) -> u32 {
        self.position
    }

    /// Whether a branch of that name around a line was complete, if a parallel block around it was active.
    pub(crate) fn branch(&self, name: &str, line: u32) -> Option<bool> {
        let is_meant = |(first, last, found, _): &&(u32, u32, SmolStr, bool)| {
            *first <= line && line <= *last && found == name
        };
        self.branches.iter().find(is_meant).map(|branch| branch.3)
    }

    /// The iteration of an active loop that starts in a line; 0 if it had not been entered.
    pub(crate) fn iteration(&self, line: u32) -> Option<u32> {
        self.loops.iter().find(|(first, _)| *first == line).map(|(_, iteration)| *iteration)
    }

    /// The execution id of the call at that depth of the stack; none if no call was so deep. None at all if nothing is stated of the stack.
    pub(crate) fn call_at(&self, depth: u32) -> Option<Option<u32>> {
        let stack = self.stack.as_ref()?;
        let mut calls = stack.iter().filter(|(_, frame)| frame.depth == depth);
        let call = calls.next().map(|(id, _)| *id);
        // Calls in branches run in parallel; they are known by their ids then.
        if calls.next().is_some() { None } else { Some(call) }
    }

    /// The block of a call that was made from a call, or from the program itself, and had not ended.
    pub(crate) fn called_from(&self, frame: u32) -> Option<&str> {
        let stack = self.stack.as_ref()?;
        let depth = if frame == 0 { 0 } else { stack.get(&frame)?.depth };
        stack.values().find(|call| call.depth == depth + 1).map(|call| call.block.as_str())
    }

    /// Whether the marks in the body of a block, between these lines, may be about a call: it was being executed, or it is the innermost one of its
    /// block, or nothing is stated of the stack and something in the body was being executed.
    pub(crate) fn is_about(&self, frame: u32, (first, last): (u32, u32)) -> bool {
        let Some(stack) = &self.stack else {
            return self.marks_in(first, last).any(|(_, mark)| mark == Mark::Executing);
        };
        let Some(found) = stack.get(&frame) else {
            // The marks of a call that has ended stay until the next one: the files in them say which one it was.
            let files = self.files.iter().filter(|(line, _)| (first..=last).contains(*line));
            let mut frames = files.map(|(_, file)| frame_of(file)).peekable();
            return frames.peek().is_some() && frames.all(|id| id == frame);
        };
        let is_inner = |other: &Frame| other.block == found.block && other.depth > found.depth;
        found.is_executing || !stack.values().any(is_inner)
    }
}

/// The execution id in the name of a file such as `result__43.md`; 0 where there is none.
pub(crate) fn frame_of(file: &str) -> u32 {
    let name = file.strip_suffix(".md").unwrap_or(file);
    name.rsplit_once("__").and_then(|(_, id)| id.parse().ok()).unwrap_or(0)
}

/// The construct that a title names: whether it is a loop, and its lines in the program. The numbers in titles that models write are often a few lines
/// off, so the statement that starts closest is meant.
fn construct(title: &str, program: &Program) -> Option<(bool, u32, u32)> {
    let is_loop = title.starts_with("Loop");
    if !is_loop && !title.starts_with("Parallel") {
        return None;
    }
    let numbers: Vec<u32> =
        title.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    let wanted = *numbers.first()?;
    let closest =
        |lines: &mut dyn Iterator<Item = (u32, u32)>| lines.min_by_key(|(first, _)| first.abs_diff(wanted));
    let (first, last) = match is_loop {
        true => closest(&mut program.loops())?,
        false => closest(&mut program.parallels())?,
    };
    Some((is_loop, first, last))
}

/// The lines of the first code block after the title of the trace, or of the first one at all.
fn code_block(state: &str) -> Vec<&str> {
    let behind_title = state.find("## Execution Trace").map_or(state, |start| &state[start..]);
    let mut lines = behind_title.lines();
    let Some(open) = lines.by_ref().find(|line| line.starts_with("```")) else { return Vec::new() };
    let fence = &open[..open.len() - open.trim_start_matches('`').len()];
    lines.take_while(|line| line.trim_end() != fence).collect()
}

/// The lines of a section up to the next one of the same rank.
fn section<'a>(state: &'a str, title: &str) -> impl Iterator<Item = &'a str> {
    let start = state.find(title).map_or(state.len(), |start| start + title.len());
    state[start..].lines().skip(1).take_while(|line| !line.starts_with("## "))
}

/// The lines of a program by what stands in them, with and without their comments.
struct Lines(FxHashMap<String, Vec<u32>>);

impl Lines {
    fn of(program: &Program) -> Self {
        let mut lines: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        for number in 1..=program.line_count() {
            let line = program.line(number);
            let (whole, code) = (one_line(line), one_line(&line[..comment_start(line)]));
            if whole != code {
                lines.entry(code).or_default().push(number);
            }
            lines.entry(whole).or_default().push(number);
        }
        lines.remove("");
        Self(lines)
    }

    /// The first line from a number on that a line of the trace shows, and the comment that the trace adds to it. What stands in the program itself
    /// is no mark, whatever it looks like.
    fn find<'a>(&self, shown: &'a str, from: u32) -> Option<(u32, Option<&'a str>)> {
        let mut best = self.first(shown, from).map(|number| (number, None));
        let comments = shown.match_indices('#').map(|(start, _)| start).take(MAX_COMMENTS);
        for start in comments.collect::<Vec<_>>().into_iter().rev() {
            let Some(number) = self.first(&shown[..start], from) else { continue };
            if best.is_none_or(|(known, _)| number < known) {
                best = Some((number, Some(&shown[start..])));
            }
        }
        best
    }

    fn first(&self, code: &str, from: u32) -> Option<u32> {
        let numbers = self.0.get(&one_line(code))?;
        numbers.get(numbers.partition_point(|number| *number < from)).copied()
    }
}

/// Where the comment of a line starts: at the first `#` outside of quotes, or at its end.
fn comment_start(line: &str) -> usize {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in line.char_indices() {
        match c {
            '#' if !is_quoted => return at,
            '"' if !is_escaped => is_quoted = !is_quoted,
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    line.len()
}

/// The mark in a comment, and the comment from there on.
fn mark_in(comment: &str) -> Option<(Mark, &str)> {
    comment.match_indices('#').find_map(|(start, _)| {
        let comment = comment[start..].trim_start_matches('#').trim();
        // `# A; B` comes after a string, about the line where the string begins first.
        let comment = comment.split("; ").next().unwrap_or_default();
        let lower = comment.to_ascii_lowercase();
        let starts = |beginnings: &[&str]| beginnings.iter().any(|beginning| lower.starts_with(beginning));
        let mark = if starts(&["(failed", "[failed", "<-- failed", "failed:"]) {
            Mark::Failed
        } else if starts(&["<--"]) {
            Mark::Executing
        } else if starts(&["-->", "(complete", "(skipped"]) || lower == "complete" {
            Mark::Complete
        } else if starts(&["[not yet entered", "[...next"]) {
            Mark::Ahead
        } else {
            return None;
        };
        Some((mark, comment))
    })
}

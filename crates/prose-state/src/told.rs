//! What a `state.md` tells, also one that a model has written with small deviations.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::program::{Program, one_line};

/// What is marked at a line of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It has finished.
    Complete,
    /// It was being executed, or tried again, or had failed.
    Executing,
    /// It had not been reached.
    Ahead,
}

/// What a `state.md` tells.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// By the line of the program.
    marks: FxHashMap<u32, Mark>,
    /// The last line that had been reached.
    position: u32,
    /// The branches of parallel blocks that were active: the lines, the name, and whether it was complete.
    branches: Vec<(u32, u32, SmolStr, bool)>,
    /// Loops that were active, with their lines and their iteration.
    loops: Vec<(u32, u32, u32)>,
    /// The calls on the stack, with whether they were being executed.
    frames: FxHashMap<u32, bool>,
}

impl Told {
    pub(crate) fn read(state: &str, program: &Program) -> Self {
        let mut told = Self::default();
        told.read_trace(state, program);
        told.read_constructs(state, program);
        told.read_frames(state);
        told
    }

    fn read_trace(&mut self, state: &str, program: &Program) {
        // The same text may stand in several lines, so each line of the trace is looked for behind the one before.
        let mut at = 1;
        for line in code_block(state) {
            let (code, mark) = split_mark(line);
            let code = one_line(code);
            if code.is_empty() {
                continue;
            }
            let found = (at..=program.line_count()).find(|&number| {
                let text = program.line(number);
                one_line(text) == code || one_line(split_mark(text).0) == code
            });
            let Some(number) = found else { continue };
            at = number + 1;
            if let Some(mark) = mark {
                // Behind a string that goes on over several lines, it is about the statement that the string is in.
                self.marks.insert(program.commented_line(number), mark);
                if mark != Mark::Ahead {
                    self.position = self.position.max(number);
                }
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
                self.loops.extend(digits.parse().ok().map(|iteration| (first, last, iteration)));
            } else if !is_loop {
                let is_complete = value.to_ascii_lowercase().starts_with("complete");
                self.branches.push((first, last, key.into(), is_complete));
            }
        }
    }

    fn read_frames(&mut self, state: &str) {
        for line in section(state, "## Call Stack") {
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            if let [id, _, _, status, ..] = cells[..]
                && let Ok(id) = id.parse()
            {
                self.frames.insert(id, status.eq_ignore_ascii_case("executing"));
            }
        }
    }

    pub(crate) fn mark(&self, line: u32) -> Option<Mark> {
        self.marks.get(&line).copied()
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

    /// The iteration of an active loop with these lines; 0 if it had not been entered.
    pub(crate) fn iteration(&self, first: u32, last: u32) -> Option<u32> {
        self.loops.iter().find(|found| (found.0, found.1) == (first, last)).map(|found| found.2)
    }

    /// Whether marks may be about a call: it was being executed, or nothing is told of calls.
    pub(crate) fn executes_in(&self, frame: u32) -> bool {
        let nothing_told: FxHashSet<bool> = self.frames.values().copied().collect();
        !nothing_told.contains(&true) || self.frames.get(&frame) == Some(&true)
    }
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

/// The lines of the first code block behind the title of the trace, or of the first one at all.
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

/// The code of a line of the trace and what the comment behind it says.
fn split_mark(line: &str) -> (&str, Option<Mark>) {
    for (start, _) in line.match_indices('#') {
        let comment = line[start..].trim_start_matches('#').trim().to_ascii_lowercase();
        // `# A; B` stands behind a string, about the line where the string begins first.
        let comment = comment.split("; ").next().unwrap_or_default();
        let mark = if comment.starts_with("<--") || comment.starts_with("(failed") {
            Mark::Executing
        } else if comment.starts_with("-->")
            || comment.starts_with("(complete")
            || comment.starts_with("(skipped")
        {
            Mark::Complete
        } else if comment.starts_with("[not yet entered") || comment.starts_with("[...next") {
            Mark::Ahead
        } else {
            continue;
        };
        return (&line[..start], Some(mark));
    }
    (line, None)
}

//! Which diagnostics are held back while the user types.
//!
//! A half-written line has mistakes that its next letters correct, and many a name has no use before the lines below are written. So the diagnostics that
//! appear while the user types are held back until a pause, or until the user edits somewhere else. What stood before the first letter
//! stays. Everything about that is decided here, over the diagnostics before and after and the edited lines.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use ropey::Rope;

use crate::protocol::lsp;

/// A document that the user is typing in: the lines that were edited, and the diagnostics from before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typing {
    /// The edited lines; none before the first edit.
    lines: Option<RangeInclusive<usize>>,
    before: Vec<Known>,
}

/// A diagnostic from before the user typed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    code: Arc<str>,
    /// Where it may start now. These are several lines if the line was divided.
    lines: RangeInclusive<usize>,
}

/// The lines that an edit replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineEdit {
    first: usize,
    /// How many line breaks are removed and inserted.
    removed: usize,
    inserted: usize,
    /// Whether it is what one or a few keys do: letters, a line break with its indentation, the acceptance of a completion in a line. Others, such as
    /// a paste of several lines or a formatter, leave nothing half-written.
    is_typed: bool,
}

impl LineEdit {
    /// The edit that replaces some bytes of a text, between characters.
    pub(crate) fn of(text: &Rope, replaced: &Range<usize>, inserted: &str) -> Self {
        let first = text.byte_to_line(replaced.start);
        let removed = text.byte_to_line(replaced.end) - first;
        let typed = Rope::from_str(inserted);
        let breaks = typed.len_lines() - 1;
        let is_blank = |line: usize| typed.line(line).chars().all(char::is_whitespace);
        let is_typed = removed <= 1 && breaks <= 1 && (1..=breaks).all(is_blank);
        Self { first, removed, inserted: breaks, is_typed }
    }

    /// The edit that makes one text of another one.
    pub(crate) fn between(before: &Rope, after: &str) -> Self {
        let same = before.bytes().zip(after.bytes()).take_while(|(old, new)| old == new).count();
        let start = (0..=same).rev().find(|at| after.is_char_boundary(*at)).unwrap_or_default();
        let rest = before.len_bytes().min(after.len()) - start;
        let same = before
            .bytes_at(before.len_bytes())
            .reversed()
            .zip(after.bytes().rev())
            .take(rest)
            .take_while(|(old, new)| old == new)
            .count();
        let end =
            (after.len() - same..=after.len()).find(|at| after.is_char_boundary(*at)).unwrap_or(after.len());
        Self::of(before, &(start..before.len_bytes() - (after.len() - end)), &after[start..end])
    }
}

impl Typing {
    /// The state before the first edit of a text with these diagnostics.
    pub(crate) fn new<'a>(diagnostics: impl IntoIterator<Item = &'a lsp::Diagnostic>) -> Self {
        let known = |diagnostic| {
            let (code, line) = key(diagnostic)?;
            Some(Known { code: code.into(), lines: line..=line })
        };
        Self { lines: None, before: diagnostics.into_iter().filter_map(known).collect() }
    }

    /// Whether an edit belongs to what was typed until now. Otherwise the user has left the lines, and what is found there is to be shown.
    pub(crate) fn continues_with(&self, edit: &LineEdit) -> bool {
        self.lines
            .as_ref()
            .is_none_or(|lines| edit.first <= *lines.end() && *lines.start() <= edit.first + edit.removed)
    }

    /// The state after an edit; none if nothing is held back any more.
    pub(crate) fn after(mut self, edit: &LineEdit) -> Option<Self> {
        if !edit.is_typed {
            return None;
        }
        let last = edit.first + edit.removed;
        let last_now = edit.first + edit.inserted;
        let shifted = |line: usize| if line > last { line - edit.removed + edit.inserted } else { line };
        // What the edit divides or joins may be in any of its lines.
        let covered = |lines: &RangeInclusive<usize>| {
            let end = if *lines.end() > last { shifted(*lines.end()) } else { last_now };
            edit.first.min(*lines.start())..=end
        };
        self.lines = Some(self.lines.as_ref().map_or(edit.first..=last_now, covered));
        for known in &mut self.before {
            let (start, end) = (*known.lines.start(), *known.lines.end());
            known.lines = if end < edit.first || start > last {
                shifted(start)..=shifted(end)
            } else {
                covered(&known.lines)
            };
        }
        Some(self)
    }

    /// The diagnostics of the present text that are shown: those that stood before.
    pub(crate) fn shown(&self, mut found: Vec<lsp::Diagnostic>) -> Vec<lsp::Diagnostic> {
        let mut before: Vec<&Known> = self.before.iter().collect();
        found.retain(|diagnostic| {
            let Some((code, line)) = key(diagnostic) else { return true };
            let known = before.iter().position(|known| *known.code == *code && known.lines.contains(&line));
            known.map(|known| before.remove(known)).is_some()
        });
        found
    }
}

/// The code and the line by which a diagnostic is recognised after an edit; none for those of runs, which typing does not cause.
fn key(diagnostic: &lsp::Diagnostic) -> Option<(&str, usize)> {
    match &diagnostic.code {
        Some(lsp::NumberOrString::String(code)) => Some((code, diagnostic.range.start.line as usize)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

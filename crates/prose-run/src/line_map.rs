//! Where the lines of a text are after it was edited.

use std::time::{Duration, Instant};

use prose_syntax::LineIndex;
use prose_syntax::lines::LINE_BREAKS;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// How long the lines are compared. For texts that have little in common, fewer lines are found again then.
const TIMEOUT: Duration = Duration::from_millis(50);

/// Where the lines of a text are in a later one, as far as they are the same.
///
/// Comparing the texts takes no book of the edits between them, and a line that is put back is found again.
#[derive(Debug)]
pub enum LineMap {
    /// The texts are the same.
    Same,
    /// Stretches of lines: where they were, where they are, how many.
    Moved(Vec<(usize, usize, usize)>),
}

impl LineMap {
    /// Compares two texts.
    pub fn new(before: &str, now: &str) -> Self {
        if now == before {
            return LineMap::Same;
        }
        let (before, now) = (lines(before), lines(now));
        let ops =
            capture_diff_slices_deadline(Algorithm::Myers, &before, &now, Some(Instant::now() + TIMEOUT));
        let equal = ops.iter().filter_map(|op| match *op {
            DiffOp::Equal { old_index, new_index, len } => Some((old_index, new_index, len)),
            _ => None,
        });
        // The ends of the texts are the same, too.
        let ends = (before.len(), now.len(), 0);
        LineMap::Moved(equal.chain([ends]).collect())
    }

    /// Where a line is now; none if it has changed. Lines are counted from 0.
    pub fn line(&self, line: u32) -> Option<usize> {
        let line = line as usize;
        match self {
            LineMap::Same => Some(line),
            LineMap::Moved(equal) => equal
                .iter()
                .find(|(old, _, len)| (*old..old + len).contains(&line))
                .map(|(old, new, _)| new + line - old),
        }
    }

    /// Where a line is now, or the edited line that stands in its place: one of as many edited lines as there were before. Lines are counted from 0.
    pub fn line_or_edited(&self, line: u32) -> Option<usize> {
        let LineMap::Moved(equal) = self else { return self.line(line) };
        self.line(line).or_else(|| {
            let line = line as usize;
            let (new, old) = end_before(&swapped(equal), line);
            let (next_old, next_new, _) = equal.iter().find(|(old, ..)| *old > line)?;
            (next_old - old == next_new - new).then_some(new + line - old)
        })
    }

    /// The line in the earlier text of a line in the later one, or the one that the edits around it suggest. Lines are counted from 0.
    pub fn nearest_before(&self, now: u32) -> u32 {
        let now = now as usize;
        let LineMap::Moved(equal) = self else { return now as u32 };
        let found = equal.iter().find(|(_, new, len)| now < new + len);
        let nearest = match found {
            Some((old, new, _)) if now >= *new => old + now - new,
            next => {
                // An edited line stands for the one at the same distance from the last line that is the same; a new one stands for the next.
                let (old, new) = end_before(equal, now);
                let edited = old + (now - new);
                next.map_or(edited, |(old, ..)| edited.min(*old))
            }
        };
        u32::try_from(nearest).unwrap_or(u32::MAX)
    }

    /// The line in the later text of a line in the earlier one, or the one that the edits around it suggest. Lines are counted from 0.
    pub fn nearest_now(&self, before: u32) -> usize {
        let swapped = match self {
            LineMap::Same => LineMap::Same,
            LineMap::Moved(equal) => LineMap::Moved(swapped(equal)),
        };
        swapped.nearest_before(before) as usize
    }
}

/// The same stretches from the later text to the earlier one.
fn swapped(equal: &[(usize, usize, usize)]) -> Vec<(usize, usize, usize)> {
    equal.iter().map(|(old, new, len)| (*new, *old, *len)).collect()
}

/// The lines of both texts after the last stretch of equal lines before a line.
fn end_before(equal: &[(usize, usize, usize)], now: usize) -> (usize, usize) {
    let last = equal.iter().rev().find(|(_, new, len)| new + len <= now);
    last.map_or((0, 0), |(old, new, len)| (old + len, new + len))
}

fn lines(text: &str) -> Vec<&str> {
    let index = LineIndex::new(text);
    let lines = (0..index.count()).map(|line| text.get(index.range(line)).unwrap_or_default());
    lines.map(|line| line.trim_end_matches(LINE_BREAKS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_again_between_several_edits() {
        let map = LineMap::new("a\nb\nc\nd\ne\n", "new\na\nb\nC\nd\r\nnew\ne");
        let now: Vec<_> = (0..5).map(|line| map.line(line)).collect();
        assert_eq!(now, [Some(1), Some(2), None, Some(4), Some(6)]);
    }

    #[test]
    fn an_edited_line_stands_for_the_one_that_was_there() {
        let map = LineMap::new("a\nb\nc\nd\n", "a\nB\nc\nnew\nd\nend");
        let before: Vec<_> = (0..6).map(|line| map.nearest_before(line)).collect();
        assert_eq!(before, [0, 1, 2, 3, 3, 4]);
        let now: Vec<_> = (0..4).map(|line| map.nearest_now(line)).collect();
        assert_eq!(now, [0, 1, 2, 4]);
    }

    #[test]
    fn edited_lines_are_paired_only_with_as_many() {
        let paired = |before: &str, now: &str, line| LineMap::new(before, now).line_or_edited(line);
        assert_eq!(paired("a\nb\nc", "new\na\nB\nc", 1), Some(2));
        assert_eq!(paired("a\nb", "a\nB", 1), Some(1));
        assert_eq!(paired("a\nb\nc", "a\nnew\nB\nc", 1), None);
        assert_eq!(paired("a\nb\nc", "a\nc", 1), None);
    }

    #[test]
    fn nothing_moves_in_the_same_text() {
        let map = LineMap::new("a\nb", "a\nb");
        assert_eq!((map.line(0), map.line(1)), (Some(0), Some(1)));
    }
}

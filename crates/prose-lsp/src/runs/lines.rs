//! Where the lines of a text are after it was edited.

use std::time::{Duration, Instant};

use ropey::Rope;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// How long the lines are compared. For texts that have little in common, fewer lines are found again then.
const TIMEOUT: Duration = Duration::from_millis(50);

/// Where the lines of a text are in a later one, as far as they are the same.
///
/// Comparing the texts takes no book of the edits between them, and a line that is put back is found again.
#[derive(Debug)]
pub(crate) enum LineMap {
    Same,
    /// Stretches of lines: where they were, where they are, how many.
    Moved(Vec<(usize, usize, usize)>),
}

impl LineMap {
    pub(crate) fn new(before: &str, now: &Rope) -> Self {
        if *now == before {
            return LineMap::Same;
        }
        let before = Rope::from_str(before);
        let (before, now) = (lines(&before), lines(now));
        let ops =
            capture_diff_slices_deadline(Algorithm::Myers, &before, &now, Some(Instant::now() + TIMEOUT));
        let equal = ops.iter().filter_map(|op| match *op {
            DiffOp::Equal { old_index, new_index, len } => Some((old_index, new_index, len)),
            _ => None,
        });
        LineMap::Moved(equal.collect())
    }

    /// Where a line is now; none if it has changed. Lines are counted from 0.
    pub(crate) fn line(&self, line: u32) -> Option<usize> {
        let line = line as usize;
        match self {
            LineMap::Same => Some(line),
            LineMap::Moved(equal) => equal
                .iter()
                .find(|(old, _, len)| (*old..old + len).contains(&line))
                .map(|(old, new, _)| new + line - old),
        }
    }

    /// The line in the earlier text of a line in the later one, or the one that the edits around it suggest. Lines are counted from 0.
    pub(crate) fn nearest_before(&self, now: u32) -> u32 {
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
    pub(crate) fn nearest_now(&self, before: u32) -> usize {
        let swapped = match self {
            LineMap::Same => LineMap::Same,
            LineMap::Moved(equal) => {
                LineMap::Moved(equal.iter().map(|(old, new, len)| (*new, *old, *len)).collect())
            }
        };
        swapped.nearest_before(before) as usize
    }
}

/// The lines of both texts after the last stretch of equal lines before a line.
fn end_before(equal: &[(usize, usize, usize)], now: usize) -> (usize, usize) {
    let last = equal.iter().rev().find(|(_, new, len)| new + len <= now);
    last.map_or((0, 0), |(old, new, len)| (old + len, new + len))
}

fn lines(text: &Rope) -> Vec<String> {
    text.lines().map(|line| line.to_string().trim_end_matches(['\n', '\r']).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_again_between_several_edits() {
        let map = LineMap::new("a\nb\nc\nd\ne\n", &Rope::from_str("new\na\nb\nC\nd\r\nnew\ne"));
        let now: Vec<_> = (0..5).map(|line| map.line(line)).collect();
        assert_eq!(now, [Some(1), Some(2), None, Some(4), Some(6)]);
    }

    #[test]
    fn an_edited_line_stands_for_the_one_that_was_there() {
        let map = LineMap::new("a\nb\nc\nd\n", &Rope::from_str("a\nB\nc\nnew\nd\nend"));
        let before: Vec<_> = (0..6).map(|line| map.nearest_before(line)).collect();
        assert_eq!(before, [0, 1, 2, 3, 3, 4]);
        let now: Vec<_> = (0..4).map(|line| map.nearest_now(line)).collect();
        assert_eq!(now, [0, 1, 2, 4]);
    }

    #[test]
    fn nothing_moves_in_the_same_text() {
        let map = LineMap::new("a\nb", &Rope::from_str("a\nb"));
        assert_eq!((map.line(0), map.line(1)), (Some(0), Some(1)));
    }
}

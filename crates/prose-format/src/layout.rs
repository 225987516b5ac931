//! The gaps between the pieces of a formatted program.

use std::ops::Range;

use prose_syntax::SyntaxKind::{COLON, COMMENT, *};
use prose_syntax::fix::line_ending;
use prose_syntax::{Parse, TextEdit, TextRange, TextSize};

use crate::alignment::align;
use crate::gap::Gap;
use crate::pieces::{Piece, Place, collect};
use crate::verify::TABS;
use crate::{comments, spacing};

/// The number of spaces of a level of indentation.
pub(crate) const INDENT: u32 = 2;

/// The part of a program that is formatted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) range: TextRange,
    /// The indentation of the statements in spaces, which does not change.
    pub(crate) column: u32,
}

/// The edits that format a program or a part of it, in the order of the text. Statements in `frozen` are not changed.
pub(crate) fn edits(parse: &Parse, text: &str, part: Option<Part>, frozen: &[TextRange]) -> Vec<TextEdit> {
    let mut pieces = collect(parse);
    comments::indent(&mut pieces);
    mark_broken_lines(&mut pieces, parse);
    let first = part.and_then(|part| pieces.iter().find(|piece| piece.range.start() >= part.range.start()));
    let layout = Layout {
        text,
        base: part.zip(first).map(|(part, first)| (first.depth, part.column)),
        line_break: line_ending(text),
    };
    let mut gaps: Vec<Gap> = Vec::with_capacity(pieces.len() + 1);
    for &piece in &pieces {
        let is_frozen = is_frozen(frozen, piece.range);
        if piece.is_superfluous && !piece.is_broken && !is_frozen {
            continue;
        }
        let before = gaps.last().map(|gap| gap.piece);
        let range = TextRange::new(before.map_or(0.into(), |before| before.range.end()), piece.range.start());
        let wanted = if is_frozen { None } else { layout.gap(before.as_ref(), &piece, range) };
        gaps.push(Gap { range, wanted, piece });
    }
    align(text, &mut gaps);
    let end = layout.end(gaps.last().map(|gap| gap.piece).as_ref(), frozen);
    let wanted = gaps.into_iter().filter_map(|gap| Some((gap.range, gap.wanted?))).chain(end);
    let is_asked_for = |range: TextRange| part.is_none_or(|part| part.range.contains_range(range));
    wanted
        .filter(|(range, new)| is_asked_for(*range) && text[*range] != **new)
        .map(|(range, new_text)| TextEdit { range, new_text })
        .collect()
}

/// Whether one of the frozen statements, which are in the order of the text, contains a range.
fn is_frozen(frozen: &[TextRange], range: TextRange) -> bool {
    let first = frozen.partition_point(|frozen| frozen.end() < range.end());
    frozen[first..].iter().take(2).any(|frozen| frozen.contains_range(range))
}

/// The statements at the top level whose indentation is not what it seems, so that moving a line could change what it belongs to; in
/// their order.
pub(crate) fn unclear(parse: &Parse) -> Vec<TextRange> {
    let misleading =
        parse.diagnostics().iter().filter(|found| matches!(found.code.as_str(), "E101" | "E102"));
    let places: Vec<TextSize> = misleading.map(|found| found.range.start()).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let statements: Vec<TextRange> = parse.syntax().children().map(|node| node.text_range()).collect();
    let mut unclear: Vec<TextRange> =
        places.into_iter().filter_map(|at| statement_at(&statements, at)).collect();
    unclear.sort_by_key(|statement| statement.start());
    unclear.dedup();
    unclear
}

/// The statement at the top level that a place belongs to: the one around it, or before it.
fn statement_at(statements: &[TextRange], at: TextSize) -> Option<TextRange> {
    let begun = statements.partition_point(|statement| statement.start() <= at);
    statements.get(begun.saturating_sub(1)).copied()
}

/// A line with an error is only indented.
fn mark_broken_lines(pieces: &mut [Piece], parse: &Parse) {
    let mistakes: Vec<TextRange> = parse
        .diagnostics()
        .iter()
        .filter(|found| found.code.as_str().starts_with('E') && found.code.as_str() != TABS)
        .map(|found| found.range)
        .collect();
    let mut mistakes = mistakes.into_iter().peekable();
    let mut start = 0;
    while start < pieces.len() {
        let end = pieces[start + 1..]
            .iter()
            .position(|piece| matches!(piece.place, Place::Line | Place::FirstLine | Place::Continuation))
            .map_or(pieces.len(), |length| start + 1 + length);
        let line = TextRange::new(pieces[start].range.start(), pieces[end - 1].range.end());
        let mut has_mistake = false;
        while let Some(mistake) = mistakes.peek() {
            if mistake.start() > line.end() {
                break;
            }
            has_mistake |= mistake.end() >= line.start();
            if mistake.end() > line.end() {
                break;
            }
            mistakes.next();
        }
        if has_mistake || pieces[start..end].iter().any(|piece| piece.is_broken) {
            for piece in &mut pieces[start..end] {
                piece.is_broken = true;
            }
        }
        start = end;
    }
}

struct Layout<'a> {
    text: &'a str,
    /// The level of the statements that are formatted, if not all are, and the column that they keep.
    base: Option<(u32, u32)>,
    line_break: &'static str,
}

impl Layout<'_> {
    /// The formatted gap between two pieces; none to keep the gap of the author.
    fn gap(&self, before: Option<&Piece>, piece: &Piece, range: TextRange) -> Option<String> {
        let Some(before) = before else { return Some(String::new()) };
        let is_line = matches!(piece.place, Place::Line | Place::FirstLine | Place::Continuation);
        if (piece.is_broken && !is_line) || (piece.kind == STRAY_LINE) {
            return None;
        }
        if before.kind == BYTE_ORDER_MARK {
            return Some(String::new());
        }
        match piece.place {
            Place::Within => Some(spacing::between(before, piece).to_owned()),
            place => {
                let may_have_blank_line = match place {
                    Place::Line => true,
                    Place::Item => !is_bracket(before) && !is_bracket(piece),
                    _ => before.kind == COMMENT,
                };
                let most = if may_have_blank_line && !opens_body(before, piece) { 2 } else { 1 };
                let mut gap = self.line_breaks(range.into(), piece.newlines.clamp(1, most));
                gap.extend(std::iter::repeat_n(' ', self.column(piece.depth) as usize));
                Some(gap)
            }
        }
    }

    fn column(&self, depth: u32) -> u32 {
        let (base, column) = self.base.unwrap_or_default();
        column + depth.saturating_sub(base) * INDENT
    }

    /// The text after the last piece, and its replacement.
    fn end(&self, last: Option<&Piece>, frozen: &[TextRange]) -> Option<(TextRange, String)> {
        let end = TextSize::of(self.text);
        match last {
            None => Some((TextRange::up_to(end), String::new())),
            // An unterminated literal may continue to the end of the file.
            Some(last) if is_frozen(frozen, last.range) || last.is_broken || last.kind == BYTE_ORDER_MARK => {
                None
            }
            Some(last) => {
                let rest = TextRange::new(last.range.end(), end);
                Some((rest, self.line_breaks(rest.into(), 1)))
            }
        }
    }

    /// A number of line breaks, taken from the text as far as it has them.
    fn line_breaks(&self, range: Range<usize>, count: u32) -> String {
        let mut rest = &self.text[range];
        let mut breaks = String::new();
        for _ in 0..count {
            let found = rest.find(['\n', '\r']).map(|at| {
                let length = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
                (&rest[at..at + length], &rest[at + length..])
            });
            match found {
                Some((line_break, after)) => {
                    breaks += line_break;
                    rest = after;
                }
                None => breaks += self.line_break,
            }
        }
        breaks
    }
}

/// A comment that is the first thing in a body.
fn opens_body(before: &Piece, piece: &Piece) -> bool {
    before.kind == COLON && piece.kind == COMMENT && piece.depth > before.depth
}

fn is_bracket(piece: &Piece) -> bool {
    matches!(piece.kind, L_PAREN | L_BRACKET | L_BRACE | R_PAREN | R_BRACKET | R_BRACE)
}

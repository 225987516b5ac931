//! Reads TOML that may be broken: each problem is reported once, and every other key keeps its meaning.
//!
//! The parser of `toml` continues after an error, yet one unclosed bracket makes it read all that follows as something else. So a text
//! with errors is split into its statements, those with an error are left out, and the rest is parsed as a whole.

mod lines;
mod problem;

use std::borrow::Cow;
use std::ops::Range;

use prose_syntax::{TextRange, TextSize};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use crate::lines::Lines;
pub use crate::problem::Problem;

/// The most problems that are reported about a text.
pub const MAX_PROBLEMS: usize = 100;

/// Values that are nested more deeply are an error of their own.
const MAX_DEPTH: usize = 80;

/// How many bytes of broken statements are looked at: one that is never closed may continue to the end of the text.
const MAX_BROKEN: usize = 16 << 20;

/// A text in TOML.
#[derive(Debug)]
pub struct Document<'a> {
    /// What is not TOML, in the order of the text.
    pub problems: Vec<Problem>,
    /// Whether every problem was found, so that the root holds the whole document. Otherwise there are too many.
    pub is_complete: bool,
    lines: Lines<'a>,
    /// The text without the statements that have a problem.
    sound: Cow<'a, str>,
    /// Where a byte was inserted that is missing in the text, ascending.
    inserted: Vec<usize>,
}

impl<'a> Document<'a> {
    /// Reads a text of less than 4 GiB.
    pub fn parse(text: &'a str) -> Self {
        let mut reader = StatementReader {
            text,
            lines: Lines::new(text),
            sound: String::new(),
            inserted: Vec::new(),
            problems: Vec::new(),
            broken_bytes: 0,
        };
        let (_, errors) = DeTable::parse_recoverable(text);
        if errors.iter().all(problem::is_about_names) {
            return reader.finish(Cow::Borrowed(text), &errors, true);
        }
        let is_complete = reader.read();
        let sound = std::mem::take(&mut reader.sound);
        let (_, errors) = DeTable::parse_recoverable(&sound);
        reader.finish(Cow::Owned(sound), &errors, is_complete)
    }

    /// The table of the whole text, without the statements that have a problem. [`Document::range`] converts its spans.
    pub fn root(&self) -> Spanned<DeValue<'_>> {
        let (root, _) = DeTable::parse_recoverable(&self.sound);
        Spanned::new(root.span(), DeValue::Table(root.into_inner()))
    }

    /// The place of a span of the root in the text.
    pub fn range(&self, span: Range<usize>) -> TextRange {
        text_range(original(&self.inserted, span))
    }

    /// Whether a place is in a line that has a problem.
    pub fn is_broken_at(&self, place: TextSize) -> bool {
        let line = |place: TextSize| self.lines.line_at(place.into());
        self.problems.iter().any(|problem| line(problem.range.start()) == line(place))
    }

    /// The line of a place in the text and its column in characters, both from 1.
    pub fn position(&self, place: TextSize) -> (usize, usize) {
        let line = self.lines.line_at(place.into());
        let start = self.lines.range(line..line).start;
        (line + 1, self.lines.text(line)[..usize::from(place) - start].chars().count() + 1)
    }
}

/// Reads a text one statement at a time.
struct StatementReader<'a> {
    text: &'a str,
    lines: Lines<'a>,
    /// What was read, with spaces in the place of broken statements.
    sound: String,
    inserted: Vec<usize>,
    problems: Vec<Problem>,
    broken_bytes: usize,
}

impl<'a> StatementReader<'a> {
    /// Reads all statements. Returns whether the text did not have too many problems for that.
    fn read(&mut self) -> bool {
        let mut line = 0;
        while line < self.lines.count() {
            if self.problems.len() >= MAX_PROBLEMS || self.broken_bytes >= MAX_BROKEN {
                let rest = self.lines.range(line..self.lines.count());
                self.keep(rest);
                return false;
            }
            let is_header = self.lines.text(line).trim_start().starts_with('[');
            line = if is_header { self.header(line) } else { self.statement(line) };
        }
        true
    }

    /// Reads the header of a table. Returns the line after it.
    fn header(&mut self, line: usize) -> usize {
        let range = self.lines.range(line..line + 1);
        let Some((error, place)) = self.first_error(range.clone()) else {
            self.keep(range);
            return line + 1;
        };
        if let Some(end) = self.lines.missing_bracket(line) {
            self.problems.push(Problem::missing_bracket(end));
            self.keep(range.start..end);
            self.inserted.push(self.sound.len());
            self.sound.push(']');
            self.keep(end..range.end);
            return line + 1;
        }
        self.report(&error, place);
        // Without its header, what is below it would belong to the table above.
        let header = self.text[range.clone()].find(']').map(|at| range.start..range.start + at + 1);
        match header.filter(|header| self.first_error(header.clone()).is_none()) {
            Some(header) => {
                self.keep(header.clone());
                self.leave_out(header.end..range.end);
                line + 1
            }
            None => {
                let next = self.lines.end_of_table(line);
                self.leave_out(self.lines.range(line..next));
                next
            }
        }
    }

    /// Reads a key with its value. Returns the line after it.
    fn statement(&mut self, line: usize) -> usize {
        let start = self.lines.range(line..line + 1).start;
        let Extent { end, opener } = extent(&self.text[start..]);
        let range = start..start + end;
        let Some((error, place)) = self.first_error(range.clone()) else {
            self.keep(range.clone());
            return self.lines.line_at(range.end.saturating_sub(1)).max(line) + 1;
        };
        self.broken_bytes += range.len();
        let is_long = self.text[range.clone()].trim_end().contains('\n');
        let next = if opener.is_some() && is_long { self.lines.end_of_statement(line) } else { line + 1 };
        match opener {
            // The parser read what follows as a part of this value.
            Some(opener) if self.lines.line_at(place.start) >= next => {
                self.problems.push(Problem::unclosed(start + opener, self.text));
            }
            _ => self.report(&error, place),
        }
        self.leave_out(self.lines.range(line..next));
        next
    }

    /// The first error in a part of the text and its place. Errors about names are found once the other statements are known.
    fn first_error(&self, part: Range<usize>) -> Option<(Error, Range<usize>)> {
        let (_, errors) = DeTable::parse_recoverable(&self.text[part.clone()]);
        let errors = errors.into_iter().filter(|error| !problem::is_about_names(error));
        let placed = errors.map(|error| {
            let span = error.span().unwrap_or(part.len()..part.len());
            (error, part.start + span.start..part.start + span.end)
        });
        placed.min_by_key(|(_, place)| place.start)
    }

    fn report(&mut self, error: &Error, place: Range<usize>) {
        self.problems.push(Problem::new(error, place, self.text, &self.lines));
    }

    fn keep(&mut self, range: Range<usize>) {
        self.sound.push_str(&self.text[range]);
    }

    fn leave_out(&mut self, range: Range<usize>) {
        let blank = |byte| if byte == b'\n' { '\n' } else { ' ' };
        self.sound.extend(self.text[range].bytes().map(blank));
    }

    /// The document that consists of sound statements, whose errors are about names.
    fn finish(mut self, sound: Cow<'a, str>, errors: &[Error], is_complete: bool) -> Document<'a> {
        let end = sound.len();
        for error in errors.iter().filter(|error| problem::is_about_names(error)).take(MAX_PROBLEMS) {
            let place = original(&self.inserted, error.span().unwrap_or(end..end));
            self.report(error, place);
        }
        self.problems.sort_by_key(|problem| (problem.range.start(), problem.range.end()));
        self.problems.truncate(MAX_PROBLEMS);
        Document { problems: self.problems, is_complete, lines: self.lines, sound, inserted: self.inserted }
    }
}

/// A span of a text without the bytes that were inserted into it.
fn original(inserted: &[usize], span: Range<usize>) -> Range<usize> {
    let original = |place: usize| place - inserted.partition_point(|at| *at < place);
    original(span.start)..original(span.end.max(span.start))
}

fn text_range(range: Range<usize>) -> TextRange {
    let size = |place| TextSize::try_from(place).expect("texts are shorter than 4 GiB");
    TextRange::new(size(range.start), size(range.end))
}

/// How far a statement reaches.
struct Extent {
    /// The place after it.
    end: usize,
    /// Where the bracket or the quotes stand that let its value continue in further lines.
    opener: Option<usize>,
}

/// The extent of the statement at the start of a text.
fn extent(text: &str) -> Extent {
    let mut opener = None;
    let mut depth = 0;
    let mut is_value_next = false;
    for token in Source::new(text).lex() {
        let span = token.span();
        let is_value = std::mem::replace(&mut is_value_next, false);
        match token.kind() {
            TokenKind::Newline if depth == 0 => return Extent { end: span.end(), opener },
            TokenKind::Whitespace => is_value_next = is_value,
            TokenKind::Equals => is_value_next = depth == 0,
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket if is_value || depth > 0 => {
                opener.get_or_insert(span.start());
                depth += 1;
                if depth > MAX_DEPTH {
                    return Extent { end: span.end(), opener };
                }
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket if depth > 0 => depth -= 1,
            TokenKind::MlBasicString | TokenKind::MlLiteralString if is_value => opener = Some(span.start()),
            _ => {}
        }
    }
    Extent { end: text.len(), opener }
}

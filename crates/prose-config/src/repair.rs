//! Broken TOML: what is wrong is reported once, and removed, so that the rest of the file means what it means without it.
//!
//! The TOML parser goes on after an error, yet one unclosed bracket makes it read all that follows as something else. So each statement
//! with an error is blanked and the rest parsed again.

use std::collections::HashSet;
use std::ops::Range;

use prose_syntax::{Code, Diagnostic, Fix, FixSafety, TextEdit, TextRange, TextSize};
use toml::de::{DeTable, DeValue, Error};

use crate::document::MOST_PROBLEMS;
use crate::setting::shorten;

/// The text without its errors.
pub(crate) struct Repaired {
    pub(crate) text: String,
    /// Where its places are in the text that was given.
    pub(crate) positions: Positions,
    pub(crate) problems: Vec<Diagnostic>,
    /// Whether no error is left.
    pub(crate) is_sound: bool,
}

/// Where the places of the repaired text are in the text as it was.
#[derive(Default)]
pub(crate) struct Positions {
    /// The places in the repaired text where a byte was inserted, ascending.
    inserted: Vec<usize>,
}

impl Positions {
    pub(crate) fn range(&self, span: Range<usize>) -> TextRange {
        TextRange::new(self.original(span.start), self.original(span.end.max(span.start)))
    }

    fn original(&self, place: usize) -> TextSize {
        let inserted = self.inserted.partition_point(|at| *at < place);
        TextSize::try_from(place - inserted).expect("longer texts are refused before")
    }

    fn insert(&mut self, place: usize) {
        let index = self.inserted.partition_point(|at| *at < place);
        for later in &mut self.inserted[index..] {
            *later += 1;
        }
        self.inserted.insert(index, place);
    }
}

/// Reports what is no TOML and removes it.
pub(crate) fn repair(text: &str) -> Repaired {
    // Each round parses the whole text; most files are done after the second.
    let rounds = (4_000_000 / text.len().max(1)).clamp(3, 30);
    let mut repaired = Repaired {
        text: text.to_owned(),
        positions: Positions::default(),
        problems: Vec::new(),
        is_sound: false,
    };
    let mut kept = HashSet::new();
    for _ in 0..rounds {
        if !repaired.round(&mut kept) {
            repaired.is_sound = true;
            break;
        }
    }
    repaired
}

impl Repaired {
    /// Repairs what one parse finds; `kept` are the lines whose errors do no harm. Says whether there was anything.
    fn round(&mut self, kept: &mut HashSet<usize>) -> bool {
        let text = std::mem::take(&mut self.text);
        let lines = Lines::new(&text);
        let (table, errors) = DeTable::parse_recoverable(&text);
        let errors = errors.iter().map(|error| Mistake::new(error, &text, &lines));
        let mut errors: Vec<_> = errors.filter(|error| !kept.contains(&error.line)).collect();
        errors.sort_by_key(|error| error.place.start);
        let long_values = if errors.is_empty() { Vec::new() } else { long_values(table.get_ref(), &text) };
        // Of two statements about one name the first may turn out to be broken.
        if errors.iter().any(|error| !error.is_about_names()) {
            errors.retain(|error| !error.is_about_names());
        }
        let mut blank = Vec::new();
        let mut bracket = None;
        let mut done = 0;
        for error in &errors {
            if error.line < done {
                continue;
            }
            done = error.line + 1;
            if error.is_about_names() {
                kept.insert(error.line);
                self.report(error, &text, &lines);
            } else if let Some(value) = error.long_value(&long_values, &lines) {
                let first = lines.line_at(value.start);
                let end = lines.end_of_statement(first);
                blank.push(lines.range(first..end));
                if error.line < end {
                    self.report(error, &text, &lines);
                } else {
                    self.report_unclosed(value, &text);
                }
                // What follows was read as a part of this value.
                break;
            } else if let Some(at) = lines.missing_bracket(error.line) {
                bracket = Some(at);
                self.report_missing_bracket(at);
                // What follows was read as something of another table.
                break;
            } else {
                self.report(error, &text, &lines);
                let line = lines.text(error.line);
                if !line.trim_start().starts_with('[') {
                    blank.push(lines.range(error.line..error.line + 1));
                } else if line.contains(']') {
                    // Without the header, what is below it would belong to the table above.
                    kept.insert(error.line);
                } else {
                    blank.push(lines.range(error.line..lines.end_of_table(error.line)));
                }
                if line.contains(['[', '{']) || line.contains("\"\"\"") || line.contains("'''") {
                    // What follows may have been read as a part of it.
                    break;
                }
            }
        }
        let found = !errors.is_empty();
        drop(table);
        self.text = text;
        self.blank(&blank);
        if let Some(at) = bracket {
            self.text.insert(at, ']');
            self.positions.insert(at);
        }
        found
    }

    /// Puts spaces in the place of all but newlines.
    fn blank(&mut self, ranges: &[Range<usize>]) {
        if ranges.is_empty() {
            return;
        }
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        for byte in ranges.iter().flat_map(|range| range.clone()) {
            if bytes[byte] != b'\n' {
                bytes[byte] = b' ';
            }
        }
        // The ranges are whole lines, so no character is cut.
        self.text = String::from_utf8(bytes).unwrap_or_default();
    }

    fn report(&mut self, error: &Mistake<'_>, text: &str, lines: &Lines<'_>) {
        if self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        let range = self.positions.range(error.place.clone());
        let fix = error.fix(text, range);
        self.problems.push(Diagnostic::new(Code::E141, range, error.message(text, lines)).with_fix(fix));
    }

    fn report_unclosed(&mut self, value: &Range<usize>, text: &str) {
        let opener =
            ["\"\"\"", "'''", "[", "{"].into_iter().find(|opener| text[value.start..].starts_with(opener));
        let opener = opener.unwrap_or_default();
        let range = self.positions.range(value.start..value.start + opener.len());
        let message = format!("the `{opener}` is never closed");
        self.problems.push(Diagnostic::new(Code::E141, range, message));
    }

    fn report_missing_bracket(&mut self, at: usize) {
        let range = self.positions.range(at..at);
        let fix = Fix {
            title: "Insert `]`".to_owned(),
            safety: FixSafety::Safe,
            edits: vec![TextEdit::insert(range.start(), "]")],
        };
        let message = "a `]` is missing behind the name of the table";
        self.problems.push(Diagnostic::new(Code::E141, range, message).with_fix(fix));
    }
}

/// An error of the TOML parser.
struct Mistake<'a> {
    place: Range<usize>,
    line: usize,
    error: &'a Error,
}

impl<'a> Mistake<'a> {
    fn new(error: &'a Error, text: &str, lines: &Lines<'_>) -> Self {
        let place = error.span().unwrap_or(text.len()..text.len());
        let start = text.floor_char_boundary(place.start);
        let end = text.ceil_char_boundary(place.end.max(place.start));
        Self { place: start..end, line: lines.line_at(start), error }
    }

    /// Whether a key is there twice, or as a value and as a table.
    fn is_about_names(&self) -> bool {
        let message = self.error.message();
        message.starts_with("duplicate key") || message.starts_with("cannot extend")
    }

    /// The value of several lines that the error is in.
    fn long_value<'v>(&self, long_values: &'v [Range<usize>], lines: &Lines<'_>) -> Option<&'v Range<usize>> {
        long_values
            .iter()
            .find(|value| lines.line_at(value.start) <= self.line && self.place.start <= value.end)
    }

    /// Whether it is where a value should be.
    fn is_value(&self, text: &str) -> bool {
        let before = text[..self.place.start].trim_end();
        !self.is_about_names() && before.ends_with(['=', '[', ','])
    }

    fn message(&self, text: &str, lines: &Lines<'_>) -> String {
        let found = &text[self.place.clone()];
        let control = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        if self.is_about_names() {
            let is_header = lines.text(self.line).trim_start().starts_with('[');
            let advice = if is_header { "write its keys in one place" } else { "only the first one counts" };
            format!("`{}` is there already; {advice}", shorten(found))
        } else if let Some(control) = found.chars().find(control) {
            format!("the character U+{:04X} has no place in TOML", u32::from(control))
        } else if self.is_value(text) && !found.is_empty() {
            format!("`{}` is no value of TOML; text is written in quotes", shorten(found))
        } else if text[..self.place.start].trim_end_matches([' ', '\t']).ends_with('=') {
            "a value is missing behind the `=`".to_owned()
        } else {
            format!("this is not TOML: {}", self.error.message())
        }
    }

    fn fix(&self, text: &str, range: TextRange) -> Option<Fix> {
        let word = &text[self.place.clone()];
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
        (self.is_value(text) && !word.is_empty() && word.chars().all(is_word)).then(|| Fix {
            title: "Put into quotes".to_owned(),
            safety: FixSafety::Safe,
            edits: vec![TextEdit::replace(range, format!("\"{word}\""))],
        })
    }
}

/// Where values are that go on in further lines.
fn long_values(table: &DeTable<'_>, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut tables = vec![table];
    while let Some(table) = tables.pop() {
        for value in table.values() {
            match value.get_ref() {
                _ if text.get(value.span()).is_some_and(|value| value.contains('\n')) => {
                    found.push(value.span())
                }
                DeValue::Table(table) => tables.push(table),
                _ => {}
            }
        }
    }
    found
}

/// The lines of a text.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let next = |newline: (usize, &str)| newline.0 + 1;
        Self { text, starts: [0].into_iter().chain(text.match_indices('\n').map(next)).collect() }
    }

    pub(crate) fn line_at(&self, place: usize) -> usize {
        self.starts.partition_point(|start| *start <= place) - 1
    }

    fn range(&self, lines: Range<usize>) -> Range<usize> {
        let start = |line: usize| self.starts.get(line).copied().unwrap_or(self.text.len());
        start(lines.start)..start(lines.end)
    }

    fn text(&self, line: usize) -> &'a str {
        &self.text[self.range(line..line + 1)]
    }

    /// The line behind the statement that starts in the line `first`.
    fn end_of_statement(&self, first: usize) -> usize {
        let indentation = |line: &str| line.len() - line.trim_start().len();
        let most = indentation(self.text(first));
        let starts = |line: &usize| {
            let text = self.text(*line);
            indentation(text) <= most && starts_statement(text.trim())
        };
        (first + 1..self.starts.len()).find(starts).unwrap_or(self.starts.len())
    }

    /// The line of the next header behind the line `first`.
    fn end_of_table(&self, first: usize) -> usize {
        let is_header = |line: &usize| self.text(*line).trim_start().starts_with('[');
        (first + 1..self.starts.len()).find(is_header).unwrap_or(self.starts.len())
    }

    /// Where the name of a table ends that has no bracket behind it.
    fn missing_bracket(&self, line: usize) -> Option<usize> {
        let text = self.text(line);
        let name = text.trim().strip_prefix('[')?;
        let is_name = !name.is_empty() && name.bytes().all(|b| is_key_byte(b) || b == b'.');
        is_name.then(|| self.range(line..line + 1).start + text.trim_end().len())
    }
}

/// Whether a line looks like a header, or like a key with its value, and not like the further lines of a value.
fn starts_statement(line: &str) -> bool {
    let is_key = |key: &str| {
        !key.is_empty() && key.bytes().all(|b| is_key_byte(b) || matches!(b, b'.' | b' ' | b'\t'))
    };
    if let Some(header) = line.strip_prefix('[') {
        return header.split(']').next().is_some_and(is_key);
    }
    line.split_once('=').is_some_and(|(key, _)| {
        let key = key.trim();
        let quoted = key.len() > 1 && (key.starts_with('"') && key.ends_with('"'));
        is_key(key) || quoted
    })
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

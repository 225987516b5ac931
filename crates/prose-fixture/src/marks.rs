//! Marks: comments below a line with its expected diagnostics.

use std::fmt::Write as _;

use rowan::{TextRange, TextSize};

use crate::offset;

const SEVERITIES: [&str; 4] = ["error", "warning", "info", "hint"];

/// A diagnostic that is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The bytes it is about.
    pub range: TextRange,
    /// `error`, `warning`, `info` or `hint`.
    pub severity: &'static str,
    /// The code, such as `E007`.
    pub code: String,
    /// A part of the message, if the mark has one.
    pub message: Option<String>,
}

impl Mark {
    /// Whether `label` says the same of the same bytes, where it looks like `error[E007] the message`.
    pub fn matches(&self, range: TextRange, label: &str) -> bool {
        let Some(message) = label.strip_prefix(&format!("{}[{}]", self.severity, self.code)) else {
            return false;
        };
        range == self.range && self.message.as_ref().is_none_or(|part| message.contains(part))
    }

    /// The text of the mark after its carets.
    fn label(&self) -> String {
        let Mark { severity, code, message, .. } = self;
        match message {
            Some(message) => format!("{severity}[{code}] {message}"),
            None => format!("{severity}[{code}]"),
        }
    }
}

/// The text with `found` as marks below its lines, in the order of the text. Marks that the text has already are left out.
///
/// The second part of each finding comes after its carets, so that `error[E007] the message` gives a mark that
/// [`Fixture::parse`](crate::Fixture::parse) reads again.
pub fn render(text: &str, found: &[(TextRange, String)]) -> String {
    let notes = found.iter().map(|(range, label)| Note { range: *range, label: label.clone(), sign: "" });
    lay_out(text, notes.collect(), "")
}

/// Fails with a readable difference if `found` differs from the marks.
pub(crate) fn compare(text: &str, marks: &[Mark], found: &[(TextRange, String)]) -> Result<(), String> {
    let mut unexpected: Vec<&(TextRange, String)> = found.iter().collect();
    let mut notes = Vec::new();
    let mut equal = true;
    for mark in marks {
        let found = unexpected.iter().position(|(range, label)| mark.matches(*range, label));
        if let Some(found) = found {
            unexpected.remove(found);
        }
        equal &= found.is_some();
        let sign = if found.is_some() { "  " } else { "- " };
        notes.push(Note { range: mark.range, label: mark.label(), sign });
    }
    if equal && unexpected.is_empty() {
        return Ok(());
    }
    let unexpected = unexpected.into_iter();
    notes.extend(unexpected.map(|(range, label)| Note { range: *range, label: label.clone(), sign: "+ " }));
    Err(lay_out(text, notes, "  "))
}

/// Reads the marks of a text.
#[track_caller]
pub(crate) fn parse(text: &str) -> Vec<Mark> {
    let lines = Line::of(text);
    let mut marks = Vec::new();
    let mut marked: Option<usize> = None;
    for (index, line) in lines.iter().enumerate() {
        let Some(sketch) = line.sketch else {
            marked = Some(index);
            continue;
        };
        let marked = marked.unwrap_or_else(|| panic!("there is no line above the mark `{}`", line.text));
        let at = |line: &Line<'_>, column| {
            line.offset_of(column).unwrap_or_else(|| {
                panic!("the mark `{}` goes beyond its line `{}`", sketch.source, line.text)
            })
        };
        let start = at(&lines[marked], sketch.start);
        let end = match sketch.end {
            End::Column(column) => at(&lines[marked], column),
            End::Below { lines: below, column } => {
                let line = lines[marked..].iter().filter(|line| line.sketch.is_none()).nth(below);
                at(line.unwrap_or_else(|| panic!("the mark `{}` ends below the text", sketch.source)), column)
            }
        };
        marks.push(sketch.mark(TextRange::new(start, end)));
    }
    marks
}

/// A line of a text.
struct Line<'a> {
    start: usize,
    /// The line without its end.
    text: &'a str,
    /// `\n`, `\r\n`, or in the last line nothing.
    end: &'a str,
    /// Its text, if it is a mark.
    sketch: Option<Sketch<'a>>,
}

impl<'a> Line<'a> {
    #[track_caller]
    fn of(text: &'a str) -> Vec<Line<'a>> {
        let mut start = 0;
        let mut lines = Vec::new();
        // After the last newline is another line, empty, where a diagnostic may be.
        for part in text.split('\n') {
            let next = (start + part.len() + 1).min(text.len());
            let content = part.strip_suffix('\r').unwrap_or(part);
            let end = &text[start + content.len()..next];
            lines.push(Line { start, text: content, end, sketch: Sketch::of(content) });
            start = next;
        }
        lines
    }

    fn offset_of(&self, column: usize) -> Option<TextSize> {
        let mut columns = self.text.char_indices().map(|(at, _)| at).chain([self.text.len()]);
        columns.nth(column).map(|at| offset(self.start + at))
    }

    /// The column of a place in this line, which for one in the end of the line is after the last character.
    fn column_of(&self, place: TextSize) -> usize {
        let bytes = (usize::from(place) - self.start).min(self.text.len());
        self.text.char_indices().take_while(|(at, _)| *at < bytes).count()
    }
}

/// A mark as it is drawn, in columns.
#[derive(Clone, Copy)]
struct Sketch<'a> {
    source: &'a str,
    start: usize,
    end: End,
    label: &'a str,
}

#[derive(Clone, Copy)]
enum End {
    /// In the line above.
    Column(usize),
    /// So many lines below that.
    Below { lines: usize, column: usize },
}

impl<'a> Sketch<'a> {
    /// Reads a line if it is a mark: a comment that starts with carets, or with a bar and a severity.
    #[track_caller]
    fn of(line: &'a str) -> Option<Sketch<'a>> {
        let comment = line.trim_start().strip_prefix('#')?;
        let hash = line.chars().count() - comment.chars().count() - 1;
        let (comment, left) = match comment.strip_prefix('<') {
            Some(moved) => (moved, hash),
            None => (comment, hash + 1),
        };
        let drawing = comment.trim_start();
        let start = left + (comment.len() - drawing.len());
        let label = drawing.trim_start_matches('^');
        let width = drawing.len() - label.len();
        let (width, label) = match label.strip_prefix('|') {
            Some(label) if width == 0 && starts_like_label(label) => (0, label),
            _ if width == 0 => return None,
            _ => (width, label),
        };
        let (end, label) = match label.strip_prefix("..+") {
            Some(rest) => {
                below(rest).unwrap_or_else(|| panic!("`..+2:5` looks otherwise in the mark `{line}`"))
            }
            None => (End::Column(start + width), label),
        };
        Some(Sketch { source: line, start, end, label: label.trim() })
    }

    #[track_caller]
    fn mark(&self, range: TextRange) -> Mark {
        let read = || {
            let (severity, rest) = self.label.split_once('[')?;
            let (code, message) = rest.split_once(']')?;
            let severity = SEVERITIES.into_iter().find(|known| *known == severity)?;
            let message = message.trim();
            let message = (!message.is_empty()).then(|| message.to_owned());
            Some(Mark { range, severity, code: code.to_owned(), message })
        };
        read().unwrap_or_else(|| {
            panic!(
                "a mark says `error[E001]`, `warning[…]`, `info[…]` or `hint[…]`, unlike `{}`",
                self.source
            )
        })
    }
}

/// Whether `word[` follows, with spaces around the word. A bar alone may well start the comment of an author.
fn starts_like_label(text: &str) -> bool {
    text.trim_start().trim_start_matches(char::is_alphanumeric).starts_with('[')
}

fn below(text: &str) -> Option<(End, &str)> {
    let (place, label) = text.split_once(' ')?;
    let (lines, column) = place.split_once(':')?;
    Some((End::Below { lines: lines.parse().ok()?, column: column.parse().ok()? }, label))
}

/// A mark to draw.
struct Note {
    range: TextRange,
    label: String,
    sign: &'static str,
}

/// Draws a text with notes below its lines, and `sign` before them.
fn lay_out(text: &str, mut notes: Vec<Note>, sign: &str) -> String {
    notes.sort_by_key(|note| (note.range.start(), note.range.end()));
    let lines = Line::of(text);
    // A note in a line of marks can only be drawn if that line stays.
    let stays = |line: &Line<'_>, next: usize| {
        line.sketch.is_none()
            || notes.iter().any(|note| (line.start..next).contains(&usize::from(note.range.start())))
    };
    let nexts = lines.iter().skip(1).map(|line| line.start).chain([usize::MAX]);
    let lines: Vec<(&Line<'_>, usize)> =
        lines.iter().zip(nexts).filter(|(line, next)| stays(line, *next)).collect();
    let mut drawn = String::new();
    for (index, (line, next)) in lines.iter().enumerate() {
        if !line.text.is_empty() || !line.end.is_empty() {
            _ = write!(drawn, "{sign}{}{}", line.text, line.end);
        }
        let notes =
            notes.iter().filter(|note| (line.start..*next).contains(&usize::from(note.range.start())));
        for note in notes {
            if !drawn.is_empty() && !drawn.ends_with('\n') {
                drawn.push('\n');
            }
            _ = writeln!(drawn, "{}{} {}", note.sign, draw(note.range, &lines[index..]), note.label);
        }
    }
    drawn
}

/// Draws a range that starts in the first of `lines`.
fn draw(range: TextRange, lines: &[(&Line<'_>, usize)]) -> String {
    let (line, _) = lines[0];
    let start = line.column_of(range.start());
    let shape = if range.is_empty() {
        "|".to_owned()
    } else if usize::from(range.end()) <= line.start + line.text.len() {
        "^".repeat(line.column_of(range.end()) - start)
    } else {
        let end = usize::from(range.end());
        let below = lines.iter().position(|(_, next)| end < *next).unwrap_or(lines.len() - 1);
        let width = (line.text.chars().count() - start).max(1);
        format!("{}..+{below}:{}", "^".repeat(width), lines[below].0.column_of(range.end()))
    };
    if start == 0 { format!("#<{shape}") } else { format!("#{}{shape}", " ".repeat(start - 1)) }
}

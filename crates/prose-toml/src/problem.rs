//! What is reported about a text that is not TOML.

use std::ops::Range;

use prose_syntax::text::shorten;
use prose_syntax::{Fix, TextEdit, TextRange};
use toml::de::Error;

use crate::lines::Lines;
use crate::text_range;

/// How many characters of the text a message shows.
const MAX_SHOWN: usize = 40;

/// Something that is not TOML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub range: TextRange,
    /// What is wrong.
    pub message: String,
    /// The change that was probably meant.
    pub fix: Option<Fix>,
}

impl Problem {
    /// An error of the parser at a place of the text.
    pub(crate) fn new(error: &Error, place: Range<usize>, text: &str, lines: &Lines<'_>) -> Self {
        let start = text.floor_char_boundary(place.start);
        let end = text.ceil_char_boundary(place.end.max(place.start));
        let mistake = Mistake { error, found: &text[start..end], before: &text[..start] };
        let is_header = || lines.text(lines.line_at(start)).trim_start().starts_with('[');
        let range = text_range(start..end);
        Self { range, message: mistake.message(is_header), fix: mistake.fix(range) }
    }

    /// A value that is opened at a place and never closed.
    pub(crate) fn unclosed(place: usize, text: &str) -> Self {
        let openers = ["\"\"\"", "'''", "[", "{"];
        let opener = openers.into_iter().find(|opener| text[place..].starts_with(opener)).unwrap_or_default();
        let range = text_range(place..place + opener.len());
        Self { range, message: format!("unclosed `{opener}`"), fix: None }
    }

    /// A header whose bracket is missing at a place.
    pub(crate) fn missing_bracket(place: usize) -> Self {
        let range = text_range(place..place);
        let fix = Fix::safe("Insert `]`", TextEdit::insert(range.start(), "]"));
        Self { range, message: "missing `]` after the table name".to_owned(), fix: Some(fix) }
    }
}

/// Whether an error is about a key that is defined twice, or as a value and as a table.
pub(crate) fn is_about_names(error: &Error) -> bool {
    error.message().starts_with("duplicate key") || error.message().starts_with("cannot extend")
}

/// An error with the text around it.
struct Mistake<'a> {
    error: &'a Error,
    found: &'a str,
    before: &'a str,
}

impl Mistake<'_> {
    /// Whether it is where a value should be.
    fn is_value(&self) -> bool {
        !is_about_names(self.error) && self.before.trim_end().ends_with(['=', '[', ','])
    }

    fn message(&self, is_header: impl FnOnce() -> bool) -> String {
        let is_control = |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        let found = shorten(self.found, MAX_SHOWN);
        if is_about_names(self.error) {
            let advice =
                if is_header() { "write its keys in one place" } else { "only the first one is used" };
            format!("`{found}` is already defined; {advice}")
        } else if let Some(control) = self.found.chars().find(is_control) {
            format!("the character U+{:04X} is not allowed in TOML", u32::from(control))
        } else if self.is_value() && !found.is_empty() {
            format!("`{found}` is not a TOML value; strings need quotes")
        } else if self.before.trim_end_matches([' ', '\t']).ends_with('=') {
            "missing value after `=`".to_owned()
        } else {
            format!("invalid TOML: {}", self.error.message())
        }
    }

    fn fix(&self, range: TextRange) -> Option<Fix> {
        let word = self.found;
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
        let edit = TextEdit::replace(range, format!("\"{word}\""));
        (self.is_value() && !word.is_empty() && word.chars().all(is_word))
            .then(|| Fix::safe("Put into quotes", edit))
    }
}

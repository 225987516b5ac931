//! Escaping and formatting texts of programs as Markdown.

use std::borrow::Cow;
use std::fmt::Write;

use prose_syntax::text::{self, one_line, shorten};

/// A block of code, fenced so that nothing in it ends it.
pub fn fenced(language: &str, code: &str) -> String {
    let fence = "`".repeat((most_backticks(code) + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}", code.trim_end())
}

/// Code in a line of text.
pub(crate) fn inline(code: &str) -> String {
    const MAX_CODE: usize = 200;
    let code = one_line(code);
    let code = shorten(&code, MAX_CODE);
    if code.is_empty() {
        return "``` ```".to_owned();
    }
    let marks = "`".repeat(most_backticks(&code) + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{marks}{pad}{code}{pad}{marks}")
}

/// The most backticks in a row.
fn most_backticks(code: &str) -> usize {
    code.split(|char| char != '`').map(str::len).max().unwrap_or(0)
}

/// Text with markup escaped. Backticks are kept, since they quote names.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for line in text.lines() {
        if !escaped.is_empty() {
            escaped.push('\n');
        }
        if line.starts_with(['#', '>', '-', '+', '=', '|', '~']) {
            escaped.push('\\');
        }
        let mut pieces = line.split('`').peekable();
        let mut is_code = false;
        while let Some(piece) = pieces.next() {
            // The last backtick of an odd number quotes nothing.
            let is_quoted = is_code && pieces.peek().is_some();
            for char in piece.chars() {
                if !is_quoted && matches!(char, '<' | '[' | '*' | '\\') {
                    escaped.push('\\');
                }
                escaped.push(char);
            }
            if pieces.peek().is_some() {
                escaped.push('`');
            }
            is_code = !is_code;
        }
    }
    escaped
}

/// The first line, cut to a length that fits a hover.
pub(crate) fn first_line(text: &str) -> Cow<'_, str> {
    const MAX_LINE: usize = 120;
    shorten(text::first_line(text), MAX_LINE)
}

/// The beginning of a long text: a few lines, without the indentation that they share.
pub(crate) fn excerpt(text: &str) -> String {
    const MAX_LINES: usize = 6;
    const MAX_LINE: usize = 160;
    let lines: Vec<&str> =
        text.lines().skip_while(|line| line.trim().is_empty()).take(MAX_LINES + 1).collect();
    // Text may begin right after the quotes, where it has no indentation.
    let indented = lines.iter().skip(usize::from(!text.starts_with(['\n', '\r'])));
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let common = indented.filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let mut shown = String::new();
    for line in lines.iter().take(MAX_LINES) {
        let _ = writeln!(shown, "{}", shorten(line[indent(line).min(common)..].trim_end(), MAX_LINE));
    }
    let more = text.trim().lines().count() > MAX_LINES;
    let shown = shown.trim_end();
    if more { format!("{shown}\n…") } else { shown.to_owned() }
}

/// Paragraphs with empty lines between them.
pub(crate) fn paragraphs(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

//! Texts in the cells of a terminal.

use std::borrow::Cow;

use textwrap::core::display_width;

/// The text on one line and without control characters. File names and program text may hold anything, and written as they
/// are, a line feed would break the format, an escape character would steer the reader's terminal, and a bidirectional control would show the text in
/// another order than it has.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if steers(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Whether a character moves, colours or reorders what is around it.
fn steers(character: char) -> bool {
    let reorders = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks_line = matches!(character, '\u{2028}' | '\u{2029}');
    character.is_control() || reorders || breaks_line
}

/// A line without what does not fit into a number of columns.
pub fn fitted(line: &str, columns: usize) -> Cow<'_, str> {
    if display_width(line) <= columns {
        return Cow::Borrowed(line);
    }
    let mut left = columns.saturating_sub(1);
    let fits = |character: &char| {
        let width = display_width(character.encode_utf8(&mut [0; 4]));
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    let mut kept: String = line.chars().take_while(fits).collect();
    if columns > 0 {
        kept.push('…');
    }
    Cow::Owned(kept)
}

/// The lines of a text in a number of columns, without what would steer the terminal.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = line.replace('\t', "    ");
        let line = one_line(&line);
        lines.extend(textwrap::wrap(&line, columns).into_iter().map(Cow::into_owned));
    }
    lines
}

/// How many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    display_width(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_escapes() {
        assert_eq!(one_line("plain é"), "plain é");
        assert_eq!(one_line("a\nb\u{1b}[31mc\u{9b}"), "a\\nb\\u{1b}[31mc\\u{9b}");
        assert_eq!(one_line("user\u{202e}nimda\u{2066}"), "user\\u{202e}nimda\\u{2066}");
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        assert_eq!(fitted("tides", 5), "tides");
        assert_eq!(fitted("tides", 4), "tid…");
        assert_eq!(fitted("潮の満ち引き", 6), "潮の…");
        assert_eq!(fitted("tides", 1), "…");
        assert_eq!(fitted("tides", 0), "");
    }

    #[test]
    fn lines_are_wrapped_and_cannot_steer() {
        assert_eq!(wrapped("high and low\n\nend\u{1b}[2J", 8), ["high and", "low", "", "end\\u{1b", "}[2J"]);
        assert_eq!(wrapped("a\tb", 80), ["a    b"]);
        assert_eq!(wrapped("tides", 0), ["t", "i", "d", "e", "s"]);
    }
}

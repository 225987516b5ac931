//! What programs write for people, as messages quote it.

/// The maximum size of the kept end of what a program writes.
const MAX_KEPT: usize = 16 << 10;

/// Appends to a text of which only the end is kept.
pub(crate) fn keep_end(text: &mut Vec<u8>, more: &[u8]) {
    text.extend_from_slice(more);
    if text.len() > 2 * MAX_KEPT {
        text.drain(..text.len() - MAX_KEPT);
    }
}

/// The end of a text for a message, without escape sequences of terminals and other control characters.
pub(crate) fn last_lines(text: &str) -> String {
    const MAX_LINES: usize = 8;
    const MAX_BYTES: usize = 1_000;
    let text = plain(text);
    let text = text.trim();
    let start = text.rmatch_indices('\n').nth(MAX_LINES - 1).map_or(0, |(at, _)| at + 1);
    let start = start.max(text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES)));
    text[start..].to_owned()
}

/// A text without escape sequences of terminals and control characters other than line breaks and tabs.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\x1b' => match rest.next() {
                // Colours and movements: parameters and one final character.
                Some('[') => _ = rest.find(|c| matches!(c, '@'..='~')),
                // Titles and links: a text up to BEL or `ESC \`.
                Some(']' | 'P' | 'X' | '^' | '_') => {
                    let end = rest.find(|c| matches!(c, '\x07' | '\x1b' | '\u{9c}'));
                    if end == Some('\x1b') {
                        rest.next_if_eq(&'\\');
                    }
                }
                // Character sets have one more character.
                Some('(' | ')' | '#' | '%') => _ = rest.next(),
                _ => {}
            },
            '\n' | '\t' => plain.push(c),
            '\r' if rest.peek() != Some(&'\n') => plain.push('\n'),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_removed() {
        assert_eq!(plain("\x1b[91m\x1b[1mError: \x1b[0mno key"), "Error: no key");
        assert_eq!(plain("\x1b]0;title\x07a \x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\"), "a link");
        assert_eq!(plain("50 %\r100 %\r\ndone\u{8}\x1b"), "50 %\n100 %\ndone");
        assert_eq!(plain("tides\n\tcome \u{1f30a}"), "tides\n\tcome \u{1f30a}");
    }

    #[test]
    fn only_the_last_lines_are_quoted() {
        let lines: Vec<_> = (1..=20).map(|line| line.to_string()).collect();
        assert_eq!(last_lines(&lines.join("\n")), lines[12..].join("\n"));
    }
}

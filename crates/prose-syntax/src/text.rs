//! Texts in messages: shortened, on one line, counted, enumerated.

use std::borrow::Cow;
use std::fmt::Display;

/// The first `max` characters of a text; `…` stands for the rest.
pub fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((end, _)) => Cow::Owned(format!("{}…", text[..end].trim_end())),
        None => Cow::Borrowed(text),
    }
}

/// The first line that is not empty, without the white space around it.
pub fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The text with each run of white space as one space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first `max` characters of a text, on one line; `…` stands for the rest, which is not read.
pub fn beginning(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= max {
                line.truncate(line.trim_end().len());
                line.push('…');
                return line;
            }
            line.push(c);
            count += 1;
        }
    }
    line
}

/// The noun after a number: `file` after 1, `files` after any other.
pub fn plural(count: usize, noun: &str) -> Cow<'_, str> {
    if count == 1 { Cow::Borrowed(noun) } else { Cow::Owned(format!("{noun}s")) }
}

/// A number of things: `1 file`, `2 files`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}

/// Items as in a sentence: `a`, `a and b`, `a, b and c`.
pub fn enumerated(items: impl IntoIterator<Item: Display>, conjunction: &str) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match items.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} {conjunction} {last}", first.join(", ")),
        _ => items.concat(),
    }
}

/// A piece of code in a message: `` `code` ``.
pub fn quoted(code: impl Display) -> String {
    format!("`{code}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_end() {
        assert_eq!(shorten("größe", 5), "größe");
        assert_eq!(shorten("größen", 5), "größe…");
        assert_eq!(shorten("two words", 4), "two…");
    }

    #[test]
    fn lines_are_found_and_joined() {
        assert_eq!(first_line("\n \n  one \ntwo"), "one");
        assert_eq!(first_line(" \n"), "");
        assert_eq!(beginning(" one\n\ttwo  three\n", 13), "one two three");
        assert_eq!(beginning(" one\n\ttwo  three\n", 8), "one two…");
        assert_eq!(one_line(" one\n\ttwo  three\n"), "one two three");
    }

    #[test]
    fn things_are_counted_and_enumerated() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "file")), ["0 files", "1 file", "2 files"]);
        assert_eq!(enumerated([""; 0], "and"), "");
        assert_eq!(enumerated(["a"], "and"), "a");
        assert_eq!(enumerated(["a", "b"], "or"), "a or b");
        assert_eq!(enumerated(["a", "b", "c"].map(quoted), "and"), "`a`, `b` and `c`");
    }
}

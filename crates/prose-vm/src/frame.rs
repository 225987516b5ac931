//! Lines around values that no value can contain (decision 20).
//!
//! A prompt puts values between lines such as `---`. A value that comes from outside of the program or has several lines could hold such a line itself, and what
//! follows on it would look as if it were no part of the value. So the lines have a mark then, which is in none of the texts around them.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use smol_str::SmolStr;

/// What separates a reply from the memory that an agent without files sends along.
const MEMORY: &str = "MEMORY";
/// What separates that memory from the record of the session.
const SEGMENT: &str = "SEGMENT";

/// The line above the files that an agent reads (R36).
pub(crate) const BY_REFERENCE: &str = "Context (by reference):";

/// Whether a text could hold a line that looks like a line around it. One that is a single line cannot.
pub fn has_lines(text: &str) -> bool {
    text.contains(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// A mark that is in none of the texts. The same seed and texts give the same one.
pub fn mark<'a>(seed: &str, texts: impl Iterator<Item = &'a str> + Clone) -> SmolStr {
    let mut number = 0u32;
    loop {
        let hash = Sha256::digest(format!("{number} {seed}"));
        let mark: String = hash.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
        if !texts.clone().any(|text| text.contains(&mark)) {
            return mark.into();
        }
        number += 1;
    }
}

/// The line before and after a value (R38).
pub fn rule(mark: Option<&str>) -> String {
    mark.map_or_else(|| "---".to_owned(), |mark| format!("--- {mark}"))
}

/// A text on one line, for names and paths, which have no frame.
pub fn on_one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}

/// The line above the memory in a reply.
pub(crate) fn memory_line(mark: Option<&str>) -> String {
    reply_line(MEMORY, mark)
}

/// The line above the record of the session in a reply.
pub(crate) fn segment_line(mark: Option<&str>) -> String {
    reply_line(SEGMENT, mark)
}

fn reply_line(word: &str, mark: Option<&str>) -> String {
    mark.map_or_else(|| format!("=== {word} ==="), |mark| format!("=== {word} {mark} ==="))
}

/// What stands above and below the first line that is nothing but a mark. One inside a line is part of what is said.
pub(crate) fn split_at_line<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == mark {
            return Some((&text[..start], &text[start + line.len()..]));
        }
        start += line.len();
    }
    None
}

/// A reply with a memory, as a person writes it, with the mark that the session asks for.
pub fn with_mark(reply: &Arc<str>, mark: &str) -> Arc<str> {
    exchange(reply, None, Some(mark))
}

/// A reply with a memory without the mark of its session, as a person writes it.
pub fn without_mark(reply: &Arc<str>, mark: &str) -> Arc<str> {
    exchange(reply, Some(mark), None)
}

fn exchange(reply: &Arc<str>, from: Option<&str>, to: Option<&str>) -> Arc<str> {
    let mut exchanged = String::new();
    let mut words = [MEMORY, SEGMENT].into_iter().peekable();
    for line in reply.split_inclusive('\n') {
        // The first one of each counts, the memory before the record.
        match words.next_if(|word| line.trim() == reply_line(word, from)) {
            Some(word) => {
                exchanged.push_str(&reply_line(word, to));
                exchanged.push_str(if line.ends_with('\n') { "\n" } else { "" });
            }
            None => exchanged.push_str(line),
        }
    }
    if exchanged == **reply { Arc::clone(reply) } else { exchanged.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_in_none_of_the_texts() {
        let first = mark("seed", std::iter::empty());
        assert_eq!(mark("seed", ["nothing of it"].into_iter()), first);
        let second = mark("seed", [&*format!("--- {first}")].into_iter());
        assert_ne!(second, first);
        let texts = [first.as_str(), second.as_str()];
        assert!(!texts.contains(&mark("seed", texts.into_iter()).as_str()));
    }

    #[test]
    fn every_line_break_counts() {
        for text in ["a\nb", "a\rb", "a\u{2028}b", "a\u{85}b", "a\u{b}b"] {
            assert!(has_lines(text), "{text:?}");
            assert!(!has_lines(&on_one_line(text)), "{text:?}");
        }
        assert!(!has_lines("a: \"b\" --- c"));
    }

    #[test]
    fn marks_come_and_go() {
        let plain: Arc<str> = "r\n=== MEMORY ===\nm\n=== SEGMENT ===\n- s\n=== MEMORY ===".into();
        let marked = with_mark(&plain, "x1");
        assert_eq!(&*marked, "r\n=== MEMORY x1 ===\nm\n=== SEGMENT x1 ===\n- s\n=== MEMORY ===");
        assert_eq!(without_mark(&marked, "x1"), plain);
    }
}

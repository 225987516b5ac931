//! Finding the programs of a document.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::fence::{Fence, Line};

/// The names of the language in info strings.
const LANGUAGES: [&str; 2] = ["prose", "openprose"];
/// The word after the language that excludes a block, as in documents of Rust.
const IGNORE: &str = "ignore";

/// The programs in a document, in its order. Documents of 4 GiB and more are the caller's to refuse, since positions are 32 bits wide.
pub fn programs(document: &str) -> Vec<Fence> {
    // Most documents have none, and this is asked after each edit.
    if !document.as_bytes().windows(5).any(|word| word.eq_ignore_ascii_case(b"prose")) {
        return Vec::new();
    }
    let mut events = Parser::new_ext(document, Options::empty()).into_offset_iter();
    let mut programs = Vec::new();
    let mut number = 0;
    while let Some((event, block)) = events.next() {
        let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) = event else { continue };
        let mut words = info.split([' ', '\t', ',', '{', '}']).filter(|word| !word.is_empty());
        let language = words.next().unwrap_or_default();
        if !LANGUAGES.iter().any(|known| language.eq_ignore_ascii_case(known)) {
            continue;
        }
        // Those that are ignored count as well, so that the others keep their numbers when one is ignored for a while.
        number += 1;
        if words.any(|word| word.eq_ignore_ascii_case(IGNORE)) {
            continue;
        }
        let inside = events.by_ref().take_while(|(event, _)| *event != Event::End(TagEnd::CodeBlock));
        let pieces = inside.map(|(_, piece)| piece);
        programs.extend(fence(document, number, block, pieces));
    }
    programs
}

/// The program in a block, whose text is that of the pieces; none if there is no line for it yet.
fn fence(
    document: &str,
    number: usize,
    block: Range<usize>,
    pieces: impl Iterator<Item = Range<usize>>,
) -> Option<Fence> {
    let first_line = next_line(document, block.start)?;
    let mut text = String::new();
    let mut lines: Vec<Line> = Vec::new();
    // Where the last line ends that is known.
    let mut end = first_line;
    for piece in pieces {
        let mut at = text_start(document, &piece);
        loop {
            if at >= end && at < document.len() {
                let line = document[..at].rfind('\n').map_or(0, |before| before + 1);
                end = next_line(document, at).unwrap_or(document.len());
                lines.push(Line { in_text: text.len(), start: line, text_start: at });
                text.push_str(&document[at..end]);
            }
            if piece.end <= end {
                break;
            }
            // The parser joins lines that have nothing before their texts.
            at = end;
        }
    }
    let closing = &document[end..block.end.max(end)];
    let indentation = closing.find(['`', '~']).unwrap_or(0);
    let is_written = |line: &&Line| !text[line.in_text..].starts_with(['\n', '\r']);
    let prefixes = lines.iter().filter(is_written).map(|line| &document[line.start..line.text_start]);
    // What a line lacks of the longest one is optional.
    let prefix = prefixes.max_by_key(|prefix| prefix.len()).unwrap_or(&closing[..indentation]);
    if text.is_empty() || text.ends_with('\n') {
        // After its last line break a text has one more line, in which nothing is written: that of the closing fence, if there is one.
        let before = if closing.starts_with(prefix) { prefix.len() } else { indentation };
        lines.push(Line { in_text: text.len(), start: end, text_start: end + before });
    }
    // After an unclosed block that ends with the document one continues typing.
    let last = if end < document.len() { end - 1 } else { end };
    Some(Fence { number, prefix: prefix.to_owned(), opening: block.start, text: text.into(), lines, last })
}

/// Where the text of a line starts whose first piece that is.
fn text_start(document: &str, piece: &Range<usize>) -> usize {
    match document.as_bytes()[..piece.start].last() {
        // The parser leaves out the first half of such a line break.
        Some(b'\r') => piece.start - 1,
        // The parser makes spaces, which stand nowhere, of a tab that belongs only in part to the text. Here all of it does, so that the text is
        // one that is in the document; the analysis reports tabs.
        Some(b'\t') if piece.is_empty() => piece.start - 1,
        _ => piece.start,
    }
}

/// Where the line after the one at `at` starts, if that one ends with a line break.
fn next_line(document: &str, at: usize) -> Option<usize> {
    document[at..].find('\n').map(|length| at + length + 1)
}

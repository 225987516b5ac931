//! What a line of a narration starts with, also where a model wrote the marker in a way of its own.

use crate::markers::{Marker, TABLE};
use crate::text;

/// The words that may follow on a marker that has lost its brackets. Without them, a line that starts with such a word is talk.
const AFTER_BARE: &[(Marker, &[&str])] = &[
    (Marker::Program, &["program start", "program complete", "program resumed"]),
    (Marker::Position, &["statement ", "executing", "session", "resume", "do "]),
    (Marker::Binding, &["let ", "const ", "extracted", "summarised", "memory", "resolving"]),
    (Marker::Input, &["inputs received", "input received", "passing inputs"]),
    (Marker::Output, &["output ", "received outputs"]),
    (Marker::Import, &["importing", "invoking", "import complete"]),
    (Marker::Success, &["session complete", "result:", "recovery complete", "cleanup complete"]),
    (Marker::Warning, &["session failed", "retry ", "no answer to"]),
    (Marker::Parallel, &["entering", "parallel complete", "parallel failed", "branch "]),
    (Marker::Loop, &["starting", "iteration ", "evaluating", "loop exited"]),
    (Marker::Try, &["entering", "executing"]),
    (Marker::Flow, &["satisfied", "not satisfied", "evaluating", "chose "]),
    (Marker::FrameEntered, &["entering block"]),
    (Marker::FrameLeft, &["exiting block"]),
];

/// The marker of a line and what follows on it.
pub(super) fn marked(line: &str) -> Option<(Marker, &str)> {
    let line = line.trim_start_matches([' ', '\t', '>', '#']);
    let line = ["- ", "* ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet)).unwrap_or(line).trim();
    let (is_bold, line) = match line.strip_prefix("**").or_else(|| line.strip_prefix("__")) {
        Some(line) => (true, line),
        None => (false, line.strip_prefix('`').unwrap_or(line)),
    };
    let (marker, rest) = in_brackets(line).or_else(|| emoji(line)).or_else(|| bare(line))?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let rest = match rest.strip_prefix('`') {
        Some(rest) => rest,
        None if is_bold => ["**", "__"]
            .iter()
            .find_map(|stars| rest.strip_prefix(stars).or_else(|| rest.strip_suffix(stars)))
            .unwrap_or(rest),
        None => rest,
    };
    Some((marker, rest.trim_start_matches([':', ' ', '\t']).trim_end()))
}

fn in_brackets(line: &str) -> Option<(Marker, &str)> {
    let (word, rest) = line.strip_prefix('[')?.split_once(']')?;
    Some((named(word)?, rest))
}

fn emoji(line: &str) -> Option<(Marker, &str)> {
    TABLE.iter().find_map(|(marker, _, emoji)| {
        // The variation selector after a symbol gets lost easily.
        let symbol = (*emoji)?.trim_end_matches('\u{fe0f}');
        Some((*marker, line.strip_prefix(symbol)?.trim_start_matches('\u{fe0f}')))
    })
}

fn bare(line: &str) -> Option<(Marker, &str)> {
    let end = line.find([' ', ':', '*', '_'])?;
    let (word, rest) = line.split_at(end);
    let marker = named(word)?;
    let said = rest.trim_start_matches([':', ' ', '*', '_']).to_lowercase();
    let (_, phrases) = AFTER_BARE.iter().find(|row| row.0 == marker)?;
    let is_binding = marker == Marker::Binding
        && (said.ends_with(" bound") || said.split_once(" = ").is_some_and(|(name, _)| text::is_name(name)));
    (is_binding || phrases.iter().any(|phrase| said.starts_with(phrase))).then_some((marker, rest))
}

fn named(word: &str) -> Option<Marker> {
    TABLE.iter().find(|row| row.1.eq_ignore_ascii_case(word.trim())).map(|row| row.0)
}

/// The rest of a text after a phrase, without regard to case.
pub(super) fn after<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let start = text.get(..phrase.len())?;
    start.eq_ignore_ascii_case(phrase).then(|| &text[phrase.len()..])
}

/// The item of a list that a line is: without its bullet.
pub(super) fn item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["- ", "* ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet)).map(str::trim)
}

/// The conditions between `**` in a text.
pub(super) fn discretions(said: &str) -> Vec<String> {
    said.split("**").skip(1).step_by(2).map(|part| text::one_line(part.trim_matches('*'))).collect()
}

/// The number after a phrase.
pub(super) fn number_after(text: &str, phrase: &str) -> Option<u32> {
    let at = text.find(phrase)?;
    let rest = text[at + phrase.len()..].trim_start_matches([' ', ':', '#']);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

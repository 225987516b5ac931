//! Plausible texts, made of the words of a task.

use std::sync::LazyLock;

use fastrand::Rng;
use prose_vm::effect::ContextItem;
use regex::{Captures, Regex};
use serde_json::{Value, json};

use super::MARK;

/// More of a task says nothing new about what its reply should look like, and takes its time.
const MAX_READ: usize = 4_000;

/// Words that say nothing about what a task is about.
const COMMON: &[&str] = &[
    "about",
    "again",
    "against",
    "also",
    "another",
    "answer",
    "based",
    "been",
    "before",
    "being",
    "between",
    "both",
    "bullet",
    "bullets",
    "could",
    "does",
    "each",
    "else",
    "every",
    "following",
    "from",
    "give",
    "given",
    "have",
    "here",
    "into",
    "just",
    "like",
    "list",
    "make",
    "more",
    "most",
    "must",
    "next",
    "only",
    "other",
    "over",
    "please",
    "provide",
    "return",
    "same",
    "shall",
    "should",
    "some",
    "such",
    "than",
    "that",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "under",
    "using",
    "very",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "will",
    "with",
    "without",
    "would",
    "write",
    "your",
    "json",
];

const OPENINGS: &[&str] = &[
    "Looked into {a} and {b}.",
    "Went through {a} with an eye on {b}.",
    "Here is what {a} comes down to.",
    "Started from {a} and followed it to {b}.",
];

const MIDDLES: &[&str] = &[
    "What matters most is {b}, and {c} follows from it.",
    "The evidence on {c} is mixed, so {a} deserves a second look.",
    "Most of the work lies in {b}; {c} is in good shape.",
    "Compared with {c}, {a} is the smaller part.",
];

const CLOSINGS: &[&str] = &[
    "Next comes {c}.",
    "Nothing stands in the way of {b}.",
    "As far as {a} goes, this can go ahead as planned.",
    "One open question about {c} remains.",
];

const ITEMS: &[&str] =
    &["Clarify {a}", "Compare {a} with {b}", "Look closer at {a}", "Settle {a} before {b}"];

/// Matches what a task says about the form of its reply.
macro_rules! form {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($pattern).expect("a test matches every pattern"));
    };
}

form!(YES_OR_NO, r"(?i)\byes\b\W+(or\W+)?no\b|\b(answer|say|reply|respond)\W+(with\W+)?(only\W+)?yes\b");
form!(TRUE_OR_FALSE, r"(?i)\btrue\b\W+(or\W+)?false\b");
form!(JSON, r"(?i)\bjson\b");
form!(JSON_ARRAY, r"(?i)\bjson\W+(array|list)\b|\b(array|list)\b.{0,40}\bjson\b|\bjson\b.{0,20}\barray\b");
form!(JSON_KEY, r#""([A-Za-z_][A-Za-z0-9_-]*)"\s*:"#);
form!(
    JSON_NAMES,
    r"(?i)\b(?:keys|fields|properties)\b:?\s+((?:[\w`'-]+(?:,\s*(?:and\s+)?|\s+and\s+))*[\w`'-]+)"
);
form!(LIST, r"(?i)\b(list|bullets?|items|ideas|enumerate|suggestions|options|steps|topics)\b");
form!(
    COUNT,
    r"(?i)\b(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)\s+(?:[\w-]+\s+){0,2}?(?:bullets?|items|ideas|suggestions|options|steps|topics|points|questions|names|examples|things)\b"
);

/// A reply to a task, in the form that the task asks for.
pub(super) fn reply(task: &str, context: &[ContextItem], draw: &mut Rng) -> String {
    let task = &task[..task.floor_char_boundary(MAX_READ)];
    let words = Words::new(task);
    if TRUE_OR_FALSE.is_match(task) {
        format!("{} {MARK}", draw.bool())
    } else if YES_OR_NO.is_match(task) {
        format!("{} {MARK}", if draw.bool() { "yes" } else { "no" })
    } else if JSON.is_match(task) {
        json_reply(task, &words, draw)
    } else if LIST.is_match(task) {
        list(count(task), &words, draw)
    } else {
        sentences(context, &words, draw)
    }
}

fn sentences(context: &[ContextItem], words: &Words<'_>, draw: &mut Rng) -> String {
    let mut parts = vec![words.fill(pick(OPENINGS, draw), draw)];
    if !context.is_empty() {
        let names: Vec<&str> = context.iter().map(|item| item.name.as_str()).collect();
        parts.push(format!("Took {} into account.", names.join(", ")));
    }
    for _ in 0..draw.usize(1..=2) {
        let sentence = words.fill(pick(MIDDLES, draw), draw);
        // The same sentence twice would look like a mistake of the program.
        if !parts.contains(&sentence) {
            parts.push(sentence);
        }
    }
    parts.push(words.fill(pick(CLOSINGS, draw), draw));
    parts.push(MARK.to_owned());
    parts.join(" ")
}

fn list(count: usize, words: &Words<'_>, draw: &mut Rng) -> String {
    let mut lines: Vec<String> =
        (0..count).map(|_| format!("- {}", words.fill(pick(ITEMS, draw), draw))).collect();
    // On the last item, since a line of its own would be one more item to a program that takes the lines apart (R9).
    if let Some(last) = lines.last_mut() {
        last.push(' ');
        last.push_str(MARK);
    }
    lines.join("\n")
}

fn count(task: &str) -> usize {
    const NUMBERS: [&str; 11] =
        ["", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let found = COUNT.captures(task).map(|captures| captures[1].to_ascii_lowercase());
    let number = found
        .and_then(|number| number.parse().ok().or_else(|| NUMBERS.iter().position(|name| **name == *number)));
    number.unwrap_or(3).clamp(1, 20)
}

fn json_reply(task: &str, words: &Words<'_>, draw: &mut Rng) -> String {
    let mut keys: Vec<String> = JSON_KEY.captures_iter(task).map(|found| found[1].to_owned()).collect();
    if keys.is_empty() {
        let names = JSON_NAMES.captures(task).map(|found| found[1].to_owned()).unwrap_or_default();
        let names = names.replace(" and ", ",");
        let names =
            names.split(',').map(|name| name.trim().trim_start_matches("and ").trim_matches(['`', '\'']));
        keys = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    }
    keys.dedup();
    let mut value = if JSON_ARRAY.is_match(task) {
        let item = |draw: &mut Rng| match keys.is_empty() {
            true => Value::String(words.fill(pick(ITEMS, draw), draw)),
            false => object(&keys, words, draw),
        };
        (0..count(task)).map(|_| item(draw)).collect()
    } else {
        if keys.is_empty() {
            keys = vec!["summary".to_owned(), "items".to_owned()];
        }
        object(&keys, words, draw)
    };
    // A mark outside would make it something else than JSON.
    if !mark(&mut value)
        && let Some(entries) = value.as_object_mut()
    {
        entries.insert("note".to_owned(), MARK.into());
    }
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

/// Marks the first string in a value, if there is one.
fn mark(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            text.push(' ');
            text.push_str(MARK);
            true
        }
        Value::Array(items) => items.iter_mut().any(mark),
        Value::Object(entries) => entries.values_mut().any(mark),
        _ => false,
    }
}

fn object(keys: &[String], words: &Words<'_>, draw: &mut Rng) -> Value {
    keys.iter().map(|key| (key.clone(), field(key, words, draw))).collect()
}

/// A value that suits the name of a field.
fn field(key: &str, words: &Words<'_>, draw: &mut Rng) -> Value {
    let name = key.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&["score", "count", "number", "rating", "total", "confidence", "priority"]) {
        json!(draw.u32(1..=10))
    } else if name.starts_with("is_")
        || name.starts_with("has_")
        || has(&["valid", "passed", "approved", "success"])
    {
        json!(draw.bool())
    } else if name.ends_with('s') && !name.ends_with("ss") && !name.ends_with("us") {
        (0..draw.usize(2..=3)).map(|_| Value::String(words.fill(pick(ITEMS, draw), draw))).collect()
    } else {
        Value::String(words.fill(pick(MIDDLES, draw), draw))
    }
}

fn pick<'a>(from: &[&'a str], draw: &mut Rng) -> &'a str {
    from[draw.usize(..from.len())]
}

/// What a task is about.
struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    fn new(task: &'a str) -> Self {
        let mut words: Vec<&str> = Vec::new();
        for word in task.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_') {
            let word = word.trim_matches(['-', '_']);
            let is_common = COMMON.iter().any(|common| common.eq_ignore_ascii_case(word));
            let is_new = !words.iter().any(|known| known.eq_ignore_ascii_case(word));
            if word.chars().count() >= 4 && !is_common && is_new && words.len() < 24 {
                words.push(word);
            }
        }
        // The first word of a task mostly says what to do, not with what.
        if words.len() > 3 {
            words.remove(0);
        }
        Self(words)
    }

    /// Fills words in for `{a}`, `{b}` and `{c}`, three different ones if there are as many.
    fn fill(&self, template: &str, draw: &mut Rng) -> String {
        const SPARE: [&str; 3] = ["the task", "the details", "the rest"];
        static SLOT: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\{([abc])\}").expect("a test matches every pattern"));
        let start = draw.usize(..self.0.len().max(1));
        let word = |slot: &Captures<'_>| {
            let index = usize::from(slot[1].as_bytes()[0] - b'a');
            let found = (self.0.len() > index).then(|| self.0[(start + index) % self.0.len()]);
            found.unwrap_or(SPARE[index]).to_owned()
        };
        SLOT.replace_all(template, word).into_owned()
    }
}

/// The sentence of the texts that speaks of the part, or else the first one; none if there is no text.
pub(super) fn extract<'a>(part: &str, texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let part = part.replace('_', " ").to_lowercase();
    let mut first = None;
    for text in texts {
        for sentence in split(text) {
            let sentence = sentence.trim().trim_end_matches(MARK).trim_end();
            if sentence.is_empty() {
                continue;
            }
            if sentence.to_lowercase().contains(&part) {
                return Some(format!("{sentence} {MARK}"));
            }
            first.get_or_insert(sentence);
        }
    }
    first.map(|sentence| format!("{sentence} {MARK}"))
}

/// As many sentences from the beginning as there is room for (decision 12). The first one is cut between words if it is too long itself.
pub(super) fn cut(text: &str, longest: usize) -> String {
    let text = text.trim();
    if text.len() <= longest {
        return format!("{text} {MARK}");
    }
    let mut end = 0;
    for sentence in split(text) {
        if end + sentence.trim_end().len() > longest {
            break;
        }
        end += sentence.len();
    }
    if end == 0 {
        let room = text.floor_char_boundary(longest);
        end = text[..room].rfind(char::is_whitespace).unwrap_or(room);
    }
    format!("{} … {MARK}", text[..end].trim_end())
}

/// The sentences and lines of a text, each with the white space after it.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        let mut characters = rest.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let ends = match character {
                '\n' | '。' | '！' | '？' => true,
                '.' | '!' | '?' => next.is_some_and(char::is_whitespace),
                _ => false,
            };
            if ends {
                let behind = at + character.len_utf8();
                let text = rest[behind..].find(|c: char| !c.is_whitespace());
                end = text.map_or(rest.len(), |text| behind + text);
                break;
            }
        }
        let (sentence, behind) = rest.split_at(end);
        rest = behind;
        Some(sentence)
    })
}

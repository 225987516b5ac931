//! Values as they stand in narrations: each on one line.

pub(crate) use prose_syntax::text::one_line;
use prose_vm::value::Value;

/// How many characters of a value a narration shows that is only a view of a run.
const MAX_SHOWN: usize = 80;

/// How much of a value is written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// All of it, so that a run can continue from it.
    #[default]
    Whole,
    /// Its beginning.
    Shortened,
}

/// A text between quotes.
pub(crate) fn quoted(text: &str, length: Length) -> String {
    match length {
        Length::Whole => whole(text),
        Length::Shortened => {
            let line = one_line(text);
            match line.char_indices().nth(MAX_SHOWN) {
                Some((end, _)) => {
                    let start = whole(line[..end].trim_end_matches(['.', '…', ' ']));
                    format!("{}...\"", &start[..start.len() - 1])
                }
                None => whole(&line),
            }
        }
    }
}

/// A text as a string of JSON. Three dots at its end would look like a text that is cut off, so the last of them is written as an escape.
fn whole(text: &str) -> String {
    let mut json = serde_json::Value::from(text).to_string();
    for (end, escape) in [("...\"", "..\\u002e\""), ("…\"", "\\u2026\"")] {
        if json.ends_with(end) {
            json.truncate(json.len() - end.len());
            json.push_str(escape);
        }
    }
    json
}

/// A text of a message: as it is where that is one line and unmistakable, and between quotes otherwise.
pub(crate) fn message(text: &str, length: Length) -> String {
    let is_plain = !text.is_empty()
        && text.trim() == text
        && !text.contains(|c: char| c.is_control())
        && !text.starts_with(['"', '\'', '`', '“', '<'])
        && !text.ends_with("...")
        && !text.ends_with(['…', '"']);
    let is_short = length == Length::Whole || text.chars().count() <= 2 * MAX_SHOWN;
    if is_plain && is_short { text.to_owned() } else { quoted(text, length) }
}

/// A value. Keys that are names are written without quotes, as the protocol's examples do.
pub(crate) fn value(value: &Value, length: Length) -> String {
    match value {
        Value::Text(text) | Value::File(text) => quoted(text, length),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| self::value(item, length)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let pairs = entries.iter().map(|(key, value)| (key.as_str(), value));
            format!("{{{}}}", entries_of(pairs, length))
        }
        Value::Error(error) => format!("{{message: {}}}", quoted(&error.message, length)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// The entries of an object, without its braces.
pub(crate) fn entries_of<'a>(entries: impl Iterator<Item = (&'a str, &'a Value)>, length: Length) -> String {
    let entries: Vec<String> = entries
        .map(|(key, value)| {
            let value = self::value(value, length);
            if is_name(key) { format!("{key}: {value}") } else { format!("{}: {value}", whole(key)) }
        })
        .collect();
    entries.join(", ")
}

/// An input, as JSON, since a resumed run needs its structure again.
pub(crate) fn input(value: &Value, length: Length) -> String {
    match (value, length) {
        (Value::Text(text), _) => quoted(text, length),
        (_, Length::Shortened) => self::value(value, length),
        // A value without texts as keys of maps always becomes JSON; the words of people are the next best thing.
        (_, Length::Whole) => serde_json::to_string(value).unwrap_or_else(|_| self::value(value, length)),
    }
}

/// Whether a text could be a name of a program.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

//! Reads answers. Case, markup and punctuation do not matter; what is not clear is not an answer.

use prose_vm::effect::{Choice, Verdict};
use prose_vm::frame;
use smol_str::SmolStr;

use prose_backends::script::label_index;

/// Words for a condition that is met.
const YES: &[&str] = &["yes", "true", "met", "satisfied"];

/// Words for a condition that is not met, and for not being sure, which counts as the same (R64).
const NO: &[&str] = &[
    "no",
    "false",
    "not met",
    "unmet",
    "not satisfied",
    "unsatisfied",
    "unsure",
    "not sure",
    "uncertain",
    "unclear",
    "unknown",
    "cannot tell",
    "can't tell",
    "undetermined",
];

/// The verdict in an answer.
pub(super) fn verdict(said: &str, is_loop: bool) -> Option<Verdict> {
    let met = match field(said, "VERDICT") {
        Field::Once(value) => yes_or_no(value)?,
        // One word is as clear as a form around it.
        Field::Never => yes_or_no(only_line(said)?)?,
        Field::Contradictory => return None,
    };
    let no_progress = is_loop
        && matches!(field(said, "PROGRESS"), Field::Once(value) if plain(value).eq_ignore_ascii_case("none"));
    Some(Verdict { met, reason: reason(said), no_progress })
}

/// The choice in an answer (R67).
pub(super) fn choice(said: &str, labels: &[SmolStr]) -> Option<Choice> {
    let value = match field(said, "CHOICE") {
        Field::Once(value) => value,
        Field::Never => only_line(said)?,
        Field::Contradictory => return None,
    };
    Some(Choice { index: option(value, labels)?, reason: reason(said) })
}

/// The part in an answer: none if the text does not have it.
pub(super) fn extract(said: &str) -> Option<Option<String>> {
    let (head, rest) = said.trim().split_once('\n').unwrap_or((said.trim(), ""));
    let found = yes_or_no(value_of(head, "FOUND")?)?;
    let part = rest.trim();
    match (found, part.is_empty()) {
        (false, true) => Some(None),
        (true, false) => Some(Some(part.to_owned())),
        // It says one thing and does the other.
        _ => None,
    }
}

/// The lines of an answer that is an object of a schema; `None` if it is none, or has something around it.
pub(super) fn of_object(said: &str) -> Option<String> {
    let said = said.trim();
    let said = said.strip_prefix("```json").and_then(|said| said.strip_suffix("```")).unwrap_or(said);
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(said).ok()?;
    let text = |property: &str| object.get(property).and_then(serde_json::Value::as_str);
    let named = [
        ("found", "FOUND"),
        ("answer", "VERDICT"),
        ("choice", "CHOICE"),
        ("progress", "PROGRESS"),
        ("reason", "REASON"),
    ];
    let lines = named.iter().filter_map(|(property, name)| {
        Some(format!("{name}: {}", frame::on_one_line(text(property)?.trim())))
    });
    let lines: Vec<String> = lines.chain(text("part").map(str::to_owned)).collect();
    Some(lines.join("\n"))
}

/// The names of the lines that answers have.
const NAMES: &[&str] = &["VERDICT", "REASON", "PROGRESS", "CHOICE", "FOUND"];

/// The name of the line of an answer that a line is or looks like.
pub(super) fn key(line: &str) -> Option<&'static str> {
    let (key, _) = line.split_once(':')?;
    NAMES.iter().find(|name| plain(key).eq_ignore_ascii_case(name)).copied()
}

/// The line of an answer without the mark that it has.
pub(super) fn marked(line: &str, mark: &str) -> Option<String> {
    let (key, value) = line.split_once(':')?;
    let name = plain(key).strip_suffix(mark)?;
    let name = NAMES.iter().find(|known| plain(name).eq_ignore_ascii_case(known))?;
    Some(format!("{name}:{value}"))
}

/// The lines of a reply that have the mark, without it. What is taken out of a text stands below its line as it is.
pub(super) fn of_mark(said: &str, mark: &str) -> String {
    let mut lines = Vec::new();
    let mut is_part = false;
    for line in said.lines() {
        match marked(line, mark) {
            Some(line) => {
                is_part |= key(&line) == Some("FOUND");
                lines.push(line);
            }
            None if is_part => lines.push(line.to_owned()),
            None => {}
        }
    }
    lines.join("\n")
}

/// Whether labels could be taken for numbers of options.
pub(super) fn are_like_numbers(labels: &[SmolStr]) -> bool {
    labels.iter().any(|label| label.trim().starts_with(|c: char| c.is_ascii_digit()))
}

fn yes_or_no(value: &str) -> Option<bool> {
    // "Yes, since …" says as much as "Yes".
    let said = value.split([',', ';', '.', '!', ':', '(', '—', '–']).next().unwrap_or_default();
    let said = plain(said).to_lowercase();
    if YES.contains(&&*said) {
        Some(true)
    } else if NO.contains(&&*said) {
        Some(false)
    } else {
        None
    }
}

/// Which option is meant: by its number, by its label, or by both if they agree.
fn option(value: &str, labels: &[SmolStr]) -> Option<usize> {
    let value = plain(value);
    let value = match value.get(.."option ".len()) {
        Some(start) if start.eq_ignore_ascii_case("option ") => &value["option ".len()..],
        _ => value,
    };
    let by_label = label_index(labels, value).or_else(|| label_index(labels, plain(value)));
    if by_label.is_some() || are_like_numbers(labels) {
        return by_label;
    }
    let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: usize = value[..digits].parse().ok()?;
    let index = number.checked_sub(1).filter(|index| *index < labels.len())?;
    let rest = plain(value[digits..].trim_start_matches(['.', ')', ':', ' ', '-', '–', '—']));
    // The first of labels that are the same stands for all of them.
    (rest.is_empty() || label_index(labels, rest) == label_index(labels, &labels[index])).then_some(index)
}

fn reason(said: &str) -> String {
    match field(said, "REASON") {
        Field::Once(value) => value.trim_matches(['*', '_', ' ']).to_owned(),
        _ => String::new(),
    }
}

/// What an answer says in a line of the form `NAME: value`.
enum Field<'a> {
    Never,
    Once(&'a str),
    /// Two lines say different things.
    Contradictory,
}

fn field<'a>(said: &'a str, name: &str) -> Field<'a> {
    let mut found = said.lines().filter_map(|line| value_of(line, name));
    let Some(first) = found.next() else { return Field::Never };
    match found.all(|other| plain(other).eq_ignore_ascii_case(plain(first))) {
        true => Field::Once(first),
        false => Field::Contradictory,
    }
}

fn value_of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (key, value) = line.split_once(':')?;
    plain(key).eq_ignore_ascii_case(name).then_some(value.trim())
}

/// The only line with text in it.
fn only_line(said: &str) -> Option<&str> {
    let mut lines = said.lines().filter(|line| !line.trim().is_empty());
    lines.next().filter(|_| lines.next().is_none())
}

/// Without the markup, quotes and full stops around it.
fn plain(text: &str) -> &str {
    let is_around = |c: char| c.is_whitespace() || "*_`#>\"'“”‘’[]<>.!".contains(c);
    text.trim_start_matches(|c| is_around(c) || c == '-').trim_end_matches(is_around)
}

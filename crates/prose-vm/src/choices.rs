//! The answers that the prompt of an input offers, such as `(yes/no)` or `[ship | wait | stop]`, and how an answer is understood.

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::value::Value;

/// An answer that a question offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The letter that stands for it; `None` if all its letters stand for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter: Option<char>,
    /// The one form that the program receives, as the prompt has it.
    pub value: SmolStr,
    /// Its name for display.
    pub title: SmolStr,
}

/// The words by which answers are known where only slashes separate them: `(km/h)` and `(DD/MM/YYYY)` offer nothing.
const ANSWERS: &str = "yes no y n ok true false on off accept reject decline approve deny allow continue stop go wait ship \
    cancel abort retry skip keep discard merge always never maybe later quit left right good bad small \
    medium large low high fast slow short long public private draft publish dev staging prod production \
    major minor pass fail";

/// The maximum number of answers that a prompt offers, and the maximum length of one in characters.
const MAX_CHOICES: usize = 12;
const MAX_LENGTH: usize = 40;

/// The answers that a prompt offers; none if any text is an answer. The last group in parentheses or brackets counts.
pub fn choices(prompt: &str) -> Vec<Choice> {
    let groups = groups(prompt);
    groups.into_iter().rev().map(offered).find(|choices| !choices.is_empty()).unwrap_or_default()
}

/// Choices with these values and titles.
pub fn titled<'a>(answers: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    for (value, title) in answers {
        let is_free = |letter: &char| {
            letter.is_alphanumeric() && choices.iter().all(|known| known.letter != Some(*letter))
        };
        let letter = value.to_lowercase().chars().find(is_free);
        choices.push(Choice { letter, value: value.into(), title: title.into() });
    }
    choices
}

/// The choice that a text means: its value, its title, its letter, or the beginning of one value, in any case. `None` if it means none or several.
pub fn understood<'a>(choices: &'a [Choice], text: &str) -> Option<&'a Choice> {
    let text = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    if text.is_empty() {
        return None;
    }
    let is_whole =
        |choice: &&Choice| choice.value.to_lowercase() == text || choice.title.to_lowercase() == text;
    let is_letter =
        |choice: &&Choice| choice.letter.is_some_and(|letter| text.chars().eq(std::iter::once(letter)));
    // `(y/n)` is answered with `yes`, too.
    let is_long = |choice: &&Choice| {
        let value = choice.value.to_lowercase();
        [("y", "yes"), ("n", "no")].contains(&(value.as_str(), text.as_str()))
    };
    if let Some(choice) = choices
        .iter()
        .find(is_whole)
        .or_else(|| choices.iter().find(is_letter))
        .or_else(|| choices.iter().find(is_long))
    {
        return Some(choice);
    }
    let mut begun = choices.iter().filter(|choice| choice.value.to_lowercase().starts_with(&text));
    begun.next().filter(|_| begun.next().is_none())
}

/// The value among the answers that a value means, in the one form that the program receives; `None` if it is not among them. Without any, each value is
/// one.
pub fn value_among(choices: &[Choice], value: &Value) -> Option<Value> {
    if choices.is_empty() {
        return Some(value.clone());
    }
    let text = value.to_string();
    let spoken = match text.as_str() {
        "true" => Some("yes"),
        "false" => Some("no"),
        _ => None,
    };
    let found = understood(choices, &text);
    let found = found.or_else(|| understood(choices, spoken?));
    found.map(|choice| Value::text(choice.value.as_str()))
}

/// Why an answer is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidAnswer {
    /// It is none of those that the question offers.
    NotOffered {
        /// The answer.
        text: String,
        /// The answers that the question offers.
        choices: Vec<Choice>,
    },
    /// It is empty, and the question is not optional.
    Empty,
}

impl fmt::Display for InvalidAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOffered { text, choices } => {
                write!(f, "`{text}` is not one of the answers; choose one of {}", listed(choices))
            }
            Self::Empty => f.write_str("the answer is empty, and the question is not optional"),
        }
    }
}

/// The value that answers an input with these choices: null for an empty answer to an optional one.
pub fn answer(choices: &[Choice], is_optional: bool, value: &Value) -> Result<Value, InvalidAnswer> {
    if matches!(value, Value::Null) || value.to_string().trim().is_empty() {
        return if is_optional { Ok(Value::Null) } else { Err(InvalidAnswer::Empty) };
    }
    value_among(choices, value)
        .ok_or_else(|| InvalidAnswer::NotOffered { text: value.to_string(), choices: choices.to_vec() })
}

/// The choices for display, such as `[y]es, [n]o`.
pub fn listed(choices: &[Choice]) -> String {
    let shown = choices.iter().map(|choice| {
        let title = choice.value.as_str();
        let at = choice.letter.and_then(|letter| {
            title.char_indices().find(|(_, other)| other.to_lowercase().eq(std::iter::once(letter)))
        });
        match at {
            Some((at, letter)) => format!("{}[{letter}]{}", &title[..at], &title[at + letter.len_utf8()..]),
            None => title.to_owned(),
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The groups in parentheses or brackets, without those that contain others.
fn groups(prompt: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, letter) in prompt.char_indices() {
        match letter {
            '(' => open = Some((at + 1, ')')),
            '[' => open = Some((at + 1, ']')),
            ')' | ']' => {
                if let Some((start, end)) = open.take()
                    && end == letter
                {
                    found.push(&prompt[start..at]);
                }
            }
            _ => {}
        }
    }
    found
}

/// The answers in a group.
fn offered(group: &str) -> Vec<Choice> {
    let separator = if group.contains('|') { '|' } else { '/' };
    let parts: Vec<&str> = group.split(separator).map(str::trim).collect();
    let is_answer = |part: &&str| ANSWERS.split(' ').any(|answer| answer == part.to_lowercase());
    let has_form = |part: &&str| {
        let is_word = separator == '|' || !part.contains(char::is_whitespace);
        !part.is_empty() && part.chars().count() <= MAX_LENGTH && is_word
    };
    let is_offer = (2..=MAX_CHOICES).contains(&parts.len())
        && parts.iter().all(has_form)
        && (separator == '|' || parts.iter().any(is_answer));
    let lower: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
    let are_different = lower.iter().enumerate().all(|(at, part)| !lower[..at].contains(part));
    if is_offer && are_different { titled(parts.into_iter().map(|part| (part, part))) } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_offer_answers() {
        for (prompt, expected) in [
            ("Ship it? (yes/no)", "[y]es, [n]o"),
            ("Ship it (Y/n)?", "[Y], [n]"),
            ("Publish? [y/N]", "[y], [N]"),
            ("Go on? (yes/no/later) Think first.", "[y]es, [n]o, [l]ater"),
            ("What now? [ship | wait | stop]", "[s]hip, [w]ait, s[t]op"),
            ("[Ship it | Wait a week] What now?", "[S]hip it, [W]ait a week"),
            ("Colour (red | green)", "[r]ed, [g]reen"),
            ("How is the mood? (good/bad)", "[g]ood, [b]ad"),
            ("Which release? (major/minor/patch)", "[m]ajor, m[i]nor, [p]atch"),
            // The last group counts.
            ("Deploy (yes/no) or: [now | tonight]", "[n]ow, [t]onight"),
            ("Ship it (yes/no)? (see the log)", "[y]es, [n]o"),
            // These are no answers.
            ("What is the topic?", ""),
            ("Speed (km/h)", ""),
            ("Start date (DD/MM/YYYY)", ""),
            ("His/her name (and/or title)", ""),
            ("Topic (optional)", ""),
            ("Files [src/main.rs]", ""),
            ("Say yes/no", ""),
            ("Which (yes/yes)?", ""),
            ("Which (yes/no", ""),
            ("Which [yes/no)", ""),
            ("Which [a | ]", ""),
        ] {
            assert_eq!(listed(&choices(prompt)), expected, "{prompt}");
        }
    }

    #[test]
    fn an_answer_is_given_in_one_form() {
        for (prompt, answer, expected) in [
            ("(yes/no)", "yes", Some("yes")),
            ("(yes/no)", " YES. ", Some("yes")),
            ("(yes/no)", "y", Some("yes")),
            ("(yes/no)", "N", Some("no")),
            ("(yes/no)", "ye", Some("yes")),
            ("(yes/no)", "", None),
            ("(yes/no)", "yeah", None),
            ("(yes/no)", "maybe", None),
            ("(Y/n)", "yes", Some("Y")),
            ("(Y/n)", "No", Some("n")),
            ("(Y/n)", "nope", None),
            ("[ship | wait | stop]", "SHIP", Some("ship")),
            ("[ship | wait | stop]", "t", Some("stop")),
            ("[ship | wait | stop]", "sh", Some("ship")),
            ("[ship | wait | stop]", "s", Some("ship")),
            ("[start | stage | stop]", "st", None),
            ("[start | stage | stop]", "sta", None),
            ("[start | stage | stop]", "stag", Some("stage")),
            ("[Ship it | Wait]", "ship", Some("Ship it")),
        ] {
            let choices = choices(prompt);
            let value = understood(&choices, answer).map(|choice| choice.value.as_str());
            assert_eq!(value, expected, "{answer:?} to {prompt}");
        }
    }
}

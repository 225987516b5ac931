//! What a value is compared with.

use std::sync::Arc;

use prose_syntax::TextRange;
use prose_vm::value::{Plain, Value};
use regex::Regex;

/// What a value is compared with: all of it has to hold.
#[derive(Debug, Clone, Default)]
pub struct Matcher {
    /// The comparisons, each with its place in the test file.
    pub all: Vec<(TextRange, Matching)>,
}

/// A comparison of a value.
#[derive(Debug, Clone)]
pub enum Matching {
    /// It is this value.
    Equals(Value),
    /// It contains this text.
    Contains(String),
    /// It does not contain this text.
    Excludes(String),
    /// This matches in it.
    Matches(Regex),
    /// It fulfils this JSON schema.
    Schema(Arc<jsonschema::Validator>),
    /// A model says that this is true of it.
    Judge(String),
}

/// A comparison that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// What is wrong, as the rest of a sentence that starts with the name of the value.
    pub(crate) message: String,
    /// The expected value, if there is exactly one.
    pub(crate) expected: Option<String>,
}

impl Matching {
    /// Compares a value. A model is not asked: [`Matching::Judge`] holds.
    pub(crate) fn compare(&self, value: &Value) -> Result<(), Difference> {
        let fail = |message: String| Err(Difference { message, expected: None });
        match self {
            Matching::Equals(expected) if is_equal(expected, value) => Ok(()),
            Matching::Equals(expected) => Err(Difference {
                message: "differs from the expected value".to_owned(),
                expected: Some(expected.to_string()),
            }),
            Matching::Contains(part) if text(value).contains(part.as_str()) => Ok(()),
            Matching::Contains(part) => fail(format!("does not contain {part:?}")),
            Matching::Excludes(part) if !text(value).contains(part.as_str()) => Ok(()),
            Matching::Excludes(part) => fail(format!("contains {part:?}")),
            Matching::Matches(pattern) if pattern.is_match(&text(value)) => Ok(()),
            Matching::Matches(pattern) => fail(format!("does not match `{pattern}`")),
            Matching::Schema(schema) => {
                let json = json(value);
                let mut errors = schema.iter_errors(&json).map(|error| {
                    let place = error.instance_path().to_string();
                    match place.is_empty() {
                        true => error.to_string(),
                        false => format!("`{place}`: {error}"),
                    }
                });
                match errors.next() {
                    None => Ok(()),
                    Some(first) => match errors.count() {
                        0 => fail(format!("does not fulfil the schema: {first}")),
                        more => fail(format!("does not fulfil the schema: {first}; and {more} more")),
                    },
                }
            }
            Matching::Judge(_) => Ok(()),
        }
    }
}

/// A value as texts are searched in it.
fn text(value: &Value) -> String {
    value.to_string()
}

/// Whether a value of a run is the expected one. A line break at the end of a text does not count, and a text with a number or with JSON is that value.
fn is_equal(expected: &Value, actual: &Value) -> bool {
    if let Value::Text(expected) = expected {
        return same_text(expected, &text(actual));
    }
    same_json(&plain(expected), &json(actual))
}

fn same_text(a: &str, b: &str) -> bool {
    let lines = |text: &str| text.trim_end().lines().map(str::to_owned).collect::<Vec<_>>();
    a == b || lines(a) == lines(b)
}

fn same_json(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    use serde_json::Value as Json;
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_json(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_json(a, b)))
        }
        _ => a == b,
    }
}

fn plain(value: &Value) -> serde_json::Value {
    serde_json::to_value(Plain(value)).unwrap_or_default()
}

/// A value as JSON; a text that has JSON in it is that. Models put it between fences.
fn json(value: &Value) -> serde_json::Value {
    let Value::Text(text) = value else { return plain(value) };
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    let inner = inner.and_then(|text| text.strip_suffix("```")).unwrap_or(text);
    serde_json::from_str(inner.trim()).unwrap_or_else(|_| serde_json::Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: Value, actual: Value, is_same: bool) {
        assert_eq!(is_equal(&expected, &actual), is_same, "{expected:?} {actual:?}");
    }

    #[test]
    fn texts_are_equal_apart_from_line_breaks_at_the_end() {
        check("a\nb\n".into(), "a\r\nb".into(), true);
        check("a b".into(), "a  b".into(), false);
        check("".into(), "a".into(), false);
    }

    #[test]
    fn numbers_and_json_in_texts_are_values() {
        check(Value::Number(3.0), "3".into(), true);
        check("3".into(), Value::Number(3.0), true);
        check(Value::Bool(true), "true".into(), true);
        check(Value::array([Value::Number(1.0)]), "```json\n[1]\n```".into(), true);
        let object = Value::object([("a", Value::Number(1.0)), ("b", "x".into())]);
        check(object.clone(), "{\"b\": \"x\", \"a\": 1.0}".into(), true);
        check(object, "{\"a\": 1}".into(), false);
    }
}

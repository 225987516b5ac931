//! Values of a running program.

use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use crate::error::RuntimeError;

/// The key that marks an error value among the objects of a journal. Keys of objects that start with `$` get a second one there, so that nothing an
/// agent says is taken for a mark.
const ERROR_KEY: &str = "$error";
/// The key that marks a reference to a file.
const FILE_KEY: &str = "$file";

/// How large a value may be, in bytes: more than any reply that agents give.
const MAX_BYTES: usize = 64 << 20;

/// How deep values may be nested. Readers of JSON stop at 128, and a journal puts some levels around a value.
const MAX_DEPTH: u32 = 100;

/// A value (R9). Clones are cheap.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// What has no value, such as a branch that was cancelled.
    #[default]
    Null,
    /// `true` or `false`, or what a condition in an expression came to (R68).
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string or the result of a session. What structure it has is found out when a program asks for it.
    Text(Arc<str>),
    /// An array.
    Array(Arc<[Value]>),
    /// An object, its entries in the order in which they were written.
    Object(Arc<[(SmolStr, Value)]>),
    /// The failure of a branch under the policy `continue`, or what a `catch` names.
    Error(Arc<RuntimeError>),
    /// A file that is passed on (C14).
    File(Arc<str>),
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Value::Text(text.into())
    }

    /// An array.
    pub fn array(values: impl IntoIterator<Item = Value>) -> Self {
        Value::Array(values.into_iter().collect())
    }

    /// An object.
    pub fn object<K: Into<SmolStr>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        Value::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// The value of JSON.
    pub fn from_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) if number.is_f64() => {
                number.as_f64().map_or(Value::Null, Value::Number)
            }
            serde_json::Value::Number(number) => whole_number(&number.to_string()),
            serde_json::Value::String(text) => Value::text(text.as_str()),
            serde_json::Value::Array(items) => Value::array(items.iter().map(Value::from_json)),
            serde_json::Value::Object(entries) => {
                Value::object(entries.iter().map(|(key, value)| (key.as_str(), Value::from_json(value))))
            }
        }
    }

    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::Text(_) => "text",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            Value::Error(_) => "error",
            Value::File(_) => "file",
        }
    }

    /// The number that the value is, also one that is written as text (R10).
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(text) => match text.trim().parse().ok().filter(|number: &f64| number.is_finite())? {
                // The digits of such a number are more than a number could keep, as those of an id.
                number if number.abs() > MAX_EXACT => None,
                number => Some(number),
            },
            _ => None,
        }
    }

    /// The bytes of text in it, roughly: what decides whether it is passed on whole.
    pub fn len(&self) -> usize {
        match self {
            Value::Null | Value::Bool(_) | Value::Number(_) => 8,
            Value::Text(text) | Value::File(text) => text.len(),
            Value::Array(items) => items.iter().map(|item| item.len() + 2).sum(),
            Value::Object(entries) => entries.iter().map(|(key, value)| key.len() + value.len() + 4).sum(),
            Value::Error(error) => error.message.len() + 16,
        }
    }

    /// Whether it is larger or more deeply nested than a run can keep: journals and prompts hold all of it, however many parts of it are the same.
    pub fn is_too_large(&self) -> bool {
        !self.fits(MAX_DEPTH, &mut { MAX_BYTES })
    }

    fn fits(&self, depth: u32, left: &mut usize) -> bool {
        let size = match self {
            Value::Text(text) | Value::File(text) => text.len(),
            _ => 64,
        };
        let Some(rest) = left.checked_sub(size) else { return false };
        *left = rest;
        match self {
            Value::Array(items) => depth > 0 && items.iter().all(|item| item.fits(depth - 1, left)),
            Value::Object(entries) => {
                depth > 0 && entries.iter().all(|(_, value)| value.fits(depth - 1, left))
            }
            _ => true,
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Text(text) => text.trim().is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(entries) => entries.is_empty(),
            Value::Bool(_) | Value::Number(_) | Value::Error(_) | Value::File(_) => false,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::text(text)
    }
}

/// The largest whole number that no other one is rounded to.
pub(crate) const MAX_EXACT: f64 = 9_007_199_254_740_991.0;

/// A whole number that comes from outside. One with more digits than a number keeps stays text, so that an id is the same when it is passed on.
fn whole_number(digits: &str) -> Value {
    match digits.parse() {
        Ok(number) if f64::abs(number) <= MAX_EXACT => Value::Number(number),
        _ => Value::text(digits),
    }
}

/// As it stands in prompts and in binding files: text as it is, everything else as JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) | Value::File(text) => f.write_str(text),
            Value::Error(error) => write!(f, "{error}"),
            Value::Array(_) | Value::Object(_) => {
                let json = serde_json::to_string_pretty(&Plain(self)).map_err(|_| fmt::Error)?;
                f.write_str(&json)
            }
        }
    }
}

/// A value as JSON for people and agents, without the marks that a journal needs.
pub struct Plain<'a>(pub &'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self.0, serializer, false)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self, serializer, true)
    }
}

fn write<S: Serializer>(value: &Value, serializer: S, marked: bool) -> Result<S::Ok, S::Error> {
    /// A nested value, written in the same way as the one around it.
    struct Nested<'a>(&'a Value, bool);

    impl Serialize for Nested<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            write(self.0, serializer, self.1)
        }
    }

    match value {
        Value::Null => serializer.serialize_unit(),
        Value::Bool(value) => serializer.serialize_bool(*value),
        // Whole numbers are written without a fraction, as programs write them.
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            serializer.serialize_i64(*number as i64)
        }
        Value::Number(number) => serializer.serialize_f64(*number),
        Value::Text(text) => serializer.serialize_str(text),
        Value::Array(items) => {
            let mut sequence = serializer.serialize_seq(Some(items.len()))?;
            for item in items.iter() {
                sequence.serialize_element(&Nested(item, marked))?;
            }
            sequence.end()
        }
        Value::Object(entries) => {
            let mut map = serializer.serialize_map(Some(entries.len()))?;
            for (key, value) in entries.iter() {
                if marked && key.starts_with('$') {
                    map.serialize_entry(&format!("${key}"), &Nested(value, marked))?;
                } else {
                    map.serialize_entry(key, &Nested(value, marked))?;
                }
            }
            map.end()
        }
        Value::Error(error) if marked => {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry(ERROR_KEY, error.as_ref())?;
            map.end()
        }
        Value::Error(error) => error.serialize(serializer),
        Value::File(path) if marked => {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry(FILE_KEY, path.as_ref())?;
            map.end()
        }
        Value::File(path) => serializer.serialize_str(path),
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(whole_number(&number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(whole_number(&number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(SmolStr, Value)> = Vec::new();
        while let Some(key) = access.next_key::<SmolStr>()? {
            match key.as_str() {
                ERROR_KEY if entries.is_empty() => {
                    let error: RuntimeError = access.next_value()?;
                    while access.next_entry::<SmolStr, Value>()?.is_some() {}
                    return Ok(Value::Error(Arc::new(error)));
                }
                FILE_KEY if entries.is_empty() => {
                    let path: String = access.next_value()?;
                    while access.next_entry::<SmolStr, Value>()?.is_some() {}
                    return Ok(Value::File(path.into()));
                }
                _ => {
                    let key = key
                        .strip_prefix('$')
                        .filter(|_| key.starts_with("$$"))
                        .map_or(key.clone(), Into::into);
                    entries.push((key, access.next_value()?));
                }
            }
        }
        Ok(Value::object(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_journal_gives_back_every_value_as_it_was() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut values = vec![
            Value::Null,
            Value::Bool(true),
            Value::text("text \u{0} \u{2028}"),
            Value::Error(RuntimeError::new(ErrorKind::Thrown, "it broke").into()),
            Value::File("docs/a.md".into()),
            Value::object([("$error", Value::Number(1.0)), ("$$file", Value::Null), ("", Value::array([]))]),
            Value::object([("$file", Value::from("no file"))]),
            Value::Number(0.1 + 0.2),
            Value::Number(9e15),
            Value::Number(-9_007_199_254_740_993.0),
            Value::Number(f64::MAX),
            Value::Number(f64::MIN_POSITIVE),
        ];
        values.extend(
            (0..10_000)
                .map(|_| f64::from_bits(random.u64(..)))
                .filter(|number| number.is_finite())
                .map(Value::Number),
        );
        for value in values {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value, "{json}");
        }
    }
}

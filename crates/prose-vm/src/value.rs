//! Values of a running program.

use std::borrow::Cow;
use std::convert::identity;
use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;

use crate::error::RuntimeError;

/// The key that marks an error value among the objects of a journal. In journals, keys of objects that start with `$` get a second `$`, so that no
/// reply of an agent is read as such a key.
const ERROR_KEY: &str = "$error";
/// The key that marks a reference to a file.
const FILE_KEY: &str = "$file";

/// The maximum size of a value in bytes; larger than the largest reply.
const MAX_BYTES: usize = 64 << 20;

/// The maximum nesting depth of a value. JSON readers stop at 128, and a journal adds some levels around a value.
const MAX_DEPTH: u32 = 100;

/// A value (R9). Clones are cheap.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// No value, such as that of a cancelled branch.
    #[default]
    Null,
    /// `true` or `false`, or the result of a condition in an expression (R68).
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string or the result of a session. Its structure is parsed when a program uses it.
    Text(Arc<str>),
    /// An array.
    Array(Arc<[Value]>),
    /// An object with its entries in source order.
    Object(Arc<[(SmolStr, Value)]>),
    /// The failure of a branch under the policy `continue`, or the error that a `catch` binds.
    Error(Arc<RuntimeError>),
    /// A file passed by reference (C14).
    File(Arc<str>),
}

impl Value {
    /// A text value.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Value::Text(text.into())
    }

    /// An array value.
    pub fn array(values: impl IntoIterator<Item = Value>) -> Self {
        Value::Array(values.into_iter().collect())
    }

    /// An object value.
    pub fn object<K: Into<SmolStr>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        Value::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// Converts a JSON value.
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

    /// The kind of the value, for messages.
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

    /// The numeric value, also of a number written as text (R10).
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(text) => match text.trim().parse().ok().filter(|number: &f64| number.is_finite())? {
                // The number has more digits than an `f64` holds, such as an id.
                number if number.abs() > MAX_EXACT => None,
                number => Some(number),
            },
            _ => None,
        }
    }

    /// The approximate number of bytes of text in it; it decides whether the value is passed in full.
    pub fn len(&self) -> usize {
        match self {
            Value::Null | Value::Bool(_) | Value::Number(_) => 8,
            Value::Text(text) | Value::File(text) => text.len(),
            Value::Array(items) => items.iter().map(|item| item.len() + 2).sum(),
            Value::Object(entries) => entries.iter().map(|(key, value)| key.len() + value.len() + 4).sum(),
            Value::Error(error) => error.message.len() + 16,
        }
    }

    /// Whether it exceeds the limits on size or nesting. Journals and prompts store every copy of a shared part.
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

    /// Whether it is empty.
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

/// The largest integer that is exact in an `f64`.
pub(crate) const MAX_EXACT: f64 = 9_007_199_254_740_991.0;

/// An integer from JSON. One with more digits than an `f64` holds stays text, so that an id does not change.
fn whole_number(digits: &str) -> Value {
    match digits.parse() {
        Ok(number) if f64::abs(number) <= MAX_EXACT => Value::Number(number),
        _ => Value::text(digits),
    }
}

/// The form in prompts and in binding files: text unchanged, everything else as JSON.
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

/// A value as JSON for users and agents, without the keys that only journals use.
pub struct Plain<'a>(pub &'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self.0, serializer, Plain, false)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self, serializer, identity, true)
    }
}

/// Writes a value. `nested` gives the form in which its parts are written, which is that of the whole.
fn write<'a, S: Serializer, T: Serialize>(
    value: &'a Value,
    serializer: S,
    nested: impl Fn(&'a Value) -> T,
    marked: bool,
) -> Result<S::Ok, S::Error> {
    match value {
        Value::Null => serializer.serialize_unit(),
        Value::Bool(value) => serializer.serialize_bool(*value),
        // Integers are written without a fraction, as in programs.
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            serializer.serialize_i64(*number as i64)
        }
        Value::Number(number) => serializer.serialize_f64(*number),
        Value::Text(text) => serializer.serialize_str(text),
        Value::Array(items) => serializer.collect_seq(items.iter().map(nested)),
        Value::Object(entries) => serializer.collect_map(entries.iter().map(|(key, value)| {
            let is_escaped = marked && key.starts_with('$');
            let key = if is_escaped { Cow::Owned(format!("${key}")) } else { Cow::Borrowed(key.as_str()) };
            (key, nested(value))
        })),
        Value::Error(error) if marked => serializer.collect_map([(ERROR_KEY, error)]),
        Value::Error(error) => error.serialize(serializer),
        Value::File(path) if marked => serializer.collect_map([(FILE_KEY, path)]),
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

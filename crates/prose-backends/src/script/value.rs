//! Values of TOML as values of programs.

use std::ops::Range;

use prose_vm::value::Value;
use toml::Spanned;
use toml::de::DeValue;

/// A value of TOML that programs do not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidValue {
    /// Where it stands in the document.
    pub span: Range<usize>,
    /// What may stand there.
    pub expected: &'static str,
}

/// The value of a program for one of TOML. Dates are texts.
pub fn toml_value(value: &Spanned<DeValue<'_>>) -> Result<Value, InvalidValue> {
    let invalid = |expected| InvalidValue { span: value.span(), expected };
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::text(&**text),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Number(number as f64),
            Err(_) => return Err(invalid("a number of at most 64 bits")),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) if f64::is_finite(number) => Value::Number(number),
            _ => return Err(invalid("a finite number")),
        },
        DeValue::Datetime(time) => Value::text(time.to_string()),
        DeValue::Array(items) => {
            let items: Result<Vec<Value>, _> = items.iter().map(toml_value).collect();
            Value::array(items?)
        }
        DeValue::Table(entries) => {
            let entries = entries.iter().map(|(key, value)| Ok((&**key.get_ref(), toml_value(value)?)));
            Value::object(entries.collect::<Result<Vec<_>, _>>()?)
        }
    })
}

//! Parses the structure of texts on demand (R9), and implements the operators on values (R10, R11).

use smol_str::SmolStr;

use crate::value::Value;

/// The items of a value: those of an array, of JSON in a text (bare or fenced), of a list in a text, or its lines. `None` if the value has no items.
pub fn items(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => Some(items.to_vec()),
        Value::Null => Some(Vec::new()),
        Value::Object(entries) => Some(entries.iter().map(|(_, value)| value.clone()).collect()),
        Value::Text(text) => Some(items_of_text(text)),
        Value::Bool(_) | Value::Number(_) | Value::Error(_) | Value::File(_) => None,
    }
}

fn items_of_text(text: &str) -> Vec<Value> {
    match json(text) {
        Some(serde_json::Value::Array(items)) => return items.iter().map(Value::from_json).collect(),
        // An object with exactly one list, such as `{"tasks": […]}`, is treated as that list.
        Some(serde_json::Value::Object(entries)) => {
            let mut lists = entries.values().filter_map(serde_json::Value::as_array);
            if let (Some(list), None) = (lists.next(), lists.next()) {
                return list.iter().map(Value::from_json).collect();
            }
            return entries.values().map(Value::from_json).collect();
        }
        _ => {}
    }
    let listed: Vec<Value> = text.lines().filter_map(list_item).map(Value::from).collect();
    if !listed.is_empty() {
        return listed;
    }
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Value::from).collect()
}

/// The text after a list marker: `-`, `*`, `1.` or `1)`. Nested items belong to their parent and are left out.
fn list_item(line: &str) -> Option<&str> {
    let indent = line.len() - line.trim_start().len();
    if indent > 3 {
        return None;
    }
    let line = line.trim();
    let rest = match line.strip_prefix(['-', '*', '•']) {
        Some(rest) => rest,
        None => {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.len() == line.len() {
                return None;
            }
            rest.strip_prefix(['.', ')'])?
        }
    };
    let item = rest.strip_prefix([' ', '\t'])?.trim();
    (!item.is_empty()).then_some(item)
}

/// The named part of a value: an entry of an object, of JSON in a text, or a line `name: value`.
pub fn field(value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Object(entries) => entries.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()),
        Value::Error(error) => Some(match name {
            "message" => Value::text(error.message.as_str()),
            "kind" => Value::text(serde_json::to_value(error.kind).ok()?.as_str().unwrap_or_default()),
            "statement" => Value::text(error.statement.as_str()),
            "line" => Value::Number(error.line.into()),
            "attempts" => Value::Number(error.attempts.into()),
            _ => return None,
        }),
        Value::Array(items) if matches!(name, "length" | "count") => Some(Value::Number(items.len() as f64)),
        Value::Text(text) => field_of_text(text, name),
        _ => None,
    }
}

fn field_of_text(text: &str, name: &str) -> Option<Value> {
    if let Some(serde_json::Value::Object(entries)) = json(text) {
        let entry = entries
            .get(name)
            .or_else(|| entries.iter().find(|(key, _)| same_name(key, name)).map(|(_, value)| value));
        return entry.map(Value::from_json);
    }
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        let key = key.trim().trim_start_matches(['-', '*', '#', ' ']).trim_matches(['*', '_', '`', '"']);
        let value = value.trim().trim_start_matches("**").trim();
        (same_name(key, name) && !value.is_empty()).then(|| Value::from(value))
    })
}

/// Whether two names are equal ignoring case and word separators: agents write `Root cause` for `root_cause`.
fn same_name(a: &str, b: &str) -> bool {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    a == b || !a.is_empty() && plain(a) == plain(b)
}

/// The JSON that a text consists of, or that its first fenced block contains.
fn json(text: &str) -> Option<serde_json::Value> {
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(trimmed)
    {
        return Some(value);
    }
    let (_, behind) = text.split_once("```")?;
    let (language, behind) = behind.split_once('\n')?;
    if !matches!(language.trim(), "" | "json") {
        return None;
    }
    let (inside, _) = behind.split_once("```")?;
    serde_json::from_str(inside.trim()).ok()
}

/// An element by its index, from 0; negative indices count from the end.
pub fn element(value: &Value, index: f64) -> Option<Value> {
    let items = items(value)?;
    let at = if index < 0.0 { items.len() as f64 + index } else { index };
    if at < 0.0 || at.fract() != 0.0 {
        return None;
    }
    items.into_iter().nth(at as usize)
}

/// The truth of a value (R11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// True.
    Yes,
    /// False.
    No,
    /// A text that is neither. A condition treats it as true; a filter asks the model.
    Unclear,
}

impl Truth {
    /// Whether it counts as true where no model is asked.
    pub fn holds(self) -> bool {
        self != Truth::No
    }
}

/// The truth of a value (R11).
pub fn truth(value: &Value) -> Truth {
    let is = |yes: bool| if yes { Truth::Yes } else { Truth::No };
    match value {
        Value::Null => Truth::No,
        Value::Bool(value) => is(*value),
        Value::Number(number) => is(*number != 0.0),
        Value::Array(_) | Value::Object(_) => is(!value.is_empty()),
        Value::Error(_) => Truth::No,
        Value::File(_) => Truth::Yes,
        Value::Text(text) => {
            let text = text.trim().trim_start_matches(['*', '_', '`', '"', '\'']).to_lowercase();
            if text.is_empty() || text.starts_with("n/a") {
                return Truth::No;
            }
            let word: String = text.chars().take_while(|c| c.is_alphanumeric()).collect();
            match word.as_str() {
                "no" | "false" | "none" | "0" => Truth::No,
                "yes" | "true" | "y" => Truth::Yes,
                _ => Truth::Unclear,
            }
        }
    }
}

/// Whether two values are equal (R10): numbers also if they are written as text, objects and arrays element by element.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_) | Value::Text(_), Value::Number(_) | Value::Text(_)) => {
            match (a.as_number(), b.as_number()) {
                (Some(a), Some(b)) => a == b,
                _ => matches!((a, b), (Value::Text(a), Value::Text(b)) if a.trim() == b.trim()),
            }
        }
        (Value::Bool(value), Value::Text(text)) | (Value::Text(text), Value::Bool(value)) => {
            text.trim().eq_ignore_ascii_case(if *value { "true" } else { "false" })
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| {
                    b.iter().any(|(other, other_value)| key == other && equal(value, other_value))
                })
        }
        _ => a == b,
    }
}

/// The order of two values: numeric if both are numbers, otherwise by text.
pub fn compare(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    match (a.as_number(), b.as_number(), a, b) {
        (Some(a), Some(b), ..) => a.partial_cmp(&b),
        (_, _, Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// The sum of two values: numeric addition or concatenation (R10). `None` if it is not defined for them.
pub fn add(a: &Value, b: &Value) -> Option<Value> {
    Some(match (a, b) {
        (Value::Number(a), Value::Number(b)) => Value::Number(a + b),
        (Value::Array(a), Value::Array(b)) => Value::array(a.iter().chain(b.iter()).cloned()),
        (Value::Array(a), b) => Value::array(a.iter().chain([b]).cloned()),
        (Value::Object(a), Value::Object(b)) => {
            let mut entries: Vec<(SmolStr, Value)> = a.to_vec();
            for (key, value) in b.iter() {
                match entries.iter_mut().find(|(known, _)| known == key) {
                    Some(entry) => entry.1 = value.clone(),
                    None => entries.push((key.clone(), value.clone())),
                }
            }
            Value::object(entries)
        }
        // A number in the reply of a session counts as a number next to a number.
        (Value::Number(number), text @ Value::Text(_)) | (text @ Value::Text(_), Value::Number(number))
            if text.as_number().is_some() =>
        {
            Value::Number(number + text.as_number()?)
        }
        (Value::Text(_), _) | (_, Value::Text(_)) => Value::text(format!("{a}{b}")),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_items(text: &str, expected: &[&str]) {
        let items = items(&Value::from(text)).unwrap();
        let items: Vec<String> = items.iter().map(ToString::to_string).collect();
        assert_eq!(items, expected);
    }

    #[test]
    fn r009_json_comes_before_lists_and_lists_before_lines() {
        check_items(r#"["a", 2]"#, &["a", "2"]);
        check_items("Here they are:\n```json\n[\"a\", \"b\"]\n```\nDone.", &["a", "b"]);
        check_items(r#"{"tasks": ["a", "b"], "count": 2}"#, &["a", "b"]);
        check_items("Three things:\n- a\n* b\n  1. c\n", &["a", "b", "c"]);
        check_items("1. first\n   - a detail\n2) second", &["first", "a detail", "second"]);
        check_items("one\n\n two \n", &["one", "two"]);
        check_items("", &[]);
    }

    #[test]
    fn r009_fields_are_taken_from_json_or_from_lines() {
        let field = |text: &str, name: &str| field(&Value::from(text), name).map(|value| value.to_string());
        assert_eq!(field(r#"{"url": "ws://x", "n": 3}"#, "url").as_deref(), Some("ws://x"));
        assert_eq!(field("Status: done\n**Root cause:** a typo", "root_cause").as_deref(), Some("a typo"));
        assert_eq!(field("nothing here", "url"), None);
    }

    #[test]
    fn r010_adds_numbers_concatenates_arrays_and_texts() {
        let one = Value::Number(1.0);
        assert_eq!(add(&one, &Value::from("2")), Some(Value::Number(3.0)));
        assert_eq!(add(&Value::from("a"), &one), Some(Value::from("a1")));
        let list = Value::array([one.clone()]);
        assert_eq!(add(&list, &list), Some(Value::array([one.clone(), one.clone()])));
        assert_eq!(add(&list, &Value::from("x")), Some(Value::array([one.clone(), Value::from("x")])));
        assert_eq!(add(&one, &Value::Null), None);
    }

    #[test]
    fn r011_texts_that_start_with_no_are_not_true() {
        for no in ["no", " No, it is not", "FALSE", "none", "n/a", "0", "", "**No**."] {
            assert_eq!(truth(&Value::from(no)), Truth::No, "{no}");
        }
        for yes in ["yes", "True.", "y"] {
            assert_eq!(truth(&Value::from(yes)), Truth::Yes, "{yes}");
        }
        assert_eq!(truth(&Value::from("nothing to add")), Truth::Unclear);
        assert_eq!(truth(&Value::from("0.5 of it")), Truth::No);
    }
}

//! Values as a tree, in pages.

use std::sync::Arc;

use prose_vm::value::Value;

/// The longest text of a value in a row, in characters.
const MAX_SHOWN: usize = 200;

/// The length of the pieces in which a long line is shown, in characters.
const PIECE: usize = 1000;

/// A value with what can be unfolded in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// The value in one line.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => shortened(text),
        Value::Array(items) => format!("{} items", items.len()),
        Value::Object(entries) => {
            let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
            shortened(&format!("{{ {} }}", names.join(", ")))
        }
        value => shortened(&value.to_string()),
    }
}

fn shortened(text: &str) -> String {
    let line = text.trim().replace(['\n', '\r'], " ⏎ ");
    match line.char_indices().nth(MAX_SHOWN) {
        None => line,
        Some((end, _)) => format!("{}… ({} characters)", &line[..end], text.chars().count()),
    }
}

/// The number of rows with names and of rows with numbers that a value unfolds to.
pub(crate) fn counts(value: &Value) -> (usize, usize) {
    match value {
        Value::Object(entries) => (entries.len(), 0),
        Value::Array(items) => (0, items.len()),
        Value::Error(_) => (5, 0),
        Value::Text(text) => match structured(text) {
            Some(value) => counts(&value),
            None => (0, pieces(text).len()),
        },
        _ => (0, 0),
    }
}

/// The rows of a value.
pub(crate) fn rows(value: &Value, start: usize, count: usize) -> Vec<Row> {
    let numbered = |values: &mut dyn Iterator<Item = Value>| -> Vec<Row> {
        let values = values.enumerate().skip(start).take(count);
        values.map(|(nth, value)| Row { name: format!("[{nth}]"), value }).collect()
    };
    match value {
        Value::Object(entries) => {
            let entries = entries.iter().skip(start).take(count);
            entries.map(|(name, value)| Row { name: name.to_string(), value: value.clone() }).collect()
        }
        Value::Array(items) => numbered(&mut items.iter().cloned()),
        Value::Error(_) => ["message", "kind", "statement", "line", "attempts"]
            .into_iter()
            .filter_map(|name| {
                let value = prose_vm::structure::field(value, name)?;
                Some(Row { name: name.to_owned(), value })
            })
            .skip(start)
            .take(count)
            .collect(),
        Value::Text(text) => match structured(text) {
            Some(value) => rows(&value, start, count),
            None => numbered(&mut pieces(text).into_iter().map(Value::text)),
        },
        _ => Vec::new(),
    }
}

/// The JSON that a text consists of.
fn structured(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let json = serde_json::from_str::<serde_json::Value>(text).ok()?;
    Some(Value::from_json(&json))
}

/// The lines of a text, the long ones in several pieces. A short line is whole in its row.
fn pieces(text: &str) -> Vec<Arc<str>> {
    let is_short = !text.trim().contains('\n') && text.chars().nth(MAX_SHOWN).is_none();
    if is_short {
        return Vec::new();
    }
    let mut pieces = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some((end, _)) = rest.char_indices().nth(PIECE) {
            pieces.push(rest[..end].into());
            rest = &rest[end..];
        }
        pieces.push(rest.into());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(value: Value, expected: Expect) {
        let rows = rows(&value, 0, 3);
        let rows: String =
            rows.iter().map(|row| format!("\n  {} = {}", row.name, shown(&row.value))).collect();
        expected.assert_eq(&format!("{} {:?}{rows}", shown(&value), counts(&value)));
    }

    #[test]
    fn texts_unfold_to_lines() {
        check(Value::from("short"), expect!["short (0, 0)"]);
        check(
            Value::from("one\ntwo\nthree\nfour"),
            expect![[r#"
                one ⏎ two ⏎ three ⏎ four (0, 4)
                  [0] = one
                  [1] = two
                  [2] = three"#]],
        );
        assert_eq!(counts(&Value::text("x".repeat(2500))), (0, 3));
    }

    #[test]
    fn structures_unfold() {
        check(
            Value::from(r#"{"steps": ["read"], "done": true}"#),
            expect![[r#"
                {"steps": ["read"], "done": true} (2, 0)
                  done = true
                  steps = 1 items"#]],
        );
        check(
            Value::array([Value::from("a"), Value::Null]),
            expect![[r#"
                2 items (0, 2)
                  [0] = a
                  [1] = null"#]],
        );
    }
}

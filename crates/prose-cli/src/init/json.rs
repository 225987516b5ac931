//! Adds entries to a JSON text. Everything that is there keeps its bytes.

use std::collections::BTreeSet;
use std::ops::Range;

use prose_syntax::lines;
use serde::de::IgnoredAny;
use serde_json::Value;

/// A JSON text with additional entries.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Merged {
    /// The text, the same as before if nothing was missing.
    pub(super) text: String,
    /// The paths of entries that have another value already, such as `mcp.prose`. They are kept.
    pub(super) kept: Vec<String>,
}

/// Adds the entries of `added` that `text` does not have. `None` if the text is not JSON, for example because it has comments.
pub(super) fn merge(text: &str, added: &str) -> Option<Merged> {
    let is_json = |text| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
    if !is_json(text) || !is_json(added) {
        return None;
    }
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut merge = Merge { text, added, line_end, insertions: Vec::new(), kept: Vec::new() };
    merge.object(Part::root(text), Part::root(added), "")?;
    let Merge { mut insertions, kept, .. } = merge;
    let mut merged = text.to_owned();
    insertions.sort_by_key(|(offset, _)| *offset);
    for (offset, inserted) in insertions.iter().rev() {
        merged.insert_str(*offset, inserted);
    }
    Some(Merged { text: merged, kept })
}

struct Merge<'t> {
    text: &'t str,
    added: &'t str,
    line_end: &'static str,
    /// New texts and the offsets at which they are inserted.
    insertions: Vec<(usize, String)>,
    kept: Vec<String>,
}

/// An object or an array: the range of its text, with its brackets.
#[derive(Debug, Clone)]
struct Part(Range<usize>);

impl Part {
    fn root(text: &str) -> Self {
        let start = text.len() - text.trim_start().len();
        Self(start..text.trim_end().len())
    }
}

/// The value of a member or an element of a [`Part`].
struct Item {
    /// Empty for elements.
    key: String,
    /// With the key.
    whole: Range<usize>,
    value: Range<usize>,
}

impl Merge<'_> {
    fn object(&mut self, into: Part, from: Part, path: &str) -> Option<()> {
        let present = items(self.text, &into)?;
        let mut missing = Vec::new();
        for item in items(self.added, &from)? {
            let Some(same) = present.iter().rev().find(|present| present.key == item.key) else {
                missing.push(item.whole);
                continue;
            };
            let path = if path.is_empty() { item.key.clone() } else { format!("{path}.{}", item.key) };
            let old: Value = serde_json::from_str(&self.text[same.value.clone()]).ok()?;
            let new: Value = serde_json::from_str(&self.added[item.value.clone()]).ok()?;
            match (&old, &new) {
                _ if old == new => {}
                (Value::Object(_), Value::Object(_)) if is_group(&new) => {
                    self.object(Part(same.value.clone()), Part(item.value), &path)?;
                }
                (Value::Array(old), Value::Array(new)) if new.iter().any(Value::is_object) => {
                    let elements = items(self.added, &Part(item.value))?.into_iter().zip(new);
                    let missing = elements.filter(|(_, new)| !old.contains(new)).map(|(item, _)| item.whole);
                    self.insert(&Part(same.value.clone()), &missing.collect::<Vec<_>>())?;
                }
                // Where a schema is named does not matter.
                _ if item.key == "$schema" => {}
                _ => self.kept.push(path),
            }
        }
        self.insert(&into, &missing)
    }

    /// Inserts members or elements after the last one of an object or an array.
    fn insert(&mut self, into: &Part, missing: &[Range<usize>]) -> Option<()> {
        if missing.is_empty() {
            return Some(());
        }
        let present = items(self.text, into)?;
        let outer = indentation(self.text, into.0.start);
        let inner = match present.first() {
            // As the others, if they have lines of their own.
            Some(first) if starts_line(self.text, first.whole.start) => {
                indentation(self.text, first.whole.start).to_owned()
            }
            _ => format!("{outer}{}", unit(self.text)),
        };
        let mut inserted = String::new();
        for (index, range) in missing.iter().enumerate() {
            if index > 0 || !present.is_empty() {
                inserted.push(',');
            }
            inserted.push_str(self.line_end);
            inserted.push_str(&inner);
            // The lines of the value get the place of the new entry instead of that in the kit.
            let old = indentation(self.added, range.start);
            let lines = self.added[range.clone()].lines().enumerate().map(|(index, line)| {
                let rest = line.strip_prefix(old).filter(|_| index > 0).unwrap_or(line);
                let line = rest.trim_start_matches(' ');
                format!(
                    "{}{line}",
                    unit(self.text).repeat((rest.len() - line.len()) / unit(self.added).len())
                )
            });
            inserted.push_str(&lines.collect::<Vec<_>>().join(&format!("{}{inner}", self.line_end)));
        }
        let offset = present.last().map_or(into.0.start + 1, |last| last.whole.end);
        // What is after the last entry is white space and the bracket.
        if !self.text[offset..into.0.end].contains('\n') {
            inserted.push_str(self.line_end);
            inserted.push_str(outer);
        }
        self.insertions.push((offset, inserted));
        Some(())
    }
}

/// Whether the entries of a value are settings of their own, such as servers by name. What has only plain values, such as a command with its arguments, belongs
/// together and is added as a whole or not at all.
fn is_group(value: &Value) -> bool {
    let is_entry = |value: &Value| value.is_object() || value.as_array().is_some_and(|_| is_group(value));
    match value {
        Value::Object(members) => members.values().any(is_entry),
        Value::Array(elements) => elements.iter().any(Value::is_object),
        _ => false,
    }
}

/// The members of an object or the elements of an array. `None` if the text is not JSON.
fn items(text: &str, part: &Part) -> Option<Vec<Item>> {
    let is_object = text[part.0.clone()].starts_with('{');
    let mut items = Vec::new();
    let mut at = part.0.start + 1;
    loop {
        at = skip_space(text, at);
        match text.as_bytes().get(at)? {
            b'}' | b']' => return Some(items),
            b',' => {
                at += 1;
                continue;
            }
            _ => {}
        }
        let start = at;
        let mut key = String::new();
        if is_object {
            let end = value_end(text, at)?;
            key = serde_json::from_str(&text[at..end]).ok()?;
            // The colon.
            at = skip_space(text, skip_space(text, end) + 1);
        }
        let end = value_end(text, at)?;
        items.push(Item { key, whole: start..end, value: at..end });
        at = end;
    }
}

fn value_end(text: &str, start: usize) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(start + values.byte_offset())
}

fn skip_space(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    at + (rest.len() - rest.trim_start().len())
}

/// The white space at the start of the line of an offset.
fn indentation(text: &str, offset: usize) -> &str {
    lines::indentation(&text[lines::line_start(text, offset)..])
}

fn starts_line(text: &str, offset: usize) -> bool {
    let start = lines::line_start(text, offset);
    start > 0 && text[start..offset].trim().is_empty()
}

/// What one level is indented by: what most of the text uses, otherwise two spaces.
fn unit(text: &str) -> &str {
    let indented: BTreeSet<&str> = text
        .lines()
        .map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()])
        .filter(|start| !start.is_empty())
        .collect();
    indented.into_iter().min_by_key(|start| start.len()).unwrap_or("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    const SERVER: &str = r#"{
  "mcpServers": {
    "prose": { "command": "prose", "args": ["mcp"] }
  }
}
"#;

    #[track_caller]
    fn check(text: &str, added: &str, expected: Expect) {
        let merged = merge(text, added).unwrap();
        assert!(serde_json::from_str::<Value>(&merged.text).is_ok(), "{}", merged.text);
        let again = merge(&merged.text, added).unwrap();
        assert_eq!(again, merged, "the second time changes nothing");
        let kept: String = merged.kept.iter().map(|path| format!("kept: {path}\n")).collect();
        expected.assert_eq(&format!("{}{kept}", merged.text));
    }

    #[test]
    fn a_missing_entry_is_added_and_all_else_keeps_its_bytes() {
        check(
            "{\n    \"other\":   [1,2],\n    \"mcpServers\": {\n        \"tracker\": {\"command\":\"npx\"}\n    }\n}\n",
            SERVER,
            expect![[r#"
                {
                    "other":   [1,2],
                    "mcpServers": {
                        "tracker": {"command":"npx"},
                        "prose": { "command": "prose", "args": ["mcp"] }
                    }
                }
            "#]],
        );
    }

    #[test]
    fn a_missing_group_is_added_as_a_whole() {
        check(
            "{\n\t\"theme\": \"dark\"\n}",
            SERVER,
            expect![[r#"
                {
                	"theme": "dark",
                	"mcpServers": {
                		"prose": { "command": "prose", "args": ["mcp"] }
                	}
                }"#]],
        );
        check(
            "{}\n",
            SERVER,
            expect![[r#"
                {
                  "mcpServers": {
                    "prose": { "command": "prose", "args": ["mcp"] }
                  }
                }
            "#]],
        );
        check(
            r#"{"a":{},"mcpServers":{}}"#,
            SERVER,
            expect![[r#"
                {"a":{},"mcpServers":{
                  "prose": { "command": "prose", "args": ["mcp"] }
                }}"#]],
        );
    }

    #[test]
    fn an_entry_with_another_value_is_kept() {
        check(
            r#"{ "mcpServers": { "prose": { "command": "/opt/prose" } } }"#,
            SERVER,
            expect![[r#"
                { "mcpServers": { "prose": { "command": "/opt/prose" } } }kept: mcpServers.prose
            "#]],
        );
        check(
            r#"{ "mcpServers": false, "$schema": "mine" }"#,
            "{ \"$schema\": \"ours\", \"mcpServers\": { \"prose\": {} } }",
            expect![[r#"
                { "mcpServers": false, "$schema": "mine" }kept: mcpServers
            "#]],
        );
    }

    #[test]
    fn hooks_are_added_to_those_of_the_same_event() {
        check(
            "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [] }\n    ]\n  }\n}\n",
            "{ \"hooks\": { \"PostToolUse\": [{ \"matcher\": \"Write\", \"hooks\": [{ \"command\": \"prose check --hook\" }] }] } }",
            expect![[r#"
                {
                  "hooks": {
                    "PostToolUse": [
                      { "matcher": "Bash", "hooks": [] },
                      { "matcher": "Write", "hooks": [{ "command": "prose check --hook" }] }
                    ]
                  }
                }
            "#]],
        );
    }

    #[test]
    fn line_ends_are_those_of_the_text() {
        let merged = merge("{\r\n  \"a\": 1\r\n}\r\n", SERVER).unwrap();
        assert_eq!(merged.text.matches('\n').count(), merged.text.matches("\r\n").count(), "{}", merged.text);
    }

    #[test]
    fn a_text_with_comments_or_mistakes_is_left_alone() {
        for text in ["{ // mine\n}", "{,}", "", "[]", "{ \"a\": 1, }", "\u{feff}{}"] {
            assert_eq!(merge(text, SERVER), None, "{text}");
        }
    }

    #[test]
    fn brackets_and_quotes_in_texts_do_not_matter() {
        check(
            r#"{ "a": "}\"]{", "mcpServers": { "x}": {"b": "[\\"} } }"#,
            SERVER,
            expect![[r#"
                { "a": "}\"]{", "mcpServers": { "x}": {"b": "[\\"},
                  "prose": { "command": "prose", "args": ["mcp"] }
                 } }"#]],
        );
    }
}

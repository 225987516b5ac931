//! The JSON schema of entries, from the table of their kinds.

use serde_json::{Map, Value, json};

use super::entry::{KINDS, KindInfo};
use super::read::UNMATCHED;

/// The keys of a script at its top: the kinds of entries, and what becomes of requests without an entry.
pub fn keys() -> impl Iterator<Item = &'static str> + Clone {
    KINDS.iter().map(|info| info.table).chain([UNMATCHED])
}

/// The JSON schemas of the keys of a script at its top.
pub fn schema() -> Map<String, Value> {
    let mut properties = Map::new();
    for info in KINDS {
        properties.insert(info.table.to_owned(), json!({ "type": "array", "items": entry(info) }));
    }
    let unmatched = json!({
        "enum": ["error", "offline"],
        "description": "Whether a request without an entry is an error, or gets a generated reply",
    });
    properties.insert(UNMATCHED.to_owned(), unmatched);
    properties
}

fn entry(info: &KindInfo) -> Value {
    let properties: Map<String, Value> =
        info.keys().into_iter().map(|key| (key.to_owned(), value(info, key))).collect();
    let answers: Vec<Value> = info.answers.iter().map(|answer| json!({ "required": [answer] })).collect();
    json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "oneOf": answers,
    })
}

/// What a key of an entry may be.
fn value(info: &KindInfo, key: &str) -> Value {
    let one_or_more =
        |one: Value| json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] });
    let text = || json!({ "type": "string" });
    match key {
        "order" | "times" | "segments" => json!({ "type": "integer", "minimum": 1 }),
        "met" => one_or_more(json!({ "type": "boolean" })),
        "reply" => one_or_more(text()),
        "choose" => one_or_more(json!({ "anyOf": [text(), { "type": "integer", "minimum": 1 }] })),
        "no-progress" => json!({ "type": "boolean" }),
        "absent" => json!({ "const": true }),
        "value" if info.table == "input" => json!({}),
        "tools" => json!({ "type": "array", "items": text() }),
        "activity" => json!({ "type": "array", "items": { "type": "object" } }),
        _ => text(),
    }
}

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
        let entries = json!({ "type": "array", "items": entry(info), "description": info.kind.about() });
        properties.insert(info.table.to_owned(), entries);
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
        info.keys().into_iter().map(|key| (key.to_owned(), documented(info, key))).collect();
    let answers: Vec<Value> = info.answers.iter().map(|answer| json!({ "required": [answer] })).collect();
    json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "oneOf": answers,
    })
}

/// The schema of a key of an entry.
fn documented(info: &KindInfo, key: &str) -> Value {
    let mut schema = value(info, key);
    schema["description"] = about(key).into();
    schema
}

/// What a key of an entry is for.
fn about(key: &str) -> &'static str {
    match key {
        "agent" => "The name of the agent",
        "name" => "The name of the input or of the value",
        "label" => {
            "The first line of the task, the condition, the criterion of a choice or the prompt of an input; for a part of a text, its name"
        }
        "pattern" => {
            "A regular expression that matches in the task or the complete prompt, the condition, the criterion, the prompt of the input or the value"
        }
        "place" => "The place of the request in the execution, such as `s4/i1/0`",
        "order" => "The number of the request among those of its kind, from 1",
        "reply" => "The reply, or a list of replies that are given one after another",
        "fail" => "The message with which the request fails",
        "tools" => {
            "The tool calls of the session, such as `bash: git log`, which are compared with its permissions"
        }
        "kind" => "The kind of failure, such as `timeout`",
        "met" => "Whether the condition is met, or a list of verdicts that are given one after another",
        "reason" => "The reason of the model",
        "no-progress" => "Whether the loop ends since it makes no progress",
        "choose" => "The label of the chosen option, or its number from 1",
        "value" => "The value",
        "json" => "The value in JSON",
        "absent" => "There is no value",
        "text" => "The text",
        "segments" => "The number of segments of the memory",
        "times" => "How often the entry is used; by default, any number of times",
        "delay" => "The duration of the request, such as `200ms`",
        "activity" => "What the agent reports while it works",
        _ => "",
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_documented() {
        for info in KINDS {
            for key in info.keys() {
                assert_ne!(about(key), "", "`{key}` of `[[{}]]` has no description", info.table);
            }
        }
    }
}

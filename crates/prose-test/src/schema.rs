//! The JSON schema of test files, from the table of their keys.

use prose_harness::registry::HARNESSES;
use prose_harness::script;
use serde_json::{Map, Value, json};

use crate::table::{BOUNDS, CASE, FILE, Key, MATCHER, Shape, Table};

/// The JSON schema of test files.
pub fn schema() -> Value {
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Tests of an OpenProse program",
        "definitions": {
            "bounds": { "anyOf": [number(), of_table(&BOUNDS)] },
            "matcher": { "anyOf": [{ "type": ["string", "number", "boolean", "array"] }, of_table(&MATCHER)] },
        },
    });
    let file = of_table(&FILE);
    if let (Some(schema), Value::Object(file)) = (schema.as_object_mut(), file) {
        schema.extend(file);
        schema.insert("required".to_owned(), json!(["case"]));
    }
    schema
}

fn of_table(table: &Table) -> Value {
    let properties = table.keys.iter().map(|key| (key.name.to_owned(), of_key(table, key)));
    let mut properties: Map<String, Value> = properties.collect();
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    if table.name == CASE.name {
        properties.extend(script::schema());
        schema["required"] = json!(["name"]);
    }
    schema["properties"] = properties.into();
    schema
}

fn of_key(table: &Table, key: &Key) -> Value {
    let mut schema = match key.name {
        "harness" => {
            let names = HARNESSES.iter().map(|info| info.name).filter(|name| *name != "script");
            let names = json!({ "enum": names.collect::<Vec<_>>() });
            if table.name == CASE.name {
                names
            } else {
                json!({ "type": "array", "items": names, "minItems": 1 })
            }
        }
        _ => of_shape(key.shape),
    };
    schema["description"] = key.about.into();
    schema
}

fn number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn of_shape(shape: Shape) -> Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "array", "items": text() });
    let bounds = || json!({ "$ref": "#/definitions/bounds" });
    let matcher = || json!({ "$ref": "#/definitions/matcher" });
    let table_of = |value: Value| json!({ "type": "object", "additionalProperties": value });
    match shape {
        Shape::Text => text(),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::Texts => texts(),
        Shape::OneOrMoreTexts => json!({ "anyOf": [{ "type": "string", "minLength": 1 }, texts()] }),
        Shape::Count => json!({ "type": "integer", "minimum": 1 }),
        Shape::Number => number(),
        Shape::Money => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Shape::Duration => json!({ "type": "string", "pattern": "^\\s*([0-9]+\\s*[a-zA-Z]+\\s*)+$" }),
        Shape::Any => json!({}),
        Shape::Values => json!({ "type": "object" }),
        Shape::Lists => table_of(json!({ "type": "array", "minItems": 1 })),
        Shape::Bounds => bounds(),
        Shape::Iterations => json!({ "anyOf": [bounds(), table_of(bounds())] }),
        Shape::Matcher => matcher(),
        Shape::Matchers => table_of(matcher()),
        Shape::MatcherList => json!({ "type": "array", "items": matcher() }),
        Shape::Files => json!({ "anyOf": [texts(), table_of(matcher())] }),
        Shape::JsonSchema => json!({ "type": ["object", "string"] }),
        Shape::Table(table) => of_table(table),
        Shape::NumberOr(table) => json!({ "anyOf": [number(), of_table(table)] }),
        Shape::TextsOr(table) => json!({ "anyOf": [texts(), of_table(table)] }),
        Shape::Tables(table) => json!({ "type": "array", "items": of_table(table), "minItems": 1 }),
    }
}

//! An agent of tests that exchanges lines of JSON as a script says, which is its first argument. Each line of the script is one step:
//!
//! - `{"receive": {…}}` waits for a line that has these fields, and remembers it;
//! - `{"send": …}` sends a line, in which `"$NAME"` stands for the field `NAME` of the last received line, wherever it is;
//! - `{"say": "…"}` writes a text to standard error;
//! - `{"record": "…"}` writes the arguments and the last received line to a file;
//! - `{"wait": true}` waits for the end of the input;
//! - `{"exit": 1}` exits.

#![allow(clippy::unwrap_used, reason = "an agent of tests may fail")]
#![allow(clippy::print_stderr, reason = "agents write to it")]

use std::io::{BufRead, Write};

use serde_json::{Value, json};

fn main() {
    let script = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let mut input = std::io::stdin().lock().lines();
    let mut received = Value::Null;
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let step: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let (kind, value) = step.as_object().unwrap().iter().next().unwrap();
        match kind.as_str() {
            "receive" => loop {
                // The input ends when the test does not need this agent any more.
                let Some(Ok(line)) = input.next() else { return };
                received = serde_json::from_str(&line).unwrap();
                if has(&received, value) {
                    break;
                }
            },
            "send" => {
                let mut output = std::io::stdout().lock();
                writeln!(output, "{}", filled(value, &received)).unwrap();
                output.flush().unwrap();
            }
            "say" => eprintln!("{}", value.as_str().unwrap()),
            "record" => {
                let arguments: Vec<String> = std::env::args().skip(2).collect();
                let text = json!({ "arguments": arguments, "received": received }).to_string();
                std::fs::write(value.as_str().unwrap(), text).unwrap();
            }
            "wait" => while let Some(Ok(_)) = input.next() {},
            "exit" => std::process::exit(i32::try_from(value.as_i64().unwrap()).unwrap()),
            other => panic!("no step `{other}`"),
        }
    }
}

/// Whether a value has all fields of another one.
fn has(value: &Value, fields: &Value) -> bool {
    match fields {
        Value::Object(fields) => fields.iter().all(|(name, field)| has(&value[name], field)),
        field => value == field,
    }
}

/// A value with fields of another one in the place of their names.
fn filled(value: &Value, from: &Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('$') {
            Some(name) => found(from, name).cloned().unwrap_or(Value::Null),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, from)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), filled(field, from))).collect()
        }
        value => value.clone(),
    }
}

/// The first field of a name.
fn found<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(fields) => {
            fields.get(name).or_else(|| fields.values().find_map(|field| found(field, name)))
        }
        Value::Array(items) => items.iter().find_map(|item| found(item, name)),
        _ => None,
    }
}

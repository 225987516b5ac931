//! The language as a page asks it.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod programs;
mod runs;
mod table;

use prose_web::Language;
use serde_json::{Value, json};

/// A page with some files: the first one is `main.prose`, and a line `//- name` starts each other one.
fn page(files: &str) -> Language {
    let mut language = Language::default();
    let mut name = "main.prose";
    let mut text = String::new();
    for line in files.split_inclusive('\n') {
        if let Some(next) = line.strip_prefix("//- ") {
            result(&mut language, "setFile", json!({ "name": name, "text": text }));
            (name, text) = (next.trim_end(), String::new());
        } else {
            text += line;
        }
    }
    result(&mut language, "setFile", json!({ "name": name, "text": text }));
    language
}

fn answer(language: &mut Language, method: &str, params: Value) -> Value {
    serde_json::from_str(&language.answer(&json!({ "method": method, "params": params }).to_string()))
        .unwrap()
}

/// What a method gives.
#[track_caller]
fn result(language: &mut Language, method: &str, params: Value) -> Value {
    let answer = answer(language, method, params);
    answer.get("result").unwrap_or_else(|| panic!("{method}: {}", answer["error"])).clone()
}

/// Why a method gives nothing.
#[track_caller]
fn error(language: &mut Language, method: &str, params: Value) -> String {
    let answer = answer(language, method, params);
    answer["error"].as_str().unwrap_or_else(|| panic!("{method}: {answer}")).to_owned()
}

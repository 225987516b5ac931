//! The JSON schema follows from the table of keys, and accepts what the reader accepts.

use std::path::Path;

use prose_fixture::check_page;
use prose_test::{TestFile, schema};
use serde_json::Value;

fn errors(text: &str) -> Vec<String> {
    let table: toml::Table = toml::from_str(text).expect("the text is TOML");
    let instance = serde_json::to_value(table).unwrap();
    let validator = jsonschema::draft7::new(&schema()).expect("the schema is one");
    validator.iter_errors(&instance).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn the_schema_is_up_to_date() {
    let schema = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    check_page("docs/test.schema.json", &schema, "-p prose-test --test it schema");
}

#[test]
fn the_schema_is_one() {
    let valid = jsonschema::draft7::meta::validate(&schema()).map_err(|error| error.to_string());
    assert_eq!(valid, Ok(()));
}

fn case(rest: &str) -> String {
    format!("[[case]]\nname = \"one\"\n{rest}\n")
}

#[track_caller]
fn check_right(rest: &str) {
    let text = case(rest);
    assert_eq!(TestFile::read(Path::new("/a.test.toml"), &text).problems, [], "{text}");
    assert_eq!(errors(&text), <[&str; 0]>::default(), "{text}");
}

#[track_caller]
fn check_wrong(rest: &str) {
    let text = case(rest);
    assert_ne!(TestFile::read(Path::new("/a.test.toml"), &text).problems, [], "{text}");
    assert_ne!(errors(&text), <[&str; 0]>::default(), "{text}");
}

#[test]
fn both_accept_what_is_right() {
    check_right("");
    check_right(
        "inputs = { a = 1, b = [true, 'x'] }\ntimeout = '1m 30s'\nrepeat = 2\nat-least = 1\nskip = 'why'",
    );
    check_right("harness = 'claude'\nmax-cost = 0.5\nmodel = 'haiku'");
    check_right("recorded = 'a.prose-run'\nharness = 'offline'");
    check_right(
        "max-cost = 1\n[case.matrix]\ninputs.a = [1, 2]\nharness = ['claude', 'codex']\nmodel = ['opus']",
    );
    check_right(
        "unmatched = 'offline'\n[[case.session]]\nreply = ['a', 'b']\n[[case.condition]]\nmet = true",
    );
    check_right("[[case.choice]]\nchoose = 2\n[[case.input]]\nvalue = [1]\n[[case.memory]]\nabsent = true");
    check_right("[[case.extract]]\nfail = 'x'\nkind = 'timeout'\n[[case.summary]]\ntext = 'x'\norder = 1");
    for status in ["completed", "failed", "interrupted", "waiting"] {
        check_right(&format!("expect.status = '{status}'"));
    }
    check_right(
        "[case.expect]\noutputs = { a = 'x', b = 3, c = [1], d = true, e.equals = { f = 1 } }\nvalue.contains = 'x'",
    );
    check_right(
        "expect.outputs.a = { contains = ['a'], excludes = 'b', matches = 'c', judge = ['d'], schema = {} }",
    );
    check_right("expect.sessions = 3");
    check_right(
        "expect.sessions = { count = { at-least = 1 }, names = ['a'], order = ['a'], never = ['b'] }",
    );
    check_right(
        "[[case.expect.session]]\nagent = 'a'\nname = 'b'\nlabel = 'c'\npattern = 'd'\ncount = 1\nprompt = 'x'\nsystem = 'y'\ncontext.z.contains = 'w'\nmodel = 'opus'",
    );
    check_right("expect.branches = ['a']\nexpect.iterations = 3");
    check_right(
        "expect.branches = { taken = ['a'], not-taken = ['b'] }\nexpect.iterations = { 'line 3' = { at-most = 2 } }",
    );
    check_right("expect.error = 'x'\nexpect.errors = ['a', { matches = 'b' }]\nexpect.warnings = []");
    check_right("expect.max-cost = 1\nexpect.max-tokens = 0\nexpect.files = ['a.md']");
    check_right("harness = 'claude'\nmax-cost = 1\nexpect.files = { 'a.md' = { contains = 'x' } }");
}

#[test]
fn both_refuse_what_is_wrong() {
    check_wrong("naem = 'x'");
    check_wrong("inputs = 3");
    check_wrong("harness = 'claud'\nmax-cost = 1");
    check_wrong("max-cost = 0\nharness = 'claude'");
    check_wrong("timeout = 3");
    check_wrong("repeat = 0");
    check_wrong("skip = true");
    check_wrong("unmatched = 'maybe'");
    check_wrong("matrix = { inputs = { a = [] } }");
    check_wrong("matrix = { harness = [] }");
    check_wrong("session = 'x'");
    check_wrong("[[case.session]]\nreplay = 'x'");
    check_wrong("[[case.session]]\nreply = 3");
    check_wrong("[[case.session]]\nreply = []");
    check_wrong("[[case.condition]]\nmet = 'yes'");
    check_wrong("[[case.session]]\nagent = 'a'");
    check_wrong("[[case.session]]\nreply = 'a'\nfail = 'b'");
    check_wrong("expect.status = 'done'");
    check_wrong("expect.outputs = 'x'");
    check_wrong("expect.outputs.a = { contain = 'x' }");
    check_wrong("expect.sessions = -1");
    check_wrong("expect.sessions = { cuont = 1 }");
    check_wrong("expect.branches = 3");
    check_wrong("expect.iterations = 'x'");
    check_wrong("expect.errors = 'x'");
    check_wrong("expect.max-tokens = 1.5");
    check_wrong("expect.files = 3");
}

#[test]
fn every_key_is_described() {
    fn visit(schema: &Value, path: &str, missing: &mut Vec<String>) {
        if !schema.is_object() {
            return;
        }
        if let Some(properties) = schema["properties"].as_object() {
            for (key, value) in properties {
                let path = format!("{path}.{key}");
                let is_of_script = schema["oneOf"].is_array();
                if value["description"].is_null() && !is_of_script && value["items"]["oneOf"].is_null() {
                    missing.push(path.clone());
                }
                visit(value, &path, missing);
            }
        }
        for part in ["items", "additionalProperties"] {
            visit(&schema[part], path, missing);
        }
        schema["anyOf"].as_array().into_iter().flatten().for_each(|part| visit(part, path, missing));
    }
    let mut missing = Vec::new();
    visit(&schema(), "", &mut missing);
    assert_eq!(missing, <[&str; 0]>::default());
}

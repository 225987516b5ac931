//! The schema, the page about settings and the example follow from the table of settings.

use std::fmt::Write as _;

use prose_config::{Config, HarnessName, ProviderName};
use prose_fixture::check_page;
use prose_syntax::{Level, Profile};
use serde_json::{Value, json};

fn example() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/prose.toml"))
        .expect("the example is there")
}

/// What a TOML text is as JSON, read by nothing of this crate.
fn as_json(toml: &str) -> Value {
    let table: toml::Table = toml::from_str(toml).expect("the text is TOML");
    serde_json::to_value(table).expect("what these tests write has no dates")
}

fn errors(instance: &Value) -> Vec<String> {
    let validator = jsonschema::draft7::new(&Config::schema()).expect("the schema is one");
    validator.iter_errors(instance).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn the_schema_is_up_to_date() {
    let schema = serde_json::to_string_pretty(&Config::schema()).unwrap() + "\n";
    check_page("docs/prose.schema.json", &schema, "-p prose-config --test it docs");
}

#[test]
fn the_schema_is_one() {
    assert_eq!(
        jsonschema::draft7::meta::validate(&Config::schema()).map_err(|error| error.to_string()),
        Ok(())
    );
}

#[test]
fn the_page_is_up_to_date() {
    check_page("docs/settings.md", &page(), "-p prose-config --test it docs");
}

#[test]
fn the_example_sets_every_key_and_is_right() {
    let text = example();
    let (config, problems) = Config::parse(&text);
    assert_eq!(problems, []);
    assert_ne!(config, Config::default());
    let example = as_json(&text);
    assert_eq!(errors(&example), <[&str; 0]>::default());
    for (table, schema) in properties(&Config::schema()) {
        assert!(example[&table].is_object(), "the example has no `[{table}]`");
        for (key, _) in properties(&schema) {
            assert!(!example[&table][&key].is_null(), "the example does not set `{table}.{key}`");
        }
    }
}

/// What has no problem is right by the schema.
#[track_caller]
fn check_right(toml: &str) {
    assert_eq!(Config::parse(toml).1, [], "{toml}");
    assert_eq!(errors(&as_json(toml)), <[&str; 0]>::default(), "{toml}");
}

/// What has a problem is wrong by the schema.
#[track_caller]
fn check_wrong(toml: &str) {
    assert_ne!(Config::parse(toml).1, [], "{toml}");
    assert_ne!(errors(&as_json(toml)), <[&str; 0]>::default(), "{toml}");
}

#[test]
fn the_schema_allows_what_is_right() {
    check_right("");
    for profile in Profile::ALL {
        check_right(&format!("check.profile = '{}'", profile.as_str()));
    }
    for level in Level::ALL {
        check_right(&format!("check.levels.W101 = '{level}'"));
    }
    check_right("check.per-file-ignores.'*' = ['*', 'W*', 'E10*', 'W101', 'W101*']");
    check_right("check.per-file-ignores.'a/**' = []");
    check_right("models.fast-1_a = 'provider/model:latest'");
    check_right("registry.url = 'http://localhost:8080/x'");
    check_right("registry.url = 'https://prose.example.com'");
    for fetch in ["automatic", "manual", "off"] {
        check_right(&format!("registry.fetch = '{fetch}'"));
    }
    check_right("registry.vendor = 'lib/vendor'");
    check_right("markdown.enabled = false\nmarkdown.check = true");
    check_right("run.max-parallel = 1\nrun.max-iterations = 4294967295");
    for harness in HarnessName::ALL {
        check_right(&format!("run.harness = '{}'", harness.as_str()));
    }
    check_right("run.command = ['my-agent', '{prompt}']\nrun.environment = []");
    for name in ProviderName::ALL {
        check_right(&format!("run.provider = {{ name = '{}' }}", name.as_str()));
    }
    check_right(
        "[run.provider]\nbase-url = 'http://localhost:8000/v1'\nkey-variable = 'MY_KEY'\nmodel = 'a/b'",
    );
    check_right("run.judge = { harness = 'provider', model = 'haiku' }");
    check_right("[agents.writer-1]\nharness = 'codex'\n[agents.critic]\nmodel = 'opus'");
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    // A wrong type at every key.
    let schema = Config::schema();
    for (table, schema) in properties(&schema) {
        check_wrong(&format!("{table} = 1"));
        check_wrong(&format!("{table} = []"));
        for (key, schema) in properties(&schema) {
            if schema["type"] != "boolean" {
                check_wrong(&format!("{table}.{key} = true"));
            }
            check_wrong(&format!("{table}.{key} = 1.5"));
            check_wrong(&format!("{table}.{key} = ''"));
            check_wrong(&format!("{table}.{key} = [[]]"));
            check_wrong(&format!("{table}.{key}.x = 1"));
        }
        if table != "models" {
            check_wrong(&format!("{table}.nonsense = 'provider/model'"));
        }
    }
    check_wrong("nonsense = 1");
    check_wrong("check.levels.W999 = 'off'");
    check_wrong("check.levels.w101 = 'off'");
    check_wrong("check.levels.W101 = 'Off'");
    check_wrong("check.per-file-ignores.'*' = 'W101'");
    check_wrong("check.per-file-ignores.'*' = ['W999']");
    check_wrong("check.per-file-ignores.'*' = ['w101']");
    check_wrong("check.per-file-ignores.'*' = ['X*']");
    check_wrong("check.per-file-ignores.'' = []");
    check_wrong("check.per-file-ignores.'!a' = []");
    check_wrong("models.'so fast' = 'a'");
    check_wrong("models.fast = 'a b'");
    check_wrong("registry.url = 'prose.example.com'");
    check_wrong("registry.url = 'https://user:secret@prose.example.com'");
    check_wrong("run.harness = 'Claude'");
    check_wrong("run.command = ['']");
    check_wrong("run.provider.name = 'Anthropic'");
    check_wrong("run.provider.base-url = 'localhost'");
    check_wrong("run.provider.key-variable = 'sk-secret'");
    check_wrong("run.provider.key = 'secret'");
    check_wrong("run.judge = 'haiku'");
    check_wrong("run.judge.harness = 'judge'");
    check_wrong("agents.'the writer'.harness = 'codex'");
    check_wrong("agents.writer.harness = 'codx'");
    check_wrong("run.max-parallel = 0");
    check_wrong("run.max-parallel = 4294967296");
}

fn properties(schema: &Value) -> Vec<(String, Value)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The section about ignore comments.
const IGNORE_COMMENTS: &str = r#"
## Ignore comments

A comment in a program suppresses diagnostics of a single line:

```prose,ignore
session: reviewer  # prose: ignore[E007] the host defines this agent

# prose: ignore[E019, W115] one draft for each reader
let draft = session "Write for beginners"
```

At the end of a line, the comment applies to that line. On its own line, it applies to the next line of code. A text or a condition over
several lines belongs to the line that it starts on. `# prose: ignore-file[W101] reason` before the first statement applies to the whole file.
The text after the brackets is the reason, for readers.

An ignore comment without effect is reported (`W137`). Syntax errors can be ignored as well, except `E001` and `E111`: after an unterminated
text, and in statements that are nested too deeply, the program is not parsed as written.
"#;

/// The page about settings.
fn page() -> String {
    let mut page = "# Settings\n\n\
        Configure a project in the file `prose.toml`:\n\n\
        ```toml\n[check.levels]\nW113 = \"off\"\n\n[run]\nharness = \"claude\"\n```\n\n\
        Each program uses the nearest `prose.toml`: the one in its folder or in the nearest parent folder that has one. Mistakes in the file \
        are reported, and all other settings stay in effect. The flags `--profile` and `--level` of `prose check` override the file; `--config` \
        selects another file, and `--no-config` ignores all files.\n\n\
        [prose.toml](prose.toml) is an example that sets every key. [prose.schema.json](prose.schema.json) is the JSON schema; editors \
        use it to complete and document the settings.\n"
        .to_owned();
    for (table, schema) in properties(&Config::schema()) {
        _ = write!(page, "\n## `[{table}]`\n\n{}\n", text(&schema["description"]));
        describe_keys(&mut page, &table, &schema);
    }
    page + IGNORE_COMMENTS
}

/// Adds the keys of a table, with those of tables in it.
fn describe_keys(page: &mut String, table: &str, schema: &Value) {
    let nested = schema.get("additionalProperties").filter(|nested| nested["properties"].is_object());
    let name = match (nested, table) {
        (None, _) => table.to_owned(),
        (Some(_), "imports") => format!("{table}.\"handle/slug\""),
        (Some(_), "prices") => format!("{table}.\"model\""),
        (Some(_), _) => format!("{table}.NAME"),
    };
    for (key, schema) in properties(nested.unwrap_or(schema)) {
        let key = format!("{name}.{key}");
        let has_keys = schema["properties"].is_object()
            || schema.get("additionalProperties").is_some_and(|nested| nested["properties"].is_object());
        _ = write!(page, "\n### `{key}`\n\n{}\n", text(&schema["description"]));
        if has_keys && !matches!(key.as_str(), "check.levels" | "run.permissions") {
            describe_keys(page, &key, &schema);
            continue;
        }
        _ = writeln!(page, "\n* Value: {}", values(&schema));
        if !schema["default"].is_null() {
            _ = writeln!(page, "* Default: `{}`", schema["default"]);
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("every setting has a description")
}

fn values(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    }
    match text(&schema["type"]) {
        "boolean" => "`true` or `false`".to_owned(),
        "number" => "an amount of US dollars".to_owned(),
        "integer" => format!("a whole number from {} to {}", schema["minimum"], schema["maximum"]),
        "string" if schema["format"] == json!("uri") => {
            "a URL that starts with `https://` or `http://`".to_owned()
        }
        "string" if schema["pattern"].is_string() => "a text".to_owned(),
        "string" => "a path".to_owned(),
        "array" => "a list of texts".to_owned(),
        "object" => "a table".to_owned(),
        other => panic!("the page should say what a value of the type {other} looks like"),
    }
}

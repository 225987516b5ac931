//! The settings of the extension of Visual Studio Code: those of `prose.toml` that make sense for a person, each known to the server.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use prose_config::Config;
use prose_tests::lsp::LspClient;
use prose_tests::repository;
use serde_json::{Value, json};

/// What a project says and a person cannot know better.
const OF_THE_PROJECT: &[&str] = &[
    // About files and names of the project.
    "check.per-file-ignores",
    "models",
    // What its imports may do and its programs may pass on, which its trust covers.
    "imports",
    "run.allow-files",
    // What is started for its runs, which its trust covers.
    "run.notify",
    // Where its imports come from. A person who chose another place would have other programs.
    "registry.url",
    "registry.vendor",
    // About `prose check`, which no editor calls.
    "markdown.check",
    // Which backends and models its agents and decisions have, what its sessions may do, and what they may cost.
    "agents",
    "limits.agents",
    "limits.day",
    "limits.run",
    "prices",
    "run.isolation",
    "run.judge",
    "run.permissions",
    "run.provider",
    "run.stalled-after",
    "run.when-waiting",
    // Where its runs keep their state, for all tools that read it.
    "run.state",
    // What its clients may do and its agents use, which its trust covers.
    "mcp.run",
    "mcp.servers",
    // Part of what its programs do.
    "run.max-iterations",
    // About `prose run` and `prose runs export`, which no editor calls.
    "run.redact",
    "run.strict-exit",
    "run.backoff-ms",
    "run.backoff-cap-ms",
];

/// What is about the editor alone and stands in no `prose.toml`.
const OF_THE_EDITOR: &[&str] = &[
    "check.workspace",
    "cluster.url",
    "inlayHints.contracts",
    "inlayHints.iterations",
    "inlayHints.models",
    "inlayHints.parameters",
    "lenses.outputs",
    "lenses.parts",
    "lenses.references",
    "run.allowOutside",
    "run.estimates",
    "run.inlayHints",
    "server.logFile",
    "server.logLevel",
    "server.path",
    "trace.server",
];

#[test]
fn every_setting_of_a_project_is_one_of_the_editor_or_is_the_projects_alone() {
    let schema = Config::schema();
    let ours: BTreeMap<String, &Value> = keys_of_projects(&schema).into_iter().collect();
    let theirs = settings_of_the_editor();
    for (name, schema) in &ours {
        let setting = theirs.get(&camel_case(name));
        if OF_THE_PROJECT.contains(&name.as_str()) {
            assert_eq!(setting, None, "{name} is the project's alone");
            continue;
        }
        let setting = setting.unwrap_or_else(|| panic!("the editor does not have {name}"));
        if let Some(words) = schema["enum"].as_array() {
            // The first one is for what is not set.
            let of_editor = setting["enum"].as_array().unwrap();
            assert_eq!(of_editor.split_first(), Some((&json!(""), &words[..])), "{name}");
        } else {
            let kind = &setting["type"];
            let kind = kind.as_array().map_or(kind, |kinds| &kinds[0]);
            assert_eq!(*kind, schema["type"], "{name}");
        }
    }
    let known: BTreeSet<String> = ours.keys().map(|name| camel_case(name)).collect();
    let other: Vec<&String> = theirs.keys().filter(|name| !known.contains(*name)).collect();
    assert_eq!(other, OF_THE_EDITOR);
    for name in OF_THE_PROJECT {
        assert!(ours.contains_key(*name), "{name} is no setting of a project");
    }
}

#[test]
fn the_server_knows_every_setting_that_it_is_sent() {
    let mut settings = json!({});
    let sent: Vec<String> = settings_of_the_editor()
        .into_keys()
        .filter(|name| !["cluster.", "server.", "trace."].iter().any(|table| name.starts_with(table)))
        .collect();
    for name in &sent {
        let (table, key) = name.split_once('.').unwrap();
        // No setting is a number below zero.
        settings[table][key] = json!(-1);
    }
    let mut client = LspClient::start(&[]);
    let params =
        json!({ "processId": null, "rootUri": null, "capabilities": {}, "initializationOptions": settings });
    client.request("initialize", params);
    client.notify("initialized", json!({}));
    let log = client.shut_down().stderr;
    let unknown: Vec<_> = sent.iter().filter(|name| !log.contains(&format!("`{name}` is -1"))).collect();
    assert!(
        unknown.is_empty(),
        "the server says nothing of wrong values of {unknown:?}, so it does not read them:\n{log}"
    );
}

/// The types and modifiers of semantic tokens that the server announces.
fn semantic_tokens() -> (BTreeSet<String>, BTreeSet<String>) {
    let (client, answer) = LspClient::initialized(json!({}));
    client.shut_down();
    let legend = &answer["capabilities"]["semanticTokensProvider"]["legend"];
    let names = |list: &str| {
        legend[list].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    (names("tokenTypes"), names("tokenModifiers"))
}

#[test]
fn what_the_editor_does_not_know_of_semantic_tokens_is_described() {
    // Those of the server's that the protocol describes, and so every editor.
    let standard_types = [
        "keyword",
        "class",
        "function",
        "namespace",
        "variable",
        "parameter",
        "property",
        "enumMember",
        "string",
        "regexp",
        "number",
        "operator",
        "comment",
    ];
    let standard_modifiers = ["declaration", "readonly", "modification"];
    let (types, modifiers) = semantic_tokens();
    let package = package();
    let contributed = |point: &str| -> BTreeSet<&str> {
        let list = package["contributes"][point].as_array().unwrap();
        for entry in list {
            let description = entry["description"].as_str().unwrap();
            assert!(description.starts_with(char::is_uppercase) && description.ends_with('.'), "{entry}");
        }
        list.iter().map(|entry| entry["id"].as_str().unwrap()).collect()
    };
    let unknown = |announced: &BTreeSet<String>, standard: &[&str]| -> BTreeSet<String> {
        announced.iter().filter(|name| !standard.contains(&name.as_str())).cloned().collect()
    };
    let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(owned(contributed("semanticTokenTypes")), unknown(&types, &standard_types));
    assert_eq!(owned(contributed("semanticTokenModifiers")), unknown(&modifiers, &standard_modifiers));
}

#[test]
fn every_semantic_token_has_a_scope() {
    let package = package();
    let [contributed] = &package["contributes"]["semanticTokenScopes"].as_array().unwrap()[..] else {
        panic!("there is one list of scopes");
    };
    let scopes = contributed["scopes"].as_object().unwrap();
    let (types, modifiers) = semantic_tokens();
    let missing: Vec<_> = types.iter().filter(|kind| !scopes.contains_key(*kind)).collect();
    assert!(missing.is_empty(), "token types without a scope: {missing:?}");
    for selector in scopes.keys() {
        let mut parts = selector.split('.');
        assert!(types.contains(parts.next().unwrap()), "{selector} is of no type");
        assert!(parts.all(|modifier| modifiers.contains(modifier)), "{selector} has no such modifier");
    }
    let is_used =
        |modifier: &&String| scopes.keys().any(|selector| selector.ends_with(&format!(".{modifier}")));
    let unused: Vec<_> = modifiers.iter().filter(|modifier| !is_used(modifier)).collect();
    assert!(unused.is_empty(), "modifiers without a scope: {unused:?}");
    // What a theme makes of a name is the least that it makes of one about which more is known.
    for (selector, scopes_of) in scopes {
        if let Some((kind, _)) = selector.split_once('.') {
            assert_eq!(scopes_of.as_array().unwrap().last(), scopes[kind].as_array().unwrap().last());
        }
    }
}

fn package() -> Value {
    let text = fs::read_to_string(repository().join("editors/vscode/package.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The settings of the extension without the `prose.` that each starts with.
fn settings_of_the_editor() -> BTreeMap<String, Value> {
    let package = package();
    let properties = package["contributes"]["configuration"]["properties"].as_object().unwrap();
    properties
        .iter()
        .map(|(name, setting)| (name.strip_prefix("prose.").unwrap().to_owned(), setting.clone()))
        .collect()
}

/// The settings of `prose.toml` with their schemas: the keys of its tables, and a table whose keys are anybody's.
fn keys_of_projects(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (table, schema) in schema["properties"].as_object().unwrap() {
        match schema["properties"].as_object() {
            Some(keys) => found.extend(keys.iter().map(|(key, schema)| (format!("{table}.{key}"), schema))),
            None => found.push((table.clone(), schema)),
        }
    }
    found
}

/// `run.max-parallel` as editors write it: `run.maxParallel`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('-');
    let mut written = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(1);
        written += &first.to_ascii_uppercase();
        written += rest;
    }
    written
}

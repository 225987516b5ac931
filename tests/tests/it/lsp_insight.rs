//! What an editor asks beside what it always asks: signatures, hints, calls, and where else a word leads.

use expect_test::{Expect, expect};
use prose_tests::lsp::{LspClient, pretty, range};
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

const MAIN: &str = r#"use "./lib.prose" as lib
agent writer:
  model: opus
# Looks twice.
block review(topic, depth):
  output verdict = lib(topic: topic)
let first = session: writer
  prompt: "Write"
let second = do review("tides", 2)
loop until **done**:
  session "again"
"#;

const LIB: &str = r#"# Finds sources.
input topic: "What to read on"
let found = session "Read {topic}"
output sources = found
"#;

fn workspace(capabilities: Value, settings: Value) -> Workspace {
    let files = [("main.prose", MAIN), ("lib.prose", LIB)];
    Workspace::with_settings(capabilities, settings, &files).opened("main.prose")
}

#[track_caller]
fn ask(workspace: &mut Workspace, method: &str, mut params: Value) -> Value {
    params["textDocument"] = json!({ "uri": workspace.uri("main.prose") });
    workspace.client.ask(method, params)
}

fn at(line: usize, character: usize) -> Value {
    json!({ "position": { "line": line, "character": character } })
}

/// The places of an answer, as `file:line:column`.
fn places(answer: &Value) -> Vec<String> {
    let places = answer.as_array().unwrap().iter().map(|place| {
        let start = &place["range"]["start"];
        let file = place["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        format!("{file}:{}:{}", start["line"], start["character"])
    });
    places.collect()
}

#[track_caller]
fn check(answer: &Value, expected: Expect) {
    expected.assert_eq(&pretty(answer));
}

#[test]
fn a_call_shows_what_it_takes() {
    let mut workspace = workspace(json!({}), Value::Null);
    check(
        &ask(&mut workspace, "textDocument/signatureHelp", at(8, 32)),
        expect![[r#"
            {
              "activeParameter": 1,
              "activeSignature": 0,
              "signatures": [
                {
                  "activeParameter": 1,
                  "documentation": {"kind":"plaintext","value":"Looks twice."},
                  "label": "do review(topic, depth)",
                  "parameters": [{"label":"topic"},{"label":"depth"}]
                }
              ]
            }"#]],
    );
    assert_eq!(ask(&mut workspace, "textDocument/signatureHelp", at(6, 4)), Value::Null);
}

#[test]
fn parameters_have_places_for_an_editor_that_takes_them() {
    let offsets = json!({ "textDocument": { "signatureHelp": { "signatureInformation": {
        "parameterInformation": { "labelOffsetSupport": true },
    } } } });
    let mut workspace = workspace(offsets, Value::Null);
    let help = ask(&mut workspace, "textDocument/signatureHelp", at(5, 30));
    assert_eq!(help["signatures"][0]["label"], "lib(topic) → sources");
    assert_eq!(help["signatures"][0]["parameters"][0]["label"], json!([4, 9]));
}

fn hints(workspace: &mut Workspace) -> Vec<String> {
    let params = json!({ "range": range((0, 0), (99, 0)) });
    let answer = ask(workspace, "textDocument/inlayHint", params);
    let hints = answer.as_array().unwrap().iter().map(|hint| {
        let at = &hint["position"];
        format!("{}:{} {}", at["line"], at["character"], hint["label"].as_str().unwrap())
    });
    hints.collect()
}

#[test]
fn hints_are_shown_and_switched_off() {
    let mut workspace = workspace(json!({}), json!({ "inlayHints": { "iterations": false } }));
    assert_eq!(hints(&mut workspace), ["0:24 (topic) → sources", "6:27 opus", "8:23 topic:", "8:32 depth:"]);
    workspace.configure(json!({ "prose": { "inlayHints": { "models": false, "parameters": false } } }));
    assert_eq!(hints(&mut workspace), ["0:24 (topic) → sources", "9:19 at most 1000 times"]);
}

#[test]
fn calls_are_followed_both_ways() {
    let mut workspace = workspace(json!({}), Value::Null);
    let lib = ask(&mut workspace, "textDocument/prepareCallHierarchy", at(0, 22));
    let lib = &lib[0];
    assert_eq!((&lib["name"], &lib["kind"]), (&json!("lib.prose"), &json!(2)));
    let incoming = workspace.client.request("callHierarchy/incomingCalls", json!({ "item": lib }));
    let caller = &incoming["result"][0];
    assert_eq!(
        (&caller["from"]["name"], &caller["from"]["detail"]),
        (&json!("review"), &json!("main.prose"))
    );
    assert_eq!(caller["fromRanges"], json!([range((5, 19), (5, 22))]));

    let outgoing = workspace.client.request("callHierarchy/outgoingCalls", json!({ "item": caller["from"] }));
    assert_eq!(outgoing["result"][0]["to"]["name"], "lib.prose");
    let callers = workspace.client.request("callHierarchy/incomingCalls", json!({ "item": caller["from"] }));
    assert_eq!(callers["result"][0]["from"]["name"], "main.prose");
    assert_eq!(ask(&mut workspace, "textDocument/prepareCallHierarchy", at(6, 4)), Value::Null);
    // What is gone calls nobody.
    let gone = json!({ "item": { "data": { "path": "/gone.prose", "block": null } } });
    assert_eq!(workspace.client.request("callHierarchy/outgoingCalls", gone)["result"], Value::Null);
}

#[test]
fn words_lead_to_more_than_their_definition() {
    let mut workspace = workspace(json!({}), Value::Null);
    let mut goto = |method: &str, line, column| places(&ask(&mut workspace, method, at(line, column)));
    assert_eq!(goto("textDocument/declaration", 5, 20), ["main.prose:0:21"]);
    assert_eq!(goto("textDocument/typeDefinition", 6, 5), ["main.prose:1:6"]);
    assert_eq!(goto("textDocument/implementation", 5, 3), ["main.prose:5:19"]);
    assert_eq!(goto("textDocument/implementation", 6, 5), ["main.prose:6:12"]);
    assert_eq!(goto("textDocument/implementation", 1, 7), [] as [&str; 0]);
}

#[test]
fn a_document_that_is_no_program_has_none_of_this() {
    let (mut client, _) = LspClient::initialized(json!({}));
    let document =
        json!({ "uri": "file:///notes.md", "languageId": "markdown", "version": 1, "text": "# Notes\n" });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    for method in ["signatureHelp", "declaration", "typeDefinition", "implementation", "prepareCallHierarchy"]
    {
        let params = json!({ "textDocument": { "uri": "file:///notes.md" }, "position": { "line": 0, "character": 1 } });
        let answer = client.request(&format!("textDocument/{method}"), params);
        assert_eq!(answer["result"], Value::Null, "{method}: {answer}");
    }
    client.shut_down();
}

#[test]
fn definitions_of_the_whole_workspace_are_found() {
    let files = [
        ("main.prose", MAIN),
        ("lib.prose", LIB),
        ("other/far.prose", "agent reviewer:\n  model: opus\n"),
        ("node_modules/x/a.prose", "agent reviewer:\n  model: opus\n"),
        (".gitignore", "ignored\n"),
        ("ignored/a.prose", "agent reviewer:\n  model: opus\n"),
        ("broken.prose", "agent :\nagent reviewed\n"),
    ];
    let mut workspace = Workspace::with_settings(json!({}), Value::Null, &files);
    let mut find = |query: &str| {
        let answer = workspace.client.request("workspace/symbol", json!({ "query": query }));
        let found = answer["result"].as_array().unwrap().iter().map(|symbol| {
            let text = |key: &str| symbol[key].as_str().unwrap().to_owned();
            let line = &symbol["location"]["range"]["start"]["line"];
            format!("{} in {}:{line}", text("name"), text("containerName"))
        });
        let mut found: Vec<String> = found.collect();
        found.sort();
        found
    };
    let all = ["review in main.prose:4", "reviewed in broken.prose:1", "reviewer in far.prose:0"];
    assert_eq!(find("revw"), all, "without anything open");
    assert_eq!(find("nothing"), [] as [&str; 0]);
    workspace.open_saved("main.prose");
    let mut find = |query: &str| workspace.client.request("workspace/symbol", json!({ "query": query }));
    assert_eq!(find("revw")["result"].as_array().unwrap().len(), 3, "and once each with it");
}

#[test]
fn tokens_come_as_what_has_changed() {
    let mut workspace = workspace(json!({}), Value::Null);
    let full = ask(&mut workspace, "textDocument/semanticTokens/full", json!({}));
    workspace.replace("main.prose", 2, &MAIN.replacen("do review(\"tides\", 2)", "do review(\"x\")", 1));
    let since = json!({ "previousResultId": full["resultId"] });
    let delta = ask(&mut workspace, "textDocument/semanticTokens/full/delta", since.clone());
    let edit = &delta["edits"][0];
    let number = |key: &str| edit[key].as_u64().unwrap() as usize;
    let mut tokens: Vec<u32> = serde_json::from_value(full["data"].clone()).unwrap();
    let data: Vec<u32> = serde_json::from_value(edit["data"].clone()).unwrap();
    assert!(data.len() <= 20, "one string and one number were changed: {data:?}");
    tokens.splice(number("start")..number("start") + number("deleteCount"), data);
    // That answer is no longer the last one, so all tokens come.
    let full = ask(&mut workspace, "textDocument/semanticTokens/full/delta", since);
    assert_eq!(json!(tokens), full["data"]);
}

#[test]
fn a_name_is_typed_at_all_its_places_at_once() {
    let mut client = LspClient::initialized(json!({})).0;
    client.open("file:///a.prose", 1, "let x = 1\nsession \"{x}\"\n");
    let params =
        json!({ "textDocument": { "uri": "file:///a.prose" }, "position": { "line": 1, "character": 10 } });
    let linked = client.request("textDocument/linkedEditingRange", params);
    assert_eq!(linked["result"], json!({ "ranges": [range((0, 4), (0, 5)), range((1, 10), (1, 11))] }));

    let context = json!({ "frameId": 1, "stoppedLocation": range((1, 0), (1, 0)) });
    let params = json!({ "textDocument": { "uri": "file:///a.prose" }, "range": range((1, 0), (2, 0)), "context": context });
    let values = client.request("textDocument/inlineValue", params);
    let x = json!({ "range": range((1, 10), (1, 11)), "variableName": "x", "caseSensitiveLookup": true });
    assert_eq!(values["result"], json!([x]));
    client.shut_down();
}

#[test]
fn what_is_to_be_known_of_a_completion_comes_when_it_is_looked_at() {
    let lazily = json!({ "textDocument": { "completion": { "completionItem": {
        "resolveSupport": { "properties": ["documentation"] },
        "documentationFormat": ["markdown"],
    } } } });
    let mut workspace = workspace(lazily, Value::Null);
    let list = ask(&mut workspace, "textDocument/completion", at(6, 21));
    let writer =
        list["items"].as_array().unwrap().iter().find(|item| item["label"] == "writer").unwrap().clone();
    assert_eq!(writer.get("documentation"), None);
    let resolved = workspace.client.request("completionItem/resolve", writer.clone());
    let documentation = resolved["result"]["documentation"]["value"].as_str().unwrap();
    assert_eq!(documentation, "```prose\nagent writer:\n  model: opus\n```");
    assert_eq!(resolved["result"]["textEdit"], writer["textEdit"]);
    // Once the text is another one, nothing is known of what was completed in the old one.
    workspace.replace("main.prose", 2, &MAIN.replace("writer", "reader"));
    assert_eq!(workspace.client.request("completionItem/resolve", writer.clone())["result"], writer);
    let plain = json!({ "label": "session" });
    assert_eq!(workspace.client.request("completionItem/resolve", plain.clone())["result"], plain);
}

#[test]
fn what_completions_have_in_common_is_sent_once() {
    let once = json!({ "textDocument": { "completion": {
        "completionItem": { "snippetSupport": true, "resolveSupport": { "properties": ["documentation"] } },
        "completionList": { "itemDefaults": ["editRange", "insertTextFormat", "data"] },
    } } });
    // An agent behind `session:`, and a statement.
    for place in [at(6, 21), at(4, 0)] {
        let list = ask(&mut workspace(once.clone(), Value::Null), "textDocument/completion", place.clone());
        let each = json!({ "textDocument": { "completion": {
            "completionItem": { "snippetSupport": true, "resolveSupport": { "properties": ["documentation"] } },
        } } });
        let plain = ask(&mut workspace(each, Value::Null), "textDocument/completion", place);
        assert_eq!(plain.get("itemDefaults"), None);
        let defaults = &list["itemDefaults"];
        let with_defaults = |item: &Value| {
            let mut item = item.clone();
            if item.get("textEdit").is_none() {
                let text = item.as_object_mut().unwrap().remove("textEditText");
                let text = text.unwrap_or_else(|| item["label"].clone());
                item["textEdit"] = json!({ "range": defaults["editRange"], "newText": text });
            }
            item["data"] = defaults["data"].clone();
            item
        };
        let items = list["items"].as_array().unwrap();
        assert!(!items.is_empty() && items.iter().all(|item| item.get("data").is_none()), "{list}");
        // The names of the two folders differ, and nothing else does.
        let file = |data: &Value| data["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        for (item, mut plain) in
            items.iter().map(with_defaults).zip(plain["items"].as_array().unwrap().clone())
        {
            if plain.get("data").is_some() {
                assert_eq!(file(&item["data"]), file(&plain["data"]));
            }
            plain["data"] = item["data"].clone();
            assert_eq!(item, plain);
        }
        assert_eq!(items.len(), plain["items"].as_array().unwrap().len());
    }
}

#[test]
fn regions_fold() {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.open("file:///a.prose", 1, "# region Agents\nagent a:\n  model: opus\n# endregion\n");
    let folds = client.result("textDocument/foldingRange", "file:///a.prose");
    assert_eq!((&folds[0]["kind"], &folds[0]["endLine"]), (&json!("region"), &json!(3)));
    client.shut_down();
}

#[test]
fn a_program_is_explained_as_on_the_command_line() {
    let mut workspace = workspace(json!({}), json!({}));
    let page = ask(&mut workspace, "prose/describe", json!({}));
    let shown = workspace.prose().args(["describe", "main.prose"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(page["text"].as_str().unwrap(), shown);
    assert!(shown.contains("\n### writer (line 2)\n"), "{shown}");
    workspace.replace("main.prose", 2, "session: nobody\n");
    let params = json!({ "textDocument": { "uri": workspace.uri("main.prose") } });
    let refused = workspace.client.request("prose/describe", params);
    assert_eq!(refused["error"]["message"], "`main.prose` has 1 error and is not run");
}

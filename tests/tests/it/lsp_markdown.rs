//! Programs in Markdown documents, over the wire.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use prose_tests::lsp::{applied, pretty, range};
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

const GUIDE: &str = r#"# A guide 😀

Prose with a mistake: sesion.

```prose
use "./part.prose"

# Writes.
agent writer:
  prompt: "You write."

let draft = session: writer
  prompt: "😀 Write about tides"
output found = part(topic: draft)
```

> - A program of its own:
>
>   ```prose
>   let pair = ["😀", draft]
>   block greet:
>     session "Say hello"
>
>   do greet
>   ```

```prose ignore
session: writer
```
"#;

const PART: &str = "input topic: \"What about\"\noutput found = session \"Find {topic}\"\n";

fn guide(capabilities: Value) -> Workspace {
    let mut workspace = Workspace::with(capabilities, &[("guide.md", GUIDE), ("part.prose", PART)]);
    workspace.open_saved("guide.md");
    workspace
}

#[track_caller]
fn check(found: &Value, expected: Expect) {
    expected.assert_eq(&format!("{}\n", pretty(found)));
}

/// `4:2-4:8`
fn place(range: &Value) -> String {
    let at = |position: &Value| format!("{}:{}", position["line"], position["character"]);
    format!("{}-{}", at(&range["start"]), at(&range["end"]))
}

fn list(found: &Value, shown: impl Fn(&Value) -> String) -> String {
    let items = found.as_array().unwrap_or_else(|| panic!("{found}")).iter();
    items.map(|item| shown(item) + "\n").collect()
}

fn diagnostics(diagnostics: &Value) -> String {
    list(diagnostics, |found| {
        format!("{} {} {}", place(&found["range"]), found["code"].as_str().unwrap_or("-"), found["message"])
    })
}

#[test]
fn only_programs_are_diagnosed_and_each_alone() {
    let mut workspace = guide(json!({}));
    let published = workspace.pushed_whole("guide.md");
    assert_eq!(published["version"], 1);
    assert_eq!(
        diagnostics(&published["diagnostics"]),
        "19:22-19:27 E119 \"variable `draft` is not defined; did you mean the unused `pair`?\"\n"
    );
    workspace.client.shut_down();
}

#[test]
fn what_a_program_imports_changes_what_is_said_of_it() {
    let mut workspace = guide(json!({}));
    assert_eq!(workspace.pushed("guide.md"), ["E119"]);
    workspace.open_saved("part.prose");
    workspace.replace("part.prose", 2, &PART.replace("topic", "subject"));
    assert_eq!(workspace.pushed("guide.md"), ["E027", "E119"]);
    workspace.close("part.prose");
    assert_eq!(workspace.pushed("guide.md"), ["E119"]);
    workspace.close("guide.md");
    assert_eq!(workspace.pushed("guide.md"), [] as [&str; 0]);
    workspace.client.shut_down();
}

#[test]
fn a_client_that_asks_gets_the_same() {
    let mut workspace = guide(json!({ "textDocument": { "diagnostic": {} } }));
    let uri = workspace.uri("guide.md");
    let report = workspace.client.result("textDocument/diagnostic", &uri);
    assert_eq!(
        diagnostics(&report["items"]),
        "19:22-19:27 E119 \"variable `draft` is not defined; did you mean the unused `pair`?\"\n"
    );
    let params = json!({ "textDocument": { "uri": uri }, "previousResultId": report["resultId"] });
    let again = workspace.client.request("textDocument/diagnostic", params);
    assert_eq!(again["result"]["kind"], "unchanged");
    workspace.client.shut_down();
}

#[test]
fn hovers_and_definitions_are_where_the_reader_sees_them() {
    let mut workspace = guide(json!({}));
    let hover = workspace.at("textDocument/hover", "guide.md", (11, 23));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Writes."), "{hover}");
    assert_eq!(place(&hover["range"]), "11:21-11:27");
    let definition = workspace.at("textDocument/definition", "guide.md", (11, 23));
    assert_eq!(definition[0]["uri"], workspace.uri("guide.md"));
    assert_eq!(place(&definition[0]["range"]), "8:6-8:12");
    let into_import = workspace.at("textDocument/definition", "guide.md", (13, 17));
    assert_eq!(into_import[0]["uri"], workspace.uri("part.prose"));
    // The definition of another program is none of this one.
    let in_quote = workspace.at("textDocument/definition", "guide.md", (19, 24));
    assert_eq!(in_quote, Value::Null);
    let block = workspace.at("textDocument/definition", "guide.md", (23, 8));
    assert_eq!(place(&block[0]["range"]), "20:10-20:15");
    // Prose has nothing to say.
    for outside in [(0, 3), (4, 5), (14, 1), (17, 6), (26, 5), (29, 0)] {
        for method in ["hover", "definition", "completion", "prepareRename"] {
            let answer = workspace.at(&format!("textDocument/{method}"), "guide.md", outside);
            assert_eq!(answer, Value::Null, "{method} at {outside:?}");
        }
    }
    workspace.client.shut_down();
}

#[test]
fn lines_are_named_as_the_reader_sees_them() {
    let mut workspace = guide(json!({}));
    let published = |workspace: &mut Workspace, line: usize| {
        let hover = workspace.at("textDocument/hover", "guide.md", (line, 4));
        hover["contents"]["value"].as_str().unwrap().lines().skip(2).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        variable draft, line 12

        Read in line 14"#]]
    .assert_eq(&published(&mut workspace, 11));
    let refused = workspace.rename("guide.md", (11, 4), "found");
    assert_eq!(refused["error"]["message"], "`found` in line 14 would then mean this variable");

    // What stands above a program may change without it.
    workspace.replace("guide.md", 2, &GUIDE.replacen("# A guide 😀\n", "# A guide\n\nIn two parts.\n", 1));
    expect![[r#"
        variable draft, line 14

        Read in line 16"#]]
    .assert_eq(&published(&mut workspace, 13));
    workspace.client.shut_down();
}

#[test]
fn completions_replace_what_stands_in_the_document() {
    let mut workspace = guide(json!({
        "textDocument": { "completion": { "completionItem": { "snippetSupport": true } } },
    }));
    let completions = workspace.at("textDocument/completion", "guide.md", (11, 23));
    let items = completions["items"].as_array().unwrap();
    let writer = items.iter().find(|item| item["label"] == "writer").unwrap();
    assert_eq!(place(&writer["textEdit"]["range"]), "11:21-11:27");
    // Of the programs of documents none can be imported.
    let paths = workspace.at("textDocument/completion", "guide.md", (5, 7));
    assert_eq!(list(&paths["items"], |item| item["label"].to_string()), "\"./part.prose\"\n");
    // An editor indents the lines of a snippet, but it puts no mark of a quote before them.
    let several_lines = |completions: &Value| {
        let items = completions["items"].as_array().unwrap().iter();
        items.filter(|item| item["textEdit"]["newText"].as_str().unwrap().contains('\n')).count()
    };
    let top = workspace.at("textDocument/completion", "guide.md", (6, 0));
    let quoted = workspace.at("textDocument/completion", "guide.md", (22, 4));
    assert!(several_lines(&top) > 0 && several_lines(&quoted) == 0);
    assert!(quoted["items"].as_array().unwrap().iter().any(|item| item["label"] == "session"));
    workspace.client.shut_down();
}

#[test]
fn a_name_is_changed_in_all_documents_that_have_it() {
    let mut workspace = guide(json!({}));
    let uses = workspace.at("textDocument/references", "guide.md", (8, 8));
    expect![[r#"
        8:6-8:12
        11:21-11:27
    "#]]
    .assert_eq(&list(&uses, |found| place(&found["range"])));
    let uses = workspace.at("textDocument/documentHighlight", "guide.md", (20, 11));
    expect![[r#"
        20:10-20:15
        23:7-23:12
    "#]]
    .assert_eq(&list(&uses, |found| place(&found["range"])));
    // From the program beside the document to the program in it.
    workspace.open_saved("part.prose");
    let renamed = workspace.rename("part.prose", (0, 7), "subject")["result"].take();
    let uri = workspace.uri("guide.md");
    let expected = GUIDE.replace("part(topic:", "part(subject:");
    assert_eq!(applied(GUIDE, &renamed["changes"][uri]), expected);
    workspace.client.shut_down();
}

#[test]
fn what_is_seen_of_a_program_is_seen_of_all() {
    let mut workspace = guide(json!({}));
    let uri = workspace.uri("guide.md");
    let symbols = workspace.client.result("textDocument/documentSymbol", &uri);
    expect![[r#"
        5:0-5:18 "part.prose"
        8:0-9:22 "writer"
        11:0-12:32 "draft"
        13:0-13:33 "found"
        19:4-19:28 "pair"
        20:4-21:25 "greet"
        21:6-21:25 "session \"Say hello\""
    "#]]
    .assert_eq(&list(&symbols, |it| format!("{} {}", place(&it["location"]["range"]), it["name"])));
    let folds = workspace.client.result("textDocument/foldingRange", &uri);
    expect![[r#"
        8-9
        11-12
        20-21
    "#]]
    .assert_eq(&list(&folds, |fold| format!("{}-{}", fold["startLine"], fold["endLine"])));
    let links = workspace.client.result("textDocument/documentLink", &uri);
    assert_eq!(list(&links, |link| place(&link["range"])), "5:5-5:17\n");
    let params = json!({
        "textDocument": { "uri": uri },
        "positions": [{ "line": 2, "character": 1 }, { "line": 21, "character": 8 }],
    });
    let selections = workspace.client.request("textDocument/selectionRange", params)["result"].clone();
    assert_eq!(place(&selections[0]["range"]), "2:1-2:1");
    assert_eq!(place(&selections[1]["range"]), "21:6-21:13");
    let tokens = workspace.client.result("textDocument/semanticTokens/full", &uri);
    let (mut line, mut column) = (0, 0);
    let mut words = Vec::new();
    for token in tokens["data"].as_array().unwrap().chunks(5) {
        let token: Vec<usize> = token.iter().map(|number| number.as_u64().unwrap() as usize).collect();
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        line += token[0];
        let text: Vec<u16> = GUIDE.lines().nth(line).unwrap().encode_utf16().collect();
        words.push(String::from_utf16(&text[column..column + token[2]]).unwrap());
    }
    expect![[r#"use "./part.prose" # Writes. agent writer prompt "You write." let draft = session writer prompt "😀 Write about tides" output found = part topic draft let pair = "😀" draft block greet session "Say hello" do greet"#]].assert_eq(&words.join(" "));
    workspace.client.shut_down();
}

#[test]
fn fixes_keep_the_marks_of_a_quote() {
    let text = "> ```prose\n> sesion \"a\"\n> repeat 3\n>   session \"b\n> ```\n";
    let mut workspace = Workspace::with(json!({}), &[("a.md", text)]).opened("a.md");
    let uri = workspace.uri("a.md");
    let actions = workspace.actions("a.md", (1, 4), &[]);
    assert_eq!(list(&actions, |action| action["title"].to_string()), "\"Change to `session`\"\n");
    assert_eq!(applied(text, &actions[0]["edit"]["changes"][&uri]), text.replace("sesion", "session"));
    let all = workspace.actions("a.md", (1, 4), &["source.fixAll"]);
    expect![[r#"
        > ```prose
        > session "a"
        > repeat 3:
        >   session "b"
        > ```
    "#]]
    .assert_eq(&applied(text, &all[0]["edit"]["changes"][&uri]));
    assert_eq!(workspace.actions("a.md", (4, 3), &["quickfix"]), json!([]));
    workspace.client.shut_down();
}

#[test]
fn a_setting_has_documents_left_alone() {
    let settings = json!({ "prose": { "markdown": { "enabled": false } } });
    let capabilities = json!({ "textDocument": { "diagnostic": {} } });
    let mut workspace = Workspace::with_settings(capabilities, settings, &[("guide.md", GUIDE)]);
    workspace.open_saved("guide.md");
    assert!(workspace.pulled("guide.md").is_empty());
    assert_eq!(workspace.at("textDocument/hover", "guide.md", (11, 23)), Value::Null);

    // The project says so, and the client does not.
    let off = ("prose.toml", "markdown.enabled = false\n");
    let capabilities = json!({ "textDocument": { "diagnostic": {} } });
    let mut workspace = Workspace::with(capabilities, &[("guide.md", GUIDE), off]).opened("guide.md");
    assert!(workspace.pulled("guide.md").is_empty());
    workspace.write_watched("prose.toml", "markdown.enabled = true\n");
    assert!(!workspace.pulled("guide.md").is_empty());
    workspace.client.shut_down();
}

/// A document whose second program fails at its third line.
const RUNS: &str = "# Runs\n\n```prose\nsession \"One\"\n```\n\n- Another:\n\n  ```prose\n  let a = session \"Two\"\n\n  throw \"no more\"\n  ```\n";

fn lenses(workspace: &mut Workspace, name: &str) -> String {
    let uri = workspace.uri(name);
    let lenses = workspace.client.result("textDocument/codeLens", &uri);
    list(&lenses, |lens| {
        let argument = lens["command"]["arguments"][0]["uri"].as_str().unwrap_or_default();
        let program = argument.rsplit('/').next().unwrap();
        let title = lens["command"]["title"].as_str().unwrap();
        // Times differ.
        let title = title
            .split(", ")
            .filter(|part| !part.ends_with("ms") && !part.ends_with(" s"))
            .collect::<Vec<_>>()
            .join(", ");
        format!("{}: {title} {program}", lens["range"]["start"]["line"])
    })
}

fn run(workspace: &mut Workspace, uri: &str) -> Value {
    workspace.execute("prose.run", json!({ "uri": uri }))
}

#[test]
fn a_program_is_run_where_it_stands() {
    let capabilities = json!({ "experimental": { "proseRunEvents": true, "proseRunViews": true } });
    let mut workspace = Workspace::with(capabilities, &[("runs.md", RUNS)]).opened("runs.md");
    expect![[r#"
        2: ▶ Run program runs.md#1
        2: Dry run runs.md#1
        3: ▶ Run session runs.md#1
        8: ▶ Run program runs.md#2
        8: Dry run runs.md#2
        9: ▶ Run session runs.md#2
    "#]]
    .assert_eq(&lenses(&mut workspace, "runs.md"));

    let uri = format!("{}#2", workspace.uri("runs.md"));
    let answer = run(&mut workspace, &uri);
    assert!(answer["result"]["run"].is_string(), "{answer}");
    let published = workspace.client.wait_for_method("window/showMessage");
    assert_eq!(published["params"]["message"], "runs.md#2 failed at line 12: no more");
    let messages = workspace.client.take_all();
    let events = messages.iter().filter(|message| message["method"] == "prose/runEvent");
    let events: Vec<&Value> = events.inspect(|message| assert_eq!(message["params"]["uri"], uri)).collect();
    let sites = events.iter().flat_map(|message| message["params"]["events"].as_array().unwrap());
    let lines: Vec<&Value> = sites
        .filter(|event| event["event"] == "statement-started")
        .map(|event| &event["site"]["line"])
        .collect();
    assert_eq!(lines, [10, 12]);
    let views = messages.iter().filter(|message| message["method"] == "prose/runView");
    let views: Vec<&Value> = views.map(|message| &message["params"]["view"]).collect();
    let lines: BTreeSet<u64> = views
        .iter()
        .flat_map(|view| view["statements"].as_array().unwrap())
        .filter_map(|statement| statement["site"]["line"].as_u64())
        .collect();
    assert_eq!(lines, BTreeSet::from([10, 12]));
    assert_eq!(views.iter().filter(|view| view["whole"] == true).count(), 1);
    assert_eq!(views.last().unwrap()["end"]["status"], "failed");

    expect![[r#"
        2: ▶ Run program runs.md#1
        2: Dry run runs.md#1
        3: ▶ Run session runs.md#1
        8: ▶ Run program runs.md#2
        8: Dry run runs.md#2
        8: Resume last run runs.md#2
        8: 1 session, failed at line 12 
        11: Run again from here runs.md#2
        9: ▶ Run session runs.md#2
    "#]]
    .assert_eq(&lenses(&mut workspace, "runs.md"));
    let whole = workspace.uri("runs.md");
    let params = json!({ "textDocument": { "uri": whole }, "range": range((0, 0), (100, 0)) });
    let hints = workspace.client.request("textDocument/inlayHint", params)["result"].clone();
    let hints = list(&hints, |hint| {
        let label = hint["label"].as_str().unwrap().split(' ').next().unwrap();
        format!("{}:{} {label}", hint["position"]["line"], hint["position"]["character"])
    });
    expect![[r#"
        9:23 ✓
        11:17 ✗
    "#]]
    .assert_eq(&hints);

    // A line above moves what the run has left in the document.
    workspace.replace("runs.md", 2, &format!("New.\n\n{RUNS}"));
    let is_second = |message: &Value| {
        message["method"] == "textDocument/publishDiagnostics" && message["params"]["version"] == 2
    };
    let published = workspace.client.wait_for(is_second);
    assert_eq!(diagnostics(&published["params"]["diagnostics"]), "13:2-13:17 - \"no more\"\n");
    workspace.client.shut_down();
}

#[test]
fn of_several_programs_one_has_to_be_named() {
    let mut workspace = Workspace::new(&[]);
    workspace.open("runs.md", RUNS);
    let uri = workspace.uri("runs.md");
    let refusal = |answer: Value| answer["error"]["message"].as_str().unwrap().to_owned();
    expect!["`runs.md` has several programs; choose one of `runs.md#1`, `runs.md#2`"]
        .assert_eq(&refusal(run(&mut workspace, &uri)));
    expect!["`runs.md#3` does not exist; the document has `runs.md#1`, `runs.md#2`"]
        .assert_eq(&refusal(run(&mut workspace, &format!("{uri}#3"))));
    workspace.replace("runs.md", 2, "Nothing.\n");
    expect!["`runs.md` has no program; programs are code blocks that start with ```prose"]
        .assert_eq(&refusal(run(&mut workspace, &uri)));
    workspace.replace("runs.md", 3, "```prose\nsession: nobody\n```\n");
    expect!["`runs.md#1` has 1 error and is not run; line 2: agent `nobody` is not defined"]
        .assert_eq(&refusal(run(&mut workspace, &uri)));
    // As it was last edited, and by the name of the document, since it is the only one.
    workspace.replace("runs.md", 4, "```prose\nsession \"Three\"\n```\n");
    assert!(run(&mut workspace, &uri)["result"]["run"].is_string());
    let published = workspace.client.wait_for_method("window/showMessage");
    assert!(published["params"]["message"].as_str().unwrap().starts_with("runs.md#1 is done: 1 session"));
    let dry = workspace.execute("prose.dryRun", json!({ "uri": uri }));
    check(
        &dry["result"],
        expect![[r#"
            {
              "failed": null,
              "prompts": [
                {
                  "agent": null,
                  "kind": "session",
                  "line": 2,
                  "model": null,
                  "program": null,
                  "prompt": "Three",
                  "system": null
                }
              ]
            }
        "#]],
    );
    workspace.client.shut_down();
}

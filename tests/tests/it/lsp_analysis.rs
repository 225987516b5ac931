//! What the server knows about programs that import each other, on the disk and in the editor, over the wire.

use prose_tests::lsp::range;
use prose_tests::workspace::{Workspace, codes};
use serde_json::{Value, json};

fn lines(result: &Value) -> Vec<(String, Value)> {
    let places = result.as_array().unwrap().iter();
    let place = |place: &Value| {
        let name = place["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (name, place["range"].clone())
    };
    places.map(place).collect()
}

const MAIN: &str = r#"use "./lib.prose" as lib

let found = lib(topic: "trees")
session "Tell of {found.summary}"
"#;
const LIB: &str = r#"input topic: "What to look for"

output summary = session "Sum up {topic}"
"#;
/// The library with another name for its output.
const LIB_RENAMED: &str = r#"input topic: "What to look for"

output digest = session "Sum up {topic}"
"#;

fn workspace() -> Workspace {
    Workspace::new(&[("main.prose", MAIN), ("lib.prose", LIB)]).opened("main.prose")
}

#[test]
fn imports_are_read_from_the_disk() {
    let mut workspace = workspace();
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
    workspace.replace("main.prose", 2, &MAIN.replace("found.summary", "found.sumary"));
    assert_eq!(workspace.pushed("main.prose"), ["E028"]);
}

#[test]
fn hover_shows_documentation_from_another_file() {
    let markdown = json!({ "textDocument": { "hover": { "contentFormat": ["markdown", "plaintext"] } } });
    for (capabilities, kind) in [(markdown, "markdown"), (json!({}), "plaintext")] {
        let mut workspace = Workspace::with(capabilities, &[("main.prose", MAIN), ("lib.prose", LIB)]);
        workspace.open_saved("main.prose");
        let hover = workspace.at("textDocument/hover", "main.prose", (2, 13));
        assert_eq!(hover["contents"]["kind"], kind);
        assert!(hover["contents"]["value"].as_str().unwrap().contains("What to look for"), "{hover}");
        assert_eq!(hover["range"], range((2, 12), (2, 15)));
    }
}

#[test]
fn a_definition_may_be_in_another_file() {
    let mut workspace = workspace();
    let found = workspace.at("textDocument/definition", "main.prose", (3, 27));
    assert_eq!(lines(&found), [("lib.prose".to_owned(), range((2, 7), (2, 14)))]);

    let links = json!({ "textDocument": { "definition": { "linkSupport": true } } });
    let mut workspace = Workspace::with(links, &[("main.prose", MAIN), ("lib.prose", LIB)]);
    workspace.open_saved("main.prose");
    let found = workspace.at("textDocument/definition", "main.prose", (3, 27));
    assert_eq!(found[0]["targetUri"], workspace.uri("lib.prose").as_str());
    assert_eq!(found[0]["targetSelectionRange"], range((2, 7), (2, 14)));
    assert_eq!(found[0]["originSelectionRange"], range((3, 24), (3, 31)));
}

#[test]
fn references_are_found_in_files_that_import() {
    let mut workspace = workspace().opened("lib.prose");
    let mut found = lines(&workspace.at("textDocument/references", "lib.prose", (0, 7)));
    found.sort_by_key(|(name, _)| name.clone());
    assert_eq!(
        found,
        [
            ("lib.prose".to_owned(), range((0, 6), (0, 11))),
            ("lib.prose".to_owned(), range((2, 34), (2, 39))),
            ("main.prose".to_owned(), range((2, 16), (2, 21))),
        ]
    );
}

#[test]
fn a_name_is_highlighted_where_it_is_written_and_read() {
    let mut workspace = workspace();
    let found = workspace.at("textDocument/documentHighlight", "main.prose", (2, 5));
    assert_eq!(
        found,
        json!([{ "range": range((2, 4), (2, 9)), "kind": 3 }, { "range": range((3, 18), (3, 23)), "kind": 2 }])
    );
}

#[test]
fn completion_offers_the_outputs_of_imported_programs_and_files() {
    let mut workspace = workspace();
    let items = |list: &Value| -> Vec<String> {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    };
    let found = workspace.at("textDocument/completion", "main.prose", (3, 24));
    assert_eq!(items(&found), ["summary"]);
    let found = workspace.at("textDocument/completion", "main.prose", (0, 7));
    assert!(
        items(&found).contains(&"lib.prose".to_owned()) || items(&found).contains(&"./lib.prose".to_owned()),
        "{found}"
    );
}

#[test]
fn snippets_are_for_clients_that_support_them() {
    for takes_snippets in [true, false] {
        let item = json!({ "completionItem": { "snippetSupport": takes_snippets } });
        let mut workspace = Workspace::with(json!({ "textDocument": { "completion": item } }), &[]);
        workspace.open("main.prose", "\n");
        let found = workspace.at("textDocument/completion", "main.prose", (0, 0));
        let items = found["items"].as_array().unwrap();
        assert!(!items.is_empty());
        let is_snippet = |item: &Value| {
            item["insertTextFormat"] == 2 || item["textEdit"]["newText"].as_str().unwrap().contains("${")
        };
        assert_eq!(items.iter().any(is_snippet), takes_snippets, "{found}");
    }
}

#[test]
fn semantic_tokens_are_given_for_a_file_and_a_part_of_it() {
    let mut workspace = workspace();
    let uri = workspace.uri("main.prose");
    let whole = workspace.client.result("textDocument/semanticTokens/full", &uri);
    let whole = whole["data"].as_array().unwrap();
    assert_eq!(whole.len() % 5, 0);
    let params = json!({ "textDocument": { "uri": uri }, "range": range((3, 0), (4, 0)) });
    let part = workspace.client.request("textDocument/semanticTokens/range", params);
    let part = part["result"]["data"].as_array().unwrap();
    // The first token of a part is counted from the start of the file, the others are those of the whole.
    assert_eq!(part[0], 3);
    assert_eq!(whole[whole.len() - part.len() + 1..], part[1..]);
}

#[test]
fn fixes_are_offered_at_their_place() {
    let versions = json!({ "workspace": { "workspaceEdit": { "documentChanges": true } } });
    for (capabilities, path) in
        [(versions, "/edit/documentChanges/0/edits"), (json!({}), "/edit/changes/URI")]
    {
        let mut workspace = Workspace::with(capabilities, &[("lib.prose", LIB)]);
        workspace.open("main.prose", &MAIN.replace("found.summary", "found.sumary"));
        let path = path.replace("URI", &workspace.uri("main.prose").replace('~', "~0").replace('/', "~1"));
        let actions = workspace.actions("main.prose", (3, 25), &[]);
        let action = &actions[0];
        assert_eq!((&action["title"], &action["kind"]), (&json!("Change to `summary`"), &json!("quickfix")));
        assert_eq!(action["diagnostics"][0]["code"], "E028");
        let edits = action.pointer(&path).unwrap_or_else(|| panic!("{action}"));
        assert_eq!(edits, &json!([{ "range": range((3, 24), (3, 30)), "newText": "summary" }]));
        assert_eq!(workspace.actions("main.prose", (0, 0), &[]), json!([]));
        assert_eq!(workspace.actions("main.prose", (3, 25), &["refactor.inline"]), json!([]));
    }
}

#[test]
fn what_is_missing_is_mended_from_anywhere_on_its_line() {
    let mut workspace = Workspace::new(&[]);
    workspace.open("main.prose", "session \"a\"\nrepeat 3\n  session \"b\"\n");
    for column in [0, 4, 8] {
        let actions = workspace.actions("main.prose", (1, column), &[]);
        assert_eq!(actions[0]["title"], "Insert `:`");
    }
    assert_eq!(workspace.actions("main.prose", (0, 3), &["quickfix"]), json!([]));
    assert_eq!(workspace.actions("main.prose", (2, 3), &["quickfix"]), json!([]));
}

#[test]
fn what_only_a_person_can_choose_is_not_preferred() {
    let mut workspace = Workspace::new(&[]);
    workspace.open("main.prose", "output session \"a\"\nsession \"b\"\n");
    let actions = workspace.actions("main.prose", (1, 3), &[]);
    assert_eq!(actions[0]["title"], "Remove the unreachable statements");
    assert_eq!(actions[0]["isPreferred"], false);
}

#[test]
fn all_safe_fixes_are_applied_at_once() {
    let mut workspace = Workspace::new(&[]);
    workspace.open("main.prose", "session \"ä\nsession \"b\n");
    let actions = workspace.actions("main.prose", (0, 0), &["source.fixAll"]);
    assert_eq!(actions[0]["kind"], "source.fixAll.prose");
    let edits = &actions[0]["edit"]["changes"][workspace.uri("main.prose")];
    assert_eq!(edits, &json!([{ "range": range((0, 10), (1, 10)), "newText": "\"\nsession \"b\"" }]));
}

#[test]
fn related_places_and_tags_come_with_diagnostics() {
    let twice = "agent a:\n  model: opus\n\nagent a:\n  model: haiku\n\nsession: a\n";
    let related = json!({ "textDocument": { "publishDiagnostics": { "relatedInformation": true } } });
    for (capabilities, is_shown) in [(related, true), (json!({}), false)] {
        let mut workspace = Workspace::with(capabilities, &[]);
        workspace.open("main.prose", twice);
        let pushed = workspace.pushed_whole("main.prose");
        let diagnostic = pushed["diagnostics"].as_array().unwrap().iter().find(|one| one["code"] == "E006");
        let related = diagnostic.unwrap_or_else(|| panic!("{pushed}"))["relatedInformation"].clone();
        let expected = range((0, 6), (0, 7));
        assert_eq!(related[0]["location"]["range"] == expected, is_shown, "{related}");
        assert_eq!(related.is_null(), !is_shown);
    }
    let mut workspace = Workspace::new(&[]);
    workspace.open("main.prose", "agent unused:\n  model: opus\n");
    let pushed = workspace.pushed_whole("main.prose");
    assert_eq!(pushed["diagnostics"][0]["tags"], json!([1]), "{pushed}");
}

#[test]
fn columns_count_what_the_client_counts() {
    // The emoji is 4 bytes, 2 units of UTF-16 and 1 character.
    let text = "session \"😀 {nothing}\"\n";
    for (encoding, start) in [("utf-8", 15), ("utf-16", 13), ("utf-32", 12)] {
        let general = json!({ "general": { "positionEncodings": [encoding] } });
        let mut workspace = Workspace::with(general, &[]);
        workspace.open("main.prose", text);
        let pushed = workspace.pushed_whole("main.prose");
        assert_eq!(pushed["diagnostics"][0]["range"], range((0, start), (0, start + 7)), "{encoding}");
        let uri = workspace.uri("main.prose");
        let insert = range((0, start + 7), (0, start + 7));
        workspace.client.change(&uri, 2, json!([{ "range": insert, "text": "X" }]));
        let pushed = workspace.pushed_whole("main.prose");
        assert!(pushed["diagnostics"][0]["message"].as_str().unwrap().contains("`nothingX`"), "{pushed}");
    }
}

#[test]
fn an_edit_of_an_imported_file_is_seen_by_its_importers_before_it_is_saved() {
    let mut workspace = workspace().opened("lib.prose");
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
    workspace.replace("lib.prose", 2, LIB_RENAMED);
    assert_eq!(workspace.pushed("main.prose"), ["E028"]);
    // What was not saved is gone when the file is closed.
    workspace.close("lib.prose");
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
}

#[test]
fn a_question_right_after_an_edit_of_an_imported_file_is_answered_from_it() {
    let mut workspace = workspace().opened("lib.prose");
    workspace.replace("lib.prose", 2, &format!("# one line more\n{LIB}"));
    let found = workspace.at("textDocument/definition", "main.prose", (3, 27));
    assert_eq!(lines(&found), [("lib.prose".to_owned(), range((3, 7), (3, 14)))]);
}

#[test]
fn clients_that_pull_diagnostics_get_a_refresh_request() {
    let capabilities = json!({
        "textDocument": { "diagnostic": {} }, "workspace": { "diagnostics": { "refreshSupport": true } },
    });
    let mut workspace = Workspace::with(capabilities, &[("main.prose", MAIN), ("lib.prose", LIB)]);
    workspace.open_saved("main.prose");
    workspace.open_saved("lib.prose");
    assert_eq!(workspace.pulled("main.prose"), [] as [&str; 0]);
    workspace.replace("lib.prose", 2, LIB_RENAMED);
    let is_refresh = |message: &Value| message["method"] == "workspace/diagnostic/refresh";
    let refresh = workspace.client.wait_for(is_refresh);
    workspace.client.send_bytes(&prose_tests::lsp::frame(
        &json!({ "jsonrpc": "2.0", "id": refresh["id"], "result": null }),
    ));
    assert_eq!(workspace.pulled("main.prose"), ["E028"]);
    workspace.close("lib.prose");
    workspace.client.wait_for(is_refresh);
    assert_eq!(workspace.pulled("main.prose"), [] as [&str; 0]);
}

#[test]
fn imported_files_come_change_and_go_on_the_disk() {
    let mut workspace = Workspace::new(&[("main.prose", MAIN)]).opened("main.prose");
    assert_eq!(workspace.pushed("main.prose"), ["E139"]);
    workspace.write_watched("lib.prose", LIB);
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
    workspace.write_watched("lib.prose", LIB_RENAMED);
    assert_eq!(workspace.pushed("main.prose"), ["E028"]);
    workspace.remove_watched("lib.prose");
    assert_eq!(workspace.pushed("main.prose"), ["E139"]);
}

#[test]
fn a_new_file_is_imported_before_it_is_saved() {
    let mut workspace = Workspace::new(&[("main.prose", MAIN)]).opened("main.prose");
    assert_eq!(workspace.pushed("main.prose"), ["E139"]);
    workspace.open("lib.prose", LIB);
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
    workspace.close("lib.prose");
    assert_eq!(workspace.pushed("main.prose"), ["E139"]);
}

#[test]
fn an_error_in_a_prompt_is_reported_in_all_programs_that_lead_to_it() {
    let chain = "use \"./main.prose\" as main\n\nmain()\n";
    let mut workspace = Workspace::new(&[("chain.prose", chain), ("main.prose", MAIN), ("lib.prose", LIB)]);
    workspace.open_saved("chain.prose");
    workspace.open_saved("main.prose");
    workspace.open_saved("lib.prose");
    for name in ["chain.prose", "main.prose", "lib.prose"] {
        assert_eq!(workspace.pushed(name), [] as [&str; 0]);
    }
    workspace.replace("lib.prose", 2, &LIB.replace("{topic}", "{topic} and {nothing}"));
    assert_eq!(workspace.pushed("main.prose"), ["E145"]);
    assert_eq!(workspace.pushed("chain.prose"), ["E145"]);
    workspace.replace("lib.prose", 3, LIB);
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
    assert_eq!(workspace.pushed("chain.prose"), [] as [&str; 0]);
}

#[test]
fn a_cycle_that_closes_elsewhere_is_reported_in_all_of_it() {
    let import = |name: &str| format!("use \"./{name}.prose\" as next\n\noutput x = next()\n");
    let mut workspace = Workspace::new(&[
        ("a.prose", &import("b")),
        ("b.prose", &import("c")),
        ("c.prose", "output x = \"1\"\n"),
    ]);
    workspace.open_saved("a.prose");
    workspace.open_saved("c.prose");
    assert_eq!(workspace.pushed("a.prose"), [] as [&str; 0]);
    workspace.replace("c.prose", 2, &import("a"));
    assert_eq!(workspace.pushed("a.prose"), ["E138"]);
    workspace.write_watched("b.prose", "output x = \"1\"\n");
    assert_eq!(workspace.pushed("a.prose"), [] as [&str; 0]);
}

#[test]
fn a_client_that_can_is_asked_to_watch_the_files() {
    let watches = json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let mut workspace = Workspace::with(watches, &[]);
    let asked = workspace.client.wait_for_method("client/registerCapability");
    let registration = &asked["params"]["registrations"][0];
    assert_eq!(registration["method"], "workspace/didChangeWatchedFiles");
    assert_eq!(
        registration["registerOptions"]["watchers"],
        json!([
            { "globPattern": "**/*.prose" },
            { "globPattern": "**/prose.toml" },
            { "globPattern": "**/prose.lock" },
            { "globPattern": "**/SKILL.md" },
            { "globPattern": "**/.gitignore" },
            { "globPattern": "**/.ignore" },
            { "globPattern": "**", "kind": 4 },
        ])
    );
}

#[test]
fn a_client_that_watches_no_files_reports_saves() {
    let mut workspace = workspace();
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
    workspace.write("lib.prose", LIB_RENAMED);
    workspace.save("main.prose");
    assert_eq!(workspace.pushed("main.prose"), ["E028"]);
}

/// A warning in the default profile and an error in the strict one.
const LENIENT: &str = "if **it rains**:\n  session \"\"\n";

#[test]
fn prose_toml_comes_changes_and_goes() {
    let mut workspace = Workspace::new(&[("sub/main.prose", LENIENT)]).opened("sub/main.prose");
    assert_eq!(workspace.pushed("sub/main.prose"), ["W001"]);
    workspace.write_watched("prose.toml", "[check.levels]\nW001 = \"error\"\n");
    assert_eq!(workspace.pushed_whole("sub/main.prose")["diagnostics"][0]["severity"], 1);
    workspace.write_watched("prose.toml", "[check.levels]\nW001 = \"off\"\n");
    assert_eq!(workspace.pushed("sub/main.prose"), [] as [&str; 0]);
    workspace.write_watched("sub/prose.toml", "[check.levels]\nW001 = \"hint\"\n");
    assert_eq!(workspace.pushed_whole("sub/main.prose")["diagnostics"][0]["severity"], 4);
    workspace.remove_watched("sub/prose.toml");
    assert_eq!(workspace.pushed("sub/main.prose"), [] as [&str; 0]);
    workspace.remove_watched("prose.toml");
    assert_eq!(workspace.pushed_whole("sub/main.prose")["diagnostics"][0]["severity"], 2);
}

#[test]
fn names_for_models_come_from_prose_toml() {
    let text = "session \"Hello\"\n  model: local\n";
    let mut workspace = Workspace::new(&[]);
    workspace.open("main.prose", text);
    assert_eq!(workspace.pushed("main.prose"), ["E008"]);
    workspace.write_watched("prose.toml", "[models]\nlocal = \"llama-3\"\n");
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
}

#[test]
fn the_client_may_be_set_to_the_strict_profile() {
    let levels = |level: &str| json!({ "check": { "levels": { "W001": level } } });
    let mut workspace = Workspace::with_settings(json!({}), levels("off"), &[]);
    workspace.open("main.prose", LENIENT);
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
    workspace.configure(levels("error"));
    assert_eq!(workspace.pushed_whole("main.prose")["diagnostics"][0]["severity"], 1);
    workspace.configure(json!({ "prose": { "check": { "profile": "strict" } } }));
    assert_eq!(workspace.pushed_whole("main.prose")["diagnostics"][0]["severity"], 2);
}

#[test]
fn problems_of_prose_toml_are_reported_until_they_are_fixed() {
    let mut workspace = Workspace::new(&[("prose.toml", "[check]\nprofile = \"strikt\"\nprofil = 3\n")]);
    workspace.open("main.prose", "session \"Hello\"\n");
    let problems = workspace.pushed_whole("prose.toml")["diagnostics"].clone();
    assert_eq!(codes(&problems), ["E142", "W141"]);
    assert_eq!(problems[0]["range"], range((1, 10), (1, 18)));
    workspace.write_watched("prose.toml", "[check\n");
    assert_eq!(workspace.pushed("prose.toml"), ["E141"]);
    workspace.write_watched("prose.toml", "[check]\nprofile = \"strict\"\n");
    assert_eq!(workspace.pushed("prose.toml"), [] as [&str; 0]);
    workspace.write_watched("prose.toml", "[check\n");
    assert_eq!(workspace.pushed("prose.toml"), ["E141"]);
    workspace.close("main.prose");
    assert_eq!(
        workspace.pushed("prose.toml"),
        [] as [&str; 0],
        "no program is under these settings any more"
    );
}

#[test]
fn an_open_prose_toml_is_checked_as_it_is_edited() {
    let mut workspace = Workspace::new(&[("prose.toml", "")]);
    let uri = workspace.uri("prose.toml");
    let document =
        json!({ "uri": uri, "languageId": "toml", "version": 1, "text": "[check]\nprofile = 3\n" });
    workspace.client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    assert_eq!(workspace.pushed("prose.toml"), ["E142"]);
    let three = range((1, 10), (1, 11));
    workspace.client.change(&uri, 2, json!([{ "range": three, "text": "\"strict\"" }]));
    let pushed = workspace.pushed_whole("prose.toml");
    assert_eq!(pushed, json!({ "uri": uri, "version": 2, "diagnostics": [] }));
}

#[test]
fn documents_that_are_no_programs_are_left_alone() {
    let mut workspace = Workspace::with(json!({ "textDocument": { "diagnostic": {} } }), &[]);
    let uri = workspace.uri("notes.md");
    let document =
        json!({ "uri": uri, "languageId": "markdown", "version": 1, "text": "sesion \"no program\"\n" });
    workspace.client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    workspace.client.change(&uri, 2, json!([{ "text": "let" }]));
    assert_eq!(workspace.pulled("notes.md"), [] as [&str; 0]);
    assert_eq!(workspace.client.result("textDocument/documentSymbol", &uri), Value::Null);
    assert_eq!(workspace.at("textDocument/hover", "notes.md", (0, 0)), Value::Null);
    workspace.close("notes.md");
    assert_eq!(workspace.client.take_kept(), [] as [Value; 0]);
    let log = workspace.client.shut_down().stderr;
    assert_eq!(log, "");
}

#[test]
fn a_program_that_is_in_no_file_is_analysed_but_imports_nothing() {
    let mut workspace = Workspace::new(&[]);
    let uri = "untitled:Untitled-1";
    workspace.client.open(uri, 1, "use \"./lib.prose\" as lib\n\nlet x = lib()\nsession \"{x} {y}\"\n");
    assert_eq!(codes(&workspace.client.diagnostics(uri, 1)), ["E120"]);
    let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 3, "character": 10 } });
    let found = workspace.client.request("textDocument/definition", params);
    assert_eq!(lines(&found["result"]), [(uri.to_owned(), range((2, 4), (2, 5)))]);
    // A program with a language but without the ending is one as well.
    workspace.open("program", "sesion \"x\"\n");
    assert_eq!(workspace.pushed("program").len(), 1);
}

#[test]
fn names_of_files_may_have_spaces_and_other_letters() {
    let main =
        "use \"../bibliothèque/lib.prose\" as lib\n\nlet x = lib(topic: \"y\")\nsession \"{x.sumary}\"\n";
    let mut workspace = Workspace::new(&[("my flows/ä 100%.prose", main), ("bibliothèque/lib.prose", LIB)]);
    workspace.open_saved("my flows/ä 100%.prose");
    assert_eq!(workspace.pushed("my flows/ä 100%.prose"), ["E028"]);
    let found = workspace.at("textDocument/definition", "my flows/ä 100%.prose", (2, 13));
    assert_eq!(found[0]["uri"], workspace.uri("bibliothèque/lib.prose").as_str());
}

#[test]
fn two_spellings_of_one_file_are_one_document() {
    let mut workspace = workspace();
    let (spelled, other) = (workspace.uri("lib.prose"), workspace.uri("lib.prose").replace("lib", "l%69b"));
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
    workspace.client.open(&spelled, 1, LIB);
    workspace.client.change(&other, 2, json!([{ "text": LIB_RENAMED }]));
    assert_eq!(workspace.pushed("main.prose"), ["E028"]);
    let symbols = workspace.client.result("textDocument/documentSymbol", &other);
    assert_eq!(symbols[1]["name"], "digest");

    // Opened under both, it is still one, and the text that came last counts.
    workspace.client.open(&other, 1, LIB);
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
    let symbols = workspace.client.result("textDocument/documentSymbol", &spelled);
    assert_eq!(symbols[1]["name"], "summary");
    workspace.client.notify("textDocument/didClose", json!({ "textDocument": { "uri": other } }));
    let answer = workspace
        .client
        .request("textDocument/documentSymbol", json!({ "textDocument": { "uri": spelled } }));
    assert_eq!(answer["error"]["code"], -32602);
}

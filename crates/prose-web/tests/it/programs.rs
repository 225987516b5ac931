//! What an editor shows of a program.

use expect_test::{Expect, expect};
use prose_web::Language;
use serde_json::{Value, json};

use crate::{error, page, result};

/// A page with the files, and the place of `$0` in `main.prose` in UTF-16 code units.
fn page_at(files: &str) -> (Language, Value) {
    let before = files.split("$0").next().unwrap();
    let offset = before.encode_utf16().count();
    (page(&files.replacen("$0", "", 1)), json!({ "name": "main.prose", "offset": offset }))
}

/// The text of a part of a file.
fn part(text: &str, span: &Value) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    let at = |key: &str| span[key].as_u64().unwrap() as usize;
    String::from_utf16(&units[at("from")..at("to")]).unwrap()
}

/// A text with edits, which are in the order of the text.
fn edited(text: &str, edits: &Value) -> String {
    let mut units: Vec<u16> = text.encode_utf16().collect();
    for edit in edits.as_array().unwrap().iter().rev() {
        let at = |key: &str| edit[key].as_u64().unwrap() as usize;
        units.splice(at("from")..at("to"), edit["insert"].as_str().unwrap().encode_utf16());
    }
    String::from_utf16(&units).unwrap()
}

#[test]
fn diagnostics_have_utf16_places_and_fixes_that_repair_them() {
    let program = "# 🦀 é\nagent helper:\n  model: sonnet\n\nlet found = session: helpr\n  prompt: \"Find it\"\noutput found = found\n";
    let mut language = page(program);
    let found = result(&mut language, "diagnostics", json!({ "name": "main.prose" }));
    let [diagnostic] = found.as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!(part(program, diagnostic), "helpr");
    assert_eq!(diagnostic["severity"], "error");
    let repaired = edited(program, &diagnostic["fixes"][0]["edits"]);
    let mut language = page(&repaired);
    assert_eq!(result(&mut language, "diagnostics", json!({ "name": "main.prose" })), json!([]));
}

#[test]
fn severities_are_those_of_the_default_profile() {
    let mut language = page("let unused = session \"a\"\nsession \"b\"\n");
    let found = result(&mut language, "diagnostics", json!({ "name": "main.prose" }));
    expect![[r#"["W115","hint","unnecessary"]"#]]
        .assert_eq(&json!([found[0]["code"], found[0]["severity"], found[0]["tag"]]).to_string());
}

#[test]
fn names_are_completed_where_they_can_be_used() {
    let (mut language, at) = page_at("agent writer:\n  model: sonnet\n\nsession: wr$0\n");
    let found = result(&mut language, "completions", at);
    let writer = found.as_array().unwrap().iter().find(|completion| completion["label"] == "writer").unwrap();
    assert_eq!((&writer["kind"], &writer["insert"]), (&json!("agent"), &json!("writer")));
}

#[test]
fn paths_of_files_of_the_page_are_completed() {
    let (mut language, at) = page_at("use \"./$0\" as tool\n//- tools/short.prose\nsession \"a\"\n");
    let found = result(&mut language, "completions", at);
    let labels: Vec<&str> =
        found.as_array().unwrap().iter().filter_map(|found| found["label"].as_str()).collect();
    assert!(labels.iter().any(|label| label.contains("tools/short.prose")), "{labels:?}");
}

#[test]
fn a_name_has_a_hover_and_a_definition() {
    let (mut language, at) = page_at("agent writer:\n  model: sonnet\n\nsession: wri$0ter\n");
    let hover = result(&mut language, "hover", at.clone());
    assert!(hover["markdown"].as_str().unwrap().contains("agent writer"), "{hover}");
    let found = result(&mut language, "definition", at);
    assert_eq!(found, json!([{ "name": "main.prose", "from": 6, "to": 12 }]));
}

#[test]
fn definitions_and_renames_lead_into_other_files() {
    let (mut language, at) = page_at(
        "use \"./tool.prose\" as tool\nlet done = tool(text: \"a\")\noutput result = done.sho$0rt\n//- tool.prose\ninput text: \"Text\"\noutput short = session \"Shorten {text}\"\n",
    );
    let found = result(&mut language, "definition", at.clone());
    assert_eq!(found[0]["name"], "tool.prose", "{found}");
    let renamed = result(
        &mut language,
        "rename",
        json!({ "name": at["name"], "offset": at["offset"], "newName": "brief" }),
    );
    let mut names: Vec<&str> =
        renamed.as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["main.prose", "tool.prose"]);
    assert_eq!(result(&mut language, "renameable", at)["placeholder"], "short");
}

#[test]
fn a_keyword_is_not_renamed() {
    let (mut language, at) = page_at("ses$0sion \"a\"\n");
    expect!["keywords of the language cannot be renamed"].assert_eq(&error(&mut language, "renameable", at));
}

#[test]
fn symbols_are_nested() {
    let mut language = page(
        "block review(text):\n  let found = session \"Read {text}\"\n\ndo review(\"a\")\nlet last = session \"b\"\noutput o = last\n",
    );
    fn shown(symbols: &Value, depth: usize, out: &mut String) {
        for symbol in symbols.as_array().unwrap() {
            let (kind, name) = (symbol["kind"].as_str().unwrap(), symbol["name"].as_str().unwrap());
            *out += &format!("{:depth$}{kind} {name}\n", "");
            shown(&symbol["children"], depth + 2, out);
        }
    }
    let mut out = String::new();
    shown(&result(&mut language, "symbols", json!({ "name": "main.prose" })), 0, &mut out);
    expect![[r#"
        block review
          variable found
        variable last
        output o
    "#]]
    .assert_eq(&out);
}

#[test]
fn tokens_folds_and_the_graph_are_those_of_the_program() {
    let program = "let a = session \"Say {a}\"\nparallel:\n  session \"b\"\n  session \"c\"\n";
    let mut language = page(program);
    let name = json!({ "name": "main.prose" });
    let tokens = result(&mut language, "tokens", name.clone());
    assert_eq!((part(program, &tokens[0]), &tokens[0]["type"]), ("let".to_owned(), &json!("keyword")));
    assert_eq!(tokens[1]["modifiers"], json!(["declaration"]));
    let folds = result(&mut language, "folds", name.clone());
    assert!(folds.as_array().unwrap().iter().any(|fold| fold["kind"] == "block"), "{folds}");
    let graph = result(&mut language, "graph", name);
    let kinds: Vec<&str> =
        graph["nodes"].as_array().unwrap().iter().map(|node| node["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"parallel"), "{kinds:?}");
}

#[test]
fn programs_are_formatted() {
    let program = "session   \"a\"\n\n\n\n\nparallel:\n    session \"b\"\n";
    let mut language = page(program);
    let edits = result(&mut language, "format", json!({ "name": "main.prose" }));
    expect![[r#"
        session "a"

        parallel:
          session "b"
    "#]]
    .assert_eq(&edited(program, &edits));
}

#[test]
fn inputs_are_listed_with_their_prompts() {
    let mut language = page(
        "input topic: \"What about?\"\nlet more = input \"Anything else?\"\nsession \"{topic} {more}\"\n",
    );
    let found = result(&mut language, "inputs", json!({ "name": "main.prose" }));
    assert_eq!(
        found,
        json!([{ "name": "topic", "prompt": "What about?" }, { "name": "more", "prompt": "Anything else?" }])
    );
}

#[test]
fn codes_are_explained() {
    let explained = result(&mut Language::default(), "explain", json!({ "code": "E007" }));
    assert!(explained.as_str().unwrap().starts_with("### E007: "), "{explained}");
}

#[test]
fn a_removed_file_is_missing_to_what_imports_it() {
    let mut language =
        page("use \"./tool.prose\" as tool\noutput done = tool()\n//- tool.prose\nsession \"a\"\n");
    let name = json!({ "name": "main.prose" });
    assert_eq!(result(&mut language, "diagnostics", name.clone()), json!([]));
    result(&mut language, "removeFile", json!({ "name": "tool.prose" }));
    assert_ne!(result(&mut language, "diagnostics", name), json!([]));
}

#[track_caller]
fn check_refused(method: &str, params: Value, expected: Expect) {
    let mut language = page("session \"a\"\n//- script.toml\nunmatched = \"offline\"\n");
    expected.assert_eq(&error(&mut language, method, params));
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    check_refused("fly", json!({}), expect!["there is no method `fly`"]);
    check_refused(
        "hover",
        json!({ "name": "other.prose", "offset": 0 }),
        expect!["there is no file `other.prose`"],
    );
    check_refused(
        "hover",
        json!({ "name": "script.toml", "offset": 0 }),
        expect!["`script.toml` is not a program; the names of programs end with `.prose`"],
    );
    for name in ["", "/etc/passwd", "../a.prose", "a/../../b.prose"] {
        let refusal = error(&mut page(""), "setFile", json!({ "name": name, "text": "" }));
        assert!(refusal.contains("cannot be the name of a file"), "{refusal}");
    }
    check_refused("hover", json!({}), expect!["the parameters cannot be read: missing field `name`"]);
    let answer = Language::default().answer("{");
    assert!(answer.contains("the request cannot be read"), "{answer}");
}

#[test]
fn an_offset_outside_of_the_text_means_its_end() {
    let mut language = page("session \"🦀\"");
    for offset in [0, 10, 11, 1_000_000] {
        result(&mut language, "completions", json!({ "name": "main.prose", "offset": offset }));
    }
}

//! Refactorings, over the wire.

use expect_test::{Expect, expect};
use prose_tests::lsp::{applied, range};
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

const PROGRAM: &str = "\
use \"./b.prose\"
use \"./a.prose\"
input topic: \"What about\"
let facts = session \"😀 Find {topic}\"
let more = session \"Find more of {topic}\"
output report = session \"Write\" -> session \"Improve\"
  context: { facts, more }
";

type Place = (usize, usize);

/// The actions from one place to another, of some kinds or of any.
fn actions(
    workspace: &mut Workspace,
    name: &str,
    places: (Place, Place),
    only: Option<&[&str]>,
) -> Vec<Value> {
    let context = match only {
        None => json!({ "diagnostics": [] }),
        Some(only) => json!({ "diagnostics": [], "only": only }),
    };
    let params = json!({
        "textDocument": { "uri": workspace.uri(name) },
        "range": range(places.0, places.1),
        "context": context,
    });
    let answer = workspace.client.request("textDocument/codeAction", params);
    answer["result"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

fn shown(actions: &[Value]) -> String {
    actions.iter().map(|action| format!("{} {}\n", action["kind"], action["title"])).collect()
}

#[track_caller]
fn check(text: &str, actions: &[Value], title: &str, uri: &str, expected: Expect) {
    let action = actions.iter().find(|action| action["title"].as_str().unwrap().starts_with(title));
    let action = action.unwrap_or_else(|| panic!("{actions:#?}"));
    expected.assert_eq(&applied(text, &action["edit"]["changes"][uri]));
}

#[test]
fn refactorings_are_offered_by_kind_and_can_be_applied() {
    let empty = ("a.prose", "session \"a\"\n");
    let files = [("main.prose", PROGRAM), empty, ("b.prose", empty.1)];
    let mut workspace = Workspace::new(&files).opened("main.prose");
    let uri = workspace.uri("main.prose");
    let found = actions(&mut workspace, "main.prose", ((3, 0), (5, 0)), Some(&["refactor"]));
    expect![[r#"
        "refactor.extract" "Extract a block"
        "refactor.rewrite" "Run the sessions concurrently"
        "refactor.rewrite" "Surround with `try` and `catch`"
    "#]]
    .assert_eq(&shown(&found));
    check(
        PROGRAM,
        &found,
        "Run the sessions concurrently",
        &uri,
        expect![[r#"
        use "./b.prose"
        use "./a.prose"
        input topic: "What about"
        parallel:
          facts = session "😀 Find {topic}"
          more = session "Find more of {topic}"
        output report = session "Write" -> session "Improve"
          context: { facts, more }
    "#]],
    );
    check(
        PROGRAM,
        &found,
        "Extract a block",
        &uri,
        expect![[r#"
            use "./b.prose"
            use "./a.prose"
            input topic: "What about"

            block new_block(topic):
              let facts = session "😀 Find {topic}"
              let more = session "Find more of {topic}"
              output { facts, more }

            let { facts, more } = do new_block(topic)
            output report = session "Write" -> session "Improve"
              context: { facts, more }
        "#]],
    );
    let chain = actions(&mut workspace, "main.prose", ((5, 24), (5, 24)), Some(&["refactor.rewrite"]));
    check(
        PROGRAM,
        &chain,
        "Convert the arrow chain",
        &uri,
        expect![[r#"
        use "./b.prose"
        use "./a.prose"
        input topic: "What about"
        let facts = session "😀 Find {topic}"
        let more = session "Find more of {topic}"
        session "Write"
        output report = session "Improve"
          context: { facts, more }
    "#]],
    );
    let none =
        actions(&mut workspace, "main.prose", ((3, 0), (5, 0)), Some(&["refactor.inline", "quickfix"]));
    assert_eq!(none, Vec::<Value>::new());

    let imports = actions(&mut workspace, "main.prose", ((0, 0), (0, 0)), Some(&["source.organizeImports"]));
    check(
        PROGRAM,
        &imports,
        "Organize imports",
        &uri,
        expect![[r#"
        use "./a.prose"
        use "./b.prose"
        input topic: "What about"
        let facts = session "😀 Find {topic}"
        let more = session "Find more of {topic}"
        output report = session "Write" -> session "Improve"
          context: { facts, more }
    "#]],
    );
    // What is about the whole document is not offered at a place.
    let all = actions(&mut workspace, "main.prose", ((0, 0), (0, 0)), None);
    assert!(!shown(&all).contains("source."), "{all:#?}");
    workspace.client.shut_down();
}

#[test]
fn programs_in_documents_are_refactored_where_they_are() {
    let text = "# Guide\n\n> ```prose\n> session \"a\"\n>   model: opus\n> ```\n\n```prose\nuse \"./b.prose\"\nuse \"./a.prose\"\nsession \"x\"\n```\n";
    let mut workspace =
        Workspace::new(&[("guide.md", text), ("a.prose", "session \"a\"\n"), ("b.prose", "session \"a\"\n")]);
    workspace.open_saved("guide.md");
    let uri = workspace.uri("guide.md");
    let found = actions(&mut workspace, "guide.md", ((3, 2), (4, 4)), Some(&["refactor"]));
    check(
        text,
        &found,
        "Surround with",
        &uri,
        expect![[r##"
        # Guide

        > ```prose
        > try:
        >   session "a"
        >     model: opus
        > catch as error:
        >   throw
        > ```

        ```prose
        use "./b.prose"
        use "./a.prose"
        session "x"
        ```
    "##]],
    );
    let imports = actions(&mut workspace, "guide.md", ((0, 0), (0, 0)), Some(&["source.organizeImports"]));
    assert_eq!(imports.len(), 1, "{imports:#?}");
    check(
        text,
        &imports,
        "Organize imports",
        &uri,
        expect![[r##"
        # Guide

        > ```prose
        > session "a"
        >   model: opus
        > ```

        ```prose
        use "./a.prose"
        use "./b.prose"
        session "x"
        ```
    "##]],
    );
    workspace.client.shut_down();
}

/// The line and the columns that the command of an action names, in the text after the action.
#[track_caller]
fn chosen<'a>(text: &'a str, action: &Value, uri: &str) -> &'a str {
    let command = &action["command"];
    assert_eq!(command["command"], "prose.rename", "{action:#}");
    let argument = &command["arguments"][0];
    assert_eq!(argument["uri"], uri);
    let place = |name: &str| argument["position"][name].as_u64().unwrap() as usize;
    let line = text.lines().nth(place("line")).unwrap();
    let before: usize = line
        .chars()
        .scan(place("character"), |left, char| {
            let goes_on = *left > 0;
            *left = left.saturating_sub(char.len_utf16());
            goes_on.then(|| char.len_utf8())
        })
        .sum();
    &line[before..]
}

#[test]
fn the_made_up_name_can_be_chosen_by_clients_that_ask_for_it() {
    let text = "# 😀\nsession \"x\"\nlet facts = session \"😀\"\nsession \"{facts}\"\n";
    let quoted = "- # Guide\n  > ```prose\n  > session \"😀\"\n  > session \"b\"\n  > ```\n";
    let files = [("main.prose", text), ("guide.md", quoted)];
    let capabilities = json!({ "experimental": { "proseRename": true } });
    let mut workspace = Workspace::with(capabilities, &files);
    for (name, places, title, expected) in [
        ("main.prose", ((2, 0), (3, 0)), "Extract a block", "new_block:"),
        ("main.prose", ((2, 22), (2, 22)), "Extract the prompt", "new_agent:"),
        ("main.prose", ((2, 0), (3, 0)), "Surround with", "error:"),
        ("guide.md", ((2, 4), (3, 0)), "Extract a block", "new_block:"),
        ("guide.md", ((3, 14), (3, 14)), "Extract the prompt", "new_agent:"),
        ("guide.md", ((2, 4), (4, 0)), "Surround with", "error:"),
    ] {
        workspace.open_saved(name);
        let uri = workspace.uri(name);
        let text = if name == "guide.md" { quoted } else { text };
        let found = actions(&mut workspace, name, places, None);
        let action = found.iter().find(|action| action["title"].as_str().unwrap().starts_with(title));
        let action = action.unwrap_or_else(|| panic!("{title}: {found:#?}"));
        let after = applied(text, &action["edit"]["changes"][&uri]);
        assert_eq!(chosen(&after, action, &uri), expected, "{title}\n{after}");
        // What makes no name has nothing to choose.
        let others = found.iter().filter(|action| action["title"] == "Convert to a triple-quoted string");
        assert!(others.into_iter().all(|action| action.get("command").is_none()));
        workspace.close(name);
    }
    workspace.client.shut_down();

    let mut workspace = Workspace::new(&files).opened("main.prose");
    let found = actions(&mut workspace, "main.prose", ((2, 0), (3, 0)), Some(&["refactor.extract"]));
    assert!(!found.is_empty() && found.iter().all(|action| action.get("command").is_none()), "{found:#?}");
    workspace.client.shut_down();
}

//! Files that are moved in an editor, over the wire.

use expect_test::{Expect, expect};
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

const FILES: &[(&str, &str)] = &[
    ("main.prose", "use \"./flows/find.prose\"\nlet a = find()\nsession \"Do\"\n  context: a\n"),
    ("flows/find.prose", "use \"./parts/read.prose\"\noutput found = read()\n"),
    ("flows/parts/read.prose", "output text = session \"Read\"\n"),
    ("docs/guide.md", "# 😀\n\n> ```prose\n> use \"../flows/find.prose\"\n> ```\n"),
    ("node_modules/a/main.prose", "use \"../../flows/find.prose\"\n"),
    (".prose/runs/1/program.prose", "use \"../../../flows/find.prose\"\n"),
    (".gitignore", "made\n"),
    ("made/main.prose", "use \"../flows/find.prose\"\n"),
    ("no.txt", "use \"./flows/find.prose\"\n"),
];

fn moves(workspace: &Workspace, moves: &[(&str, &str)]) -> Value {
    let moves =
        moves.iter().map(|(old, new)| json!({ "oldUri": workspace.uri(old), "newUri": workspace.uri(new) }));
    json!({ "files": moves.collect::<Vec<_>>() })
}

#[track_caller]
fn check(workspace: &mut Workspace, moved: &[(&str, &str)], expected: Expect) {
    let params = moves(workspace, moved);
    let edit = workspace.client.ask("workspace/willRenameFiles", params);
    let root = workspace.uri("");
    let mut shown = String::new();
    let documents = edit["documentChanges"].as_array().cloned().unwrap_or_default();
    for document in documents {
        let at = &document["textDocument"];
        let uri = at["uri"].as_str().unwrap().replace(&root, "");
        for edit in document["edits"].as_array().unwrap() {
            let (start, end) = (&edit["range"]["start"], &edit["range"]["end"]);
            assert_eq!(start["line"], end["line"]);
            shown += &format!(
                "{uri} (version {}) {}:{}-{} {}\n",
                at["version"], start["line"], start["character"], end["character"], edit["newText"]
            );
        }
    }
    if edit.is_null() {
        shown += "nothing\n";
    }
    expected.assert_eq(&shown);
}

fn workspace() -> Workspace {
    Workspace::with(json!({ "workspace": { "workspaceEdit": { "documentChanges": true } } }), FILES)
}

#[test]
fn programs_that_are_not_open_follow_what_is_moved() {
    let mut workspace = workspace();
    check(
        &mut workspace,
        &[("flows/find.prose", "found/search.prose")],
        expect![[r#"
        docs/guide.md (version null) 3:7-26 "../found/search.prose"
        flows/find.prose (version null) 0:5-23 "../flows/parts/read.prose"
        main.prose (version null) 0:5-23 "./found/search.prose"
    "#]],
    );
    check(
        &mut workspace,
        &[("flows", "work/flows")],
        expect![[r#"
        docs/guide.md (version null) 3:7-26 "../work/flows/find.prose"
        main.prose (version null) 0:5-23 "./work/flows/find.prose"
    "#]],
    );
    check(
        &mut workspace,
        &[("flows/parts", "parts"), ("main.prose", "flows/main.prose")],
        expect![[r#"
        flows/find.prose (version null) 0:5-23 "../parts/read.prose"
        main.prose (version null) 0:5-23 "./find.prose"
    "#]],
    );
    check(
        &mut workspace,
        &[("docs/guide.md", "guide.md")],
        expect![[r#"
        docs/guide.md (version null) 3:7-26 "./flows/find.prose"
    "#]],
    );
    check(
        &mut workspace,
        &[("no.txt", "yes.txt")],
        expect![[r#"
        nothing
    "#]],
    );
    workspace.client.shut_down();
}

#[test]
fn what_is_open_counts_as_it_is_edited() {
    let mut workspace = workspace();
    workspace.open("main.prose", "\n\nuse \"./flows/parts/read.prose\"\n");
    check(
        &mut workspace,
        &[("flows/parts/read.prose", "read.prose")],
        expect![[r#"
        flows/find.prose (version null) 0:5-23 "../read.prose"
        main.prose (version 1) 2:5-29 "./read.prose"
    "#]],
    );
    workspace.client.shut_down();
}

#[test]
fn what_was_moved_is_looked_for_where_it_is() {
    let mut workspace = workspace().opened("main.prose");
    assert_eq!(workspace.pushed("main.prose"), [""; 0]);
    std::fs::rename(workspace.folder.path().join("flows"), workspace.folder.path().join("work")).unwrap();
    let params = moves(&workspace, &[("flows", "work")]);
    workspace.client.notify("workspace/didRenameFiles", params);
    assert_eq!(workspace.pushed("main.prose"), ["E139"]);
    let text = FILES[0].1.replace("flows", "work");
    workspace.replace("main.prose", 2, &text);
    assert_eq!(workspace.pushed("main.prose"), [""; 0]);
    workspace.client.shut_down();
}

#[test]
fn a_client_without_versions_is_served_too_and_nonsense_is_refused() {
    let mut workspace = Workspace::with(json!({}), FILES);
    let params = moves(&workspace, &[("flows/find.prose", "find.prose")]);
    let edit = workspace.client.ask("workspace/willRenameFiles", params);
    assert_eq!(edit["changes"].as_object().unwrap().len(), 3, "{edit:#}");
    let answer = workspace.client.request("workspace/willRenameFiles", json!({ "files": 3 }));
    assert_eq!(answer["error"]["code"], -32602);
    let nowhere = json!({ "files": [{ "oldUri": "untitled:a", "newUri": "" }] });
    assert_eq!(workspace.client.request("workspace/willRenameFiles", nowhere)["result"], Value::Null);
    workspace.client.shut_down();
}

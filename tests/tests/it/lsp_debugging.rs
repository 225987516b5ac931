//! What the server tells those who look for a bug in it.

use expect_test::expect;
use prose_tests::lsp::LspClient;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

#[test]
fn the_trees_of_a_document_are_shown() {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.open("file:///guide.md", 3, "```prose\nsession \"one\"\n```\n\n```prose\nlet\n```\n");
    let trees = client.result("prose/syntaxTree", "file:///guide.md");
    assert_eq!(trees[0]["version"], 3);
    let shown = trees.as_array().unwrap().iter().map(|program| {
        format!("{}\n{}", program["program"].as_str().unwrap(), program["tree"].as_str().unwrap())
    });
    expect![[r#"
        file:///guide.md#1
        SOURCE_FILE@0..14
          SESSION@0..13
            SESSION_KW@0..7 "session"
            WHITESPACE@7..8 " "
            STRING@8..13
              QUOTE@8..9 "\""
              TEXT@9..12 "one"
              QUOTE@12..13 "\""
          NEWLINE@13..14 "\n"
        file:///guide.md#2
        SOURCE_FILE@0..4
          LET@0..3
            LET_KW@0..3 "let"
          NEWLINE@3..4 "\n"
    "#]]
    .assert_eq(&shown.collect::<String>());
    let unknown = client.request("prose/syntaxTree", json!({ "textDocument": { "uri": "file:///b.prose" } }));
    assert_eq!(unknown["error"]["code"], -32602);
    client.shut_down();
}

#[test]
fn the_state_of_the_server_is_shown() {
    let mut workspace = Workspace::with(
        json!({}),
        &[
            ("main.prose", "use \"./part.prose\"\nlet x = part()\nsession \"Do\"\n  context: x\n"),
            ("part.prose", "output found = session \"Find\"\n"),
            ("prose.toml", ""),
            ("guide.md", "```prose\nsession \"one\"\n```\n"),
        ],
    );
    for name in ["main.prose", "guide.md"] {
        workspace.open_saved(name);
    }
    let settings =
        json!({ "uri": workspace.uri("prose.toml"), "languageId": "toml", "version": 1, "text": "" });
    workspace.client.notify("textDocument/didOpen", json!({ "textDocument": settings }));
    // Answered when the folder has been looked through.
    workspace.client.request("workspace/symbol", json!({ "query": "" }));
    let mut status = workspace.client.request("prose/status", Value::Null)["result"].take();
    assert!(status["process"].take().as_u64() == Some(workspace.client.process_id().into()));
    assert_eq!(status["version"].take(), env!("CARGO_PKG_VERSION"));
    let root = workspace.uri("");
    let folder = root.trim_start_matches("file://").trim_end_matches('/');
    let shown = format!("{status:#}\n").replace(folder, "/flows");
    expect![[r#"
        {
          "documents": [
            {
              "bytes": 27,
              "kind": "markdown",
              "programs": 1,
              "uri": "file:///flows/guide.md",
              "version": 1
            },
            {
              "bytes": 60,
              "kind": "program",
              "programs": null,
              "uri": "file:///flows/main.prose",
              "version": 1
            },
            {
              "bytes": 0,
              "kind": "other",
              "programs": null,
              "uri": "file:///flows/prose.toml",
              "version": 1
            }
          ],
          "fetching": 0,
          "folders": [
            "/flows"
          ],
          "knownPrograms": 3,
          "pendingRequests": 0,
          "process": null,
          "scanning": false,
          "settings": [
            "/flows/prose.toml"
          ],
          "version": null,
          "workspacePrograms": 2
        }
    "#]]
    .assert_eq(&shown);
    for name in ["main.prose", "prose.toml", "guide.md"] {
        workspace.close(name);
    }
    let status = workspace.client.request("prose/status", Value::Null)["result"].take();
    assert_eq!((&status["documents"], &status["pendingRequests"]), (&json!([]), &json!(0)));
}

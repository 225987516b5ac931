//! Answers to an editor about a document, over the wire.

use expect_test::{Expect, expect};
use prose_tests::lsp::{LspClient, pretty, range};
use serde_json::{Value, json};

const URI: &str = "file:///program.prose";

#[track_caller]
fn check(answer: &Value, expected: Expect) {
    expected.assert_eq(&pretty(answer));
}

#[test]
fn the_server_introduces_itself() {
    let (client, answer) = LspClient::initialized(json!({}));
    assert_eq!(answer["serverInfo"], json!({ "name": "prose", "version": env!("CARGO_PKG_VERSION") }));
    check(
        &answer["capabilities"],
        expect![[r#"
            {
              "callHierarchyProvider": true,
              "codeActionProvider": {
                "codeActionKinds": [
                  "quickfix",
                  "refactor.extract",
                  "refactor.inline",
                  "refactor.rewrite",
                  "source.organizeImports",
                  "source.fixAll.prose"
                ]
              },
              "codeLensProvider": {"resolveProvider":true},
              "completionProvider": {"resolveProvider":true,"triggerCharacters":["{",".",":","\"","/"," ","(","[",",","|"]},
              "declarationProvider": true,
              "definitionProvider": true,
              "diagnosticProvider": {"identifier":"prose","interFileDependencies":true,"workspaceDiagnostics":true},
              "documentFormattingProvider": true,
              "documentHighlightProvider": true,
              "documentLinkProvider": {},
              "documentOnTypeFormattingProvider": {"firstTriggerCharacter":"\n","moreTriggerCharacter":[":"]},
              "documentRangeFormattingProvider": true,
              "documentSymbolProvider": true,
              "executeCommandProvider": {
                "commands": [
                  "prose.fetch",
                  "prose.pin",
                  "prose.run",
                  "prose.dryRun",
                  "prose.resume",
                  "prose.showError",
                  "prose.cancel",
                  "prose.pause",
                  "prose.continue",
                  "prose.skip",
                  "prose.retry",
                  "prose.fork",
                  "prose.planFork",
                  "prose.saveRun",
                  "prose.test",
                  "prose.stopTests"
                ]
              },
              "foldingRangeProvider": true,
              "hoverProvider": true,
              "implementationProvider": true,
              "inlayHintProvider": true,
              "inlineValueProvider": true,
              "linkedEditingRangeProvider": true,
              "positionEncoding": "utf-16",
              "referencesProvider": true,
              "renameProvider": {"prepareProvider":true},
              "selectionRangeProvider": true,
              "semanticTokensProvider": {
                "full": {"delta":true},
                "legend": {
                  "tokenModifiers": ["declaration","readonly","modification","persistent","unresolved"],
                  "tokenTypes": [
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
                    "escapeSequence",
                    "number",
                    "operator",
                    "comment"
                  ]
                },
                "range": true
              },
              "signatureHelpProvider": {"retriggerCharacters":[":",")"],"triggerCharacters":["(",","]},
              "textDocumentSync": {"change":2,"openClose":true,"save":true},
              "typeDefinitionProvider": true,
              "workspace": {
                "fileOperations": {
                  "didRename": {
                    "filters": [
                      {"pattern":{"glob":"**/*.{prose,md,markdown}","matches":"file"},"scheme":"file"},
                      {"pattern":{"glob":"**","matches":"folder"},"scheme":"file"}
                    ]
                  },
                  "willRename": {
                    "filters": [
                      {"pattern":{"glob":"**/*.{prose,md,markdown}","matches":"file"},"scheme":"file"},
                      {"pattern":{"glob":"**","matches":"folder"},"scheme":"file"}
                    ]
                  }
                },
                "workspaceFolders": {"changeNotifications":true,"supported":true}
              },
              "workspaceSymbolProvider": true
            }"#]],
    );
    client.shut_down();
}

#[test]
fn diagnostics_come_as_one_types_and_go_when_it_is_mended() {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.open(URI, 1, "session \"one\"\nsession \"abc\nsession \"two\"\n");
    let diagnostics = client.diagnostics(URI, 1);
    assert_eq!(diagnostics[0]["code"], "E001");
    assert_eq!(diagnostics[0]["range"], range((1, 8), (1, 12)));
    check(
        &diagnostics,
        expect![[r#"
        [
          {
            "code": "E001",
            "data": {
              "edits": [
                {
                  "newText": "\"",
                  "range": {"end":{"character":12,"line":1},"start":{"character":12,"line":1}}
                }
              ],
              "safety": "safe",
              "title": "Insert the closing `\"`"
            },
            "message": "unterminated string; expected a closing `\"`",
            "range": {"end":{"character":12,"line":1},"start":{"character":8,"line":1}},
            "severity": 1,
            "source": "prose"
          }
        ]"#]],
    );

    client.change(URI, 2, json!([{ "range": range((1, 12), (1, 12)), "text": "\"" }]));
    assert_eq!(client.diagnostics(URI, 2), json!([]));

    client.change(URI, 3, json!([{ "range": range((2, 12), (2, 13)), "text": "" }]));
    assert_eq!(client.diagnostics_after_pause(URI, 3)[0]["range"], range((2, 8), (2, 12)));
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    let withdrawn = client.wait_for(|message| message["params"].get("version").is_none());
    assert_eq!(withdrawn["params"], json!({ "uri": URI, "diagnostics": [] }));
    client.shut_down();
}

#[test]
fn an_editor_may_ask_for_diagnostics_instead() {
    let (mut client, _) = LspClient::initialized(json!({ "textDocument": { "diagnostic": {} } }));
    client.open(URI, 1, "session \"abc\n");
    let full = client.result("textDocument/diagnostic", URI);
    assert_eq!((&full["kind"], &full["items"][0]["code"]), (&json!("full"), &json!("E001")));

    let again = json!({ "textDocument": { "uri": URI }, "previousResultId": full["resultId"] });
    let unchanged = client.request("textDocument/diagnostic", again.clone());
    assert_eq!(unchanged["result"], json!({ "kind": "unchanged", "resultId": full["resultId"] }));

    client.change(URI, 2, json!([{ "range": range((0, 0), (0, 0)), "text": "\n" }]));
    let moved = client.request("textDocument/diagnostic", again);
    assert_eq!(moved["result"]["kind"], "full");
    assert_eq!(moved["result"]["items"][0]["range"], range((1, 8), (1, 12)));
    assert_eq!(client.take_kept(), [] as [Value; 0], "nothing is pushed to a client that asks");
    client.shut_down();
}

#[test]
fn columns_count_what_was_agreed_on() {
    for (encoding, end) in [("utf-8", 16), ("utf-16", 12), ("utf-32", 11)] {
        let (mut client, answer) =
            LspClient::initialized(json!({ "general": { "positionEncodings": [encoding] } }));
        assert_eq!(answer["capabilities"]["positionEncoding"], encoding);
        client.open(URI, 1, "session \"€😀\"");
        client.change(URI, 2, json!([{ "range": range((0, end), (0, end + 1)), "text": "" }]));
        assert_eq!(client.diagnostics_after_pause(URI, 2)[0]["range"], range((0, 8), (0, end)), "{encoding}");
        client.shut_down();
    }
}

const PROGRAM: &str = r#"# How to review
# a topic
input topic: "What to review"

agent reviewer:
  model: opus
  prompt: """
    You review.
  """

block review(text):
  let notes = session: reviewer
    prompt: "Review {text}"
  output notes

do review(topic)
"#;

#[test]
fn the_outline_nests() {
    let nested =
        json!({ "textDocument": { "documentSymbol": { "hierarchicalDocumentSymbolSupport": true } } });
    let (mut client, _) = LspClient::initialized(nested);
    client.open(URI, 1, PROGRAM);
    check(
        &client.result("textDocument/documentSymbol", URI),
        expect![[r#"
        [
          {
            "detail": "What to review",
            "kind": 7,
            "name": "topic",
            "range": {"end":{"character":29,"line":2},"start":{"character":0,"line":2}},
            "selectionRange": {"end":{"character":11,"line":2},"start":{"character":6,"line":2}}
          },
          {
            "detail": "opus",
            "kind": 5,
            "name": "reviewer",
            "range": {"end":{"character":5,"line":8},"start":{"character":0,"line":4}},
            "selectionRange": {"end":{"character":14,"line":4},"start":{"character":6,"line":4}}
          },
          {
            "children": [
              {
                "detail": "session: reviewer",
                "kind": 13,
                "name": "notes",
                "range": {"end":{"character":27,"line":12},"start":{"character":2,"line":11}},
                "selectionRange": {"end":{"character":11,"line":11},"start":{"character":6,"line":11}}
              },
              {
                "detail": "notes",
                "kind": 8,
                "name": "output",
                "range": {"end":{"character":14,"line":13},"start":{"character":2,"line":13}},
                "selectionRange": {"end":{"character":14,"line":13},"start":{"character":2,"line":13}}
              }
            ],
            "detail": "(text)",
            "kind": 12,
            "name": "review",
            "range": {"end":{"character":14,"line":13},"start":{"character":0,"line":10}},
            "selectionRange": {"end":{"character":12,"line":10},"start":{"character":6,"line":10}}
          }
        ]"#]],
    );
    client.shut_down();
}

#[test]
fn the_outline_is_flat_for_an_editor_without_support_for_trees() {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.open(URI, 1, PROGRAM);
    let symbols = client.result("textDocument/documentSymbol", URI);
    let list: Vec<_> = symbols
        .as_array()
        .unwrap()
        .iter()
        .map(|symbol| (&symbol["name"], &symbol["containerName"]))
        .collect();
    check(
        &json!(list),
        expect![[
            r#"[["topic",null],["reviewer",null],["review",null],["notes","review"],["output","review"]]"#
        ]],
    );
    client.shut_down();
}

#[test]
fn whole_lines_fold() {
    let (mut client, _) =
        LspClient::initialized(json!({ "textDocument": { "foldingRange": { "lineFoldingOnly": true } } }));
    client.open(URI, 1, PROGRAM);
    let folds = client.result("textDocument/foldingRange", URI);
    let folds: Vec<_> = folds
        .as_array()
        .unwrap()
        .iter()
        .map(|fold| format!("{}-{} {}", fold["startLine"], fold["endLine"], fold["kind"]))
        .collect();
    check(&json!(folds), expect![[r#"["0-1 \"comment\"","4-8 null","6-7 null","10-13 null","11-12 null"]"#]]);
    client.shut_down();
}

#[test]
fn selections_grow() {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.open(URI, 1, PROGRAM);
    let positions = json!([{ "line": 12, "character": 14 }, { "line": 99, "character": 99 }]);
    let answer = client.request(
        "textDocument/selectionRange",
        json!({ "textDocument": { "uri": URI }, "positions": positions }),
    );
    let mut grown = vec![];
    for range in answer["result"].as_array().unwrap() {
        let mut range = Some(range);
        while let Some(here) = range {
            let place = |at: &Value| format!("{}:{}", at["line"], at["character"]);
            grown.push(format!("{} to {}", place(&here["range"]["start"]), place(&here["range"]["end"])));
            range = here.get("parent");
        }
    }
    check(
        &json!(grown),
        expect![[r#"
        [
          "12:13 to 12:19",
          "12:13 to 12:26",
          "12:12 to 12:27",
          "12:4 to 12:27",
          "11:14 to 12:27",
          "11:2 to 12:27",
          "11:2 to 13:14",
          "10:0 to 13:14",
          "0:0 to 16:0",
          "0:0 to 16:0"
        ]"#]],
    );
    client.shut_down();
}

//! Every request of LSP 3.17, asked with what three editors say they can, and the page that tells what is answered.

use std::fs;

use prose_fixture::check_page;
use prose_tests::lsp::range;
use prose_tests::repository;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

const EDITORS: [&str; 3] = ["vscode", "neovim", "helix"];

/// The method of a request, what the answer is or why there is none, and the parameters in the workspace below.
type Row = (&'static str, &'static str, fn(&mut Workspace) -> Value);

/// Where something stands in [`MAIN`]: the line and the column of the first `mark`, in a text without anything but ASCII.
fn place(mark: &str) -> (usize, usize) {
    let at = MAIN.find(mark).unwrap();
    let line = MAIN[..at].matches('\n').count();
    (line, at - MAIN[..at].rfind('\n').map_or(0, |start| start + 1))
}

fn document(workspace: &mut Workspace) -> Value {
    json!({ "textDocument": { "uri": workspace.uri("main.prose") } })
}

fn with(workspace: &mut Workspace, more: Value) -> Value {
    let mut params = document(workspace);
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

/// A place `right` of where something stands.
fn at(workspace: &mut Workspace, mark: &str, right: usize) -> Value {
    let (line, column) = place(mark);
    with(workspace, json!({ "position": { "line": line, "character": column + right } }))
}

fn whole(workspace: &mut Workspace, more: Value) -> Value {
    let mut params = with(workspace, more);
    params["range"] = range((0, 0), (99, 0));
    params
}

fn item(workspace: &mut Workspace, prepare: &str, mark: &str) -> Value {
    let params = at(workspace, mark, 0);
    let items = workspace.client.request(prepare, params)["result"].take();
    json!({ "item": items.get(0) })
}

const MAIN: &str = r#"use "./part.prose"

# How to write
agent writer:
  model: opus
  prompt: "You write."

input topic: "What about"

block draft(text):
  let notes = session: writer
    prompt: "Draft {text}"
  output notes

let page = part(topic: topic)
do draft(page)
output found = session   "Say {topic}"
session "open
"#;

const PART: &str = "input topic: \"What about\"\noutput found = session \"Find {topic}\"\n";

const ROWS: &[Row] = &[
    ("textDocument/declaration", "the `input`, `agent`, `block` or binding", |w| {
        at(w, "writer\n    prompt", 1)
    }),
    (
        "textDocument/definition",
        "agents, blocks, variables, inputs and outputs, imported programs, `{names}` in texts",
        |w| at(w, "writer\n    prompt", 1),
    ),
    ("textDocument/typeDefinition", "from a session or its result to its agent", |w| at(w, "notes\n", 1)),
    ("textDocument/implementation", "from an output to the statement that makes it", |w| {
        at(w, "found = session", 1)
    }),
    ("textDocument/references", "in all programs of the workspace and their imports", |w| {
        let mut params = at(w, "topic:", 1);
        params["context"] = json!({ "includeDeclaration": true });
        params
    }),
    ("textDocument/prepareCallHierarchy", "blocks and programs", |w| at(w, "draft(text", 1)),
    ("callHierarchy/incomingCalls", "callers of a block or a program", |w| {
        item(w, "textDocument/prepareCallHierarchy", "draft(text")
    }),
    ("callHierarchy/outgoingCalls", "blocks and programs that a block or a program calls", |w| {
        item(w, "textDocument/prepareCallHierarchy", "draft(text")
    }),
    ("textDocument/prepareTypeHierarchy", "agents have no supertypes or subtypes", |w| at(w, "writer:", 1)),
    ("typeHierarchy/supertypes", "agents have no supertypes or subtypes", |_| json!({ "item": null })),
    ("typeHierarchy/subtypes", "agents have no supertypes or subtypes", |_| json!({ "item": null })),
    ("textDocument/documentHighlight", "reads and writes of a name", |w| at(w, "notes =", 1)),
    ("textDocument/documentLink", "paths of `use`, skills in folders, addresses", document),
    ("documentLink/resolve", "links are sent complete", |_| json!({})),
    ("textDocument/hover", "names, keywords, properties, imports, codes in ignore comments", |w| {
        at(w, "writer:", 1)
    }),
    ("textDocument/codeLens", "run, dry run, stop and resume; parts, outputs, references", document),
    ("codeLens/resolve", "numbers of references, estimates", |_| json!({})),
    ("textDocument/foldingRange", "blocks, prompts, comments, regions", document),
    ("textDocument/selectionRange", "by syntax, with texts and interpolations", |w| {
        with(w, json!({ "positions": [{ "line": 3, "character": 8 }] }))
    }),
    ("textDocument/documentSymbol", "a tree, or a list for clients without hierarchical symbols", document),
    ("textDocument/semanticTokens/full", "names by kind, and texts", document),
    ("textDocument/semanticTokens/full/delta", "the changes after an edit", |w| {
        let params = document(w);
        let full = w.client.request("textDocument/semanticTokens/full", params)["result"].take();
        with(w, json!({ "previousResultId": full["resultId"].as_str().unwrap_or("none") }))
    }),
    ("textDocument/semanticTokens/range", "the tokens of a range", |w| whole(w, json!({}))),
    ("textDocument/inlineValue", "the variables in a range, for debuggers", |w| {
        whole(w, json!({ "context": { "frameId": 0, "stoppedLocation": range((0, 0), (0, 0)) } }))
    }),
    (
        "textDocument/inlayHint",
        "models of sessions, parameter names, inputs and outputs of imports, limits of loops, results of statements",
        |w| whole(w, json!({})),
    ),
    ("inlayHint/resolve", "hints are sent complete", |_| json!({})),
    (
        "textDocument/linkedEditingRange",
        "a variable and its uses, if renaming it changes nothing else",
        |w| at(w, "notes =", 1),
    ),
    ("textDocument/moniker", "programs have no index of symbols across repositories", |w| {
        at(w, "writer:", 1)
    }),
    ("textDocument/completion", "names, properties, values, paths, named arguments, outputs", |w| {
        at(w, "opus", 0)
    }),
    ("completionItem/resolve", "the documentation of an item", |_| json!({ "label": "a" })),
    (
        "textDocument/diagnostic",
        "the diagnostics of `prose check`; pushed to clients without pull diagnostics",
        document,
    ),
    (
        "workspace/diagnostic",
        "the diagnostics of workspace programs that are not open; a long poll",
        |_| json!({ "previousResultIds": [] }),
    ),
    ("textDocument/signatureHelp", "the parameters of a block, the inputs of a program", |w| {
        at(w, "page)", 0)
    }),
    (
        "textDocument/codeAction",
        "fixes, all safe fixes at once, [refactorings](refactoring.md), fetching and pinning of imports",
        |w| {
            let mut params = whole(w, json!({ "context": { "diagnostics": [] } }));
            params["range"] = range(place("\"open"), place("\"open"));
            params
        },
    ),
    ("codeAction/resolve", "actions are sent complete", |_| json!({ "title": "a" })),
    ("textDocument/documentColor", "programs have no colours", document),
    ("textDocument/colorPresentation", "programs have no colours", |w| {
        whole(w, json!({ "color": { "red": 0, "green": 0, "blue": 0, "alpha": 0 } }))
    }),
    ("textDocument/formatting", "[formats](formatting.md) the document", |w| {
        with(w, json!({ "options": { "tabSize": 4, "insertSpaces": true } }))
    }),
    ("textDocument/rangeFormatting", "formats the selected statements", |w| {
        whole(w, json!({ "options": { "tabSize": 4, "insertSpaces": true } }))
    }),
    ("textDocument/onTypeFormatting", "indents after `:`, and dedents `else:` and similar lines", |w| {
        let mut params = at(w, "let notes", 0);
        params["ch"] = json!("\n");
        params["options"] = json!({ "tabSize": 4, "insertSpaces": true });
        params
    }),
    (
        "textDocument/rename",
        "renames in all programs, or reports why the rename would change their behaviour",
        |w| {
            let mut params = at(w, "notes =", 1);
            params["newName"] = json!("remarks");
            params
        },
    ),
    ("textDocument/prepareRename", "the range and the name to rename", |w| at(w, "notes =", 1)),
    (
        "textDocument/willSaveWaitUntil",
        "editors format and fix on save with formatting and code actions",
        |w| with(w, json!({ "reason": 1 })),
    ),
    (
        "workspace/symbol",
        "agents, blocks, variables, inputs and outputs of all programs, by fuzzy match",
        |_| json!({ "query": "writ" }),
    ),
    ("workspaceSymbol/resolve", "symbols are sent complete", |_| json!({})),
    (
        "workspace/executeCommand",
        "[runs](editor-commands.md), fetching and pinning",
        |w| json!({ "command": "prose.showError", "arguments": [{ "uri": w.uri("main.prose") }] }),
    ),
    (
        "workspace/willCreateFiles",
        "no program depends on new files",
        |w| json!({ "files": [{ "uri": w.uri("new.prose") }] }),
    ),
    (
        "workspace/willRenameFiles",
        "updates the `use` paths in all programs",
        |w| json!({ "files": [{ "oldUri": w.uri("part.prose"), "newUri": w.uri("piece.prose") }] }),
    ),
    (
        "workspace/willDeleteFiles",
        "imports of deleted files have a diagnostic",
        |w| json!({ "files": [{ "uri": w.uri("part.prose") }] }),
    ),
];

/// The requests that the server sends to clients with the capability.
const ASKED: &[(&str, &str)] = &[
    ("client/registerCapability", "to watch programs and settings on disk"),
    ("client/unregisterCapability", ""),
    ("window/showDocument", "shows the first error of a program that cannot run"),
    ("window/showMessageRequest", "asks whether an agent may use a tool"),
    (
        "window/workDoneProgress/create",
        "runs, fetches of imported programs, and the first scan of the workspace",
    ),
    ("workspace/applyEdit", ""),
    ("workspace/codeLens/refresh", "when a run starts or ends"),
    ("workspace/configuration", ""),
    (
        "workspace/diagnostic/refresh",
        "when an imported program or a setting changes, and after a pause in typing",
    ),
    ("workspace/inlayHint/refresh", "while programs run"),
    ("workspace/inlineValue/refresh", ""),
    ("workspace/semanticTokens/refresh", ""),
    ("workspace/workspaceFolders", ""),
];

fn workspace(editor: &str) -> Workspace {
    let path = repository().join("tests/capabilities").join(format!("{editor}.json"));
    let capabilities = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut workspace = Workspace::with(capabilities, &[("main.prose", MAIN), ("part.prose", PART)]);
    workspace.open_saved("main.prose");
    workspace
}

/// Whether a request is answered at all. What is answered has to be good.
fn is_answered(editor: &str, (method, _, params): &Row, workspace: &mut Workspace) -> bool {
    const METHOD_NOT_FOUND: i64 = -32601;
    let params = params(workspace);
    let answer = workspace.client.request(method, params);
    if answer["error"]["code"] == METHOD_NOT_FOUND {
        return false;
    }
    assert_eq!(answer.get("error"), None, "{method} with the capabilities of {editor}");
    let result = &answer["result"];
    // A command need give nothing, and the text is indented as it should be.
    let may_be_empty = ["workspace/executeCommand", "textDocument/onTypeFormatting"].contains(method);
    let is_empty = result.is_null() || result.as_array().is_some_and(Vec::is_empty);
    assert!(
        may_be_empty || !is_empty || *method == "callHierarchy/outgoingCalls",
        "{method} with the capabilities of {editor}: {answer}"
    );
    true
}

#[test]
fn the_page_of_features_lists_what_is_answered() {
    let mut page = String::from(
        "# Requests of the Language Server Protocol\n\n\
         <!-- Made by a test that asks the server: UPDATE_EXPECT=1 cargo test -p prose-tests --test it lsp_table -->\n\n\
         Every request of version 3.17, and whether `prose lsp` supports it. Each is tested with the capabilities of Visual Studio Code, Neovim and Helix.\n\n\
         | request | supported | |\n|---|---|---|\n\
         | `initialize`, `shutdown` | yes | start and end of a session |\n",
    );
    let mut workspaces = EDITORS.map(|editor| (editor, workspace(editor)));
    for row in ROWS {
        let answered = workspaces.each_mut().map(|(editor, workspace)| is_answered(editor, row, workspace));
        let (method, says, _) = row;
        assert!(answered.iter().all(|other| *other == answered[0]), "{method} depends on the editor");
        let answered = if answered[0] { "yes" } else { "no" };
        page += &format!("| `{method}` | {answered} | {says} |\n");
    }
    for (_, workspace) in workspaces {
        workspace.client.shut_down();
    }
    page += "\nThe server sends these requests to clients that support them:\n\n| request | |\n|---|---|\n";
    for (method, when) in ASKED {
        let when = if when.is_empty() { "never" } else { when };
        page += &format!("| `{method}` | {when} |\n");
    }
    page += "\n`prose lsp` also has [requests of its own](editor-commands.md).\n";
    check_page("docs/features.md", &page, "-p prose-tests --test it lsp_table");
}

#[test]
fn the_server_asks_for_what_the_page_says() {
    let folder = repository().join("crates/prose-lsp/src");
    let mut folders = vec![folder];
    let mut source = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => source += &fs::read_to_string(path).unwrap(),
            }
        }
    }
    for (method, when) in ASKED {
        assert_eq!(source.contains(&format!("\"{method}\"")), !when.is_empty(), "{method}");
    }
}

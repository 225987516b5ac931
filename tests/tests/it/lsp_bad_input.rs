//! Clients that break the rules: each mistake has its answer or its line in the log, and the next request is served as if nothing
//! had happened.

use prose_tests::lsp::{LspClient, range};
use prose_tests::repository;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

const URI: &str = "file:///program.prose";

/// Has `misbehave` do its worst to a server with an open document, and checks that the server is as good as before. Gives what it
/// wrote to standard error.
#[track_caller]
fn survives(misbehave: impl FnOnce(&mut LspClient)) -> String {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.open(URI, 1, "let kept = session \"abc\n");
    misbehave(&mut client);
    let symbols = client.result("textDocument/documentSymbol", URI);
    assert_eq!(symbols[0]["name"], "kept");
    assert_eq!(client.diagnostics(URI, 1)[0]["code"], "E001");
    let ended = client.shut_down();
    assert_eq!(ended.status.code(), Some(0));
    ended.stderr
}

/// Sends bytes that are no message and gives the code of the error that they are answered with.
#[track_caller]
fn code_for(bytes: &[u8], id: Value) -> Value {
    let mut code = Value::Null;
    survives(|client| {
        client.send_bytes(bytes);
        code = client.answer(&id)["error"]["code"].clone();
    });
    code
}

fn framed(body: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn bad_headers() {
    assert_eq!(code_for(b"GET / HTTP/1.1\r\n\r\n", Value::Null), -32700);
    assert_eq!(code_for(b"\r\n", Value::Null), -32700);
    assert_eq!(code_for(b"\0\0\0\xff\xfe\n", Value::Null), -32700);
    assert_eq!(code_for(b"Content-Length: twelve\r\n\r\n", Value::Null), -32700);
    assert_eq!(code_for(b"Content-Length: 18446744073709551615\r\n\r\n{}", Value::Null), -32700);
}

#[test]
fn bad_json() {
    assert_eq!(code_for(&framed("{\"jsonrpc\": \"2.0\", "), Value::Null), -32700);
    assert_eq!(code_for(&framed("\u{feff}{}"), Value::Null), -32700);
    assert_eq!(code_for(b"Content-Length: 4\r\n\r\n\"\xff\xff\"", Value::Null), -32700);
    let nested = "[".repeat(200_000);
    assert_eq!(code_for(&framed(&nested), Value::Null), -32700);
}

#[test]
fn bad_messages() {
    assert_eq!(code_for(&framed("{}"), Value::Null), -32600);
    assert_eq!(code_for(&framed("[]"), Value::Null), -32600);
    assert_eq!(code_for(&framed(r#"{"id": 77, "method": "shutdown"}"#), json!(77)), -32600);
    assert_eq!(code_for(&framed(r#"{"jsonrpc": "2.0", "id": 77, "method": 3}"#), json!(77)), -32600);
    assert_eq!(code_for(&framed(r#"{"jsonrpc": "2.0", "id": 77, "method": "no/such"}"#), json!(77)), -32601);
    let params = r#"{"jsonrpc": "2.0", "id": 77, "method": "textDocument/foldingRange", "params": [1]}"#;
    assert_eq!(code_for(&framed(params), json!(77)), -32602);
}

#[test]
fn answers_to_no_question_are_ignored() {
    survives(|client| {
        client.send_bytes(&framed(r#"{"jsonrpc": "2.0", "id": 1, "result": null}"#));
        client.send_bytes(&framed(r#"{"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "m"}}"#));
    });
}

#[test]
fn documents_that_are_not_open() {
    let log = survives(|client| {
        let other = "file:///other.prose";
        client.change(other, 2, json!([{ "text": "" }]));
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": other } }));
        for method in ["documentSymbol", "foldingRange", "diagnostic"] {
            let answer = client
                .request(&format!("textDocument/{method}"), json!({ "textDocument": { "uri": other } }));
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
    });
    assert!(
        log.contains("a change of file:///other.prose is ignored because the document is not open"),
        "{log}"
    );
    assert!(log.contains("file:///other.prose was closed but is not open"), "{log}");
}

#[test]
fn notifications_with_wrong_parameters() {
    let log = survives(|client| {
        client.notify("textDocument/didOpen", json!({ "textDocument": { "uri": 3 } }));
        client.notify("textDocument/didChange", json!(null));
        let negative = json!([{ "range": { "start": { "line": -1, "character": 0 } }, "text": "" }]);
        client.change(URI, 2, negative);
    });
    assert_eq!(log.matches("is ignored because its parameters are wrong").count(), 3, "{log}");
}

#[test]
fn positions_out_of_range() {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.open(URI, 1, "let a = session \"😀\"\r\n");
    client.change(URI, 2, json!([{ "range": range((7, 7), (4_294_967_295, 3)), "text": "let b = 1" }]));
    client.change(URI, 3, json!([{ "range": range((0, 18), (0, 18)), "text": "x" }]));
    client.change(URI, 4, json!([{ "range": range((0, 999), (0, 21)), "text": " # end" }]));
    let positions = json!([{ "line": 4_294_967_295_u32, "character": 4_294_967_295_u32 }]);
    let params = json!({ "textDocument": { "uri": URI }, "positions": positions });
    assert_eq!(client.request("textDocument/selectionRange", params)["error"], Value::Null);
    let folds = json!({ "textDocument": { "uri": URI }, "range": range((9, 9), (1, 1)) });
    assert_eq!(client.request("textDocument/foldingRange", folds)["error"], Value::Null);

    let symbols = client.result("textDocument/documentSymbol", URI);
    let places: Vec<_> = symbols
        .as_array()
        .unwrap()
        .iter()
        .map(|symbol| (&symbol["name"], &symbol["location"]["range"]))
        .collect();
    assert_eq!(json!(places), json!([["a", range((0, 0), (0, 21))], ["b", range((1, 0), (1, 9))]]),);
    client.shut_down();
}

#[test]
fn versions_that_do_not_grow_and_documents_opened_twice_lose_nothing() {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.open(URI, 5, "let a = 1\n");
    client.change(URI, 5, json!([{ "range": range((1, 0), (1, 0)), "text": "let b = 2\n" }]));
    client.change(URI, 2, json!([{ "range": range((2, 0), (2, 0)), "text": "let c = 3\n" }]));
    assert_eq!(client.result("textDocument/documentSymbol", URI).as_array().map(Vec::len), Some(3));
    client.open(URI, 1, "let d = 4\n");
    assert_eq!(client.result("textDocument/documentSymbol", URI)[0]["name"], "d");
    let log = client.shut_down().stderr;
    assert!(log.contains("file:///program.prose went from version 5 to 2; versions must increase"), "{log}");
    assert!(log.contains("file:///program.prose was opened twice"), "{log}");
}

#[test]
fn the_rules_of_the_session() {
    let mut client = LspClient::start(&[]);
    client.open(URI, 1, "too early");
    assert_eq!(client.request("textDocument/documentSymbol", json!({}))["error"]["code"], -32002);
    assert_eq!(client.request("initialize", json!("hello"))["error"]["code"], -32602);
    assert_eq!(client.request("initialize", json!({ "capabilities": {} }))["error"], Value::Null);
    assert_eq!(client.request("initialize", json!({ "capabilities": {} }))["error"]["code"], -32600);
    assert_eq!(client.request("shutdown", Value::Null)["result"], Value::Null);
    assert_eq!(client.request("textDocument/documentSymbol", json!({}))["error"]["code"], -32600);
    client.notify("exit", Value::Null);
    let ended = client.wait_for_end();
    assert_eq!(ended.status.code(), Some(0));
    assert!(ended.stderr.contains("`textDocument/didOpen` is ignored"), "{}", ended.stderr);
}

/// The requests about a document that the page of features says are answered.
fn document_requests() -> Vec<String> {
    let page = std::fs::read_to_string(repository().join("docs/features.md")).unwrap();
    let rows = page.lines().filter(|row| row.contains("` | yes |"));
    let methods = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
    let methods: Vec<_> =
        methods.filter(|method| method.starts_with("textDocument/")).map(str::to_owned).collect();
    assert!(methods.len() > 25, "{methods:?}");
    methods
}

/// Parameters that every one of these requests finds what it needs in.
fn anything_at(uri: &str, (line, character): (u64, u64)) -> Value {
    let position = json!({ "line": line, "character": character });
    // It ends before it starts.
    let range = json!({ "start": position, "end": { "line": 0, "character": 3 } });
    json!({
        "textDocument": { "uri": uri },
        "position": position,
        "positions": [position],
        "range": range,
        "context": { "includeDeclaration": true, "diagnostics": [], "frameId": 1, "stoppedLocation": range },
        "options": { "tabSize": 2, "insertSpaces": true },
        "previousResultId": "of nothing",
        "newName": "other",
        "ch": "\n",
    })
}

/// A request that is refused is one that has to say why nothing can be renamed.
#[track_caller]
fn is_served(client: &mut LspClient, method: &str, params: Value) {
    let answer = client.request(method, params);
    let is_refused = method.ends_with("ename") && answer["error"]["code"] == -32803;
    assert!(is_refused || answer.get("error").is_none(), "{method}: {answer}");
}

const PROGRAM: &str = "use \"./lib.prose\" as lib\nblock b(x):\n  do b(x)\nlet found = lib(topic: \"😀 {nobody}\")\nsession \"{found}\"\n  pro";

#[test]
fn every_request_about_a_document_that_is_not_open_is_refused() {
    survives(|client| {
        let closed = "file:///closed.prose";
        client.open(closed, 1, "let a = 1\n");
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": closed } }));
        for method in document_requests() {
            // Clients show errors to people, who have only closed a document.
            is_served(client, &method, anything_at(closed, (0, 4)));
        }
        for uri in ["file:///unknown.prose", "untitled:Untitled-1", "https://example.com/a.prose"] {
            for method in document_requests() {
                let error = client.request(&method, anything_at(uri, (0, 4)))["error"].take();
                assert_eq!(error["code"], -32602, "{method} about {uri}: {error}");
                assert!(error["message"].as_str().unwrap().contains("is not open"), "{method}: {error}");
            }
        }
    });
}

#[test]
fn every_request_at_a_place_that_is_not_there_is_served() {
    survives(|client| {
        client.open("file:///main.prose", 1, PROGRAM);
        let far = u64::from(u32::MAX);
        // The third one is in the middle of a character.
        for place in [(far, far), (0, 9999), (3, 25), (6, 0), (99, 1)] {
            for method in document_requests() {
                is_served(client, &method, anything_at("file:///main.prose", place));
            }
        }
    });
}

#[test]
fn every_request_about_a_file_that_is_gone_is_served() {
    let files = [("main.prose", PROGRAM), ("lib.prose", "input topic: \"a\"\n")];
    let mut workspace = Workspace::new(&files).opened("main.prose");
    let params = anything_at(&workspace.uri("lib.prose"), (0, 7));
    let item = |workspace: &mut Workspace| {
        workspace.at("textDocument/prepareCallHierarchy", "main.prose", (0, 23))[0].take()
    };
    let library = item(&mut workspace);
    assert_eq!(library["name"], "lib.prose");
    // Nobody says that they are gone, and then somebody does.
    std::fs::remove_file(workspace.folder.path().join("main.prose")).unwrap();
    for is_told in [false, true] {
        if is_told {
            workspace.remove_watched("lib.prose");
        }
        for place in [(0, 6), (3, 14), (3, 18), (4, 12), (5, 5)] {
            for method in document_requests() {
                let params = anything_at(&workspace.uri("main.prose"), place);
                is_served(&mut workspace.client, &method, params);
            }
        }
        for method in ["callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"] {
            is_served(&mut workspace.client, method, json!({ "item": library }));
        }
    }
    assert!(workspace.pulled("main.prose").contains(&"E139".to_owned()));
    assert_eq!(workspace.client.request("textDocument/hover", params)["error"]["code"], -32602);
    workspace.client.shut_down();
}

#[test]
fn what_is_left_of_an_earlier_version_is_served() {
    survives(|client| {
        let uri = "file:///main.prose";
        client.open(uri, 1, PROGRAM);
        let at = |line, character| anything_at(uri, (line, character));
        let item = client.request("textDocument/prepareCallHierarchy", at(1, 6))["result"][0].take();
        assert_eq!(item["name"], "b");
        let completion = client.request("textDocument/completion", at(5, 5))["result"]["items"][0].take();
        let tokens = client.request("textDocument/semanticTokens/full", at(0, 0))["result"].take();
        client.change(uri, 2, json!([{ "text": "let a = 1\n" }]));

        for method in ["callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"] {
            assert_eq!(client.request(method, json!({ "item": item }))["result"], json!([]));
        }
        let resolved = client.request("completionItem/resolve", completion.clone());
        assert_eq!(resolved["result"]["label"], completion["label"]);
        let mut since = at(0, 0);
        since["previousResultId"] = tokens["resultId"].clone();
        let delta = client.request("textDocument/semanticTokens/full/delta", since);
        assert!(delta["result"]["edits"].is_array(), "{delta}");
        let all = client.request("textDocument/semanticTokens/full/delta", at(0, 0));
        assert!(all["result"]["data"].is_array(), "{all}");
        for place in [(1, 6), (5, 5)] {
            for method in document_requests() {
                is_served(client, &method, anything_at(uri, place));
            }
        }
    });
}

#[test]
fn a_client_that_can_nothing_is_given_what_every_client_understands() {
    let mut workspace = Workspace::new(&[
        ("main.prose", "use \"./lib.prose\" as lib\nlet found = lib(topic: 1)\nsession \"{found}\"\n  pro\n"),
        ("lib.prose", "# Finds *it*.\ninput topic: \"What about\"\noutput found = session \"{topic}\"\n"),
    ]);
    workspace.open_saved("main.prose");
    let definition = workspace.at("textDocument/definition", "main.prose", (1, 13));
    assert_eq!(definition[0]["uri"], workspace.uri("lib.prose"), "no link: {definition}");
    let hover = workspace.at("textDocument/hover", "main.prose", (1, 13));
    let expected = json!({
        "kind": "plaintext",
        "value": format!(
            "use \"./lib.prose\" as lib\n\n{}\n\nFinds *it*.\n\nInputs:\n- topic: What about\n\nOutputs:\n- found",
            workspace.folder.path().canonicalize().unwrap().join("lib.prose").display()
        ),
    });
    assert_eq!(hover["contents"], expected);
    let completions = workspace.at("textDocument/completion", "main.prose", (3, 5));
    for item in completions["items"].as_array().unwrap() {
        assert_eq!(item.get("insertTextFormat"), None, "no snippet: {item}");
        assert_eq!(item["documentation"]["kind"], "plaintext", "{item}");
        assert!(!item["documentation"]["value"].as_str().unwrap().contains('`'), "{item}");
    }
    let help = workspace.at("textDocument/signatureHelp", "main.prose", (1, 16));
    let signature = &help["signatures"][0];
    assert_eq!(signature["documentation"], json!({ "kind": "plaintext", "value": "Finds *it*." }));
    assert_eq!(signature["parameters"][0]["label"], "topic");
    let symbols = workspace.client.result("textDocument/documentSymbol", &workspace.uri("main.prose"));
    assert!(symbols[0]["location"].is_object(), "a list: {symbols}");
    let params = anything_at(&workspace.uri("main.prose"), (1, 4));
    let edit = workspace.client.request("textDocument/rename", params);
    assert!(edit["result"]["changes"].is_object(), "no versions: {edit}");
    for method in document_requests() {
        let params = anything_at(&workspace.uri("main.prose"), (1, 13));
        is_served(&mut workspace.client, &method, params);
    }
    workspace.client.shut_down();
}

#[test]
fn a_rename_to_what_is_no_name_is_refused_with_the_reason() {
    survives(|client| {
        client.open("file:///main.prose", 1, PROGRAM);
        let long = "a b".repeat(10_000);
        for name in ["", " ", "two words", "3rd", "a.b", "{found}", "-a", "a\nb", "\u{0}", "😀", &long] {
            let mut params = anything_at("file:///main.prose", (3, 5));
            params["newName"] = json!(name);
            let error = client.request("textDocument/rename", params)["error"].take();
            assert_eq!(error["code"], -32803, "{name:?}");
            assert!(error["message"].as_str().unwrap().contains("is not a valid name"), "{error}");
        }
        let mut params = anything_at("file:///main.prose", (3, 5));
        params["newName"] = json!(3);
        assert_eq!(client.request("textDocument/rename", params)["error"]["code"], -32602);
    });
}

/// Settings, imports and programs of the workspace that are pipes without a writer, and those without an end.
#[test]
#[cfg(unix)]
fn pipes_and_endless_files_keep_nobody_waiting() {
    let mut workspace = Workspace::new(&[]);
    let path = |name: &str| workspace.folder.path().join(name);
    for name in ["prose.toml", "prose.lock", "pipe.prose", "found.prose"] {
        assert!(std::process::Command::new("mkfifo").arg(path(name)).status().unwrap().success());
    }
    std::fs::File::create(path("endless.prose")).unwrap().set_len(1 << 40).unwrap();
    // It looks through the folder once more.
    workspace.restart();
    workspace.open("main.prose", "use \"./pipe.prose\" as a\nuse \"./endless.prose\" as b\na()\nb()\n");
    let pushed = workspace.pushed_whole("main.prose")["diagnostics"].to_string();
    assert!(pushed.contains("is a named pipe, not a file"), "{pushed}");
    assert!(pushed.contains("is too large: a program may have at most 16 MiB"), "{pushed}");
}

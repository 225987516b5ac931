//! Clients that break the rules: each mistake has its answer or its line in the log, and the next request is served as if nothing
//! had happened.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use prose_tests::lsp::{LspClient, range};
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
    assert!(log.contains("file:///program.prose went from version 5 to 2; versions have to grow"), "{log}");
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

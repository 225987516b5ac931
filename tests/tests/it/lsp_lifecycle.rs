//! How the server starts, logs and ends.

use prose_tests::lsp::{LspClient, PATIENCE, range};
use serde_json::{Value, json};

#[test]
fn an_orderly_end_is_a_success() {
    let (client, _) = LspClient::initialized(json!({}));
    let ended = client.shut_down();
    assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn exit_without_shutdown_is_a_failure() {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.notify("exit", Value::Null);
    assert_eq!(client.wait_for_end().status.code(), Some(1));

    let mut client = LspClient::start(&[]);
    client.notify("exit", Value::Null);
    assert_eq!(client.wait_for_end().status.code(), Some(1));
}

#[test]
fn the_end_of_the_input_ends_the_server() {
    let mut client = LspClient::start(&["--stdio"]);
    client.close_input();
    assert_eq!(client.wait_for_end().status.code(), Some(1));

    let (mut client, _) = LspClient::initialized(json!({}));
    client.request("shutdown", Value::Null);
    client.close_input();
    assert_eq!(client.wait_for_end().status.code(), Some(0));
}

#[test]
fn requests_before_the_end_of_the_input_are_answered() {
    let (mut client, _) = LspClient::initialized(json!({}));
    let uri = "file:///last.prose";
    client.open(uri, 1, &"let x = session \"a\"\n".repeat(2000));
    let ids: Vec<_> = (0..20)
        .map(|_| {
            client.send_request("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }))
        })
        .collect();
    client.close_input();
    for id in ids {
        assert_eq!(client.answer(&json!(id))["result"].as_array().map(Vec::len), Some(2000));
    }
}

#[test]
fn the_server_does_not_outlive_its_editor() {
    // The editor is any process; here it is another server. The input of the first one stays open.
    let mut editor = LspClient::start(&[]);
    let mut client = LspClient::start(&[]);
    client.request("initialize", json!({ "processId": editor.process_id(), "capabilities": {} }));
    client.request("no/such/method", Value::Null);
    editor.close_input();
    editor.wait_for_end();
    let ended = client.wait_for_end();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.took < PATIENCE, "{ended:?}");
}

#[test]
fn an_editor_that_cannot_be_seen_is_no_reason_to_stop() {
    let mut client = LspClient::start(&[]);
    // The number of an editor outside of the server's container means nothing inside.
    client.request("initialize", json!({ "processId": i32::MAX, "capabilities": {} }));
    client.wait_for_log("the editor's process 2147483647 cannot be watched");
    assert_eq!(client.request("no/such/method", Value::Null)["error"]["code"], -32601);
    client.shut_down();
}

#[test]
fn warnings_go_to_standard_error_and_everything_to_the_file() {
    let folder = prose_fixture::tempdir().unwrap();
    let log = folder.path().join("prose.log");
    let mut client = LspClient::start(&["--log-file", log.to_str().unwrap()]);
    client.request("initialize", json!({ "capabilities": {} }));
    let uri = "file:///never-opened.prose";
    client.change(uri, 2, json!([{ "range": range((0, 0), (0, 0)), "text": "x" }]));
    let ended = client.shut_down();

    let warning = "a change of file:///never-opened.prose is ignored because the document is not open; `textDocument/didOpen` must \
                   come first";
    assert_eq!(ended.stderr.trim(), format!("WARN {warning}"));
    let log = std::fs::read_to_string(log).unwrap();
    for part in [warning, "TRACE", r#""method":"initialize""#, "INFO"] {
        assert!(log.contains(part), "{part:?} is not in the log:\n{log}");
    }
}

#[test]
fn the_log_can_be_made_shorter() {
    let folder = prose_fixture::tempdir().unwrap();
    let log = folder.path().join("prose.log");
    let mut client = LspClient::start(&["--log-file", log.to_str().unwrap(), "--log-level", "warn"]);
    client.request("initialize", json!({ "capabilities": {} }));
    client.shut_down();
    assert_eq!(std::fs::read_to_string(log).unwrap(), "");
}

#[test]
fn a_log_file_that_cannot_be_written_is_said_before_anything_else() {
    let folder = prose_fixture::tempdir().unwrap();
    let client = LspClient::start(&["--log-file", folder.path().to_str().unwrap()]);
    let ended = client.wait_for_end();
    assert_eq!(ended.status.code(), Some(2));
    assert!(ended.stderr.contains("cannot be written"), "{}", ended.stderr);
}

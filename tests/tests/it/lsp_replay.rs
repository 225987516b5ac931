//! Sessions that are recorded and replayed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use expect_test::{Expect, expect};
use prose_tests::lsp::{LspClient, range};
use prose_tests::{prose_binary, repository};
use serde_json::{Value, json};

const URI: &str = "file:///nowhere/program.prose";

fn replay(file: &Path, arguments: &[&str]) -> Output {
    Command::new(prose_binary()).args(["lsp", "--replay"]).arg(file).args(arguments).output().unwrap()
}

#[track_caller]
fn check(output: &Output, status: i32, expected: Expect) {
    let shown =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{shown}");
    // The folder is another one each time.
    let shown = shown.lines().map(|line| match (line.find(['/', '`']), line.find(".jsonl")) {
        (Some(start), Some(end)) if start < end => {
            format!("{}FILE{}\n", &line[..start], line[end + 6..].trim_start_matches('`'))
        }
        _ => format!("{line}\n"),
    });
    expected.assert_eq(&shown.collect::<String>());
}

/// Records a session in which much is asked while a text is edited.
fn recorded(file: &Path) {
    let mut client = LspClient::start(&["--record", file.to_str().unwrap()]);
    let capabilities = json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    client.request("initialize", json!({ "processId": std::process::id(), "capabilities": capabilities }));
    client.notify("initialized", json!({}));
    let asked = client.wait_for_method("client/registerCapability");
    client.send_bytes(&prose_tests::lsp::frame(
        &json!({ "jsonrpc": "2.0", "id": asked["id"], "result": null }),
    ));
    client.open(URI, 1, "agent writer:\n  model: opus\n\nsession: writer\n");
    client.diagnostics(URI, 1);
    for version in 2..30 {
        client.change(URI, version, json!([{ "range": range((2, 0), (2, 0)), "text": "session \"x\"\n" }]));
        let params = json!({ "textDocument": { "uri": URI }, "position": { "line": 0, "character": 7 } });
        let hover = client.send_request("textDocument/hover", params);
        if version % 3 == 0 {
            client.notify("$/cancelRequest", json!({ "id": hover }));
        }
        if version % 5 == 0 {
            client.answer(&json!(hover));
        }
    }
    client.change(URI, 30, json!([{ "text": "session \"abc\n" }]));
    client.diagnostics(URI, 30);
    client.send_bytes(b"Content-Length: 3\r\n\r\n{a}");
    client.result("textDocument/documentSymbol", URI);
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    client.shut_down();
}

#[test]
fn a_recorded_session_can_be_had_again() {
    let folder = prose_fixture::tempdir().unwrap();
    let file = folder.path().join("session.jsonl");
    recorded(&file);
    let recording = fs::read_to_string(&file).unwrap();
    let records: Vec<Value> = recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.is_sorted_by_key(|record| record["at"].as_u64().unwrap()));
    assert!(records.iter().any(|record| record["message"] == "{a}"), "what is no JSON is kept as it is");
    let output = replay(&file, &[]);
    assert!(output.status.success(), "{output:?}");
    let output_text = String::from_utf8(output.stderr).unwrap();
    assert!(output_text.ends_with(" compared, no difference.\n"), "{output_text}");
}

#[test]
fn what_was_recorded_of_bugs_stays_repaired() {
    let recordings = fs::read_dir(repository().join("tests/recordings")).unwrap();
    let recordings: Vec<_> = recordings.map(|entry| entry.unwrap().path()).collect();
    assert!(!recordings.is_empty());
    for recording in recordings {
        let output = replay(&recording, &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn the_first_difference_is_reported_and_can_be_recorded() {
    let folder = prose_fixture::tempdir().unwrap();
    let file = folder.path().join("session.jsonl");
    let good = fs::read_to_string(repository().join("tests/recordings/fix.jsonl")).unwrap();
    fs::write(&file, good.replace("\"E001\"", "\"E999\"")).unwrap();
    check(
        &replay(&file, &[]),
        1,
        expect![[r#"
        FILE: line 4, the diagnostics of file:///nowhere/program.prose, differs at /params/diagnostics/0/code
          recorded: "E999"
          now:      "E001"
        6 messages compared, 1 difference.
    "#]],
    );
    check(
        &replay(&file, &["--write"]),
        0,
        expect![[r#"
        6 messages compared, 1 difference written.
    "#]],
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), good);
}

#[test]
fn an_answer_that_does_not_come_is_a_difference() {
    let folder = prose_fixture::tempdir().unwrap();
    let file = folder.path().join("session.jsonl");
    let lines = [
        json!({ "at": 0, "from": "client", "message": { "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} } }),
        json!({ "at": 1, "from": "client", "message": { "jsonrpc": "2.0", "id": 2, "method": "shutdown" } }),
        json!({ "at": 2, "from": "client", "message": { "jsonrpc": "2.0", "method": "exit" } }),
        json!({ "at": 3, "from": "server", "message": { "jsonrpc": "2.0", "id": 9, "result": null } }),
    ];
    fs::write(&file, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    check(
        &replay(&file, &[]),
        1,
        expect![[r#"
        FILE: line 4, the answer to a request (id 9), differs
          recorded: {"id":9,"jsonrpc":"2.0","result":null}
          now:      nothing
        1 message compared, 1 difference.
    "#]],
    );
    check(
        &replay(&file, &["--write"]),
        2,
        expect![[r#"
            error: FILE is not changed, since the server did not reply to all requests
        "#]],
    );
}

#[test]
fn what_is_no_recording_or_has_nothing_to_compare_is_refused() {
    let folder = prose_fixture::tempdir().unwrap();
    let file = folder.path().join("session.jsonl");
    fs::write(&file, "hello\n").unwrap();
    check(
        &replay(&file, &[]),
        2,
        expect![[r#"
        error: FILE: line 1 is not a message of a recording: expected value at line 1 column 1
    "#]],
    );
    fs::write(&file, "{\"at\": 0, \"from\": \"cli").unwrap();
    check(
        &replay(&file, &[]),
        2,
        expect![[r#"
            error: FILE contains no server messages to compare; record a session with at least one request
        "#]],
    );
}

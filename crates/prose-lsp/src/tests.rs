//! The server as a whole, driven through its two streams.

use std::collections::{HashMap, HashSet};
use std::sync::{Condvar, LazyLock, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::oneshot;

use crate::server::{End, serve};

mod analysis;

/// How long a test waits for what has to happen. It is longer than the server takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Holds back the request `test/wait` until the test lets it go.
pub(crate) static GATES: LazyLock<Gates> = LazyLock::new(Gates::default);

#[derive(Default)]
pub(crate) struct Gates {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    open: HashSet<String>,
    waiting: HashMap<String, usize>,
}

impl Gates {
    /// Waits until the gate of a document is open.
    pub(crate) fn pass(&self, uri: &str) {
        let mut state = self.state.lock().unwrap();
        *state.waiting.entry(uri.to_owned()).or_default() += 1;
        self.changed.notify_all();
        while !state.open.contains(uri) {
            state = self.changed.wait(state).unwrap();
        }
    }

    /// Waits until the gate of a document is open, and does `meanwhile` again and again.
    pub(crate) fn pass_unless(&self, uri: &str, meanwhile: impl Fn()) {
        {
            let mut state = self.state.lock().unwrap();
            *state.waiting.entry(uri.to_owned()).or_default() += 1;
            self.changed.notify_all();
        }
        while !self.state.lock().unwrap().open.contains(uri) {
            meanwhile();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until the gate is reached for the `times`th time.
    fn wait_for_arrivals(&self, uri: &str, times: usize) {
        let mut state = self.state.lock().unwrap();
        while state.waiting.get(uri).is_none_or(|waiting| *waiting < times) {
            state = self.changed.wait(state).unwrap();
        }
    }

    /// Opens the gate for all, now and later.
    fn open(&self, uri: &str) {
        self.state.lock().unwrap().open.insert(uri.to_owned());
        self.changed.notify_all();
    }

    /// Waits until the gate is reached.
    fn wait_for_arrival(&self, uri: &str) {
        self.wait_for_arrivals(uri, 1);
    }
}

struct Client {
    to_server: DuplexStream,
    from_server: BufReader<DuplexStream>,
    server: oneshot::Receiver<End>,
    received: Vec<Value>,
}

/// Runs `test` with a connected client that has not sent anything yet.
fn with_server(test: impl AsyncFnOnce(&mut Client)) -> End {
    let (to_server, input) = tokio::io::duplex(1 << 16);
    let (output, from_server) = tokio::io::duplex(1 << 16);
    let (ended, server) = oneshot::channel();
    std::thread::spawn(move || {
        let runtime = runtime();
        let _ = ended.send(runtime.block_on(serve(input, output, None)));
        runtime.shutdown_background();
    });
    runtime().block_on(async {
        let mut client =
            Client { to_server, from_server: BufReader::new(from_server), server, received: vec![] };
        test(&mut client).await;
        drop(client.to_server);
        tokio::time::timeout(PATIENCE, client.server).await.expect("the server ends").unwrap()
    })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Runs `test` in a session with one open document.
fn with_document(uri: &str, text: &str, test: impl AsyncFnOnce(&mut Client)) {
    with_server(async |client| {
        client.initialize(json!({ "textDocument": { "diagnostic": {} } })).await;
        client.open(uri, 1, text).await;
        test(client).await;
    });
}

impl Client {
    async fn send_bytes(&mut self, bytes: &[u8]) {
        self.to_server.write_all(bytes).await.unwrap();
    }

    async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        self.send_bytes(&frame(&message.to_string())).await;
    }

    async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params })).await;
    }

    async fn request(&mut self, id: i64, method: &str, params: Value) {
        self.send(json!({ "id": id, "method": method, "params": params })).await;
    }

    /// Asks for something about a document.
    async fn ask(&mut self, id: i64, method: &str, uri: &str) {
        self.request(id, method, json!({ "textDocument": { "uri": uri } })).await;
    }

    /// Asks for something about a document, and waits for the answer.
    async fn result(&mut self, id: i64, method: &str, uri: &str) -> Value {
        self.ask(id, method, uri).await;
        self.answer(json!(id)).await["result"].take()
    }

    async fn initialize(&mut self, capabilities: Value) -> Value {
        self.request(0, "initialize", json!({ "processId": null, "capabilities": capabilities })).await;
        let answer = self.answer(json!(0)).await;
        self.notify("initialized", json!({})).await;
        answer
    }

    async fn open(&mut self, uri: &str, version: i32, text: &str) {
        let document = json!({ "uri": uri, "languageId": "prose", "version": version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document })).await;
    }

    /// Puts `text` at the very start of a document.
    async fn prepend(&mut self, uri: &str, version: i32, text: &str) {
        let start = json!({ "line": 0, "character": 0 });
        self.change(uri, version, json!([{ "range": { "start": start, "end": start }, "text": text }])).await;
    }

    async fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let params = json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": changes });
        self.notify("textDocument/didChange", params).await;
    }

    async fn receive(&mut self) -> Value {
        let read = async {
            let mut length = 0;
            loop {
                let mut line = String::new();
                self.from_server.read_line(&mut line).await.unwrap();
                match line.trim_end() {
                    "" => break,
                    line => length = line.strip_prefix("Content-Length: ").unwrap().parse().unwrap(),
                }
            }
            let mut body = vec![0; length];
            self.from_server.read_exact(&mut body).await.unwrap();
            serde_json::from_slice(&body).unwrap()
        };
        tokio::time::timeout(PATIENCE, read).await.expect("the server says something")
    }

    /// The answer to the request `id`; what comes before it is kept for later.
    async fn answer(&mut self, id: Value) -> Value {
        let is_answer = |message: &Value| message.get("id") == Some(&id) && message.get("method").is_none();
        if let Some(index) = self.received.iter().position(is_answer) {
            return self.received.remove(index);
        }
        loop {
            let message = self.receive().await;
            if is_answer(&message) {
                return message;
            }
            self.received.push(message);
        }
    }

    /// Waits until the server has dealt with everything so far and fails if it sent anything unrequested.
    async fn assert_silent(&mut self) {
        self.request(-1, "no/such/method", Value::Null).await;
        self.answer(json!(-1)).await;
        assert_eq!(self.received, [] as [Value; 0]);
    }
}

fn frame(body: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[track_caller]
fn assert_error(answer: &Value, code: i64, message: &str) {
    assert_eq!(answer["error"]["code"], code, "{answer}");
    assert_eq!(answer["error"]["message"], message);
}

const EDITED: &str = "the document was edited while the answer was being made";

#[test]
fn a_document_that_is_too_large_is_reported_and_answered_at_once() {
    with_server(async |client| {
        client.initialize(json!({ "textDocument": { "diagnostic": {} } })).await;
        let uri = "file:///large/a.prose";
        client.open(uri, 1, &"session: nobody\n".repeat(1 << 20 | 1)).await;
        let message = client.receive().await;
        assert_eq!(message["method"], "window/showMessage");
        assert_eq!(
            message["params"]["message"],
            "`a.prose` is not analysed: it has 17 MB, more than the 16 MB that a program may have"
        );
        assert_eq!(client.result(1, "textDocument/diagnostic", uri).await["items"], json!([]));
        client.change(uri, 2, json!([{ "text": "session: nobody\n" }])).await;
        assert_eq!(client.result(2, "textDocument/diagnostic", uri).await["items"][0]["code"], "E007");
        client.assert_silent().await;
    });
}

#[test]
fn every_read_sees_exactly_the_edits_before_it() {
    let uri = "file:///order.prose";
    with_document(uri, "", async |client| {
        let mut expected = String::new();
        for round in 1..=500 {
            client.prepend(uri, round + 1, &format!("# {round}\n")).await;
            client.ask(i64::from(round), "test/state", uri).await;
        }
        for round in 1..=500 {
            expected.insert_str(0, &format!("# {round}\n"));
            let answer = client.answer(json!(round)).await;
            assert_eq!(answer["result"], json!([round + 1, expected, expected]));
        }
        client.assert_silent().await;
    });
}

#[test]
fn a_panic_answers_its_request_and_the_server_lives_on() {
    let uri = "file:///panic.prose";
    with_document(uri, "session \"a\"\n", async |client| {
        client.ask(1, "test/panic", uri).await;
        client.ask(2, "test/state", uri).await;
        assert_error(
            &client.answer(json!(1)).await,
            -32603,
            "the language server hit a bug while answering test/panic: this request always panics. It keeps working; please \
             report this with the server's log.",
        );
        assert_eq!(client.answer(json!(2)).await["result"][0], 1);
        client.assert_silent().await;
    });
}

#[test]
fn an_edit_ends_the_reads_under_way() {
    let uri = "file:///edited.prose";
    with_document(uri, "", async |client| {
        client.ask(1, "test/wait", uri).await;
        GATES.wait_for_arrival(uri);
        client.prepend(uri, 2, "# new\n").await;
        assert_error(&client.answer(json!(1)).await, -32801, EDITED);

        GATES.open(uri);
        assert_eq!(client.result(2, "test/wait", uri).await, 2);
        client.assert_silent().await;
    });
}

#[test]
fn an_edit_of_one_document_leaves_the_reads_of_another_alone() {
    let (uri, other) = ("file:///calm.prose", "file:///busy.prose");
    with_document(uri, "", async |client| {
        client.open(other, 1, "").await;
        client.ask(1, "test/wait", uri).await;
        client.prepend(other, 2, "# new\n").await;
        GATES.open(uri);
        assert_eq!(client.answer(json!(1)).await["result"], 1);
        client.assert_silent().await;
    });
}

#[test]
fn a_cancelled_request_is_answered_at_once_and_only_once() {
    let uri = "file:///cancelled.prose";
    with_document(uri, "", async |client| {
        client.ask(1, "test/wait", uri).await;
        GATES.wait_for_arrival(uri);
        client.notify("$/cancelRequest", json!({ "id": 1 })).await;
        assert_error(&client.answer(json!(1)).await, -32800, "the request was cancelled");

        // The id is free again, and the work that still runs under it must not answer the new request.
        client.prepend(uri, 2, "# new\n").await;
        client.ask(1, "test/wait", uri).await;
        GATES.open(uri);
        assert_eq!(client.answer(json!(1)).await["result"], 2);
        client.assert_silent().await;
    });
}

#[test]
fn ids_may_be_texts_and_large_numbers() {
    let uri = "file:///ids.prose";
    with_document(uri, "", async |client| {
        for id in [json!("one"), json!(1_i64 << 40)] {
            client
                .send(
                    json!({ "id": id, "method": "test/wait", "params": { "textDocument": { "uri": uri } } }),
                )
                .await;
            client.notify("$/cancelRequest", json!({ "id": id })).await;
            assert_error(&client.answer(id).await, -32800, "the request was cancelled");
        }
        GATES.open(uri);
        client.assert_silent().await;
    });
}

#[test]
fn an_id_that_is_in_use_is_refused() {
    let uri = "file:///twice.prose";
    with_document(uri, "", async |client| {
        client.ask(1, "test/wait", uri).await;
        client.ask(1, "test/wait", uri).await;
        let refused = client.answer(json!(1)).await;
        assert_error(&refused, -32600, "another request with this id has not been answered yet");
        GATES.open(uri);
        assert_eq!(client.answer(json!(1)).await["result"], 1);
        client.assert_silent().await;
    });
}

#[test]
fn a_full_pool_holds_up_neither_edits_nor_cancellations() {
    let uri = "file:///full.prose";
    with_document(uri, "", async |client| {
        for id in 1..=300 {
            client.ask(id, "test/wait", uri).await;
        }
        for id in 1..=100 {
            client.notify("$/cancelRequest", json!({ "id": id })).await;
        }
        for id in 1..=100 {
            assert_error(&client.answer(json!(id)).await, -32800, "the request was cancelled");
        }
        client.prepend(uri, 2, "# new\n").await;
        for id in 101..=300 {
            assert_error(&client.answer(json!(id)).await, -32801, EDITED);
        }
        GATES.open(uri);
        assert_eq!(client.result(301, "test/state", uri).await, json!([2, "# new\n", "# new\n"]));
        client.assert_silent().await;
    });
}

#[test]
fn the_changes_of_one_notification_follow_one_another() {
    let uri = "file:///several.prose";
    with_document(uri, "one\ntwo\n", async |client| {
        let at = |line: u32, from: u32, to: u32| json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } });
        let changes = json!([
            { "range": at(0, 0, 3), "text": "1\n1½" },
            { "range": at(1, 1, 2), "text": "¼" },
            { "range": at(2, 3, 3), "text": "!" },
        ]);
        client.change(uri, 2, changes).await;
        client.ask(1, "test/state", uri).await;
        let text = "1\n1¼\ntwo!\n";
        assert_eq!(client.answer(json!(1)).await["result"], json!([2, text, text]));

        client.change(uri, 3, json!([{ "text": "all" }, { "range": at(0, 0, 1), "text": "A" }])).await;
        assert_eq!(client.result(2, "test/state", uri).await, json!([3, "All", "All"]));
    });
}

#[test]
fn places_that_do_not_exist_mean_the_nearest_that_do() {
    let uri = "file:///places.prose";
    with_document(uri, "a😀\r\nb", async |client| {
        let range = |start: [u32; 2], end: [u32; 2]| {
            let place = |[line, character]: [u32; 2]| json!({ "line": line, "character": character });
            json!({ "start": place(start), "end": place(end) })
        };
        // Past the last line, past the end of a line, inside a character, backwards.
        client.change(uri, 2, json!([{ "range": range([9, 9], [4_294_967_295, 0]), "text": "." }])).await;
        client.change(uri, 3, json!([{ "range": range([0, 99], [0, 4_294_967_295]), "text": "<" }])).await;
        client.change(uri, 4, json!([{ "range": range([0, 2], [0, 2]), "text": ">" }])).await;
        client.change(uri, 5, json!([{ "range": range([1, 1], [1, 0]), "text": "B" }])).await;
        client.ask(1, "test/state", uri).await;
        let text = "a>😀<\r\nB.";
        assert_eq!(client.answer(json!(1)).await["result"], json!([5, text, text]));
    });
}

#[test]
fn a_change_for_a_document_that_is_not_open_is_ignored() {
    let uri = "file:///never-opened.prose";
    with_server(async |client| {
        client.initialize(json!({})).await;
        client.prepend(uri, 2, "# lost\n").await;
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
        client.ask(1, "textDocument/documentSymbol", uri).await;
        let message = "file:///never-opened.prose is not open; `textDocument/didOpen` must come first";
        assert_error(&client.answer(json!(1)).await, -32602, message);
        client.assert_silent().await;
    });
}

/// Clients send requests about a document while they close it, and show errors to people.
#[test]
fn a_request_about_a_document_that_was_just_closed_is_answered_with_nothing() {
    let uri = "file:///closed.prose";
    with_document(uri, "session: nobody\n", async |client| {
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
        let nothing = json!({ "jsonrpc": "2.0", "id": 1, "result": null });
        client.ask(1, "textDocument/codeLens", uri).await;
        assert_eq!(client.answer(json!(1)).await, nothing);
        let report = json!({ "jsonrpc": "2.0", "id": 2, "result": { "kind": "full", "items": [] } });
        client.ask(2, "textDocument/diagnostic", uri).await;
        assert_eq!(client.answer(json!(2)).await, report);

        client.open(uri, 1, "session: nobody\n").await;
        assert_eq!(client.result(3, "textDocument/diagnostic", uri).await["items"][0]["code"], "E007");
        client.assert_silent().await;
    });
}

#[test]
fn a_document_may_be_opened_again_and_versions_may_go_back() {
    let uri = "file:///again.prose";
    with_document(uri, "first", async |client| {
        client.open(uri, 7, "second").await;
        client.prepend(uri, 3, "the ").await;
        assert_eq!(client.result(1, "test/state", uri).await, json!([3, "the second", "the second"]));

        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
        client.open(uri, 1, "third").await;
        assert_eq!(client.result(2, "test/state", uri).await, json!([1, "third", "third"]));
        client.assert_silent().await;
    });
}

#[test]
fn only_initialize_comes_first() {
    with_server(async |client| {
        client.ask(1, "textDocument/documentSymbol", "file:///early.prose").await;
        let message =
            "`textDocument/documentSymbol` came before `initialize`, which must be the first request";
        assert_error(&client.answer(json!(1)).await, -32002, message);
        client.request(2, "shutdown", Value::Null).await;
        assert_eq!(client.answer(json!(2)).await["error"]["code"], -32002);
        client.request(3, "initialize", json!(7)).await;
        let message = "the parameters of `initialize` must be an object";
        assert_error(&client.answer(json!(3)).await, -32602, message);

        client.initialize(json!({})).await;
        client.request(4, "initialize", json!({})).await;
        assert_error(&client.answer(json!(4)).await, -32600, "`initialize` may be sent only once");
        client.assert_silent().await;
    });
}

#[test]
fn only_exit_comes_after_shutdown() {
    let end = with_server(async |client| {
        client.initialize(json!({})).await;
        client.request(1, "shutdown", Value::Null).await;
        assert_eq!(client.answer(json!(1)).await["result"], Value::Null);
        client.request(2, "shutdown", Value::Null).await;
        let message = "`shutdown` came after `shutdown`, when only `exit` may follow";
        assert_error(&client.answer(json!(2)).await, -32600, message);
        client.notify("exit", Value::Null).await;
    });
    assert_eq!(end, End::Orderly);
}

#[test]
fn leaving_without_shutdown_is_abrupt() {
    assert_eq!(with_server(async |client| client.notify("exit", Value::Null).await), End::Abrupt);
    assert_eq!(with_server(async |_| {}), End::Abrupt);
}

#[test]
fn exit_does_not_wait_for_the_end_of_the_input_or_for_a_reader_of_the_output() {
    let uri = "file:///unread.prose";
    with_document(uri, &"x".repeat(1 << 20), async |client| {
        client.ask(1, "test/state", uri).await;
        client.notify("exit", Value::Null).await;
        let end = tokio::time::timeout(PATIENCE, &mut client.server).await;
        assert_eq!(end.expect("the server ends"), Ok(End::Abrupt));
        client.server = oneshot_of(End::Abrupt);
    });
}

fn oneshot_of(end: End) -> oneshot::Receiver<End> {
    let (sender, receiver) = oneshot::channel();
    sender.send(end).unwrap();
    receiver
}

#[test]
fn requests_before_the_end_of_the_input_are_still_answered() {
    let uri = "file:///last.prose";
    with_document(uri, "last", async |client| {
        client.ask(1, "test/state", uri).await;
        client.to_server.shutdown().await.unwrap();
        assert_eq!(client.answer(json!(1)).await["result"], json!([1, "last", "last"]));
    });
}

#[test]
fn messages_that_cannot_be_read_are_answered_and_cost_nothing_else() {
    let uri = "file:///malformed.prose";
    with_document(uri, "text", async |client| {
        let bodies: [(&[u8], Value, i64); 9] = [
            (br#"{"jsonrpc": "2.0", "id": 7, "method""#, json!(null), -32700),
            (b"", json!(null), -32700),
            (b"\xff\xfe", json!(null), -32700),
            (br#"{"jsonrpc": "2.0", "id": 7, "method": "a", "params": "\ud800"}"#, json!(null), -32700),
            (br#"{"jsonrpc": "1.0", "id": 7, "method": "shutdown"}"#, json!(7), -32600),
            (br#"{"id": 7, "method": "shutdown"}"#, json!(7), -32600),
            (br#"{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}"#, json!(null), -32600),
            (br#"[{"jsonrpc": "2.0", "id": 7, "method": "shutdown"}]"#, json!(null), -32600),
            (br#"{"jsonrpc": "2.0", "id": 7}"#, json!(7), -32600),
        ];
        for (body, id, code) in bodies {
            client.send_bytes(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()).await;
            client.send_bytes(body).await;
            let answer = client.answer(id).await;
            assert_eq!(answer["error"]["code"], code, "{answer}");
        }
        client.send_bytes(b"Content-Length: 99999999999\r\n\r\nSome: garbage\r\n\r\n").await;
        assert_eq!(client.answer(json!(null)).await["error"]["code"], -32700);

        assert_eq!(client.result(1, "test/state", uri).await, json!([1, "text", "text"]));
        client.assert_silent().await;
    });
}

#[test]
fn deeply_nested_parameters_are_an_error() {
    with_server(async |client| {
        client.initialize(json!({})).await;
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"shutdown","params":{nested}}}"#);
        client.send_bytes(&frame(&body)).await;
        assert_eq!(client.answer(json!(null)).await["error"]["code"], -32700);
        client.assert_silent().await;
    });
}

#[test]
fn unknown_methods_and_wrong_parameters_are_named() {
    with_server(async |client| {
        client.initialize(json!({})).await;
        client.request(1, "textDocument/hoover", json!({})).await;
        let message = "`textDocument/hoover` is not a known request";
        assert_error(&client.answer(json!(1)).await, -32601, message);
        client.request(2, "textDocument/foldingRange", json!({ "textDocument": 3 })).await;
        let answer = client.answer(json!(2)).await;
        assert_eq!(answer["error"]["code"], -32602);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(
            message.starts_with("the parameters of `textDocument/foldingRange` are wrong: "),
            "{message}"
        );

        // Notifications have no answer, right or wrong.
        client.notify("textDocument/didOpen", json!({ "textDocument": [] })).await;
        client.notify("textDocument/didChange", Value::Null).await;
        client.notify("$/cancelRequest", json!({ "id": true })).await;
        client.notify("$/unknown", json!({})).await;
        client.notify("workspace/unknown", json!({})).await;
        client.assert_silent().await;
    });
}

#[test]
fn diagnostics_are_pushed_with_their_version_and_withdrawn_on_close() {
    let uri = "file:///pushed.prose";
    with_server(async |client| {
        client.initialize(json!({})).await;
        client.open(uri, 4, "session \"a\"\n").await;
        let pushed = client.receive().await;
        assert_eq!(pushed["method"], "textDocument/publishDiagnostics");
        assert_eq!(pushed["params"], json!({ "uri": uri, "version": 4, "diagnostics": [] }));
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
        let withdrawn = client.receive().await;
        assert_eq!(withdrawn["params"], json!({ "uri": uri, "diagnostics": [] }));
    });
}

#[test]
fn of_edits_in_a_row_the_last_one_has_its_diagnostics_pushed() {
    let uri = "file:///coalesced.prose";
    with_server(async |client| {
        client.initialize(json!({})).await;
        client.open(uri, 1, "").await;
        for version in 2..=2000 {
            client.prepend(uri, version, "# a\n").await;
        }
        let mut versions = vec![];
        while versions.last() != Some(&2000) {
            versions.push(client.receive().await["params"]["version"].as_i64().unwrap());
        }
        assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
        client.assert_silent().await;
    });
}

#[test]
fn a_client_that_asks_for_diagnostics_is_not_sent_any() {
    let uri = "file:///pulled.prose";
    with_document(uri, "session \"a\"\n", async |client| {
        client.ask(1, "textDocument/diagnostic", uri).await;
        let first = client.answer(json!(1)).await;
        assert_eq!((&first["result"]["kind"], &first["result"]["items"]), (&json!("full"), &json!([])));

        let previous = &first["result"]["resultId"];
        let params = json!({ "textDocument": { "uri": uri }, "previousResultId": previous });
        client.request(2, "textDocument/diagnostic", params).await;
        let second = client.answer(json!(2)).await;
        assert_eq!(second["result"], json!({ "kind": "unchanged", "resultId": previous }));

        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
        client.assert_silent().await;
    });
}

#[test]
fn the_best_position_encoding_is_chosen() {
    for (offered, chosen) in [
        (json!(null), "utf-16"),
        (json!([]), "utf-16"),
        (json!(["utf-7"]), "utf-16"),
        (json!(["utf-16", "utf-8"]), "utf-8"),
        (json!(["utf-32", "utf-16"]), "utf-16"),
        (json!(["utf-32"]), "utf-32"),
    ] {
        with_server(async |client| {
            let answer = client.initialize(json!({ "general": { "positionEncodings": offered } })).await;
            assert_eq!(answer["result"]["capabilities"]["positionEncoding"], chosen);
        });
    }
}

//! A client of the language server that speaks the protocol as plain JSON, without any library for it, so that a test sees every
//! byte that the server writes.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::prose_binary;

/// How long the server may take for anything. Far more than it needs, since the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A running `prose lsp` and the pipes to it.
pub struct LspClient {
    child: Child,
    stdin: Option<ChildStdin>,
    output: Receiver<Result<Arrived, String>>,
    /// Reads what the server writes to standard error.
    stderr: Option<JoinHandle<()>>,
    log: Arc<Mutex<String>>,
    kept: VecDeque<Value>,
    next_id: i64,
    last_arrival: Instant,
}

/// A message, and when all of it was there.
type Arrived = (Value, Instant);

impl LspClient {
    /// Starts the server without saying anything to it.
    pub fn start(args: &[&str]) -> Self {
        let mut command = Command::new(prose_binary());
        command.arg("lsp").args(args);
        Self::run(command)
    }

    /// Starts any server.
    pub fn run(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let stdout = child.stdout.take().expect("the output is a pipe");
        let stderr = child.stderr.take().expect("the error output is a pipe");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Some(message) = read_message(&mut stdout).transpose() {
                let failed = message.is_err();
                if sender.send(message).is_err() || failed {
                    break;
                }
            }
        });
        let log = Arc::<Mutex<String>>::default();
        let written = Arc::clone(&log);
        let stderr = std::thread::spawn(move || {
            let mut stderr = BufReader::new(stderr);
            let mut line = Vec::new();
            while stderr.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                lock(&written).push_str(&String::from_utf8_lossy(&line));
                line.clear();
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            output,
            stderr: Some(stderr),
            log,
            kept: VecDeque::new(),
            next_id: 0,
            last_arrival: Instant::now(),
        }
    }

    /// Starts the server and opens a session; gives the answer to `initialize` too.
    pub fn initialized(capabilities: Value) -> (Self, Value) {
        let mut client = Self::start(&[]);
        let params =
            json!({ "processId": std::process::id(), "rootUri": null, "capabilities": capabilities });
        let answer = client.request("initialize", params);
        client.notify("initialized", json!({}));
        (client, answer["result"].clone())
    }

    /// When the last message was there that was waited for. To read it as JSON took this client some time more.
    pub fn last_arrival(&self) -> Instant {
        self.last_arrival
    }

    /// The number of the server's process.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Writes bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the input is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the server reads its input");
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send_bytes(&frame(&notification(method, params)));
    }

    /// Sends a request and does not wait for the answer; gives its id.
    pub fn send_request(&mut self, method: &str, params: Value) -> i64 {
        let (id, message) = self.new_request(method, params);
        self.send_bytes(&frame(&message));
        id
    }

    /// A request with a new id that is not sent yet.
    pub fn new_request(&mut self, method: &str, params: Value) -> (i64, Value) {
        self.next_id += 1;
        (self.next_id, json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }))
    }

    /// Sends a request and waits for its answer.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params);
        self.answer(&json!(id))
    }

    /// Sends a request and gives its result, which there must be.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, params);
        assert_eq!(answer.get("error"), None, "{method} failed");
        answer["result"].take()
    }

    /// The same about a document.
    #[track_caller]
    pub fn result(&mut self, method: &str, uri: &str) -> Value {
        self.ask(method, json!({ "textDocument": { "uri": uri } }))
    }

    /// Opens a document.
    pub fn open(&mut self, uri: &str, version: i64, text: &str) {
        let language = match uri.rsplit_once('.') {
            Some((_, "md")) => "markdown",
            Some((_, "toml")) => "toml",
            _ => "prose",
        };
        let document = json!({ "uri": uri, "languageId": language, "version": version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Changes a document.
    pub fn change(&mut self, uri: &str, version: i64, changes: Value) {
        self.notify("textDocument/didChange", change_params(uri, version, changes));
    }

    /// The next message of the server; `None` when it closes its output.
    #[track_caller]
    pub fn receive(&mut self) -> Option<Value> {
        match self.kept.pop_front() {
            Some(message) => Some(message),
            None => self.receive_new(),
        }
    }

    #[track_caller]
    fn receive_new(&mut self) -> Option<Value> {
        match self.output.recv_timeout(PATIENCE) {
            Ok(Ok((message, arrival))) => {
                self.last_arrival = arrival;
                Some(message)
            }
            Ok(Err(problem)) => panic!("the server wrote something else than the protocol: {problem}"),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
        }
    }

    /// The first message, of those not yet taken, for which `wanted` holds. The others stay.
    #[track_caller]
    pub fn wait_for(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(message) = self.kept.iter().position(&wanted).and_then(|index| self.kept.remove(index)) {
            return message;
        }
        loop {
            let message = self.receive_new().expect("the server goes on");
            if wanted(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// The first notification or request of the server with a method, of those not yet taken.
    #[track_caller]
    pub fn wait_for_method(&mut self, method: &str) -> Value {
        self.wait_for(|message| message["method"] == method)
    }

    /// The answer to a request.
    #[track_caller]
    pub fn answer(&mut self, id: &Value) -> Value {
        self.wait_for(|message| message.get("id") == Some(id) && message.get("method").is_none())
    }

    /// The diagnostics that the server sends for a version of a document.
    #[track_caller]
    pub fn diagnostics(&mut self, uri: &str, version: i64) -> Value {
        let published = self.wait_for(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && message["params"]["version"] == version
        });
        published["params"]["diagnostics"].clone()
    }

    /// The first diagnostics that are not held back, because nothing else is typed after this version.
    #[track_caller]
    pub fn diagnostics_after_pause(&mut self, uri: &str, version: i64) -> Value {
        loop {
            let diagnostics = self.diagnostics(uri, version);
            if diagnostics != json!([]) {
                return diagnostics;
            }
        }
    }

    /// Puts back a message that was taken too early.
    pub fn put_back(&mut self, message: Value) {
        self.kept.push_back(message);
    }

    /// Everything that the server has said and nobody has asked for yet.
    pub fn take_kept(&mut self) -> Vec<Value> {
        self.kept.drain(..).collect()
    }

    /// Everything that the server has said so far and nobody has asked for.
    pub fn take_all(&mut self) -> Vec<Value> {
        let mut messages = self.take_kept();
        messages.extend(self.output.try_iter().filter_map(Result::ok).map(|(message, _)| message));
        messages
    }

    /// Closes the server's input.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Ends the session as the protocol wants it.
    #[track_caller]
    pub fn shut_down(mut self) -> Ended {
        assert_eq!(self.request("shutdown", Value::Null)["result"], Value::Null);
        self.notify("exit", Value::Null);
        self.wait_for_end()
    }

    /// Waits until the server has written a text to standard error.
    #[track_caller]
    pub fn wait_for_log(&self, text: &str) {
        let since = Instant::now();
        while !lock(&self.log).contains(text) {
            assert!(since.elapsed() < PATIENCE, "the server does not write {text:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for the server to end by itself.
    #[track_caller]
    pub fn wait_for_end(mut self) -> Ended {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the server can be waited for") {
                break status;
            }
            assert!(since.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        let _ = self.stderr.take().map(JoinHandle::join);
        let stderr = std::mem::take(&mut *lock(&self.log));
        Ended { status, stderr, took: since.elapsed() }
    }
}

fn lock(log: &Mutex<String>) -> MutexGuard<'_, String> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for LspClient {
    fn drop(&mut self) {
        // Nothing can be done about a server that cannot be killed, and one that has ended needs no killing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a server ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// All it wrote to standard error.
    pub stderr: String,
    /// How long that took.
    pub took: Duration,
}

/// A notification as a message.
pub fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// The parameters of `textDocument/didChange`.
pub fn change_params(uri: &str, version: i64, changes: Value) -> Value {
    json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": changes })
}

/// A range of a document.
pub fn range(start: (usize, usize), end: (usize, usize)) -> Value {
    let position = |(line, character): (usize, usize)| json!({ "line": line, "character": character });
    json!({ "start": position(start), "end": position(end) })
}

/// The text after edits that do not overlap, as a client applies them that counts columns in UTF-16.
#[track_caller]
pub fn applied(text: &str, edits: &Value) -> String {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().expect("a number") as usize;
        let column = position["character"].as_u64().expect("a number") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut units = 0;
        let within = text[start..].char_indices().find(|(_, char)| {
            let is_there = units >= column;
            units += char.len_utf16();
            is_there
        });
        within.map_or(text.len(), |(at, _)| start + at)
    };
    let mut edits: Vec<_> = edits
        .as_array()
        .expect("a list of edits")
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (offset(&range["start"])..offset(&range["end"]), edit["newText"].as_str().expect("a text"))
        })
        .collect();
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    assert!(edits.is_sorted_by(|(one, _), (next, _)| one.end <= next.start), "{edits:?} overlap");
    let mut text = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        text.replace_range(range, new);
    }
    text
}

/// JSON as snapshots show it: what fits a line is on one.
pub fn pretty(value: &Value) -> String {
    const MAX_LINE: usize = 90;
    let line = value.to_string();
    let (open, parts, close): (_, Vec<String>, _) = match value {
        _ if line.len() <= MAX_LINE => return line,
        Value::Array(items) => ("[", items.iter().map(pretty).collect(), "]"),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{}: {}", json!(name), pretty(value));
            ("{", fields.iter().map(field).collect(), "}")
        }
        _ => return line,
    };
    // No text of JSON has a line break of its own.
    format!("{open}\n{}", parts.join(",\n")).replace('\n', "\n  ") + "\n" + close
}

/// The bytes of a message on the wire.
pub fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Reads one message, and refuses every byte that is not one.
fn read_message(input: &mut impl BufRead) -> Result<Option<Arrived>, String> {
    let mut header = String::new();
    if input.read_line(&mut header).map_err(|error| error.to_string())? == 0 {
        return Ok(None);
    }
    let length = header.strip_prefix("Content-Length: ").and_then(|rest| rest.strip_suffix("\r\n"));
    let length: usize =
        length.and_then(|length| length.parse().ok()).ok_or_else(|| format!("the header {header:?}"))?;
    let mut body = vec![0; length + 2];
    input.read_exact(&mut body).map_err(|error| error.to_string())?;
    if !body.starts_with(b"\r\n") {
        return Err(format!("no empty line after {header:?}"));
    }
    let arrival = Instant::now();
    serde_json::from_slice(&body[2..])
        .map(|message| Some((message, arrival)))
        .map_err(|error| error.to_string())
}

//! The connection to a client: messages of JSON-RPC, one a line.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_acp::code;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// The longest message in bytes. Clients send the files that a prompt mentions with it.
const MAX_MESSAGE: u64 = 32 << 20;

/// The number of messages that may wait for a client that reads slowly. Who sends more waits, and a run never does.
const MAX_QUEUED: usize = 64;

/// The sending side of a connection.
pub(super) struct Connection {
    messages: mpsc::Sender<Value>,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    last: u64,
    waiting: HashMap<u64, oneshot::Sender<Option<Value>>>,
    is_closed: bool,
}

impl Connection {
    /// A connection that writes to an output until it is closed.
    pub(super) fn new<W>(mut output: W) -> (Arc<Self>, JoinHandle<()>)
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (messages, mut queue) = mpsc::channel::<Value>(MAX_QUEUED);
        let writing = tokio::spawn(async move {
            while let Some(message) = queue.recv().await {
                let mut line = message.to_string();
                line.push('\n');
                // A client that is gone closes its own end, too, which ends the server.
                if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
                    break;
                }
            }
        });
        (Arc::new(Self { messages, calls: Mutex::default() }), writing)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, message: Value) {
        // Without a client there is no receiver.
        let _ = self.messages.send(message).await;
    }

    /// Sends a notification.
    pub(super) async fn notify(&self, method: &str, params: &impl Serialize) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Sends a request and waits for its result; none if the client reports an error or is gone.
    pub(super) async fn request(&self, method: &str, params: &impl Serialize) -> Option<Value> {
        let (sender, result) = oneshot::channel();
        let id = {
            let mut calls = self.calls();
            if calls.is_closed {
                return None;
            }
            calls.last += 1;
            let id = calls.last;
            calls.waiting.insert(id, sender);
            id
        };
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        result.await.ok().flatten()
    }

    /// Answers a request.
    pub(super) async fn respond(&self, id: &Value, result: Result<Value, Value>) {
        let (name, value) = match result {
            Ok(result) => ("result", result),
            Err(error) => ("error", error),
        };
        self.send(json!({ "jsonrpc": "2.0", "id": id, name: value })).await;
    }

    /// Receives the answer to a request.
    pub(super) fn answered(&self, mut message: Value) {
        let waiting = message["id"].as_u64().and_then(|id| self.calls().waiting.remove(&id));
        let result = message.get_mut("result").map(Value::take);
        let _ = waiting.map(|waiting| waiting.send(result));
    }

    /// Ends all requests that wait for their result.
    pub(super) fn close(&self) {
        let mut calls = self.calls();
        calls.is_closed = true;
        calls.waiting.clear();
    }
}

/// A message that a client sent.
pub(super) enum Received {
    Message(Value),
    /// A line that is no message, with the error to answer with.
    Wrong(Value),
}

/// The receiving side of a connection.
pub(super) struct Messages<R> {
    input: BufReader<R>,
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Messages<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::new(input), line: Vec::new() }
    }

    /// The next message; none at the end of the input.
    pub(super) async fn next(&mut self) -> io::Result<Option<Received>> {
        loop {
            self.line.clear();
            (&mut self.input).take(MAX_MESSAGE).read_until(b'\n', &mut self.line).await?;
            if self.line.is_empty() {
                return Ok(None);
            }
            if self.line.len() as u64 == MAX_MESSAGE && self.line.last() != Some(&b'\n') {
                return Err(io::Error::other(format!(
                    "a message of the client is longer than {} MB",
                    MAX_MESSAGE >> 20
                )));
            }
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            let message = serde_json::from_slice::<Value>(&self.line);
            return Ok(Some(match message {
                Ok(message) if message.is_object() => Received::Message(message),
                Ok(_) => Received::Wrong(prose_acp::error(
                    code::INVALID_REQUEST,
                    "a message is one JSON object; batches are not supported",
                )),
                Err(error) => Received::Wrong(prose_acp::error(
                    code::PARSE_ERROR,
                    format!("the message is not JSON: {error}"),
                )),
            }));
        }
    }
}

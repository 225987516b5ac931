//! Replays recorded sessions: sends the client's messages again and compares the server's.
//!
//! The server sends some messages earlier or later, or not at all, depending on how fast it is: progress, or the diagnostics of a text that was edited a
//! moment later. These are not compared, and neither are its messages about programs that were not open. Commands are not sent, since they run programs and fetch things.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use crate::protocol::framing::FrameReader;
use crate::protocol::recording::{Record, Side};
use crate::protocol::request::WORKSPACE_DIAGNOSTIC;
use crate::server::serve;

/// How long the server may take for a message.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A difference between the recorded and the replayed session.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The number of the line of the recording.
    pub line: usize,
    /// The message, in words.
    pub what: String,
    /// The place in the message, as a JSON pointer.
    pub place: String,
    /// The recorded value; none for nothing.
    pub recorded: Option<Value>,
    /// The value now.
    pub now: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
        let place = if self.place.is_empty() { String::new() } else { format!(" at {}", self.place) };
        write!(
            f,
            "line {}, {}, differs{place}\n  recorded: {}\n  now:      {}",
            self.line,
            self.what,
            shown(&self.recorded),
            shown(&self.now)
        )
    }
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Replayed {
    /// How many messages of the server were compared.
    pub compared: usize,
    /// The places where they differ, in their order.
    pub differences: Vec<Difference>,
    /// The recording with the messages of the server now.
    pub now: String,
}

/// Replays the records.
pub(crate) async fn replay(records: Vec<Record>) -> Replayed {
    let (to_server, server_input) = tokio::io::duplex(BUFFER);
    let (server_output, from_server) = tokio::io::duplex(BUFFER);
    let session = async {
        let client = Client {
            input: to_server,
            output: FrameReader::new(BufReader::new(from_server)),
            kept: VecDeque::new(),
            sent: HashMap::new(),
            left_out: Vec::new(),
            ids: Vec::new(),
        };
        client.replay(records).await
    };
    tokio::select! {
        replayed = session => replayed,
        // The session is over only when the client says so; until then the server's end is a message that does not come.
        _ = async { serve(server_input, server_output, None).await; std::future::pending::<()>().await } => {
            Replayed::default()
        }
    }
}

const BUFFER: usize = 64 * 1024;

struct Client<I, O> {
    input: I,
    output: FrameReader<BufReader<O>>,
    /// Messages of the server that were not compared yet.
    kept: VecDeque<Value>,
    /// The version of each document that was sent last.
    sent: HashMap<String, i64>,
    /// The requests that were not sent.
    left_out: Vec<Value>,
    /// The ids of the server's requests, recorded and now.
    ids: Vec<(Value, Value)>,
}

impl<I: AsyncWrite + Unpin, O: AsyncRead + Unpin> Client<I, O> {
    async fn replay(mut self, records: Vec<Record>) -> Replayed {
        let mut replayed = Replayed::default();
        let mut methods: HashMap<String, String> = HashMap::new();
        for (index, mut record) in records.into_iter().enumerate() {
            if record.from == Side::Client {
                if let (Some(id), Some(method)) = (record.message.get("id"), method(&record.message)) {
                    methods.insert(id.to_string(), method.to_owned());
                }
                self.send(&record.message).await;
            } else if let Some(what) = self.compared(&record.message, &methods) {
                replayed.compared += 1;
                let now = self.counterpart(&record.message).await;
                let found = match &now {
                    None => Some((String::new(), Some(record.message.clone()), None)),
                    Some(now) if is_overtaken(now) || is_overtaken(&record.message) => None,
                    Some(now) => first_difference(&without_id(&record.message), &without_id(now), ""),
                };
                if let Some((place, recorded, now)) = found {
                    replayed.differences.push(Difference { line: index + 1, what, place, recorded, now });
                }
                let Some(now) = now else {
                    // Nothing that comes later could be trusted.
                    break;
                };
                if !is_overtaken(&now) {
                    let id = record.message.get("id").cloned();
                    record.message = now;
                    if let Some(id) = id {
                        record.message["id"] = id;
                    }
                }
            }
            replayed.now += &record.line();
        }
        replayed
    }

    /// A recorded message of the server in words, if it must be repeated.
    fn compared(&self, message: &Value, methods: &HashMap<String, String>) -> Option<String> {
        let params = &message["params"];
        match (method(message), message.get("id")) {
            (None, Some(id)) if !self.left_out.contains(id) => {
                let asked = methods.get(&id.to_string()).map_or("a request", |method| method);
                // When there are news is a matter of time and of the disk.
                (asked != WORKSPACE_DIAGNOSTIC).then(|| format!("the answer to {asked} (id {id})"))
            }
            (Some("textDocument/publishDiagnostics"), None) => {
                let uri = params["uri"].as_str().unwrap_or_default();
                // Those of a text that was edited a moment later may be left out, and those without a version are about what lay on the disk.
                let version = params.get("version").and_then(Value::as_i64);
                let is_latest = version.is_some() && version.as_ref() == self.sent.get(uri);
                is_latest.then(|| format!("the diagnostics of {uri}"))
            }
            (Some("client/registerCapability"), Some(_)) => {
                Some("the request client/registerCapability".to_owned())
            }
            _ => None,
        }
    }

    async fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        match method(&message) {
            Some("initialize") => {
                // The server would end with that process, which is long gone.
                message["params"]["processId"] = Value::Null;
            }
            Some("workspace/executeCommand") => {
                self.left_out.push(message["id"].clone());
                return;
            }
            Some("textDocument/didOpen" | "textDocument/didChange") => {
                let document = &message["params"]["textDocument"];
                if let (Some(uri), Some(version)) = (document["uri"].as_str(), document["version"].as_i64()) {
                    self.sent.insert(uri.to_owned(), version);
                }
            }
            Some(_) => {}
            None => {
                let known = self.ids.iter().find(|(recorded, _)| Some(recorded) == message.get("id"));
                if let Some((_, now)) = known {
                    message["id"] = now.clone();
                }
            }
        }
        let body = match &message {
            Value::String(text) => text.clone(),
            message => message.to_string(),
        };
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        // A server that reads no more sends nothing more either, which is reported.
        let _ = self.input.write_all(frame.as_bytes()).await;
        let _ = self.input.flush().await;
    }

    /// The message of the server that corresponds to a recorded one.
    async fn counterpart(&mut self, recorded: &Value) -> Option<Value> {
        let is_it = |now: &Value| {
            method(now) == method(recorded)
                && match method(recorded) {
                    None => now.get("id") == recorded.get("id"),
                    Some("textDocument/publishDiagnostics") => {
                        let (now, then) = (&now["params"], &recorded["params"]);
                        now["uri"] == then["uri"] && now.get("version") == then.get("version")
                    }
                    Some(_) => true,
                }
        };
        let now = match self.kept.iter().position(is_it) {
            Some(index) => self.kept.remove(index)?,
            None => loop {
                let frame = tokio::time::timeout(TIMEOUT, self.output.next()).await.ok()?;
                let message: Value = serde_json::from_slice(&frame.ok()??.ok()?).ok()?;
                if is_it(&message) {
                    break message;
                }
                self.kept.push_back(message);
            },
        };
        if method(recorded).is_some()
            && let (Some(then), Some(now)) = (recorded.get("id"), now.get("id"))
        {
            self.ids.push((then.clone(), now.clone()));
        }
        Some(now)
    }
}

fn method(message: &Value) -> Option<&str> {
    message.get("method").and_then(Value::as_str)
}

/// Whether an edit or a cancellation came before the answer, which is a matter of time.
fn is_overtaken(message: &Value) -> bool {
    matches!(message.pointer("/error/code").and_then(Value::as_i64), Some(-32800 | -32801))
}

fn without_id(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(fields) = message.as_object_mut() {
        fields.remove("id");
    }
    message
}

type Found = (String, Option<Value>, Option<Value>);

/// The first place where two values differ.
fn first_difference(recorded: &Value, now: &Value, place: &str) -> Option<Found> {
    if recorded == now {
        return None;
    }
    let inside = |key: String, recorded: Option<&Value>, now: Option<&Value>| {
        let place = format!("{place}/{key}");
        match (recorded, now) {
            (Some(recorded), Some(now)) => first_difference(recorded, now, &place),
            (recorded, now) => Some((place, recorded.cloned(), now.cloned())),
        }
    };
    let found = match (recorded, now) {
        (Value::Object(before), Value::Object(after)) => {
            let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
            keys.filter(|key| before.get(*key) != after.get(*key))
                .find_map(|key| inside(key.clone(), before.get(key), after.get(key)))
        }
        (Value::Array(before), Value::Array(after)) => (0..before.len().max(after.len()))
            .filter(|index| before.get(*index) != after.get(*index))
            .find_map(|index| inside(index.to_string(), before.get(index), after.get(index))),
        _ => None,
    };
    found.or_else(|| Some((place.to_owned(), Some(recorded.clone()), Some(now.clone()))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_reported_with_its_place() {
        let find = |before: Value, after: Value| first_difference(&before, &after, "");
        assert_eq!(find(json!({ "a": [1, 2] }), json!({ "a": [1, 2] })), None);
        assert_eq!(
            find(json!({ "a": [1, { "b": 2 }] }), json!({ "a": [1, { "b": 3 }] })),
            Some(("/a/1/b".to_owned(), Some(json!(2)), Some(json!(3))))
        );
        assert_eq!(find(json!([1]), json!([1, 2])), Some(("/1".to_owned(), None, Some(json!(2)))));
        assert_eq!(find(json!(1), json!({})), Some((String::new(), Some(json!(1)), Some(json!({})))));
    }
}

//! The messages inside the frames: JSON-RPC 2.0.
//!
//! Parameters and results stay text until somebody knows their type. An answer can be many megabytes, and a tree of
//! [`serde_json::Value`]s takes twenty times the memory of its text.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::mpsc::UnboundedSender;

/// Text that is known to be JSON.
pub(crate) type Json = Box<RawValue>;

/// The text of a value.
pub(crate) fn json(value: &impl Serialize) -> Json {
    to_raw_value(value).unwrap_or_else(|error| {
        // Only maps whose keys are no strings fail, and nothing here has them.
        tracing::error!("a value could not be written as JSON: {error}");
        RawValue::NULL.to_owned()
    })
}

/// The id of a request, as the client chose it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum RequestId {
    Number(i64),
    Text(String),
    Null,
}

/// What a client sends.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    Request { id: RequestId, method: Cow<'a, str>, params: &'a str },
    Notification { method: Cow<'a, str>, params: &'a str },
    Response,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(default, deserialize_with = "present")]
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Tells an id that is `null` from one that is absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RequestId>, D::Error> {
    RequestId::deserialize(deserializer).map(Some)
}

/// Reads a message, or tells what it is answered with.
pub(crate) fn decode(body: &[u8]) -> Result<Incoming<'_>, (RequestId, Error)> {
    let unreadable = |problem: String| (RequestId::Null, Error::new(PARSE_ERROR, problem));
    let text = std::str::from_utf8(body)
        .map_err(|error| unreadable(format!("the message is not UTF-8: {error}")))?;
    match serde_json::from_str::<Envelope<'_>>(text) {
        // A list of the fields' values would be taken for an envelope, too.
        Ok(envelope) if envelope.jsonrpc == "2.0" && text.trim_start().starts_with('{') => {
            let params = envelope.params.map_or("null", RawValue::get);
            match (envelope.method, envelope.id) {
                (Some(method), Some(id)) => return Ok(Incoming::Request { id, method, params }),
                (Some(method), None) => return Ok(Incoming::Notification { method, params }),
                (None, Some(_)) if envelope.result.is_some() || envelope.error.is_some() => {
                    return Ok(Incoming::Response);
                }
                (None, _) => {}
            }
        }
        Err(error) if !error.is_data() => {
            return Err(unreadable(format!("the message is not JSON: {error}")));
        }
        _ => {}
    }
    let message: Value = serde_json::from_str(text)
        .map_err(|error| unreadable(format!("the message is not JSON: {error}")))?;
    let id =
        message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok()).unwrap_or(RequestId::Null);
    Err((
        id,
        Error::new(INVALID_REQUEST, "the message is not a request, notification or response of JSON-RPC 2.0"),
    ))
}

/// What a request is answered with when it has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Error {
    code: i32,
    message: String,
}

impl Error {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const INTERNAL_ERROR: i32 = -32603;
pub(crate) const SERVER_NOT_INITIALIZED: i32 = -32002;
pub(crate) const REQUEST_CANCELLED: i32 = -32800;
pub(crate) const CONTENT_MODIFIED: i32 = -32801;

/// A message on its way to the client, in pieces, so that a long result need not be copied into its envelope.
#[derive(Debug)]
pub(crate) struct Body {
    head: Vec<u8>,
    payload: Json,
}

impl Body {
    /// The last piece closes the object that the first one opens.
    pub(crate) fn pieces(&self) -> [&[u8]; 3] {
        [&self.head, self.payload.get().as_bytes(), b"}"]
    }
}

/// The way to the client. Messages leave in the order in which they are sent; the connection is over when the last clone is gone.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing(UnboundedSender<Body>);

impl Outgoing {
    pub(crate) fn new(bodies: UnboundedSender<Body>) -> Self {
        Self(bodies)
    }

    /// Tells the client something that it did not ask for.
    pub(crate) fn notify(&self, method: &'static str, params: &impl Serialize) {
        let head = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":"#);
        self.send(Body { head: head.into_bytes(), payload: json(params) });
    }

    /// Answers a request.
    pub(crate) fn respond(&self, id: &RequestId, result: Result<Json, Error>) {
        let id = json(id);
        let (field, payload) = match result {
            Ok(result) => ("result", result),
            Err(error) => ("error", json(&error)),
        };
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"{field}":"#);
        self.send(Body { head: head.into_bytes(), payload });
    }

    fn send(&self, body: Body) {
        // The channel is closed when the connection is, and then there is nobody to tell.
        let _ = self.0.send(body);
    }
}

/// The one answer that a request has to get. Dropped without an answer, as in a panic, it says so to the client.
#[derive(Debug)]
pub(crate) struct Answer {
    id: RequestId,
    outgoing: Outgoing,
    given: bool,
}

impl Answer {
    pub(crate) fn new(id: RequestId, outgoing: Outgoing) -> Self {
        Self { id, outgoing, given: false }
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }

    pub(crate) fn give(mut self, result: Result<Json, Error>) {
        self.given = true;
        self.outgoing.respond(&self.id, result);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if !self.given {
            let message = "the server could not answer this request; its log says why";
            self.outgoing.respond(&self.id, Err(Error::new(INTERNAL_ERROR, message)));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(send: impl FnOnce(Outgoing)) -> Vec<Value> {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        send(Outgoing::new(sender));
        std::iter::from_fn(|| receiver.try_recv().ok())
            .map(|body| serde_json::from_slice(&body.pieces().concat()).unwrap())
            .collect()
    }

    /// What becomes of a message.
    fn decoded(body: &str) -> String {
        match decode(body.as_bytes()) {
            Ok(Incoming::Request { id, method, params }) => {
                format!("request {} {method} {params}", json(&id))
            }
            Ok(Incoming::Notification { method, params }) => format!("notification {method} {params}"),
            Ok(Incoming::Response) => "response".to_owned(),
            Err((id, Error { code, message })) => format!("{code} for {}: {message}", json(&id)),
        }
    }

    #[test]
    fn messages_are_told_apart() {
        assert_eq!(decoded(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#), "request 1 m [1]");
        assert_eq!(decoded(r#"{"jsonrpc":"2.0","id":"1","method":"m"}"#), "request \"1\" m null");
        assert_eq!(decoded(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#), "request null m null");
        assert_eq!(decoded(r#" {"method":"m\/n","jsonrpc":"2.0"} "#), "notification m/n null");
        assert_eq!(decoded(r#"{"jsonrpc":"2.0","id":1,"result":null}"#), "response");
        assert_eq!(decoded(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#), "response");
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let problem = "the message is not a request, notification or response of JSON-RPC 2.0";
        for (body, id) in [
            (r#"{"jsonrpc":"2.0","id":1}"#, "1"),
            (r#"{"jsonrpc":"2.0"}"#, "null"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "1"),
            (r#"{"id":1,"method":"m"}"#, "1"),
            (r#"{"jsonrpc":"2.0","id":1,"method":2}"#, "1"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "null"),
            (r#"["2.0",1,"shutdown"]"#, "null"),
            ("7", "null"),
        ] {
            assert_eq!(decoded(body), format!("-32600 for {id}: {problem}"), "{body}");
        }
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        assert_eq!(
            decoded(r#"{"jsonrpc":"2.0","#),
            "-32700 for null: the message is not JSON: EOF while parsing a value at line 1 column 17"
        );
        assert!(decoded(&"[".repeat(100_000)).starts_with("-32700 for null: the message is not JSON: "));
    }

    #[test]
    fn an_answer_is_given_once() {
        let messages = sent(|outgoing| {
            Answer::new(RequestId::Number(7), outgoing.clone()).give(Ok(json(&[1, 2])));
            Answer::new(RequestId::Text("a".to_owned()), outgoing)
                .give(Err(Error::new(INVALID_PARAMS, "no")));
        });
        assert_eq!(
            messages,
            [
                json!({ "jsonrpc": "2.0", "id": 7, "result": [1, 2] }),
                json!({ "jsonrpc": "2.0", "id": "a", "error": { "code": -32602, "message": "no" } }),
            ]
        );
    }

    #[test]
    fn a_result_of_null_is_a_result() {
        let messages = sent(|outgoing| Answer::new(RequestId::Null, outgoing).give(Ok(json(&()))));
        assert_eq!(messages, [json!({ "jsonrpc": "2.0", "id": null, "result": null })]);
    }

    #[test]
    fn an_answer_that_nobody_gives_is_an_error() {
        let messages = sent(|outgoing| drop(Answer::new(RequestId::Number(7), outgoing)));
        let message = "the server could not answer this request; its log says why";
        assert_eq!(
            messages,
            [json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32603, "message": message } })]
        );
    }
}

//! Messages of the client, decoded once: requests, notifications, and responses to requests of the server.

use serde_json::{Map, Value};

use crate::protocol::request::{Failure, RequestId};

/// A message of the client.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    Request {
        id: RequestId,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// A response to a request of the server; no result if the client refused it.
    Response {
        id: RequestId,
        result: Option<Value>,
    },
}

/// A message that is not one of JSON-RPC 2.0, with the id under which the client expects an answer.
pub(crate) type Malformed = (RequestId, Failure);

/// Decodes the body of a message. Its texts are moved into the result, not copied.
pub(crate) fn decode_message(body: &[u8]) -> Result<Incoming, Malformed> {
    let text = std::str::from_utf8(body)
        .map_err(|error| parse_error(format!("the message is not UTF-8: {error}")))?;
    tracing::trace!("<- {text}");
    let message: Value = serde_json::from_str(text)
        .map_err(|error| parse_error(format!("the message is not JSON: {error}")))?;
    let Value::Object(mut fields) = message else { return Err(invalid(RequestId::Null)) };
    let id = match fields.remove("id") {
        None => None,
        Some(id) => Some(serde_json::from_value(id).map_err(|_| invalid(RequestId::Null))?),
    };
    decode_fields(fields, id.clone()).ok_or_else(|| invalid(id.unwrap_or(RequestId::Null)))
}

fn decode_fields(mut fields: Map<String, Value>, id: Option<RequestId>) -> Option<Incoming> {
    if fields.get("jsonrpc")? != "2.0" {
        return None;
    }
    Some(match (fields.remove("method"), id) {
        (Some(Value::String(method)), id) => {
            let params = fields.remove("params").unwrap_or_default();
            match id {
                Some(id) => Incoming::Request { id, method, params },
                None => Incoming::Notification { method, params },
            }
        }
        (None, Some(id)) => match fields.remove("result") {
            Some(result) => Incoming::Response { id, result: Some(result) },
            None => {
                fields.get("error")?;
                Incoming::Response { id, result: None }
            }
        },
        _ => return None,
    })
}

fn parse_error(message: String) -> Malformed {
    (RequestId::Null, Failure::Unreadable(message))
}

fn invalid(id: RequestId) -> Malformed {
    let message = "the message is not a request, notification or response of JSON-RPC 2.0";
    (id, Failure::InvalidRequest(message.to_owned()))
}

//! Messages of the client: requests, notifications, and responses to requests of the server.

use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

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

/// Checks that the transport library can decode the body of a message, since it reads nothing after one that it cannot. Nothing is built
/// here: the library decodes each message, once.
pub(crate) fn check_message(body: &[u8]) -> Result<(), Malformed> {
    let text = std::str::from_utf8(body)
        .map_err(|error| parse_error(format!("the message is not UTF-8: {error}")))?;
    if serde_json::from_str::<Envelope>(text).is_ok() {
        return Ok(());
    }
    let message: Value = serde_json::from_str(text)
        .map_err(|error| parse_error(format!("the message is not JSON: {error}")))?;
    let id = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    Err(invalid(id.unwrap_or(RequestId::Null)))
}

/// A message that the library takes at least for a request: what is not one may still be answered.
struct Envelope;

impl<'de> Deserialize<'de> for Envelope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self)
    }
}

impl<'de> Visitor<'de> for Envelope {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message of JSON-RPC 2.0")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        let mut seen: Vec<String> = Vec::new();
        while let Some(field) = fields.next_key::<String>()? {
            match field.as_str() {
                "jsonrpc" if fields.next_value::<String>()? == "2.0" => {}
                "jsonrpc" => return Err(A::Error::custom("another version")),
                "method" => drop(fields.next_value::<String>()?),
                "id" => drop(fields.next_value::<RequestId>()?),
                _ => _ = fields.next_value::<Valid>()?,
            }
            if seen.contains(&field) {
                return Err(A::Error::custom("the same field twice"));
            }
            seen.push(field);
        }
        match seen.iter().any(|field| field == "jsonrpc") {
            true => Ok(self),
            false => Err(A::Error::missing_field("jsonrpc")),
        }
    }
}

/// Any value, read as one that is built would be: with its escapes, its numbers and its depth.
struct Valid;

impl<'de> Deserialize<'de> for Valid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Valid {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        while fields.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

fn parse_error(message: String) -> Malformed {
    (RequestId::Null, Failure::Unreadable(message))
}

pub(crate) fn invalid(id: RequestId) -> Malformed {
    let message = "the message is not a request, notification or response of JSON-RPC 2.0";
    (id, Failure::InvalidRequest(message.to_owned()))
}

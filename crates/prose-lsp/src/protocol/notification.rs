//! Messages from the server to the client that answer nothing.

use std::sync::atomic::{AtomicI64, Ordering};

use serde::Serialize;

use crate::protocol::json::{Json, json};
use crate::protocol::lsp::MessageType;

/// A notification of the server, or a request that it makes. It is encoded where it is made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Notification {
    pub(crate) method: &'static str,
    pub(crate) params: Json,
    /// Its id, if it is a request. Most answers are ignored.
    pub(crate) id: Option<i64>,
}

impl Notification {
    pub(crate) fn new(method: &'static str, params: &impl Serialize) -> Self {
        Self { method, params: json(params), id: None }
    }

    /// A message for the user.
    pub(crate) fn message(kind: MessageType, message: &str) -> Self {
        Self::new("window/showMessage", &serde_json::json!({ "type": kind, "message": message }))
    }

    /// A request to the client, under a new id.
    pub(crate) fn request(method: &'static str, params: &impl Serialize) -> Self {
        Self { method, params: json(params), id: Some(next_id()) }
    }
}

/// The id of the next request to the client.
static NEXT_ID: AtomicI64 = AtomicI64::new(0);

/// A new id for a request to the client.
pub(crate) fn next_id() -> i64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

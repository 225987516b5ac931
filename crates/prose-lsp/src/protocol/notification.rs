//! Messages from the server to the client that answer nothing.

use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::Value;

/// A notification of the server, or a request that it makes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Notification {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    /// Its id, if it is a request. Most answers are ignored.
    pub(crate) id: Option<i64>,
}

/// The id of the next request to the client.
static NEXT_ID: AtomicI64 = AtomicI64::new(0);

/// A new id for a request to the client.
pub(crate) fn next_id() -> i64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

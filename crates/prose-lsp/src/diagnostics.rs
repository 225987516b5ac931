//! Diagnostics for the client, asked for or not.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};

use crate::convert::{Converter, Session};
use crate::documents::{DocumentUri, Snapshot};
use crate::owner::Notification;

fn items(snapshot: &Snapshot, session: &Session) -> Value {
    Converter { text: &snapshot.text, session }.diagnostics(snapshot.parse.diagnostics())
}

/// The answer to `textDocument/diagnostic`, where `previous` is the id of the last answer that the client still has.
pub(crate) fn report(snapshot: &Snapshot, session: &Session, previous: Option<&str>) -> Value {
    let items = items(snapshot, session);
    // The id is made from what the client would get, so an answer is repeated only when something in it has changed.
    let mut hasher = DefaultHasher::new();
    items.to_string().hash(&mut hasher);
    let id = format!("{:016x}", hasher.finish());
    if previous == Some(id.as_str()) {
        json!({ "kind": "unchanged", "resultId": id })
    } else {
        json!({ "kind": "full", "resultId": id, "items": items })
    }
}

/// What tells a client the diagnostics of one version of a document.
pub(crate) fn publication(snapshot: &Snapshot, session: &Session) -> Notification {
    let params = json!({
        "uri": &*snapshot.uri,
        "version": snapshot.version,
        "diagnostics": items(snapshot, session),
    });
    Notification { method: PUBLISH, params }
}

/// What takes the diagnostics of a closed document from the client's view.
pub(crate) fn withdrawal(uri: &DocumentUri) -> Notification {
    Notification { method: PUBLISH, params: json!({ "uri": &**uri, "diagnostics": [] }) }
}

const PUBLISH: &str = "textDocument/publishDiagnostics";

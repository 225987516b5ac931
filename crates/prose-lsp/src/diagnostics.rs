//! Diagnostics for the client, asked for or not.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use serde_json::json;

use crate::convert::{Converter, Session};
use crate::documents::{DocumentUri, Snapshot};
use crate::json::{Json, json as text};
use crate::owner::Notification;

fn items(snapshot: &Snapshot, session: &Session) -> impl Serialize {
    Converter { text: &snapshot.text, session }.diagnostics(snapshot.parse.diagnostics())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a, T> {
    kind: &'static str,
    result_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<T>,
}

/// The answer to `textDocument/diagnostic`, where `previous` is the id of the last answer that the client still has.
pub(crate) fn report(snapshot: &Snapshot, session: &Session, previous: Option<&str>) -> Json {
    let items = items(snapshot, session);
    // The id is made from what the client would get, so an answer is repeated only when something in it has changed.
    let mut hasher = DefaultHasher::new();
    text(&items).hash(&mut hasher);
    let id = format!("{:016x}", hasher.finish());
    text(&if previous == Some(id.as_str()) {
        Report { kind: "unchanged", result_id: &id, items: None }
    } else {
        Report { kind: "full", result_id: &id, items: Some(&items) }
    })
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

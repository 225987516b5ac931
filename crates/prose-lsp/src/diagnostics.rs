//! Diagnostics for the client, asked for or not.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use serde_json::value::RawValue;

use crate::convert::{Converter, Session};
use crate::documents::{DocumentUri, Snapshot};
use crate::jsonrpc::{Json, Outgoing, json};

fn items(snapshot: &Snapshot, session: &Session) -> Json {
    Converter { text: &snapshot.text, session }.diagnostics(snapshot.parse.diagnostics())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    kind: &'static str,
    result_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<&'a RawValue>,
}

/// The answer to `textDocument/diagnostic`, where `previous` is the id of the last answer that the client still has.
pub(crate) fn report(snapshot: &Snapshot, session: &Session, previous: Option<&str>) -> Json {
    let items = items(snapshot, session);
    // The id is made from what the client would get, so an answer is repeated only when something in it has changed.
    let mut hasher = DefaultHasher::new();
    items.get().hash(&mut hasher);
    let id = format!("{:016x}", hasher.finish());
    json(&if previous == Some(id.as_str()) {
        Report { kind: "unchanged", result_id: &id, items: None }
    } else {
        Report { kind: "full", result_id: &id, items: Some(&items) }
    })
}

#[derive(Serialize)]
struct Publication<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
    diagnostics: Json,
}

/// Tells the client the diagnostics of one version of a document.
pub(crate) fn publish(client: &Outgoing, snapshot: &Snapshot, session: &Session) {
    let diagnostics = items(snapshot, session);
    client.notify(PUBLISH, &Publication { uri: &snapshot.uri, version: Some(snapshot.version), diagnostics });
}

/// Takes the diagnostics of a closed document from the client's view.
pub(crate) fn withdraw(client: &Outgoing, uri: &DocumentUri) {
    client.notify(PUBLISH, &Publication { uri, version: None, diagnostics: json(&[(); 0]) });
}

const PUBLISH: &str = "textDocument/publishDiagnostics";

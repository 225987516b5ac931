//! Diagnostics for the client, asked for or not.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use serde_json::json;

use prose_analysis::Database;
use prose_analysis::diagnostics::diagnostics;
use prose_syntax::{Diagnostic, Severity};

use crate::convert::{Converter, Reported, Session};
use crate::documents::{DocumentUri, Snapshot};
use crate::json::{Json, json as text};
use crate::owner::Notification;
use crate::programs::Programs;
use crate::questions::next_id;
use crate::reads::View;
use crate::runs::Runs;
use crate::settings::Problems;

/// The diagnostics of a document with the severities that they have there, without those that are off.
pub(crate) fn reported<'db>(snapshot: &Snapshot, db: &'db Database) -> Vec<(Severity, &'db Diagnostic)> {
    diagnostics(db, snapshot.file)
        .iter()
        .filter_map(|diagnostic| Some((snapshot.config.severity(diagnostic)?, diagnostic)))
        .collect()
}

fn items(
    snapshot: &Snapshot,
    db: &Database,
    programs: &Programs,
    runs: &Runs,
    session: &Session,
) -> impl Serialize {
    let converter = Converter { text: &snapshot.text, session };
    let place = |path: &str| -> Option<(DocumentUri, ropey::Rope)> {
        let file = db.file_at(std::path::Path::new(path))?;
        Some((programs.uri(db, file)?, ropey::Rope::from_str(file.text(db).as_str())))
    };
    let reported = reported(snapshot, db);
    let mut items = converter.diagnostics(reported.iter().map(|(severity, diagnostic)| Reported {
        severity: *severity,
        diagnostic,
        uri: &snapshot.uri,
        place: &place,
    }));
    let failure = runs.failure(&snapshot.uri, &snapshot.text);
    items.extend(failure.map(|(line, message)| converter.failure_of_run(line, message)));
    items
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
pub(crate) fn report(view: &View, session: &Session, previous: Option<&str>) -> Json {
    let items = items(&view.snapshot, &view.db, &view.programs, &view.runs, session);
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
pub(crate) fn publication(
    snapshot: &Snapshot,
    db: &Database,
    programs: &Programs,
    runs: &Runs,
    session: &Session,
) -> Notification {
    let params = json!({
        "uri": &*snapshot.uri,
        "version": snapshot.version,
        "diagnostics": items(snapshot, db, programs, runs, session),
    });
    Notification { method: PUBLISH, params, id: None }
}

/// What tells a client what is wrong with settings.
pub(crate) fn of_settings(
    uri: &DocumentUri,
    version: Option<i32>,
    problems: &Problems,
    session: &Session,
) -> Notification {
    let converter = Converter { text: &problems.text, session };
    let reported = problems.found.iter().map(|(severity, diagnostic)| Reported {
        severity: *severity,
        diagnostic,
        uri,
        place: &|_| None,
    });
    let mut params = json!({ "uri": &**uri, "diagnostics": converter.diagnostics(reported) });
    if let Some(version) = version {
        params["version"] = json!(version);
    }
    Notification { method: PUBLISH, params, id: None }
}

/// The answer to `textDocument/diagnostic` for a document that is no program.
pub(crate) fn no_report() -> Json {
    text(&json!({ "kind": "full", "items": [] }))
}

/// What takes the diagnostics of a closed document from the client's view.
pub(crate) fn withdrawal(uri: &DocumentUri) -> Notification {
    let params = json!({ "uri": &**uri, "diagnostics": [] });
    Notification { method: PUBLISH, params, id: None }
}

/// What has a client ask for all diagnostics again.
pub(crate) fn refresh() -> Notification {
    Notification { method: "workspace/diagnostic/refresh", params: json!(null), id: Some(next_id()) }
}

const PUBLISH: &str = "textDocument/publishDiagnostics";

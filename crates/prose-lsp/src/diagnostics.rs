//! Diagnostics for the client, asked for or not.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use serde_json::json;

use prose_analysis::Database;
use prose_analysis::diagnostics::diagnostics;
use prose_syntax::{Diagnostic, Severity};

use crate::convert::{Converter, Reported, Session, lsp};
use crate::documents::{DocumentUri, Snapshot};
use crate::json::{Json, json as text};
use crate::owner::Notification;
use crate::questions::next_id;
use crate::reads::{View, Views};
use crate::settings::Problems;
use crate::shown::Shown;

/// The diagnostics of a document with the severities that they have there, without those that are off.
pub(crate) fn reported<'db>(snapshot: &Snapshot, db: &'db Database) -> Vec<(Severity, &'db Diagnostic)> {
    diagnostics(db, snapshot.file)
        .iter()
        .filter_map(|diagnostic| Some((snapshot.severity(diagnostic)?, diagnostic)))
        .collect()
}

fn items(view: &View<'_>, session: &Session) -> Vec<lsp::Diagnostic> {
    let View { snapshot, db, programs, runs, .. } = *view;
    let converter = view.converter(session);
    let place = |path: &str| programs.place(db, db.file_at(std::path::Path::new(path))?);
    let reported = reported(snapshot, db);
    let mut items = converter.diagnostics(reported.iter().map(|(severity, diagnostic)| Reported {
        severity: *severity,
        diagnostic,
        uri: &snapshot.uri,
        place: &place,
    }));
    let failure = runs.failure(&snapshot.name, &snapshot.text);
    items.extend(failure.map(|(line, message)| converter.failure_of_run(&snapshot.text, line, message)));
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
pub(crate) fn report(views: &Views, session: &Session, previous: Option<&str>) -> Json {
    let items: Vec<lsp::Diagnostic> = views.each().flat_map(|view| items(&view, session)).collect();
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
pub(crate) fn publication<'a>(
    uri: &DocumentUri,
    version: i32,
    programs: impl Iterator<Item = View<'a>>,
    session: &'a Session,
) -> Notification {
    let items: Vec<lsp::Diagnostic> = programs.flat_map(|view| items(&view, session)).collect();
    let params = json!({ "uri": &**uri, "version": version, "diagnostics": items });
    Notification { method: PUBLISH, params, id: None }
}

/// What tells a client what is wrong with settings.
pub(crate) fn of_settings(
    uri: &DocumentUri,
    version: Option<i32>,
    problems: &Problems,
    session: &Session,
) -> Notification {
    let shown = Shown::alone(problems.text.clone());
    let converter = Converter::new(&shown, session);
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

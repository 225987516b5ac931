//! Diagnostics for the client, asked for or not.

use std::collections::{BTreeSet, HashMap};

use prose_analysis::Database;
use prose_analysis::diagnostics::diagnostics;
use prose_project::Diagnosed;
use prose_syntax::{Diagnostic, Severity};
use serde::Deserialize;
use serde_json::json;

use crate::documents::closed::ClosedProgram;
use crate::documents::snapshot::Snapshot;
use crate::documents::typing::Typing;
use crate::protocol::convert::{Converter, Reported};
use crate::protocol::json::{Digest, Json, fields, json as text, list};
use crate::protocol::lsp;
use crate::protocol::notification::Notification;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::request::Failure;
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::reads::views::{View, Views};
use crate::workspace::settings::Problems;

/// The diagnostics of a document with the severities that they have there, without those that are off.
pub(crate) fn reported<'db>(snapshot: &Snapshot, db: &'db Database) -> Vec<(Severity, &'db Diagnostic)> {
    diagnostics(db, snapshot.file)
        .iter()
        .filter_map(|diagnostic| Some((snapshot.severity(diagnostic)?, diagnostic)))
        .collect()
}

fn items(view: &View<'_>) -> Vec<lsp::Diagnostic> {
    let View { snapshot, db, programs, runs, .. } = *view;
    let converter = view.converter();
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

/// All diagnostics of a document, which has these programs.
pub(crate) fn of_document<'a>(programs: impl Iterator<Item = View<'a>>) -> Vec<lsp::Diagnostic> {
    programs.flat_map(|view| items(&view)).collect()
}

/// Those that the client is shown while the user may be typing in it.
fn shown<'a>(programs: impl Iterator<Item = View<'a>>, typing: Option<&Typing>) -> Vec<lsp::Diagnostic> {
    let found = of_document(programs);
    match typing {
        Some(typing) => typing.shown(found),
        None => found,
    }
}

/// The answer to `textDocument/diagnostic`, where `previous` is the id of the last answer that the client still has.
pub(crate) fn report(views: &Views, previous: Option<&str>) -> Json {
    // A client that is sent diagnostics and asks for them nevertheless does not ask again.
    let typing = views.typing.as_ref().filter(|_| views.session.pulls_diagnostics);
    let items = text(&shown(views.each(), typing));
    let id = Digest::of(&items).id();
    if previous == Some(id.as_str()) {
        fields([("kind", text(&"unchanged")), ("resultId", text(&id))])
    } else {
        fields([("kind", text(&"full")), ("resultId", text(&id)), ("items", items)])
    }
}

/// A report that a client still has.
#[derive(Deserialize)]
pub(crate) struct PreviousReport {
    uri: DocumentUri,
    value: String,
}

/// The answer to `workspace/diagnostic`: the programs of the workspace that are not open and have diagnostics or had some in the
/// reports that the client still has. Open documents have reports of their own. Without news there is no answer, and the request waits for
/// some: clients ask again as soon as they are answered.
pub(crate) fn workspace_report(views: &Views, previous: &[PreviousReport]) -> Result<Json, Failure> {
    let mut previous: HashMap<&str, &str> =
        previous.iter().map(|report| (&*report.uri, &*report.value)).collect();
    let mut reports = Vec::new();
    let mut has_news = views.is_first_poll;
    let mut cleared = views.reports.last();
    let mut with_findings = BTreeSet::new();
    for program in views.closed.iter() {
        views.db.unwind_if_cancelled();
        let before = previous.remove(&*program.uri);
        let items = closed_items(views, program);
        if !items.is_empty() {
            with_findings.insert(program.uri.to_string());
        } else if before.is_none() {
            continue;
        }
        cleared.remove(&*program.uri);
        let items = text(&items);
        let id = Digest::of(&items).id();
        let is_same = before == Some(id.as_str());
        has_news |= !is_same;
        reports.push(workspace_entry(&program.uri, &id, (!is_same).then_some(items)));
    }
    // Programs that are gone get one empty report, also where the client does not name the one that it has.
    let none = text(&[(); 0]);
    let id = Digest::of(&none).id();
    for (uri, before) in previous {
        if before == id {
            cleared.remove(uri);
        } else {
            cleared.insert(uri.to_owned());
        }
    }
    for uri in cleared {
        if views.programs.has_open(&uri) {
            with_findings.insert(uri);
        } else {
            has_news = true;
            reports.push(workspace_entry(&uri, &id, Some(none.clone())));
        }
    }
    if !has_news {
        return Err(Failure::NothingNew);
    }
    views.reports.set(with_findings);
    Ok(fields([("items", list(reports))]))
}

fn closed_items(views: &Views, program: &ClosedProgram) -> Vec<lsp::Diagnostic> {
    let Views { db, programs, cache, runs, session, .. } = views;
    // Most programs have none, and need no snapshot for that.
    if diagnostics(db, program.file).is_empty() {
        return Vec::new();
    }
    let snapshot = program.snapshot(db);
    items(&View { snapshot: &snapshot, db, programs, cache, runs, session })
}

fn workspace_entry(uri: &str, id: &str, items: Option<Json>) -> Json {
    let kind = if items.is_some() { "full" } else { "unchanged" };
    // Null is the version of a file that is not open.
    let entry = [("uri", text(&uri)), ("version", text(&())), ("kind", text(&kind)), ("resultId", text(&id))];
    fields(entry.into_iter().chain(items.map(|items| ("items", items))))
}

/// The notification with the diagnostics of one version of a document, or of a file that is not open.
pub(crate) fn publication<'a>(
    uri: &DocumentUri,
    version: Option<i32>,
    programs: impl Iterator<Item = View<'a>>,
    typing: Option<&Typing>,
) -> (Notification, Digest) {
    let items = shown(programs, typing);
    let is_nothing = version.is_none() && items.is_empty();
    let publication = of_items(uri, version, &items);
    let digest = if is_nothing { Digest::default() } else { Digest::of(&publication.params) };
    (publication, digest)
}

/// The notification with these diagnostics of a document.
pub(crate) fn of_items(uri: &str, version: Option<i32>, items: &[lsp::Diagnostic]) -> Notification {
    let version = version.map(|version| ("version", text(&version)));
    let params = fields([("uri", text(&uri)), ("diagnostics", text(&items))].into_iter().chain(version));
    Notification { method: PUBLISH, params, id: None }
}

/// The notification with the diagnostics of a settings file.
pub(crate) fn of_settings(
    uri: &DocumentUri,
    version: Option<i32>,
    problems: &Problems,
    session: &Session,
) -> Notification {
    let shown = ProgramDocument::alone(problems.text.clone());
    let converter = Converter::new(&shown, session);
    let reported = problems.found.iter().map(|Diagnosed { diagnostic, severity }| Reported {
        severity: *severity,
        diagnostic,
        uri,
        place: &|_| None,
    });
    of_items(uri, version, &converter.diagnostics(reported))
}

/// The answer to `textDocument/diagnostic` for a document that is no program.
pub(crate) fn empty_report() -> Json {
    text(&json!({ "kind": "full", "items": [] }))
}

/// The notification that clears the diagnostics of a document.
pub(crate) fn cleared(uri: &DocumentUri) -> Notification {
    of_items(uri, None, &[])
}

/// The request to pull all diagnostics again.
pub(crate) fn refresh() -> Notification {
    Notification::request("workspace/diagnostic/refresh", &())
}

const PUBLISH: &str = "textDocument/publishDiagnostics";

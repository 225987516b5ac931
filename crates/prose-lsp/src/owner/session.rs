//! The session: its beginning and end, and its state for debugging.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::messages::SessionMessage;
use crate::owner::state::Owner;
use crate::protocol::answer::{Answer, send};
use crate::protocol::json::json as text;
use crate::protocol::lsp::WatchKind;
use crate::protocol::notification::Notification;

impl Owner {
    pub(super) fn session_message(&mut self, message: SessionMessage) {
        match message {
            SessionMessage::Start(session) => {
                self.analysis.settings.set_overrides(&session.settings);
                self.publisher.is_pulled = session.pulls_diagnostics;
                self.session = Arc::new(session);
            }
            SessionMessage::Initialized => {
                if self.session.watches_files {
                    self.publisher.notify(watching());
                }
                self.start_scan();
            }
            SessionMessage::Status(answer) => self.status(answer),
            SessionMessage::EndOfInput => self.requests.end_polls(),
            SessionMessage::Leaving => self.requests.leave(),
            SessionMessage::Shutdown(answer) => {
                self.requests.leave();
                self.tests.stop_all();
                self.runs.shut_down(move || send(answer, Ok(text(&()))));
            }
            SessionMessage::End => {}
        }
    }

    /// The answer to `prose/status`.
    pub(super) fn status(&mut self, answer: Answer) {
        self.sync_all();
        let documents = self.documents.programs.iter().filter(|(_, document)| document.part_of().is_none());
        let programs = documents.map(|(uri, document)| (uri, document, "program"));
        let markdown =
            self.documents.markdown.iter().map(|(uri, markdown)| (uri, &markdown.document, "markdown"));
        let others = self.documents.others.iter().map(|(uri, document)| (uri, document, "other"));
        let mut open: Vec<Value> = programs
            .chain(markdown)
            .chain(others)
            .map(|(uri, document, kind)| {
                json!({
                    "uri": &**uri,
                    "kind": kind,
                    "version": document.version(),
                    "bytes": document.text().len_bytes(),
                    "programs": self.documents.markdown.get(uri).map(|markdown| markdown.programs.len()),
                })
            })
            .collect();
        open.sort_by_key(|document| document["uri"].to_string());
        let paths: Vec<_> =
            self.documents.programs.values().map(|document| document.path_of_file().to_owned()).collect();
        let configs = paths.iter().map(|path| self.analysis.settings.of(path));
        let mut settings: Vec<String> =
            configs.filter_map(|config| Some(shown(config.project_file()?))).collect();
        settings.sort();
        settings.dedup();
        let folders: Vec<String> = self.session.folders.iter().map(|folder| shown(folder)).collect();
        let (fetching, _) = self.fetcher.under_way();
        let (programs, is_scanning) = self.scanner.status();
        let status = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "process": std::process::id(),
            "folders": folders,
            "documents": open,
            "knownPrograms": self.analysis.host.len(),
            "settings": settings,
            "fetching": fetching,
            "workspacePrograms": programs,
            "scanning": is_scanning,
            "pendingRequests": self.requests.count(),
        });
        send(answer, Ok(text(&status)));
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The request to watch programs and settings on the disk.
fn watching() -> Notification {
    let globs =
        ["**/*.prose", "**/prose.toml", "**/prose.lock", "**/SKILL.md", "**/.gitignore", "**/.ignore"];
    let mut watchers: Vec<Value> = globs.iter().map(|glob| json!({ "globPattern": glob })).collect();
    // Clients do not report the files in a deleted folder.
    watchers.push(json!({ "globPattern": "**", "kind": WatchKind::Delete }));
    let registration = json!({
        "id": "watched-files",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": { "watchers": watchers },
    });
    let params = json!({ "registrations": [registration] });
    Notification::request("client/registerCapability", &params)
}

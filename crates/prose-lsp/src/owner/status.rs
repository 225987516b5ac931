//! What the server holds at a moment, for those who look for a bug in it.

use std::path::Path;

use serde_json::{Value, json};

use super::Owner;
use crate::protocol::answer::{Answer, send};

impl Owner {
    /// The answer to `prose/status`.
    pub(super) fn status(&mut self, answer: Answer) {
        self.sync_all();
        let documents = self.documents.iter().filter(|(_, document)| document.part_of().is_none());
        let programs = documents.map(|(uri, document)| (uri, document, "program"));
        let markdown = self.markdown.iter().map(|(uri, markdown)| (uri, &markdown.document, "markdown"));
        let others = self.others.iter().map(|(uri, document)| (uri, document, "other"));
        let mut open: Vec<Value> = programs
            .chain(markdown)
            .chain(others)
            .map(|(uri, document, kind)| {
                json!({
                    "uri": &**uri,
                    "kind": kind,
                    "version": document.version(),
                    "bytes": document.text().len_bytes(),
                    "programs": self.markdown.get(uri).map(|markdown| markdown.programs.len()),
                })
            })
            .collect();
        open.sort_by_key(|document| document["uri"].to_string());
        let paths: Vec<_> =
            self.documents.values().map(|document| document.path_of_file().to_owned()).collect();
        let configs = paths.iter().map(|path| self.settings.of(path));
        let mut settings: Vec<String> =
            configs.filter_map(|config| Some(shown(config.project_file()?))).collect();
        settings.sort();
        settings.dedup();
        let folders: Vec<String> = self.session.folders.iter().map(|folder| shown(folder)).collect();
        let (fetching, _) = self.fetcher.under_way();
        let (programs, is_scanning) = self.workspace.status();
        let status = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "process": std::process::id(),
            "folders": folders,
            "documents": open,
            "knownPrograms": self.host.len(),
            "settings": settings,
            "fetching": fetching,
            "workspacePrograms": programs,
            "scanning": is_scanning,
            "pendingRequests": self.reads.pending() + self.workspace.waiting(),
        });
        send(answer, Ok(crate::protocol::json::json(&status)));
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

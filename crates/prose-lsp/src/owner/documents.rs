//! Documents: opened, edited and closed, and the analysis brought up to their state.

use std::sync::Arc;

use prose_analysis::SourceFile;
use prose_analysis::location::Origin;
use prose_project::checker::set_project;

use crate::documents::document::{Document, MAX_ANALYSED_BYTES, TooLong};
use crate::documents::message::DocumentMessage;
use crate::documents::open::Kind;
use crate::documents::public_interface::PublicInterface;
use crate::documents::snapshot::Snapshot;
use crate::features::diagnostics;
use crate::imports::fetcher::When;
use crate::owner::state::Owner;
use crate::panics::guard;
use crate::protocol::lsp::MessageType;
use crate::protocol::notification::Notification;
use crate::protocol::position::ContentChange;
use crate::protocol::request::{ANYWHERE, Failure};
use crate::protocol::uri::{DocumentUri, path_of_uri};
use crate::workspace::settings::FileConfig;

impl Owner {
    pub(super) fn document_message(&mut self, message: DocumentMessage) {
        match message {
            DocumentMessage::Open { uri, language, version, text } => {
                self.open(uri, &language, version, &text)
            }
            DocumentMessage::Change { uri, version, changes } => self.change(&uri, version, &changes),
            DocumentMessage::Close { uri } => self.close(&uri),
            DocumentMessage::Save { uri } => self.saved(&uri),
            DocumentMessage::Pause { uri, edit } => self.paused(&uri, edit),
        }
    }

    pub(super) fn open(&mut self, uri: DocumentUri, language: &str, version: i32, text: &str) {
        let path = path_of_uri(&uri);
        let kind = Kind::of(language, &path);
        let known = self.documents.known_name(&uri);
        if let Some(known_kind) = self.documents.kind(&known) {
            tracing::warn!("{uri} was opened twice; the text of the second time counts");
            if known != uri || known_kind != kind {
                self.forget(&known);
            }
        }
        self.requests.edited(&uri);
        self.documents.closed.remove(&uri);
        match Document::new(path.clone(), version, text) {
            Ok(document) => {
                self.documents.overlays.open(path.clone(), Arc::clone(&uri));
                self.publisher.settings_files_outdated = true;
                self.scanner.forget_closed();
                if let Some(told) = self.publisher.opened(&path, &uri) {
                    self.publisher.notify(diagnostics::cleared(&told));
                }
                if kind != Kind::Other && !self.session.watches_files {
                    self.analysis.settings.forget_files();
                }
                match kind {
                    Kind::Program => drop(self.documents.programs.insert(Arc::clone(&uri), document)),
                    Kind::Markdown => self.documents.open_markdown(&uri, document),
                    Kind::Other => {
                        self.documents.others.insert(uri, document);
                        return;
                    }
                }
                self.documents.mark_edited(&uri);
                self.mark_unpublished(&uri);
                self.report_if_too_large(&uri);
            }
            Err(TooLong) => tracing::error!("{uri} is not served: {TOO_LONG}"),
        }
    }

    pub(super) fn change(&mut self, uri: &DocumentUri, version: i32, changes: &[ContentChange]) {
        let encoding = self.session.encoding;
        let uri = &self.documents.known_name(uri);
        self.requests.edited(uri);
        self.start_typing(uri, changes);
        let Some(document) = self.documents.get_mut(uri) else {
            tracing::warn!(
                "a change of {uri} is ignored because the document is not open; `textDocument/didOpen` must come first"
            );
            return;
        };
        if version <= document.version() {
            // The edit is applied all the same: without it, the positions of all later edits would be wrong.
            tracing::warn!(
                "{uri} went from version {} to {version}; versions must increase",
                document.version()
            );
        }
        document.set_version(version);
        for change in changes {
            let edit = guard("applying an edit", || match change.range_in(document.text(), encoding) {
                Some(range) => document.edit(range, &change.text),
                None => document.replace(&change.text),
            });
            match edit {
                Ok(Ok(())) => {}
                Ok(Err(TooLong)) => tracing::error!("a change of {uri} is ignored: {TOO_LONG}"),
                Err(_) => document.forget_parse(),
            }
        }
        if self.documents.others.contains_key(uri) {
            self.publisher.settings_files_outdated = true;
        } else {
            self.documents.mark_edited(uri);
            self.mark_unpublished(uri);
            self.report_if_too_large(uri);
            self.wait_for_pause(uri);
        }
    }

    /// Notifies the client that a document has become too large to be analysed.
    pub(super) fn report_if_too_large(&mut self, uri: &DocumentUri) {
        let Some(document) = self.documents.with_programs(uri) else { return };
        if document.became_too_large() {
            let name = document.path.file_name().unwrap_or(document.path.as_os_str()).display();
            let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
            let message = format!(
                "`{name}` is not analysed: it has {} MB, more than the {} MB that a program may have",
                megabytes(document.text().len_bytes()),
                megabytes(MAX_ANALYSED_BYTES)
            );
            self.publisher.notify(Notification::message(MessageType::WARNING, &message));
        }
    }

    pub(super) fn close(&mut self, uri: &DocumentUri) {
        let uri = self.documents.known_name(uri);
        if self.documents.kind(&uri).is_none() {
            tracing::warn!("{uri} was closed but is not open");
            return;
        }
        self.forget(&uri);
        self.documents.closed.insert(uri);
        self.publisher.settings_files_outdated = true;
    }

    /// Closes a document. Its importers see the file on the disk.
    pub(super) fn forget(&mut self, uri: &DocumentUri) {
        self.documents.tokens.forget(uri);
        if let Some(other) = self.documents.others.remove(uri) {
            self.documents.overlays.close(&other.path);
        }
        let path = match (self.documents.markdown.remove(uri), self.documents.programs.get(uri)) {
            (Some(markdown), _) => {
                for name in &markdown.programs {
                    self.forget_program(name);
                }
                markdown.document.path
            }
            (None, Some(document)) => document.path.clone(),
            (None, None) => return,
        };
        self.documents.overlays.close(&path);
        self.publisher.unpublished.retain(|unpublished| unpublished != uri);
        self.documents.edited.retain(|edited| edited != uri);
        if !self.session.pulls_diagnostics {
            self.publisher.notify(diagnostics::cleared(uri));
        }
        self.forget_program(uri);
        self.scanner.forget_closed();
        self.publisher.reported_closed.remove(&path);
        self.mark_closed(&path);
    }

    /// Forgets that a program is open.
    pub(super) fn forget_program(&mut self, name: &DocumentUri) {
        let Some(document) = self.documents.programs.remove(name) else { return };
        Arc::make_mut(&mut self.analysis.programs).close(name);
        self.documents.edited.retain(|edited| edited != name);
        self.reload(&document.path);
        self.releases.need(false);
    }

    /// Brings the analysis up to the state of every document.
    pub(super) fn sync_all(&mut self) {
        for uri in std::mem::take(&mut self.documents.edited) {
            if self.documents.markdown.contains_key(&uri) {
                self.find_programs(&uri);
            } else {
                // Requests for the document itself get the error; others use its earlier state.
                let _ = self.sync(&uri);
            }
        }
    }

    /// Brings the analysis up to the document's state.
    pub(super) fn sync(&mut self, uri: &DocumentUri) -> Result<(SourceFile, Arc<FileConfig>), Failure> {
        let document =
            self.documents.programs.get_mut(uri).ok_or_else(|| Failure::NotOpen(Arc::clone(uri)))?;
        let config = self.analysis.settings.of(document.path_of_file());
        let host = &self.analysis.host;
        let of_network = host.file(&document.path).filter(|file| *file.origin(host.db()) != Origin::Local);
        // What came from the network belongs to the project of those who import it, wherever the file lies that shows it.
        let project = of_network.map_or_else(|| config.meaning(), |file| host.project(file));
        let known = document.known(&self.analysis.host);
        if let Some(file) = known.filter(|file| self.analysis.host.has_project(*file, &project)) {
            return Ok((file, config));
        }
        self.requests.reads.recall_views();
        let before = self
            .analysis
            .host
            .file(&document.path)
            .map(|file| PublicInterface::of(self.analysis.host.db(), file));
        let is_imported = self.analysis.host.is_imported(&document.path);
        // A program that was just opened is not being typed.
        let is_open =
            self.analysis.host.file(&document.path).is_some_and(|file| self.analysis.programs.is_open(file));
        let when = if known.is_none() && is_open { When::TypingStops } else { When::Now };
        let document_path = document.path.clone();
        let file = document.sync(&mut self.analysis.host).map_err(Failure::Panicked)?;
        if !is_open {
            Arc::make_mut(&mut self.analysis.programs).open(file, Arc::clone(uri), document);
        }
        // A fetched program that is opened to be read keeps its origin, and reaches no local file.
        let shown = (!is_open).then(|| self.fetcher.origin_of(&document_path)).flatten();
        set_project(&mut self.analysis.host, file, project, shown);
        self.load_imports(file, &config, when);
        if !is_open {
            self.load_imports_of_imports(file);
        }
        if is_imported {
            self.mark_importers(file, before.as_ref());
        }
        Ok((file, config))
    }

    /// The present state of all programs of a document.
    pub(super) fn snapshots(&mut self, uri: &DocumentUri) -> Result<Vec<Snapshot>, Failure> {
        self.sync_all();
        if &**uri == ANYWHERE {
            return Ok(Vec::new());
        }
        self.documents.names_of_programs(uri).iter().map(|name| self.snapshot(name)).collect()
    }

    pub(super) fn snapshot(&mut self, uri: &DocumentUri) -> Result<Snapshot, Failure> {
        self.sync_all();
        let (file, config) = self.sync(uri)?;
        let document = self.documents.programs.get(uri).ok_or_else(|| Failure::NotOpen(Arc::clone(uri)))?;
        Ok(document.snapshot(uri, file, &self.analysis.host, config))
    }
}

const TOO_LONG: &str = "a text of 4 GiB or more cannot be served";

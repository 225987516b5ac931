//! The one owner of the server's state.
//!
//! Every message of the client that touches state arrives here, in the order of the wire, and is dealt with before the next one
//! is looked at. Nothing here waits for the client or for a read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use futures_channel::mpsc::UnboundedSender;
use prose_analysis::contract::contract;
use prose_analysis::imports::imported_programs;
use prose_analysis::{AnalysisHost, SourceFile, Text};
use serde_json::Value;

use crate::convert::{ContentChange, Session, path_of_uri};
use crate::diagnostics;
use crate::documents::{Document, DocumentUri, Snapshot, Told, TooLong};
use crate::json::json;
use crate::panics::guard;
use crate::programs::Programs;
use crate::reads::{Answer, Attempt, Failure, Read, Reads, RequestId, View, send};
use crate::settings::Settings;

/// What the client wants, in the words of the server.
pub(crate) enum Message {
    /// The session begins.
    Start(Session),
    /// The client is going to edit a document.
    Open { uri: DocumentUri, version: i32, text: String },
    /// The client has edited a document. The changes follow one another.
    Change { uri: DocumentUri, version: i32, changes: Vec<ContentChange> },
    /// The client is done with a document.
    Close { uri: DocumentUri },
    /// The client wants to know something.
    Read(Read),
    /// The client no longer wants to know it.
    Cancel(RequestId),
    /// A read was ended by an edit and is still wanted.
    Retry(Attempt),
    /// The client has other settings now.
    Configure(Value),
    /// Files have changed on the disk.
    FilesChanged(Vec<PathBuf>),
    /// The client is about to say `exit`.
    Shutdown(Answer),
    /// The client is gone.
    End,
}

/// What the server tells the client unasked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Notification {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    /// Whether the protocol makes a request of it. Nobody waits for the answer.
    pub(crate) is_request: bool,
}

/// The state of the server.
pub(crate) struct Owner {
    session: Arc<Session>,
    host: AnalysisHost,
    settings: Settings,
    documents: HashMap<DocumentUri, Document>,
    programs: Arc<Programs>,
    reads: Reads,
    to_client: UnboundedSender<Notification>,
    /// The documents whose diagnostics the client does not have yet, in the order in which they were first changed.
    unpublished: Vec<DocumentUri>,
}

impl Owner {
    /// `to_self` brings back what a read has to say to the owner.
    pub(crate) fn new(to_self: Sender<Message>, to_client: UnboundedSender<Notification>) -> Self {
        Self {
            session: Arc::default(),
            host: AnalysisHost::default(),
            settings: Settings::default(),
            documents: HashMap::new(),
            programs: Arc::default(),
            reads: Reads::new(to_self),
            to_client,
            unpublished: Vec::new(),
        }
    }

    /// Deals with messages until there can be no more.
    pub(crate) fn run(mut self, messages: &Receiver<Message>) {
        loop {
            // Diagnostics wait until no message does: of several edits in a row only the last one's are worth sending.
            let message = if self.unpublished.is_empty() {
                messages.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                messages.try_recv()
            };
            match message {
                Ok(Message::End) => return,
                Ok(message) => {
                    // A message that panics is lost, but not the state; `receive` leaves that in order at every step.
                    let _ = guard("handling a message", || self.receive(message));
                }
                Err(TryRecvError::Empty) => {
                    let _ = guard("publishing diagnostics", || self.publish());
                }
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Start(session) => {
                self.settings.set_overrides(&session.settings);
                if session.watches_files {
                    self.notify(watching());
                }
                self.session = Arc::new(session);
            }
            Message::Open { uri, version, text } => self.open(uri, version, &text),
            Message::Change { uri, version, changes } => self.change(&uri, version, &changes),
            Message::Close { uri } => self.close(&uri),
            Message::Read(read) => self.read(read),
            Message::Cancel(id) => self.reads.cancel(&id),
            Message::Retry(attempt) => self.retry(attempt),
            Message::Configure(settings) => {
                if self.settings.set_overrides(&settings) {
                    self.mark_all_unpublished();
                }
            }
            Message::FilesChanged(paths) => self.files_changed(&paths),
            Message::Shutdown(answer) => send(answer, Ok(json(&()))),
            Message::End => {}
        }
    }

    fn open(&mut self, uri: DocumentUri, version: i32, text: &str) {
        self.reads.edited(&uri);
        match Document::new(path_of_uri(&uri), version, text) {
            Ok(document) => {
                if self.documents.insert(Arc::clone(&uri), document).is_some() {
                    tracing::warn!("{uri} was opened twice; the text of the second time counts");
                }
                self.mark_unpublished(&uri);
            }
            Err(TooLong) => tracing::error!("{uri} is not served: {TOO_LONG}"),
        }
    }

    fn change(&mut self, uri: &DocumentUri, version: i32, changes: &[ContentChange]) {
        let encoding = self.session.encoding;
        let Some(document) = self.documents.get_mut(uri) else {
            tracing::warn!(
                "a change of {uri} is ignored because the document is not open; `textDocument/didOpen` has to come first"
            );
            return;
        };
        self.reads.edited(uri);
        if version <= document.version() {
            // Leaving out the edit would put all later ones in wrong places, so the number is what is not believed.
            tracing::warn!(
                "{uri} went from version {} to {version}; versions have to grow",
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
        self.mark_unpublished(uri);
    }

    fn close(&mut self, uri: &DocumentUri) {
        let Some(document) = self.documents.remove(uri) else {
            tracing::warn!("{uri} was closed but is not open");
            return;
        };
        Arc::make_mut(&mut self.programs).close(uri);
        self.unpublished.retain(|unpublished| unpublished != uri);
        if !self.session.pulls_diagnostics {
            self.notify(diagnostics::withdrawal(uri));
        }
        // What was not saved is gone; others import what lies on the disk.
        self.read_again(&document.path);
    }

    /// Takes over what lies at a path, for those who import it.
    fn read_again(&mut self, path: &Path) {
        let Some(file) = self.host.file(path) else { return };
        match read_program(path) {
            Some(text) if *text == *file.text(self.host.db()).as_str() => {}
            Some(text) => _ = self.host.set_text(path, Text::new(text)),
            None => self.host.remove(path),
        }
        self.mark_importers_unpublished(file);
    }

    fn files_changed(&mut self, paths: &[PathBuf]) {
        if paths.iter().any(|path| path.ends_with(prose_config::FILE_NAME)) {
            self.settings.forget_files();
            self.mark_all_unpublished();
        }
        for path in paths {
            // What is open is what the client says it is.
            if self.documents.values().any(|document| document.path == *path) {
                continue;
            }
            if self.host.file(path).is_some() {
                self.read_again(path);
            } else if let Some(text) = self.host.is_imported(path).then(|| read_program(path)).flatten() {
                let file = self.host.set_text(path, Text::new(text));
                self.mark_importers_unpublished(file);
            }
        }
    }

    fn read(&mut self, read: Read) {
        match self.snapshot(&read.uri) {
            Ok(snapshot) => {
                let (host, programs) = (&self.host, &self.programs);
                let view = |snapshot| View { snapshot, db: host.snapshot(), programs: Arc::clone(programs) };
                self.reads.start(read, snapshot, Arc::clone(&self.session), view);
            }
            Err(failure) => send(read.answer, Err(failure)),
        }
    }

    fn retry(&mut self, attempt: Attempt) {
        if !self.reads.is_wanted(&attempt) {
            return;
        }
        match self.snapshot(&attempt.uri) {
            Ok(snapshot) => {
                let view = View { snapshot, db: self.host.snapshot(), programs: Arc::clone(&self.programs) };
                self.reads.retry(attempt, view, Arc::clone(&self.session));
            }
            Err(failure) => self.reads.fail(&attempt, failure),
        }
    }

    /// Brings the analysis up to the document's state.
    fn sync(&mut self, uri: &DocumentUri) -> Result<SourceFile, Failure> {
        let document = self.documents.get_mut(uri).ok_or_else(|| Failure::NotOpen(Arc::clone(uri)))?;
        let file = document.sync(&mut self.host).map_err(Failure::Panicked)?;
        if !self.programs.is_open(file) {
            Arc::make_mut(&mut self.programs).open(file, Arc::clone(uri));
        }
        self.host.load_imports(file, read_program);
        Ok(file)
    }

    fn snapshot(&mut self, uri: &DocumentUri) -> Result<Snapshot, Failure> {
        let file = self.sync(uri)?;
        let document = self.documents.get(uri).ok_or_else(|| Failure::NotOpen(Arc::clone(uri)))?;
        let config = self.settings.of(&document.path);
        self.host.set_models(file, config.models());
        Ok(document.snapshot(uri, file, &self.host, config))
    }

    fn mark_unpublished(&mut self, uri: &DocumentUri) {
        if !self.session.pulls_diagnostics && !self.unpublished.contains(uri) {
            self.unpublished.push(Arc::clone(uri));
        }
    }

    fn mark_all_unpublished(&mut self) {
        let uris: Vec<DocumentUri> = self.documents.keys().map(Arc::clone).collect();
        for uri in &uris {
            self.mark_unpublished(uri);
        }
        self.ask_to_pull();
    }

    /// Marks the open documents that import a program.
    fn mark_importers_unpublished(&mut self, program: SourceFile) {
        let db = self.host.db();
        let imports = |document: &Document| {
            self.host.file(&document.path).is_some_and(|file| imported_programs(db, file).contains(&program))
        };
        let importers = self.documents.iter().filter(|(_, document)| imports(document));
        let importers: Vec<DocumentUri> = importers.map(|(uri, _)| Arc::clone(uri)).collect();
        if importers.is_empty() {
            return;
        }
        for uri in &importers {
            self.mark_unpublished(uri);
        }
        self.ask_to_pull();
    }

    /// Has a client that asks for diagnostics itself ask for all of them again.
    fn ask_to_pull(&self) {
        if self.session.pulls_diagnostics && self.session.refreshes_diagnostics {
            self.notify(diagnostics::refresh());
        }
    }

    /// Marks those that import a document, if what matters to them has changed.
    fn tell_importers(&mut self, uri: &DocumentUri, file: SourceFile) {
        let db = self.host.db();
        let told =
            Told { contract: contract(db, file).clone(), imports: imported_programs(db, file).clone() };
        let Some(document) = self.documents.get_mut(uri) else { return };
        if document.told.as_ref() != Some(&told) {
            document.told = Some(told);
            self.mark_importers_unpublished(file);
        }
    }

    /// Sends the diagnostics of one document: between two documents a message may come that makes the second worthless.
    fn publish(&mut self) {
        if self.unpublished.is_empty() {
            return;
        }
        let uri = self.unpublished.remove(0);
        // A document that cannot be analysed keeps its last diagnostics; the log has the reason.
        if let Ok(snapshot) = self.snapshot(&uri) {
            self.notify(diagnostics::publication(&snapshot, self.host.db(), &self.programs, &self.session));
            self.tell_importers(&uri, snapshot.file);
        }
    }

    fn notify(&self, notification: Notification) {
        // The channel closes when the connection does, and then there is nobody to tell.
        let _ = self.to_client.unbounded_send(notification);
    }
}

const TOO_LONG: &str = "a text of 4 GiB or more cannot be served";

/// What has a client tell of changes of programs and settings on the disk.
fn watching() -> Notification {
    let watchers: Vec<Value> = ["**/*.prose", "**/prose.toml"]
        .iter()
        .map(|glob| serde_json::json!({ "globPattern": glob }))
        .collect();
    let registration = serde_json::json!({
        "id": "watched-files",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": { "watchers": watchers },
    });
    let params = serde_json::json!({ "registrations": [registration] });
    Notification { method: "client/registerCapability", params, is_request: true }
}

/// The text of a program on the disk; none if there is none, or one that cannot be read.
fn read_program(path: &Path) -> Option<String> {
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let text = is_file.then(|| std::fs::read_to_string(path)).transpose();
    text.unwrap_or_else(|error| {
        tracing::warn!("{} cannot be read: {error}", path.display());
        None
    })
}

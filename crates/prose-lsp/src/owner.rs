//! The one owner of the server's state.
//!
//! Every message of the client that touches state arrives here, in the order of the wire, and is dealt with before the next one
//! is looked at. Nothing here waits for the client or for a read.

mod disk;
mod imports;
mod markdown;
mod moves;
mod project_files;
mod publishing;
mod runs;
mod status;
mod workspace;

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use prose_analysis::location::Origin;
use prose_analysis::{AnalysisHost, SourceFile};
use prose_project::checker::set_project;
use serde_json::Value;

use self::markdown::{Kind, Markdown};
use self::workspace::Workspace;
use crate::background::Background;
use crate::documents::document::{Document, MAX_ANALYSED_BYTES, TooLong};
use crate::documents::message::DocumentMessage;
use crate::documents::programs::Programs;
use crate::documents::public_interface::Face;
use crate::documents::sent_tokens::SentTokens;
use crate::documents::snapshot::Snapshot;
use crate::features::diagnostics;
use crate::imports::commands::ImportMessage;
use crate::imports::fetcher::{Fetcher, When};
use crate::mailbox::Mailbox;
use crate::messages::{Message, SessionMessage};
use crate::owner::project_files::ProjectFiles;
use crate::panics::guard;
use crate::protocol::answer::send;
use crate::protocol::client::Client;
use crate::protocol::json::json;
use crate::protocol::lsp::{MessageType, WatchKind};
use crate::protocol::notification::Notification;
use crate::protocol::position::ContentChange;
use crate::protocol::progress::Progress;
use crate::protocol::request::{ANYWHERE, Failure, NEWS};
use crate::protocol::session::Session;
use crate::protocol::uri::{DocumentUri, path_of_uri};
use crate::reads::queue::Reads;
use crate::reads::read::{Attempt, Read, ReadMessage};
use crate::reads::views::Views;
use crate::runs::registry::Runs;
use crate::runs::requests::RunMessage;
use crate::workspace::message::WorkspaceMessage;
use crate::workspace::settings::{FileConfig, Settings};

/// The state of the server.
pub(crate) struct Owner {
    session: Arc<Session>,
    host: AnalysisHost,
    settings: Settings,
    /// The programs that are open: documents, and the parts of Markdown documents.
    documents: HashMap<DocumentUri, Document>,
    markdown: HashMap<DocumentUri, Markdown>,
    /// What else is open.
    others: HashMap<DocumentUri, Document>,
    /// The names of all of them by their places, since a client may write the name of one file in two ways.
    names: HashMap<PathBuf, DocumentUri>,
    programs: Arc<Programs>,
    reads: Reads,
    client: Client,
    /// What the client is told next.
    waiting: Vec<Notification>,
    /// The documents whose diagnostics the client does not have yet, in the order in which they were first changed.
    unpublished: VecDeque<DocumentUri>,
    /// The programs that the analysis does not know in their present state.
    edited: Vec<DocumentUri>,
    /// Whether a client that asks for diagnostics itself has to ask again.
    must_refresh: bool,
    /// The semantic tokens that the client has.
    tokens: Arc<SentTokens>,
    fetcher: Fetcher,
    runs: Arc<Runs>,
    progress: Progress,
    project_files: ProjectFiles,
    /// Whether there may be other files of settings in use, or other problems in them, than the client was told.
    project_files_outdated: bool,
    workspace: Workspace,
    /// How often there was something that may change what is found in programs.
    state: u64,
    background: Background,
    news: Mailbox<ReadMessage>,
    /// How often the client has asked for news of all programs.
    polls: u64,
}

impl Owner {
    /// `to_self` brings back what a read has to say to the owner.
    pub(crate) fn new(to_self: &Sender<Message>, client: Client, runs: Arc<Runs>) -> Self {
        Self {
            session: Arc::default(),
            host: AnalysisHost::default().with_listing(prose_config::programs_in),
            settings: Settings::default(),
            documents: HashMap::new(),
            markdown: HashMap::new(),
            others: HashMap::new(),
            names: HashMap::new(),
            programs: Arc::default(),
            reads: Reads::new(Mailbox::new(to_self)),
            workspace: Workspace::new(Mailbox::new(to_self)),
            fetcher: Fetcher::new(Mailbox::new(to_self)),
            runs,
            progress: Progress::new("Fetching imported programs", "fetching"),
            client,
            waiting: Vec::new(),
            unpublished: VecDeque::new(),
            edited: Vec::new(),
            must_refresh: false,
            tokens: Arc::default(),
            project_files: ProjectFiles::default(),
            project_files_outdated: false,
            state: 0,
            background: Background::default(),
            news: Mailbox::new(to_self),
            polls: 0,
        }
    }

    /// Deals with messages until there can be no more.
    pub(crate) fn run(mut self, messages: &Receiver<Message>) {
        loop {
            // Diagnostics wait until no message does: of several edits in a row only the last one's are worth sending.
            let message = if self.is_up_to_date() {
                messages.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                messages.try_recv()
            };
            match message {
                Ok(Message::Session(SessionMessage::End)) => return,
                Ok(message) => {
                    // A message that panics is lost, but not the state; `receive` leaves that in order at every step.
                    let _ = guard("handling a message", || self.receive(message));
                }
                Err(TryRecvError::Empty) => {
                    let _ = guard("publishing diagnostics", || self.catch_up());
                }
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }

    fn receive(&mut self, message: Message) {
        self.state += u64::from(message.changes_diagnostics());
        match message {
            Message::Session(message) => self.session_message(message),
            Message::Document(message) => self.document_message(message),
            Message::Read(message) => self.read_message(message),
            Message::Import(message) => self.import_message(message),
            Message::Run(message) => self.run_message(message),
            Message::Workspace(message) => self.workspace_message(message),
        }
    }

    fn session_message(&mut self, message: SessionMessage) {
        match message {
            SessionMessage::Start(session) => {
                self.settings.set_overrides(&session.settings);
                self.session = Arc::new(session);
            }
            SessionMessage::Initialized => {
                if self.session.watches_files {
                    self.notify(watching());
                }
                self.look_for_programs();
            }
            SessionMessage::Status(answer) => self.status(answer),
            SessionMessage::EndOfInput => self.end_polls(),
            SessionMessage::Leaving => self.leave(),
            SessionMessage::Shutdown(answer) => {
                self.leave();
                self.runs.shut_down(move || send(answer, Ok(json(&()))));
            }
            SessionMessage::End => {}
        }
    }

    fn document_message(&mut self, message: DocumentMessage) {
        match message {
            DocumentMessage::Open { uri, language, version, text } => {
                self.open(uri, &language, version, &text)
            }
            DocumentMessage::Change { uri, version, changes } => self.change(&uri, version, &changes),
            DocumentMessage::Close { uri } => self.close(&uri),
            DocumentMessage::Save { uri } => self.saved(&uri),
        }
    }

    fn read_message(&mut self, message: ReadMessage) {
        match message {
            ReadMessage::Start(read) => self.read(read),
            ReadMessage::Cancel(id) => {
                self.reads.cancel(&id);
                self.workspace.cancel(&id);
            }
            ReadMessage::Retry(attempt) => self.retry(attempt),
            ReadMessage::NothingNew(attempt, state) => self.hold(attempt, state),
            ReadMessage::NewsDue => self.retry_polls(),
        }
    }

    fn import_message(&mut self, message: ImportMessage) {
        match message {
            ImportMessage::Command(command) => self.execute(command),
            ImportMessage::Fetched(remote, result) => self.fetched(&remote, result),
            ImportMessage::RetryDue(remote) => self.fetch_again(&remote),
            ImportMessage::Due(remote) => {
                let asker = self.host.asker(&remote);
                self.fetcher.due(&remote, asker);
                self.tell_progress();
            }
            ImportMessage::Pinned(Ok((message, lock_file))) => {
                // Not every client watches files.
                self.files_changed(&[lock_file]);
                self.tell(&Ok(message));
            }
            ImportMessage::Pinned(Err(error)) => self.tell(&Err(error)),
        }
    }

    fn run_message(&mut self, message: RunMessage) {
        match message {
            RunMessage::Command(command) => self.execute_run(command),
            RunMessage::Query(query, answer) => self.answer_about_runs(query, answer),
            RunMessage::Changed(uri) => self.run_changed(&uri),
            RunMessage::CancelProgress(token) => self.runs.cancel_progress(&token),
        }
    }

    fn workspace_message(&mut self, message: WorkspaceMessage) {
        match message {
            WorkspaceMessage::Configure(settings) => {
                if self.settings.set_overrides(&settings) {
                    self.settings_changed();
                }
            }
            WorkspaceMessage::FilesChanged(paths) => self.files_changed(&paths),
            WorkspaceMessage::FoldersChanged { added, removed } => self.folders_changed(added, &removed),
            WorkspaceMessage::Scanned(news) => self.scanned(news),
            WorkspaceMessage::WillMove(moves, answer) => self.moving(moves, answer),
            WorkspaceMessage::Moved(moves) => self.moved(&moves),
        }
    }

    /// The name that a document is open by, if the client means one that is open.
    fn known_name(&self, uri: &DocumentUri) -> DocumentUri {
        if self.kind(uri).is_some() {
            return Arc::clone(uri);
        }
        self.names.get(&path_of_uri(uri)).unwrap_or(uri).clone()
    }

    /// What a document is that is open.
    fn kind(&self, uri: &DocumentUri) -> Option<Kind> {
        if self.documents.contains_key(uri) {
            Some(Kind::Program)
        } else if self.markdown.contains_key(uri) {
            Some(Kind::Markdown)
        } else {
            self.others.contains_key(uri).then_some(Kind::Other)
        }
    }

    fn open(&mut self, uri: DocumentUri, language: &str, version: i32, text: &str) {
        let path = path_of_uri(&uri);
        let kind = Kind::of(language, &path);
        let known = self.known_name(&uri);
        if let Some(known_kind) = self.kind(&known) {
            tracing::warn!("{uri} was opened twice; the text of the second time counts");
            if known != uri || known_kind != kind {
                self.forget(&known);
            }
        }
        self.edited(&uri);
        match Document::new(path.clone(), version, text) {
            Ok(document) => {
                self.names.insert(path.clone(), Arc::clone(&uri));
                self.project_files_outdated = true;
                if let Some(told) = self.workspace.opened(&path, &uri) {
                    self.notify(diagnostics::withdrawal(&told));
                }
                if kind != Kind::Other && !self.session.watches_files {
                    self.settings.forget_files();
                }
                match kind {
                    Kind::Program => drop(self.documents.insert(Arc::clone(&uri), document)),
                    Kind::Markdown => self.open_markdown(&uri, document),
                    Kind::Other => {
                        self.others.insert(uri, document);
                        return;
                    }
                }
                self.mark_edited(&uri);
                self.mark_unpublished(&uri);
                self.tell_if_too_large(&uri);
            }
            Err(TooLong) => tracing::error!("{uri} is not served: {TOO_LONG}"),
        }
    }

    fn change(&mut self, uri: &DocumentUri, version: i32, changes: &[ContentChange]) {
        let encoding = self.session.encoding;
        let uri = &self.known_name(uri);
        self.edited(uri);
        let markdown = self.markdown.get_mut(uri).map(|markdown| &mut markdown.document);
        let document = self.documents.get_mut(uri).or(markdown).or_else(|| self.others.get_mut(uri));
        let Some(document) = document else {
            tracing::warn!(
                "a change of {uri} is ignored because the document is not open; `textDocument/didOpen` has to come first"
            );
            return;
        };
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
        if self.others.contains_key(uri) {
            self.project_files_outdated = true;
        } else {
            self.mark_edited(uri);
            self.mark_unpublished(uri);
            self.tell_if_too_large(uri);
        }
    }

    /// Tells the client that a document has become too large to be analysed.
    fn tell_if_too_large(&mut self, uri: &DocumentUri) {
        let markdown = self.markdown.get_mut(uri).map(|markdown| &mut markdown.document);
        let Some(document) = self.documents.get_mut(uri).or(markdown) else { return };
        if document.became_too_large() {
            let name = document.path.file_name().unwrap_or(document.path.as_os_str()).display();
            let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
            let message = format!(
                "`{name}` is not analysed: it has {} MB, more than the {} MB that a program may have",
                megabytes(document.text().len_bytes()),
                megabytes(MAX_ANALYSED_BYTES)
            );
            let params = serde_json::json!({ "type": MessageType::WARNING, "message": message });
            self.notify(Notification::new("window/showMessage", &params));
        }
    }

    fn close(&mut self, uri: &DocumentUri) {
        let uri = self.known_name(uri);
        if self.kind(&uri).is_none() {
            tracing::warn!("{uri} was closed but is not open");
            return;
        }
        self.forget(&uri);
        self.project_files_outdated = true;
    }

    /// Ends the reads that an edit of a document has made worthless.
    fn edited(&mut self, uri: &DocumentUri) {
        self.reads.edited(uri);
        let is_outdated = |read: &Read| read.outdated_by_edits && read.uri == *uri;
        self.workspace.answer_waiting(is_outdated, &Failure::ContentModified);
    }

    /// Forgets that a document is open. The programs that import it see what lies on the disk.
    fn forget(&mut self, uri: &DocumentUri) {
        self.tokens.forget(uri);
        if let Some(other) = self.others.remove(uri) {
            self.names.remove(&other.path);
        }
        let path = match (self.markdown.remove(uri), self.documents.get(uri)) {
            (Some(markdown), _) => {
                for name in &markdown.programs {
                    self.forget_program(name);
                }
                markdown.document.path
            }
            (None, Some(document)) => document.path.clone(),
            (None, None) => return,
        };
        self.names.remove(&path);
        self.unpublished.retain(|unpublished| unpublished != uri);
        self.edited.retain(|edited| edited != uri);
        if !self.session.pulls_diagnostics {
            self.notify(diagnostics::withdrawal(uri));
        }
        self.forget_program(uri);
        self.workspace.closed(&path);
    }

    /// Forgets that a program is open.
    fn forget_program(&mut self, name: &DocumentUri) {
        let Some(document) = self.documents.remove(name) else { return };
        Arc::make_mut(&mut self.programs).close(name);
        self.edited.retain(|edited| edited != name);
        self.read_again(&document.path);
    }

    fn settings_changed(&mut self) {
        let programs = self.documents.values();
        for path in programs.map(|document| document.path.clone()).collect::<Vec<_>>() {
            // Whether something may be fetched is one of the settings.
            self.look_again(&path);
        }
        let uris = self.documents.keys().chain(self.markdown.keys());
        for uri in uris.map(Arc::clone).collect::<Vec<_>>() {
            self.mark_edited(&uri);
            self.mark_unpublished(&uri);
        }
        self.mark_workspace();
        self.must_refresh = true;
        self.project_files_outdated = true;
    }

    fn read(&mut self, mut read: Read) {
        if self.is_too_early(read.method) {
            return self.wait(read);
        }
        self.polls += u64::from(read.method == NEWS);
        read.uri = self.known_name(&read.uri);
        if self.others.contains_key(&read.uri) {
            let nothing = read.nothing;
            return send(read.answer, Ok(nothing()));
        }
        match self.snapshots(&read.uri) {
            Ok(snapshots) => {
                let views = self.views(read.method);
                self.reads.start(read, snapshots, Arc::clone(&self.session), views);
            }
            Err(failure) => send(read.answer, Err(failure)),
        }
    }

    fn retry(&mut self, attempt: Attempt) {
        if !self.reads.is_wanted(&attempt) {
            return;
        }
        match self.snapshots(&attempt.uri) {
            Ok(snapshots) => {
                let view = self.views(attempt.method())(snapshots);
                self.reads.retry(attempt, view, Arc::clone(&self.session));
            }
            // It was open when it was asked about.
            Err(Failure::NotOpen(_)) => self.reads.fail(&attempt, Failure::ContentModified),
            Err(failure) => self.reads.fail(&attempt, failure),
        }
    }

    /// What makes the views for a request.
    fn views(&mut self, method: &str) -> impl FnOnce(Vec<Snapshot>) -> Views + use<> {
        let closed = if method == NEWS { self.closed_programs() } else { Arc::default() };
        let is_first_poll = self.polls <= 1;
        let (db, state, cache) = (self.host.snapshot(), self.state, self.fetcher.cache());
        let (programs, runs, tokens) =
            (Arc::clone(&self.programs), Arc::clone(&self.runs), Arc::clone(&self.tokens));
        move |snapshots| Views { snapshots, db, programs, cache, runs, tokens, closed, is_first_poll, state }
    }

    /// Brings the analysis up to the state of every document.
    fn sync_all(&mut self) {
        for uri in std::mem::take(&mut self.edited) {
            if self.markdown.contains_key(&uri) {
                self.find_programs(&uri);
            } else {
                // Who asks for the document itself is told; the others have what was known of it before.
                let _ = self.sync(&uri);
            }
        }
    }

    /// Brings the analysis up to the document's state.
    fn sync(&mut self, uri: &DocumentUri) -> Result<(SourceFile, Arc<FileConfig>), Failure> {
        let document = self.documents.get_mut(uri).ok_or_else(|| Failure::NotOpen(Arc::clone(uri)))?;
        let config = self.settings.of(document.path_of_file());
        let host = &self.host;
        let of_network = host.file(&document.path).filter(|file| *file.origin(host.db()) != Origin::Local);
        // What came from the network belongs to the project of those who import it, wherever the file lies that shows it.
        let project = of_network.map_or_else(|| config.meaning(), |file| host.project(file));
        let known = document.known(&self.host);
        if let Some(file) = known.filter(|file| self.host.has_project(*file, &project)) {
            return Ok((file, config));
        }
        self.reads.recall_views();
        let before = self.host.file(&document.path).map(|file| Face::of(self.host.db(), file));
        let is_imported = self.host.is_imported(&document.path);
        // What was just opened is not being typed.
        let is_open = self.host.file(&document.path).is_some_and(|file| self.programs.is_open(file));
        let when = if known.is_none() && is_open { When::TypingStops } else { When::Now };
        let document_path = document.path.clone();
        let file = document.sync(&mut self.host).map_err(Failure::Panicked)?;
        if !is_open {
            Arc::make_mut(&mut self.programs).open(file, Arc::clone(uri), document);
        }
        // What somebody opens to read came from the network nevertheless, and reaches no file of this machine.
        let shown = (!is_open).then(|| self.fetcher.origin_of(&document_path)).flatten();
        set_project(&mut self.host, file, project, shown);
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
    fn snapshots(&mut self, uri: &DocumentUri) -> Result<Vec<Snapshot>, Failure> {
        self.sync_all();
        if &**uri == ANYWHERE {
            return Ok(Vec::new());
        }
        self.names_of_programs(uri).iter().map(|name| self.snapshot(name)).collect()
    }

    fn snapshot(&mut self, uri: &DocumentUri) -> Result<Snapshot, Failure> {
        self.sync_all();
        let (file, config) = self.sync(uri)?;
        let document = self.documents.get(uri).ok_or_else(|| Failure::NotOpen(Arc::clone(uri)))?;
        Ok(document.snapshot(uri, file, &self.host, config))
    }

    fn mark_edited(&mut self, uri: &DocumentUri) {
        if !self.edited.contains(uri) {
            self.edited.push(Arc::clone(uri));
        }
    }
}

const TOO_LONG: &str = "a text of 4 GiB or more cannot be served";

/// What has a client tell of changes of programs and settings on the disk.
fn watching() -> Notification {
    let globs = ["**/*.prose", "**/prose.toml", "**/prose.lock", "**/.gitignore", "**/.ignore"];
    let mut watchers: Vec<Value> =
        globs.iter().map(|glob| serde_json::json!({ "globPattern": glob })).collect();
    // Of a folder that is deleted, clients do not tell which files were in it.
    watchers.push(serde_json::json!({ "globPattern": "**", "kind": WatchKind::Delete }));
    let registration = serde_json::json!({
        "id": "watched-files",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": { "watchers": watchers },
    });
    let params = serde_json::json!({ "registrations": [registration] });
    Notification::request("client/registerCapability", &params)
}

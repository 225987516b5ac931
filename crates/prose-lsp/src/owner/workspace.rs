//! The programs in the folders of the session: looked for in the background, and known like those that are open.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::location::Origin;
use prose_project::files::read_import;
use prose_syntax::text::counted;

use crate::documents::closed::ClosedProgram;
use crate::features::diagnostics;
use crate::owner::state::Owner;
use crate::panics::guard;
use crate::protocol::request::WORKSPACE_DIAGNOSTIC;
use crate::protocol::uri::uri_of_path;
use crate::reads::read::Read;
use crate::reads::views::View;
use crate::workspace::files::is_program;
use crate::workspace::message::WorkspaceMessage;
use crate::workspace::scan::{ScanEvent, scan};
use crate::workspace::scanner::ScanState;

/// The requests whose answers lie in programs that may not be open. They wait for the first look at the folders.
pub(super) const READS_CLOSED: &[&str] =
    &["callHierarchy/incomingCalls", "textDocument/references", "textDocument/rename", "workspace/symbol"];

impl Owner {
    pub(super) fn workspace_message(&mut self, message: WorkspaceMessage) {
        match message {
            WorkspaceMessage::Configure(settings) => {
                if self.analysis.settings.set_overrides(&settings) {
                    self.settings_changed();
                    if !self.scanner.is_known {
                        self.start_scan();
                    }
                }
            }
            WorkspaceMessage::FilesChanged(paths) => self.files_changed(&paths),
            WorkspaceMessage::FoldersChanged { added, removed } => self.folders_changed(added, &removed),
            WorkspaceMessage::ScanEvent(news) => self.scanned(news),
            WorkspaceMessage::WillMove(moves, answer) => self.moving(moves, answer),
            WorkspaceMessage::Moved(moves) => self.moved(&moves),
            WorkspaceMessage::ReleaseDue => self.release_due(),
        }
    }

    /// Starts a scan of the folders of the session.
    pub(super) fn start_scan(&mut self) {
        let scanner = &mut self.scanner;
        // Programs that are not checked are loaded when a request looks for something in them.
        if !scanner.is_wanted && !self.analysis.settings.checks_workspace() {
            return;
        }
        if self.session.folders.is_empty() && scanner.found.is_empty() {
            scanner.is_known = true;
            return self.release_waiting();
        }
        if scanner.scan != ScanState::Idle {
            scanner.scan = ScanState::Outdated;
            return;
        }
        scanner.scan = ScanState::Running;
        scanner.read_since.clear();
        let (folders, known) = (self.session.folders.clone(), scanner.found.clone());
        let owner = scanner.owner.clone();
        let work = move || {
            let tell = |news| {
                owner.send(WorkspaceMessage::ScanEvent(news));
            };
            if guard("looking for programs", || scan(&folders, &known, tell)).is_err() {
                tell(ScanEvent::Done { gone: Vec::new(), is_complete: false });
            }
        };
        if let Err(error) = std::thread::Builder::new().name("scan".to_owned()).spawn(work) {
            tracing::error!(
                "programs that are not open stay unknown: the server cannot start a thread: {error}"
            );
            self.scanned(ScanEvent::Done { gone: Vec::new(), is_complete: false });
        }
        self.report_scan();
    }

    /// Handles an event of a scan.
    pub(super) fn scanned(&mut self, news: ScanEvent) {
        match news {
            ScanEvent::Programs(programs) => {
                for (path, stamp, text) in programs {
                    self.scanner.found.insert(path.clone(), stamp);
                    self.publisher.unpublished_closed.insert(path.clone());
                    if self.documents.overlays.has(&path) {
                        continue;
                    }
                    let is_newest = !self.scanner.read_since.contains(&path);
                    let text = if is_newest { Some(text) } else { read_import(&path).ok() };
                    self.set_closed_text(&path, text);
                }
                self.scanner.forget_closed();
                self.release_found();
            }
            ScanEvent::Done { gone, is_complete } => {
                for path in gone {
                    if self.scanner.read_since.contains(&path) && self.is_in_folders(&path) {
                        continue;
                    }
                    self.lost(&path);
                    if !self.documents.overlays.has(&path) {
                        // It may still exist, imported from another folder.
                        let is_imported = self.analysis.host.is_imported(&path);
                        let text = is_imported.then(|| read_import(&path).ok()).flatten();
                        self.set_closed_text(&path, text);
                    }
                }
                let was_outdated = self.scanner.scan == ScanState::Outdated;
                self.scanner.scan = ScanState::Idle;
                if was_outdated {
                    return self.start_scan();
                }
                if !std::mem::replace(&mut self.scanner.is_known, true) {
                    let count = self.scanner.found.len();
                    let rest = if is_complete { "" } else { "; the others are known once they are opened" };
                    tracing::info!("{count} programs were found in the workspace{rest}");
                    self.release_waiting();
                }
            }
        }
        self.report_scan();
    }

    /// Reports the progress of the first scan. Later scans read only changed files.
    fn report_scan(&mut self) {
        let scanner = &mut self.scanner;
        let is_first = !scanner.is_known && scanner.scan != ScanState::Idle;
        let message = is_first.then(|| counted(scanner.found.len(), "program"));
        if self.session.shows_progress {
            for notification in self.scanner.progress.news(message) {
                self.publisher.notify(notification);
            }
        }
    }

    /// Whether a request has to wait for the first look at the folders.
    pub(super) fn is_too_early(&self, method: &str) -> bool {
        let is_of_all = method == WORKSPACE_DIAGNOSTIC && self.analysis.settings.checks_workspace();
        let needs_workspace = is_of_all || READS_CLOSED.contains(&method);
        !self.scanner.is_known && needs_workspace
    }

    pub(super) fn wait(&mut self, read: Read) {
        self.requests.waiting.push(read);
        self.scanner.is_wanted = true;
        // Some clients never say that they are initialized.
        if self.scanner.scan == ScanState::Idle {
            self.start_scan();
        }
    }

    fn release_waiting(&mut self) {
        for read in std::mem::take(&mut self.requests.waiting) {
            self.read(read);
        }
    }

    /// Other folders are open in the client.
    pub(super) fn folders_changed(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        let session = Arc::make_mut(&mut self.session);
        session.folders.retain(|folder| !removed.contains(folder));
        for folder in added {
            if !session.folders.contains(&folder) {
                session.folders.push(folder);
            }
        }
        self.start_scan();
    }

    /// The known programs in what has changed and is no program itself: clients do not report the files in a deleted folder.
    pub(super) fn programs_in(&self, changed: &[PathBuf]) -> Vec<PathBuf> {
        let folders: HashSet<&Path> =
            changed.iter().map(PathBuf::as_path).filter(|path| !is_program(path)).collect();
        if folders.is_empty() {
            return Vec::new();
        }
        let closed = self.analysis.host.files().filter(|file| !self.analysis.programs.is_open(*file));
        let paths = closed.map(|file| file.path(self.analysis.host.db()));
        let is_in = |path: &Path| path.ancestors().skip(1).any(|folder| folders.contains(folder));
        paths.filter(|path| is_in(path)).map(|path| path.to_path_buf()).collect()
    }

    /// Whether a program is in the folders of the session.
    pub(super) fn is_in_folders(&self, path: &Path) -> bool {
        is_program(path) && self.session.folders.iter().any(|folder| path.starts_with(folder))
    }

    /// The programs of the workspace that are not open, if they are to be checked.
    pub(super) fn closed_programs(&mut self) -> Arc<[ClosedProgram]> {
        if let Some(closed) = &self.scanner.closed {
            return Arc::clone(closed);
        }
        let mut paths: Vec<&PathBuf> = self.scanner.found.keys().collect();
        paths.sort();
        let paths: Vec<PathBuf> = paths.into_iter().cloned().collect();
        let closed: Arc<[ClosedProgram]> =
            paths.iter().filter_map(|path| self.closed_program(path)).collect();
        self.scanner.closed = Some(Arc::clone(&closed));
        closed
    }

    fn closed_program(&mut self, path: &Path) -> Option<ClosedProgram> {
        if !self.analysis.settings.checks_workspace() || !self.scanner.found.contains_key(path) {
            return None;
        }
        let file = self.analysis.host.file(path).filter(|file| !self.analysis.programs.is_open(*file))?;
        // The user cannot fix a copy of another user's program.
        let is_ours =
            *file.origin(self.analysis.host.db()) == Origin::Local && !self.documents.overlays.has(path);
        let uri = uri_of_path(path).filter(|_| is_ours)?;
        let config = self.analysis.settings.of(path);
        Some(ClosedProgram { uri, file, config })
    }

    /// Every closed program has to be looked at again: under other settings.
    pub(super) fn mark_workspace(&mut self) {
        self.scanner.forget_closed();
        self.releases.need(false);
        let reported = self.publisher.reported_closed.keys();
        self.publisher.unpublished_closed.extend(self.scanner.found.keys().chain(reported).cloned());
        self.requests.reads.recall_views();
        for path in self.scanner.found.keys() {
            let Some(file) =
                self.analysis.host.file(path).filter(|file| !self.analysis.programs.is_open(*file))
            else {
                continue;
            };
            if *file.origin(self.analysis.host.db()) == Origin::Local {
                let project = self.analysis.settings.of(path).meaning();
                self.analysis.host.set_project(file, project);
            }
        }
    }

    /// Sends a client that does not pull diagnostics those of the next closed program. Returns whether there was one.
    pub(super) fn publish_next_closed(&mut self) -> bool {
        let Some(path) = self.publisher.unpublished_closed.pop_first() else { return false };
        if self.session.pulls_diagnostics {
            self.publisher.unpublished_closed.clear();
            return true;
        }
        let publication = match self.closed_program(&path) {
            Some(program) => {
                let db = self.analysis.host.db();
                let snapshot = program.snapshot(db);
                let (programs, cache, runs) = (&self.analysis.programs, &self.fetcher.cache(), &self.runs);
                let view = View { snapshot: &snapshot, db, programs, cache, runs, session: &self.session };
                let (publication, digest) =
                    diagnostics::publication(&program.uri, None, [view].into_iter(), None);
                let before = self.publisher.reported_closed.get(&path).map(|(_, digest)| *digest);
                if before.unwrap_or_default() == digest {
                    None
                } else {
                    self.publisher.reported_closed.insert(path.clone(), (program.uri, digest));
                    Some(publication)
                }
            }
            // An open document has its own, and one that was closed has none by now.
            None => self.publisher.reported_closed.remove(&path).and_then(|(uri, _)| {
                let is_open = self.documents.overlays.has(&path);
                (!is_open).then(|| diagnostics::cleared(&uri))
            }),
        };
        self.publisher.waiting.extend(publication);
        if self.publisher.unpublished_closed.is_empty()
            || self.publisher.waiting.len() >= crate::owner::publishing::MAX_BATCH
        {
            self.publisher.send_waiting();
        }
        true
    }

    /// Looks again whether there are news.
    pub(super) fn retry_polls(&mut self) {
        self.requests.is_poll_due = false;
        for (attempt, _) in std::mem::take(&mut self.requests.polls) {
            self.retry(attempt);
        }
    }
}

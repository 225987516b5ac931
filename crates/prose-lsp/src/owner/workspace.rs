//! The programs in the folders of the session: looked for in the background, and known like those that are open.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use prose_analysis::location::Origin;

use super::Owner;
use crate::documents::closed::ClosedProgram;
use crate::features::diagnostics;
use crate::mailbox::Mailbox;
use crate::panics::guard;
use crate::protocol::answer::send;
use crate::protocol::json::Digest;
use crate::protocol::progress::Progress;
use crate::protocol::request::{Failure, NEWS, RequestId};
use crate::protocol::uri::{DocumentUri, uri_of_path};
use crate::reads::read::{Attempt, Read, ReadMessage};
use crate::reads::views::View;
use crate::workspace::files::is_program;
use crate::workspace::message::WorkspaceMessage;
use crate::workspace::scan::{Scanned, Stamps, scan};
use prose_project::files::read_import;

/// How often it is looked whether there are news of all programs, at most.
const BETWEEN_POLLS: Duration = Duration::from_millis(500);

/// The requests whose answers lie in programs that may not be open. They wait for the first look at the folders.
const ABOUT_ALL: &[&str] = &[
    "callHierarchy/incomingCalls",
    "textDocument/references",
    "textDocument/rename",
    NEWS,
    "workspace/symbol",
];

/// What is known of the programs in the folders of the session.
pub(super) struct Workspace {
    /// The programs of the last scan, whether they are open or not.
    found: Stamps,
    scan: ScanState,
    /// What was read since the scan under way began, which may have read it before.
    read_since: HashSet<PathBuf>,
    /// Whether the folders have been looked at once.
    is_known: bool,
    /// What waits for that.
    waiting: Vec<Read>,
    /// Those that are not open, in order; none if that has to be found out again.
    closed: Option<Arc<[ClosedProgram]>>,
    /// The closed programs whose diagnostics the client may not have.
    unpublished: BTreeSet<PathBuf>,
    /// What the client was told of closed programs that have findings.
    told: HashMap<PathBuf, (DocumentUri, Digest)>,
    /// The requests for news of all programs that had none, with the state of the server then.
    polls: Vec<(Attempt, u64)>,
    /// Whether they are looked at again in a moment.
    is_poll_due: bool,
    /// Whether there will be no news any more, so that no request waits for some.
    is_leaving: bool,
    progress: Progress,
    owner: Mailbox<WorkspaceMessage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanState {
    Idle,
    Running,
    /// Something may have changed where the scan under way has been already.
    Outdated,
}

impl Workspace {
    pub(super) fn new(owner: Mailbox<WorkspaceMessage>) -> Self {
        Self {
            found: Stamps::new(),
            scan: ScanState::Idle,
            read_since: HashSet::new(),
            is_known: false,
            waiting: Vec::new(),
            closed: None,
            unpublished: BTreeSet::new(),
            told: HashMap::new(),
            polls: Vec::new(),
            is_poll_due: false,
            is_leaving: false,
            progress: Progress::new("Looking for programs", "scan"),
            owner,
        }
    }

    /// Whether a scan has found a program, so that the next one sees whether it is another.
    pub(super) fn has_found(&self, path: &Path) -> bool {
        self.found.contains_key(path)
    }

    /// The owner looks at a file itself.
    pub(super) fn reads(&mut self, path: &Path) {
        if self.scan != ScanState::Idle {
            self.read_since.insert(path.to_owned());
        }
    }

    /// There is no program at a path any more. One that comes back may have the stamp that this one had.
    pub(super) fn lost(&mut self, path: &Path) {
        self.mark(path);
        self.found.remove(path);
        self.forget_closed();
    }

    /// How many programs the folders have, and whether they are being looked at.
    pub(super) fn status(&self) -> (usize, bool) {
        (self.found.len(), self.scan != ScanState::Idle)
    }

    /// How many requests wait for something to happen in the workspace.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// A request that waits is no longer wanted.
    pub(super) fn answer_waiting(&mut self, which: impl Fn(&Read) -> bool, failure: &Failure) {
        for read in self.waiting.extract_if(.., |read| which(read)) {
            send(read.answer, Err(failure.clone()));
        }
    }

    pub(super) fn cancel(&mut self, id: &RequestId) {
        self.answer_waiting(|read| read.id == *id, &Failure::Cancelled);
    }

    /// Other programs are closed now, or under other settings.
    pub(super) fn forget_closed(&mut self) {
        self.closed = None;
    }

    /// A document was opened. Gives the name by which the client was told of its diagnostics, if that is not the one it has now.
    pub(super) fn opened(&mut self, path: &Path, uri: &DocumentUri) -> Option<DocumentUri> {
        self.forget_closed();
        let (told, _) = self.told.remove(path)?;
        (told != *uri).then_some(told)
    }

    /// A document was closed whose diagnostics the client was told to forget.
    pub(super) fn closed(&mut self, path: &Path) {
        self.forget_closed();
        self.told.remove(path);
        self.mark(path);
    }

    /// The diagnostics of a program may be others, if it is one of the workspace.
    pub(super) fn mark(&mut self, path: &Path) {
        if self.found.contains_key(path) || self.told.contains_key(path) {
            self.unpublished.insert(path.to_owned());
        }
    }

    /// Whether the client knows all that there is to know at the state of the server with this number.
    pub(super) fn is_up_to_date(&self, state: u64) -> bool {
        let has_no_news = self.is_poll_due || self.polls.iter().all(|(_, as_of)| *as_of == state);
        self.unpublished.is_empty() && has_no_news
    }
}

impl Owner {
    /// Looks into the folders of the session. What is known to have changed is read again.
    pub(super) fn look_for_programs(&mut self) {
        let workspace = &mut self.workspace;
        if self.session.folders.is_empty() && workspace.found.is_empty() {
            workspace.is_known = true;
            return self.release_waiting();
        }
        if workspace.scan != ScanState::Idle {
            workspace.scan = ScanState::Outdated;
            return;
        }
        workspace.scan = ScanState::Running;
        workspace.read_since.clear();
        let (folders, known) = (self.session.folders.clone(), workspace.found.clone());
        let owner = workspace.owner.clone();
        let work = move || {
            let tell = |news| {
                owner.send(WorkspaceMessage::Scanned(news));
            };
            if guard("looking for programs", || scan(&folders, &known, tell)).is_err() {
                tell(Scanned::Done { gone: Vec::new(), is_complete: false });
            }
        };
        if let Err(error) = std::thread::Builder::new().name("scan".to_owned()).spawn(work) {
            tracing::error!(
                "programs that are not open stay unknown: the server cannot start a thread: {error}"
            );
            self.scanned(Scanned::Done { gone: Vec::new(), is_complete: false });
        }
        self.tell_scan();
    }

    /// Takes up what a scan has found.
    pub(super) fn scanned(&mut self, news: Scanned) {
        match news {
            Scanned::Programs(programs) => {
                for (path, stamp, text) in programs {
                    self.workspace.found.insert(path.clone(), stamp);
                    self.workspace.unpublished.insert(path.clone());
                    // What is open is what the client says it is.
                    if self.names.contains_key(&path) {
                        continue;
                    }
                    let is_newest = !self.workspace.read_since.contains(&path);
                    let text = if is_newest { Some(text) } else { read_import(&path).ok() };
                    self.take_over(&path, text);
                }
                self.workspace.forget_closed();
            }
            Scanned::Done { gone, is_complete } => {
                for path in gone {
                    if self.workspace.read_since.contains(&path) && self.is_in_folders(&path) {
                        continue;
                    }
                    self.workspace.lost(&path);
                    if !self.names.contains_key(&path) {
                        // It may be there nevertheless, for those who import it from another folder.
                        let is_imported = self.host.is_imported(&path);
                        let text = is_imported.then(|| read_import(&path).ok()).flatten();
                        self.take_over(&path, text);
                    }
                }
                let was_outdated = self.workspace.scan == ScanState::Outdated;
                self.workspace.scan = ScanState::Idle;
                if was_outdated {
                    return self.look_for_programs();
                }
                if !std::mem::replace(&mut self.workspace.is_known, true) {
                    let count = self.workspace.found.len();
                    let rest = if is_complete { "" } else { "; the others are known once they are opened" };
                    tracing::info!("{count} programs were found in the workspace{rest}");
                    self.release_waiting();
                }
            }
        }
        self.tell_scan();
    }

    /// Tells a client that shows it of the first scan. Later ones look at what has changed alone.
    fn tell_scan(&mut self) {
        let workspace = &mut self.workspace;
        let is_first = !workspace.is_known && workspace.scan != ScanState::Idle;
        let message = is_first.then(|| match workspace.found.len() {
            1 => "1 program".to_owned(),
            count => format!("{count} programs"),
        });
        if self.session.shows_progress {
            for notification in self.workspace.progress.news(message) {
                self.notify(notification);
            }
        }
    }

    /// Whether a request has to wait for the first look at the folders.
    pub(super) fn is_too_early(&self, method: &str) -> bool {
        !self.workspace.is_known && ABOUT_ALL.contains(&method)
    }

    pub(super) fn wait(&mut self, read: Read) {
        self.workspace.waiting.push(read);
        // Some clients never say that they are initialized.
        if self.workspace.scan == ScanState::Idle {
            self.look_for_programs();
        }
    }

    fn release_waiting(&mut self) {
        for read in std::mem::take(&mut self.workspace.waiting) {
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
        self.look_for_programs();
    }

    /// The known programs in what has changed and is no program itself: of a folder that is gone, clients do not tell what was in it.
    pub(super) fn programs_in(&self, changed: &[PathBuf]) -> Vec<PathBuf> {
        let folders: HashSet<&Path> =
            changed.iter().map(PathBuf::as_path).filter(|path| !is_program(path)).collect();
        if folders.is_empty() {
            return Vec::new();
        }
        let closed = self.host.files().filter(|file| !self.programs.is_open(*file));
        let paths = closed.map(|file| file.path(self.host.db()));
        let is_in = |path: &Path| path.ancestors().skip(1).any(|folder| folders.contains(folder));
        paths.filter(|path| is_in(path)).map(|path| path.to_path_buf()).collect()
    }

    /// Whether a program that nobody has open and nobody imports belongs to the workspace, so that a scan would find it.
    pub(super) fn is_in_folders(&self, path: &Path) -> bool {
        is_program(path) && self.session.folders.iter().any(|folder| path.starts_with(folder))
    }

    /// The programs of the workspace that are not open, if they are to be checked.
    pub(super) fn closed_programs(&mut self) -> Arc<[ClosedProgram]> {
        if let Some(closed) = &self.workspace.closed {
            return Arc::clone(closed);
        }
        let mut paths: Vec<&PathBuf> = self.workspace.found.keys().collect();
        paths.sort();
        let paths: Vec<PathBuf> = paths.into_iter().cloned().collect();
        let closed: Arc<[ClosedProgram]> =
            paths.iter().filter_map(|path| self.closed_program(path)).collect();
        self.workspace.closed = Some(Arc::clone(&closed));
        closed
    }

    fn closed_program(&mut self, path: &Path) -> Option<ClosedProgram> {
        if !self.settings.checks_workspace() || !self.workspace.found.contains_key(path) {
            return None;
        }
        let file = self.host.file(path).filter(|file| !self.programs.is_open(*file))?;
        // A copy of somebody else's program is nothing that a person could put right.
        let is_ours = *file.origin(self.host.db()) == Origin::Local && !self.names.contains_key(path);
        let uri = uri_of_path(path).filter(|_| is_ours)?;
        let config = self.settings.of(path);
        Some(ClosedProgram { uri, file, config })
    }

    /// Every closed program has to be looked at again: under other settings.
    pub(super) fn mark_workspace(&mut self) {
        self.workspace.forget_closed();
        let workspace = &mut self.workspace;
        workspace.unpublished.extend(workspace.found.keys().chain(workspace.told.keys()).cloned());
        self.reads.recall_views();
        for path in self.workspace.found.keys() {
            let Some(file) = self.host.file(path).filter(|file| !self.programs.is_open(*file)) else {
                continue;
            };
            if *file.origin(self.host.db()) == Origin::Local {
                let project = self.settings.of(path).meaning();
                self.host.set_project(file, project);
            }
        }
    }

    /// Tells a client that does not ask for diagnostics those of the next closed program. Gives whether there was one.
    pub(super) fn publish_next_closed(&mut self) -> bool {
        let Some(path) = self.workspace.unpublished.pop_first() else { return false };
        if self.session.pulls_diagnostics {
            self.workspace.unpublished.clear();
            return true;
        }
        let publication = match self.closed_program(&path) {
            Some(program) => {
                let db = self.host.db();
                let snapshot = program.snapshot(db);
                let (programs, cache, runs) = (&self.programs, &self.fetcher.cache(), &self.runs);
                let view = View { snapshot: &snapshot, db, programs, cache, runs };
                let (publication, digest) =
                    diagnostics::publication(&program.uri, None, [view].into_iter(), &self.session);
                let before = self.workspace.told.get(&path).map(|(_, digest)| *digest);
                if before.unwrap_or_default() == digest {
                    None
                } else {
                    self.workspace.told.insert(path.clone(), (program.uri, digest));
                    Some(publication)
                }
            }
            // An open document has its own, and one that was closed has none by now.
            None => self.workspace.told.remove(&path).and_then(|(uri, _)| {
                let is_open = self.names.contains_key(&path);
                (!is_open).then(|| diagnostics::withdrawal(&uri))
            }),
        };
        self.waiting.extend(publication);
        if self.workspace.unpublished.is_empty() || self.waiting.len() >= super::publishing::IN_ONE_PIECE {
            self.send_waiting();
        }
        true
    }

    /// A request for news of all programs has found none at the state of the server with a number. It is answered when there are some.
    pub(super) fn hold(&mut self, attempt: Attempt, as_of: u64) {
        if self.workspace.is_leaving {
            self.reads.fail(&attempt, Failure::Cancelled);
        } else {
            self.workspace.polls.push((attempt, as_of));
        }
    }

    /// Has requests for news looked at again in a moment: who types changes much that is soon changed again.
    pub(super) fn retry_polls_soon(&mut self) {
        self.workspace.is_poll_due = true;
        self.background.send_after(BETWEEN_POLLS, &self.news, ReadMessage::NewsDue);
    }

    /// Looks again whether there are news.
    pub(super) fn retry_polls(&mut self) {
        self.workspace.is_poll_due = false;
        for (attempt, _) in std::mem::take(&mut self.workspace.polls) {
            self.retry(attempt);
        }
    }

    /// Nobody waits for an answer any more.
    pub(super) fn leave(&mut self) {
        self.workspace.answer_waiting(|_| true, &Failure::Cancelled);
        self.end_polls();
    }

    /// There will be no news any more.
    pub(super) fn end_polls(&mut self) {
        self.workspace.is_leaving = true;
        for (attempt, _) in std::mem::take(&mut self.workspace.polls) {
            self.reads.fail(&attempt, Failure::Cancelled);
        }
    }
}

//! The runs that this server executes or has executed, shared between threads.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use prose_run::Project;
use prose_view::View;
use prose_vm::program::Program;
use ropey::Rope;
use smol_str::SmolStr;

use crate::mailbox::Mailbox;
use crate::protocol::client::Client;
use crate::protocol::client_requests::ClientRequests;
use crate::protocol::notification::Notification;
use crate::protocol::request::Failure;
use crate::protocol::uri::DocumentUri;
use crate::runs::history::{AskedSession, History, LastRun};
use crate::runs::lines::line_map;
use crate::runs::recorded_views::RecordedViews;
use crate::runs::requests::RunMessage;
use crate::runs::trace;
use crate::runs::trace::Failed;

/// The number of an execution in this server.
pub(super) type Ticket = u64;

/// The runs of a server.
pub(crate) struct Runs {
    pub(super) runs: DashMap<Ticket, Run>,
    next: AtomicU64,
    history: History,
    pub(super) recorded_views: RecordedViews,
    pub(super) under_way: UnderWay,
    owner: Mailbox<RunMessage>,
    client: Client,
    pub(super) client_requests: ClientRequests,
}

/// A run that this server executes or has executed, or that it follows while another process does.
pub(super) struct Run {
    pub(super) uri: DocumentUri,
    /// Its id; none for a dry run, and for one whose files are not there yet.
    pub(super) id: Option<SmolStr>,
    /// The text of the program when it started.
    pub(super) text: Arc<str>,
    /// The line of the document that was then the first one of the program.
    pub(super) first_line: u32,
    pub(super) view: View,
    /// Its folder, once its files are there.
    pub(super) folder: Option<PathBuf>,
    /// Stops it; none for a run that another process executes.
    pub(super) stop: Option<tokio::sync::mpsc::UnboundedSender<Stop>>,
    pub(super) is_over: bool,
}

/// Why a run is stopped before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// The user stops it.
    User,
    /// The editor is closed.
    Shutdown,
}

impl Stop {
    pub(super) fn reason(self) -> String {
        match self {
            Stop::User => "stopped in the editor".to_owned(),
            Stop::Shutdown => "the editor was closed".to_owned(),
        }
    }
}

impl Runs {
    pub(crate) fn new(
        owner: Mailbox<RunMessage>,
        client: Client,
        client_requests: ClientRequests,
    ) -> Arc<Self> {
        Arc::new(Self {
            runs: DashMap::new(),
            next: AtomicU64::new(0),
            history: History::default(),
            recorded_views: RecordedViews::default(),
            under_way: UnderWay::default(),
            owner,
            client,
            client_requests,
        })
    }

    /// A number for a run that starts.
    pub(super) fn next_ticket(&self) -> Ticket {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Reports that a run of a document has started or ended.
    pub(super) fn changed(&self, uri: DocumentUri) {
        self.owner.send(RunMessage::Changed(uri));
    }

    /// Notes that a run has its files. Earlier runs of the document are no longer shown.
    pub(super) fn has_files(&self, ticket: Ticket, uri: &DocumentUri, id: &SmolStr) {
        self.runs.retain(|other, run| *other == ticket || !run.is_over || run.uri != *uri);
        if let Some(mut run) = self.runs.get_mut(&ticket) {
            run.id = Some(id.clone());
        }
        self.owner.send(RunMessage::Changed(Arc::clone(uri)));
    }

    /// Stops runs of this server. Gives how many there were to stop.
    fn stop(&self, why: &Stop, which: impl Fn(&Run) -> bool) -> usize {
        let live = self.runs.iter().filter(|run| !run.is_over && which(run));
        live.filter(|run| run.stop.as_ref().is_some_and(|stop| stop.send(why.clone()).is_ok())).count()
    }

    /// The folders of live runs: of one run, or of all runs of programs.
    pub(crate) fn live_folders(
        &self,
        uris: Option<&[DocumentUri]>,
        id: Option<&SmolStr>,
        is_here: Option<bool>,
    ) -> Vec<PathBuf> {
        let live = self.runs.iter().filter(|run| {
            !run.is_over
                && uris.is_none_or(|uris| uris.contains(&run.uri))
                && id.is_none_or(|id| run.id.as_ref() == Some(id))
                && is_here.is_none_or(|is_here| is_here == run.stop.is_some())
        });
        live.filter_map(|run| run.folder.clone()).collect()
    }

    /// Whether a run is executed or followed here.
    pub(super) fn is_shown(&self, id: &SmolStr) -> bool {
        self.runs.iter().any(|run| !run.is_over && run.id.as_ref() == Some(id))
    }

    /// How many runs of other processes are followed.
    pub(super) fn followed(&self) -> usize {
        self.runs.iter().filter(|run| !run.is_over && run.stop.is_none()).count()
    }

    /// Stops one run, or all runs of programs.
    pub(crate) fn cancel(&self, uris: Option<&[DocumentUri]>, id: Option<&SmolStr>) -> Result<(), Failure> {
        let is_meant = |run: &Run| {
            uris.is_none_or(|uris| uris.contains(&run.uri)) && id.is_none_or(|id| run.id.as_ref() == Some(id))
        };
        match (self.stop(&Stop::User, is_meant), id) {
            (0, Some(id)) => {
                Err(Failure::Refused(format!("the run {id} is not under way here; there is nothing to stop")))
            }
            (0, None) => {
                Err(Failure::Refused("nothing of this program runs; there is nothing to stop".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Stops the run whose progress a person has taken away.
    pub(crate) fn cancel_progress(&self, token: &serde_json::Value) {
        let token = token.as_str().unwrap_or_default();
        self.stop(&Stop::User, |run| run.id.as_ref().is_some_and(|id| progress_token(id) == token));
    }

    /// Stops everything.
    pub(crate) fn stop_all(&self) {
        self.stop(&Stop::Shutdown, |_| true);
    }

    /// Waits until everything that was stopped is on the disk, or has had its time for that.
    pub(crate) fn wait_until_ended(&self) {
        self.under_way.wait();
    }

    /// Stops everything and says when that is done.
    pub(crate) fn shut_down(self: &Arc<Self>, over: impl FnOnce() + Send + 'static) {
        self.stop_all();
        if self.under_way.is_none() {
            return over();
        }
        let runs = Arc::clone(self);
        // The owner does not wait. Without a thread the client gets no answer, and continues all the same.
        let waiting = std::thread::Builder::new().name("shutdown".to_owned()).spawn(move || {
            runs.wait_until_ended();
            over();
        });
        if let Err(error) = waiting {
            tracing::error!("a thread could not be started: {error}");
        }
    }

    /// Looks at the run of a document that started last.
    fn of_document<T>(&self, uri: &DocumentUri, look: impl FnOnce(&Run) -> T) -> Option<T> {
        let ours = self.runs.iter().filter(|run| run.uri == *uri && run.id.is_some());
        let last = ours.map(|run| *run.key()).max()?;
        let run = self.runs.get(&last)?;
        Some(look(&run))
    }

    /// The line in which the last run of a document failed, and why; none if the statement is another one now.
    pub(crate) fn failure(&self, uri: &DocumentUri, now: &Rope) -> Option<(usize, String)> {
        let (text, failed) = self.of_document(uri, |run| {
            let failed = Failed::of(&run.view).filter(|_| run.is_over)?;
            Some((Arc::clone(&run.text), failed))
        })??;
        let map = line_map(&text, now);
        let lines: Option<Vec<usize>> =
            (failed.span.first..=failed.span.last).map(|line| map.line(line)).collect();
        Some((*lines?.first()?, failed.message))
    }

    /// The inlay hints of a document by line. Statements whose line was edited have none.
    pub(crate) fn marks(&self, uri: &DocumentUri, now: &Rope) -> Vec<(usize, String)> {
        let marks = self.of_document(uri, |run| (Arc::clone(&run.text), trace::marks(&run.view)));
        let Some((before, marks)) = marks else { return Vec::new() };
        let map = line_map(&before, now);
        let marks = marks.into_iter().filter_map(|(line, mark)| Some((map.line(line)?, mark)));
        // The call that runs a block on its own comes after the last line of the document, where nothing is written.
        let is_written = |line: usize| {
            let line = now.get_line(line);
            line.is_some_and(|line| line.chars().any(|char| !char.is_whitespace()))
        };
        marks.filter(|(line, mark)| is_written(*line) && !mark.is_empty()).collect()
    }

    /// The last run of a program as a whole, and that of each of its blocks, as far as their folders tell.
    pub(crate) fn last_runs(&self, project: &Project, program: &Path) -> Vec<LastRun> {
        self.history.last_runs(project, program)
    }

    /// The sessions that a recorded run has asked.
    pub(crate) fn asked_sessions(&self, last: &LastRun) -> Arc<[AskedSession]> {
        self.history.asked_sessions(&last.details.summary.folder)
    }

    /// What the latest runs of a program have used.
    pub(crate) fn used_before(&self, project: &Project, program: &Program) -> Arc<prose_run::History> {
        self.history.used_before(project, program)
    }

    /// The runs of a document that are under way.
    pub(crate) fn live(&self, uri: &DocumentUri) -> Vec<SmolStr> {
        let live = self.runs.iter().filter(|run| run.uri == *uri && !run.is_over);
        let mut ids: Vec<SmolStr> = live.filter_map(|run| run.id.clone()).collect();
        ids.sort();
        ids
    }

    /// Whether this server executes a run now.
    pub(super) fn is_live(&self, id: &SmolStr) -> bool {
        self.runs.iter().any(|run| !run.is_over && run.stop.is_some() && run.id.as_ref() == Some(id))
    }

    /// The view of a run that is executed or followed here, with what its agents report at the moment.
    pub(super) fn live_view(&self, id: &SmolStr) -> Option<View> {
        let live = self.runs.iter().find(|run| !run.is_over && run.id.as_ref() == Some(id))?;
        Some(live.view.clone())
    }

    pub(super) fn send_to_client(&self, notifications: Vec<Notification>) {
        self.client.notify(notifications);
    }
}

/// The token of the progress of a run.
pub(super) fn progress_token(id: &str) -> String {
    format!("run-{id}")
}

/// How many runs are under way, dry ones too.
#[derive(Default)]
pub(super) struct UnderWay {
    count: Mutex<usize>,
    changed: Condvar,
}

impl UnderWay {
    /// How long runs have to record that they were stopped, with the agents that have to end for that.
    const TIMEOUT: Duration = Duration::from_secs(5);

    fn lock(&self) -> MutexGuard<'_, usize> {
        // Nothing panics under the lock.
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self) {
        *self.lock() += 1;
    }

    pub(super) fn end(&self) {
        *self.lock() -= 1;
        self.changed.notify_all();
    }

    fn is_none(&self) -> bool {
        *self.lock() == 0
    }

    fn wait(&self) {
        let waited = self.changed.wait_timeout_while(self.lock(), Self::TIMEOUT, |count| *count > 0);
        let (count, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *count > 0 {
            tracing::warn!("{} runs did not stop in time; they can be resumed", *count);
        }
    }
}

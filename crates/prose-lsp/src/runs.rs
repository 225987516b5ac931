//! The runs of a server: what runs now, and what last ran of each document.
//!
//! Each run has a thread of its own, which executes it, and another one, which tells the client how it goes. Both write into one map that the
//! owner and the reads look into; what they have to say to the owner comes as a message.

mod execution;
pub(crate) mod history;
mod inputs;
mod lines;
pub(crate) mod orders;
pub(crate) mod queries;
mod teller;
mod trace;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use futures_channel::mpsc::UnboundedSender;
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{Database, SourceFile};
use prose_run::{Order, Project};
use prose_syntax::{Diagnostic, Severity};
use prose_vm::value::Value;
use ropey::Rope;
use smol_str::SmolStr;
use tokio::sync::mpsc::UnboundedReceiver;

use self::history::{History, LastRun};
use self::lines::LineMap;
use self::teller::Teller;
use self::trace::Trace;
use crate::messages::Message;
use crate::panics::guard;
use crate::protocol::notification::Notification;
use crate::protocol::questions::Questions;
use crate::protocol::request::{Answer, Failure, send};
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::workspace::settings::FileConfig;

/// The number of an execution in this server.
type Ticket = u64;

/// The runs of a server.
pub(crate) struct Runs {
    runs: DashMap<Ticket, Run>,
    next: AtomicU64,
    history: History,
    under_way: UnderWay,
    to_owner: Sender<Message>,
    to_client: UnboundedSender<Vec<Notification>>,
    questions: Questions,
}

/// A run that this server executes or has executed.
struct Run {
    uri: DocumentUri,
    /// Its id; none for a dry run, and for one whose files are not there yet.
    id: Option<SmolStr>,
    /// The text of the program when it started.
    text: Arc<str>,
    /// The line of the document that was then the first one of the program.
    first_line: u32,
    trace: Trace,
    stop: tokio::sync::mpsc::UnboundedSender<Stop>,
    is_over: bool,
}

/// Why a run is stopped before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    /// A person wants it.
    Person,
    /// The editor is closed.
    Shutdown,
    /// It needs an input that it does not get.
    NoInput(String),
}

impl Stop {
    fn reason(self) -> String {
        match self {
            Stop::Person => "stopped in the editor".to_owned(),
            Stop::Shutdown => "the editor was closed".to_owned(),
            Stop::NoInput(reason) => reason,
        }
    }
}

/// What is to be run.
pub(crate) struct Launch {
    pub(crate) order: Order,
    /// The name of the program in the editor.
    pub(crate) uri: DocumentUri,
    /// Its text.
    pub(crate) text: Arc<str>,
    /// The line of the document, counted from 0, that is its first one.
    pub(crate) first_line: usize,
    /// The inputs that came with the command.
    pub(crate) given: Vec<(SmolStr, Value)>,
    pub(crate) session: Arc<Session>,
    pub(crate) answer: Answer,
}

impl Runs {
    pub(crate) fn new(
        to_owner: Sender<Message>,
        to_client: UnboundedSender<Vec<Notification>>,
        questions: Questions,
    ) -> Arc<Self> {
        Arc::new(Self {
            runs: DashMap::new(),
            next: AtomicU64::new(0),
            history: History::default(),
            under_way: UnderWay::default(),
            to_owner,
            to_client,
            questions,
        })
    }

    /// Starts a run on a thread of its own. The answer comes when its files are there, or at the end of a dry run.
    pub(crate) fn launch(self: &Arc<Self>, launch: Launch) {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let (stop, stopped) = tokio::sync::mpsc::unbounded_channel();
        let run = Run {
            uri: Arc::clone(&launch.uri),
            id: None,
            text: Arc::clone(&launch.text),
            first_line: u32::try_from(launch.first_line).unwrap_or(u32::MAX),
            trace: Trace::default(),
            stop,
            is_over: false,
        };
        self.runs.insert(ticket, run);
        self.under_way.begin();
        let runs = Arc::clone(self);
        let started = std::thread::Builder::new().name("run".to_owned()).spawn(move || {
            runs.execute(ticket, launch, stopped);
        });
        if let Err(error) = started {
            // The answer went with the thread, so the client is told that the log has the reason.
            tracing::error!("a run cannot be started: {error}");
            self.runs.remove(&ticket);
            self.under_way.end();
        }
    }

    fn execute(self: &Arc<Self>, ticket: Ticket, launch: Launch, stopped: UnboundedReceiver<Stop>) {
        let (uri, session) = (Arc::clone(&launch.uri), Arc::clone(&launch.session));
        let panicked = guard("running a program", || execution::execute(self, ticket, launch, stopped)).err();
        let id = self.runs.get_mut(&ticket).and_then(|mut run| {
            run.is_over = true;
            run.trace.stop_all();
            run.id.clone()
        });
        match id {
            Some(id) => {
                if let Some(panicked) = panicked {
                    let uri = Arc::clone(&uri);
                    Teller { runs: self, ticket, id, uri, session: &session }.end(&panicked.to_string());
                }
                let _ = self.to_owner.send(Message::RunChanged(uri));
            }
            None => drop(self.runs.remove(&ticket)),
        }
        self.under_way.end();
    }

    /// Notes that a run has its files. What is known of earlier runs of the document is no longer shown.
    fn has_files(&self, ticket: Ticket, uri: &DocumentUri, id: &SmolStr) {
        self.runs.retain(|other, run| *other == ticket || !run.is_over || run.uri != *uri);
        if let Some(mut run) = self.runs.get_mut(&ticket) {
            run.id = Some(id.clone());
        }
        let _ = self.to_owner.send(Message::RunChanged(Arc::clone(uri)));
    }

    /// Stops runs. Gives how many there were to stop.
    fn stop(&self, why: &Stop, which: impl Fn(&Run) -> bool) -> usize {
        let live = self.runs.iter().filter(|run| !run.is_over && which(run));
        live.filter(|run| run.stop.send(why.clone()).is_ok()).count()
    }

    /// Stops one run, or all runs of programs.
    pub(crate) fn cancel(&self, uris: Option<&[DocumentUri]>, id: Option<&SmolStr>) -> Result<(), Failure> {
        let is_meant = |run: &Run| {
            uris.is_none_or(|uris| uris.contains(&run.uri)) && id.is_none_or(|id| run.id.as_ref() == Some(id))
        };
        match (self.stop(&Stop::Person, is_meant), id) {
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
        self.stop(&Stop::Person, |run| run.id.as_ref().is_some_and(|id| progress_token(id) == token));
    }

    /// Stops everything.
    pub(crate) fn stop_all(&self) {
        self.stop(&Stop::Shutdown, |_| true);
    }

    /// Waits until everything that was stopped is on the disk, or has had its time for that.
    pub(crate) fn wait_until_over(&self) {
        self.under_way.wait();
    }

    /// Stops everything and says when that is done.
    pub(crate) fn shut_down(self: &Arc<Self>, over: impl FnOnce() + Send + 'static) {
        self.stop_all();
        if self.under_way.is_none() {
            return over();
        }
        let runs = Arc::clone(self);
        // The owner has other things to do, and waits for nobody. Without a thread the client is left without an answer, and goes on all the same.
        let waiting = std::thread::Builder::new().name("shutdown".to_owned()).spawn(move || {
            runs.wait_until_over();
            over();
        });
        if let Err(error) = waiting {
            tracing::error!("a thread could not be started: {error}");
        }
    }

    /// What a read makes of the run of a document that started last.
    fn of_document<T>(&self, uri: &DocumentUri, look: impl FnOnce(&Run) -> T) -> Option<T> {
        let ours = self.runs.iter().filter(|run| run.uri == *uri && run.id.is_some());
        let last = ours.map(|run| *run.key()).max()?;
        let run = self.runs.get(&last)?;
        Some(look(&run))
    }

    /// The line in which the last run of a document failed, and why; none if the statement is another one now.
    pub(crate) fn failure(&self, uri: &DocumentUri, now: &Rope) -> Option<(usize, String)> {
        let (text, failed) = self.of_document(uri, |run| {
            let failed = run.trace.failure().filter(|_| run.is_over)?;
            Some((Arc::clone(&run.text), failed.clone()))
        })??;
        let map = LineMap::new(&text, now);
        let lines: Option<Vec<usize>> =
            (failed.span.first..=failed.span.last).map(|line| map.line(line)).collect();
        Some((*lines?.first()?, failed.message))
    }

    /// What stands behind which lines of a document. Statements whose line was edited have nothing.
    pub(crate) fn marks(&self, uri: &DocumentUri, now: &Rope) -> Vec<(usize, String)> {
        let marks = self.of_document(uri, |run| (Arc::clone(&run.text), run.trace.marks()));
        let Some((before, marks)) = marks else { return Vec::new() };
        let map = LineMap::new(&before, now);
        let marks = marks.into_iter().filter_map(|(line, mark)| Some((map.line(line)?, mark)));
        // The call that runs a block on its own stands behind the last line of the document, where nothing is written.
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

    /// The runs of a document that are under way.
    pub(crate) fn live(&self, uri: &DocumentUri) -> Vec<SmolStr> {
        let live = self.runs.iter().filter(|run| run.uri == *uri && !run.is_over);
        let mut ids: Vec<SmolStr> = live.filter_map(|run| run.id.clone()).collect();
        ids.sort();
        ids
    }

    fn tell_client(&self, notifications: Vec<Notification>) {
        // The channel closes when the connection does, and then there is nobody to tell.
        let _ = self.to_client.unbounded_send(notifications);
    }
}

/// The token of the progress of a run.
fn progress_token(id: &str) -> String {
    format!("run-{id}")
}

/// Where the runs of a program keep their files: in the folder of its `prose.toml`, else in the folder that is open in the editor, else beside it.
/// None for a program that lies in no folder.
pub(crate) fn project_of(program: &Path, config: &FileConfig, session: &Session) -> Option<Project> {
    let folder = program.parent().filter(|folder| folder.is_absolute())?;
    let of_settings = config.project_file().and_then(Path::parent);
    let open = session.folders.iter().filter(|open| folder.starts_with(open));
    let open = open.max_by_key(|open| open.components().count()).map(|open| open.as_path());
    let root = of_settings.or(open).unwrap_or(folder);
    Some(Project { home: std::env::home_dir(), ..Project::new(root) })
}

/// The errors that keep a program from being run (decision 15), the first one first.
pub(crate) fn errors<'db>(db: &'db Database, file: SourceFile, config: &FileConfig) -> Vec<&'db Diagnostic> {
    let found = diagnostics(db, file).iter();
    let mut errors: Vec<_> = found.filter(|found| config.severity(found) == Some(Severity::Error)).collect();
    errors.sort_by_key(|error| error.range.start());
    errors
}

/// How many runs are under way, dry ones too.
#[derive(Default)]
struct UnderWay {
    count: Mutex<usize>,
    changed: Condvar,
}

impl UnderWay {
    /// How long runs have to record that they were stopped, with the agents that have to end for that.
    const PATIENCE: Duration = Duration::from_secs(5);

    fn lock(&self) -> MutexGuard<'_, usize> {
        // Nothing panics under the lock.
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) {
        *self.lock() += 1;
    }

    fn end(&self) {
        *self.lock() -= 1;
        self.changed.notify_all();
    }

    fn is_none(&self) -> bool {
        *self.lock() == 0
    }

    fn wait(&self) {
        let waited = self.changed.wait_timeout_while(self.lock(), Self::PATIENCE, |count| *count > 0);
        let (count, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *count > 0 {
            tracing::warn!("{} runs did not stop in time; they can be resumed", *count);
        }
    }
}

/// Answers a command with a refusal.
pub(crate) fn refuse(answer: Answer, reason: impl Into<String>) {
    send(answer, Err(Failure::Refused(reason.into())));
}

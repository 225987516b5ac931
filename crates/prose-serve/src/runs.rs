//! The runs of a folder: those that this process executes, and those that are recorded in its projects.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prose_run::{Project, RunHooks, RunRequest, UserApprovals};
use prose_state::StateError;
use prose_state::journal::JOURNAL_FILE;
use prose_state::reader::JournalReader;
use prose_state::runs::{RunDetails, RunSummary};
use prose_view::View;
use prose_vm::activity::{AnswerSource, Approvals, NoApprovals};
use prose_vm::event::{Event, RunEnd};
use prose_vm::value::Value;
use smol_str::SmolStr;
use tokio::sync::{Notify, oneshot, watch};

use crate::folder::Folder;
use crate::questions::{AskedHere, Questions};

/// How long stopped runs may take to end when the server ends. Their agents are ended with the process in any case.
const MAX_STOPPING: Duration = Duration::from_secs(10);

/// How many ended runs are kept, and for how long. Later they are read from their files.
const MAX_ENDED: usize = 16;
const MAX_ENDED_TIME: Duration = Duration::from_secs(600);

/// The runs of a folder.
pub(crate) struct Runs {
    folder: Arc<Folder>,
    /// Those of this process, in the order in which they started.
    live: Mutex<VecDeque<Arc<LiveRun>>>,
}

/// A run of this process.
pub(crate) struct LiveRun {
    pub(crate) id: SmolStr,
    pub(crate) project: Project,
    pub(crate) questions: Arc<Questions>,
    view: Mutex<View>,
    stop: Notify,
    /// The number of its events, with those that are not recorded.
    events: watch::Sender<u64>,
    ended: watch::Sender<Option<Ended>>,
    /// What went wrong with its notifications.
    warnings: Mutex<Vec<String>>,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    /// The end, or the failure that kept the run from it.
    pub(crate) result: Result<RunEnd, String>,
    at: Instant,
}

impl LiveRun {
    pub(crate) fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the run. It may continue for a moment.
    pub(crate) fn stop(&self) {
        self.stop.notify_one();
    }

    /// How it ended, if it did.
    pub(crate) fn end(&self) -> Option<Result<RunEnd, String>> {
        self.ended.borrow().as_ref().map(|ended| ended.result.clone())
    }

    /// What went wrong with its notifications, which may end after it.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What happens to it from now on.
    pub(crate) fn changes(&self) -> Changes {
        Changes {
            events: self.events.subscribe(),
            questions: self.questions.changes(),
            ended: self.ended.subscribe(),
        }
    }
}

/// What happens to a run.
pub(crate) struct Changes {
    events: watch::Receiver<u64>,
    questions: watch::Receiver<u64>,
    ended: watch::Receiver<Option<Ended>>,
}

impl Changes {
    /// Waits for the next question or answer, for the end, and, where it is wanted, for the next event.
    pub(crate) async fn next(&mut self, with_events: bool) {
        // The senders live as long as the run, which the caller holds.
        tokio::select! {
            _ = self.events.changed(), if with_events => {}
            _ = self.questions.changed() => {}
            _ = self.ended.changed() => {}
        }
    }

    /// Waits for the end.
    pub(crate) async fn end(&mut self) {
        let _ = self.ended.wait_for(Option::is_some).await;
    }
}

/// A run that is named.
pub(crate) enum Found {
    Live(Arc<LiveRun>),
    Recorded(Box<RunDetails>),
}

/// Receives the events of a run on the thread that executes it; the second argument is false for recorded events that are executed again.
pub(crate) type Observer = Box<dyn FnMut(&Event, bool) + Send>;

/// A run that is to be executed.
pub(crate) struct Launch {
    pub(crate) request: RunRequest,
    /// The inputs that answer its questions.
    pub(crate) given: Vec<(SmolStr, Value)>,
    /// The answer to its first question.
    pub(crate) next: Option<Value>,
    /// Whether a person answers permission questions here.
    pub(crate) asks_user: bool,
    /// Receives its events.
    pub(crate) observer: Option<Observer>,
}

impl Launch {
    /// A run that nobody watches and nobody answers permission questions of.
    pub(crate) fn new(request: RunRequest) -> Self {
        Self { request, given: Vec::new(), next: None, asks_user: false, observer: None }
    }
}

impl Runs {
    pub(crate) fn new(folder: Arc<Folder>) -> Self {
        Self { folder, live: Mutex::default() }
    }

    /// Those of this process, without those that ended long ago.
    fn live(&self) -> MutexGuard<'_, VecDeque<Arc<LiveRun>>> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let age = |run: &Arc<LiveRun>| run.ended.borrow().as_ref().map(|ended| ended.at.elapsed());
        let mut excess = live.iter().filter(|run| age(run).is_some()).count().saturating_sub(MAX_ENDED);
        live.retain(|run| match age(run) {
            None => true,
            Some(_) if excess > 0 => {
                excess -= 1;
                false
            }
            Some(age) => age <= MAX_ENDED_TIME,
        });
        live
    }

    /// Starts or resumes a run on a thread of its own. The error says why it cannot start.
    pub(crate) async fn launch(
        self: &Arc<Self>,
        launch: impl FnOnce(&Folder) -> Result<Launch, String> + Send + 'static,
    ) -> Result<Arc<LiveRun>, String> {
        let (started, start) = oneshot::channel();
        let runs = Arc::clone(self);
        let execute = move || {
            let prepared = launch(&runs.folder).and_then(|launch| {
                let Launch { request, given, next, asks_user, observer } = launch;
                let project = request.project.clone();
                let source = if asks_user { AnswerSource::Acp } else { AnswerSource::Mcp };
                let prepared = prose_run::prepare(request).map_err(|failure| failure.to_string())?;
                let live = Arc::new(LiveRun {
                    id: prepared.run().into(),
                    project,
                    questions: Arc::new(Questions::new(given, next, source)),
                    view: Mutex::default(),
                    stop: Notify::new(),
                    events: watch::Sender::new(0),
                    ended: watch::Sender::new(None),
                    warnings: Mutex::default(),
                });
                Ok((prepared, live, asks_user, observer))
            });
            let (prepared, live, asks_user, mut sink) = match prepared {
                Ok(prepared) => prepared,
                Err(reason) => return drop(started.send(Err(reason))),
            };
            let approvals: Arc<dyn Approvals> = match asks_user {
                true => Arc::new(UserApprovals::new(AskedHere(Arc::clone(&live.questions)))),
                false => Arc::new(NoApprovals),
            };
            {
                let mut others = runs.live();
                // A resumed run replaces the one that ended.
                others.retain(|other| other.id != live.id);
                others.push_back(Arc::clone(&live));
            }
            // A client that is gone receives nothing, and its run is stopped with the server.
            let _ = started.send(Ok(Arc::clone(&live)));
            let mut observer = |event: &Event, is_new: bool| {
                live.view().apply(event);
                if let Some(sink) = &mut sink {
                    sink(event, is_new);
                }
                live.events.send_modify(|count| *count += 1);
            };
            let notifier = prepared.notifier();
            let finished = prepared.execute(RunHooks {
                questions: prose_run::Questions::answered_by(Arc::clone(&live.questions) as _, approvals),
                observer: &mut observer,
                interrupted: Box::pin(async {
                    live.stop.notified().await;
                    "it was stopped by the client".to_owned()
                }),
                narration: None,
            });
            let result = match finished {
                Ok(finished) => match finished.unrecorded {
                    None => Ok(finished.end),
                    Some(error) => Err(format!("its end cannot be recorded: {error}")),
                },
                Err(failure) => Err(failure.to_string()),
            };
            live.ended.send_replace(Some(Ended { result, at: Instant::now() }));
            let warnings = notifier.settle();
            live.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warnings);
        };
        std::thread::Builder::new()
            .name("run".to_owned())
            .spawn(execute)
            .map_err(|error| format!("a run cannot be started: {error}"))?;
        match start.await {
            Ok(started) => started,
            Err(_) => Err("a defect in prose has ended the run".to_owned()),
        }
    }

    /// The run of this process with an id.
    pub(crate) fn live_run(&self, id: &str) -> Option<Arc<LiveRun>> {
        self.live().iter().find(|live| live.id == id).cloned()
    }

    /// The run whose id starts with this or contains it.
    pub(crate) fn find(&self, run: &str) -> Result<Found, String> {
        let matches: Vec<_> = self.live().iter().filter(|live| live.id.contains(run)).cloned().collect();
        if let [live] = matches.as_slice() {
            return Ok(Found::Live(Arc::clone(live)));
        }
        recorded(&self.folder, run).map(|details| match self.live_run(&details.summary.id) {
            Some(live) => Found::Live(live),
            None => Found::Recorded(Box::new(details)),
        })
    }

    /// Stops all runs and waits until they have ended.
    pub(crate) async fn stop_all(&self) {
        let live: Vec<_> = self.live().iter().cloned().collect();
        live.iter().for_each(|live| live.stop());
        let ended = async {
            for live in &live {
                live.changes().end().await;
            }
        };
        // Runs that take longer are interrupted like those of a process that was killed, and can be resumed as well.
        let _ = tokio::time::timeout(MAX_STOPPING, ended).await;
    }
}

/// The run whose id starts with this or contains it, from its files.
pub(crate) fn recorded(folder: &Folder, run: &str) -> Result<RunDetails, String> {
    let mut missing = None;
    let mut found = Vec::new();
    for project in folder.projects() {
        match project.find_run(run) {
            Ok(id) => found.push((project, id)),
            Err(error @ StateError::NoRun { .. }) => missing = missing.or(Some(error)),
            Err(error) => return Err(error.to_string()),
        }
    }
    match found.as_slice() {
        [(project, id)] => project.show_run(id).map_err(|error| error.to_string()),
        [] => {
            let missing = missing.unwrap_or_else(|| StateError::NoRun {
                run: run.to_owned(),
                folder: Project::new(folder.root()).runs(),
            });
            Err(missing.to_string())
        }
        several => {
            let runs = several.iter().map(|(_, id)| id.to_string()).collect();
            Err(StateError::Ambiguous { part: run.to_owned(), runs }.to_string())
        }
    }
}

/// All recorded runs of the folder, the latest first.
pub(crate) fn list(folder: &Folder) -> Result<Vec<RunSummary>, String> {
    let mut runs = Vec::new();
    for project in folder.projects() {
        runs.extend(project.list_runs().map_err(|error| error.to_string())?);
    }
    runs.sort_by(|a, b| (b.started, &b.id).cmp(&(a.started, &a.id)));
    Ok(runs)
}

/// The events of a recorded run. The last line of a run that continues may be just being written.
pub(crate) fn events(folder: &Path) -> Result<impl Iterator<Item = Event>, StateError> {
    Ok(JournalReader::open(&folder.join(JOURNAL_FILE))?.map_while(Result::ok))
}

#[cfg(test)]
mod tests {
    use prose_run::{Start, UserFiles, UserTrust};

    use super::*;
    use crate::Options;
    use crate::runnable::Runnable;

    #[tokio::test]
    async fn ended_runs_are_read_from_their_files_later() {
        let folder = prose_fixture::tempdir().unwrap();
        std::fs::write(folder.path().join("a.prose"), "output a = \"A\"\n").unwrap();
        let trust = UserTrust { files: UserFiles::at(folder.path().join("user")), is_trusted: false };
        let options = Options { folder: folder.path().to_owned(), offline: true, trust };
        let runs = Arc::new(Runs::new(Arc::new(Folder::new(options).unwrap())));
        let mut ids = Vec::new();
        for _ in 0..MAX_ENDED + 2 {
            let launch = |folder: &Folder| {
                let runnable = Runnable::load(folder, "a.prose").unwrap();
                Ok(Launch::new(runnable.request(folder, Start::New)))
            };
            let live = runs.launch(launch).await.unwrap();
            live.changes().end().await;
            ids.push(live.id.clone());
        }
        assert_eq!(runs.live().len(), MAX_ENDED);
        assert!(matches!(runs.find(&ids[0]), Ok(Found::Recorded(_))));
        assert!(matches!(runs.find(&ids[MAX_ENDED]), Ok(Found::Live(_))));
    }
}

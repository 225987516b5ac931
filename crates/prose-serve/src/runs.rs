//! The runs of a folder: those that this process executes, and those that are recorded in its projects.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prose_run::questions::{AnswerError, Attendance, user};
use prose_run::{Project, Questions, RunHooks, RunRequest, Start};
use prose_state::StateError;
use prose_state::journal::journal_of;
use prose_state::reader::JournalReader;
use prose_state::runs::{RunDetails, RunSummary};
use prose_view::View;
use prose_vm::event::{Event, RunEnd};
use prose_vm::questions::{AnswerSource, OpenQuestion, QuestionId};
use prose_vm::value::Value;
use smol_str::SmolStr;
use tokio::sync::{Notify, oneshot, watch};

use crate::folder::Folder;
use crate::runnable::Runnable;

/// How long stopped runs may take to end when the server ends. Their agents are ended with the process in any case.
const MAX_STOPPING: Duration = Duration::from_secs(10);

/// How long a run with open questions may take to end by itself when the client has left. One that is at work is stopped then.
const MAX_LEAVING: Duration = Duration::from_secs(1);

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
    /// The desk of its questions, which other processes can answer as well.
    pub(crate) desk: Questions,
    /// The client, who can answer.
    _attendance: Attendance,
    /// Where the answers of the client come from.
    source: AnswerSource,
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

    /// Answers a question for the client. An answer that the question does not offer is an error, and the question stays open.
    pub(crate) fn answer(&self, question: QuestionId, value: &Value) -> Result<(), AnswerError> {
        self.desk.answer_with(Some(question), value, user(self.source))
    }

    /// Stops the run. It may continue for a moment.
    pub(crate) fn stop(&self) {
        self.stop.notify_one();
    }

    /// How it ended, if it did.
    pub(crate) fn end(&self) -> Option<Result<RunEnd, String>> {
        self.ended.borrow().as_ref().map(|ended| ended.result.clone())
    }

    fn warn(&self, warning: String) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }

    /// What went wrong with its notifications, which may end after it, and when it waited for its database.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What happens to it from now on.
    pub(crate) fn changes(&self) -> Changes {
        Changes {
            events: self.events.subscribe(),
            questions: self.desk.changes(),
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
    /// This process executes it, or has just ended it.
    Live(Arc<LiveRun>),
    /// It has files. Another process may execute it.
    Recorded(Box<Recorded>),
}

/// A run that has files.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// The folder that stores it.
    pub(crate) project: Project,
    pub(crate) details: RunDetails,
}

impl Recorded {
    pub(crate) fn id(&self) -> &SmolStr {
        &self.details.summary.id
    }

    /// The run as it stands now.
    pub(crate) fn again(self) -> Result<Self, String> {
        let details = self.project.show_run(self.id()).map_err(|error| error.to_string())?;
        Ok(Self { details, ..self })
    }

    /// The questions that it waits for, while no process executes it.
    pub(crate) fn waiting(&self) -> &[OpenQuestion] {
        &self.details.summary.waiting
    }

    /// The program, to resume the run.
    pub(crate) fn runnable(&self, folder: &Folder) -> Result<Runnable, String> {
        let id = self.id();
        let Some(head) = &self.details.head else { return Err(self.without_journal()) };
        Runnable::load(folder, &head.from)
            .map_err(|unloaded| format!("run {id} cannot be resumed here: {unloaded}"))
    }

    /// Why a run of another implementation is not resumed here.
    pub(crate) fn without_journal(&self) -> String {
        let id = self.id();
        format!("run {id} has no journal; resume it with `prose resume {id}` in a terminal")
    }

    /// What resumes it.
    pub(crate) fn resumes(&self) -> Start {
        Start::Resume { run: self.id().clone(), accept_changes: false }
    }
}

/// Receives the events of a run on the thread that executes it; the second argument is false for recorded events that are executed again.
pub(crate) type Observer = Box<dyn FnMut(&Event, bool) + Send>;

/// Receives the id and the folder of a run before it starts.
type Prepared = Box<dyn FnOnce(&str, &Path) + Send>;

/// A run that is to be executed.
pub(crate) struct Launch {
    pub(crate) request: RunRequest,
    /// The inputs that answer its questions.
    pub(crate) given: Vec<(SmolStr, Value)>,
    /// Who answers its questions: an agent with [`AnswerSource::Mcp`], which leaves permissions and limits to a person, or a person with
    /// [`AnswerSource::Acp`].
    pub(crate) source: AnswerSource,
    /// Receives its folder.
    pub(crate) prepared: Option<Prepared>,
    /// Receives its events.
    pub(crate) observer: Option<Observer>,
}

impl Launch {
    /// A run without watchers.
    pub(crate) fn new(request: RunRequest, source: AnswerSource) -> Self {
        Self { request, given: Vec::new(), source, prepared: None, observer: None }
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
                let Launch { request, given, source, prepared: was_prepared, observer } = launch;
                let project = request.project.clone();
                let prepared = prose_run::prepare(request).map_err(|failure| failure.to_string())?;
                if let (Some(was_prepared), Some(folder)) = (was_prepared, &prepared.folder) {
                    was_prepared(prepared.run(), folder);
                }
                let desk = Questions::new(given);
                let attendance = match source {
                    AnswerSource::Acp => desk.attend(),
                    _ => desk.attend_inputs(),
                };
                let live = Arc::new(LiveRun {
                    id: prepared.run().into(),
                    project,
                    desk,
                    _attendance: attendance,
                    source,
                    view: Mutex::default(),
                    stop: Notify::new(),
                    events: watch::Sender::new(0),
                    ended: watch::Sender::new(None),
                    warnings: Mutex::default(),
                });
                Ok((prepared, live, observer))
            });
            let (prepared, live, mut sink) = match prepared {
                Ok(prepared) => prepared,
                Err(reason) => return drop(started.send(Err(reason))),
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
            let told = Arc::downgrade(&live);
            prepared.tell(move |sentence| {
                if let Some(live) = told.upgrade() {
                    live.warn(sentence.to_owned());
                }
            });
            let finished = prepared.execute(RunHooks {
                questions: live.desk.clone(),
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
            for warning in notifier.settle() {
                live.warn(warning);
            }
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

    /// The run whose id starts with this or contains it. Reading its files takes a while.
    pub(crate) fn find(&self, run: &str) -> Result<Found, String> {
        if let Some(live) = self.live_run(run).filter(|live| live.end().is_none()) {
            return Ok(Found::Live(live));
        }
        let recorded = recorded(&self.folder, run)?;
        // After it has ended here, another process may have resumed it.
        let is_same = |live: &Arc<LiveRun>| match live.end() {
            Some(Ok(end)) => recorded.details.end.as_ref() == Some(&end),
            Some(Err(_)) | None => true,
        };
        Ok(match self.live_run(recorded.id()).filter(is_same) {
            Some(live) => Found::Live(live),
            None => Found::Recorded(Box::new(recorded)),
        })
    }

    /// Does something with the folder that may take a while, without keeping messages of the client waiting.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let runs = Arc::clone(self);
        let worked = tokio::task::spawn_blocking(move || work(&runs)).await;
        worked.unwrap_or_else(|_| Err("a defect in prose has ended this request".to_owned()))
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Whether one of its runs waits for an answer.
    pub(crate) fn is_asking(&self) -> bool {
        self.live().iter().any(|live| !live.desk.open().is_empty())
    }

    /// Stops all runs and waits until they have ended. Those that only wait for an answer stay waiting.
    pub(crate) async fn stop_all(&self) {
        let live: Vec<_> = self.live().iter().cloned().collect();
        let ended = async || {
            for live in &live {
                live.changes().end().await;
            }
        };
        for live in &live {
            match live.desk.open().is_empty() {
                true => live.stop(),
                // It can be answered later, by anyone (decision 24).
                false => live.desk.abandon(),
            }
        }
        if tokio::time::timeout(MAX_LEAVING, ended()).await.is_ok() {
            return;
        }
        live.iter().for_each(|live| live.stop());
        // Runs that take longer are interrupted like those of a process that was killed, and can be resumed as well.
        let _ = tokio::time::timeout(MAX_STOPPING, ended()).await;
    }
}

/// The run whose id starts with this or contains it, from its files.
pub(crate) fn recorded(folder: &Folder, run: &str) -> Result<Recorded, String> {
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
        [(project, id)] => {
            let details = project.show_run(id).map_err(|error| error.to_string())?;
            Ok(Recorded { project: project.clone(), details })
        }
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
pub(crate) fn events(folder: &Path) -> Result<impl Iterator<Item = Event> + use<>, StateError> {
    Ok(JournalReader::open(&journal_of(folder))?.map_while(Result::ok))
}

#[cfg(test)]
mod tests {
    use prose_run::{UserFiles, UserTrust};

    use super::*;
    use crate::Options;

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
                Ok(Launch::new(runnable.request(folder, Start::New), AnswerSource::Mcp))
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

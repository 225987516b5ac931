//! Performs effects with the harnesses of this machine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prose_run::secrets;
use prose_vm::activity::{Activity, AnswerFuture, Approvals, PermissionAnswer, PermissionQuestion, Reporter};
use prose_vm::budget::Accounts;
use prose_vm::effect::{Effect, Failure, Outcome, Reply, Request, Usage};
use prose_vm::error::ErrorKind;
use prose_vm::runner::perform_for_another;
use prose_vm::secrets::Secrets;
use smol_str::SmolStr;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{OnceCell, oneshot};

use crate::bundle::Bundle;
use crate::checkout::Checkouts;
use crate::effects::{Asked, Done};
use crate::harness::{RunHarness, harness_in};
use crate::news::News;
use crate::repository::Clones;

/// The keys of this machine, which no other one is told.
static SECRETS: LazyLock<Arc<Secrets>> = LazyLock::new(|| Arc::new(secrets()));

/// What a claim has used so far, for its heartbeat.
pub(crate) type Used = Arc<Mutex<Option<Usage>>>;

/// How long the harness of a run is kept without a request: the next one is often not far.
const KEPT: Duration = Duration::from_secs(60);

/// The harnesses of the runs that effects are performed for.
#[derive(Default)]
pub(crate) struct Backends {
    made: Mutex<HashMap<Arc<str>, Backend>>,
    clones: Arc<Clones>,
    /// The folder that agents work in, if the machines share one.
    workspace: Option<PathBuf>,
}

/// A claimed request as it is sent, and its number of attempts with this one.
pub(crate) struct Work {
    pub(crate) attempt: i32,
    pub(crate) request: String,
}

/// The folder in that of a worker which the requests of a run are performed in.
pub(crate) fn folder_of(worker: &Path, run: &str) -> PathBuf {
    worker.join(format!("{run}-effects"))
}

/// What the requests of a run are performed with.
#[derive(Clone)]
pub(crate) struct Performer {
    made: RunHarness,
    /// Where agents work in a repository: what makes a working tree for each session.
    checkouts: Option<Arc<Checkouts>>,
}

/// The harness of a run, which is made once for all of its requests, and when it was asked for last.
struct Backend {
    harness: Arc<OnceCell<Performer>>,
    used: Instant,
}

impl Backends {
    /// No harnesses yet, of a worker whose agents work in a folder that machines share.
    pub(crate) fn new(workspace: Option<PathBuf>) -> Self {
        Self { workspace, ..Self::default() }
    }

    /// Whether the harness of a run was made.
    pub(crate) fn is_made(&self, run: &str) -> bool {
        self.lock().get(run).is_some_and(|backend| backend.harness.initialized())
    }

    /// The harness of a run, which is made of its bundle in a folder of its own unless that was done already. The folder of the worker.
    pub(crate) async fn get(
        &self,
        run: &Arc<str>,
        bundle: Option<Arc<str>>,
        worker: &Path,
    ) -> Result<Performer, String> {
        let harness = {
            let mut made = self.lock();
            let backend = made
                .entry(Arc::clone(run))
                .or_insert_with(|| Backend { harness: Arc::default(), used: Instant::now() });
            backend.used = Instant::now();
            Arc::clone(&backend.harness)
        };
        let making = async {
            let (run, bundle) = (Arc::clone(run), bundle.ok_or("the run was removed")?);
            let (worker, clones) = (worker.to_owned(), Arc::clone(&self.clones));
            let workspace = self.workspace.clone();
            let make = move || make(run, &bundle, worker, workspace.as_deref(), clones);
            let made = tokio::task::spawn_blocking(make).await;
            made.unwrap_or_else(|error| Err(error.to_string()))
        };
        harness.get_or_try_init(|| making).await.cloned()
    }

    /// Forgets the harnesses of runs that nothing is performed for, and has not been for a while. Returns those runs.
    pub(crate) fn retain(&self, is_used: impl Fn(&str) -> bool) -> Vec<Arc<str>> {
        let mut made = self.lock();
        let is_kept = |run: &Arc<str>, backend: &Backend| is_used(run) || backend.used.elapsed() < KEPT;
        let gone = made.iter().filter(|(run, backend)| !is_kept(run, backend));
        let gone: Vec<Arc<str>> = gone.map(|(run, _)| Arc::clone(run)).collect();
        gone.iter().for_each(|run| _ = made.remove(run));
        gone
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Backend>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the harness of a run in a folder of its own.
fn make(
    run: Arc<str>,
    bundle: &str,
    worker: PathBuf,
    workspace: Option<&Path>,
    clones: Arc<Clones>,
) -> Result<Performer, String> {
    let bundle = Bundle::read(bundle).map_err(|error| error.to_string())?;
    let root = folder_of(&worker, &run);
    bundle.unpack(&root).map_err(|error| error.to_string())?;
    let made = harness_in(&run, &bundle, &root, workspace)?;
    let repository = bundle.options.repository.clone();
    let checkouts =
        repository.map(|repository| Arc::new(Checkouts { run, bundle, repository, clones, worker }));
    Ok(Performer { made, checkouts })
}

/// Performs a request. `None` if this machine has no resources for it now.
pub(crate) async fn perform(
    performer: &Performer,
    work: &Work,
    used: &Used,
    approvals: Arc<dyn Approvals>,
) -> Option<Done> {
    let request: Request = match serde_json::from_str(&work.request) {
        Ok(request) => request,
        Err(error) => return Some(refused(format!("the worker does not understand the request: {error}"))),
    };
    let checkout = match (&performer.checkouts, &request.effect) {
        (Some(checkouts), Effect::Session(task)) => match checkouts.open(request.id, work.attempt).await {
            Ok(checkout) => Some((checkout, Arc::clone(task))),
            Err(why) => return Some(refused(why)),
        },
        _ => None,
    };
    let (sink, mut reports) = unbounded_channel();
    let account = Arc::new(Account {
        accounts: Arc::clone(&performer.made.accounts),
        used: Arc::clone(used),
        reported: Mutex::new((request.effect.model().cloned(), None)),
    });
    let watching = Arc::clone(&account);
    let reporter = Reporter::new(request.id, sink, approvals)
        .masking(Arc::clone(&SECRETS))
        .watched_by(move |activity| watching.watch(activity));
    let harness = checkout.as_ref().map_or(&performer.made.harness, |(checkout, _)| &checkout.harness);
    let outcome = perform_for_another(harness.as_ref(), &request, &reporter).await;
    let outcome = match checkout {
        Some((checkout, task)) => checkout.close(outcome, &task).await,
        None => outcome,
    };
    if let Outcome::Reply(Reply { usage: Some(usage), .. }) = &outcome {
        account.reply(*usage);
    }
    if matches!(&outcome, Outcome::Failed(failure) if failure.kind == ErrorKind::OutOfResources) {
        return None;
    }
    drop(reporter);
    let mut activities = Vec::new();
    while let Ok((_, activity)) = reports.try_recv() {
        // The reply has the texts again, and questions are asked by the leader.
        if !matches!(
            activity,
            Activity::Text { .. }
                | Activity::Reasoning { .. }
                | Activity::Asked(_)
                | Activity::Answered { .. }
        ) {
            activities.push(activity);
        }
    }
    Some(Done { outcome, activities })
}

/// What a request has used, with its cost.
struct Account {
    accounts: Arc<dyn Accounts>,
    used: Used,
    /// The model, and what was reported.
    reported: Mutex<(Option<SmolStr>, Option<Usage>)>,
}

impl Account {
    fn watch(&self, activity: &Activity) {
        let (model, total) = &mut *self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        match activity {
            Activity::Agent(agent) if agent.model.is_some() => model.clone_from(&agent.model),
            Activity::Used(usage) => *total = Usage::sum([*total, Some(*usage)]),
            _ => return,
        }
        self.keep(model.as_deref(), *total);
    }

    /// The reply says what was used, unless that was reported.
    fn reply(&self, usage: Usage) {
        let (model, total) = &mut *self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        self.keep(model.as_deref(), Some(total.unwrap_or(usage)));
    }

    fn keep(&self, model: Option<&str>, total: Option<Usage>) {
        let priced = total.map(|usage| Usage { cost: self.accounts.cost_of(model, &usage), ..usage });
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = priced;
    }
}

/// Asks the questions of agents where their run is led.
pub(crate) struct AskLeader {
    pub(crate) claim: i64,
    pub(crate) news: UnboundedSender<News>,
}

impl Approvals for AskLeader {
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> AnswerFuture<'a> {
        let (answer, answered) = oneshot::channel();
        let asked = Asked { question: question.clone(), answer };
        Box::pin(async move {
            let sent = self.news.send(News::Asked(self.claim, asked));
            match sent.is_ok() {
                true => answered.await.unwrap_or_else(|_| PermissionAnswer::of_no_one()),
                false => PermissionAnswer::of_no_one(),
            }
        })
    }
}

/// What is done where nothing can be.
pub(crate) fn refused(why: String) -> Done {
    Done { outcome: Outcome::Failed(Failure::session(why)), activities: Vec::new() }
}

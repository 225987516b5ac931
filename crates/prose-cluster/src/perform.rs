//! Performs effects with the harnesses of this machine.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use prose_run::{Start, backend, secrets};
use prose_vm::activity::{Activity, AnswerFuture, Approvals, PermissionAnswer, PermissionQuestion, Reporter};
use prose_vm::effect::{Failure, Outcome, Request, Usage};
use prose_vm::error::ErrorKind;
use prose_vm::harness::Harness;
use prose_vm::runner::perform_for_another;
use prose_vm::secrets::Secrets;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::bundle::Bundle;
use crate::effects::{Asked, Done};
use crate::news::News;

/// The keys of this machine, which no other one is told.
static SECRETS: LazyLock<Arc<Secrets>> = LazyLock::new(|| Arc::new(secrets()));

/// What a claim has used so far, for its heartbeat.
pub(crate) type Used = Arc<Mutex<Option<Usage>>>;

/// The harnesses of the runs that effects are performed for.
#[derive(Default)]
pub(crate) struct Backends {
    made: Mutex<HashMap<Arc<str>, Arc<dyn Harness>>>,
}

impl Backends {
    /// The harness of a run, if it was made.
    pub(crate) fn get(&self, run: &str) -> Option<Arc<dyn Harness>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).get(run).cloned()
    }

    /// Makes the harness of a run in a folder of its own.
    pub(crate) fn make(
        &self,
        run: &Arc<str>,
        bundle: &str,
        root: PathBuf,
    ) -> Result<Arc<dyn Harness>, String> {
        let bundle = Bundle::read(bundle).map_err(|error| error.to_string())?;
        bundle.unpack(&root).map_err(|error| error.to_string())?;
        let request = bundle.request(&root, Start::New).map_err(|error| error.to_string())?;
        let folder = request.project.run(run).map_err(|error| error.to_string())?;
        std::fs::create_dir_all(&folder).map_err(|error| format!("`{}`: {error}", folder.display()))?;
        let harness = backend(&request, folder).map_err(|failure| failure.to_string())?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(made.entry(Arc::clone(run)).or_insert(harness)))
    }

    /// Forgets the harnesses of runs that are not wanted any more. Returns those runs.
    pub(crate) fn retain(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<Arc<str>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let gone: Vec<Arc<str>> = made.keys().filter(|run| !is_wanted(run)).cloned().collect();
        made.retain(|run, _| is_wanted(run));
        gone
    }
}

/// Performs a request. `None` if this machine has no resources for it now.
pub(crate) async fn perform(
    harness: &dyn Harness,
    request: &str,
    used: &Used,
    approvals: Arc<dyn Approvals>,
) -> Option<Done> {
    let request: Request = match serde_json::from_str(request) {
        Ok(request) => request,
        Err(error) => return Some(refused(format!("the worker does not understand the request: {error}"))),
    };
    let (sink, mut reports) = unbounded_channel();
    let so_far = Arc::clone(used);
    let reporter = Reporter::new(request.id, sink, approvals).masking(Arc::clone(&SECRETS)).watched_by(
        move |activity| {
            if let Activity::Used(usage) = activity {
                let mut used = so_far.lock().unwrap_or_else(PoisonError::into_inner);
                *used = Usage::sum([*used, Some(*usage)]);
            }
        },
    );
    let outcome = perform_for_another(harness, &request, &reporter).await;
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

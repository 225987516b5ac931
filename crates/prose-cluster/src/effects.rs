//! The harness of a run that is led here: what it is asked is performed by whichever worker claims it.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use prose_harness::registry::depends_on_order;
use prose_vm::activity::{Activity, PermissionAnswer, PermissionQuestion, Reporter};
use prose_vm::effect::{
    Effect, Failure, InputRequest, Memory, MemoryPlace, Outcome, PermissionRule, Request, RequestId, Usage,
    fingerprint,
};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};
use prose_vm::value::Value;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// What a worker has done, as it stands in `effect.outcome`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// The outcome, which may be a failure.
    pub(crate) outcome: Outcome,
    /// What the backend reported, without the parts of texts.
    pub(crate) activities: Vec<Activity>,
}

/// What a leader asks the connection of its process.
pub(crate) enum Ask {
    /// An effect is to be performed.
    Perform(Box<Wanted>),
    /// It is not needed any more by the program that asked for it in an epoch.
    Cancel(Key, i64),
    /// The run of an epoch is paused, or continues.
    Hold { run: Arc<str>, epoch: i64, is_paused: bool },
}

/// An effect of a run: the run, and the request.
pub(crate) type Key = (Arc<str>, RequestId);

/// An effect that is to be performed.
pub(crate) struct Wanted {
    pub(crate) key: Key,
    /// The epoch of the program that asks. The process may lead the run in a later one while the program of an earlier one still ends.
    pub(crate) epoch: i64,
    pub(crate) fingerprint: SmolStr,
    /// The harness that performs it.
    pub(crate) class: SmolStr,
    /// How many open effects of the class the run has before it.
    pub(crate) before: i64,
    pub(crate) request: String,
    /// Receives what was done, with what attempts have used that were lost.
    pub(crate) done: oneshot::Sender<(Done, Vec<Usage>)>,
    /// Receives the questions of its agent.
    pub(crate) questions: UnboundedSender<Asked>,
    /// The questions that were sent there: the claim and the number of each.
    pub(crate) asked: HashSet<(i64, i64)>,
}

/// A question of an agent, and who receives the answer.
pub(crate) struct Asked {
    pub(crate) question: PermissionQuestion,
    pub(crate) answer: oneshot::Sender<PermissionAnswer>,
}

/// The harness.
pub(crate) struct Effects {
    of: Arc<dyn Harness>,
    run: Arc<str>,
    epoch: i64,
    asks: UnboundedSender<Ask>,
}

impl Effects {
    /// Lets workers perform what a harness of a run is asked.
    pub(crate) fn new(of: Arc<dyn Harness>, run: Arc<str>, epoch: i64, asks: UnboundedSender<Ask>) -> Self {
        Self { of, run, epoch, asks }
    }

    /// The harness that performs a request.
    fn performing(&self, request: &Request) -> &dyn Harness {
        let other = match &request.effect {
            Effect::Session(task) => self.of.of_agent(task.agent.as_deref()),
            _ => self.of.of_decisions(),
        };
        other.unwrap_or(self.of.as_ref())
    }
}

/// Tells that an effect is not needed any more, unless it is there.
struct Cancel<'a> {
    key: Option<Key>,
    epoch: i64,
    asks: &'a UnboundedSender<Ask>,
}

impl Drop for Cancel<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            // Without a receiver the process ends.
            let _ = self.asks.send(Ask::Cancel(key, self.epoch));
        }
    }
}

impl Harness for Effects {
    fn name(&self) -> &str {
        self.of.name()
    }

    /// Values travel in prompts and replies: the files of the project are not on all machines.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        self.of.enforces(about, rule)
    }

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        let class = SmolStr::new(self.performing(request).name());
        // Its replies depend on how many were given before.
        if depends_on_order(&class) {
            return self.of.perform(request, reporter);
        }
        async move {
            let text = serde_json::to_string(request).map_err(|error| {
                Failure::session(format!("the request cannot be sent to a worker: {error}"))
            })?;
            let key = (Arc::clone(&self.run), request.id);
            let (done, is_done) = oneshot::channel();
            let (questions, mut asked) = unbounded_channel();
            let fingerprint = fingerprint(&request.effect);
            let wanted = Wanted {
                key: key.clone(),
                epoch: self.epoch,
                fingerprint,
                class,
                before: 0,
                request: text,
                done,
                questions,
                asked: HashSet::new(),
            };
            // A worker observes the timeout of the session.
            let _rest = reporter.rest();
            if self.asks.send(Ask::Perform(Box::new(wanted))).is_err() {
                return std::future::pending().await;
            }
            let mut cancel = Cancel { key: Some(key), epoch: self.epoch, asks: &self.asks };
            let answering = async {
                let mut open = FuturesUnordered::new();
                loop {
                    tokio::select! {
                        Some(Asked { question, answer }) = asked.recv() => open.push(async {
                            // A worker that has lost its claim needs no answer.
                            let _ = answer.send(reporter.answer_to(question).await);
                        }),
                        Some(()) = open.next() => {}
                        else => return std::future::pending::<()>().await,
                    }
                }
            };
            let done = tokio::select! {
                done = is_done => done,
                () = answering => return std::future::pending().await,
            };
            let Ok((Done { outcome, activities }, lost)) = done else {
                // This process does not lead the run any more, and is about to stop executing it.
                cancel.key = None;
                return std::future::pending().await;
            };
            cancel.key = None;
            lost.into_iter()
                .map(Activity::Used)
                .chain(activities)
                .for_each(|activity| reporter.report(activity));
            match outcome {
                Outcome::Failed(failure) => Err(failure),
                outcome => Ok(outcome),
            }
        }
        .boxed()
    }

    fn prompt_of(&self, request: &Request) -> Option<String> {
        self.of.prompt_of(request)
    }

    fn input<'a>(
        &'a self,
        request: &'a Request,
        input: &'a InputRequest,
    ) -> Option<HarnessFuture<'a, Value>> {
        self.of.input(request, input)
    }

    fn memory(&self, request: &Request, place: &MemoryPlace) -> Option<Memory> {
        self.of.memory(request, place)
    }

    fn settled(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.of.settled()
    }

    fn recalled(&self, request: &Request) {
        self.of.recalled(request);
    }

    fn failed_before(&self, request: &Request, failure: &Failure) {
        self.of.failed_before(request, failure);
    }
}

//! The environment of a run: its backends, its limits, and the source of its inputs.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::activity::Approvals;
use crate::budget::{Accounts, Budget};
use crate::command::Commands;
use crate::effect::{Failure, InputRequest, RequestId};
use crate::error::ErrorKind;
use crate::event::Event;
use crate::gate::Gate;
use crate::harness::{Harness, HarnessFuture};
use crate::questions::{AskedAt, GivenInput, LastQuestions, OpenQuestion, QuestionId};
use crate::runner::trees::Trees;
use crate::secrets::Secrets;
use crate::store::{Recording, Store};
use crate::value::Value;

/// The environment of a run.
pub struct Host<'a> {
    /// The backend that runs sessions.
    pub harness: Arc<dyn Harness>,
    /// The backend that stores the state.
    pub store: &'a mut dyn Store,
    /// The recording of an earlier execution of the same run.
    pub recall: &'a mut dyn Recording,
    /// The working trees of branches.
    pub trees: Arc<dyn Trees>,
    /// The source of inputs.
    pub inputs: Arc<dyn Inputs>,
    /// Answers permission questions of agents.
    pub approvals: Arc<dyn Approvals>,
    /// Receives every event. The second argument is false for recorded events that are executed again.
    pub observer: &'a mut dyn FnMut(&Event, bool),
    /// Interrupts the run when it completes, with a reason for the user.
    pub interrupted: Pin<Box<dyn Future<Output = String> + 'a>>,
    /// The commands of a person to the run.
    pub commands: Commands,
    /// Holds requests back, if the run is debugged.
    pub gate: Option<Arc<dyn Gate>>,
    /// The limits of the run.
    pub limits: Limits,
    /// Prices, and the usage of the user's other runs.
    pub accounts: Arc<dyn Accounts>,
    /// What is masked in the reports of backends.
    pub secrets: Arc<Secrets>,
    /// Returns the time in milliseconds since 1970-01-01 in UTC.
    pub clock: &'a dyn Fn() -> u64,
}

/// The limits of a run.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The maximum number of sessions, conditions and choices at the same time (R58, `run.max-parallel`).
    pub max_parallel: usize,
    /// The resources of the machine; `None` if only `max_parallel` counts.
    pub capacity: Option<Arc<dyn Capacity>>,
    /// What the run may use, in all its executions.
    pub budget: Budget,
    /// Whether to run sessions with permissions that the harness cannot enforce (decision 13).
    pub allow_unenforced_permissions: bool,
    /// The time without a report after which a request that has reported something is reported as stalled; `None` for never.
    pub stalled_after: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_parallel: 8,
            capacity: None,
            budget: Budget::default(),
            allow_unenforced_permissions: false,
            stalled_after: Some(Duration::from_secs(10 * 60)),
        }
    }
}

/// The resources of the machine, which limit how many requests are at work. They change while a run is executed.
pub trait Capacity: fmt::Debug + Send + Sync {
    /// Reserves what a request needs on a harness until [`Self::end`]. Returns false if it must wait; never while no other request is at work.
    fn begin(&self, request: RequestId, harness: &str) -> bool;

    /// A request waits for a person from now on, or works again: meanwhile it needs its memory, and nothing else.
    fn waits(&self, request: RequestId, is_waiting: bool) {
        let _ = (request, is_waiting);
    }

    /// Releases what was reserved for a request.
    fn end(&self, request: RequestId);
}

/// The source of inputs.
pub trait Inputs: Send + Sync {
    /// Provides an input.
    fn give<'a>(&'a self, input: &'a InputRequest) -> HarnessFuture<'a, Value>;

    /// Provides an input for a request, and who gave it.
    fn answer<'a>(&'a self, at: &'a AskedAt, input: &'a InputRequest) -> HarnessFuture<'a, GivenInput> {
        let _ = at;
        Box::pin(async move { Ok(GivenInput { value: self.give(input).await?, attribution: None }) })
    }

    /// Completes when so many questions are open, with those of [`Approvals`], and no one is there to answer them: the run stops and waits, and takes no
    /// answer from then on. By default, someone is always there.
    fn abandoned(&self, questions: usize) -> Abandoned<'_> {
        let _ = questions;
        Box::pin(std::future::pending())
    }

    /// Takes no answer from now on, since the run stops. An answer that was taken before is recorded or returned. By default, no one is asked.
    fn close(&self) -> LastQuestions {
        LastQuestions::default()
    }

    /// The questions that a person is asked, with those of [`Approvals`], if they are others than those that are known.
    fn open_instead(&self, known: &[QuestionId]) -> Option<Vec<OpenQuestion>> {
        let _ = known;
        None
    }
}

/// The future open questions that no one is there to answer.
pub type Abandoned<'a> = Pin<Box<dyn Future<Output = Vec<OpenQuestion>> + Send + 'a>>;

/// Provides no inputs: optional ones are `null`, others are an error (R89).
pub struct NoInputs;

impl Inputs for NoInputs {
    fn give<'a>(&'a self, input: &'a InputRequest) -> HarnessFuture<'a, Value> {
        Box::pin(async move {
            if input.optional {
                return Ok(Value::Null);
            }
            let hint = match input.keys.first() {
                Some(key) => format!("give it with `--input {key}=…`"),
                None => "run the program at a terminal to answer".to_owned(),
            };
            let message = format!("a required input is not given; {hint}: {}", input.prompt);
            Err(Failure { kind: ErrorKind::MissingInput, message })
        })
    }
}

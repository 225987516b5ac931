//! The backend of a replay: it asks nothing. What the recorded run does not have stops the run.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use prose_vm::activity::Reporter;
use prose_vm::effect::{Failure, InputRequest, Outcome, PermissionRule, Request};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};
use prose_vm::place::Place;
use prose_vm::runner::{TreeFuture, Trees};
use prose_vm::trees::{TreeOutcome, TreeRequest};
use prose_vm::value::Value;

/// The name of the harness, which no setting can choose.
pub const NAME: &str = "replay";

/// The backend of a replay.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The recorded run, for messages.
    run: String,
    capabilities: Capabilities,
    /// The places of inputs that a person answered while the run was stopped, so that it has no outcome of them yet.
    answered: HashSet<Place>,
    missing: NotRecorded,
}

/// The first request of a replay that the recorded run does not have.
#[derive(Debug, Clone, Default)]
pub struct NotRecorded(Arc<Mutex<Option<Request>>>);

impl NotRecorded {
    /// Removes the request.
    pub fn take(&self) -> Option<Request> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, request: &Request) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Several may be started at the same time.
        if first.as_ref().is_none_or(|first| request.id < first.id) {
            *first = Some(request.clone());
        }
    }
}

impl Replay {
    /// A backend with the capabilities that the prompts of the recorded run were made for.
    pub fn new(run: impl Into<String>, capabilities: Capabilities) -> Self {
        Self { run: run.into(), capabilities, answered: HashSet::new(), missing: NotRecorded::default() }
    }

    /// The same with inputs whose recorded answers the questions of the run have.
    pub fn with_answered(self, answered: impl IntoIterator<Item = Place>) -> Self {
        Self { answered: answered.into_iter().collect(), ..self }
    }

    /// Receives the request that stops the replay.
    pub fn not_recorded(&self) -> NotRecorded {
        self.missing.clone()
    }

    fn refuse(&self, request: &Request) -> Failure {
        self.missing.put(request);
        let (run, what, line) = (&self.run, what(request.effect.kind()), request.line());
        Failure::new(ErrorKind::NotRecorded, format!("run {run} has no answer for the {what} at {line}"))
    }
}

/// What a request of a kind asks for, for messages.
pub fn what(effect: &str) -> &'static str {
    match effect {
        "session" => "session",
        "judge" => "condition",
        "choose" => "choice",
        "extract" => "part of a text",
        "summarise" => "summary",
        "input" => "input",
        "memory" => "memory",
        "tree" => "working tree",
        _ => "request",
    }
}

impl Harness for Replay {
    fn name(&self) -> &str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Nothing is started, so nothing has to be enforced.
    fn enforces(&self, _: &str, _: &PermissionRule) -> bool {
        true
    }

    fn perform<'a>(&'a self, request: &'a Request, _: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        Box::pin(std::future::ready(Err(self.refuse(request))))
    }

    fn input<'a>(&'a self, request: &'a Request, _: &'a InputRequest) -> Option<HarnessFuture<'a, Value>> {
        if self.answered.contains(&request.place) {
            return None;
        }
        Some(Box::pin(std::future::ready(Err(self.refuse(request)))))
    }
}

impl Trees for Replay {
    fn perform<'a>(&'a self, _: &'a TreeRequest) -> TreeFuture<'a, TreeOutcome> {
        let message = format!("run {} has no answer for a working tree", self.run);
        Box::pin(std::future::ready(Err(Failure::new(ErrorKind::NotRecorded, message))))
    }

    fn restore<'a>(&'a self, _: &'a str) -> TreeFuture<'a, ()> {
        Box::pin(std::future::ready(Ok(())))
    }
}

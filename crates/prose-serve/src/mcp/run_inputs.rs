//! The inputs of runs: given with the call, or asked from the client.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use prose_vm::effect::InputRequest;
use prose_vm::harness::HarnessFuture;
use prose_vm::runner::Inputs;
use prose_vm::value::Value;
use smol_str::SmolStr;
use tokio::sync::{Notify, oneshot};

/// A question of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenQuestion {
    pub(super) number: u64,
    /// The name of the input, if it has one.
    pub(super) name: Option<SmolStr>,
    pub(super) prompt: Arc<str>,
    pub(super) is_optional: bool,
}

/// The questions of a run.
#[derive(Default)]
pub(super) struct Questions {
    /// The inputs that came with the call.
    given: HashMap<SmolStr, Value>,
    open: Mutex<Open>,
    /// Notified when a question is asked.
    pub(super) asked: Notify,
}

#[derive(Default)]
struct Open {
    last: u64,
    questions: BTreeMap<u64, (OpenQuestion, oneshot::Sender<Value>)>,
}

impl Questions {
    pub(super) fn new(given: impl IntoIterator<Item = (SmolStr, Value)>) -> Self {
        Self { given: given.into_iter().collect(), ..Self::default() }
    }

    /// The questions without an answer, the oldest first.
    pub(super) fn open(&self) -> Vec<OpenQuestion> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.questions.values().map(|(question, _)| question.clone()).collect()
    }

    /// Answers a question, or the only one. The error says why that is not possible.
    pub(super) fn answer(&self, number: Option<u64>, value: Value) -> Result<(), String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let number = match (number, open.questions.len()) {
            (_, 0) => return Err("the run has no open question".to_owned()),
            (Some(number), _) => number,
            (None, 1) => *open.questions.keys().next().unwrap_or(&0),
            (None, count) => {
                return Err(format!("the run has {count} open questions; pass the number of one"));
            }
        };
        let Some((_, answer)) = open.questions.remove(&number) else {
            return Err(format!("the run has no open question {number}"));
        };
        answer.send(value).map_err(|_| "the run does not wait for this answer any more".to_owned())
    }
}

/// Removes a question that is not waited for any more.
struct Asking<'a> {
    questions: &'a Questions,
    number: u64,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut open = self.questions.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.questions.remove(&self.number);
    }
}

impl Inputs for Questions {
    fn give<'a>(&'a self, input: &'a InputRequest) -> HarnessFuture<'a, Value> {
        Box::pin(async move {
            if let Some(value) = input.keys.iter().find_map(|key| self.given.get(key)) {
                return Ok(value.clone());
            }
            let (sender, answer) = oneshot::channel();
            let asking = {
                let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                open.last += 1;
                let number = open.last;
                let question = OpenQuestion {
                    number,
                    name: input.name.clone(),
                    prompt: Arc::clone(&input.prompt),
                    is_optional: input.optional,
                };
                open.questions.insert(number, (question, sender));
                Asking { questions: self, number }
            };
            self.asked.notify_waiters();
            let answered = answer.await;
            drop(asking);
            match answered {
                Ok(value) => Ok(value),
                // The sender lives in this very table until it has answered.
                Err(_) => std::future::pending().await,
            }
        })
    }
}

//! The questions of a run: inputs that did not come with the call, and permissions of agents.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_run::{ApprovalAnswer, AsksUser, approval_text};
use prose_vm::activity::{AnswerSource, PermissionQuestion};
use prose_vm::effect::InputRequest;
use prose_vm::harness::HarnessFuture;
use prose_vm::questions::{AskedAt, GivenInput};
use prose_vm::runner::Inputs;
use prose_vm::value::Value;
use smol_str::SmolStr;
use tokio::sync::{oneshot, watch};

/// A question of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenQuestion {
    pub(crate) number: u64,
    pub(crate) kind: QuestionKind,
    pub(crate) prompt: Arc<str>,
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    /// An input of the program.
    Input {
        /// Its name, if it has one.
        name: Option<SmolStr>,
        is_optional: bool,
    },
    /// A permission of an agent.
    Approval,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Input(Value),
    /// None if no one answers.
    Approval(Option<ApprovalAnswer>),
}

/// The questions of a run.
pub(crate) struct Questions {
    open: Mutex<Open>,
    /// The number of changes: of questions that were asked, answered or given up.
    changes: watch::Sender<u64>,
    /// Where answers come from.
    source: AnswerSource,
}

#[derive(Default)]
struct Open {
    last: u64,
    /// The inputs that came with the call.
    given: HashMap<SmolStr, Value>,
    /// The answer to the first question for an input that is asked.
    next: Option<Value>,
    questions: BTreeMap<u64, (OpenQuestion, oneshot::Sender<Answer>)>,
}

impl Questions {
    /// The questions of a run that has some inputs, and the answer to its first question.
    pub(crate) fn new(
        given: impl IntoIterator<Item = (SmolStr, Value)>,
        next: Option<Value>,
        source: AnswerSource,
    ) -> Self {
        let open = Open { given: given.into_iter().collect(), next, ..Open::default() };
        Self { open: Mutex::new(open), changes: watch::Sender::new(0), source }
    }

    fn locked(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// The questions without an answer, the oldest first.
    pub(crate) fn open(&self) -> Vec<OpenQuestion> {
        self.locked().questions.values().map(|(question, _)| question.clone()).collect()
    }

    /// Reports changes of the questions.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Answers a question, or the only one. The error says why that is not possible.
    pub(crate) fn answer(&self, number: Option<u64>, answer: Answer) -> Result<(), String> {
        let mut open = self.locked();
        let number = match (number, open.questions.len()) {
            (_, 0) => return Err("the run has no open question".to_owned()),
            (Some(number), _) => number,
            (None, 1) => *open.questions.keys().next().unwrap_or(&0),
            (None, count) => {
                return Err(format!("the run has {count} open questions; pass the number of one"));
            }
        };
        let fits = |question: &OpenQuestion| {
            matches!(question.kind, QuestionKind::Approval) == matches!(answer, Answer::Approval(_))
        };
        let sender = match open.questions.remove(&number) {
            None => return Err(format!("the run has no open question {number}")),
            Some((question, sender)) if !fits(&question) => {
                open.questions.insert(number, (question, sender));
                return Err(format!("question {number} takes another kind of answer"));
            }
            Some((_, sender)) => sender,
        };
        drop(open);
        self.changed();
        sender.send(answer).map_err(|_| "the run does not wait for this answer any more".to_owned())
    }

    /// Asks, and waits for the answer.
    async fn ask(&self, kind: QuestionKind, prompt: Arc<str>) -> Answer {
        let (sender, answer) = oneshot::channel();
        let asking = {
            let mut open = self.locked();
            open.last += 1;
            let number = open.last;
            open.questions.insert(number, (OpenQuestion { number, kind, prompt }, sender));
            Asking { questions: self, number }
        };
        self.changed();
        let answered = answer.await;
        drop(asking);
        match answered {
            Ok(answer) => answer,
            // The sender lives in this very table until it has answered.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Removes a question that is not waited for any more.
struct Asking<'a> {
    questions: &'a Questions,
    number: u64,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let removed = self.questions.locked().questions.remove(&self.number);
        if removed.is_some() {
            self.questions.changed();
        }
    }
}

impl Questions {
    /// An input, with who gave it unless it came with the call that started the run.
    async fn answer_input(&self, input: &InputRequest) -> GivenInput {
        let (given, next) = {
            let mut open = self.locked();
            let given = input.keys.iter().find_map(|key| open.given.get(key).cloned());
            let next = if given.is_none() { open.next.take() } else { None };
            (given, next)
        };
        if let Some(value) = given {
            return GivenInput { value, attribution: None };
        }
        let value = match next {
            Some(value) => value,
            None => {
                let kind = QuestionKind::Input { name: input.name.clone(), is_optional: input.optional };
                match self.ask(kind, Arc::clone(&input.prompt)).await {
                    Answer::Input(value) => value,
                    // A question of one kind is not answered with the other.
                    Answer::Approval(_) => std::future::pending().await,
                }
            }
        };
        GivenInput { value, attribution: Some(prose_run::questions::user(self.source)) }
    }
}

impl Inputs for Questions {
    fn give<'a>(&'a self, input: &'a InputRequest) -> HarnessFuture<'a, Value> {
        Box::pin(async move { Ok(self.answer_input(input).await.value) })
    }

    fn answer<'a>(&'a self, _: &'a AskedAt, input: &'a InputRequest) -> HarnessFuture<'a, GivenInput> {
        Box::pin(async move { Ok(self.answer_input(input).await) })
    }
}

/// Asks permission questions of agents here, where a person answers.
pub(crate) struct AskedHere(pub(crate) Arc<Questions>);

impl AsksUser for AskedHere {
    fn source(&self) -> AnswerSource {
        self.0.source
    }

    fn ask<'a>(
        &'a self,
        question: &'a PermissionQuestion,
    ) -> Pin<Box<dyn Future<Output = Option<ApprovalAnswer>> + Send + 'a>> {
        Box::pin(async move {
            match self.0.ask(QuestionKind::Approval, approval_text(question).into()).await {
                Answer::Approval(answer) => answer,
                Answer::Input(_) => None,
            }
        })
    }
}

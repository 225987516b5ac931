//! Evaluates conditions and choices, extracts parts of texts and summarises by short sessions, for harnesses that only support sessions (R64 to R68).
//!
//! Each question requires a strict form of answer: lines such as `VERDICT: yes`, or an object of a schema where the harness binds answers to one. Answers are parsed leniently in case, punctuation and markup, but never guessed: an unclear answer
//! is requested once more, and then it is an error that quotes it.

mod answers;
mod marks;
mod question;

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use prose_rights::Enforcement;
use prose_syntax::text;
use prose_vm::activity::Reporter;
use prose_vm::effect::{Effect, Failure, Outcome, PermissionRule, Reply, Request, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{Capabilities, Harness, HarnessFuture, not_performed};
use serde_json::Value;
use smol_str::SmolStr;

pub(crate) use self::question::BY_REFERENCE;
use self::question::ModelQuestion;

/// A short question to a model, which has no side effects.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The whole question.
    pub prompt: String,
    /// The model; `None` leaves it to the harness.
    pub model: Option<SmolStr>,
    /// The JSON schema of the answer, for harnesses that [bind answers](Sessions::binds_answers).
    pub schema: Option<Value>,
}

/// A harness that only supports sessions. [`PromptedDecisions`] turns it into a full harness.
pub trait Sessions: Send + Sync {
    /// The name, for messages and the head of a journal.
    fn name(&self) -> &str;

    /// The capabilities: agents read and write files.
    fn capabilities(&self) -> Capabilities {
        Capabilities { reads_files: true, writes_files: true }
    }

    /// Whether it can enforce a permission (decision 13), by default as the table of all harnesses says.
    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        Enforcement::holds(self.name(), about, rule)
    }

    /// Runs a session.
    fn session(
        &self,
        request: &Request,
        task: &Arc<SessionTask>,
        reporter: &Reporter,
    ) -> impl Future<Output = Result<Reply, Failure>> + Send;

    /// Waits until all cancelled work has ended.
    fn settled(&self) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Answers a short question without side effects.
    fn ask(&self, question: Ask, reporter: &Reporter)
    -> impl Future<Output = Result<String, Failure>> + Send;

    /// Whether answers have the form of the schema of their question. Prompts describe the form to other harnesses.
    fn binds_answers(&self) -> bool {
        false
    }
}

/// A harness that makes decisions by prompting its sessions.
#[derive(Debug)]
pub struct PromptedDecisions<S> {
    /// The sessions.
    pub sessions: S,
    /// The model of all questions; `None` leaves it to the harness.
    pub model: Option<SmolStr>,
}

impl<S: Sessions> PromptedDecisions<S> {
    /// Decisions by the default model of the sessions.
    pub fn new(sessions: S) -> Self {
        Self { sessions, model: None }
    }

    /// Asks a question until an answer can be read, at most twice.
    async fn decide(&self, request: &Request, reporter: &Reporter) -> Result<Outcome, Failure> {
        let question = ModelQuestion::of(&request.effect, self.sessions.binds_answers());
        let question = question.ok_or_else(|| not_performed(request))?;
        let ask = |ask: Ask| {
            let model = self.model.clone().or(ask.model);
            self.sessions.ask(Ask { model, ..ask }, reporter)
        };
        let said = ask(question.ask()).await?;
        if let Some(outcome) = question.read(&said) {
            return Ok(outcome);
        }
        let said = ask(question.ask_again(&said)).await?;
        question.read(&said).ok_or_else(|| {
            // R67
            let (what, line, harness) = (question.subject(), request.line(), self.sessions.name());
            let said = match said.trim() {
                "" => "with an empty reply".to_owned(),
                said => format!("with:\n{}", shorten(said)),
            };
            let message = format!(
                "{what} at {line} was not answered in the required form in two attempts; {harness} answered {said}"
            );
            Failure { kind: ErrorKind::Undecided, message: message.trim_end().to_owned() }
        })
    }
}

impl<S: Sessions> Harness for PromptedDecisions<S> {
    fn name(&self) -> &str {
        self.sessions.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.sessions.capabilities()
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        self.sessions.enforces(about, rule)
    }

    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.sessions.settled())
    }

    fn prompt_of(&self, request: &Request) -> Option<String> {
        Some(ModelQuestion::of(&request.effect, self.sessions.binds_answers())?.shown())
    }

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        Box::pin(async move {
            match &request.effect {
                Effect::Session(task) => {
                    self.sessions.session(request, task, reporter).await.map(Outcome::Reply)
                }
                _ => self.decide(request, reporter).await,
            }
        })
    }
}

/// The prompt for a condition, a choice, a part of a text or a summary, as harnesses that prompt a model for it send it; `None` for other requests.
/// The marks in it are other ones each time.
pub fn prompt_of(request: &Request) -> Option<String> {
    Some(ModelQuestion::of(&request.effect, false)?.shown())
}

/// The beginning of a text that fits into a message or a question.
fn shorten(text: &str) -> Cow<'_, str> {
    const MAX_SHOWN: usize = 400;
    text::shorten(text, MAX_SHOWN)
}

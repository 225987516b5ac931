//! The questions of a run to the user of the page: inputs, and permissions for tools of a script.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_vm::activity::{AnswerFuture, Approvals, PermissionAnswer, PermissionQuestion};
use prose_vm::choices::{self, Choice};
use prose_vm::effect::InputRequest;
use prose_vm::harness::HarnessFuture;
use prose_vm::place::Place;
use prose_vm::questions::{AnswerSource, ApprovalAnswer, AskedAt, Attribution, GivenInput};
use prose_vm::runner::{Inputs, NoInputs};
use prose_vm::value::Value;
use serde::Serialize;
use serde_json::json;
use tokio::sync::oneshot;

/// The questions that are open.
#[derive(Default)]
pub(crate) struct Questions(Mutex<Asked>);

#[derive(Default)]
struct Asked {
    last: u64,
    open: Vec<Open>,
}

struct Open {
    question: Question,
    answer: oneshot::Sender<Value>,
}

/// A question.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Question {
    id: u64,
    kind: &'static str,
    text: String,
    line: u32,
    #[serde(serialize_with = "shown_choices")]
    choices: Vec<Choice>,
    is_optional: bool,
}

fn shown_choices<S: serde::Serializer>(choices: &[Choice], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        choices.iter().map(|Choice { value, title, .. }| json!({ "value": value, "title": title })),
    )
}

impl Questions {
    /// The open questions, in the order in which they were asked.
    pub(crate) fn open(&self) -> Vec<Question> {
        self.lock().open.iter().map(|open| open.question.clone()).collect()
    }

    /// Answers a question.
    pub(crate) fn answer(&self, id: u64, text: &str) -> Result<(), String> {
        let mut asked = self.lock();
        let at = asked.open.iter().position(|open| open.question.id == id);
        let at = at.ok_or_else(|| "the question is no longer open".to_owned())?;
        let Question { choices, is_optional, .. } = &asked.open[at].question;
        let value = choices::answer(choices, *is_optional, &Value::text(text));
        let value = value.map_err(|invalid| invalid.to_string())?;
        // The run may have stopped in the meantime.
        let _ = asked.open.remove(at).answer.send(value);
        Ok(())
    }

    async fn ask(&self, question: Question) -> Option<Value> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut asked = self.lock();
            asked.last += 1;
            let id = asked.last;
            asked.open.push(Open { question: Question { id, ..question }, answer });
            id
        };
        let _withdrawn = Withdrawn { questions: self, id };
        answered.await.ok()
    }

    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Withdraws a question that nothing waits for any more.
struct Withdrawn<'a> {
    questions: &'a Questions,
    id: u64,
}

impl Drop for Withdrawn<'_> {
    fn drop(&mut self) {
        self.questions.lock().open.retain(|open| open.question.id != self.id);
    }
}

/// Asks the user of the page.
pub(crate) struct Page(pub(crate) Arc<Questions>);

/// A person at a page, of whom nothing else is known.
fn person() -> Attribution {
    Attribution { by: None, from: AnswerSource::Editor }
}

impl Inputs for Page {
    fn give<'a>(&'a self, input: &'a InputRequest) -> HarnessFuture<'a, Value> {
        // Whoever asks without saying where is not the program.
        NoInputs.give(input)
    }

    fn answer<'a>(&'a self, at: &'a AskedAt, input: &'a InputRequest) -> HarnessFuture<'a, GivenInput> {
        Box::pin(async move {
            let question = Question {
                id: 0,
                kind: "input",
                text: input.prompt.to_string(),
                line: at.site.line,
                choices: choices::choices(&input.prompt),
                is_optional: input.optional,
            };
            match self.0.ask(question).await {
                Some(value) => Ok(GivenInput { value, attribution: Some(person()) }),
                None => Ok(GivenInput { value: NoInputs.give(input).await?, attribution: None }),
            }
        })
    }
}

impl Approvals for Page {
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> AnswerFuture<'a> {
        let nowhere = AskedAt {
            request: Default::default(),
            place: Place::root(),
            site: Default::default(),
            program: None,
        };
        Box::pin(async move { self.ask_at(&nowhere, question).await })
    }

    fn ask_at<'a>(&'a self, at: &'a AskedAt, question: &'a PermissionQuestion) -> AnswerFuture<'a> {
        Box::pin(async move {
            let asked = Question {
                id: 0,
                kind: "permission",
                text: format!("{}\n\nRule: {}", question.title, question.rule),
                line: at.site.line,
                choices: choices::titled(ApprovalAnswer::ALL.map(|answer| (answer.word(), answer.title()))),
                is_optional: false,
            };
            let Some(value) = self.0.ask(asked).await else { return PermissionAnswer::of_no_one() };
            let said = ApprovalAnswer::of_word(&value.to_string()).unwrap_or(ApprovalAnswer::Deny);
            let answer = PermissionAnswer::once(said != ApprovalAnswer::Deny, AnswerSource::Editor, None);
            PermissionAnswer { is_for_run: said == ApprovalAnswer::ForRun, ..answer }
        })
    }
}

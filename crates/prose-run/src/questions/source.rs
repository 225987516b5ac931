//! Where a face gets the questions of a run that it asks a person, and where it gives the answers.

use std::collections::BTreeSet;

use prose_vm::activity::AnswerSource;
use prose_vm::questions::{OpenQuestion, QuestionId};
use prose_vm::value::Value;

use super::{AnswerError, Questions, user};

/// The open questions of a run, which this process or another one executes. Clones return the same questions, each for itself.
pub trait QuestionSource: Clone {
    /// The next open question that was not returned before; `None` once there are no more.
    fn next(&mut self) -> impl Future<Output = Option<OpenQuestion>>;

    /// Completes when a question is not open any more.
    fn settled(&self, id: QuestionId) -> impl Future<Output = ()>;

    /// Answers a question. The error says why it is asked again. A question that is not open any more was answered elsewhere, which is no error.
    fn answer(&self, id: QuestionId, value: &Value) -> Result<(), String>;
}

/// The questions of a run that this process executes.
#[derive(Clone)]
pub struct OwnQuestions {
    desk: Questions,
    from: AnswerSource,
    seen: BTreeSet<QuestionId>,
}

impl Questions {
    /// The questions, for a face whose user answers from there.
    pub fn source(&self, from: AnswerSource) -> OwnQuestions {
        OwnQuestions { desk: self.clone(), from, seen: BTreeSet::new() }
    }
}

impl QuestionSource for OwnQuestions {
    async fn next(&mut self) -> Option<OpenQuestion> {
        self.desk.next(&mut self.seen).await
    }

    async fn settled(&self, id: QuestionId) {
        self.desk.settled(id).await;
    }

    fn answer(&self, id: QuestionId, value: &Value) -> Result<(), String> {
        match self.desk.answer_with(Some(id), value, user(self.from)) {
            Err(AnswerError::Invalid(invalid)) => Err(invalid.to_string()),
            _ => Ok(()),
        }
    }
}

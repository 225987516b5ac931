//! How answers are read.

use std::fmt;

use prose_vm::choices::{self, Choice, InvalidAnswer};
use prose_vm::questions::{ApprovalAnswer, OpenQuestion, QuestionId, QuestionKind};
use prose_vm::value::Value;

/// Why an answer is not taken. The question stays open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerError {
    /// The run has no open question.
    None,
    /// The run stops, and its questions are answered once it has.
    Stopping,
    /// The run has several open questions, and the answer names none.
    Several(Vec<OpenQuestion>),
    /// The question is not open.
    Unknown(QuestionId),
    /// The question does not take the answer.
    Invalid(InvalidAnswer),
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerError::None => f.write_str("the run has no open question"),
            AnswerError::Stopping => {
                f.write_str("the run is stopping; answer the question once it has stopped")
            }
            AnswerError::Several(open) => {
                write!(f, "the run has {} open questions; name one by its number: ", open.len())?;
                let shown: Vec<String> =
                    open.iter().map(|open| format!("{} ({})", open.id, open.summary())).collect();
                f.write_str(&shown.join(", "))
            }
            AnswerError::Unknown(id) => write!(f, "the run has no open question {id}"),
            AnswerError::Invalid(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for AnswerError {}

/// The answers to a question about a permission or a limit.
pub(super) fn approval_choices() -> Vec<Choice> {
    choices::titled(ApprovalAnswer::ALL.map(|answer| (answer.word(), answer.title())))
}

/// The value that a text answers a question with, in the one form that the program receives.
pub fn resolve(question: &OpenQuestion, text: &str) -> Result<Value, AnswerError> {
    resolve_value(question, &Value::text(text))
}

/// The same for any value.
pub fn resolve_value(question: &OpenQuestion, value: &Value) -> Result<Value, AnswerError> {
    let OpenQuestion { choices, is_optional, .. } = question;
    let said = match &question.kind {
        QuestionKind::Input { .. } => None,
        // People also say these.
        _ => match value.to_string().trim().to_lowercase().as_str() {
            "y" | "yes" | "allow" => Some(ApprovalAnswer::Once.word()),
            "n" | "no" => Some(ApprovalAnswer::Deny.word()),
            _ => None,
        },
    };
    match said {
        Some(said) => Ok(Value::text(said)),
        None => choices::answer(choices, *is_optional, value).map_err(AnswerError::Invalid),
    }
}

//! The questions of a run that wait for a person, as the channel reaches them.

use prose_vm::command::Attribution;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingQuestion {
    /// Its number in the run.
    pub id: u64,
    /// What is asked.
    pub prompt: String,
    /// The answers to choose from, as they are given; empty if any text is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<SmolStr>,
    /// Since when, in milliseconds since 1970-01-01 in UTC.
    pub since: u64,
    /// The line of the program that asks, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Why an answer was not taken, for the person who gave it.
pub type AnswerRefused = String;

/// The open questions of a run.
pub trait QuestionDesk: Send + Sync {
    /// The questions that wait, the oldest first.
    fn open(&self) -> Vec<WaitingQuestion>;

    /// Answers a question; the only one that waits if none is named.
    fn answer(&self, id: Option<u64>, text: &str, by: &Attribution) -> Result<(), AnswerRefused>;
}

/// A desk without questions.
pub(crate) struct NoQuestions;

impl QuestionDesk for NoQuestions {
    fn open(&self) -> Vec<WaitingQuestion> {
        Vec::new()
    }

    fn answer(&self, _: Option<u64>, _: &str, _: &Attribution) -> Result<(), AnswerRefused> {
        Err("the run waits for no answer".to_owned())
    }
}

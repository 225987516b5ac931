//! The questions of a run that a person answers: inputs, permissions of agents, and limits. Waiting for an answer is a state of a run (decision 24), and
//! an answer is an event (decision 25).

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::choices::Choice;
use crate::effect::RequestId;
use crate::place::{NamedLine, Place, Site};
use crate::value::Value;

/// The number of a question in an execution of its run, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub u64);

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a question is about. With its place it identifies the question when the run is resumed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "kebab-case")]
pub enum QuestionKind {
    /// An input of the program.
    Input {
        /// Its name, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<SmolStr>,
    },
    /// Whether an agent may use a tool.
    Approval {
        /// The agent of the program, if the session has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<SmolStr>,
        /// The rule that asks.
        rule: String,
        /// What the agent wants to do.
        title: String,
    },
    /// Whether the run may use more than a limit.
    Limit {
        /// The limit.
        rule: String,
    },
}

/// A question without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// Its number.
    pub id: QuestionId,
    /// What it is about.
    #[serde(flatten)]
    pub kind: QuestionKind,
    /// The text for the person.
    pub prompt: String,
    /// The answers that it offers; any text is an answer if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// Whether the program continues without an answer: with `null`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_optional: bool,
    /// When it was asked, in milliseconds since 1970-01-01 in UTC.
    pub since: u64,
    /// The line of the statement that asks, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The name of the imported program that has the line; `None` for the program of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<SmolStr>,
    /// The place of the request that asks.
    pub asked_at: Place,
    /// The key by which an input can be given when the run is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<SmolStr>,
    /// Whether the prompt may be rephrased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_rephrase: bool,
    /// Why it is asked although it was answered before: the program has changed, and the answer was to another question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl QuestionKind {
    /// What it is about, as it is recorded: `input`, `approval` or `limit`.
    pub fn name(&self) -> &'static str {
        match self {
            QuestionKind::Input { .. } => "input",
            QuestionKind::Approval { .. } => "approval",
            QuestionKind::Limit { .. } => "limit",
        }
    }
}

impl OpenQuestion {
    /// The line of the statement that asks, as messages name it.
    pub fn named_line(&self) -> Option<NamedLine> {
        NamedLine::new(self.program.clone(), self.line?)
    }

    /// The name of the input, if it is one with a name.
    pub fn input(&self) -> Option<&SmolStr> {
        match &self.kind {
            QuestionKind::Input { name } => name.as_ref(),
            _ => None,
        }
    }

    /// Whether it is the same question of another execution of the run, whose numbers may differ.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.asked_at, &self.kind, &self.prompt, &self.choices)
            == (&other.asked_at, &other.kind, &other.prompt, &other.choices)
    }

    /// What is recorded of an answer to it, in the form that the program receives.
    pub fn answered(self, answer: Value, attribution: Attribution) -> RecordedAnswer {
        let Self { kind, prompt, choices, .. } = self;
        let asked = matches!(kind, QuestionKind::Input { .. }).then_some(AskedInput { prompt, choices });
        RecordedAnswer { kind, answer, attribution, asked }
    }

    /// What it waits for, in one line: `go: Ship it? (yes/no)`.
    pub fn summary(&self) -> String {
        match self.input() {
            Some(name) => format!("{name}: {}", self.prompt),
            None => self.prompt.clone(),
        }
    }

    /// The text for the person, with the note below it if there is one.
    pub fn prompt_and_note(&self) -> String {
        match &self.note {
            Some(note) => format!("{}\n\nNote: {note}", self.prompt),
            None => self.prompt.clone(),
        }
    }
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerSource {
    /// A user at the terminal.
    Terminal,
    /// A user of an editor.
    Editor,
    /// A user of the command line, from another process or while the run was stopped.
    CommandLine,
    /// A client of the Model Context Protocol.
    Mcp,
    /// A client of the Agent Client Protocol.
    Acp,
    /// An earlier answer that allows for the whole run what the same rule asks.
    Rule,
    /// No one: the question is denied, or stops the run.
    NoOne,
}

impl AnswerSource {
    /// All sources.
    pub const ALL: [Self; 7] =
        [Self::Terminal, Self::Editor, Self::CommandLine, Self::Mcp, Self::Acp, Self::Rule, Self::NoOne];

    /// Where it comes from, for display after the word `allowed`, `denied` or `answered`.
    pub fn phrase(self) -> &'static str {
        match self {
            AnswerSource::Terminal => "at the terminal",
            AnswerSource::Editor => "in the editor",
            AnswerSource::CommandLine => "on the command line",
            AnswerSource::Mcp => "through MCP",
            AnswerSource::Acp => "through ACP",
            AnswerSource::Rule => "with an earlier answer for the run",
            AnswerSource::NoOne => "since no one answered",
        }
    }
}

/// The person who commands or answers something, and where they do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribution {
    /// The name of the user, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SmolStr>,
    /// Where it comes from.
    pub from: AnswerSource,
}

impl Attribution {
    /// What a reply says that a person gave instead of an agent.
    pub fn reply_warning(&self) -> String {
        format!("the reply was given {self}, not by an agent")
    }

    /// What is said of a variable that a person has set.
    pub fn variable_warning(&self, name: &str) -> String {
        format!("variable `{name}` was set {self}, not by the program")
    }
}

impl fmt::Display for Attribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            Some(by) => write!(f, "by {by} {}", self.from.phrase()),
            None => f.write_str(self.from.phrase()),
        }
    }
}

/// The answer to a question of a run, as it is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// The question.
    #[serde(flatten)]
    pub kind: QuestionKind,
    /// The answer: the value of an input, or one of the [`ApprovalAnswer`] values.
    pub answer: Value,
    /// Who gave it.
    #[serde(flatten)]
    pub attribution: Attribution,
    /// The question of an input as it was asked: the answer holds for no other one. Journals of earlier versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedInput>,
}

/// The questions of a run that stops.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LastQuestions {
    /// Those without an answer, the oldest first.
    pub open: Vec<OpenQuestion>,
    /// The answers that were taken and did not reach the run any more, with the places of the questions.
    pub answered: Vec<(Place, RecordedAnswer)>,
}

/// What an answer to an input was given to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskedInput {
    /// The text for the person.
    pub prompt: String,
    /// The answers that it offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

/// An answer to a question that is not about an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Allows it this time.
    Once,
    /// Allows everything that the same rule asks for the same agent, until the run ends.
    ForRun,
    /// Denies it.
    Deny,
}

impl ApprovalAnswer {
    /// All answers, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Once, Self::ForRun, Self::Deny];

    /// The answer as it is offered.
    pub fn title(self) -> &'static str {
        match self {
            ApprovalAnswer::Once => "Allow once",
            ApprovalAnswer::ForRun => "Allow for this run",
            ApprovalAnswer::Deny => "Deny",
        }
    }

    /// The word for it, as it is recorded.
    pub fn word(self) -> &'static str {
        match self {
            ApprovalAnswer::Once => "once",
            ApprovalAnswer::ForRun => "run",
            ApprovalAnswer::Deny => "deny",
        }
    }

    /// The answer with a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.word() == word)
    }
}

/// A value for an input.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenInput {
    /// The value.
    pub value: Value,
    /// Who gave it; `None` if it came with the start of the run.
    pub attribution: Option<Attribution>,
}

/// Where a question is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedAt {
    /// The request that asks.
    pub request: RequestId,
    /// Its place in the execution.
    pub place: Place,
    /// Its place in the program.
    pub site: Site,
    /// The name of the imported program that makes it; `None` for the program of the run.
    pub program: Option<SmolStr>,
}

//! The outcomes of effects.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::error::ErrorKind;
use crate::trees::TreeOutcome;
use crate::value::Value;

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The reply of a session.
    Reply(Reply),
    /// The verdict on a condition.
    Verdict(Verdict),
    /// The chosen option.
    Choice(Choice),
    /// An extracted part, a summary, the content of a file, or an input; `null` for an optional input that is not given.
    Value(Value),
    /// The memory of an agent.
    Memory(Memory),
    /// What was done with working trees.
    Tree(TreeOutcome),
    /// The delay is over.
    Slept,
    /// The request failed.
    Failed(Failure),
}

/// The reply of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reply {
    /// The value of the session: the body of the binding file or the reply itself (R31).
    pub text: Arc<str>,
    /// Whether the agent wrote the binding file itself (decision 11).
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub wrote_binding: bool,
    /// Whether the agent wrote its memory and its segment itself.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub wrote_memory: bool,
    /// Whether a person has skipped the session, so that no agent replied and the text is empty.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub is_skipped: bool,
    /// Warnings from the harness for the user, such as a missing binding file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The usage, if the harness reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The mark on the lines around the memory in the text; `None` in runs of earlier versions and without a memory in the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<SmolStr>,
}

impl Reply {
    /// What an agent replied, without the white space at its end, with the warnings of its harness.
    pub fn new(text: &str, warnings: impl IntoIterator<Item = String>) -> Self {
        Self { text: text.trim_end().into(), warnings: warnings.into_iter().collect(), ..Self::default() }
    }
}

/// The usage of a request.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, including those read from and written to a cache.
    pub input_tokens: u64,
    /// The part of the input tokens that was read from a cache.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cache_read_tokens: u64,
    /// The part of the input tokens that was written to a cache.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cache_write_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// The cost in US dollars, if it is reported or the price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Usage {
    /// The sum of both. A missing cost counts as 0.
    pub fn and(self, other: Usage) -> Usage {
        let cost = match (self.cost, other.cost) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        Usage { cost, ..self.combined(other, u64::saturating_add) }
    }

    /// This usage, or the other one where that is more.
    #[must_use]
    pub fn at_least(self, other: Usage) -> Usage {
        let cost = match (self.cost, other.cost) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
        Usage { cost, ..self.combined(other, u64::max) }
    }

    /// What this has more than a part of it, without the cost.
    #[must_use]
    pub fn less(self, part: Usage) -> Usage {
        self.combined(part, u64::saturating_sub)
    }

    fn combined(self, other: Usage, tokens: fn(u64, u64) -> u64) -> Usage {
        Usage {
            input_tokens: tokens(self.input_tokens, other.input_tokens),
            cache_read_tokens: tokens(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens: tokens(self.cache_write_tokens, other.cache_write_tokens),
            output_tokens: tokens(self.output_tokens, other.output_tokens),
            cost: None,
        }
    }

    /// The total usage of sessions, ignoring those without any; `None` if none has one.
    pub fn sum(all: impl IntoIterator<Item = Option<Usage>>) -> Option<Usage> {
        all.into_iter().flatten().reduce(Usage::and)
    }
}

/// The verdict of a model on a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether the condition is met; `false` if the model is not sure (R64).
    pub met: bool,
    /// The reason in one sentence; may be empty.
    #[serde(default)]
    pub reason: String,
    /// Whether further iterations would change nothing, which ends a loop (D3).
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub no_progress: bool,
}

/// The choice of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The index of the label.
    pub index: usize,
    /// The reason in one sentence; may be empty.
    #[serde(default)]
    pub reason: String,
}

/// The memory of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// The text of `memory.md`; `None` if there is no memory yet (R45).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Arc<str>>,
    /// The highest segment number; 0 without segments.
    #[serde(default)]
    pub segments: u32,
}

/// The failure of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of error for the program.
    pub kind: ErrorKind,
    /// What is wrong and how to fix it.
    pub message: String,
}

impl Failure {
    /// A failure of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The failure of a session.
    pub fn session(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Session, message: message.into() }
    }
}

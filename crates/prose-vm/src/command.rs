//! Commands of a person to a run that is being executed (decision 25).
//!
//! The faces of a run send them through a [`CommandSender`]; the runner performs each between two steps of the program, records it with who gave it and
//! from where, and reports to the sender whether it took effect.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use tokio::sync::{mpsc, oneshot};

use crate::budget::{Maximum, Spent};
use crate::effect::RequestId;
use crate::questions::Attribution;

/// A command of a person to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// No request starts until [`Command::Continue`]. Running sessions complete, and their results are recorded.
    Pause,
    /// A paused run continues. A run that is resumed after its process has ended continues without it.
    Continue,
    /// The run is interrupted, and can be resumed.
    Stop,
    /// A session ends with an empty text as its result, without an attempt or during one, and the program continues after it.
    Skip {
        /// The session.
        request: RequestId,
    },
    /// A session at work is cancelled and starts again. What the cancelled attempt has used counts.
    Retry {
        /// The session.
        request: RequestId,
    },
    /// A session ends with this text as its reply, without an attempt or during one.
    Reply {
        /// The session.
        request: RequestId,
        /// The reply.
        text: Arc<str>,
    },
    /// The attempt of a session asks with this prompt. A session at work is cancelled and starts again.
    Prompt {
        /// The session.
        request: RequestId,
        /// The full prompt, in place of that of the program.
        text: Arc<str>,
    },
    /// The maximum of the run for cost, tokens or sessions is this one, in place of those from flags and settings.
    SetLimit {
        /// The maximum.
        limit: Maximum,
    },
}

/// Why a command has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandError {
    /// The run has ended.
    Ended,
    /// The run is not paused.
    NotPaused,
    /// No such session waits or is at work.
    NoSession,
    /// The session has not started yet, so that there is nothing to retry.
    NotAtWork,
    /// The limit is not a number from 0 on.
    InvalidLimit,
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CommandError::Ended => "the run has ended",
            CommandError::NotPaused => "the run is not paused",
            CommandError::NoSession => "no such session is at work or waits for an agent",
            CommandError::NotAtWork => "the session is not at work yet, so there is nothing to retry",
            CommandError::InvalidLimit => "a limit is a number from 0 on",
        })
    }
}

impl std::error::Error for CommandError {}

/// The pause of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// When the run was paused, in milliseconds since 1970-01-01 in UTC.
    pub since: u64,
    /// Who paused it, and from where.
    #[serde(flatten)]
    pub by: Attribution,
}

/// What a run does at the moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunStatusReport {
    /// Whether it is paused.
    pub is_paused: bool,
    /// The sessions at work or waiting for an agent, in the order in which they were requested.
    pub sessions: Vec<SessionReport>,
    /// What it has used up to now.
    pub used: Spent,
    /// Its limits, for display.
    pub limits: Vec<String>,
}

/// A session without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionReport {
    /// Its request.
    pub request: RequestId,
    /// The line of its statement.
    pub line: u32,
    /// The name of the imported program that has the line; `None` for the program of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<SmolStr>,
    /// Its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<SmolStr>,
    /// The name that its result is bound to.
    pub name: SmolStr,
    /// The first line of its task.
    pub task: SmolStr,
    /// Whether an agent works on it.
    pub is_at_work: bool,
}

/// What a face sends to a runner.
#[derive(Debug)]
pub(crate) enum ToRunner {
    Command { command: Command, by: Attribution, answer: oneshot::Sender<Result<(), CommandError>> },
    Report(oneshot::Sender<RunStatusReport>),
}

/// Sends commands to a run. Clones send to the same one.
#[derive(Debug, Clone)]
pub struct CommandSender(mpsc::UnboundedSender<ToRunner>);

/// The commands that a run receives.
#[derive(Debug, Default)]
pub struct Commands(Option<mpsc::UnboundedReceiver<ToRunner>>);

impl Commands {
    /// A sender and the commands that it sends.
    pub fn channel() -> (CommandSender, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (CommandSender(sender), Self(Some(receiver)))
    }

    /// No commands: the run cannot be reached.
    pub fn none() -> Self {
        Self::default()
    }

    /// Waits for the next command; forever if no sender is left.
    pub(crate) async fn next(&mut self) -> ToRunner {
        if let Some(receiver) = &mut self.0
            && let Some(sent) = receiver.recv().await
        {
            return sent;
        }
        // Without this, a closed channel would be asked again and again.
        self.0 = None;
        std::future::pending().await
    }

    /// The next command that has arrived.
    pub(crate) fn arrived(&mut self) -> Option<ToRunner> {
        self.0.as_mut()?.try_recv().ok()
    }
}

impl CommandSender {
    /// Sends a command, and returns when it is recorded and has taken effect, or why it has none.
    pub async fn send(&self, command: Command, by: Attribution) -> Result<(), CommandError> {
        let (answer, answered) = oneshot::channel();
        let sent = self.0.send(ToRunner::Command { command, by, answer });
        sent.map_err(|_| CommandError::Ended)?;
        answered.await.unwrap_or(Err(CommandError::Ended))
    }

    /// Sends a command without waiting for its effect, to a run that may not be executed yet.
    pub fn queue(&self, command: Command, by: Attribution) {
        // Nothing is left to command if the run has ended.
        let _ = self.0.send(ToRunner::Command { command, by, answer: oneshot::channel().0 });
    }

    /// What the run does at the moment; `None` if it has ended.
    pub async fn status(&self) -> Option<RunStatusReport> {
        let (answer, answered) = oneshot::channel();
        self.0.send(ToRunner::Report(answer)).ok()?;
        answered.await.ok()
    }
}

//! The messages of the channel: one JSON object per line.
//!
//! A client says [`Hello`] first; the run answers with [`Message::Hello`], or with [`Message::Error`] and closes. Then the client sends [`Request`]s,
//! and each is answered by a [`Message::Answer`] with its number. After `attach`, the run also sends events.

use std::sync::Arc;

use prose_vm::budget::Maximum;
use prose_vm::command::{Command, CommandError, RunStatusReport};
use prose_vm::effect::RequestId;
use prose_vm::event::Event;
use prose_vm::questions::{Attribution, OpenQuestion, QuestionId};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// The version of the protocol. A run refuses clients of other versions.
pub const PROTOCOL_VERSION: u32 = 1;

/// The longest message that a run accepts, in bytes.
pub const MAX_MESSAGE: usize = 1 << 20;

/// The first message of a client.
#[derive(Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) protocol: u32,
    pub(super) run: SmolStr,
    pub(super) token: String,
}

/// A request of a client.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    /// The number that the answer repeats.
    pub(super) id: u64,
    #[serde(flatten)]
    pub(super) ask: Ask,
    /// Who asks; required for commands and answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<Attribution>,
}

/// What a client asks for.
#[derive(Serialize, Deserialize)]
#[serde(tag = "method", content = "params", rename_all = "kebab-case")]
pub(super) enum Ask {
    /// The events from now on, with the last ones before.
    Attach,
    /// The open questions, now and whenever they change. Until the client leaves, someone is there to answer them.
    Attend,
    /// The open questions, now and whenever they change.
    FollowQuestions,
    Status,
    Questions,
    Pause,
    Continue,
    Stop,
    Skip {
        request: RequestId,
    },
    Retry {
        request: RequestId,
    },
    Reply {
        request: RequestId,
        text: Arc<str>,
    },
    Prompt {
        request: RequestId,
        text: Arc<str>,
    },
    SetLimit {
        limit: Maximum,
    },
    Answer {
        question: Option<QuestionId>,
        text: String,
    },
}

impl Ask {
    /// The request for a command.
    pub(super) fn of(command: Command) -> Self {
        match command {
            Command::Pause => Ask::Pause,
            Command::Continue => Ask::Continue,
            Command::Stop => Ask::Stop,
            Command::Skip { request } => Ask::Skip { request },
            Command::Retry { request } => Ask::Retry { request },
            Command::Reply { request, text } => Ask::Reply { request, text },
            Command::Prompt { request, text } => Ask::Prompt { request, text },
            Command::SetLimit { limit } => Ask::SetLimit { limit },
        }
    }

    /// The command, if it is one.
    pub(super) fn command(&self) -> Option<Command> {
        Some(match self {
            Ask::Pause => Command::Pause,
            Ask::Continue => Command::Continue,
            Ask::Stop => Command::Stop,
            Ask::Skip { request } => Command::Skip { request: *request },
            Ask::Retry { request } => Command::Retry { request: *request },
            Ask::Reply { request, text } => Command::Reply { request: *request, text: Arc::clone(text) },
            Ask::Prompt { request, text } => Command::Prompt { request: *request, text: Arc::clone(text) },
            Ask::SetLimit { limit } => Command::SetLimit { limit: *limit },
            Ask::Attach
            | Ask::Attend
            | Ask::FollowQuestions
            | Ask::Status
            | Ask::Questions
            | Ask::Answer { .. } => return None,
        })
    }
}

/// A message of a run.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Message {
    /// The client is welcome.
    Hello { protocol: u32, process: u32 },
    /// The answer to a request.
    Answer {
        id: u64,
        #[serde(flatten)]
        answer: Answer,
    },
    /// An event, as `prose run --json` writes it.
    Event(Box<Event>),
    /// The open questions, for a client that attends or follows them.
    Questions(Vec<OpenQuestion>),
    /// Events were left out because the client reads too slowly. Those that are recorded after the event of this number are in the journal.
    Lagged { after: u64 },
    /// What the client sent is refused, and the connection is closed.
    Error(String),
}

/// The answer to a request.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    Done,
    /// Events follow.
    Attached {
        /// Events up to this number are in the journal only.
        journal: u64,
        /// The number of the last event before the client attached.
        before: u64,
    },
    Status(RunStatusReport),
    Questions(Vec<OpenQuestion>),
    /// The command has no effect, or the run stops and takes no answer any more.
    Rejected(CommandError),
    /// The answer to a question was not taken, and why.
    Refused(String),
}

impl Message {
    /// The message as a line.
    pub(super) fn line(&self) -> Vec<u8> {
        // A message without maps of odd keys can always be written.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// Appends an event as a [`Message::Event`].
pub(super) fn write_event(lines: &mut Vec<u8>, event: &Event) {
    let before = lines.len();
    lines.extend_from_slice(br#"{"event":"#);
    if serde_json::to_writer(&mut *lines, event).is_err() {
        // Values of programs can always be written; a number such as infinity is `null`.
        return lines.truncate(before);
    }
    lines.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_short_objects() {
        let request = |ask| {
            let by = Attribution { by: Some("ada".into()), from: prose_vm::activity::AnswerSource::Terminal };
            serde_json::to_string(&Request { id: 1, ask, by: Some(by) }).unwrap()
        };
        assert_eq!(request(Ask::Pause), r#"{"id":1,"method":"pause","by":{"by":"ada","from":"terminal"}}"#);
        assert_eq!(
            request(Ask::of(Command::SetLimit { limit: Maximum::Cost(2.5) })),
            r#"{"id":1,"method":"set-limit","params":{"limit":{"cost":2.5}},"by":{"by":"ada","from":"terminal"}}"#
        );
        for ask in [
            Ask::Attach,
            Ask::Attend,
            Ask::FollowQuestions,
            Ask::Skip { request: RequestId(3) },
            Ask::Answer { question: None, text: "x".into() },
        ] {
            let line = request(ask);
            let read: Request = serde_json::from_str(&line).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), line);
        }
        let answer = |answer| String::from_utf8(Message::Answer { id: 1, answer }.line()).unwrap();
        assert_eq!(answer(Answer::Done), "{\"answer\":{\"id\":1,\"done\":null}}\n");
        assert_eq!(
            answer(Answer::Rejected(CommandError::NotPaused)),
            "{\"answer\":{\"id\":1,\"rejected\":\"not-paused\"}}\n"
        );
    }
}

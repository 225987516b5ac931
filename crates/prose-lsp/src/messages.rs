//! The messages to the owner of the server's state.

use crate::documents::message::DocumentMessage;
use crate::imports::commands::ImportMessage;
use crate::protocol::answer::Answer;
use crate::protocol::session::Session;
use crate::reads::read::ReadMessage;
use crate::runs::requests::RunMessage;
use crate::testing::commands::TestMessage;
use crate::workspace::message::WorkspaceMessage;

/// A message to the owner of the server's state.
pub(crate) enum Message {
    Session(SessionMessage),
    Document(DocumentMessage),
    Read(ReadMessage),
    Import(ImportMessage),
    Run(RunMessage),
    Test(TestMessage),
    Workspace(WorkspaceMessage),
}

/// A message about the connection to the client.
pub(crate) enum SessionMessage {
    /// The client sent `initialize`.
    Start(Session),
    /// The client is ready for requests of the server.
    Initialized,
    /// Report the state of the server, for debugging.
    Status(Answer),
    /// The client sends no more requests, but may wait for answers.
    EndOfInput,
    /// The client waits for nothing more.
    Leaving,
    /// The client is about to send `exit`.
    Shutdown(Answer),
    /// The client is gone.
    End,
}

macro_rules! kinds {
    ($($kind:ident($message:ident)),* $(,)?) => {
        $(impl From<$message> for Message {
            fn from(message: $message) -> Self {
                Message::$kind(message)
            }
        })*
    };
}

kinds!(
    Session(SessionMessage),
    Document(DocumentMessage),
    Read(ReadMessage),
    Import(ImportMessage),
    Run(RunMessage),
    Test(TestMessage),
    Workspace(WorkspaceMessage),
);

impl Message {
    /// Whether the diagnostics of programs may be different afterwards.
    pub(crate) fn changes_diagnostics(&self) -> bool {
        match self {
            Message::Document(message) => !matches!(message, DocumentMessage::Pause { .. }),
            Message::Import(message) => {
                matches!(message, ImportMessage::Fetched(..) | ImportMessage::Pinned(_))
            }
            Message::Run(message) => matches!(message, RunMessage::Changed(_)),
            Message::Workspace(message) => {
                !matches!(message, WorkspaceMessage::WillMove(..) | WorkspaceMessage::ReleaseDue)
            }
            // What tests have resulted in is no diagnostic of a program.
            Message::Session(_) | Message::Read(_) | Message::Test(_) => false,
        }
    }
}

//! The messages to the owner of the server's state.

use std::path::PathBuf;

use prose_analysis::location::{Remote};
use prose_imports::Fulfilled;
use serde_json::Value;

use crate::imports::commands::Command;
use crate::protocol::position::ContentChange;
use crate::protocol::request::{Answer, RequestId};
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::reads::{Attempt, Read};
use crate::runs::orders::RunCommand;
use crate::runs::queries::RunQuery;
use crate::workspace::moves::Moves;
use crate::workspace::scan::Scanned;

/// A message to the owner of the server's state.
pub(crate) enum Message {
    /// The session begins.
    Start(Session),
    /// The client can be asked for something, too.
    Initialized,
    /// The client is going to edit a document.
    Open { uri: DocumentUri, language: String, version: i32, text: String },
    /// The client has edited a document. The changes follow one another.
    Change { uri: DocumentUri, version: i32, changes: Vec<ContentChange> },
    /// The client is done with a document.
    Close { uri: DocumentUri },
    /// The client has written a document to the disk.
    Save { uri: DocumentUri },
    /// The client wants to know something.
    Read(Read),
    /// The client no longer wants to know it.
    Cancel(RequestId),
    /// A read was ended by an edit and is still wanted.
    Retry(Attempt),
    /// The client has other settings now.
    Configure(Value),
    /// Files have changed on the disk.
    FilesChanged(Vec<PathBuf>),
    /// Other folders are open in the client.
    FoldersChanged { added: Vec<PathBuf>, removed: Vec<PathBuf> },
    /// What programs there are in the folders.
    Scanned(Scanned),
    /// A request for news found none at the state of the server with this number.
    NothingNew(Attempt, u64),
    /// Requests for news can be looked at again.
    NewsDue,
    /// The client is going to move files, and wants to know what else has to change.
    Moving(Moves, Answer),
    /// The client has moved files.
    Moved(Moves),
    /// A person wants something done about an import.
    Command(Command),
    /// A person wants something done about a run.
    Run(RunCommand),
    /// A client wants to know something about runs.
    RunQuery(RunQuery, Answer),
    /// A person has had enough of what a progress is about.
    CancelProgress(Value),
    /// A run of a document has started or ended.
    RunChanged(DocumentUri),
    /// What a program is that is not on this machine.
    Fetched(Remote, Fulfilled),
    /// Nobody has typed for a moment, so what is imported can be looked up.
    FetchDue(Remote),
    /// A program could not be looked up, and some time has passed since.
    FetchAgain(Remote),
    /// Something that a person asked for was done, or why it was not.
    Told(Result<String, String>),
    /// Somebody looks for a bug in the server.
    Status(Answer),
    /// The client asks for nothing more, but may wait for its last answers.
    EndOfInput,
    /// The client waits for nothing more.
    Leaving,
    /// The client is about to say `exit`.
    Shutdown(Answer),
    /// The client is gone.
    End,
}

impl Message {
    /// Whether there may be other findings in programs afterwards.
    pub(crate) fn changes_something(&self) -> bool {
        matches!(
            self,
            Message::Open { .. }
                | Message::Change { .. }
                | Message::Close { .. }
                | Message::Save { .. }
                | Message::Configure(_)
                | Message::FilesChanged(_)
                | Message::FoldersChanged { .. }
                | Message::Scanned(_)
                | Message::Moved(_)
                | Message::RunChanged(_)
                | Message::Fetched(..)
        )
    }
}

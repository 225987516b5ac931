//! Messages about documents.

use crate::protocol::position::ContentChange;
use crate::protocol::uri::DocumentUri;

/// A message to the owner about a document.
pub(crate) enum DocumentMessage {
    /// The client opened a document.
    Open { uri: DocumentUri, language: String, version: i32, text: String },
    /// The client edited a document. The changes follow one another.
    Change { uri: DocumentUri, version: i32, changes: Vec<ContentChange> },
    /// The client closed a document.
    Close { uri: DocumentUri },
    /// The client saved a document.
    Save { uri: DocumentUri },
    /// The time of a pause has passed since the edit with this number.
    Pause { uri: DocumentUri, edit: u64 },
}

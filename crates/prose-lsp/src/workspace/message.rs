//! Messages about the workspace.

use std::path::PathBuf;

use serde_json::Value;

use crate::protocol::answer::Answer;
use crate::workspace::moves::Moves;
use crate::workspace::scan::ScanEvent;

/// A message to the owner about the workspace.
pub(crate) enum WorkspaceMessage {
    /// The client changed its settings.
    Configure(Value),
    /// Files have changed on the disk.
    FilesChanged(Vec<PathBuf>),
    /// The client opened and closed folders.
    FoldersChanged { added: Vec<PathBuf>, removed: Vec<PathBuf> },
    /// The scan of the folders found programs, or ended.
    ScanEvent(ScanEvent),
    /// The client is going to move files, and requests the edits for that.
    WillMove(Moves, Answer),
    /// The client moved files.
    Moved(Moves),
    /// Trees of programs that are not open may be released.
    ReleaseDue,
}

//! The programs of the workspace that are not open.

use std::sync::{Arc, OnceLock};

use prose_analysis::{Database, SourceFile};
use ropey::Rope;

use crate::documents::snapshot::Snapshot;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::uri::DocumentUri;
use crate::workspace::settings::FileConfig;

/// A program of the workspace that the client has not opened.
#[derive(Debug, Clone)]
pub(crate) struct ClosedProgram {
    pub(crate) uri: DocumentUri,
    pub(crate) file: SourceFile,
    pub(crate) config: Arc<FileConfig>,
}

impl ClosedProgram {
    /// The program as if it were open, as it was when it was last read.
    pub(crate) fn snapshot(&self, db: &Database) -> Snapshot {
        let text = Rope::from_str(self.file.text(db).as_str());
        Snapshot {
            name: Arc::clone(&self.uri),
            uri: Arc::clone(&self.uri),
            version: 0,
            shown: ProgramDocument::alone(text.clone()),
            text,
            contents: self.file.text(db).clone(),
            // Its diagnostics need no tree, and the analysis has released it.
            parsed: OnceLock::new(),
            file: self.file,
            config: Arc::clone(&self.config),
        }
    }
}

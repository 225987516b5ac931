//! The programs of a session by the names that the client knows them by.

use std::collections::HashMap;
use std::sync::Arc;

use prose_analysis::{Db, SourceFile};

use crate::convert::uri_of_path;
use crate::documents::DocumentUri;

/// The documents that are open, by what the analysis knows them as.
#[derive(Debug, Clone, Default)]
pub(crate) struct Programs {
    open: HashMap<SourceFile, DocumentUri>,
}

impl Programs {
    pub(crate) fn open(&mut self, file: SourceFile, uri: DocumentUri) {
        self.open.insert(file, uri);
    }

    pub(crate) fn close(&mut self, uri: &DocumentUri) {
        self.open.retain(|_, open| open != uri);
    }

    /// The name of a program: the one the client opened it by, or one made from its path.
    pub(crate) fn uri(&self, db: &dyn Db, file: SourceFile) -> Option<DocumentUri> {
        self.open.get(&file).map(Arc::clone).or_else(|| uri_of_path(file.path(db)))
    }

    /// The name that the client opened a program by, if it is open.
    pub(crate) fn open_name(&self, file: SourceFile) -> Option<DocumentUri> {
        self.open.get(&file).map(Arc::clone)
    }

    /// Whether the client has the program open.
    pub(crate) fn is_open(&self, file: SourceFile) -> bool {
        self.open.contains_key(&file)
    }
}

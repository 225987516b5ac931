//! The open programs, by their names in the client.

use std::collections::HashMap;
use std::sync::Arc;

use prose_analysis::{Db, SourceFile};
use ropey::Rope;

use crate::documents::document::Document;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::uri::{DocumentUri, uri_of_path};

/// The open programs by their files in the analysis.
#[derive(Debug, Clone, Default)]
pub(crate) struct Programs {
    open: HashMap<SourceFile, Open>,
}

/// A program that the client has open.
#[derive(Debug, Clone)]
struct Open {
    name: DocumentUri,
    /// The document that it is a part of, and where, if it is not one of its own.
    part_of: Option<(DocumentUri, ProgramDocument)>,
}

impl Programs {
    /// Takes up a program that the client has open, or where it is now.
    pub(crate) fn open(&mut self, file: SourceFile, name: DocumentUri, document: &Document) {
        let part_of = document.part_of().map(|part_of| (Arc::clone(&part_of.uri), part_of.shown.clone()));
        self.open.insert(file, Open { name, part_of });
    }

    pub(crate) fn close(&mut self, name: &DocumentUri) {
        self.open.retain(|_, open| open.name != *name);
    }

    /// The document that shows a program, under the name that the client opened it by or one made from its path.
    pub(crate) fn place(&self, db: &dyn Db, file: SourceFile) -> Option<(DocumentUri, ProgramDocument)> {
        let open = self.open.get(&file);
        if let Some(part_of) = open.and_then(|open| open.part_of.clone()) {
            return Some(part_of);
        }
        let uri = open.map(|open| Arc::clone(&open.name)).or_else(|| uri_of_path(file.path(db)))?;
        Some((uri, ProgramDocument::alone(Rope::from_str(file.text(db).as_str()))))
    }

    /// The name of a program, if it is open.
    pub(crate) fn open_name(&self, file: SourceFile) -> Option<DocumentUri> {
        self.open.get(&file).map(|open| Arc::clone(&open.name))
    }

    /// Whether the client has a document of this name open, as far as it holds programs.
    pub(crate) fn has_open(&self, uri: &str) -> bool {
        let is_of = |open: &Open| {
            *open.name == *uri || open.part_of.as_ref().is_some_and(|(document, _)| **document == *uri)
        };
        self.open.values().any(is_of)
    }

    /// Whether the client has the program open.
    pub(crate) fn is_open(&self, file: SourceFile) -> bool {
        self.open.contains_key(&file)
    }

    /// Whether a program is a part of a document, so that no other program can import it.
    pub(crate) fn is_part(&self, file: SourceFile) -> bool {
        self.open.get(&file).is_some_and(|open| open.part_of.is_some())
    }
}

//! The documents that the client has open.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_markdown::is_markdown;
use prose_project::overlays::Overlays;

use crate::documents::document::Document;
use crate::documents::sent_reports::SentReports;
use crate::documents::sent_tokens::SentTokens;
use crate::protocol::uri::{DocumentUri, path_of_uri};

/// The kind of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Program,
    Markdown,
    Other,
}

impl Kind {
    pub(crate) fn of(language: &str, path: &Path) -> Self {
        if ["prose", "openprose"].contains(&language) || path.extension().is_some_and(|it| it == "prose") {
            Kind::Program
        } else if language == "markdown" || is_markdown(path) {
            Kind::Markdown
        } else {
            Kind::Other
        }
    }
}

/// A Markdown document that the client has open.
pub(crate) struct Markdown {
    pub(crate) document: Document,
    /// The names of the programs that were last found in it, in its order.
    pub(crate) programs: Vec<DocumentUri>,
}

/// The documents that the client has open.
#[derive(Default)]
pub(crate) struct OpenDocuments {
    /// The programs: documents, and the parts of Markdown documents.
    pub(crate) programs: HashMap<DocumentUri, Document>,
    pub(crate) markdown: HashMap<DocumentUri, Markdown>,
    /// Documents that hold no programs.
    pub(crate) others: HashMap<DocumentUri, Document>,
    /// The documents that were open and are not any more. Clients ask about them while they close them.
    pub(crate) closed: HashSet<DocumentUri>,
    /// All documents by their paths.
    pub(crate) overlays: Overlays<DocumentUri>,
    /// The programs whose current state the analysis does not have yet.
    pub(crate) edited: Vec<DocumentUri>,
    /// The semantic tokens that the client has.
    pub(crate) tokens: Arc<SentTokens>,
    /// The programs that the client shows findings of, although they are not open.
    pub(crate) reports: Arc<SentReports>,
}

impl OpenDocuments {
    /// The name of the open document that the client means, if one is open.
    pub(crate) fn known_name(&self, uri: &DocumentUri) -> DocumentUri {
        if self.kind(uri).is_some() {
            return Arc::clone(uri);
        }
        self.overlays.name(&path_of_uri(uri)).unwrap_or(uri).clone()
    }

    /// The kind of an open document.
    pub(crate) fn kind(&self, uri: &DocumentUri) -> Option<Kind> {
        if self.programs.contains_key(uri) {
            Some(Kind::Program)
        } else if self.markdown.contains_key(uri) {
            Some(Kind::Markdown)
        } else {
            self.others.contains_key(uri).then_some(Kind::Other)
        }
    }

    /// The document that the client has open of a program.
    pub(crate) fn document_of(&self, name: &DocumentUri) -> DocumentUri {
        let part_of = self.programs.get(name).and_then(Document::part_of);
        Arc::clone(part_of.map_or(name, |part_of| &part_of.uri))
    }

    /// The names of all programs of a document, which is one itself if it is no Markdown document.
    pub(crate) fn names_of_programs(&self, uri: &DocumentUri) -> Vec<DocumentUri> {
        self.markdown.get(uri).map_or_else(|| vec![Arc::clone(uri)], |markdown| markdown.programs.clone())
    }

    /// The paths of all programs of a document.
    pub(crate) fn paths_of_programs(&self, uri: &DocumentUri) -> Vec<PathBuf> {
        let names = self.names_of_programs(uri);
        let programs = names.iter().filter_map(|name| self.programs.get(name));
        programs.map(|program| program.path.clone()).collect()
    }

    pub(crate) fn open_markdown(&mut self, uri: &DocumentUri, document: Document) {
        // One that is opened twice keeps its programs.
        let known = self.markdown.remove(uri).map(|markdown| markdown.programs);
        let markdown = Markdown { document, programs: known.unwrap_or_default() };
        self.markdown.insert(Arc::clone(uri), markdown);
    }

    pub(crate) fn mark_edited(&mut self, uri: &DocumentUri) {
        if !self.edited.contains(uri) {
            self.edited.push(Arc::clone(uri));
        }
    }

    /// A document that holds programs.
    pub(crate) fn with_programs(&mut self, uri: &DocumentUri) -> Option<&mut Document> {
        let markdown = self.markdown.get_mut(uri).map(|markdown| &mut markdown.document);
        markdown.or_else(|| self.programs.get_mut(uri))
    }

    /// Any document.
    pub(crate) fn get_mut(&mut self, uri: &DocumentUri) -> Option<&mut Document> {
        let markdown = self.markdown.get_mut(uri).map(|markdown| &mut markdown.document);
        self.programs.get_mut(uri).or(markdown).or_else(|| self.others.get_mut(uri))
    }
}

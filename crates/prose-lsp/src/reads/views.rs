//! What a read request sees: the programs of a document, and the state of the server around them.

use std::sync::Arc;

use prose_analysis::{Database, SourceFile};
use prose_registry::Cache;

use crate::documents::closed::ClosedProgram;
use crate::documents::programs::Programs;
use crate::documents::sent_reports::SentReports;
use crate::documents::sent_tokens::SentTokens;
use crate::documents::snapshot::Snapshot;
use crate::documents::typing::Typing;
use crate::protocol::convert::Converter;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::runs::registry::Runs;

/// The programs of a document among all others, as they are in the analysis. Most documents are one program.
pub(crate) struct Views {
    pub(crate) snapshots: Vec<Snapshot>,
    pub(crate) db: Database,
    /// The documents that are open, and the programs that were read from files, by their file in the analysis.
    pub(crate) programs: Arc<Programs>,
    /// The cache of fetched programs.
    pub(crate) cache: Arc<Cache>,
    /// The runs of this server.
    pub(crate) runs: Arc<Runs>,
    /// The semantic tokens that the client has.
    pub(crate) tokens: Arc<SentTokens>,
    /// The programs that the client shows findings of, although they are not open.
    pub(crate) reports: Arc<SentReports>,
    /// The programs of the workspace that are not open.
    pub(crate) closed: Arc<[ClosedProgram]>,
    /// What is held back of the document, in which the user is typing.
    pub(crate) typing: Option<Typing>,
    /// Whether the client asks for news of all programs for the first time.
    pub(crate) is_first_poll: bool,
    /// The number of this state of the server.
    pub(crate) state: u64,
    pub(crate) session: Arc<Session>,
}

/// One of them.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) db: &'a Database,
    pub(crate) programs: &'a Programs,
    pub(crate) cache: &'a Cache,
    pub(crate) runs: &'a Runs,
    pub(crate) session: &'a Session,
}

impl Views {
    /// One after the other.
    pub(crate) fn each(&self) -> impl Iterator<Item = View<'_>> {
        let Self { snapshots, db, programs, cache, runs, session, .. } = self;
        snapshots.iter().map(move |snapshot| View { snapshot, db, programs, cache, runs, session })
    }
}

impl<'a> View<'a> {
    /// The document that shows a program, and where.
    pub(crate) fn place(&self, file: SourceFile) -> Option<(DocumentUri, ProgramDocument)> {
        if file == self.snapshot.file {
            return Some((Arc::clone(&self.snapshot.uri), self.snapshot.shown.clone()));
        }
        self.programs.place(self.db, file)
    }

    /// The converter of results about the program.
    pub(crate) fn converter(&self) -> Converter<'a> {
        self.snapshot.converter(self.session)
    }
}

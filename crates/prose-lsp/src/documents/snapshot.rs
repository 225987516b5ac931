//! Snapshots of programs.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use prose_analysis::{SourceFile, Text};
use prose_syntax::{Diagnostic, Parse, Severity};
use ropey::Rope;

use crate::protocol::convert::Converter;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::workspace::settings::FileConfig;

/// Where the text of a program is that is not a document of its own.
#[derive(Debug, Clone)]
pub(crate) struct PartOf {
    /// The document.
    pub(crate) uri: DocumentUri,
    /// Its path.
    pub(crate) path: PathBuf,
    pub(crate) shown: ProgramDocument,
}

/// One state of a program, for work that continues while its document changes.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    /// The name of the program: that of its document, followed by its number, if there may be several.
    pub(crate) name: DocumentUri,
    /// The document that the client has open.
    pub(crate) uri: DocumentUri,
    pub(crate) version: i32,
    /// The text of the program.
    pub(crate) text: Rope,
    /// The same text, as the analysis shares it.
    pub(crate) contents: Text,
    /// Where the client sees it.
    pub(crate) shown: ProgramDocument,
    /// Its tree, if it is known already.
    pub(crate) parsed: OnceLock<Arc<Parse>>,
    pub(crate) file: SourceFile,
    /// The settings that it is under.
    pub(crate) config: Arc<FileConfig>,
}

impl Snapshot {
    /// The tree of the program.
    pub(crate) fn parse(&self) -> &Arc<Parse> {
        self.parsed.get_or_init(|| Arc::new(prose_syntax::parse(self.contents.as_str())))
    }

    /// The converter of results about the program.
    pub(crate) fn converter<'a>(&'a self, session: &'a Session) -> Converter<'a> {
        Converter::new(&self.shown, session)
    }

    /// How grave a finding in the program is, or none if it is not reported.
    pub(crate) fn severity(&self, diagnostic: &Diagnostic) -> Option<Severity> {
        let is_reported = !self.shown.is_in_fence() || prose_markdown::is_reported(diagnostic.code);
        self.config.severity(diagnostic).filter(|_| is_reported)
    }
}

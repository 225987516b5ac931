//! Helpers for the tests of the features.

#[path = "../tests/it/support/programs.rs"]
mod programs;

use prose_analysis::{AnalysisHost, SourceFile};
use prose_fixture::Fixture;
use prose_syntax::{TextRange, TextSize};

/// The programs of a fixture, analysed together, and the cursor.
pub(crate) struct Analysed {
    pub(crate) host: AnalysisHost,
    pub(crate) files: Vec<SourceFile>,
    pub(crate) file: SourceFile,
    pub(crate) offset: TextSize,
}

/// Analyses a fixture with one `$0`. See [`programs::analysed`].
#[track_caller]
pub(crate) fn analysed(fixture: &str) -> Analysed {
    let fixture = Fixture::parse(fixture);
    let (cursor, offset) = fixture.cursor.expect("the fixture should have one `$0`");
    let (host, files) = programs::analysed(&fixture);
    Analysed { host, file: files[cursor], files, offset }
}

impl Analysed {
    /// Shows a range as its line, between `«` and `»`.
    pub(crate) fn show(&self, file: SourceFile, range: TextRange) -> String {
        let text = file.text(self.host.db()).as_str();
        let (start, end) = (usize::from(range.start()), usize::from(range.end()));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
        let line = text[..start].matches('\n').count() + 1;
        let path = file.path(self.host.db()).display().to_string();
        format!(
            "{path}:{line}: {}«{}»{}",
            text[line_start..start].trim_start(),
            &text[start..end],
            &text[end..line_end]
        )
    }
}

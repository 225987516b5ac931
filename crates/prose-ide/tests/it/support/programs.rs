//! Fixtures as analysed programs, those of this machine and those of the network.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use expect_test::Expect;
use prose_analysis::host::{LoadError, Loader, Project};
use prose_analysis::location::{Fetched, FetchedProgram, Origin, Remote, RemoteOrigin};
use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_fixture::{Fixture, FixtureFile};
use prose_reference::Reference;
use prose_syntax::{TextRange, TextSize};

const REGISTRY: &str = "https://registry.example/programs/";

/// The programs of a fixture, analysed together. A path that is not a file of the fixture is known to be missing; what the fixture does not
/// have of the network is not known.
///
/// A program such as `//- alice/research` came from the network, and its text lies in `/cache/alice/research.prose`.
#[track_caller]
pub(crate) fn load(fixture: &Fixture) -> (AnalysisHost, Vec<SourceFile>) {
    let mut host = AnalysisHost::default();
    let local: Vec<SourceFile> = fixture
        .files
        .iter()
        .filter(|file| file.path.starts_with('/'))
        .map(|file| host.set_text(Path::new(&file.path), Text::new(&*file.text)))
        .collect();
    for file in &local {
        host.set_project(*file, Project { registry: REGISTRY.into(), ..Project::default() });
    }
    for file in &local {
        host.load_imports_with(*file, &mut Network(&fixture.files));
    }
    let find = |file: &FixtureFile| {
        let found = host.file(&shown_at(&file.path));
        found.unwrap_or_else(|| panic!("nothing in the fixture imports `{}`", file.path))
    };
    let files = fixture.files.iter().map(find).collect();
    (host, files)
}

/// The programs of a fixture, analysed together, and the cursor.
pub(crate) struct Analysed {
    pub(crate) host: AnalysisHost,
    pub(crate) files: Vec<SourceFile>,
    pub(crate) file: SourceFile,
    pub(crate) offset: TextSize,
}

/// Analyses a fixture with one `$0`. See [`load`].
#[track_caller]
pub(crate) fn analysed(fixture: &str) -> Analysed {
    let fixture = Fixture::parse(fixture);
    let (cursor, offset) = fixture.cursor.expect("the fixture should have one `$0`");
    let (host, files) = load(&fixture);
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

/// Compares what a test shows with what it expects. A single line is expected without its line break, so that it fits next to the program
/// that it is about.
#[track_caller]
pub(crate) fn expect_lines(shown: &str, expected: &Expect) {
    let line = shown.strip_suffix('\n').filter(|line| !line.contains('\n'));
    expected.assert_eq(line.unwrap_or(shown));
}

/// The file that has the text of a program.
fn shown_at(path: &str) -> PathBuf {
    if path.starts_with('/') {
        return PathBuf::from(path);
    }
    let name = path.trim_start_matches("https://").trim_end_matches(".prose");
    PathBuf::from(format!("/cache/{name}.prose"))
}

/// The programs of a fixture that are not on this machine.
struct Network<'a>(&'a [FixtureFile]);

impl Loader for Network<'_> {
    fn file(&mut self, _: &Path) -> Result<String, LoadError> {
        Err(LoadError::Missing)
    }

    fn remote(&mut self, remote: &Remote, asker: &Origin) -> Option<Fetched> {
        let is_meant = |file: &&FixtureFile| Reference::parse(&file.path).as_ref() == Ok(&remote.reference);
        let file = self.0.iter().find(is_meant)?;
        let Ok(Reference::Url(registry)) = Reference::parse(REGISTRY) else { return None };
        let url = remote.reference.urls(&registry).into_iter().next()?;
        let base = match &remote.reference {
            Reference::Git(program) => Reference::Git(program.clone()),
            _ => Reference::Url(url.clone()),
        };
        let version = format!("{url}, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab");
        let origin = RemoteOrigin {
            reference: remote.reference.clone(),
            base,
            url,
            depth: asker.depth() + 1,
            version,
        };
        let program = FetchedProgram {
            path: shown_at(&file.path),
            text: file.text.as_str().into(),
            origin: Arc::new(origin),
        };
        Some(Fetched { program: Some(program), note: None })
    }
}

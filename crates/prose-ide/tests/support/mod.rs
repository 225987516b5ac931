//! What the tests share: fixtures as analysed programs.

#![allow(dead_code, reason = "each test file uses what it needs of this module")]

use std::path::{Path, PathBuf};

use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_fixture::Fixture;

/// The programs of a fixture, analysed together. A path that is no file of the fixture is known to be missing.
pub(crate) fn analysed(fixture: &Fixture) -> (AnalysisHost, Vec<SourceFile>) {
    let mut host = AnalysisHost::default();
    let files: Vec<SourceFile> = fixture
        .files
        .iter()
        .map(|file| host.set_text(Path::new(&file.path), Text::new(&*file.text)))
        .collect();
    for file in &files {
        host.load_imports(*file, |_| None);
    }
    (host, files)
}

/// Programs of all kinds: the examples of the project.
pub(crate) fn samples() -> Vec<(PathBuf, String)> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut samples: Vec<(PathBuf, String)> = std::fs::read_dir(examples)
        .expect("the examples are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "prose"))
        .map(|path| (path.clone(), std::fs::read_to_string(path).expect("examples are text")))
        .collect();
    samples.sort();
    assert!(samples.len() > 5);
    samples
}

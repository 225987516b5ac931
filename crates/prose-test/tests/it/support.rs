//! What the tests of this crate share.

use std::fmt::Write as _;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use expect_test::Expect;
use prose_fixture::{Fixture, dedent, render};
use prose_project::imports::ImportOptions;
use prose_project::position::Positions;
use prose_run::{UserFiles, UserTrust};
use prose_syntax::Diagnostic;
use prose_test::{
    AttemptEnd, Job, Progress, RunOptions, Subject, Summary, TestFile, VariantResult, run_tests,
};
use tempfile::TempDir;

/// A folder with programs and their tests.
pub(crate) struct World {
    folder: TempDir,
    /// What is stored of the user.
    _state: TempDir,
    pub(crate) options: RunOptions,
}

impl World {
    /// Files in a fixture, each after a line such as `//- /main.prose`.
    pub(crate) fn new(files: &str) -> Self {
        let folder = prose_fixture::tempdir().unwrap();
        for file in Fixture::parse(files).files {
            let path = folder.path().join(file.path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file.text).unwrap();
        }
        let state = prose_fixture::tempdir().unwrap();
        let trust = UserTrust { files: UserFiles::at(state.path()), is_trusted: true };
        let options = RunOptions { trust, jobs: NonZeroUsize::new(2).unwrap(), ..RunOptions::default() };
        Self { folder, _state: state, options }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str) -> TestFile {
        let path = self.path(name);
        let text = fs::read_to_string(&path).unwrap();
        TestFile::read(&path, &text)
    }

    pub(crate) fn subject(&self, file: &TestFile) -> Subject {
        let options = ImportOptions { offline: true, ..ImportOptions::default() };
        Subject::load(&file.program, options).unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// Runs all cases of `main.test.toml`.
    #[track_caller]
    pub(crate) fn run(&self) -> Summary {
        let file = self.file("main.test.toml");
        assert!(file.problems.is_empty(), "{}", problems(&file.text, &file.problems));
        let subject = self.subject(&file);
        let with_program = file.problems_with(&subject);
        assert_eq!(with_program, [], "the test file does not fit the program");
        let variants = file.variants();
        let jobs = [Job { file: Arc::new(file), subject, variants }];
        let mut reported = Vec::new();
        let mut started = Vec::new();
        let summary = run_tests(&jobs, &self.options, &mut |progress| match progress {
            Progress::Started { variant, .. } => started.push(variant.id.clone()),
            Progress::Ended { result, .. } => {
                let is_started = result.attempts.is_empty() || started.contains(&result.id);
                assert!(is_started, "`{}` ended before it started", result.id);
                reported.push(result.id.clone());
            }
        });
        let ended: Vec<&String> = summary.results().map(|result| &result.id).collect();
        assert_eq!(reported.iter().collect::<Vec<_>>(), ended, "results are reported in order");
        summary
    }

    /// The names of what is in the folder.
    pub(crate) fn content(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Runs the cases of `main.test.toml` and compares their results.
#[track_caller]
pub(crate) fn check(files: &str, expected: Expect) {
    let world = World::new(files);
    let before = world.content();
    expected.assert_eq(&shown(&world.run()));
    assert_eq!(world.content(), before, "a test leaves nothing in the project");
}

/// Results in lines.
pub(crate) fn shown(summary: &Summary) -> String {
    let mut out = String::new();
    for file in &summary.files {
        let positions = Positions::new(&file.file.text);
        for result in &file.results {
            let word = match result {
                VariantResult { skipped: Some(reason), .. } => format!("skip ({reason})"),
                result if result.is_passed() => "pass".to_owned(),
                _ => "FAIL".to_owned(),
            };
            let runs = match result.attempts.len() {
                0 | 1 => String::new(),
                runs => format!(" {} of {runs}", result.passed()),
            };
            writeln!(out, "{word} {}{runs}", result.id).unwrap();
            match result.first_failure() {
                Some((_, AttemptEnd::Failed(mismatches))) if !result.is_passed() => {
                    for mismatch in mismatches {
                        let start = positions.position(mismatch.range.start());
                        writeln!(out, "  {}:{}: {}", start.line, start.column, mismatch.message).unwrap();
                        for (sign, text) in [('-', &mismatch.expected), ('+', &mismatch.actual)] {
                            for line in text.as_deref().unwrap_or_default().lines() {
                                writeln!(out, "    {sign}{line}").unwrap();
                            }
                        }
                    }
                }
                Some((_, end)) if !result.is_passed() => writeln!(out, "  {end:?}").unwrap(),
                _ => {}
            }
        }
    }
    out
}

/// A text with its problems as marks.
fn problems(text: &str, problems: &[Diagnostic]) -> String {
    let labelled = |problem: &Diagnostic| {
        let fix = problem.fix.as_ref().map_or_else(String::new, |fix| format!(" (fix: {})", fix.title));
        (problem.range, format!("error[{}] {}{fix}", problem.code, problem.message))
    };
    render(text, &problems.iter().map(labelled).collect::<Vec<_>>())
}

/// Compares what is reported about a test file, as marks below its lines.
#[track_caller]
pub(crate) fn check_file(marked: Expect) {
    let text = render(&Fixture::parse(marked.data()).files[0].text, &[]);
    let file = TestFile::read(Path::new("/main.test.toml"), &text);
    marked.assert_eq(&problems(&text, &file.problems));
}

/// The same with a program.
#[track_caller]
pub(crate) fn check_file_with(program: &str, marked: Expect) {
    let text = render(&Fixture::parse(marked.data()).files[0].text, &[]);
    let file = TestFile::read(Path::new("/main.test.toml"), &text);
    let subject = Subject::of_text(Path::new("/main.prose"), &dedent(program));
    let mut all = file.problems.clone();
    all.extend(file.problems_with(&subject));
    marked.assert_eq(&problems(&text, &all));
}

//! The test files with their programs.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_files::Limit;
use prose_project::imports::ImportOptions;
use prose_project::{Diagnosed, Failure};
use prose_syntax::{Diagnostic, Severity};
use prose_test::{
    ChangedFiles, Faulty, Job, Selection, Subject, TestFile, Unloadable, changed_files, discover,
};

use crate::cli::test::TestArgs;
use crate::output::full;
use crate::sources::{OtherTexts, Sources};
use crate::terminal::{self, ERROR, Terminal, one_line, write_failures};

/// The tests that are run.
#[derive(Default)]
pub(super) struct Collected {
    /// The files with selected cases.
    pub(super) jobs: Vec<Job>,
    /// The files with mistakes, which are not run.
    pub(super) faulty: Vec<(TestFile, Faulty)>,
    /// The number of test files that were found.
    pub(super) found: usize,
    /// Whether a file or a program has errors.
    pub(super) is_broken: bool,
    /// Whether no case is selected because nothing has changed.
    pub(super) is_unchanged: bool,
    /// The files that the results depend on.
    files: Vec<PathBuf>,
}

impl Collected {
    /// The number of selected cases.
    pub(super) fn count(&self) -> usize {
        self.jobs.iter().map(|job| job.variants.len()).sum()
    }

    /// The files that the results depend on.
    pub(super) fn watched(&self) -> Vec<PathBuf> {
        self.files.clone()
    }
}

/// Reads the test files, loads their programs, and selects cases. What is wrong is written.
pub(super) fn collect(
    args: &TestArgs,
    imports: &ImportOptions,
    terminal: &Terminal,
) -> io::Result<Collected> {
    let discovered = discover(&args.paths);
    let mut collected = Collected {
        found: discovered.files.len(),
        is_broken: !discovered.failures.is_empty(),
        ..Collected::default()
    };
    write_failures(&mut terminal.stderr(), &discovered.failures)?;
    let changed = match args.changed.as_deref().map(|commit| changed_files(Path::new("."), commit)) {
        None => None,
        Some(Ok(changed)) => Some(changed),
        Some(Err(reason)) => {
            writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: `--changed`: {}", one_line(&reason))?;
            return Ok(Collected { is_broken: true, ..collected });
        }
    };
    // Where a test file may be added.
    collected.files.extend(args.paths.iter().cloned());
    let mut subjects: BTreeMap<PathBuf, Result<Subject, Box<Unloadable>>> = BTreeMap::new();
    let mut selected = 0;
    for path in discovered.files {
        collected.files.push(path.clone());
        let text = match prose_files::read_text(&path, Limit::SCRIPT) {
            Ok(text) => text,
            Err(error) => {
                let failure = Failure { path, reason: error.to_string() };
                write_failures(&mut terminal.stderr(), &[failure])?;
                collected.is_broken = true;
                continue;
            }
        };
        let file = TestFile::read(&path, &text);
        collected.files.push(file.program.clone());
        collected.files.extend(file.recorded_files().map(Path::to_owned));
        // The errors of a program are written once.
        let is_known = subjects.contains_key(&file.program);
        let load = |program: &Path| -> Result<Subject, Box<Unloadable>> {
            let loaded = subjects.entry(program.to_owned());
            loaded.or_insert_with(|| Subject::load(program, imports.clone())).clone()
        };
        let subject = match file.check(load) {
            Ok(subject) => subject,
            Err(faulty) => {
                collected.is_broken = true;
                if !is_known && let Some(unloadable) = &faulty.program {
                    let name = prose_project::files::shown(&file.program);
                    write_diagnostics(
                        &name.to_string_lossy(),
                        &unloadable.text,
                        &unloadable.errors,
                        terminal,
                    )?;
                }
                write_problems(&file, &faulty.problems, terminal)?;
                collected.faulty.push((file, faulty));
                continue;
            }
        };
        collected.files.extend(subject.files());
        collected.files.push(subject.root.join(prose_config::FILE_NAME));
        let variants = selection(args).variants(&file);
        selected += variants.len();
        let is_affected = |changed: &ChangedFiles| changed.concern(&file, &subject);
        if !variants.is_empty() && changed.as_ref().is_none_or(is_affected) {
            collected.jobs.push(Job { file: Arc::new(file), subject, variants });
        }
    }
    collected.is_unchanged = changed.is_some() && selected > 0 && collected.jobs.is_empty();
    Ok(collected)
}

/// Which cases are run.
pub(super) fn selection(args: &TestArgs) -> Selection {
    Selection { texts: args.filters.clone(), is_exact: args.exact }
}

fn write_problems(file: &TestFile, problems: &[Diagnostic], terminal: &Terminal) -> io::Result<()> {
    let diagnosed: Vec<Diagnosed> = problems
        .iter()
        .map(|diagnostic| Diagnosed { diagnostic: diagnostic.clone(), severity: Severity::Error })
        .collect();
    write_diagnostics(&file.path.to_string_lossy(), &file.text, &diagnosed, terminal)
}

fn write_diagnostics(name: &str, text: &str, diagnosed: &[Diagnosed], terminal: &Terminal) -> io::Result<()> {
    let others = OtherTexts::read(diagnosed);
    let sources = Sources::new(name, text, &others);
    let renderer = full::renderer(terminal.stdout_is_styled(), terminal::width());
    terminal.stderr().write_all(full::render(diagnosed, &sources, &renderer).as_bytes())
}

//! What there is to say about a program. Everything else in this crate is about finding programs and telling the findings.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::imports::imported_programs;
use prose_analysis::{AnalysisHost, Database, SourceFile, Text};
use prose_syntax::fix::Reported;
use prose_syntax::{Diagnostic, Severity};

use super::settings::{Rules, identity};
use super::{in_parallel, source};
use crate::panic::caught;

/// A diagnostic with the severity that it has for this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diagnosed {
    pub(crate) diagnostic: Diagnostic,
    pub(crate) severity: Severity,
}

impl Reported for Diagnosed {
    fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }

    fn severity(&self) -> Severity {
        self.severity
    }
}

/// Programs that are checked together, so that each import of one by another is parsed once.
pub(super) struct Programs {
    host: AnalysisHost,
}

impl Programs {
    /// Reads what the programs import, as far as it is not among them.
    pub(super) fn new<'a>(
        programs: impl IntoIterator<Item = (&'a Path, String, &'a Rules)>,
        threads: NonZeroUsize,
    ) -> Self {
        let mut host = AnalysisHost::default();
        let mut waiting: Vec<SourceFile> = programs
            .into_iter()
            .map(|(path, text, rules)| {
                let file = host.set_text(&identity(path), Text::new(text));
                host.set_models(file, rules.models());
                file
            })
            .collect();
        while !waiting.is_empty() {
            let views = Views::new(&host);
            in_parallel(
                &waiting,
                threads,
                || views.take(),
                |db, file| {
                    // A panic is told where the diagnostics of the program are asked for.
                    let _ = caught(|| imported_programs(db, *file).len());
                },
            );
            drop(views);
            waiting = host.db().take_unknown().into_iter().filter_map(|path| load(&mut host, path)).collect();
        }
        Self { host }
    }

    /// Views for threads to work with.
    pub(super) fn views(&self) -> Views {
        Views::new(&self.host)
    }

    /// The program at a path.
    pub(super) fn file(&self, path: &Path) -> Option<SourceFile> {
        self.host.file(&identity(path))
    }
}

/// Hands a view of the programs to each thread: a view can be sent to a thread, but not shared with one.
pub(super) struct Views(Mutex<Database>);

impl Views {
    fn new(host: &AnalysisHost) -> Self {
        Self(Mutex::new(host.snapshot()))
    }

    /// A view of one's own.
    pub(super) fn take(&self) -> Database {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The diagnostics of a program that is checked alone, sorted by position, without those that are off. What it imports is read.
pub(super) fn diagnose(path: &Path, text: &str, rules: &Rules) -> Vec<Diagnosed> {
    let mut host = AnalysisHost::default();
    let file = host.set_text(&identity(path), Text::new(text));
    host.set_models(file, rules.models());
    host.load_imports(file, |path| source::read_file(path).ok());
    reported(host.db(), file, rules)
}

fn load(host: &mut AnalysisHost, path: PathBuf) -> Option<SourceFile> {
    match source::read_file(&path) {
        Ok(text) => Some(host.set_text(&path, Text::new(text))),
        Err(_) => {
            host.set_missing(path);
            None
        }
    }
}

/// The diagnostics of a program, sorted by position, without those that are off.
pub(super) fn reported(db: &Database, file: SourceFile, rules: &Rules) -> Vec<Diagnosed> {
    rules.diagnosed(file.path(db), diagnostics(db, file))
}

/// The text of another file that a diagnostic refers to. One that has gone meanwhile is as good as empty.
pub(super) fn text_of_other(path: &str) -> String {
    source::read_file(Path::new(path)).unwrap_or_default()
}

//! Decides which programs can be run, and why others cannot (decision 15). Used by everything that runs programs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::imports::{Imported, import_paths, imported, note, remote, with_imported_programs};
use prose_analysis::{Database, SourceFile};
use prose_markdown::{is_reported, program_at_path};
use prose_registry::OFFLINE;
use prose_syntax::lines::{LineIndex, line_start};
use prose_syntax::{Code, Diagnostic, Severity};
use prose_vm::program::Program;
use smol_str::SmolStr;

use crate::files::{Failure, identity, shown};
use crate::imports::{NOTHING_IS_FETCHED, copies};
use crate::settings::{Diagnosed, Rules};

/// The reason why a program is not run. Displayed as the rest of a sentence that starts with the name of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A settings file cannot be read.
    Unreadable(Failure),
    /// The settings for runs have errors.
    Settings {
        /// The settings file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The message of the first error.
        message: String,
    },
    /// The program has errors, or an import without a program. The ranges are in the program, in order.
    Errors(Vec<Diagnosed>),
    /// An import is not fetched, with the reason if it is known.
    NotFetched {
        /// The path as written.
        path: SmolStr,
        /// The diagnostic about it.
        why: Option<String>,
    },
    /// The program does not exist.
    NotThere,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(Failure { path, reason }) => {
                write!(f, "is not run: `{}` {reason}", shown(path).display())
            }
            Self::Settings { path, line, column, message } => {
                write!(f, "is not run: fix {}:{line}:{column}: {message}", shown(path).display())
            }
            Self::Errors(errors) if errors.len() == 1 => f.write_str("has 1 error and is not run"),
            Self::Errors(errors) => write!(f, "has {} errors and is not run", errors.len()),
            Self::NotFetched { why: Some(why), .. } => write!(f, "is not run: {why}"),
            Self::NotFetched { path, why: None } => write!(
                f,
                "is not run: the import `{path}` is not fetched yet; run `prose fetch` or the action \"Fetch\""
            ),
            Self::NotThere => f.write_str("could not be read"),
        }
    }
}

/// The program of a file with its imports. `path` is the file whose settings apply: for a part of a document, the document.
pub fn runnable(
    db: &Database,
    file: SourceFile,
    rules: &Rules,
    path: &Path,
) -> Result<Arc<Program>, Refusal> {
    check_runnable(db, file, rules, path)?;
    Ok(Program::new(db, file))
}

/// Rejects a program that [`runnable`] rejects.
pub(crate) fn check_runnable(
    db: &Database,
    file: SourceFile,
    rules: &Rules,
    path: &Path,
) -> Result<(), Refusal> {
    check_settings(rules)?;
    let errors = errors(db, file, rules, path);
    if !errors.is_empty() {
        return Err(Refusal::Errors(errors));
    }
    check_imports(db, file, rules)
}

/// The diagnostics that prevent a program from being run, in order: its errors, and reasons for missing imports of any severity.
pub fn errors(db: &Database, file: SourceFile, rules: &Rules, path: &Path) -> Vec<Diagnosed> {
    let path = identity(path);
    let is_part = program_at_path(file.path(db)).is_some();
    let is_error = |diagnostic: &&Diagnostic| {
        // A diagnostic that is not reported does not prevent a run.
        let is_reported = !is_part || is_reported(diagnostic.code);
        is_reported && rules.severity(&path, diagnostic) == Some(Severity::Error)
            || is_missing_import(db, file, diagnostic)
    };
    let errors = diagnostics(db, file).iter().filter(is_error);
    let errors =
        errors.map(|diagnostic| Diagnosed { diagnostic: diagnostic.clone(), severity: Severity::Error });
    let mut errors: Vec<_> = errors.collect();
    errors.sort_by_key(|error| error.diagnostic.range.start());
    errors
}

/// Whether a diagnostic reports that a program cannot be fetched or must not be used, without a cached text.
fn is_missing_import(db: &Database, file: SourceFile, diagnostic: &Diagnostic) -> bool {
    if !matches!(diagnostic.code, Code::W143 | Code::E146) {
        return false;
    }
    let is_missing = |path: &SmolStr| !matches!(imported(db, file, path.clone()), Imported::Program(_));
    let paths = import_paths(db, file);
    let written = &file.text(db).as_str()[std::ops::Range::from(diagnostic.range)];
    match paths.iter().find(|path| *path == written) {
        Some(path) => is_missing(path),
        // It is written with escapes.
        None => paths.iter().any(is_missing),
    }
}

/// Rejects programs whose settings cannot be read or have an error about runs.
pub fn check_settings(rules: &Rules) -> Result<(), Refusal> {
    let project = rules.project();
    let Some(path) = project.path.clone() else { return Ok(()) };
    if let Some(reason) = project.unreadable.clone() {
        return Err(Refusal::Unreadable(Failure { path, reason }));
    }
    let Some(error) = &project.run_error else { return Ok(()) };
    let at = project.text.floor_char_boundary(error.range.start().into());
    let line = LineIndex::new(&project.text).line(at);
    let before = project.text[line_start(&project.text, at)..at].trim_start_matches('\u{feff}');
    Err(Refusal::Settings {
        path,
        line: 1 + line,
        column: 1 + before.chars().count(),
        message: error.message.clone(),
    })
}

/// Rejects a program with imports, direct or through others, that are not available yet.
fn check_imports(db: &Database, file: SourceFile, rules: &Rules) -> Result<(), Refusal> {
    let imports = remote_imports(db, file);
    if let Some(folder) = rules.vendor().filter(|_| !imports.is_empty()) {
        copies::load(&folder).map_err(Refusal::Unreadable)?;
    }
    for (importer, path) in imports {
        if imported(db, importer, path.clone()) == Imported::Unknown {
            let is_of_unknown_registry =
                remote(db, importer, &path).is_some_and(|remote| remote.is_of_unknown_registry());
            let why = match note(db, importer, &path) {
                Some(note) => Some(note.message.clone()),
                None if is_of_unknown_registry => Some(format!(
                    "the import `{path}` needs `registry.url`, which has an error in `prose.toml`"
                )),
                None => None,
            };
            return Err(Refusal::NotFetched { path, why });
        }
    }
    Ok(())
}

/// Warnings about a run that are not diagnostics of a file.
pub fn remarks(db: &Database, file: SourceFile, rules: &Rules) -> Vec<String> {
    if remote_imports(db, file).is_empty() {
        return Vec::new();
    }
    let copies = rules.vendor().and_then(|folder| copies::load(&folder).ok());
    let mut remarks = copies.map(|(_, remarks)| remarks).unwrap_or_default();
    if std::env::var_os(OFFLINE).is_some_and(|value| value == "1") {
        remarks.push(NOTHING_IS_FETCHED.to_owned());
    }
    remarks
}

/// The remote imports of a program, direct or through others: the importer and the path of each.
fn remote_imports(db: &Database, file: SourceFile) -> Vec<(SourceFile, SmolStr)> {
    let mut found = Vec::new();
    for file in with_imported_programs(db, file) {
        let paths = import_paths(db, file).into_iter().filter(|path| remote(db, file, path).is_some());
        found.extend(paths.map(|path| (file, path)));
    }
    found
}

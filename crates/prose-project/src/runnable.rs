//! Which programs can be run, and why others cannot (decision 15). Everything that runs programs asks here.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::imports::{Imported, import_paths, imported, imported_programs, note, remote};
use prose_analysis::{Database, SourceFile};
use prose_markdown::{is_reported, program_at_path};
use prose_registry::OFFLINE;
use prose_syntax::{Code, Diagnostic, Severity};
use prose_vm::program::Program;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use crate::files::{Failure, identity, shown};
use crate::imports::{NOTHING_IS_FETCHED, copies};
use crate::settings::{Diagnosed, Rules};

/// Why a program is not run. Displayed as the rest of a sentence that starts with the name of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A file that says how to run it cannot be read.
    Unreadable(Failure),
    /// The settings have errors in how to run it.
    Settings {
        /// The file of settings.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// The message of the first error.
        message: String,
    },
    /// It has errors, or an import without a program. The ranges are those of the program, the first one comes first.
    Errors(Vec<Diagnosed>),
    /// An imported program is not fetched, and why if that is known.
    NotFetched {
        /// The path as it is written.
        path: SmolStr,
        /// The note about it, a sentence.
        why: Option<String>,
    },
    /// There is no such program.
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
                "is not run: it imports `{path}`, which is not fetched yet; `prose fetch` or the action \"Fetch\" at the import does it"
            ),
            Self::NotThere => f.write_str("could not be read"),
        }
    }
}

/// The program of a file, with all that it imports. `path` is that of the file whose settings count: for a part of a document, the document.
pub fn runnable(
    db: &Database,
    file: SourceFile,
    rules: &Rules,
    path: &Path,
) -> Result<Arc<Program>, Refusal> {
    check_runnable(db, file, rules, path)?;
    Ok(Program::new(db, file))
}

/// Refuses a program that [`runnable`] refuses.
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

/// The diagnostics that keep a program from being run, the first one first: its errors, and why imports have no program, whatever level that has.
pub fn errors(db: &Database, file: SourceFile, rules: &Rules, path: &Path) -> Vec<Diagnosed> {
    let path = identity(path);
    let is_part = program_at_path(file.path(db)).is_some();
    let is_error = |diagnostic: &&Diagnostic| {
        // Nobody is refused for something that is not reported.
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

/// Whether a diagnostic says why a program cannot be fetched, or must not be used, for which there is no earlier text either.
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

fn check_settings(rules: &Rules) -> Result<(), Refusal> {
    let project = rules.project();
    let Some(path) = project.path.clone() else { return Ok(()) };
    if let Some(reason) = project.unreadable.clone() {
        return Err(Refusal::Unreadable(Failure { path, reason }));
    }
    let Some(error) = project.run_error() else { return Ok(()) };
    let at = project.text.floor_char_boundary(error.range.start().into());
    let before = project.text[..at].trim_start_matches('\u{feff}');
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Err(Refusal::Settings {
        path,
        line: 1 + before.matches('\n').count(),
        column: 1 + before[line_start..].chars().count(),
        message: error.message.clone(),
    })
}

/// Refuses a program that imports, itself or through others, something that is not there yet.
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
                None if is_of_unknown_registry => {
                    Some(format!("it imports `{path}`, and `registry.url` of prose.toml has an error"))
                }
                None => None,
            };
            return Err(Refusal::NotFetched { path, why });
        }
    }
    Ok(())
}

/// Remarks about what a program is run with that are no diagnostics of a file.
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

/// The programs from elsewhere that a program imports, itself or through others: who imports each, and by which path.
fn remote_imports(db: &Database, file: SourceFile) -> Vec<(SourceFile, SmolStr)> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::from_iter([file]);
    let mut waiting = vec![file];
    while let Some(file) = waiting.pop() {
        let paths = import_paths(db, file).into_iter().filter(|path| remote(db, file, path).is_some());
        found.extend(paths.map(|path| (file, path)));
        waiting.extend(imported_programs(db, file).iter().copied().filter(|program| seen.insert(*program)));
    }
    found
}

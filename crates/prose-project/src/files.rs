//! Reading programs: every way in which that can fail, with what to do about it.

use std::io;
use std::path::{Component, Path, PathBuf};

use prose_analysis::host::LoadError;
use prose_analysis::location::normalized;
use prose_files::{Limit, ReadError, decode, read_named_text, read_stream, read_text};

/// A file or folder that could not be read, checked or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Where.
    pub path: PathBuf,
    /// Why, as the rest of a sentence that starts with the path.
    pub reason: String,
}

impl Failure {
    /// A failure whose reason may start with the path, as some messages do.
    pub(crate) fn new(path: &Path, why: impl ToString) -> Self {
        let why = why.to_string();
        let rest = why.strip_prefix(&*path.to_string_lossy()).unwrap_or(&why);
        let reason = rest.trim_start_matches(':').trim_start().to_owned();
        Self { path: shown(path), reason }
    }
}

/// Reads a program that a person has named. The error is the rest of a sentence that starts with the path.
pub fn read_program(path: &Path) -> Result<String, String> {
    read_named_text(path, Limit::PROGRAM).map_err(|error| match error {
        ReadError::Pipe => format!("{error}; to read it, use `prose check - <` and its name"),
        error => error.to_string(),
    })
}

/// Reads standard input to its end.
pub fn read_stdin() -> Result<String, String> {
    read_stream(io::stdin().lock(), Limit::PROGRAM).and_then(decode).map_err(|error| error.to_string())
}

/// Reads a program that another one imports, or that lies in a folder.
pub fn read_import(path: &Path) -> Result<String, LoadError> {
    read_text(path, Limit::PROGRAM).map_err(|error| match error.is_missing() {
        true => LoadError::Missing,
        false => {
            tracing::warn!("{} {error}", path.display());
            LoadError::Unreadable(error.to_string())
        }
    })
}

/// Refuses a text that is larger than a program may be, with the words for a file of that size.
pub fn check_size(bytes: usize) -> Result<(), String> {
    match u64::try_from(bytes) {
        Ok(bytes) if bytes <= Limit::PROGRAM.bytes => Ok(()),
        _ => Err(ReadError::TooLarge(Limit::PROGRAM).to_string()),
    }
}

/// The path that a file is known by: the same for all ways to name it, as far as the names tell.
pub fn identity(path: &Path) -> PathBuf {
    normalized(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// Whether a path leads into a folder whose own path has no links. A link counts as what it leads to, also above what does not exist.
pub fn leads_into(path: &Path, folder: &Path) -> bool {
    for existing in path.ancestors() {
        match existing.canonicalize() {
            Ok(real) => {
                let rest = path.strip_prefix(existing).unwrap_or(path);
                // Where `..` leads after what does not exist is unknown.
                return real.starts_with(folder)
                    && !rest.components().any(|part| part == Component::ParentDir);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(_) => return false,
        }
    }
    false
}

/// An absolute path as a person in the current folder would write it.
pub fn shown(path: &Path) -> PathBuf {
    let folder = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(folder).unwrap_or(path).to_owned()
}

//! Finding the programs below folders, and doing something with each on several threads.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::Failure;
use super::source;

/// What a walk came across besides programs.
pub(super) struct Walked<T> {
    /// The results for the programs, in no particular order.
    pub(super) results: Vec<T>,
    /// Folders that could not be listed and the like.
    pub(super) failures: Vec<Failure>,
    /// Remarks that change nothing, such as a broken line of a `.gitignore`.
    pub(super) remarks: Vec<String>,
}

/// Calls `visit` with every program: each path of `roots` that is no folder, and the `*.prose` files below the folders.
pub(super) fn programs<T: Send>(
    roots: &[PathBuf],
    threads: NonZeroUsize,
    visit: impl Fn(&Path) -> T + Sync,
) -> Walked<T> {
    let mut walked = Walked::new();
    // A single file is the common case of an editor or a hook: no threads, no reading of ignore files.
    if let [root] = roots
        && !root.is_dir()
    {
        walked.results.push(visit(root));
        return walked;
    }
    let [first, rest @ ..] = roots else { return walked };
    let mut walk = WalkBuilder::new(first);
    rest.iter().for_each(|root| {
        walk.add(root);
    });
    // Programs are shared outside of Git as well: a downloaded folder has the same files to leave out.
    walk.require_git(false).threads(threads.get());
    let shared = Mutex::new(&mut walked);
    walk.build_parallel().run(|| {
        let mut local = Local { walked: Walked::new(), shared: &shared };
        let visit = &visit;
        Box::new(move |entry| {
            local.walked.entry(entry, visit);
            WalkState::Continue
        })
    });
    walked
}

/// What one thread has come across; handed over when the thread is done, so that threads do not wait for each other.
struct Local<'a, 'b, T> {
    walked: Walked<T>,
    shared: &'a Mutex<&'b mut Walked<T>>,
}

impl<T> Drop for Local<'_, '_, T> {
    fn drop(&mut self) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.results.append(&mut self.walked.results);
        shared.failures.append(&mut self.walked.failures);
        shared.remarks.append(&mut self.walked.remarks);
    }
}

impl<T> Walked<T> {
    fn new() -> Self {
        Self { results: Vec::new(), failures: Vec::new(), remarks: Vec::new() }
    }

    fn entry(&mut self, entry: Result<DirEntry, ignore::Error>, visit: &impl Fn(&Path) -> T) {
        match entry {
            Ok(entry) => {
                self.remarks.extend(entry.error().map(ToString::to_string));
                if is_program(&entry) {
                    self.results.push(visit(entry.path()));
                }
            }
            Err(error) => self.failures.push(failure(&error)),
        }
    }
}

fn is_program(entry: &DirEntry) -> bool {
    let is_named = entry.depth() == 0;
    let has_extension = entry.path().extension().is_some_and(|extension| extension == "prose");
    if !is_named && !has_extension {
        return false;
    }
    let Some(file_type) = entry.file_type() else { return false };
    // Links to folders are not followed, so that a link to a parent is no endless walk; a broken link is a program that
    // cannot be read, which the reader should hear about.
    let leads_to_folder = file_type.is_symlink() && entry.path().is_dir();
    !file_type.is_dir() && !leads_to_folder
}

fn failure(error: &ignore::Error) -> Failure {
    let path = path_of(error).unwrap_or(Path::new("."));
    let reason = match error.io_error() {
        Some(error) if error.kind() == std::io::ErrorKind::NotFound => "does not exist".to_owned(),
        Some(error) => format!("cannot be read: {}", source::reason(error)),
        None => format!("cannot be read: {error}"),
    };
    Failure { path: path.to_owned(), reason }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithLineNumber { err, .. } | ignore::Error::WithDepth { err, .. } => path_of(err),
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::Partial(errors) => errors.iter().find_map(path_of),
        _ => None,
    }
}

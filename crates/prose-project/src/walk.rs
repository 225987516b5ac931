//! Finds the programs in folders, each once.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder, WalkState};

use prose_markdown::is_markdown;

use crate::files::Failure;
use crate::settings::Settings;

/// The result of a walk.
#[derive(Default)]
pub struct Walked {
    /// The programs and the explicitly named documents, sorted by path.
    pub programs: Vec<PathBuf>,
    /// The other Markdown documents, sorted by path.
    documents: Vec<PathBuf>,
    /// Errors, such as unreadable folders.
    pub failures: Vec<Failure>,
    /// Warnings, such as an invalid line of a `.gitignore`.
    pub remarks: Vec<String>,
}

impl Walked {
    /// The files to check, sorted by path: the programs, and the documents of projects that enable them.
    pub fn files(&mut self, settings: &mut Settings) -> Vec<PathBuf> {
        let mut files = std::mem::take(&mut self.programs);
        let documents = std::mem::take(&mut self.documents).into_iter();
        files.extend(documents.filter(|path| settings.of(path).project().config.markdown.check));
        files.sort();
        files
    }
}

/// Finds all programs: each path of `roots` that is not a folder, and the `*.prose` files in the folders. A file with several paths is found once,
/// preferably not through a link.
pub fn programs(roots: &[PathBuf], threads: NonZeroUsize) -> Walked {
    // A single file is the common case of an editor or a hook: it needs no threads and no ignore files.
    if let [root] = roots
        && !root.is_dir()
    {
        return Walked { programs: vec![without_dot(root)], ..Walked::default() };
    }
    let [first, rest @ ..] = roots else { return Walked::default() };
    let mut walk = WalkBuilder::new(first);
    rest.iter().for_each(|root| {
        walk.add(root);
    });
    // Programs are also shared outside of Git: ignore files apply to a downloaded folder, too.
    walk.require_git(false).threads(threads.get());
    let shared = Mutex::new(Found::default());
    walk.build_parallel().run(|| {
        let mut local = Local { found: Found::default(), identities: Identities::default(), shared: &shared };
        Box::new(move |entry| {
            local.entry(entry);
            WalkState::Continue
        })
    });
    let Found { programs, failures, remarks } = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (documents, programs) = unique(programs).into_iter().partition(|program| program.is_document);
    let paths = |found: Vec<Program>| found.into_iter().map(|program| program.path).collect();
    Walked { programs: paths(programs), documents: paths(documents), failures, remarks }
}

/// `./a.prose` is displayed as `a.prose`; `.` alone stays.
fn without_dot(path: &Path) -> PathBuf {
    match path.strip_prefix(".") {
        Ok(rest) if !rest.as_os_str().is_empty() => rest.to_owned(),
        _ => path.to_owned(),
    }
}

/// A path to a program.
struct Program {
    path: PathBuf,
    /// The canonical path.
    identity: PathBuf,
    is_link: bool,
    /// Whether it is a Markdown document in a folder.
    is_document: bool,
}

fn unique(mut programs: Vec<Program>) -> Vec<Program> {
    programs.sort_by(|a, b| (a.is_document, a.is_link, &a.path).cmp(&(b.is_document, b.is_link, &b.path)));
    let mut seen = HashSet::new();
    let first = programs.into_iter().filter(|program| seen.insert(program.identity.clone()));
    let mut programs: Vec<Program> = first.collect();
    programs.sort_by(|a, b| a.path.cmp(&b.path));
    programs
}

#[derive(Default)]
struct Found {
    programs: Vec<Program>,
    failures: Vec<Failure>,
    remarks: Vec<String>,
}

/// The results of one thread, merged when it ends, so that threads do not wait for each other.
struct Local<'a> {
    found: Found,
    identities: Identities,
    shared: &'a Mutex<Found>,
}

impl Drop for Local<'_> {
    fn drop(&mut self) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.programs.append(&mut self.found.programs);
        shared.failures.append(&mut self.found.failures);
        shared.remarks.append(&mut self.found.remarks);
    }
}

impl Local<'_> {
    fn entry(&mut self, entry: Result<DirEntry, ignore::Error>) {
        match entry {
            Ok(entry) => {
                self.found.remarks.extend(entry.error().map(ToString::to_string));
                if is_program(&entry) {
                    // Named paths are resolved, so they are not links any more.
                    let is_link =
                        entry.path_is_symlink() || (entry.depth() == 0 && entry.path().is_symlink());
                    let identity = self.identities.of(entry.path(), is_link);
                    let is_document = entry.depth() > 0 && is_markdown(entry.path());
                    let path = without_dot(entry.path());
                    self.found.programs.push(Program { path, identity, is_link, is_document });
                }
            }
            Err(error) => self.found.failures.push(failure(&error)),
        }
    }
}

/// Computes canonical paths. Resolving every component of every path would take longer than reading the files, so the last folder is cached.
#[derive(Default)]
struct Identities {
    folder: PathBuf,
    folder_identity: PathBuf,
}

impl Identities {
    fn of(&mut self, path: &Path, is_link: bool) -> PathBuf {
        let (Some(folder), Some(name), false) = (path.parent(), path.file_name(), is_link) else {
            return identity(path);
        };
        if self.folder != folder || self.folder_identity.as_os_str().is_empty() {
            self.folder = folder.to_owned();
            self.folder_identity =
                identity(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        }
        self.folder_identity.join(name)
    }
}

fn identity(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn is_program(entry: &DirEntry) -> bool {
    let is_named = entry.depth() == 0;
    let has_extension = entry.path().extension().is_some_and(|extension| extension == "prose");
    if !is_named && !has_extension && !is_markdown(entry.path()) {
        return false;
    }
    let Some(file_type) = entry.file_type() else { return false };
    // Links to folders are not followed, which prevents endless walks; a broken link is reported as an unreadable program.
    let leads_to_folder = file_type.is_symlink() && entry.path().is_dir();
    !file_type.is_dir() && !leads_to_folder
}

fn failure(error: &ignore::Error) -> Failure {
    let path = path_of(error).unwrap_or(Path::new("."));
    let reason = match error.io_error() {
        Some(error) if error.kind() == std::io::ErrorKind::NotFound => "does not exist".to_owned(),
        Some(error) => format!("cannot be read: {}", prose_files::reason(error)),
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

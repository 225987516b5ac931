//! Files that are put in their place as a whole, inside folders that are known to be the run's own, and folders that no link leads out of.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub(crate) use prose_files::Identity;
use prose_files::{FileAccessError, Folder, Limit, ReadError, has_too_many_files, private};

use crate::error::StateError;

/// How temporary files start, by which those of a process that was killed are found again.
const TEMPORARY: &str = ".prose-tmp-";

/// The longest part of a path that common file systems take, with room for the name of a temporary file.
const MAX_BYTES_OF_PART: usize = 200;

/// How many descriptors are kept for when the agents of a run have taken all others.
const SPARE: usize = 3;

/// A folder that nothing is read or written outside of.
#[derive(Debug)]
pub(crate) struct Tree {
    folder: Folder,
    /// Descriptors that are given back where there are no others, so that what is at work can still be recorded.
    spare: Mutex<Vec<Folder>>,
}

impl From<FileAccessError> for StateError {
    fn from(error: FileAccessError) -> Self {
        match error {
            FileAccessError::Link(path) => {
                let why = "it is a link, and a run writes only to its own files; remove the link";
                StateError::refused(path.display().to_string(), why)
            }
            FileAccessError::Read(path, ReadError::Io(error)) => {
                StateError::Io { doing: "read", path, error }
            }
            FileAccessError::Read(path, error) => {
                StateError::refused(path.display().to_string(), format!("it {error}"))
            }
            FileAccessError::Io { doing, path, error } => StateError::Io { doing, path, error },
        }
    }
}

impl Tree {
    /// The tree below a folder that exists.
    pub(crate) fn new(folder: Folder) -> Self {
        Self { folder, spare: Mutex::default() }
    }

    /// Brings a file inside to the disk.
    pub(crate) fn sync_file(&self, relative: &str) -> Result<(), StateError> {
        let (folder, name) = self.parts(relative)?;
        let Some(folder) = self.folder.folder(folder)? else { return Ok(()) };
        let Some(file) = folder.reader(name)? else { return Ok(()) };
        file.sync_all().map_err(StateError::io("sync", &folder.path().join(name)))
    }

    /// Removes a file inside, if there is one.
    pub(crate) fn remove(&self, relative: &str) -> Result<(), StateError> {
        let (folder, name) = self.parts(relative)?;
        match self.folder.folder(folder)? {
            Some(folder) => Ok(folder.remove(name)?),
            None => Ok(()),
        }
    }

    /// Does something with the folder of a file inside, also where no descriptor is left.
    fn with<T>(&self, act: impl Fn(&Folder) -> Result<T, FileAccessError>) -> Result<T, StateError> {
        let is_full = |error: &FileAccessError| match error {
            FileAccessError::Io { error, .. } | FileAccessError::Read(_, ReadError::Io(error)) => {
                has_too_many_files(error)
            }
            FileAccessError::Link(_) | FileAccessError::Read(..) => false,
        };
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = act(&self.folder);
        if done.as_ref().is_err_and(is_full) && !spare.is_empty() {
            spare.clear();
            done = act(&self.folder);
        }
        // As soon as there are some again.
        while spare.len() < SPARE && done.is_ok() {
            let Ok(another) = self.folder.make_folder(Path::new("")) else { break };
            spare.push(another);
        }
        Ok(done?)
    }

    /// The folder alone.
    pub(crate) fn into_folder(self) -> Folder {
        self.folder
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The folder of a file inside, and the file's name.
    fn parts<'a>(&self, relative: &'a str) -> Result<(&'a Path, &'a str), StateError> {
        let relative = relative.trim_end_matches('/');
        relative.split('/').try_for_each(|part| check_part(part, relative))?;
        let (folder, name) = relative.rsplit_once('/').unwrap_or(("", relative));
        Ok((Path::new(folder), name))
    }

    /// Writes a file as a whole, so that readers see the old one or the new one. A link of that name is replaced, not followed.
    ///
    /// A loss of power may take the file, which is made again from the journal then.
    pub(crate) fn write(&self, relative: &str, bytes: &[u8]) -> Result<(), StateError> {
        let (folder, name) = self.parts(relative)?;
        self.with(|root| root.make_folder(folder)?.write(name, bytes))
    }

    /// The same for a file that is probably not there yet, which is faster then.
    pub(crate) fn write_new(&self, relative: &str, bytes: &[u8]) -> Result<(), StateError> {
        let (folder, name) = self.parts(relative)?;
        self.with(|root| root.make_folder(folder)?.write_new(name, bytes))
    }

    /// The same for a file that no journal can bring back.
    pub(crate) fn write_durable(&self, relative: &str, bytes: &[u8]) -> Result<(), StateError> {
        let (folder, name) = self.parts(relative)?;
        self.with(|root| root.make_folder(folder)?.write_durable(name, bytes))
    }

    /// Makes a folder inside.
    pub(crate) fn make_folder(&self, relative: &str) -> Result<(), StateError> {
        let (folder, name) = self.parts(relative)?;
        self.with(|root| root.make_folder(&folder.join(name)).map(drop))
    }

    /// The bytes of a file inside; none if there is no such file.
    pub(crate) fn read(&self, relative: &str, limit: Limit) -> Result<Option<Vec<u8>>, StateError> {
        let (folder, name) = self.parts(relative)?;
        self.with(|root| match root.folder(folder)? {
            Some(folder) => folder.read(name, limit),
            None => Ok(None),
        })
    }

    /// By what it is known whether a file inside has been written since; none if there is no such file.
    pub(crate) fn identity(&self, relative: &str) -> Result<Option<Identity>, StateError> {
        let (folder, name) = self.parts(relative)?;
        self.with(|root| match root.folder(folder)? {
            Some(folder) => folder.identity(name),
            None => Ok(None),
        })
    }

    /// Whether there is such a file, and no link to one.
    pub(crate) fn has(&self, relative: &str) -> Result<bool, StateError> {
        let (folder, name) = self.parts(relative)?;
        match self.folder.folder(folder)? {
            Some(folder) => Ok(folder.reader(name)?.is_some()),
            None => Ok(false),
        }
    }

    /// Brings the names of what is in the folder to the disk.
    pub(crate) fn sync(&self) -> Result<(), StateError> {
        Ok(self.folder.sync()?)
    }

    /// Removes what a process that was killed has left of files that it was writing, if that was so long ago that no other process still writes
    /// it.
    pub(crate) fn remove_temporary_files(&self, age: Duration) {
        remove_temporary_files(self.folder.path(), age, 0);
    }
}

fn remove_temporary_files(folder: &Path, age: Duration, depth: usize) {
    // Nothing depends on it, so what cannot be removed stays. Imports of imports are no reason to go down without end.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < 32 {
            remove_temporary_files(&entry.path(), age, depth + 1);
        } else if kind.is_file() && entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            let written = entry.metadata().and_then(|metadata| metadata.modified());
            // A time in the future says nothing.
            if written.is_ok_and(|written| written.elapsed().unwrap_or_default() >= age) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Opens a folder, and makes what is missing of it for the user alone. It has to lie in one of `limits`, whatever links there are on the way; none are
/// no limit (decision 14).
pub(crate) fn make_tree(folder: &Path, limits: &[&Path]) -> Result<Tree, StateError> {
    let (base, below) = within(folder, limits)?;
    Ok(Tree::new(Folder::open(&base)?.make_folder(&below)?))
}

/// Opens a folder in the same way; none if it is not there.
pub(crate) fn open_tree(folder: &Path, limits: &[&Path]) -> Result<Option<Tree>, StateError> {
    let (base, below) = within(folder, limits)?;
    if !base.is_dir() {
        return Ok(None);
    }
    Ok(Folder::open(&base)?.folder(&below)?.map(Tree::new))
}

/// A folder without links that exists, and the way from there to a folder inside it.
fn within(folder: &Path, limits: &[&Path]) -> Result<(PathBuf, PathBuf), StateError> {
    let target = resolved(folder);
    let mut limits = limits.iter().map(|limit| resolved(limit)).peekable();
    let base = match limits.peek() {
        None => target.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned),
        Some(first) => {
            let first = first.clone();
            match limits.find(|limit| target.starts_with(limit)) {
                Some(limit) => Some(limit),
                None => {
                    let path = link_out(folder, &first).unwrap_or_else(|| folder.to_owned());
                    let why = format!(
                        "it is a link that leads out of {}; replace it with a folder, or pass `--allow-outside`",
                        first.display()
                    );
                    return Err(StateError::refused(path.display().to_string(), why));
                }
            }
        }
    };
    let base = base.unwrap_or_else(|| target.clone());
    let below = target.strip_prefix(&base).unwrap_or(Path::new("")).to_owned();
    // Only folders that exist can be opened; a limit that is missing is made as well.
    if !base.exists() {
        private::create_dir_all(&base).map_err(StateError::io("make", &base))?;
    }
    Ok((base, below))
}

/// The first part of a path that is a link out of a folder.
fn link_out(path: &Path, limit: &Path) -> Option<PathBuf> {
    let mut parts: Vec<&Path> = path.ancestors().collect();
    parts.reverse();
    let out = |part: &&Path| {
        part.is_symlink() && !resolved(part).starts_with(limit) && !limit.starts_with(resolved(part))
    };
    parts.into_iter().find(out).map(Path::to_owned)
}

/// A folder without links in its path, as far as it exists.
pub fn resolved(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        if let Ok(found) = at.canonicalize() {
            return rest.iter().rev().fold(found, |path, part| path.join(part));
        }
        match (at.parent(), at.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name.to_owned());
                at = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

/// Whether an error says that there is no such file.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether a part of a path is a name and nothing else (decision 14).
pub(crate) fn check_part(part: &str, whole: &str) -> Result<(), StateError> {
    let refuse = |why: &str| Err(StateError::refused(whole, why));
    match part {
        "" => return refuse("the path has an empty component"),
        "." | ".." => {
            return refuse("the path leads out of its folder; remove `.` and `..`");
        }
        _ => {}
    }
    if part.contains(['\\', '/', ':']) || part.chars().any(char::is_control) {
        return refuse(
            "file names must not contain separators, colons or control characters; use letters, digits and `_`",
        );
    }
    if part.len() > MAX_BYTES_OF_PART {
        return refuse("a file name in it is too long; use a shorter one");
    }
    Ok(())
}

/// Refuses a folder of a run that is a link.
pub(crate) fn refuse_link(folder: &Path) -> Result<(), StateError> {
    match folder.is_symlink() {
        true => Err(FileAccessError::Link(folder.to_owned()).into()),
        false => Ok(()),
    }
}

/// A file of a run by its path. Links, pipes and devices are refused without waiting for them.
pub(crate) struct OwnFile<'a>(pub(crate) &'a Path);

impl OwnFile<'_> {
    fn place(&self) -> Result<(Folder, &str), StateError> {
        let no_name = || StateError::refused(self.0.display().to_string(), "it is not a file name");
        let name = self.0.file_name().and_then(|name| name.to_str()).ok_or_else(no_name)?;
        Ok((Folder::open(self.0.parent().unwrap_or(Path::new(".")))?, name))
    }

    /// Opens it for reading.
    pub(crate) fn reader(&self) -> Result<File, StateError> {
        let (folder, name) = self.place()?;
        let missing = || StateError::io("open", self.0)(io::ErrorKind::NotFound.into());
        folder.reader(name)?.ok_or_else(missing)
    }

    /// Its bytes.
    pub(crate) fn read(&self, limit: Limit) -> Result<Vec<u8>, StateError> {
        let (folder, name) = self.place()?;
        let missing = || StateError::io("open", self.0)(io::ErrorKind::NotFound.into());
        folder.read(name, limit)?.ok_or_else(missing)
    }

    /// Whether it is there.
    pub(crate) fn is_there(&self) -> Result<bool, StateError> {
        match self.reader() {
            Ok(_) => Ok(true),
            Err(StateError::Io { error, .. }) if is_absent(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Opens it for writing after what is there.
    pub(crate) fn appender(&self) -> Result<File, StateError> {
        let (folder, name) = self.place()?;
        Ok(folder.appender(name)?)
    }

    /// The same, and makes it, for the user alone, if it is missing.
    pub(crate) fn appender_or_create(&self) -> Result<File, StateError> {
        let (folder, name) = self.place()?;
        Ok(folder.appender_or_create(name)?)
    }

    /// Puts another one in its place as a whole.
    pub(crate) fn replace(&self, bytes: &[u8]) -> Result<(), StateError> {
        let (folder, name) = self.place()?;
        Ok(folder.write(name, bytes)?)
    }

    /// Opens it for writing somewhere in it.
    pub(crate) fn writer(&self) -> Result<File, StateError> {
        let (folder, name) = self.place()?;
        Ok(folder.writer(name)?)
    }

    /// Makes it, for the user alone.
    pub(crate) fn create_new(&self) -> Result<File, StateError> {
        let (folder, name) = self.place()?;
        Ok(folder.new_appender(name)?)
    }

    /// Makes it in the place of what a process that was killed has left.
    pub(crate) fn create(&self) -> Result<File, StateError> {
        match fs::remove_file(self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StateError::io("remove", self.0)(error))
            }
            _ => self.create_new(),
        }
    }
}

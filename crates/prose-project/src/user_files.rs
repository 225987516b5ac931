//! The user's folder for trust and keys, outside of all projects.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use prose_files::Limit;

use crate::ownership;

/// The maximum size of a file in the folder.
const LIMIT: Limit = Limit { what: "a file of trust", bytes: 4 << 20 };

/// The file that is locked while another one is changed.
const LOCK: &str = "lock";

/// The private files of a user.
///
/// They lie in `$XDG_STATE_HOME/prose`, by default `~/.local/state/prose`, and on Windows in `%LOCALAPPDATA%\prose`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFiles {
    folder: Option<PathBuf>,
}

impl UserFiles {
    /// The files of the user of this process.
    pub fn of_user() -> Self {
        let strategy = etcetera::choose_base_strategy().ok();
        let folder = strategy
            .map(|strategy| strategy.state_dir().unwrap_or_else(|| strategy.cache_dir()).join("prose"));
        Self { folder }
    }

    /// Files in another folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()) }
    }

    /// The path of a file; `None` if the system has no folder for it.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(name))
    }

    /// The content of a file; `None` if it does not exist. A file of another user is an error.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, FileError> {
        let Some(path) = self.path(name) else { return Ok(None) };
        if !ownership::is_own(&path) {
            return Err(self.error(name, "belongs to another user"));
        }
        match prose_files::read(&path, LIMIT) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(self.error(name, error)),
        }
    }

    /// Opens a private file to append to and to read, and creates it if it does not exist. A file of another user is an error.
    pub(crate) fn open_log(&self, name: &str) -> Result<File, FileError> {
        let path = self.path(name).ok_or_else(|| self.error(name, "there is no folder for it"))?;
        let unwritten_log = |error: io::Error| self.error(name, unwritten(&error));
        if let Some(folder) = &self.folder {
            make_private_folder(folder).map_err(unwritten_log)?;
        }
        let is_new = match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => return Err(self.error(name, "is not a file")),
            Ok(_) => false,
            Err(_) => true,
        };
        if !is_new && !ownership::is_own(&path) {
            return Err(self.error(name, "belongs to another user"));
        }
        let file = private().read(true).append(true).open(&path).map_err(unwritten_log)?;
        if is_new {
            give_to_owner_of_folder(&path);
        }
        Ok(file)
    }

    /// Creates a private folder among the files, with those around it.
    pub fn create_folder(&self, name: &str) -> Result<PathBuf, FileError> {
        let path = self.path(name).ok_or_else(|| self.error(name, "there is no folder for it"))?;
        make_private_folder(&path)
            .map_err(|error| self.error(name, format!("cannot be created: {error}")))?;
        if !ownership::is_own(&path) {
            return Err(self.error(name, "belongs to another user"));
        }
        Ok(path)
    }

    /// Creates an error.
    pub(crate) fn error(&self, name: &str, reason: impl ToString) -> FileError {
        FileError { path: self.path(name), reason: reason.to_string() }
    }

    /// Creates the folder, and locks its files until the result is dropped.
    pub(crate) fn lock(&self) -> Result<Locked, FileError> {
        let no_folder = "there is no folder for trust on this system; set HOME or XDG_STATE_HOME";
        let no_folder = || FileError { path: None, reason: no_folder.to_owned() };
        let folder = self.folder.clone().ok_or_else(no_folder)?;
        self.locked(folder).map_err(|error| self.error(LOCK, unwritten(&error)))
    }

    fn locked(&self, folder: PathBuf) -> io::Result<Locked> {
        make_private_folder(&folder)?;
        let path = folder.join(LOCK);
        let file = private().write(true).truncate(false).open(&path)?;
        give_to_owner_of_folder(&path);
        file.lock()?;
        Ok(Locked { folder, _file: file })
    }
}

/// The lock on the files.
pub(crate) struct Locked {
    folder: PathBuf,
    _file: File,
}

impl Locked {
    /// Replaces a file atomically.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let path = || Some(self.folder.join(name));
        self.replace(name, bytes).map_err(|error| FileError { path: path(), reason: unwritten(&error) })
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        // The temporary file is private from the start.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_data()?;
        give_to_owner_of_folder(file.path());
        file.persist(self.folder.join(name))?;
        Ok(())
    }
}

fn unwritten(error: &io::Error) -> String {
    format!("cannot be written: {error}")
}

/// An error with a file of the user.
#[derive(Debug)]
pub struct FileError {
    path: Option<PathBuf>,
    /// The rest of a sentence that starts with the path.
    reason: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "`{}` {}", path.display(), self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for FileError {}

/// Options that make a private file if it does not exist.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent()
        && !parent.is_dir()
    {
        make_private_folder(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Ok(()) => give_to_owner_of_folder(folder),
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Changes the owner of files created by root to the owner of the folder: `sudo` may keep the home folder of its caller, who could not read the file
/// otherwise.
#[cfg(unix)]
fn give_to_owner_of_folder(path: &Path) {
    use std::os::unix::fs::MetadataExt;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let Some(Ok(parent)) = path.parent().map(fs::metadata) else { return };
    if parent.uid() != 0 {
        // A file whose owner cannot be changed stays root's, who can use it.
        let _ = std::os::unix::fs::lchown(path, Some(parent.uid()), Some(parent.gid()));
    }
}

#[cfg(not(unix))]
fn give_to_owner_of_folder(_: &Path) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn folder_and_files_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("state/prose");
        let files = UserFiles::at(&folder);
        assert_eq!(files.read("x").unwrap(), None);
        files.lock().unwrap().write("x", b"text").unwrap();
        assert_eq!(files.read("x").unwrap().as_deref(), Some(&b"text"[..]));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(mode(&folder.join("x")), 0o600);
        assert_eq!(mode(&folder.join("lock")), 0o600);
    }

    #[test]
    #[cfg(unix)]
    fn what_is_no_file_is_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let files = UserFiles::at(temporary.path());
        let pipe = temporary.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        assert!(files.read("pipe").unwrap_err().to_string().ends_with("` is a named pipe, not a file"));
    }
}

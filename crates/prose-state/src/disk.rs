//! Files that are put in their place as a whole, inside folders that are known to be the run's own.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::time::SystemTime;

use rustc_hash::FxHashSet;

use crate::error::StateError;

/// How temporary files start, by which those of a process that was killed are found again.
const TEMPORARY: &str = ".prose-tmp-";

/// The longest part of a path that common file systems take, with room for the name of a temporary file.
const MOST_BYTES_OF_PART: usize = 200;

/// A folder that nothing is written outside of.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The folder without links in its path.
    root: PathBuf,
    /// The folders inside that are known to lie inside.
    known: FxHashSet<PathBuf>,
}

/// By what a file is known that nobody has written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    modified: Option<SystemTime>,
    length: u64,
    /// An agent may put another file in the place of the one there was.
    #[cfg(unix)]
    inode: u64,
}

impl Tree {
    /// The tree below a folder, which is made if it does not exist.
    pub(crate) fn new(root: &Path) -> Result<Self, StateError> {
        fs::create_dir_all(root).map_err(StateError::io("make", root))?;
        let root = root.canonicalize().map_err(StateError::io("find", root))?;
        Ok(Self { root, known: FxHashSet::default() })
    }

    /// The folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Brings a file inside to the disk.
    pub(crate) fn sync(&self, relative: &str) -> Result<(), StateError> {
        let path = self.path(relative)?;
        fs::File::open(&path).and_then(|file| file.sync_all()).map_err(StateError::io("sync", &path))
    }

    /// Removes a file inside, if there is one.
    pub(crate) fn remove(&self, relative: &str) -> Result<(), StateError> {
        let path = self.path(relative)?;
        match fs::remove_file(&path) {
            Err(error) if !is_absent(&error) => Err(StateError::io("remove", &path)(error)),
            _ => Ok(()),
        }
    }

    /// The path of a file inside, of which only names are looked at: nothing on the disk.
    pub(crate) fn path(&self, relative: &str) -> Result<PathBuf, StateError> {
        let mut path = self.root.clone();
        for part in relative.trim_end_matches('/').split('/') {
            check_part(part, relative)?;
            path.push(part);
        }
        Ok(path)
    }

    /// Makes the folder of a file inside, and makes sure that no link leads from there to somewhere else.
    fn prepare(&mut self, path: &Path) -> Result<(), StateError> {
        let folder = path.parent().unwrap_or(&self.root);
        if self.known.contains(folder) {
            return Ok(());
        }
        // Folders are made one by one: a link on the way would have the rest made where it leads to.
        let mut reached = self.root.clone();
        for part in folder.strip_prefix(&self.root).unwrap_or(Path::new("")).components() {
            reached.push(part);
            match fs::create_dir(&reached) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let found = reached.canonicalize().map_err(StateError::io("find", &reached))?;
                    if !found.starts_with(&self.root) {
                        return Err(StateError::refused(
                            reached.display().to_string(),
                            format!(
                                "it is a link that leads out of {}. Remove the link",
                                self.root.display()
                            ),
                        ));
                    }
                }
                Err(error) => return Err(StateError::io("make", &reached)(error)),
            }
        }
        self.known.insert(folder.to_owned());
        Ok(())
    }

    /// Puts a file in its place as a whole. Nobody sees a part of it. A link of that name is replaced, not followed.
    ///
    /// A loss of power may take the file, which is made again from the journal then.
    pub(crate) fn write(&mut self, relative: &str, bytes: &[u8]) -> Result<(), StateError> {
        self.write_with(relative, bytes, exchange)
    }

    /// The same for a file that is probably not there yet, which is faster then.
    pub(crate) fn write_first(&mut self, relative: &str, bytes: &[u8]) -> Result<(), StateError> {
        self.write_with(relative, bytes, place_or_exchange)
    }

    /// The same for a file that no journal can bring back.
    pub(crate) fn write_lasting(&mut self, relative: &str, bytes: &[u8]) -> Result<(), StateError> {
        self.write_with(relative, bytes, replace)
    }

    fn write_with(
        &mut self,
        relative: &str,
        bytes: &[u8],
        replace: fn(&Path, &[u8]) -> Result<(), StateError>,
    ) -> Result<(), StateError> {
        let path = self.path(relative)?;
        self.prepare(&path)?;
        match replace(&path, bytes) {
            // Somebody has removed the folder meanwhile.
            Err(StateError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                self.known.clear();
                self.prepare(&path)?;
                replace(&path, bytes)
            }
            result => result,
        }
    }

    /// Makes a folder inside.
    pub(crate) fn make_folder(&mut self, relative: &str) -> Result<(), StateError> {
        let folder = self.path(relative)?;
        self.prepare(&folder.join("file"))
    }

    /// The bytes of a file inside; none if there is no such file.
    pub(crate) fn read(&self, relative: &str) -> Result<Option<Vec<u8>>, StateError> {
        let path = self.path(relative)?;
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(StateError::io("read", &path)(error)),
        }
    }

    /// By what it is known whether a file inside has been written since; none if there is no such file.
    pub(crate) fn identity(&self, relative: &str) -> Result<Option<Identity>, StateError> {
        let path = self.path(relative)?;
        match fs::metadata(&path) {
            Ok(metadata) => Ok(Some(Identity {
                modified: metadata.modified().ok(),
                length: metadata.len(),
                #[cfg(unix)]
                inode: std::os::unix::fs::MetadataExt::ino(&metadata),
            })),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(StateError::io("read", &path)(error)),
        }
    }

    /// Removes what a process that was killed has left of files that it was writing, if that was so long ago that no other process still writes
    /// it.
    pub(crate) fn remove_temporary_files(&self, age: Duration) {
        remove_temporary_files(&self.root, age, 0);
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

/// Whether an error says that there is no such file.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Puts a file in its place as a whole.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StateError> {
    let file = temporary(path, bytes)?;
    file.persist(path).map(drop).map_err(|error| StateError::io("write", path)(error.error))
}

/// Puts a file in its place as a whole, without waiting for the disk. Some file systems bring a file to the disk before it replaces another one; where
/// the two change places instead, they do not, which is a hundred times faster for a binding that a loop sets anew.
fn exchange(path: &Path, bytes: &[u8]) -> Result<(), StateError> {
    let file = temporary(path, bytes)?;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, file.path(), CWD, path, RenameFlags::EXCHANGE).is_ok() {
            // The temporary file is the earlier one now, and goes away with its handle.
            return Ok(());
        }
    }
    file.persist(path).map(drop).map_err(|error| StateError::io("write", path)(error.error))
}

/// Puts a file in its place that is probably not there yet.
fn place_or_exchange(path: &Path, bytes: &[u8]) -> Result<(), StateError> {
    // What is not possible here, or fails for a reason that has to be told, is tried again in the way that always is.
    #[cfg(target_os = "linux")]
    if place(path, bytes).is_ok() {
        return Ok(());
    }
    exchange(path, bytes)
}

/// Makes a file without a name and then gives it its name, which fails if there is one of that name already.
#[cfg(target_os = "linux")]
fn place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
    let folder = path.parent().unwrap_or(Path::new("."));
    let mode = Mode::from_raw_mode(0o666);
    let mut file = fs::File::from(open(folder, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, mode)?);
    file.write_all(bytes)?;
    linkat(CWD, format!("/proc/self/fd/{}", file.as_raw_fd()), CWD, path, AtFlags::SYMLINK_FOLLOW)?;
    Ok(())
}

fn temporary(path: &Path, bytes: &[u8]) -> Result<tempfile::NamedTempFile, StateError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // Others in a team may read what a run has written, as they may read files that an editor writes.
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(permissions);
    let mut file = builder.tempfile_in(folder).map_err(StateError::io("write", path))?;
    // The file itself tells what is wrong without the temporary name.
    file.as_file_mut().write_all(bytes).map_err(StateError::io("write", path))?;
    Ok(file)
}

/// Whether a part of a path is a name and nothing else (decision 14).
pub(crate) fn check_part(part: &str, whole: &str) -> Result<(), StateError> {
    let refuse = |why: &str| Err(StateError::refused(whole, why));
    match part {
        "" => return refuse("a part of the path is empty"),
        "." | ".." => {
            return refuse("it would lead out of the folder that it belongs to; leave out `.` and `..`");
        }
        _ => {}
    }
    if part.contains(['\\', '/', ':']) || part.chars().any(char::is_control) {
        return refuse(
            "names of files cannot hold separators, colons or control characters; use letters, digits and `_`",
        );
    }
    if part.len() > MOST_BYTES_OF_PART {
        return refuse("a name in it is too long for a file; use a shorter one");
    }
    Ok(())
}

/// Refuses a file that is written in place and is a link: what is written would go to where it leads.
pub(crate) fn refuse_link(path: &Path) -> Result<(), StateError> {
    if path.is_symlink() {
        let why = "it is a link, and a run writes only to files of its own. Remove the link";
        return Err(StateError::refused(path.display().to_string(), why));
    }
    Ok(())
}

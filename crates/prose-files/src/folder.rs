//! Open folders.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::{fmt, io};

use crate::access::{Access, Identity, Placement};
#[cfg(not(unix))]
use crate::portable::Handle;
use crate::read::{Limit, ReadError, check};
#[cfg(unix)]
use crate::unix::Handle;

/// An open folder. What is made in it belongs to the user alone (0600 and 0700 on Unix), and no link below it is followed: where another process puts a
/// link in place of a folder or a file, nothing is read from and nothing is written to where it leads.
///
/// Names are single parts of paths; the caller has made sure of that.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    handle: Handle,
}

/// Why a file or a folder cannot be used.
#[derive(Debug)]
pub enum FileAccessError {
    /// A link is in place of a folder or a file.
    Link(PathBuf),
    /// A file cannot be read, or is none.
    Read(PathBuf, ReadError),
    /// The system reports an error.
    Io {
        /// What was being done, such as `write`.
        doing: &'static str,
        /// The file or the folder.
        path: PathBuf,
        /// The system reports an error.
        error: io::Error,
    },
}

impl fmt::Display for FileAccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(path) => write!(f, "`{}` is a symbolic link, which is not followed", path.display()),
            Self::Read(path, error) => write!(f, "`{}` {error}", path.display()),
            Self::Io { doing, path, error } => write!(f, "cannot {doing} {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for FileAccessError {}

impl Folder {
    /// Opens a folder. Links in the path are followed, so that the caller looks at them.
    pub fn open(path: &Path) -> Result<Self, FileAccessError> {
        let io = |error| FileAccessError::Io { doing: "open", path: path.to_owned(), error };
        Ok(Self { path: path.to_owned(), handle: Handle::open(path).map_err(io)? })
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder at a path below this one. None if it is not there.
    pub fn folder(&self, below: &Path) -> Result<Option<Self>, FileAccessError> {
        match self.enter(below, false) {
            Ok(folder) => Ok(Some(folder)),
            // A file that is in its place is not a folder.
            Err(FileAccessError::Io { error, .. })
                if is_absent(&error) || error.kind() == io::ErrorKind::NotADirectory =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The folder at a path below this one. Parts that are missing are made, for the user alone.
    pub fn make_folder(&self, below: &Path) -> Result<Self, FileAccessError> {
        self.enter(below, true)
    }

    fn enter(&self, below: &Path, makes: bool) -> Result<Self, FileAccessError> {
        // Each part is closed as soon as the next one is open: descriptors may be few.
        let mut reached: Option<Self> = None;
        for part in below.components() {
            let Component::Normal(name) = part else { continue };
            let at = reached.as_ref().unwrap_or(self);
            let mut opened = at.handle.folder(name);
            if makes && opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                match at.handle.make_folder(name) {
                    // Another process was faster.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(at.failure("make", name, error)),
                    Ok(()) => {}
                }
                opened = at.handle.folder(name);
            }
            let handle = opened.map_err(|error| at.failure("open", name, error))?;
            reached = Some(Self { path: at.path.join(name), handle });
        }
        match reached {
            Some(folder) => Ok(folder),
            None => {
                let handle =
                    self.handle.again().map_err(|error| self.failure("open", OsStr::new(""), error))?;
                Ok(Self { path: self.path.clone(), handle })
            }
        }
    }

    /// Makes a folder of that name, for the user alone. False if the name is taken.
    pub fn make_new_folder(&self, name: &str) -> Result<bool, FileAccessError> {
        match self.handle.make_folder(OsStr::new(name)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(self.failure("make", OsStr::new(name), error)),
        }
    }

    /// The content of a file. None if it is not there.
    pub fn read(&self, name: &str, limit: Limit) -> Result<Option<Vec<u8>>, FileAccessError> {
        let Some(file) = self.open_file(name, Access::Read)? else { return Ok(None) };
        let path = || self.path.join(name);
        let io = |error| FileAccessError::Read(path(), ReadError::Io(error));
        check(&file.metadata().map_err(io)?, limit).map_err(|error| FileAccessError::Read(path(), error))?;
        let mut bytes = Vec::new();
        let read = file.take(limit.bytes + 1).read_to_end(&mut bytes).map_err(io)?;
        match read as u64 > limit.bytes {
            true => Err(FileAccessError::Read(path(), ReadError::TooLarge(limit))),
            false => Ok(Some(bytes)),
        }
    }

    /// Opens a file for reading. None if it is not there.
    pub fn reader(&self, name: &str) -> Result<Option<File>, FileAccessError> {
        self.open_file(name, Access::Read)
    }

    /// Opens a file for reading and writing, and makes it if it is missing.
    pub fn lockable(&self, name: &str) -> Result<File, FileAccessError> {
        self.present(name, Access::ReadWrite)
    }

    /// Opens a file for writing after what is there.
    pub fn appender(&self, name: &str) -> Result<File, FileAccessError> {
        self.present(name, Access::Append)
    }

    /// The same for a file that is created if it is missing.
    pub fn appender_or_create(&self, name: &str) -> Result<File, FileAccessError> {
        self.present(name, Access::AppendOrCreate)
    }

    /// The same for a file that must not exist yet.
    pub fn new_appender(&self, name: &str) -> Result<File, FileAccessError> {
        self.present(name, Access::CreateNew)
    }

    /// Opens an existing file for writing at any position.
    pub fn writer(&self, name: &str) -> Result<File, FileAccessError> {
        self.present(name, Access::Write)
    }

    fn present(&self, name: &str, access: Access) -> Result<File, FileAccessError> {
        let missing = || self.failure("open", OsStr::new(name), io::ErrorKind::NotFound.into());
        self.open_file(name, access)?.ok_or_else(missing)
    }

    fn open_file(&self, name: &str, access: Access) -> Result<Option<File>, FileAccessError> {
        let file = match self.handle.file(OsStr::new(name), access) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(self.failure("open", OsStr::new(name), error)),
        };
        let unlimited = Limit { what: "a file", bytes: u64::MAX };
        let metadata = file.metadata().map_err(|error| self.failure("open", OsStr::new(name), error))?;
        match check(&metadata, unlimited) {
            Ok(_) => Ok(Some(file)),
            Err(error) => Err(FileAccessError::Read(self.path.join(name), error)),
        }
    }

    /// Identifies a version of a file, so that a later write is noticed. None if the file does not exist.
    pub fn identity(&self, name: &str) -> Result<Option<Identity>, FileAccessError> {
        match self.handle.identity(OsStr::new(name)) {
            Ok(identity) => Ok(Some(identity)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.failure("read", OsStr::new(name), error)),
        }
    }

    /// Writes a file atomically and replaces a link of that name. A loss of power may undo it.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FileAccessError> {
        self.put(name, bytes, Placement::Exchange)
    }

    /// The same, faster for a file that probably does not exist yet.
    pub fn write_new(&self, name: &str, bytes: &[u8]) -> Result<(), FileAccessError> {
        self.put(name, bytes, Placement::First)
    }

    /// The same, synced to disk, for a file that cannot be recreated.
    pub fn write_durable(&self, name: &str, bytes: &[u8]) -> Result<(), FileAccessError> {
        self.put(name, bytes, Placement::Replace)
    }

    fn put(&self, name: &str, bytes: &[u8], placing: Placement) -> Result<(), FileAccessError> {
        let put = self.handle.put(OsStr::new(name), bytes, placing);
        // Unlike in other cases, a link in this place is none of the reasons.
        put.map_err(|error| FileAccessError::Io { doing: "write", path: self.path.join(name), error })
    }

    /// Removes a file, or a link of that name, if there is one.
    pub fn remove(&self, name: &str) -> Result<(), FileAccessError> {
        match self.handle.remove(OsStr::new(name)) {
            Err(error) if !is_absent(&error) => {
                Err(FileAccessError::Io { doing: "remove", path: self.path.join(name), error })
            }
            _ => Ok(()),
        }
    }

    /// The names of the entries of the folder.
    pub fn names(&self) -> Result<Vec<String>, FileAccessError> {
        self.handle.names().map_err(|error| self.failure("read", OsStr::new(""), error))
    }

    /// Syncs the entries of the folder to disk.
    pub fn sync(&self) -> Result<(), FileAccessError> {
        self.handle.sync().map_err(|error| self.failure("sync", OsStr::new(""), error))
    }

    fn failure(&self, doing: &'static str, name: &OsStr, error: io::Error) -> FileAccessError {
        if name.is_empty() {
            return FileAccessError::Io { doing, path: self.path.clone(), error };
        }
        let path = self.path.join(name);
        match self.handle.is_link(name) {
            true => FileAccessError::Link(path),
            false => match self.handle.is_pipe(name) {
                true => FileAccessError::Read(path, ReadError::Pipe),
                false => FileAccessError::Io { doing, path, error },
            },
        }
    }
}

/// Whether an error says that the process, or the system, has too many files open.
pub fn has_too_many_files(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// Whether an error says that there is no such file.
fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;
    use std::fs;
    use std::io::Write;

    const SMALL: Limit = Limit { what: "a test", bytes: 1 << 20 };

    fn folder() -> (tempfile::TempDir, Folder) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(&temporary.path().canonicalize().unwrap()).unwrap();
        (temporary, folder)
    }

    /// What both ways to find files have to do.
    macro_rules! finds_files {
        ($name:ident, $handle:ty) => {
            #[test]
            fn $name() {
                let temporary = tempfile::tempdir().unwrap();
                let name = OsStr::new;
                let root = <$handle>::open(temporary.path()).unwrap();
                root.make_folder(name("a")).unwrap();
                assert_eq!(root.make_folder(name("a")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
                let folder = root.again().unwrap().folder(name("a")).unwrap();
                assert_eq!(root.folder(name("b")).unwrap_err().kind(), io::ErrorKind::NotFound);

                for placing in [Placement::First, Placement::Exchange, Placement::Replace] {
                    for text in ["one", "two"] {
                        folder.put(name("f"), text.as_bytes(), placing).unwrap();
                        assert_eq!(fs::read_to_string(temporary.path().join("a/f")).unwrap(), text);
                    }
                }
                assert_eq!(folder.names().unwrap(), ["f"], "nothing else is left");
                assert!(root.folder(name("a")).unwrap().put(name("."), b"", Placement::Replace).is_err());
                assert_eq!(folder.names().unwrap(), ["f"], "nothing is left of what failed");
                let before = folder.identity(name("f")).unwrap();
                assert_eq!(before.length, 3);
                let mut appended = folder.file(name("f"), Access::Append).unwrap();
                appended.write_all(b" and three").unwrap();
                assert_ne!(folder.identity(name("f")).unwrap(), before);
                let mut text = String::new();
                folder.file(name("f"), Access::Read).unwrap().read_to_string(&mut text).unwrap();
                assert_eq!(text, "two and three");
                folder.file(name("f"), Access::Write).unwrap().write_all(b"now").unwrap();
                folder.file(name("f"), Access::ReadWrite).unwrap().read_to_string(&mut text).unwrap();
                assert_eq!(text, "two and threenow and three");
                let taken = folder.file(name("f"), Access::CreateNew).unwrap_err();
                assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
                for missing in [Access::Read, Access::Append, Access::Write] {
                    let error = folder.file(name("g"), missing).unwrap_err();
                    assert_eq!(error.kind(), io::ErrorKind::NotFound);
                }
                for access in [Access::CreateNew, Access::AppendOrCreate, Access::ReadWrite] {
                    let file = format!("{access:?}");
                    folder.file(name(&file), access).unwrap().write_all(b"new").unwrap();
                }
                assert!(!folder.is_link(name("f")) && !folder.is_pipe(name("f")));
                folder.remove(name("f")).unwrap();
                assert_eq!(folder.remove(name("f")).unwrap_err().kind(), io::ErrorKind::NotFound);
                folder.sync().unwrap();
            }
        };
    }

    #[cfg(unix)]
    finds_files!(files_are_found_by_descriptors, crate::unix::Handle);
    finds_files!(files_are_found_by_paths, crate::portable::Handle);

    /// None of both ways follows a link.
    #[cfg(unix)]
    macro_rules! follows_no_link {
        ($name:ident, $handle:ty) => {
            #[test]
            fn $name() {
                use std::os::unix::fs::symlink;
                let (temporary, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
                let name = OsStr::new;
                fs::write(outside.path().join("secret"), "kept").unwrap();
                symlink(outside.path(), temporary.path().join("folder")).unwrap();
                symlink(outside.path().join("secret"), temporary.path().join("file")).unwrap();
                symlink(outside.path().join("new"), temporary.path().join("nothing")).unwrap();
                let root = <$handle>::open(temporary.path()).unwrap();
                assert!(root.is_link(name("folder")) && root.is_link(name("file")));
                assert!(root.folder(name("folder")).is_err());
                for access in [Access::Read, Access::ReadWrite, Access::Append, Access::AppendOrCreate] {
                    assert!(root.file(name("file"), access).is_err(), "{access:?}");
                    assert!(root.file(name("nothing"), access).is_err(), "{access:?}");
                }
                for placing in [Placement::First, Placement::Exchange, Placement::Replace] {
                    fs::remove_file(temporary.path().join("file")).unwrap();
                    symlink(outside.path().join("secret"), temporary.path().join("file")).unwrap();
                    root.put(name("file"), b"mine", placing).unwrap();
                    assert!(!root.is_link(name("file")));
                }
                assert_eq!(fs::read_to_string(outside.path().join("secret")).unwrap(), "kept");
                assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
            }
        };
    }

    #[cfg(unix)]
    follows_no_link!(descriptors_follow_no_link, crate::unix::Handle);
    #[cfg(unix)]
    follows_no_link!(paths_follow_no_link, crate::portable::Handle);

    #[test]
    #[cfg(unix)]
    fn what_is_made_belongs_to_the_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (_temporary, root) = folder();
        let below = root.make_folder(Path::new("a/b")).unwrap();
        assert!(below.make_new_folder("c").unwrap() && !below.make_new_folder("c").unwrap());
        below.write("written", b"x").unwrap();
        below.write_new("first", b"x").unwrap();
        below.write_durable("lasting", b"x").unwrap();
        below.lockable("lock").unwrap();
        below.appender_or_create("any").unwrap();
        below.new_appender("new").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        for folder in ["a", "a/b", "a/b/c"] {
            assert_eq!(mode(&root.path().join(folder)), 0o700, "{folder}");
        }
        for file in ["written", "first", "lasting", "lock", "any", "new"] {
            assert_eq!(mode(&below.path().join(file)), 0o600, "{file}");
        }
    }

    #[test]
    fn what_is_missing_is_none_and_what_is_in_the_way_is_named() {
        let (_temporary, root) = folder();
        assert!(root.folder(Path::new("a/b")).unwrap().is_none());
        assert!(root.read("a", SMALL).unwrap().is_none());
        assert!(root.reader("a").unwrap().is_none());
        assert!(root.identity("a").unwrap().is_none());
        assert!(root.appender("a").is_err());
        root.write("a", b"x").unwrap();
        assert!(root.folder(Path::new("a/b")).unwrap().is_none());
        assert!(root.make_folder(Path::new("a/b")).is_err());
        root.make_folder(Path::new("f")).unwrap();
        let error = root.read("f", SMALL).unwrap_err().to_string();
        assert!(error.ends_with("f` is a folder, not a file"), "{error}");
        root.lockable("long").unwrap().set_len(SMALL.bytes + 1).unwrap();
        let error = root.read("long", SMALL).unwrap_err().to_string();
        assert!(error.ends_with("long` is too large: a test may have at most 1 MiB"), "{error}");
        root.sync().unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn links_and_pipes_are_named() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        use std::os::unix::fs::symlink;
        let (_temporary, root) = folder();
        symlink("/tmp", root.path().join("link")).unwrap();
        symlink("/etc/passwd", root.path().join("file")).unwrap();
        mknodat(CWD, root.path().join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let said = |error: FileAccessError| error.to_string().replace(root.path().to_str().unwrap(), "");
        assert_eq!(
            said(root.folder(Path::new("link/x")).unwrap_err()),
            "`/link` is a symbolic link, which is not followed"
        );
        assert_eq!(
            said(root.make_folder(Path::new("link/x")).unwrap_err()),
            "`/link` is a symbolic link, which is not followed"
        );
        assert_eq!(
            said(root.read("file", SMALL).unwrap_err()),
            "`/file` is a symbolic link, which is not followed"
        );
        assert_eq!(
            said(root.new_appender("file").unwrap_err()),
            "`/file` is a symbolic link, which is not followed"
        );
        for error in [
            root.read("pipe", SMALL).unwrap_err(),
            root.reader("pipe").unwrap_err(),
            root.lockable("pipe").unwrap_err(),
            root.appender("pipe").unwrap_err(),
        ] {
            assert_eq!(said(error), "`/pipe` is a named pipe, not a file");
        }
    }

    /// A link that takes the place of a folder is followed neither when it was opened before nor afterwards.
    #[test]
    #[cfg(unix)]
    fn a_folder_that_becomes_a_link_stays_where_it_was() {
        let (_temporary, root) = folder();
        let outside = tempfile::tempdir().unwrap();
        let opened = root.make_folder(Path::new("a")).unwrap();
        fs::rename(root.path().join("a"), root.path().join("b")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("a")).unwrap();
        opened.write("f", b"x").unwrap();
        assert!(matches!(root.make_folder(Path::new("a")), Err(FileAccessError::Link(_))));
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        assert_eq!(fs::read(root.path().join("b/f")).unwrap(), b"x");
    }
}

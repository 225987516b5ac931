//! Folders by their descriptors: entries are opened relative to them and not by a path that may change meanwhile.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use crate::access::{Access, Identity, Placement, temporary_name};

/// An open folder.
#[derive(Debug)]
pub(crate) struct Handle(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Handle {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, FOLDER, Mode::empty())?))
    }

    /// Another one for the same folder.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    pub(crate) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    pub(crate) fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::RWXU)?)
    }

    pub(crate) fn file(&self, name: &OsStr, access: Access) -> io::Result<File> {
        // A pipe without a reader or a writer must not be waited for. Files do not mind.
        let always = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::ReadWrite => OFlags::RDWR | OFlags::CREATE,
            Access::Append => OFlags::WRONLY | OFlags::APPEND,
            Access::AppendOrCreate => OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE,
            Access::CreateNew => OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL,
            Access::Write => OFlags::WRONLY,
        };
        Ok(rustix::fs::openat(&self.0, name, always | flags, private())?.into())
    }

    fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    fn is(&self, name: &OsStr, kind: FileType) -> bool {
        self.stat(name).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == kind)
    }

    pub(crate) fn is_link(&self, name: &OsStr) -> bool {
        self.is(name, FileType::Symlink)
    }

    pub(crate) fn is_pipe(&self, name: &OsStr) -> bool {
        self.is(name, FileType::Fifo)
    }

    #[allow(clippy::useless_conversion, reason = "the types of these numbers differ between systems")]
    pub(crate) fn identity(&self, name: &OsStr) -> io::Result<Identity> {
        let stat = self.stat(name)?;
        let seconds = u64::try_from(stat.st_mtime).ok();
        let nanos = u32::try_from(stat.st_mtime_nsec).unwrap_or_default();
        Ok(Identity {
            modified: seconds.map(|seconds| UNIX_EPOCH + Duration::new(seconds, nanos)),
            length: u64::try_from(stat.st_size).unwrap_or_default(),
            inode: stat.st_ino.into(),
        })
    }

    pub(crate) fn put(&self, name: &OsStr, bytes: &[u8], placing: Placement) -> io::Result<()> {
        // What is not possible here, or fails for a reason that has to be reported, is tried again in the way that always is.
        #[cfg(target_os = "linux")]
        if placing == Placement::First && self.place(name, bytes).is_ok() {
            return Ok(());
        }
        let (temporary, mut file) = self.temporary()?;
        let put = file.write_all(bytes).and_then(|()| {
            #[cfg(target_os = "linux")]
            if placing != Placement::Replace {
                use rustix::fs::{RenameFlags, renameat_with};
                if renameat_with(&self.0, &temporary, &self.0, name, RenameFlags::EXCHANGE).is_ok() {
                    // The temporary file is the earlier one now.
                    return Ok(rustix::fs::unlinkat(&self.0, &temporary, AtFlags::empty())?);
                }
            }
            Ok(rustix::fs::renameat(&self.0, &temporary, &self.0, name)?)
        });
        if put.is_err() {
            let _ = rustix::fs::unlinkat(&self.0, &temporary, AtFlags::empty());
        }
        put
    }

    /// Makes a file without a name and then gives it its name, which fails if there is one of that name already.
    #[cfg(target_os = "linux")]
    fn place(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        use std::os::fd::AsRawFd;

        use rustix::fs::{CWD, linkat, openat};
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.0, ".", flags, private())?);
        file.write_all(bytes)?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, path, &self.0, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    fn temporary(&self) -> io::Result<(String, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let name = temporary_name();
            match rustix::fs::openat(&self.0, &name, flags, private()) {
                Ok(file) => return Ok((name, file.into())),
                Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.0.as_fd())? {
            // A name that is not text is none of those that are asked for.
            let entry = entry?;
            names.extend(
                entry
                    .file_name()
                    .to_str()
                    .ok()
                    .filter(|name| !matches!(*name, "." | ".."))
                    .map(str::to_owned),
            );
        }
        Ok(names)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.0) {
            // Some file systems cannot do that to folders.
            Ok(()) | Err(rustix::io::Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The permissions of private files.
fn private() -> Mode {
    Mode::RUSR | Mode::WUSR
}

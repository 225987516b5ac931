//! Folders by their paths, for systems without descriptors of folders. A link that takes the place of a folder between a check and its use is followed
//! here; one that was there before is not.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::access::{Access, Identity, Placement, temporary_name};

/// A folder.
#[derive(Debug)]
pub(crate) struct Handle(PathBuf);

impl Handle {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        match path.metadata()?.is_dir() {
            true => Ok(Self(path.to_owned())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self(self.0.clone()))
    }

    pub(crate) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.0.join(name);
        // Junctions of Windows count as links, too.
        match path.symlink_metadata()?.file_type().is_dir() {
            true => Ok(Self(path)),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(crate) fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(crate) fn file(&self, name: &OsStr, access: Access) -> io::Result<File> {
        let path = self.0.join(name);
        match path.symlink_metadata() {
            Ok(metadata) if !metadata.is_file() => return Err(io::ErrorKind::InvalidInput.into()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::ReadWrite => options.read(true).write(true).create(true).truncate(false),
            Access::Append => options.append(true),
            Access::AppendOrCreate => options.append(true).create(true),
            Access::CreateNew => options.append(true).create_new(true),
            Access::Write => options.write(true),
        };
        options.open(path)
    }

    pub(crate) fn is_link(&self, name: &OsStr) -> bool {
        self.0.join(name).is_symlink()
    }

    pub(crate) fn is_pipe(&self, _: &OsStr) -> bool {
        false
    }

    pub(crate) fn identity(&self, name: &OsStr) -> io::Result<Identity> {
        let metadata = self.0.join(name).symlink_metadata()?;
        Ok(Identity { modified: metadata.modified().ok(), length: metadata.len(), inode: 0 })
    }

    pub(crate) fn put(&self, name: &OsStr, bytes: &[u8], _: Placement) -> io::Result<()> {
        let temporary = loop {
            let path = self.0.join(temporary_name());
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let (path, mut file) = temporary;
        let written = file.write_all(bytes);
        drop(file);
        let put = written.and_then(|()| fs::rename(&path, self.0.join(name)));
        if put.is_err() {
            let _ = fs::remove_file(&path);
        }
        put
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        // Only files can be synced.
        Ok(())
    }
}

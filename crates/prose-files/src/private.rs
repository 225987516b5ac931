//! Files and folders for the user alone.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Creates a folder and its missing parents, each private to the user (0700 on Unix).
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// What was done to the permissions of a folder and of everything in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Restricted {
    /// The number of files and folders that are private now.
    pub changed: usize,
    /// The number that is still accessible to others, as they belong to another user.
    pub left: usize,
}

impl std::ops::AddAssign for Restricted {
    fn add_assign(&mut self, other: Self) {
        self.changed += other.changed;
        self.left += other.left;
    }
}

/// Makes a folder and everything in it private to the user. Links and their targets are not changed.
#[cfg(unix)]
pub fn restrict(folder: &Path) -> Restricted {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    let mut done = Restricted::default();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        // What has gone meanwhile has no permissions.
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if metadata.is_symlink() {
            continue;
        }
        let mode = metadata.permissions().mode();
        if mode & 0o077 != 0 {
            match restrict_file(&path, mode) {
                Ok(()) => done.changed += 1,
                Err(_) => done.left += 1,
            }
        }
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    done
}

/// What is opened is what is changed, also where a link takes its place meanwhile.
#[cfg(unix)]
fn restrict_file(path: &Path, mode: u32) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, fchmod, open};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = open(path, flags, Mode::empty())?;
    Ok(fchmod(file, Mode::from_raw_mode((mode & 0o700) as rustix::fs::RawMode))?)
}

/// Removes the permissions of all other users of a folder: nothing to do where there are no such permissions.
#[cfg(not(unix))]
pub fn restrict(_: &Path) -> Restricted {
    Restricted::default()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn folders_that_are_made_are_private_and_those_that_are_there_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::set_permissions(folder.path().join("a"), fs::Permissions::from_mode(0o755)).unwrap();
        create_dir_all(&folder.path().join("a/b/c")).unwrap();
        create_dir_all(&folder.path().join("a/b/c")).unwrap();
        assert_eq!(mode(&folder.path().join("a")), 0o755);
        assert_eq!(mode(&folder.path().join("a/b")), 0o700);
        assert_eq!(mode(&folder.path().join("a/b/c")), 0o700);
    }

    #[test]
    fn restricting_reaches_everything_once_and_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let below = folder.path().join("a");
        fs::create_dir(&below).unwrap();
        for (name, mode) in [("shared", 0o664), ("script", 0o755), ("private", 0o600)] {
            fs::write(below.join(name), "x").unwrap();
            set(&below.join(name), mode);
        }
        fs::write(outside.path().join("f"), "x").unwrap();
        set(&outside.path().join("f"), 0o644);
        symlink(outside.path(), below.join("folder")).unwrap();
        symlink(outside.path().join("f"), below.join("file")).unwrap();
        set(&below, 0o755);
        assert_eq!(restrict(&below), Restricted { changed: 3, left: 0 });
        assert_eq!(mode(&below), 0o700);
        assert_eq!(mode(&below.join("shared")), 0o600);
        assert_eq!(mode(&below.join("script")), 0o700);
        assert_eq!(mode(&outside.path().join("f")), 0o644);
        assert_eq!(restrict(&below), Restricted::default());
    }
}

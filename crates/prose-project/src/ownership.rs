//! Who a file belongs to. A file of another user is not read as settings, so that a `prose.toml` in a shared folder has no effect
//! on other users who work in it.
//!
//! The rule is that of Git: a file is one's own if its user is the one that the process runs as. A process of root that was started with
//! `sudo` also accepts the files of the user who called `sudo`; any other process of root accepts the files of root alone.
//!
//! Windows does not tell the owner of a file without calls that are unsafe here. There, a file in the root folder of a drive or a share counts as
//! another user's, since others may often write there; every other file counts as one's own. What such a file would start still needs trust.

use std::path::Path;

/// Whether a file belongs to the user of this process. Of a link, both the link and what it leads to have to. A file that does not exist
/// belongs to no other user.
pub fn is_own(path: &Path) -> bool {
    system::is_own(path)
}

#[cfg(unix)]
mod system {
    use std::fs::Metadata;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    pub(super) fn is_own(path: &Path) -> bool {
        let user = rustix::process::geteuid().as_raw();
        let sudo = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok());
        let is_accepted = |metadata: io::Result<Metadata>| match metadata {
            Ok(metadata) => accepts(user, sudo, metadata.uid()),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        is_accepted(path.symlink_metadata()) && is_accepted(path.metadata())
    }

    /// Whether a process of `user`, started with `sudo` by the user of that number or without it, accepts the files of `owner`.
    fn accepts(user: u32, sudo: Option<u32>, owner: u32) -> bool {
        owner == user || (user == 0 && sudo == Some(owner))
    }

    #[cfg(test)]
    mod tests {
        use super::accepts;

        #[test]
        fn the_rule_is_that_of_git() {
            assert!(accepts(1000, None, 1000));
            assert!(!accepts(1000, None, 1001));
            assert!(!accepts(1000, None, 0), "files of root are not one's own");
            assert!(!accepts(0, None, 1000), "nor are files of a user for root");
            assert!(accepts(0, Some(1000), 1000), "except for root by `sudo`");
            assert!(accepts(0, Some(1000), 0));
            assert!(!accepts(0, Some(1000), 1001));
            assert!(!accepts(1001, Some(1000), 1000), "a variable alone is nobody's word");
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::path::Path;

    pub(super) fn is_own(path: &Path) -> bool {
        let folder = path.parent().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        folder.is_none_or(|folder| folder.parent().is_some())
    }
}

//! Writes changed programs and settings files atomically.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use prose_files::{Limit, reason};

/// The reason for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Fixes are applied.
    Fixes,
    /// The program is formatted.
    Format,
    /// Entries are added to a settings file.
    Entries,
}

impl Change {
    /// The state of the program until it is written, before "but".
    fn reason(self) -> &'static str {
        match self {
            Self::Fixes => "has fixes",
            Self::Format => "is not formatted",
            Self::Entries => "has missing entries",
        }
    }

    /// The command that writes the text to standard output.
    fn command(self) -> Option<&'static str> {
        match self {
            Self::Fixes => Some("prose check --fix -"),
            Self::Format => Some("prose fmt -"),
            Self::Entries => None,
        }
    }

    fn process(self) -> &'static str {
        match self {
            Self::Fixes => "it was being fixed",
            Self::Format => "it was being formatted",
            Self::Entries => "entries were being added",
        }
    }
}

/// Replaces `old`, the text that was read from `path`, with `new`. A link is kept; its target is changed.
pub(crate) fn replace(path: &Path, old: &str, new: &str, change: Change) -> Result<(), String> {
    let but = |what: String| format!("{}, but {what}", change.reason());
    let unwritable = |error: io::Error| but(format!("cannot be written: {}", reason(&error)));
    let target = path.canonicalize().map_err(unwritable)?;
    let metadata = target.metadata().map_err(unwritable)?;
    if !metadata.is_file() {
        let instead = change
            .command()
            .map(|command| format!("; `{command}` writes to standard output"))
            .unwrap_or_default();
        return Err(but(format!("is not a regular file{instead}")));
    }
    // Renaming only checks whether the folder is writable, not whether the file is.
    if metadata.permissions().readonly() {
        return Err(but("is read-only".to_owned()));
    }
    OpenOptions::new().write(true).open(&target).map_err(unwritable)?;

    let folder = target.parent().unwrap_or(Path::new("."));
    // The name does not end in `.prose`, so that no other tool reads it as a program.
    let mut temporary =
        tempfile::Builder::new()
            .prefix(".prose-check-")
            .suffix(".tmp")
            .tempfile_in(folder)
            .map_err(|error| but(format!("its folder cannot be written to: {}", reason(&error))))?;
    temporary.write_all(new.as_bytes()).map_err(unwritable)?;
    keep_owner(temporary.as_file(), &metadata);
    temporary.as_file().set_permissions(metadata.permissions()).map_err(unwritable)?;
    // Without this, a power failure could leave an empty file under the old name.
    temporary.as_file().sync_all().map_err(unwritable)?;
    let present = prose_files::read(&target, Limit::PROGRAM).map_err(|error| unwritable(error.into()))?;
    if present != old.as_bytes() {
        return Err(format!("was changed by another program while {}; it is not written", change.process()));
    }
    temporary.persist(&target).map_err(|error| unwritable(error.error))?;
    Ok(())
}

/// A new file belongs to its creator. Only the superuser can change that, so a failure is expected.
#[cfg(unix)]
fn keep_owner(file: &File, metadata: &std::fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let _ = fchown(file, Some(metadata.uid()), Some(metadata.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _metadata: &std::fs::Metadata) {}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check_refused(prepare: impl FnOnce(&Path), expected: Expect) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.prose");
        std::fs::write(&path, "old").unwrap();
        prepare(&path);
        let before = std::fs::read(&path).ok();
        expected.assert_eq(&replace(&path, "old", "new", Change::Fixes).unwrap_err());
        assert_eq!(std::fs::read(&path).ok(), before);
        assert!(std::fs::read_dir(folder.path()).unwrap().count() <= 1, "nothing is left behind");
    }

    #[test]
    fn the_text_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.prose");
        std::fs::write(&path, "old").unwrap();
        assert_eq!(replace(&path, "old", "new", Change::Fixes), Ok(()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_somebody_else_has_written_stays() {
        check_refused(
            |path| std::fs::write(path, "theirs").unwrap(),
            expect!["was changed by another program while it was being fixed; it is not written"],
        );
    }

    #[test]
    fn a_file_that_has_gone_is_not_made_again() {
        check_refused(
            |path| std::fs::remove_file(path).unwrap(),
            expect!["has fixes, but cannot be written: no such file or directory"],
        );
    }

    #[test]
    fn a_read_only_file_stays() {
        check_refused(
            |path| {
                let mut permissions = path.metadata().unwrap().permissions();
                permissions.set_readonly(true);
                std::fs::set_permissions(path, permissions).unwrap();
            },
            expect!["has fixes, but is read-only"],
        );
    }
}

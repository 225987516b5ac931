//! Looking for the programs in the folders of the session, in the background.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use prose_project::files::read_import;

use crate::workspace::files::{files_below, is_program};

/// The most programs of a workspace. Others are checked when they are opened.
pub(crate) const MAX_PROGRAMS: usize = 10_000;
/// The maximum size of a program in bytes.
const MAX_PROGRAM_BYTES: u64 = 1 << 20;
/// How long all of them may be together, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// How many programs the owner takes up between two other messages.
const BATCH: usize = 16;

/// Modification time and size of a file, to detect changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
}

/// The programs that a scan has found, with the stamps of their files.
pub(crate) type Stamps = HashMap<PathBuf, Stamp>;

/// An event of a scan.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ScanEvent {
    /// Programs that are new, or others than they were: what they were when they were read, and their texts.
    Programs(Vec<(PathBuf, Stamp, String)>),
    /// There are no more. These are no longer in the folders.
    Done { gone: Vec<PathBuf>, is_complete: bool },
}

/// Looks for the programs in folders. Those that are as they are `known` to be are not read again.
pub(crate) fn scan(folders: &[PathBuf], known: &Stamps, mut tell: impl FnMut(ScanEvent)) {
    let mut seen = HashSet::new();
    let mut bytes = 0;
    let mut is_complete = true;
    let mut batch = Vec::new();
    for path in files_below(folders).filter(|path| is_program(path)) {
        let Some(stamp) = stamp(&path).filter(|stamp| stamp.bytes <= MAX_PROGRAM_BYTES) else { continue };
        bytes += stamp.bytes;
        if seen.len() == MAX_PROGRAMS || bytes > MAX_BYTES {
            tracing::warn!(
                "only {} programs of the workspace are checked; the others are checked when they are opened",
                seen.len()
            );
            is_complete = false;
            break;
        }
        if known.get(&path) != Some(&stamp) {
            let Ok(text) = read_import(&path) else { continue };
            batch.push((path.clone(), stamp, text));
        }
        seen.insert(path);
        if batch.len() == BATCH {
            tell(ScanEvent::Programs(std::mem::take(&mut batch)));
        }
    }
    if !batch.is_empty() {
        tell(ScanEvent::Programs(batch));
    }
    // Where not everything was looked at, what was not seen may be there nevertheless.
    let may_be_there = |path: &PathBuf| {
        !is_complete && path.exists() && folders.iter().any(|folder| path.starts_with(folder))
    };
    let is_gone = |path: &&PathBuf| !seen.contains(*path) && !may_be_there(path);
    tell(ScanEvent::Done { gone: known.keys().filter(is_gone).cloned().collect(), is_complete });
}

fn stamp(path: &Path) -> Option<Stamp> {
    let file = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some(Stamp { modified: file.modified().ok(), bytes: file.len() })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The result of a scan: the names of the files that it read and of those that are gone.
    fn scanned(folder: &Path, known: &mut Stamps) -> (Vec<String>, Vec<String>) {
        let name = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
        let (mut read, mut all_gone) = (Vec::new(), Vec::new());
        let before = known.clone();
        scan(&[folder.to_owned()], &before, |news| match news {
            ScanEvent::Programs(programs) => {
                read.extend(programs.iter().map(|(path, ..)| name(path)));
                known.extend(programs.into_iter().map(|(path, stamp, _)| (path, stamp)));
            }
            ScanEvent::Done { gone, .. } => {
                known.retain(|path, _| !gone.contains(path));
                all_gone.extend(gone.iter().map(|path| name(path)));
            }
        });
        read.sort();
        all_gone.sort();
        (read, all_gone)
    }

    #[test]
    fn only_what_has_changed_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let mut known = Stamps::new();
        let mut scanned = || scanned(folder.path(), &mut known);
        write("a.prose", "session \"a\"\n");
        write("flows/b.prose", "session \"b\"\n");
        write("ignored/c.prose", "session \"c\"\n");
        write("node_modules/d.prose", "session \"d\"\n");
        write(".prose/runs/1/program.prose", "session \"e\"\n");
        write("notes.md", "no program\n");
        write(".gitignore", "ignored/\n");
        assert_eq!(scanned(), (vec!["a.prose".to_owned(), "flows/b.prose".to_owned()], vec![]));
        assert_eq!(scanned(), (vec![], vec![]));
        write("a.prose", "session \"another\"\n");
        write("f.prose", "session \"f\"\n");
        fs::remove_file(folder.path().join("flows/b.prose")).unwrap();
        assert_eq!(
            scanned(),
            (vec!["a.prose".to_owned(), "f.prose".to_owned()], vec!["flows/b.prose".to_owned()])
        );
    }

    #[test]
    fn programs_that_no_person_has_written_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let long = "#".repeat(usize::try_from(MAX_PROGRAM_BYTES).unwrap() + 1);
        fs::write(folder.path().join("long.prose"), long).unwrap();
        fs::write(folder.path().join("broken.prose"), [0xff, 0xfe]).unwrap();
        assert_eq!(scanned(folder.path(), &mut Stamps::new()), (vec![], vec![]));
    }
}

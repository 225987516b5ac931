//! The files of the workspace, open or not.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

/// The most files and folders that are looked at, so that a folder such as `/` is no endless work.
const MAX_ENTRIES: usize = 100_000;

/// The files below some folders, each once though folders may lie in each other. What Git ignores is left out, and so is what is hidden
/// or installed by a package manager.
pub(crate) fn files_below(folders: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let walk = folders.split_first().map(|(first, rest)| {
        let mut walk = WalkBuilder::new(first);
        rest.iter().for_each(|folder| {
            walk.add(folder);
        });
        walk.require_git(false).filter_entry(|entry| entry.file_name() != "node_modules");
        walk.build()
    });
    let bounded = walk.into_iter().flatten().enumerate().take_while(|(count, _)| {
        if *count == MAX_ENTRIES {
            tracing::warn!("only the first {MAX_ENTRIES} files were searched for programs");
        }
        *count < MAX_ENTRIES
    });
    let mut seen = HashSet::new();
    bounded
        .filter_map(|(_, entry)| entry.ok())
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .filter(move |path| seen.insert(path.clone()))
}

/// Whether a file is a program, by its name.
pub(crate) fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "prose")
}

/// Whether a file has other files left out, by its name.
pub(crate) fn is_ignore_file(path: &Path) -> bool {
    path.ends_with(".gitignore") || path.ends_with(".ignore")
}

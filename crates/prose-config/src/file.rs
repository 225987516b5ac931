//! Finding the file.

use std::path::{Component, Path, PathBuf};

/// The name of the file with the settings of a project.
pub const FILE_NAME: &str = "prose.toml";

/// The nearest `prose.toml` in the folder `start`, or in that of the file `start`, or in a folder above.
pub fn find(start: &Path) -> Option<PathBuf> {
    find_accepted(start, |_| true)
}

/// The same, where only some files are accepted. The others are as good as not there.
pub fn find_accepted(start: &Path, mut accepts: impl FnMut(&Path) -> bool) -> Option<PathBuf> {
    let start = without_detours(&std::path::absolute(start).ok()?);
    // One that cannot be read, such as a pipe, must not let the settings of a folder above count in silence.
    let is_there = |path: &PathBuf| path.metadata().is_ok_and(|metadata| !metadata.is_dir());
    start.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| is_there(path) && accepts(path))
}

/// An absolute path without `..`, since the folders above `a/..` are not those above `a`.
fn without_detours(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => _ = straight.pop(),
            Component::CurDir => {}
            _ => straight.push(component),
        }
    }
    straight
}

/// The names of the programs in a folder; none of one that cannot be read.
pub fn programs_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.ends_with(".prose")).collect()
}

//! Finding and reading the file.

use std::path::{Component, Path, PathBuf};

use prose_files::{Limit, ReadError};
use prose_syntax::{Code, Diagnostic, TextRange, TextSize};

use crate::Config;

/// The name of the file with the settings of a project.
pub const FILE_NAME: &str = "prose.toml";

/// What a file of settings says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// What is wrong with the file.
    pub problems: Vec<Diagnostic>,
    /// The text that the problems are about.
    pub text: String,
}

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

/// Reads a file of settings. It fails only if the file cannot be read; bytes that are not UTF-8 are a problem among others.
pub fn load(path: &Path) -> Result<Loaded, ReadError> {
    let bytes = prose_files::read(path, Limit::SETTINGS)?;
    let invalid = std::str::from_utf8(&bytes).err().map(|error| error.valid_up_to());
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (config, mut problems) = Config::parse(&text);
    if let Some(at) = invalid.and_then(|at| TextSize::try_from(at).ok()) {
        let range = TextRange::at(at, TextSize::of(char::REPLACEMENT_CHARACTER));
        let message = "the file is not valid UTF-8; save it as UTF-8";
        let after = problems.partition_point(|problem| problem.range.start() < at);
        problems.insert(after, Diagnostic::new(Code::E141, range, message));
    }
    Ok(Loaded { config, problems, text })
}

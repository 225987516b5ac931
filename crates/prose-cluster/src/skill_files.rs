//! The files of skills, as a bundle has them: agents execute some of them, and not all are texts.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prose_state::context_file;
use serde::{Deserialize, Serialize};

/// How many bytes the files of all skills of a run have together, at most.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Why a name cannot be used.
const NAME: &str = "other machines may not be able to have a file of this name";

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SkillFile {
    base64: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_executable: bool,
}

/// Why a file of a skill cannot be sent to other machines.
#[derive(Debug)]
pub(crate) enum SkillFileError {
    /// It cannot be read.
    Io(PathBuf, io::Error),
    /// It is none that they can have, and why.
    Unsuitable(PathBuf, String),
}

impl SkillFile {
    fn read(path: &Path, metadata: &fs::Metadata) -> io::Result<Self> {
        Ok(Self { base64: STANDARD.encode(fs::read(path)?), is_executable: is_executable(metadata) })
    }

    /// Writes it to a path.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let bytes = STANDARD.decode(&self.base64).map_err(io::Error::other)?;
        fs::write(path, bytes)?;
        #[cfg(unix)]
        if self.is_executable {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}

/// Elsewhere, names tell what can be executed.
#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

/// Adds the files in the folder of a skill, by their paths in a bundle, in which the folder has a path, as long as bytes are left. What git keeps is none of
/// them.
pub(crate) fn add_skill(
    files: &mut BTreeMap<String, SkillFile>,
    folder: &Path,
    name: &str,
    left: &mut u64,
) -> Result<(), SkillFileError> {
    if name.contains(['\\', ':']) {
        return Err(SkillFileError::Unsuitable(folder.to_owned(), NAME.to_owned()));
    }
    let failed = |path: &Path, error| SkillFileError::Io(path.to_owned(), error);
    let refused = |path: &Path, why: &str| SkillFileError::Unsuitable(path.to_owned(), why.to_owned());
    for entry in fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let path = entry.map_err(|error| failed(folder, error))?.path();
        let last = path.file_name().and_then(|last| last.to_str());
        let Some(last) = last.filter(|last| !last.contains(['\\', ':'])) else {
            return Err(refused(&path, NAME));
        };
        if last == ".git" {
            continue;
        }
        let name = format!("{name}/{last}");
        let metadata = path.symlink_metadata().map_err(|error| failed(&path, error))?;
        if metadata.is_dir() {
            add_skill(files, &path, &name, left)?;
        } else if context_file::is_protected(last) {
            return Err(refused(&path, "it may contain secrets; move it out of the folder of the skill"));
        } else if metadata.is_file() {
            *left = left.checked_sub(metadata.len()).ok_or_else(|| {
                let limit = MAX_BYTES >> 20;
                refused(&path, &format!("the skills of a run have at most {limit} MiB together"))
            })?;
            files.insert(name, SkillFile::read(&path, &metadata).map_err(|error| failed(&path, error))?);
        } else {
            return Err(refused(
                &path,
                "only files and folders can be sent to workers; replace a link by what it leads to",
            ));
        }
    }
    Ok(())
}

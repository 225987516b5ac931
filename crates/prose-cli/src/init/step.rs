//! One file of a project that is set up: what happens to it, and why it stays as it is.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use prose_files::{Limit, read_text, reason};

use super::json;
use super::text::{self, TableAddition};
use crate::check::write::{Change, replace};

/// A file that a project should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProjectFile {
    /// Its path in the project, with `/`.
    pub(super) path: &'static str,
    pub(super) text: &'static str,
    pub(super) kind: FileKind,
}

/// How the text of a file is added to a file that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// Not at all.
    Whole,
    /// Missing lines.
    Lines,
    /// Missing entries of a JSON object.
    Json,
    /// A missing table of a TOML file.
    Toml,
    /// A missing section of a Markdown document.
    Section,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// It does not exist and gets this text.
    Create(&'static str),
    /// It gets additional entries.
    Extend {
        /// The file, which may be the target of a link.
        target: PathBuf,
        old: String,
        new: String,
    },
    /// Everything is there.
    Unchanged,
    /// It stays as it is, for this reason.
    Left(String),
    /// It stays as it is, for this reason, and the user must add the entries.
    ByHand(String),
}

impl ProjectFile {
    /// What happens to the file in a project.
    pub(super) fn step(&self, root: &Path) -> Step {
        let (target, old) = match existing(root, self.path) {
            Ok(Some(existing)) => existing,
            Ok(None) => return Step::Create(self.text),
            Err(reason) if self.kind == FileKind::Whole => return Step::Left(reason),
            Err(reason) => return Step::ByHand(reason),
        };
        let new = match self.kind {
            FileKind::Whole if old == self.text => return Step::Unchanged,
            FileKind::Whole => return Step::Left("it exists with another content".to_owned()),
            FileKind::Lines => text::add_lines(&old, self.text),
            FileKind::Section => text::add_section(&old, self.text).unwrap_or_else(|| old.clone()),
            FileKind::Toml => match text::add_table(&old, self.text) {
                TableAddition::Added(new) => new,
                TableAddition::Present { is_same: true } => return Step::Unchanged,
                TableAddition::Present { is_same: false } => {
                    return Step::Left("it has another entry of that name".to_owned());
                }
                TableAddition::Impossible => {
                    return Step::ByHand("its form cannot be extended".to_owned());
                }
            },
            FileKind::Json => match json::merge(&old, self.text) {
                None => return Step::ByHand("it has comments or is not JSON".to_owned()),
                Some(merged) if merged.text == old && !merged.kept.is_empty() => {
                    return Step::Left(format!("it has other values for `{}`", merged.kept.join("`, `")));
                }
                Some(merged) => merged.text,
            },
        };
        if new == old { Step::Unchanged } else { Step::Extend { target, old, new } }
    }

    /// Writes the file. The error is the rest of a sentence about it.
    pub(super) fn write(&self, root: &Path, step: &Step) -> Result<(), String> {
        match step {
            Step::Create(text) => {
                let path = root.join(self.path);
                let unwritable = |error: std::io::Error| format!("cannot be written: {}", reason(&error));
                let folder = path.parent().unwrap_or(root);
                fs::create_dir_all(folder).map_err(unwritable)?;
                let mut file =
                    OpenOptions::new().write(true).create_new(true).open(&path).map_err(unwritable)?;
                file.write_all(text.as_bytes()).map_err(unwritable)
            }
            Step::Extend { target, old, new } => replace(target, old, new, Change::Entries),
            Step::Unchanged | Step::Left(_) | Step::ByHand(_) => Ok(()),
        }
    }
}

/// A file of the project with its text. Links are followed inside of the project only; the error is the reason why the file is not used.
fn existing(root: &Path, path: &str) -> Result<Option<(PathBuf, String)>, String> {
    let unreadable = |error: std::io::Error| format!("it cannot be read: {}", reason(&error));
    let path = root.join(path);
    // A project that does not exist yet has no files.
    let Ok(inside) = root.canonicalize() else { return Ok(None) };
    let leads_out = |path: &Path| path.canonicalize().is_ok_and(|target| !target.starts_with(&inside));
    // The first folder that exists, since the file may be in one that does not.
    if path.ancestors().find(|path| path.exists()).is_some_and(leads_out) {
        return Err("it is reached by a link that leads out of the project".to_owned());
    }
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
        Ok(_) => {}
    }
    let target = path.canonicalize().map_err(unreadable)?;
    let text = read_text(&target, Limit::SETTINGS).map_err(|error| format!("it {error}"))?;
    Ok(Some((target, text)))
}

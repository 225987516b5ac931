//! `.prose/.env`: settings of a project as `KEY=value` lines (R103). Lines that mean nothing here are kept as they are, and nothing is sent anywhere
//! whatever they say.

use std::fs;
use std::path::{Path, PathBuf};

use crate::disk;
use crate::error::StateError;
use crate::folder::{PROSE_FOLDER, Project};

/// The file and its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvFile {
    path: PathBuf,
    lines: Vec<String>,
}

impl EnvFile {
    /// Reads the file of a project. One that is not there is empty.
    pub fn read(project: &Project) -> Result<Self, StateError> {
        Self::read_at(&project.root.join(PROSE_FOLDER).join(".env"))
    }

    fn read_at(path: &Path) -> Result<Self, StateError> {
        let lines = match fs::read_to_string(path) {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(error) if disk::is_absent(&error) => Vec::new(),
            Err(error) => return Err(StateError::io("read", path)(error)),
        };
        Ok(Self { path: path.to_owned(), lines })
    }

    /// The value of a key. Of several lines with that key the last one counts, as in shells.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.lines
            .iter()
            .rev()
            .find_map(|line| entry(line).filter(|(found, _)| *found == key))
            .map(|(_, value)| value)
    }

    /// Gives a key a value. Every other line stays as it is.
    pub fn set(&mut self, key: &str, value: &str) {
        let line = format!("{key}={value}");
        let found = self.lines.iter().rposition(|line| entry(line).is_some_and(|(found, _)| found == key));
        match found {
            Some(index) => self.lines[index] = line,
            None => self.lines.push(line),
        }
    }

    /// Writes the file.
    pub fn write(&self) -> Result<(), StateError> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(StateError::io("make", folder))?;
        }
        let mut text = self.lines.join("\n");
        text.push('\n');
        disk::replace(&self.path, text.as_bytes())
    }
}

/// The key and the value of a line; none for comments and what else is no setting.
fn entry(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    if line.starts_with('#') {
        return None;
    }
    let (key, value) = line.split_once('=')?;
    Some((key.trim(), value.trim()))
}

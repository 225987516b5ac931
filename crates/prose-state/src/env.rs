//! `.prose/.env`: settings of a project as `KEY=value` lines (R103). Lines that mean nothing here are kept as they are, and nothing is sent anywhere
//! whatever they say.

use prose_files::{Limit, read_text};

use crate::error::StateError;
use crate::folder::{PROSE_FOLDER, Project};

/// The name of the file.
const ENV_FILE: &str = ".env";

/// The file and its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvFile {
    lines: Vec<String>,
}

impl EnvFile {
    /// Reads the file of a project. One that is not there is empty.
    pub fn read(project: &Project) -> Result<Self, StateError> {
        let path = project.root.join(PROSE_FOLDER).join(ENV_FILE);
        // One that is a link may hold the secrets of several projects: the person has put it there.
        let lines = match read_text(&path, Limit::SETTINGS) {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(error) if error.is_missing() => Vec::new(),
            Err(error) => return Err(StateError::io("read", &path)(error.into())),
        };
        Ok(Self { lines })
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

    /// Writes the file of a project.
    pub fn write(&self, project: &Project) -> Result<(), StateError> {
        let mut text = self.lines.join("\n");
        text.push('\n');
        project.make_prose_folder()?.write_durable(ENV_FILE, text.as_bytes())
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

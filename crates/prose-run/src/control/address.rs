//! Where a run listens: a file in its folder with the address and a token, for the user alone.

use std::io;
use std::path::Path;

use prose_files::{Folder, Limit};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::transport;

/// The file in the folder of a run with its address. It exists while a process executes the run.
pub const CONTROL_FILE: &str = "control.json";

/// The address of a run.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Address {
    /// The run.
    pub(super) run: SmolStr,
    /// The process that executes it.
    pub(super) process: u32,
    /// Where it listens: the path of a socket, or a port of this machine.
    pub(super) address: String,
    /// What a client sends first.
    pub(super) token: String,
    /// Why it does not listen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

impl Address {
    /// The address of a run that this process executes.
    pub(super) fn new(run: &str, address: String, token: String) -> Self {
        Self { run: run.into(), process: std::process::id(), address, token, problem: None }
    }

    /// Reads the address of the run in a folder; `None` if it has none.
    pub(super) fn read(folder: &Path) -> io::Result<Option<Self>> {
        let folder = Folder::open(folder).map_err(io::Error::other)?;
        let Some(bytes) = folder.read(CONTROL_FILE, Limit::SETTINGS).map_err(io::Error::other)? else {
            return Ok(None);
        };
        let address = serde_json::from_slice(&bytes);
        address.map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Writes the address, in place of that of an earlier execution.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        if let Ok(Some(before)) = Self::read(folder) {
            transport::remove(&before.address);
        }
        let bytes = serde_json::to_vec(self)?;
        Folder::open(folder).and_then(|folder| folder.write(CONTROL_FILE, &bytes)).map_err(io::Error::other)
    }

    /// Removes the address, unless another process executes the run meanwhile.
    pub(super) fn remove(&self, folder: &Path) {
        transport::remove(&self.address);
        if Self::read(folder).is_ok_and(|now| now.as_ref() == Some(self)) {
            // A file that remains names an address where no process listens, which is recognised.
            let _ = Folder::open(folder).and_then(|folder| folder.remove(CONTROL_FILE));
        }
    }
}

/// A random text that cannot be guessed.
pub(super) fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares tokens in a time that does not depend on where they differ.
pub(super) fn is_same_token(given: &str, token: &str) -> bool {
    given.len() == token.len()
        && given.bytes().zip(token.bytes()).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

//! Recordings of sessions, to reproduce bugs: one line of JSON per message.

use std::fs::File;
use std::io;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    Client,
    Server,
}

/// A line of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// How many milliseconds after the start.
    pub(crate) at: u64,
    pub(crate) from: Side,
    /// The message; a text if it was no JSON.
    pub(crate) message: Value,
}

impl Record {
    /// The line, with its end.
    pub(crate) fn line(&self) -> String {
        format!("{}\n", serde_json::json!(self))
    }
}

/// Where a session is recorded to.
#[derive(Debug)]
pub(crate) struct Recorder {
    file: Mutex<File>,
    start: Instant,
}

impl Recorder {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: Mutex::new(File::create(path)?), start: Instant::now() })
    }

    /// Writes a message down at once, since the next one may end the server.
    pub(crate) fn record(&self, from: Side, body: &[u8]) {
        let message = serde_json::from_slice(body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()));
        let at = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let line = Record { at, from, message }.line();
        // A line is written in one piece, whatever happens to other threads.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(line.as_bytes()) {
            tracing::warn!("a message could not be recorded: {error}");
        }
    }
}

/// The records of a file. The last line may be cut off, since the server may have been killed while it wrote it.
pub(crate) fn read(text: &str) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    while let Some((index, line)) = lines.next() {
        match serde_json::from_str(line) {
            Ok(record) => records.push(record),
            Err(_) if lines.peek().is_none() && !text.ends_with('\n') => {}
            Err(error) => {
                return Err(format!("line {} is not a message of a recording: {error}", index + 1));
            }
        }
    }
    Ok(records)
}

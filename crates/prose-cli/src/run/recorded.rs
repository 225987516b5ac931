//! `--record-script`: a script that gives the answers of this run again.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use prose_harness::record;
use prose_vm::event::Event;

use crate::terminal::{ERROR, Terminal, one_line};

/// Sees to it that a script can be written, before a run costs anything. What is there stays as it is, and is written over only if that is wanted.
pub(crate) fn check(path: &Path, is_forced: bool) -> Result<(), String> {
    let is_new = !path.exists();
    // What is no file, such as `/dev/stdout`, has nothing to lose.
    if path.is_file() && !is_forced {
        return Err(format!(
            "script `{}` already exists; pass another file, or overwrite it with `--force`",
            path.display()
        ));
    }
    let opened = OpenOptions::new().append(true).create(true).open(path);
    if is_new && opened.is_ok() {
        _ = std::fs::remove_file(path);
    }
    opened.map(drop).map_err(|error| format!("cannot write script `{}`: {error}", path.display()))
}

/// Collects what was answered.
pub(crate) struct Recorder {
    path: PathBuf,
    events: Vec<Event>,
}

impl Recorder {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), events: Vec::new() }
    }

    pub(crate) fn record(&mut self, event: &Event) {
        self.events.push(event.clone());
    }

    /// Writes the script.
    pub(crate) fn write(self, terminal: &Terminal) -> io::Result<()> {
        let script = record::script(&self.events);
        if let Err(error) = std::fs::write(&self.path, script) {
            let path = self.path.to_string_lossy();
            writeln!(
                terminal.stderr(),
                "{ERROR}error{ERROR:#}: cannot write script `{}`: {error}",
                one_line(&path)
            )?;
        }
        Ok(())
    }
}

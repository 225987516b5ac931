//! `--record-script`: a script that gives the answers of this run again.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use prose_harness::record;
use prose_vm::event::Event;

use crate::terminal::{ERROR, Terminal, one_line};

/// Collects what was answered.
pub(crate) struct Recorder {
    path: PathBuf,
    events: Vec<Event>,
}

impl Recorder {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), events: Vec::new() }
    }

    pub(crate) fn tell(&mut self, event: &Event) {
        self.events.push(event.clone());
    }

    /// Writes the script.
    pub(crate) fn write(self, terminal: &Terminal) -> io::Result<()> {
        let script = record::script(&self.events);
        if let Err(error) = std::fs::write(&self.path, script) {
            let path = self.path.to_string_lossy();
            writeln!(
                terminal.stderr(),
                "{ERROR}error{ERROR:#}: the script `{}` cannot be written: {error}",
                one_line(&path)
            )?;
        }
        Ok(())
    }
}

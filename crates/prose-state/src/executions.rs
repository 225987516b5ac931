//! The `state.md` of the executions of a run, that of its program and those of imported ones.

use std::collections::BTreeMap;

use prose_view::View;
use prose_vm::effect::RequestId;
use prose_vm::event::{Event, EventKind};

use crate::state_file::StateFile;

/// The view of a run, and the files that show it, by program.
#[derive(Debug, Default)]
pub(crate) struct Executions {
    /// Whether there are no files: the state is in a database.
    has_no_files: bool,
    /// The text of the program of the run; taken when the run starts.
    text: String,
    view: View,
    /// By the number of the execution; 0 for the program of the run.
    files: BTreeMap<u32, StateFile>,
}

impl Executions {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// The view of a run without files.
    pub(crate) fn without_files() -> Self {
        Self { has_no_files: true, ..Self::default() }
    }

    /// The view of the run.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Whether a file is out of date.
    pub(crate) fn is_dirty(&self) -> bool {
        self.files.iter().any(|(program, file)| file.is_dirty(*program, &self.view))
    }

    /// Writes the files that are out of date. Those that cannot be written stay so, and are tried again.
    pub(crate) fn write<E>(&mut self, mut write: impl FnMut(&str, &str) -> Result<(), E>) -> Result<(), E> {
        for (program, file) in &mut self.files {
            if file.is_dirty(*program, &self.view)
                && let Some((path, text)) = file.text(*program, &self.view)
            {
                write(&path, &text)?;
                file.is_written(&self.view);
            }
        }
        Ok(())
    }

    /// Notes what a session of a program waits for, or that it does not wait any more.
    pub(crate) fn wait_for(&mut self, request: RequestId, awaited: Option<(u32, String)>) {
        match awaited {
            Some((program, text)) => {
                if let Some(file) = self.files.get_mut(&program) {
                    file.wait_for(request, Some(text));
                }
            }
            None => self.files.values_mut().for_each(|file| file.wait_for(request, None)),
        }
    }

    /// The path and the text of the file of an execution that has ended, which changes no more.
    pub(crate) fn finish(&mut self, program: u32) -> Option<(String, String)> {
        self.files.remove(&program)?.text(program, &self.view)
    }

    /// Takes up an event.
    pub(crate) fn apply(&mut self, event: &Event) {
        match &event.kind {
            _ if self.has_no_files => {}
            EventKind::RunStarted(_) => {
                self.files.insert(0, StateFile::new(&std::mem::take(&mut self.text)));
            }
            EventKind::ImportCalled { program, text, .. } => {
                self.files.insert(*program, StateFile::new(text));
            }
            EventKind::RunEnded(_) => {
                // The file shows how far the run came, and so what was open at its end.
                if let Some(file) = self.files.get_mut(&0) {
                    file.end(event.at);
                }
                return;
            }
            _ => {}
        }
        self.view.apply(event);
    }
}

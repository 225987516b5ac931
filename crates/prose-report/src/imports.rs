//! The programs that a run imports, with their texts as they were executed.

use std::sync::Arc;

use prose_vm::event::{Event, EventKind};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// The texts of imported programs, each once.
#[derive(Default)]
pub(crate) struct Imports {
    texts: Vec<ImportedText>,
    /// The indices of the texts, by the numbers of executions.
    text_of: FxHashMap<u32, usize>,
}

/// The text of an imported program.
#[derive(Serialize)]
pub(crate) struct ImportedText {
    text: Arc<str>,
    /// The numbers of its executions.
    programs: Vec<u32>,
}

impl Imports {
    pub(crate) fn apply(&mut self, event: &Event) {
        let EventKind::ImportCalled { program, text, .. } = &event.kind else { return };
        let known = self.texts.iter().position(|known| known.text == *text);
        let index = known.unwrap_or_else(|| {
            self.texts.push(ImportedText { text: Arc::clone(text), programs: Vec::new() });
            self.texts.len() - 1
        });
        self.texts[index].programs.push(*program);
        self.text_of.insert(*program, index);
    }

    /// The index of the text that an execution has.
    pub(crate) fn text_of(&self, program: u32) -> Option<usize> {
        self.text_of.get(&program).copied()
    }

    /// The texts in the order of their first calls.
    pub(crate) fn into_texts(self) -> Vec<ImportedText> {
        self.texts
    }
}

//! The views of recorded runs that were requested last. A client that watches a run of another process requests its view again and again, and each time only the
//! new events of the journal are read.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use prose_state::StateError;
use prose_state::reader::JournalReader;
use prose_view::View;

/// The maximum number of runs whose views are kept.
const MAX_KEPT: usize = 4;

/// The views of recorded runs that were requested last.
#[derive(Default)]
pub(super) struct RecordedViews(Mutex<Vec<RecordedView>>);

struct RecordedView {
    path: PathBuf,
    journal: JournalReader,
    view: View,
}

impl RecordedViews {
    /// The view after the last event of a journal, and why the journal cannot be read any further, if so.
    pub(super) fn latest(&self, path: &Path) -> Result<(View, Option<String>), StateError> {
        let mut kept = self.take(path);
        // A run that is resumed has new events instead of its end.
        kept.take_if(|kept| kept.view.end().is_some());
        if let Some(recorded) = &mut kept
            && !recorded.journal.reopen()?
        {
            kept = None;
        }
        let mut recorded = match kept {
            Some(kept) => kept,
            None => {
                let journal = JournalReader::open(path)?;
                RecordedView { path: path.to_owned(), journal, view: View::default() }
            }
        };
        let problem = recorded.read();
        let view = recorded.view.clone();
        if problem.is_none() {
            let mut kept = self.lock();
            kept.push(recorded);
            let excess = kept.len().saturating_sub(MAX_KEPT);
            kept.drain(..excess);
        }
        Ok((view, problem))
    }

    fn take(&self, path: &Path) -> Option<RecordedView> {
        let mut kept = self.lock();
        let index = kept.iter().position(|recorded| recorded.path == path)?;
        Some(kept.remove(index))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RecordedView>> {
        // No code panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordedView {
    /// Folds the events that were not read yet.
    fn read(&mut self) -> Option<String> {
        for event in &mut self.journal {
            match event {
                Ok(event) => self.view.apply(&event),
                // The last line of an active run may be incomplete.
                Err(error) => return Some(error.to_string()),
            }
        }
        None
    }
}

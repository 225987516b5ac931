//! Two runs next to each other.

use std::path::{Path, PathBuf};

use prose_state::replay::RecordedRun;
use prose_view::{Comparison, compare};
use prose_vm::event::Event;
use serde_json::{Value, json};

use crate::runs::recorded::{details, shorten};

/// The steps of the runs in two folders, with the beginnings of their texts; or one step with its whole texts, by its index.
pub(super) fn compared(folders: &[PathBuf; 2], step: Option<usize>) -> Result<Value, String> {
    let [a, b] = folders;
    let comparison = compare(events(a)?, events(b)?);
    match step {
        Some(index) => match comparison.steps.get(index) {
            Some(step) => Ok(json!(step)),
            None => Err(format!("the runs have {} steps and no step {index}", comparison.steps.len())),
        },
        None => Ok(overview(&comparison)),
    }
}

fn overview(comparison: &Comparison) -> Value {
    let mut shown = json!(comparison);
    shorten(&mut shown);
    if let Some(steps) = shown["steps"].as_array_mut() {
        for (shown, step) in steps.iter_mut().zip(&comparison.steps) {
            shown["different"] = json!(step.is_different());
        }
    }
    shown
}

/// The events of a run, up to the line that is being written if its process is at work.
fn events(folder: &Path) -> Result<impl Iterator<Item = Event>, String> {
    details(folder)?;
    let recorded = RecordedRun::in_folder(folder).map_err(|error| error.for_editor())?;
    Ok(recorded.events().map_err(|error| error.for_editor())?.map_while(Result::ok))
}

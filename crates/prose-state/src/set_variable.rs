//! Variables that a person sets in a run: each is an event of the journal, which every execution of the run repeats (decision 25).

use std::io;
use std::path::Path;

use prose_vm::event::{Event, EventKind};
use prose_vm::questions::Attribution;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::error::StateError;
use crate::folder::Project;
use crate::journal::{Journal, journal_of};
use crate::lock::RunLock;
use crate::reader::Lines;
use crate::recall::{JournalRecording, Matching};
use crate::repair::{JournalCopies, truncate};

impl Project {
    /// Gives a variable another value at the start of a statement of a run that no process executes; the event with the number `statement` starts it. The
    /// run continues from there when it is resumed.
    ///
    /// What happened after that event is removed from the journal and happens again. Results of other branches among it are kept in a copy of the journal,
    /// from which they are recalled, so that nothing is asked twice. Returns false, and changes nothing, if the event is not there or variables were set at
    /// later statements.
    pub fn set_variable(
        &self,
        run: &str,
        statement: u64,
        (name, value): (SmolStr, Value),
        by: Attribution,
        now: u64,
    ) -> Result<bool, StateError> {
        let folder = self.existing_run(run)?;
        let tree = self.run_tree(&folder)?;
        let _lock = RunLock::acquire(&tree, run)?;
        let path = journal_of(&folder);
        let Some(Rest { start, mut set, end, last, has_results }) = rest_of(&path, statement)? else {
            return Ok(false);
        };
        if has_results {
            JournalCopies(&folder).keep(&path)?;
        }
        truncate(&path, end)?;
        let shortened = JournalRecording::open(&path, Matching::Exact)?;
        let mut journal = Journal::resume(&path, shortened.sound())?;
        let paused = last.1.saturating_add(now.saturating_sub(last.0));
        let kind = EventKind::VariableSet { name, value, by };
        set.push(Event { at: now, paused, kind, ..start });
        let written = |error: io::Error| StateError::io("write", &path)(error);
        for (seq, event) in (statement + 1..).zip(set) {
            journal.append(&Event { seq, ..event }).map_err(written)?;
        }
        journal.sync().map_err(written)?;
        Ok(true)
    }
}

/// A journal from the start of a statement on.
struct Rest {
    /// The event that starts the statement.
    start: Event,
    /// The variables that were set at that statement before.
    set: Vec<Event>,
    /// The byte after the line of that event.
    end: u64,
    /// The times of the last event: when it was, and how long the run was stopped before it.
    last: (u64, u64),
    /// Whether more happened after that event than what the program has computed.
    has_results: bool,
}

/// What a journal has from the start of a statement on.
fn rest_of(path: &Path, statement: u64) -> Result<Option<Rest>, StateError> {
    let mut lines = Lines::open(path)?;
    let mut rest: Option<Rest> = None;
    loop {
        let Some(header) = lines.next()? else { return Ok(rest) };
        let (seq, is_start) = (header.seq, header.event == "statement-started");
        let is_computed = !matches!(
            header.event.as_ref(),
            "effect" | "expense" | "commanded" | "answered" | "memory-written"
        );
        if seq < statement {
            continue;
        }
        let event = lines.event()?;
        let times = (event.at, event.paused);
        match &mut rest {
            None if seq == statement && is_start => {
                let (set, end) = (Vec::new(), lines.end());
                rest = Some(Rest { start: event, set, end, last: times, has_results: false });
            }
            Some(rest) => {
                rest.last = times;
                rest.has_results |= !is_computed;
                if matches!(event.kind, EventKind::VariableSet { .. }) {
                    if event.place != rest.start.place {
                        return Ok(None);
                    }
                    rest.set.push(event);
                }
            }
            _ => return Ok(None),
        }
    }
}

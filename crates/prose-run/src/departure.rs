//! Notices where a run with the answers of a redacted one takes another way than that did.
//!
//! A program that compares texts, such as `if draft == "…"`, gets another result with a redacted text. What it then leaves out or asks nothing for would be
//! shown as what the run did.

use std::collections::HashMap;

use prose_state::StateError;
use prose_vm::event::{Event, EventKind, RunStatus};
use prose_vm::place::{NamedLine, Place};
use prose_vm::program_names::ProgramNames;

use crate::FromRun;

/// The statements of a redacted run that were not executed again yet.
pub(crate) struct Departure {
    run: String,
    /// With the numbers of their events and their lines.
    left: HashMap<Place, (u64, Option<NamedLine>)>,
    /// Whether these are all of a program that came to its end, so that it executes no others.
    is_whole: bool,
    is_found: bool,
}

impl Departure {
    /// The statements that the answers were recorded for; `None` if no text of the run is redacted.
    pub(crate) fn of(from: &FromRun) -> Result<Option<Self>, StateError> {
        if !from.recorded.is_redacted {
            return Ok(None);
        }
        let (mut left, mut is_whole) = (HashMap::new(), false);
        let mut programs = ProgramNames::default();
        for event in from.recorded.events()? {
            let Ok(event) = event else { break };
            programs.apply(&event);
            if from.before.is_some_and(|before| event.seq >= before) {
                break;
            }
            match event.kind {
                EventKind::StatementStarted { .. } => {
                    let line = event.site.and_then(|site| programs.line(site));
                    left.insert(event.place, (event.seq, line));
                }
                EventKind::RunEnded(end) => is_whole = !end.status.is_stopped(),
                _ => {}
            }
        }
        let run = from.recorded.head.run.to_string();
        Ok(Some(Self { run, left, is_whole, is_found: false }))
    }

    /// A warning before the event with which the run departs from the recorded one.
    pub(crate) fn warning_before(&mut self, event: &Event) -> Option<String> {
        if self.is_found {
            return None;
        }
        let how = match &event.kind {
            // After the point of a fork, or where the recorded run stopped, there is nothing to depart from.
            EventKind::StatementStarted { .. } if self.left.is_empty() && !self.is_whole => return None,
            EventKind::StatementStarted { .. } => match self.left.remove(&event.place) {
                Some(_) => return None,
                None => "executes a statement here that was not executed".to_owned(),
            },
            EventKind::RunEnded(end) if end.status == RunStatus::Completed => {
                let (_, line) = self.left.values().min_by_key(|(seq, _)| *seq)?;
                match line {
                    Some(line) => format!("has not executed {line}, which was executed"),
                    None => "has not executed a statement that was executed".to_owned(),
                }
            }
            _ => return None,
        };
        self.is_found = true;
        Some(format!(
            "the program {how} in run {}: texts of that run are redacted, so comparisons can have other results, and so can this run",
            self.run
        ))
    }
}

//! The values that a part of a program is executed with, from earlier runs.

use prose_state::folder::Project;
use prose_state::journal::journal_of;
use prose_state::reader::JournalReader;
use prose_vm::event::{Event, EventKind};
use prose_vm::part::RunPart;
use prose_vm::program::Program;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::RunRequest;

/// How many runs are looked at for values, the latest first.
const MAX_RUNS: usize = 20;

/// Values for a part of a program.
#[derive(Default)]
struct PartValues {
    /// The run that has them.
    run: Option<SmolStr>,
    /// The variables with their values, in the order in which they were bound.
    values: Vec<(SmolStr, Value)>,
}

impl PartValues {
    /// The values of the last run that has all that are needed; otherwise those of the last run of the program. They are the ones at the last start of
    /// the part, and those at the end of a run that did not execute it. Runs of parts count as well.
    fn of_last_run(project: &Project, program: &Program, part: &RunPart, needs: &[SmolStr]) -> Self {
        let Ok(runs) = project.list_runs() else { return Self::default() };
        let is_own = |from: &str| {
            from.strip_prefix(&*program.from).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
        };
        let own = runs.into_iter().filter(|run| run.from.as_deref().is_some_and(is_own)).take(MAX_RUNS);
        let mut last = None;
        for run in own {
            let path = journal_of(&run.folder);
            let Ok(events) = JournalReader::open(&path) else { continue };
            let values = values_at(program, part, events.map_while(Result::ok));
            let has_all = needs.iter().all(|name| values.iter().any(|(known, _)| known == name));
            let found = Self { run: Some(run.id), values };
            if has_all {
                return found;
            }
            last.get_or_insert(found);
        }
        last.unwrap_or_default()
    }
}

impl RunRequest {
    /// Adds the values of the last run to the inputs of a new run of a part. Inputs that are given count first.
    pub fn take_last_values(&mut self) {
        let Some(part) = self.part.as_mut() else { return };
        let needs = part.needs.iter().filter(|name| self.inputs.iter().all(|(given, _)| given != *name));
        let needs: Vec<SmolStr> = needs.cloned().collect();
        let PartValues { run, values } = PartValues::of_last_run(&self.project, &self.program, part, &needs);
        part.from = run;
        for (name, value) in values {
            if self.inputs.iter().all(|(given, _)| *given != name) {
                self.inputs.push((name, value));
            }
        }
    }

    /// The variables that a part needs and that have no value among the inputs.
    pub fn missing_values(&self) -> Vec<SmolStr> {
        let needs = self.part.iter().flat_map(|part| &part.needs);
        needs.filter(|name| self.inputs.iter().all(|(given, _)| given != *name)).cloned().collect()
    }
}

/// The values of variables at the last start of a part, or at the end.
fn values_at(
    program: &Program,
    part: &RunPart,
    events: impl IntoIterator<Item = Event>,
) -> Vec<(SmolStr, Value)> {
    let header = program.header_of_part(part);
    let sees_frames = program.is_in_block(part);
    let decides = matches!(part.noun.as_str(), "condition" | "choice");
    let mut values: Vec<(SmolStr, Value)> = Vec::new();
    let mut at_start = None;
    let set = |values: &mut Vec<(SmolStr, Value)>, name: SmolStr, value: Value| {
        // A decision considers everything, and anything else only what it names.
        if decides || part.needs.contains(&name) {
            // The order is that of the last bindings, by which decisions order what they consider.
            values.retain(|(known, _)| *known != name);
            values.push((name, value));
        }
    };
    for event in events {
        if event.site.is_some_and(|site| site.program != 0) {
            continue;
        }
        match event.kind {
            EventKind::Bound { binding, value, anonymous: false, .. }
                if sees_frames || binding.frame == 0 =>
            {
                set(&mut values, binding.name, value);
            }
            // What a run of a part was given for loop variables and parameters is bound nowhere else.
            EventKind::InputsReceived { inputs } => {
                for (name, value) in inputs {
                    set(&mut values, name, value);
                }
            }
            EventKind::FrameEntered { arguments, .. } if sees_frames => {
                for (name, _, value) in arguments {
                    set(&mut values, name, value);
                }
            }
            EventKind::StatementStarted { source, .. } if Some(&source) == header.as_ref() => {
                at_start = Some(values.clone());
            }
            _ => {}
        }
    }
    at_start.unwrap_or(values)
}

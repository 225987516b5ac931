//! Where an execution is: the statements, loops and `try`s around a request.
//!
//! This is no view of a run, and is never shown: while a run of another machine is executed again, it gives the lines of the program around a place, to be looked
//! up in its `state.md`, before any result is known. Only what is open is kept.

use prose_vm::event::{Event, EventKind};
use rustc_hash::FxHashMap;

/// What has started and not ended.
#[derive(Debug, Default)]
pub(crate) struct OpenConstructs {
    statements: FxHashMap<Box<str>, ExecutionPoint>,
    /// The loops, also those that are the value of a statement.
    loops: FxHashMap<Box<str>, ExecutionPoint>,
    tries: FxHashMap<Box<str>, ExecutionPoint>,
    /// The folders of the imported programs by their numbers, relative to that of the run, with a slash at their ends.
    folders: FxHashMap<u32, Box<str>>,
}

/// A place in the text of a program, and the call in which it is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExecutionPoint {
    /// The number of the program; 0 for the one that was started.
    pub(crate) program: u32,
    /// The line of the statement.
    pub(crate) line: u32,
    /// The execution id of the call; 0 outside of blocks.
    pub(crate) frame: u32,
}

impl OpenConstructs {
    pub(crate) fn apply(&mut self, event: &Event) {
        let place = event.place.as_str();
        let here = event.site.map(|site| ExecutionPoint {
            program: site.program,
            line: site.line,
            frame: event.frame,
        });
        let insert =
            |map: &mut FxHashMap<Box<str>, ExecutionPoint>| map.extend(here.map(|here| (place.into(), here)));
        match &event.kind {
            EventKind::StatementStarted { .. } => insert(&mut self.statements),
            EventKind::LoopStarted { .. } => insert(&mut self.loops),
            EventKind::TryStarted => insert(&mut self.tries),
            EventKind::LoopEnded { .. } => drop(self.loops.remove(place)),
            EventKind::StatementEnded { .. } => {
                self.statements.remove(place);
                self.tries.remove(place);
            }
            EventKind::ImportCalled { program, folder, .. } => {
                self.folders.insert(*program, folder.as_ref().into());
            }
            _ => {}
        }
    }

    /// The folder of a program that is executed; none for one that nothing has called.
    pub(crate) fn folder(&self, program: u32) -> Option<&str> {
        match program {
            0 => Some(""),
            program => self.folders.get(&program).map(AsRef::as_ref),
        }
    }

    pub(crate) fn statement(&self, place: &str) -> Option<ExecutionPoint> {
        self.statements.get(place).copied()
    }

    pub(crate) fn loop_at(&self, place: &str) -> Option<ExecutionPoint> {
        self.loops.get(place).copied()
    }

    pub(crate) fn try_at(&self, place: &str) -> Option<ExecutionPoint> {
        self.tries.get(place).copied()
    }
}

/// The places around a place, from the outermost one, each with the step that leads on from it; the place itself comes last, without one.
pub(crate) fn steps(place: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = place.match_indices('/').map(|(at, _)| at).chain([place.len()]);
    ends.map(|end| {
        let next = place[end..].strip_prefix('/').unwrap_or_default();
        (&place[..end], next.split('/').next().unwrap_or_default())
    })
}

/// The number in a step such as `i2`.
pub(crate) fn number(step: &str, kind: &str) -> Option<u32> {
    step.strip_prefix(kind)?.parse().ok()
}

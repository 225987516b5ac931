//! The documented tables of a run that keeps its state in a database (R112 to R117), made from its events.
//!
//! Rows are written in the transactions of the journal, after the lines that they follow from. An execution that repeats what was recorded writes the same
//! rows again, with the same ids, since ids are counted in the order of the events.

use std::fmt::Write as _;
use std::sync::Arc;

use prose_vm::effect::{Binding, MemoryPlace, MemoryScope};
use prose_vm::event::{Event, EventKind, RunHead, RunStatus, StateMode, Status};
use prose_vm::place::Place;
use prose_vm::value::Value;
use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};
use smol_str::SmolStr;

use crate::disk::Tree;
use crate::error::StateError;
use crate::row_writer::SharedRowWriter;
use crate::state_file::{scope_name, timestamp};
use crate::statements::{Write, write_row};

/// The folder of values that are too large for a row.
const ATTACHMENTS: &str = "attachments";

/// The largest value in a row, in bytes (R115).
const MAX_VALUE: usize = 100_000;

/// The rows of the documented tables.
#[derive(Debug)]
pub(crate) struct Tables {
    database: SharedRowWriter,
    /// The text of the program of the run.
    text: String,
    /// The last id in the table `execution`.
    last: i64,
    /// The open statements, and what other rows are in, by their places.
    statements: FxHashMap<Place, i64>,
    parents: FxHashMap<Place, i64>,
    /// The rows of calls of blocks by the executions of their programs and their ids, which are counted in each.
    frames: FxHashMap<(u32, u32), i64>,
    /// The folders of called programs, with the names by which they were imported.
    imports: Vec<(Arc<str>, SmolStr)>,
    /// Whether rows of an earlier execution may be left that this one has not repeated.
    may_have_more: bool,
    /// What follows from the present event.
    writes: Vec<Write>,
}

impl Tables {
    pub(crate) fn new(database: SharedRowWriter, text: &str) -> Self {
        Self {
            database,
            text: text.to_owned(),
            last: 0,
            statements: FxHashMap::default(),
            parents: FxHashMap::default(),
            frames: FxHashMap::default(),
            imports: Vec::new(),
            may_have_more: true,
            writes: Vec::new(),
        }
    }

    /// In which kind of database they are.
    pub(crate) fn state(&self) -> StateMode {
        self.database.lock().kind().state()
    }

    /// Removes the rows of an earlier execution, since the program has changed. What agents remember stays.
    pub(crate) fn clear(&mut self) -> Result<(), StateError> {
        let rows = [
            write_row!(RemoveBindings),
            write_row!(RemoveExecutions),
            write_row!(RemoveImports),
            write_row!(RemoveRun),
        ];
        self.database.lock().write_rows(rows.into())
    }

    /// Takes up an event.
    pub(crate) fn take_up(&mut self, event: &Event, is_new: bool, tree: &Tree) -> Result<(), StateError> {
        let attachment = match &event.kind {
            EventKind::Bound { binding, value, .. } => {
                let frame = self.frame_of(event, binding);
                self.attach(binding, frame, value, is_new, tree)?
            }
            _ => None,
        };
        if is_new && std::mem::take(&mut self.may_have_more) {
            // The end of the journal of an earlier execution is lost, or was taken off: its rows stay where this one does not repeat them.
            self.writes.push(write_row!(RemoveLaterBindings, self.last));
            self.writes.push(write_row!(RemoveLaterExecutions, self.last));
        }
        self.write(event, attachment);
        self.database.lock().write_rows(std::mem::take(&mut self.writes))
    }

    fn write(&mut self, event: &Event, attachment: Option<String>) {
        let at = moment(event.at);
        let place = &event.place;
        match &event.kind {
            EventKind::RunStarted(head) => self.run_started(head, at),
            EventKind::Resumed { .. } => self.set_status("running", at),
            EventKind::RunEnded(end) => {
                let status = match end.status {
                    RunStatus::Completed => "completed",
                    RunStatus::Failed => "failed",
                    RunStatus::Interrupted | RunStatus::Waiting => "interrupted",
                };
                self.set_status(status, at);
            }
            EventKind::Imported { from, inputs, outputs, alias, .. } => {
                let row =
                    write_row!(AddImport, alias.as_str(), from.as_str(), at, json!(inputs), json!(outputs));
                self.writes.push(row);
            }
            EventKind::StatementStarted { number, source, .. } => {
                let id = self.start(place, *number, source, &at, None);
                self.statements.insert(place.clone(), id);
                self.parents.insert(place.clone(), id);
                if number.is_some() {
                    self.set_status("running", at);
                }
            }
            EventKind::StatementEnded { status, error } => {
                self.parents.remove(place);
                if let Some(id) = self.statements.remove(place) {
                    self.end(id, *status, error.as_ref().map(|error| error.to_string()), at);
                }
            }
            EventKind::FrameEntered { id: frame, block, depth, .. } => {
                let metadata = json!({"block": block, "depth": depth, "frame": frame});
                let id = self.start(place, None, block, &at, Some(metadata));
                self.frames.insert((event.program(), *frame), id);
                self.parents.insert(place.clone(), id);
            }
            EventKind::FrameLeft { id: frame, status, .. } => {
                self.leave(place);
                if let Some(id) = self.frames.get(&(event.program(), *frame)) {
                    self.end(*id, *status, None, at);
                }
            }
            EventKind::ImportCalled { alias, folder, program, .. } => {
                let metadata = json!({"import": alias, "program": program});
                let id = self.start(place, None, alias, &at, Some(metadata));
                self.imports.push((Arc::clone(folder), alias.clone()));
                let inner = place.step(format_args!("m{program}"));
                self.statements.insert(inner, id);
            }
            EventKind::ImportEnded { program, error, .. } => {
                let status = if error.is_some() { Status::Failed } else { Status::Complete };
                if let Some(id) = self.statements.remove(&place.step(format_args!("m{program}"))) {
                    self.end(id, status, error.as_ref().map(|error| error.to_string()), at);
                }
            }
            EventKind::ParallelStarted { branches, strategy, .. } => {
                let id = self.parent_of(place);
                let metadata =
                    json!({"parallel_id": parallel(id), "strategy": strategy, "branches": branches});
                self.annotate(id, metadata, at);
            }
            EventKind::BranchStarted { name, .. } => {
                let metadata = json!({"parallel_id": parallel(self.parent_of(place)), "branch": name});
                let id = self.start(place, None, name, &at, Some(metadata));
                // A statement may be at the same place: it is in the branch.
                self.parents.insert(place.clone(), id);
                self.statements.insert(place.step("branch"), id);
            }
            EventKind::BranchEnded { status, .. } => {
                self.leave(place);
                if let Some(id) = self.statements.remove(&place.step("branch")) {
                    self.end(id, *status, None, at);
                }
            }
            EventKind::LoopStarted { header, max, .. } => {
                let id = self.parent_of(place);
                let loop_id = id.map(|id| format!("l{id}"));
                let metadata = json!({
                    "loop_id": loop_id, "max_iterations": max, "current_iteration": 0, "condition": header,
                });
                self.annotate(id, metadata, at);
            }
            EventKind::IterationStarted { number, .. } => {
                self.annotate(self.parent_of(place), json!({"current_iteration": number}), at);
            }
            EventKind::Retrying { attempt, retries, .. } => {
                let counted = json!({"retry_attempt": attempt, "max_retries": retries});
                self.annotate(self.parent_of(place), counted, at);
            }
            EventKind::Bound { binding, value, .. } => {
                let frame = self.frame_of(event, binding);
                self.bind(binding, frame, value, attachment, at);
            }
            EventKind::MemoryWritten { place, memory, segment, prompt, record } => {
                self.remember(place, memory, (*segment, prompt, record), &at);
            }
            _ => {}
        }
    }

    fn run_started(&mut self, head: &RunHead, at: String) {
        let row = write_row!(StartRun, head.run.as_str(), head.from.as_str(), self.text.as_str(), at);
        self.writes.push(row);
    }

    /// How the run as a whole stands.
    fn set_status(&mut self, status: &str, at: String) {
        self.writes.push(write_row!(SetStatus, status, at));
    }

    /// Adds a row to `execution`.
    fn start(
        &mut self,
        place: &Place,
        number: Option<u32>,
        text: &str,
        at: &str,
        metadata: Option<Json>,
    ) -> i64 {
        let parent = self.parent_of(place);
        self.last += 1;
        self.writes.push(write_row!(StartExecution, self.last, number, text, at, parent, metadata));
        self.last
    }

    /// Ends a row of `execution`.
    fn end(&mut self, id: i64, status: Status, error: Option<String>, at: String) {
        let status = match status {
            Status::Complete | Status::Left => "completed",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
        };
        self.writes.push(write_row!(EndExecution, id, status, error, at));
    }

    /// Adds entries to the metadata of a row (R114).
    fn annotate(&mut self, id: Option<i64>, entries: Json, at: String) {
        if let Some(id) = id {
            self.writes.push(write_row!(Annotate, id, entries, at));
        }
    }

    /// The row that something at a place is in.
    fn parent_of(&self, place: &Place) -> Option<i64> {
        let mut place = place.as_str();
        loop {
            if let Some(id) = self.parents.get(place) {
                return Some(*id);
            }
            place = place.rsplit_once('/')?.0;
        }
    }

    /// What is at a place from now on is in the statement there, if there is one.
    fn leave(&mut self, place: &Place) {
        match self.statements.get(place) {
            Some(statement) => self.parents.insert(place.clone(), *statement),
            None => self.parents.remove(place),
        };
    }

    /// The name of a binding in the table: that of an imported program has the name of the import before it (R113).
    fn name(&self, binding: &Binding) -> String {
        let mut name = String::new();
        for (folder, alias) in &self.imports {
            let is_inside = binding.path.strip_prefix(folder.trim_end_matches('/'));
            if is_inside.is_some_and(|rest| rest.starts_with('/')) {
                let _ = write!(name, "{alias}.");
            }
        }
        name.push_str(&binding.name);
        name
    }

    /// The row of the call in which a name is bound; none outside of calls.
    fn frame_of(&self, event: &Event, binding: &Binding) -> Option<i64> {
        self.frames.get(&(event.program(), binding.frame)).copied()
    }

    /// Writes a value that is too large for a row to a file, whose path is returned (R115).
    fn attach(
        &self,
        binding: &Binding,
        frame: Option<i64>,
        value: &Value,
        is_new: bool,
        tree: &Tree,
    ) -> Result<Option<String>, StateError> {
        // Most values are short texts, which nothing has to be made of.
        if matches!(value, Value::Text(text) if text.len() <= MAX_VALUE) {
            return Ok(None);
        }
        let text = value.to_string();
        if text.len() <= MAX_VALUE {
            return Ok(None);
        }
        let frame = frame.map_or(String::new(), |id| format!("__{id}"));
        let path = format!("{ATTACHMENTS}/{}{frame}.md", self.name(binding));
        let is_there = !is_new
            && tree.read(&path, prose_files::Limit::STATE)?.is_some_and(|found| found == text.as_bytes());
        if !is_there {
            tree.write(&path, text.as_bytes())?;
        }
        Ok(Some(path))
    }

    fn bind(
        &mut self,
        binding: &Binding,
        frame: Option<i64>,
        value: &Value,
        attachment: Option<String>,
        at: String,
    ) {
        let text = attachment.is_none().then(|| value.to_string());
        let (name, kind) = (self.name(binding), binding.kind.name());
        self.writes.push(write_row!(Bind, name, frame, kind, text, &*binding.source, at, attachment));
    }

    /// Writes what an agent remembers, and the segment of the session that left it.
    fn remember(
        &mut self,
        place: &MemoryPlace,
        memory: &str,
        (segment, prompt, record): (u32, &str, &str),
        at: &str,
    ) {
        self.writes.push(agent_row(&place.agent, place.scope, memory, at));
        self.writes.push(segment_row(&place.agent, segment, (at, prompt, record)));
    }
}

/// The row of what an agent remembers.
pub(crate) fn agent_row(name: &str, scope: MemoryScope, memory: &str, at: &str) -> Write {
    write_row!(SetMemory, name, scope_name(scope), memory, at)
}

/// The row of the time, the task and the record of the session that left a segment.
pub(crate) fn segment_row(agent: &str, number: u32, (at, prompt, record): (&str, &str, &str)) -> Write {
    write_row!(AddSegment, agent, number, at, prompt, record)
}

/// The name of a `parallel` in the metadata of its rows.
fn parallel(id: Option<i64>) -> Option<String> {
    id.map(|id| format!("p{id}"))
}

/// A time as SQLite writes it: `2026-01-15 14:30:52`, in UTC.
pub(crate) fn moment(at: u64) -> String {
    sql_time(&timestamp(at))
}

/// The same of a time as files have it: `2026-01-15T14:30:52Z`.
pub(crate) fn sql_time(timestamp: &str) -> String {
    timestamp.trim_end_matches('Z').replace('T', " ")
}

//! The documented tables of a run that keeps its state in a database (R112 to R117), made from its events.
//!
//! Rows are written in the transactions of the journal, after the lines that they follow from. An execution that repeats what was recorded writes the same
//! rows again, with the same ids, since ids are counted in the order of the events.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_vm::effect::{Binding, MemoryPlace, MemoryScope};
use prose_vm::event::{Event, EventKind, RunHead, RunStatus, Status};
use prose_vm::place::Place;
use prose_vm::value::Value;
use rusqlite::{Connection, params};
use rustc_hash::FxHashMap;
use serde_json::json;
use smol_str::SmolStr;

use crate::database::{Database, failed};
use crate::disk::Tree;
use crate::error::StateError;
use crate::state_file::{scope_name, timestamp};

/// The folder of values that are too large for a row.
const ATTACHMENTS: &str = "attachments";

/// The largest value in a row, in bytes (R115).
const MAX_VALUE: usize = 100_000;

/// The database of a run, which its journal and its tables write to.
#[derive(Debug, Clone)]
pub(crate) struct SharedDatabase(pub(crate) Arc<Mutex<Database>>);

impl SharedDatabase {
    pub(crate) fn new(database: Database) -> Self {
        Self(Arc::new(Mutex::new(database)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Database> {
        // A transaction that a panic has left is ended by the next one, or never was.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rows of the documented tables.
#[derive(Debug)]
pub(crate) struct Tables {
    database: SharedDatabase,
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
}

impl Tables {
    pub(crate) fn new(database: SharedDatabase, text: &str) -> Self {
        Self {
            database,
            text: text.to_owned(),
            last: 0,
            statements: FxHashMap::default(),
            parents: FxHashMap::default(),
            frames: FxHashMap::default(),
            imports: Vec::new(),
            may_have_more: true,
        }
    }

    /// Removes the rows of an earlier execution, since the program has changed. What agents remember stays.
    pub(crate) fn clear(&mut self) -> Result<(), StateError> {
        let mut database = self.database.lock();
        let path = database.path().to_owned();
        let clear = "DELETE FROM bindings; DELETE FROM execution; DELETE FROM imports; DELETE FROM run;";
        database
            .begin()
            .and_then(|connection| connection.execute_batch(clear))
            .map_err(failed("write", &path))
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
        let shared = self.database.clone();
        let mut database = shared.lock();
        let path = database.path().to_owned();
        let written = database.begin().and_then(|connection| {
            if is_new && std::mem::take(&mut self.may_have_more) {
                self.remove_rest(connection)?;
            }
            self.write(event, attachment, connection)
        });
        written.map_err(failed("write", &path))
    }

    /// Removes what an earlier execution has written and this one has not: the end of its journal is lost, or was taken off.
    fn remove_rest(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.execute("DELETE FROM bindings WHERE execution_id > ?1", [self.last])?;
        connection.execute("DELETE FROM execution WHERE id > ?1", [self.last])?;
        Ok(())
    }

    fn write(
        &mut self,
        event: &Event,
        attachment: Option<String>,
        connection: &Connection,
    ) -> rusqlite::Result<()> {
        let at = moment(event.at);
        let place = &event.place;
        match &event.kind {
            EventKind::RunStarted(head) => self.run_started(head, &at, connection)?,
            EventKind::Resumed { .. } => set_status("running", &at, connection)?,
            EventKind::RunEnded(end) => {
                let status = match end.status {
                    RunStatus::Completed => "completed",
                    RunStatus::Failed => "failed",
                    RunStatus::Interrupted | RunStatus::Waiting => "interrupted",
                };
                set_status(status, &at, connection)?;
            }
            EventKind::Imported { from, inputs, outputs, alias, .. } => {
                let sql = "INSERT INTO imports (alias, source_url, fetched_at, inputs_schema, outputs_schema)
                    VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (alias) DO UPDATE SET source_url = excluded.source_url,
                    fetched_at = excluded.fetched_at, inputs_schema = excluded.inputs_schema, outputs_schema = excluded.outputs_schema";
                let (inputs, outputs) = (json!(inputs).to_string(), json!(outputs).to_string());
                connection.prepare_cached(sql)?.execute(params![
                    alias.as_str(),
                    from,
                    at,
                    inputs,
                    outputs
                ])?;
            }
            EventKind::StatementStarted { number, source, .. } => {
                let id = self.start(place, *number, source, &at, None, connection)?;
                self.statements.insert(place.clone(), id);
                self.parents.insert(place.clone(), id);
                if number.is_some() {
                    set_status("running", &at, connection)?;
                }
            }
            EventKind::StatementEnded { status, error } => {
                self.parents.remove(place);
                if let Some(id) = self.statements.remove(place) {
                    end(id, *status, error.as_ref().map(|error| error.to_string()), &at, connection)?;
                }
            }
            EventKind::FrameEntered { id: frame, block, depth, .. } => {
                let metadata = json!({"block": block, "depth": depth, "frame": frame});
                let id = self.start(place, None, block, &at, Some(metadata.to_string()), connection)?;
                self.frames.insert((event.program(), *frame), id);
                self.parents.insert(place.clone(), id);
            }
            EventKind::FrameLeft { id: frame, status, .. } => {
                self.leave(place);
                if let Some(id) = self.frames.get(&(event.program(), *frame)) {
                    end(*id, *status, None, &at, connection)?;
                }
            }
            EventKind::ImportCalled { alias, folder, program, .. } => {
                let metadata = json!({"import": alias, "program": program}).to_string();
                let id = self.start(place, None, alias, &at, Some(metadata), connection)?;
                self.imports.push((Arc::clone(folder), alias.clone()));
                let inner = place.step(format_args!("m{program}"));
                self.statements.insert(inner, id);
            }
            EventKind::ImportEnded { program, error, .. } => {
                let status = if error.is_some() { Status::Failed } else { Status::Complete };
                if let Some(id) = self.statements.remove(&place.step(format_args!("m{program}"))) {
                    end(id, status, error.as_ref().map(|error| error.to_string()), &at, connection)?;
                }
            }
            EventKind::ParallelStarted { branches, strategy, .. } => {
                let id = self.parent_of(place);
                let metadata =
                    json!({"parallel_id": parallel(id), "strategy": strategy, "branches": branches});
                annotate(id, &metadata.to_string(), &at, connection)?;
            }
            EventKind::BranchStarted { name, .. } => {
                let metadata = json!({"parallel_id": parallel(self.parent_of(place)), "branch": name});
                let id = self.start(place, None, name, &at, Some(metadata.to_string()), connection)?;
                // A statement may be at the same place: it is in the branch.
                self.parents.insert(place.clone(), id);
                self.statements.insert(place.step("branch"), id);
            }
            EventKind::BranchEnded { status, .. } => {
                self.leave(place);
                if let Some(id) = self.statements.remove(&place.step("branch")) {
                    end(id, *status, None, &at, connection)?;
                }
            }
            EventKind::LoopStarted { header, max, .. } => {
                let id = self.parent_of(place);
                let loop_id = id.map(|id| format!("l{id}"));
                let metadata = json!({
                    "loop_id": loop_id, "max_iterations": max, "current_iteration": 0, "condition": header,
                });
                annotate(id, &metadata.to_string(), &at, connection)?;
            }
            EventKind::IterationStarted { number, .. } => {
                let counted = json!({"current_iteration": number}).to_string();
                annotate(self.parent_of(place), &counted, &at, connection)?;
            }
            EventKind::Retrying { attempt, retries, .. } => {
                let counted = json!({"retry_attempt": attempt, "max_retries": retries}).to_string();
                annotate(self.parent_of(place), &counted, &at, connection)?;
            }
            EventKind::Bound { binding, value, .. } => {
                let frame = self.frame_of(event, binding);
                self.bind(binding, frame, value, attachment, &at, connection)?;
            }
            EventKind::MemoryWritten { place, memory, segment, prompt, record } => {
                remember(place, memory, (*segment, prompt, record), &at, connection)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn run_started(&self, head: &RunHead, at: &str, connection: &Connection) -> rusqlite::Result<()> {
        connection.execute(
            "INSERT INTO run (id, program_path, program_source, started_at, updated_at, status, state_mode)
             VALUES (?1, ?2, ?3, ?4, ?4, 'running', 'sqlite')
             ON CONFLICT (id) DO UPDATE SET program_path = excluded.program_path, program_source = excluded.program_source,
             started_at = excluded.started_at, updated_at = excluded.updated_at, status = excluded.status",
            params![head.run.as_str(), head.from, self.text, at],
        )?;
        Ok(())
    }

    /// Adds a row to `execution`.
    fn start(
        &mut self,
        place: &Place,
        number: Option<u32>,
        text: &str,
        at: &str,
        metadata: Option<String>,
        connection: &Connection,
    ) -> rusqlite::Result<i64> {
        let parent = self.parent_of(place);
        self.last += 1;
        let sql = "INSERT INTO execution (id, statement_index, statement_text, status, started_at, updated_at, parent_id, metadata)
            VALUES (?1, ?2, ?3, 'executing', ?4, ?4, ?5, ?6)
            ON CONFLICT (id) DO UPDATE SET statement_index = excluded.statement_index, statement_text = excluded.statement_text,
            status = excluded.status, started_at = excluded.started_at, updated_at = excluded.updated_at, completed_at = NULL,
            error_message = NULL, parent_id = excluded.parent_id, metadata = excluded.metadata";
        connection.prepare_cached(sql)?.execute(params![self.last, number, text, at, parent, metadata])?;
        Ok(self.last)
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
        &self,
        binding: &Binding,
        frame: Option<i64>,
        value: &Value,
        attachment: Option<String>,
        at: &str,
        connection: &Connection,
    ) -> rusqlite::Result<()> {
        let text = attachment.is_none().then(|| value.to_string());
        let sql = "INSERT INTO bindings (name, execution_id, kind, value, source_statement, created_at, updated_at, attachment_path)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)
            ON CONFLICT (name, ifnull(execution_id, -1)) DO UPDATE SET kind = excluded.kind, value = excluded.value,
            source_statement = excluded.source_statement, updated_at = excluded.updated_at, attachment_path = excluded.attachment_path";
        connection.prepare_cached(sql)?.execute(params![
            self.name(binding),
            frame,
            binding.kind.name(),
            text,
            binding.source,
            at,
            attachment
        ])?;
        Ok(())
    }
}

/// How the run as a whole stands.
fn set_status(status: &str, at: &str, connection: &Connection) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE run SET status = ?1, updated_at = ?2")?.execute(params![status, at])?;
    Ok(())
}

/// Ends a row of `execution`.
fn end(
    id: i64,
    status: Status,
    error: Option<String>,
    at: &str,
    connection: &Connection,
) -> rusqlite::Result<()> {
    let status = match status {
        Status::Complete | Status::Left => "completed",
        Status::Failed => "failed",
        Status::Skipped => "skipped",
    };
    let sql = "UPDATE execution SET status = ?2, error_message = ?3, updated_at = ?4, completed_at = ?4 WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![id, status, error, at])?;
    Ok(())
}

/// Adds entries to the metadata of a row (R114).
fn annotate(id: Option<i64>, entries: &str, at: &str, connection: &Connection) -> rusqlite::Result<()> {
    let sql = "UPDATE execution SET metadata = json_patch(ifnull(metadata, '{}'), ?2), updated_at = ?3 WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![id, entries, at])?;
    Ok(())
}

/// Writes what an agent remembers, and the segment of the session that left it.
fn remember(
    place: &MemoryPlace,
    memory: &str,
    (segment, prompt, record): (u32, &str, &str),
    at: &str,
    connection: &Connection,
) -> rusqlite::Result<()> {
    let agent = place.agent.as_str();
    write_agent(agent, place.scope, memory, at, connection)?;
    write_segment(agent, segment, (at, prompt, record), connection)
}

/// Writes what an agent remembers.
pub(crate) fn write_agent(
    name: &str,
    scope: MemoryScope,
    memory: &str,
    at: &str,
    connection: &Connection,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO agents (name, scope, memory, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
        ON CONFLICT (name) DO UPDATE SET scope = excluded.scope, memory = excluded.memory, updated_at = excluded.updated_at";
    connection.prepare_cached(sql)?.execute(params![name, scope_name(scope), memory, at])?;
    Ok(())
}

/// Writes the time, the task and the record of the session that left a segment.
pub(crate) fn write_segment(
    agent: &str,
    number: u32,
    (at, prompt, record): (&str, &str, &str),
    connection: &Connection,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO agent_segments (agent_name, segment_number, timestamp, prompt, summary) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (agent_name, segment_number) DO UPDATE SET timestamp = excluded.timestamp, prompt = excluded.prompt,
        summary = excluded.summary";
    connection.prepare_cached(sql)?.execute(params![agent, number, at, prompt, record])?;
    Ok(())
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

//! The databases of agents that outlive runs: `.prose/agents.db` of a project and `~/.prose/agents.db` of a user (R111).
//!
//! Memories are files, which agents may write themselves and which runs with and without a database share. What a run with a database has written of them
//! is copied, with all segments that a database does not have yet, so that they can be queried.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use prose_vm::effect::MemoryScope;
use rusqlite::{OpenFlags, TransactionBehavior};

use crate::database::{Kind, connect, content, failed, prepare_tables, write_row};
use crate::disk::OwnFile;
use crate::error::StateError;
use crate::tables::{agent_row, moment, segment_row};

/// The name of the database in `.prose`.
pub(crate) const AGENTS_DATABASE: &str = "agents.db";

/// An agent whose memory has changed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredAgent<'a> {
    /// The folder of its memory in `.prose/agents`, since agents of imported programs may have the same name.
    pub(crate) name: &'a str,
    pub(crate) scope: MemoryScope,
    pub(crate) memory: &'a str,
    /// In milliseconds since 1970.
    pub(crate) at: u64,
}

/// What a session has left, as it stands in the file of its segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredSegment {
    pub(crate) number: u32,
    pub(crate) timestamp: String,
    pub(crate) prompt: String,
    pub(crate) summary: String,
}

/// Copies an agent and those of its segments that the database does not have. `segments` reads all but the given ones. The database is made if there is none.
pub(crate) fn copy(
    path: &Path,
    agent: &StoredAgent<'_>,
    segments: impl FnOnce(&HashSet<u32>) -> Result<Vec<StoredSegment>, StateError>,
) -> Result<(), StateError> {
    match OwnFile(path).create_new() {
        Err(StateError::Io { error, .. }) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => drop(made?),
    }
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let failed = || failed("write", path);
    // Runs that write at the same time take turns from here on.
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed())?;
    if content(&transaction, path, Kind::Agents)?.is_none() {
        prepare_tables(&transaction, Kind::Agents).map_err(failed())?;
    }
    let known = transaction
        .prepare("SELECT segment_number FROM agent_segments WHERE agent_name = ?1")
        .and_then(|mut query| query.query_map([agent.name], |row| row.get(0))?.collect())
        .map_err(failed())?;
    let at = moment(agent.at);
    let write = |segments: Vec<StoredSegment>| {
        write_row(&agent_row(agent.name, agent.scope, agent.memory, &at), &transaction)?;
        for StoredSegment { number, timestamp, prompt, summary } in segments {
            write_row(&segment_row(agent.name, number, (&timestamp, &prompt, &summary)), &transaction)?;
        }
        transaction.commit()
    };
    segments(&known).and_then(|segments| write(segments).map_err(failed()))
}

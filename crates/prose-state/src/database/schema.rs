//! The tables of the database of a run.

/// By what a database of this program is known: `PRSE`.
pub(super) const APPLICATION_ID: i32 = 0x5052_5345;

/// The version of the tables that this version writes and the latest that it reads.
pub(super) const VERSION: i32 = 1;

/// The documented tables (R112), with the key of `bindings` as an index, since a key has no expressions, and with `execution.updated_at`, which loops set.
/// `journal` is added.
pub(super) const TABLES_OF_RUN: &str = "
CREATE TABLE IF NOT EXISTS journal (
    start INTEGER PRIMARY KEY,
    line TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS run (
    id TEXT PRIMARY KEY,
    program_path TEXT,
    program_source TEXT,
    started_at TEXT DEFAULT (datetime('now')),
    updated_at TEXT DEFAULT (datetime('now')),
    status TEXT DEFAULT 'running',
    state_mode TEXT DEFAULT 'sqlite'
);
CREATE TABLE IF NOT EXISTS execution (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    statement_index INTEGER,
    statement_text TEXT,
    status TEXT,
    started_at TEXT,
    updated_at TEXT,
    completed_at TEXT,
    error_message TEXT,
    parent_id INTEGER REFERENCES execution(id),
    metadata TEXT
);
CREATE INDEX IF NOT EXISTS execution_status ON execution (status);
CREATE TABLE IF NOT EXISTS bindings (
    name TEXT NOT NULL,
    execution_id INTEGER,
    kind TEXT,
    value TEXT,
    source_statement TEXT,
    created_at TEXT DEFAULT (datetime('now')),
    updated_at TEXT DEFAULT (datetime('now')),
    attachment_path TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS bindings_key ON bindings (name, ifnull(execution_id, -1));
CREATE TABLE IF NOT EXISTS imports (
    alias TEXT PRIMARY KEY,
    source_url TEXT,
    fetched_at TEXT,
    inputs_schema TEXT,
    outputs_schema TEXT
);
";

/// The documented tables of agents, in the database of a run and in those of agents that outlive runs.
pub(super) const TABLES_OF_AGENTS: &str = "
CREATE TABLE IF NOT EXISTS agents (
    name TEXT PRIMARY KEY,
    scope TEXT,
    memory TEXT,
    created_at TEXT DEFAULT (datetime('now')),
    updated_at TEXT DEFAULT (datetime('now'))
);
CREATE TABLE IF NOT EXISTS agent_segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_name TEXT REFERENCES agents(name),
    segment_number INTEGER,
    timestamp TEXT DEFAULT (datetime('now')),
    prompt TEXT,
    summary TEXT,
    UNIQUE (agent_name, segment_number)
);
";

//! What is written to the documented tables (R112, R119), whichever database has them.
//!
//! Each statement has one text for SQLite and one for PostgreSQL. Values are numbered from `?1` in SQLite; in PostgreSQL, `$1` is the id of the run, since its
//! tables have the rows of all runs, and the values start at `$2`.

use serde_json::Value as Json;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Column {
    /// Nothing.
    Null,
    /// A text, also one that is a time.
    Text(String),
    /// A whole number.
    Number(i64),
    /// JSON, which databases without a type for it store as text.
    Json(Json),
}

impl From<&str> for Column {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Column {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Column {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Column {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<Json> for Column {
    fn from(json: Json) -> Self {
        Self::Json(json)
    }
}

impl<T: Into<Column>> From<Option<T>> for Column {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A statement with its values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Write {
    pub(crate) statement: Statement,
    pub(crate) values: Vec<Column>,
}

/// Makes a [`Write`] of a statement and its values.
macro_rules! write_row {
    ($statement:ident $(, $value:expr)* $(,)?) => {
        $crate::statements::Write {
            statement: $crate::statements::Statement::$statement,
            values: vec![$($crate::statements::Column::from($value)),*],
        }
    };
}

pub(crate) use write_row;

/// What can be written to the tables of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Statement {
    /// The run has started: its id, the path and the text of its program, and the time.
    StartRun,
    /// How the run stands, and since when.
    SetStatus,
    /// A program was imported: its name, where it is from, the time, its inputs and its outputs.
    AddImport,
    /// Something is executed: its id, the number and the text of its statement, the time, what it is in, and its metadata.
    StartExecution,
    /// It has ended: its id, its status, its error and the time.
    EndExecution,
    /// Adds entries to the metadata of what is executed (R114): its id, the entries and the time.
    Annotate,
    /// A name has a value: the name, what it is in, its kind, its value, its statement, the time, and the path of a value that is stored in a file.
    Bind,
    /// An agent of this run remembers something: its name, the scope of its memory, its memory and the time.
    SetMemory,
    /// What a session has left: its agent, its number, the time, its task and its record.
    AddSegment,
    /// Removes values of what has a later id.
    RemoveLaterBindings,
    /// Removes what is executed and has a later id.
    RemoveLaterExecutions,
    /// Removes all values, what was executed, imports and the run itself, each.
    RemoveBindings,
    RemoveExecutions,
    RemoveImports,
    RemoveRun,
}

impl Statement {
    /// The text for SQLite.
    pub(crate) fn for_sqlite(self) -> &'static str {
        match self {
            Self::StartRun => {
                "INSERT INTO run (id, program_path, program_source, started_at, updated_at, status, state_mode)
                 VALUES (?1, ?2, ?3, ?4, ?4, 'running', 'sqlite')
                 ON CONFLICT (id) DO UPDATE SET program_path = excluded.program_path,
                 program_source = excluded.program_source, started_at = excluded.started_at,
                 updated_at = excluded.updated_at, status = excluded.status"
            }
            Self::SetStatus => "UPDATE run SET status = ?1, updated_at = ?2",
            Self::AddImport => {
                "INSERT INTO imports (alias, source_url, fetched_at, inputs_schema, outputs_schema)
                 VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (alias) DO UPDATE SET source_url = excluded.source_url,
                 fetched_at = excluded.fetched_at, inputs_schema = excluded.inputs_schema,
                 outputs_schema = excluded.outputs_schema"
            }
            Self::StartExecution => {
                "INSERT INTO execution (id, statement_index, statement_text, status, started_at, updated_at, parent_id, metadata)
                 VALUES (?1, ?2, ?3, 'executing', ?4, ?4, ?5, ?6)
                 ON CONFLICT (id) DO UPDATE SET statement_index = excluded.statement_index,
                 statement_text = excluded.statement_text, status = excluded.status, started_at = excluded.started_at,
                 updated_at = excluded.updated_at, completed_at = NULL, error_message = NULL,
                 parent_id = excluded.parent_id, metadata = excluded.metadata"
            }
            Self::EndExecution => {
                "UPDATE execution SET status = ?2, error_message = ?3, updated_at = ?4, completed_at = ?4 WHERE id = ?1"
            }
            Self::Annotate => {
                "UPDATE execution SET metadata = json_patch(ifnull(metadata, '{}'), ?2), updated_at = ?3 WHERE id = ?1"
            }
            Self::Bind => {
                "INSERT INTO bindings (name, execution_id, kind, value, source_statement, created_at, updated_at, attachment_path)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)
                 ON CONFLICT (name, ifnull(execution_id, -1)) DO UPDATE SET kind = excluded.kind, value = excluded.value,
                 source_statement = excluded.source_statement, updated_at = excluded.updated_at,
                 attachment_path = excluded.attachment_path"
            }
            Self::SetMemory => {
                "INSERT INTO agents (name, scope, memory, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
                 ON CONFLICT (name) DO UPDATE SET scope = excluded.scope, memory = excluded.memory,
                 updated_at = excluded.updated_at"
            }
            Self::AddSegment => {
                "INSERT INTO agent_segments (agent_name, segment_number, timestamp, prompt, summary)
                 VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (agent_name, segment_number) DO UPDATE SET timestamp = excluded.timestamp,
                 prompt = excluded.prompt, summary = excluded.summary"
            }
            Self::RemoveLaterBindings => "DELETE FROM bindings WHERE execution_id > ?1",
            Self::RemoveLaterExecutions => "DELETE FROM execution WHERE id > ?1",
            Self::RemoveBindings => "DELETE FROM bindings",
            Self::RemoveExecutions => "DELETE FROM execution",
            Self::RemoveImports => "DELETE FROM imports",
            Self::RemoveRun => "DELETE FROM run",
        }
    }

    /// Whether the text for PostgreSQL takes an array of each value, for many rows at once.
    pub(crate) fn takes_arrays(self) -> bool {
        matches!(self, Self::StartExecution | Self::EndExecution | Self::Bind)
    }

    /// The text for PostgreSQL. Values are passed as texts and numbers alone, so that no type of theirs has to be known.
    pub(crate) fn for_postgres(self) -> &'static str {
        match self {
            Self::StartRun => {
                "INSERT INTO run (id, program_path, program_source, started_at, updated_at, status)
                 VALUES ($2::text, $3::text, $4::text, $5::text::timestamptz, $5::text::timestamptz, 'running')
                 ON CONFLICT (id) DO UPDATE SET program_path = excluded.program_path,
                 program_source = excluded.program_source, started_at = excluded.started_at,
                 updated_at = excluded.updated_at, status = excluded.status WHERE run.id = $1::text"
            }
            Self::SetStatus => {
                "UPDATE run SET status = $2::text, updated_at = $3::text::timestamptz WHERE id = $1::text"
            }
            Self::AddImport => {
                "INSERT INTO imports (run_id, alias, source_url, fetched_at, inputs_schema, outputs_schema)
                 VALUES ($1::text, $2::text, $3::text, $4::text::timestamptz, $5::text::jsonb, $6::text::jsonb)
                 ON CONFLICT (alias, run_id) DO UPDATE SET source_url = excluded.source_url,
                 fetched_at = excluded.fetched_at, inputs_schema = excluded.inputs_schema,
                 outputs_schema = excluded.outputs_schema"
            }
            Self::StartExecution => {
                "INSERT INTO execution (run_id, id, statement_index, statement_text, status, started_at, updated_at, parent_id, metadata)
                 SELECT $1::text, mine.id, statement_index, statement_text, 'executing', at::timestamptz, at::timestamptz,
                 parent_id, coalesce(metadata::jsonb, '{}')
                 FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[])
                 AS mine (id, statement_index, statement_text, at, parent_id, metadata)
                 ON CONFLICT (run_id, id) DO UPDATE SET statement_index = excluded.statement_index,
                 statement_text = excluded.statement_text, status = excluded.status, started_at = excluded.started_at,
                 updated_at = excluded.updated_at, completed_at = NULL, error_message = NULL,
                 parent_id = excluded.parent_id, metadata = excluded.metadata"
            }
            Self::EndExecution => {
                "UPDATE execution SET status = mine.status, error_message = mine.error, updated_at = mine.at::timestamptz,
                 completed_at = mine.at::timestamptz
                 FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) AS mine (id, status, error, at)
                 WHERE execution.run_id = $1::text AND execution.id = mine.id"
            }
            Self::Annotate => {
                "UPDATE execution SET metadata = metadata || jsonb_strip_nulls($3::text::jsonb),
                 updated_at = $4::text::timestamptz WHERE run_id = $1::text AND id = $2::bigint"
            }
            Self::Bind => {
                "INSERT INTO bindings (run_id, name, execution_id, kind, value, source_statement, created_at, updated_at, attachment_path)
                 SELECT $1::text, name, execution_id, kind, value, source_statement, at::timestamptz, at::timestamptz, attachment_path
                 FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
                 AS mine (name, execution_id, kind, value, source_statement, at, attachment_path)
                 ON CONFLICT (name, run_id, coalesce(execution_id, -1)) DO UPDATE SET kind = excluded.kind,
                 value = excluded.value, source_statement = excluded.source_statement,
                 updated_at = excluded.updated_at, attachment_path = excluded.attachment_path"
            }
            Self::SetMemory => {
                "INSERT INTO agents (run_id, name, scope, memory, created_at, updated_at)
                 VALUES ($1::text, $2::text, $3::text, $4::text, $5::text::timestamptz, $5::text::timestamptz)
                 ON CONFLICT (name, coalesce(run_id, '__project__')) DO UPDATE SET scope = excluded.scope,
                 memory = excluded.memory, updated_at = excluded.updated_at"
            }
            Self::AddSegment => {
                "INSERT INTO agent_segments (run_id, agent_name, segment_number, timestamp, prompt, summary)
                 VALUES ($1::text, $2::text, $3::bigint, $4::text::timestamptz, $5::text, $6::text)
                 ON CONFLICT (agent_name, coalesce(run_id, '__project__'), segment_number) DO UPDATE
                 SET timestamp = excluded.timestamp, prompt = excluded.prompt, summary = excluded.summary"
            }
            Self::RemoveLaterBindings => {
                "DELETE FROM bindings WHERE run_id = $1::text AND execution_id > $2::bigint"
            }
            Self::RemoveLaterExecutions => {
                "DELETE FROM execution WHERE run_id = $1::text AND id > $2::bigint"
            }
            Self::RemoveBindings => "DELETE FROM bindings WHERE run_id = $1::text",
            Self::RemoveExecutions => "DELETE FROM execution WHERE run_id = $1::text",
            Self::RemoveImports => "DELETE FROM imports WHERE run_id = $1::text",
            Self::RemoveRun => "UPDATE run SET program_path = NULL, program_source = NULL WHERE id = $1::text",
        }
    }
}

//! Keeps the state of runs.
//!
//! A run has a folder below `.prose/runs`. The [`journal`] in it records every event and is the truth; `state.md`, the files of bindings and the
//! memory of agents are made from the same events, for people and for agents to read ([`filesystem`]). A run that keeps its state in SQLite has the
//! journal and the bindings in the tables of a database instead. What an earlier execution of a run has recorded
//! is remembered by [`recall`], and that of another machine, which keeps no journal, by [`foreign`]; `legacy` brings
//! runs of the layout before `.prose/runs` into this one. [`runs`] lists the runs of a project.

pub mod agent_log;
mod agents_database;
pub mod answers;
mod at_work;
pub mod binding_file;
pub mod bindings;
pub mod context_file;
mod database;
mod disk;
pub mod env;
mod error;
mod executions;
mod expenses;
mod files;
pub mod filesystem;
pub mod folder;
pub mod foreign;
mod foreign_state;
pub mod in_context;
pub mod journal;
mod legacy;
mod line;
pub mod lock;
mod memory;
pub mod migration;
pub mod names;
mod open_constructs;
pub mod portable;
mod postgres;
mod program;
pub mod prompt_file;
pub mod protocol;
pub mod prune;
pub mod reader;
pub mod recall;
pub mod remembered;
mod repair;
pub mod replay;
mod row_writer;
mod rows;
pub mod runs;
mod scan;
mod set_variable;
mod source;
mod state_file;
mod statements;
mod tables;
mod trace;
mod turns;
mod unstarted;

pub use postgres::{
    Access, Lead, Notice, Role, SCHEMA_VARIABLE, Server, ServerConnection, ServerStatus, Stored,
    URL_VARIABLES, call_of, end_waits_by_signals, grant, prepare_server, server_status,
};

pub use error::{Damage, StateError};

//! Drivers of agents that speak a protocol while they work.

pub mod acp;
pub mod claude;
pub mod codex;
pub mod connection;
pub mod opencode;
mod own_sessions;
mod program;
pub mod provider;
mod server_events;

pub use self::program::{AgentProgram, KnownAgent};

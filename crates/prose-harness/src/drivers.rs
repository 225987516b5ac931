//! Drivers of agents that speak a protocol while they work.

pub mod claude;
pub mod codex;
pub mod connection;
mod program;
pub mod provider;

pub use self::program::AgentProgram;

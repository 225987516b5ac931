//! Drivers of agents that speak a protocol while they work.

pub mod acp;
pub mod claude;
pub mod codex;
pub mod connection;
mod host;
pub mod opencode;
mod own_sessions;
mod program;
pub mod provider;
mod rpc;
mod server_events;
mod shared;

pub use self::host::AgentHost;
pub use self::program::{AgentProgram, KnownAgent};

/// What an agent that has used tools is told when its provider answers again.
const CONTINUE: &str = "The provider turned your last request away. Continue where you stopped.";

/// How a session goes on whose turn has ended with a call that was denied.
const CONTINUE_DENIED: &str = "The permissions of this session do not allow that. Continue without it.";

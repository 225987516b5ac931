//! Tests of the servers for agents.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod acp;
mod editor;
mod mcp;
mod mcp_runs;
mod project;

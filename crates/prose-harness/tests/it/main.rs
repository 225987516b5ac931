//! What harnesses answer.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

#[cfg(unix)]
mod acp;
#[cfg(unix)]
mod claude;
#[cfg(unix)]
mod command;
#[cfg(unix)]
mod connection;
mod decide;
mod docs;
mod faults;
mod frames;
#[cfg(unix)]
mod notification;
mod offline;
mod permissions;
mod provider;
mod record;
mod registry;
mod router;
mod runs;
mod script;
mod support;

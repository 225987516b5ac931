//! What harnesses answer.

#[cfg(unix)]
mod command;
mod decide;
mod docs;
mod offline;
mod record;
mod registry;
mod script;
mod support;

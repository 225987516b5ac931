//! What harnesses answer.

mod docs;
mod offline;
mod record;
mod script;
mod support;

//! Editor features over whole programs.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod anywhere;
mod assists_anywhere;
mod completion;
mod completion_anywhere;
mod remote_programs;
mod rename_anywhere;
mod semantic_tokens;
mod support;

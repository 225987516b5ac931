//! The command line, run as its users run it: the real binary, its output and its exit status.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod check_fix;
mod check_input;
mod check_markdown;
mod check_output;
mod common;
mod completions;
mod describe;
mod doctor;
#[cfg(target_os = "linux")]
mod emulator;
mod explain;
mod fmt;
mod graph;
mod init;
mod man;
mod picture;
mod registry;
mod rules;
mod run;
#[cfg(unix)]
mod services;
mod settings;
#[cfg(unix)]
mod terminal;
mod test;
mod update;
mod version;

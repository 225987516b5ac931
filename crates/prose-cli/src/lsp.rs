//! `prose lsp`: serves an editor.

use std::process::ExitCode;

use prose_lsp::{LevelFilter, Options};

use crate::cli::{LogLevel, LspArgs};

/// Serves until the editor ends the session.
pub(crate) fn run(args: &LspArgs) -> anyhow::Result<ExitCode> {
    let log_level = match args.log_level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    prose_lsp::run_stdio(Options { log_file: args.log_file.clone(), log_level, record: args.record.clone() })
}

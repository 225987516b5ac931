//! `prose lsp`: serves an editor.

mod replay;

use std::process::ExitCode;

use prose_lsp::{LevelFilter, Options};

use crate::cli::{LogLevel, LspArgs};
use crate::terminal::Terminal;

/// Serves until the editor ends the session, or replays a recorded one.
pub(crate) fn run(args: &LspArgs, terminal: &Terminal) -> anyhow::Result<ExitCode> {
    if let Some(file) = &args.replay {
        return Ok(replay::run(file, args.write, terminal)?.into());
    }
    let log_level = match args.log_level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    prose_lsp::run_stdio(Options { log_file: args.log_file.clone(), log_level, record: args.record.clone() })
}

//! The language server: transport, documents and ordering.
//!
//! A message takes one road. [`protocol::transport`] reads and decodes it, [`dispatch`] hands it to the one owner of all
//! state, [`owner`], before the next message is looked at. The owner applies edits itself and gives reads a snapshot, on
//! which they run in the bounded pool of [`reads`]. Runs have threads of their own, in [`runs`]. What
//! the protocol's types are is known to [`server`] and [`protocol`] alone.

mod background;
mod capabilities;
mod dispatch;
mod documents;
mod features;
mod imports;
mod logging;
mod mailbox;
mod messages;
mod owner;
mod panics;
mod protocol;
mod reads;
mod replay;
mod requests;
mod runs;
mod server;
mod testing;
mod workspace;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use tokio::runtime::Runtime;
pub use tracing::level_filters::LevelFilter;

use crate::protocol::recording::Recorder;
pub use crate::replay::{Difference, Replayed};

/// How the server is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// The file that the log is appended to, in addition to the warnings on standard error.
    pub log_file: Option<PathBuf>,
    /// How much goes into the file. At [`LevelFilter::TRACE`] it holds every message of the session.
    pub log_level: LevelFilter,
    /// The file that the session is recorded to, for [`replay`].
    pub record: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { log_file: None, log_level: LevelFilter::TRACE, record: None }
    }
}

/// Serves one client over standard input and output until it says `exit`, closes the input or dies.
///
/// The exit code is 0 after a `shutdown` request and 1 without one, as the protocol demands.
pub fn run_stdio(options: Options) -> anyhow::Result<ExitCode> {
    logging::init(options.log_file.as_deref(), options.log_level)?;
    let recorder = options.record.as_deref().map(|path| {
        Recorder::create(path).with_context(|| format!("the recording {} cannot be written", path.display()))
    });
    let recorder = recorder.transpose()?;
    let runtime = runtime()?;
    let end = runtime.block_on(server::serve(tokio::io::stdin(), tokio::io::stdout(), recorder));
    // The thread that reads standard input cannot be interrupted, so it is not waited for.
    runtime.shutdown_background();
    tracing::info!(?end, "the server ends");
    Ok(if end.is_orderly() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Replays the client's messages of a recorded session and compares the server's.
pub fn replay(recording: &str) -> anyhow::Result<Replayed> {
    let records = protocol::recording::read(recording).map_err(anyhow::Error::msg)?;
    let runtime = runtime()?;
    let replayed = runtime.block_on(replay::replay(records));
    runtime.shutdown_background();
    Ok(replayed)
}

fn runtime() -> anyhow::Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the asynchronous runtime could not be started")
}

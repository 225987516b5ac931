//! Where the log goes: warnings to standard error, everything asked for to a file.

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts the log of this process. Standard output belongs to the protocol and never gets a line.
pub(crate) fn init(log_file: Option<&Path>, log_level: LevelFilter) -> anyhow::Result<()> {
    let to_stderr = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .with_filter(LevelFilter::WARN);
    let to_file = match log_file {
        Some(path) => {
            let file = File::options()
                .create(true)
                .append(true)
                .open(path)
                .with_context(|| format!("the log file {} cannot be written", path.display()))?;
            let layer = tracing_subscriber::fmt::layer().with_writer(Mutex::new(file)).with_ansi(false);
            Some(layer.with_filter(log_level))
        }
        None => None,
    };
    tracing_subscriber::registry()
        .with(to_stderr)
        .with(to_file)
        .try_init()
        .context("the log of this process is already set up")?;
    log_panics();
    Ok(())
}

/// Sends panics, with their place, to the log instead of as bare text to standard error.
fn log_panics() {
    std::panic::set_hook(Box::new(|info| {
        let backtrace = std::backtrace::Backtrace::capture();
        tracing::error!("{info}\n{backtrace}");
    }));
}

//! `prose mcp` and `prose acp`: serve agents and editors on standard input and output.

use std::future::Future;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use prose_run::UserTrust;
use prose_serve::Options;

use crate::cli::serve::{AcpArgs, McpArgs};
use crate::status::Status;

/// Serves an agent until it closes the connection.
pub(crate) fn mcp(args: &McpArgs) -> anyhow::Result<ExitCode> {
    serve(&args.folder, args.offline, |options| {
        prose_serve::mcp::serve(options, tokio::io::stdin(), tokio::io::stdout())
    })
}

/// Serves an editor until it closes the connection.
pub(crate) fn acp(args: &AcpArgs) -> anyhow::Result<ExitCode> {
    serve(&args.folder, args.offline, |options| {
        prose_serve::acp::serve(options, args.program.clone(), tokio::io::stdin(), tokio::io::stdout())
    })
}

fn serve<F: Future<Output = io::Result<()>>>(
    folder: &Path,
    offline: bool,
    server: impl FnOnce(Options) -> F,
) -> anyhow::Result<ExitCode> {
    let options = Options { folder: folder.to_owned(), offline, trust: UserTrust::of_user() };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the event loop")?;
    let served = runtime.block_on(server(options));
    // A thread that waits for standard input cannot be ended otherwise.
    runtime.shutdown_background();
    served.with_context(|| format!("cannot serve `{}`", folder.display()))?;
    Ok(Status::Clean.into())
}

//! `prose mcp`: serves agents.

use std::process::ExitCode;

use anyhow::Context;
use prose_run::UserTrust;
use prose_serve::mcp::{Options, serve};

use crate::cli::McpArgs;
use crate::status::Status;

/// Serves until the client closes the connection.
pub(crate) fn run(args: &McpArgs) -> anyhow::Result<ExitCode> {
    let options = Options { folder: args.folder.clone(), offline: args.offline, trust: UserTrust::of_user() };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the event loop")?;
    let served = runtime.block_on(serve(options, tokio::io::stdin(), tokio::io::stdout()));
    // A thread that waits for standard input cannot be ended otherwise.
    runtime.shutdown_background();
    served.with_context(|| format!("cannot serve `{}`", args.folder.display()))?;
    Ok(Status::Clean.into())
}

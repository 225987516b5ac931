//! `prose mcp`, `prose acp` and `prose dap`: serve agents, editors and debuggers.

use std::future::Future;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use prose_run::UserTrust;
use prose_serve::Options;

use crate::cli::serve::{AcpArgs, DapArgs, McpArgs};
use crate::status::Status;
use crate::terminal::Terminal;

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

/// Serves a debugger until it disconnects.
pub(crate) fn dap(args: &DapArgs, terminal: &Terminal) -> anyhow::Result<ExitCode> {
    let folder = std::path::absolute(&args.folder).context("cannot find the folder")?;
    let options = prose_debug::Options { folder, trust: UserTrust::of_user() };
    let Some(port) = args.port else {
        prose_debug::serve(io::stdin(), io::stdout(), options).context("the connection broke")?;
        return Ok(Status::Clean.into());
    };
    // A program that reaches the port can start programs as this user, so it serves one client.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .with_context(|| format!("cannot listen on port {port}"))?;
    let address = listener.local_addr().context("cannot listen")?;
    writeln!(terminal.stderr(), "Waiting for a client on {address}")?;
    let (client, _) = listener.accept().context("cannot accept a client")?;
    drop(listener);
    let output = client.try_clone().context("cannot answer the client")?;
    prose_debug::serve(client, output, options).context("the connection broke")?;
    Ok(Status::Clean.into())
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

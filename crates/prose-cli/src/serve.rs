//! `prose mcp`, `prose acp` and `prose dap`: serve agents, editors and debuggers.

use std::future::{Future, pending};
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as Wake, Poll};

use anyhow::Context;
use prose_run::UserTrust;
use prose_serve::Options;
use tokio::io::{AsyncRead, ReadBuf, Stdin};

use crate::cli::serve::{AcpArgs, DapArgs, McpArgs};
use crate::run::interrupt::Interrupts;
use crate::status::Status;
use crate::terminal::Terminal;

/// Serves an agent until it closes the connection, or a signal ends the process.
pub(crate) fn mcp(args: &McpArgs) -> anyhow::Result<ExitCode> {
    serve(&args.folder, args.offline, |options, input| {
        prose_serve::mcp::serve(options, input, tokio::io::stdout())
    })
}

/// Serves an editor until it closes the connection, or a signal ends the process.
pub(crate) fn acp(args: &AcpArgs) -> anyhow::Result<ExitCode> {
    serve(&args.folder, args.offline, |options, input| {
        prose_serve::acp::serve(options, args.program.clone(), input, tokio::io::stdout())
    })
}

/// Serves a debugger until it disconnects.
pub(crate) fn dap(args: &DapArgs, terminal: &Terminal) -> anyhow::Result<ExitCode> {
    let folder = std::path::absolute(&args.folder).context("cannot find the folder")?;
    let trust = UserTrust { is_trusted: args.trust, ..UserTrust::of_user() };
    let options = prose_debug::Options { folder, trust };
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
    server: impl FnOnce(Options, Input) -> F,
) -> anyhow::Result<ExitCode> {
    let options = Options { folder: folder.to_owned(), offline, trust: UserTrust::of_user() };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the event loop")?;
    let mut interrupts = Interrupts::listen();
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let served = runtime.block_on(async {
        let ended = Arc::clone(&is_interrupted);
        let interrupted = Box::pin(async move {
            interrupts.interrupted(pending()).await;
            ended.store(true, Ordering::Relaxed);
        });
        server(options, Input { stdin: tokio::io::stdin(), interrupted }).await
    });
    // A thread that waits for standard input cannot be ended otherwise.
    runtime.shutdown_background();
    if is_interrupted.load(Ordering::Relaxed) {
        // A client that had not said anything yet is no failure then.
        return Ok(Status::Clean.into());
    }
    served.with_context(|| format!("cannot serve `{}`", folder.display()))?;
    Ok(Status::Clean.into())
}

/// Standard input, which ends at a signal, as if the client had closed it: the runs of the server end as they do then, and can be answered and resumed.
struct Input {
    stdin: Stdin,
    interrupted: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        wake: &mut Wake<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.interrupted.as_mut().poll(wake) {
            Poll::Ready(()) => {
                // It is read again, and has ended for good.
                self.interrupted = Box::pin(std::future::ready(()));
                Poll::Ready(Ok(()))
            }
            Poll::Pending => Pin::new(&mut self.stdin).poll_read(wake, buffer),
        }
    }
}

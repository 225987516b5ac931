//! The `prose` command. A library, so that the end-to-end tests have a binary of their own that is built together with them.

mod answer;
mod cache;
mod candidates;
mod check;
mod cli;
mod cluster;
mod color;
mod command_error;
mod compile;
mod completions;
mod doctor;
mod example;
mod examples;
mod explain;
mod fetch;
mod finding;
mod fmt;
mod fork;
mod gather;
mod graph;
mod init;
mod keyboard;
mod lock;
mod lsp;
mod man;
mod outdated;
mod output;
#[cfg(unix)]
mod pager;
mod panic;
mod run;
mod runs;
mod screen;
mod serve;
mod serve_registry;
mod sources;
mod status;
mod terminal;
mod test;
mod top;
mod trust;
mod update;
mod vendor;
mod watch;

use clap::Parser;
use std::fmt::Display;
use std::io;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;

use crate::cli::runs::{RunsArgs, RunsCommand};
use crate::cli::{Cli, Command};
use crate::status::Status;
use crate::terminal::{ERROR, Terminal, WARNING};

/// Syntax trees consist of many small allocations, for which threads wait for each other in the system's allocator: with glibc's, two threads check a
/// folder 1.55 times as fast as one, with this one 1.85 times as fast.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the command of this process's arguments.
pub fn main() -> ExitCode {
    prose_harness::supervisor::enter();
    panic::install_hook();
    if let Some(code) = completions::complete() {
        return code;
    }
    let cli = Cli::parse();
    let terminal = Terminal::new(cli.color);
    let code = code_of(&cli, &terminal);
    if let Some(problem) = prose_telemetry::finish() {
        // The exit code is that of the command, and what cannot be written has no reader.
        let _ = writeln!(terminal.stderr(), "{WARNING}warning{WARNING:#}: {problem}");
    }
    code
}

/// Runs a command, and reports why it failed.
fn code_of(cli: &Cli, terminal: &Terminal) -> ExitCode {
    match panic::caught(|| run(&cli.command, terminal)) {
        Ok(Ok(code)) => code,
        // The reader has closed the output, as in `prose explain | head`.
        Ok(Err(error)) if is_broken_pipe(&error) => Status::Clean.into(),
        Ok(Err(error)) => fail(terminal, format_args!("{error:#}")),
        Err(defect) => fail(terminal, defect),
    }
}

fn run(command: &Command, terminal: &Terminal) -> anyhow::Result<ExitCode> {
    const UNWRITABLE: &str = "cannot write the output";
    let status = match command {
        Command::Init(args) => init::run(args, terminal).context(UNWRITABLE)?,
        Command::New(args) => init::new(args, terminal).context(UNWRITABLE)?,
        Command::Run(args) => return Ok(run::run(args, terminal).context(UNWRITABLE)?.into()),
        Command::Resume(args) => return Ok(run::resume(args, terminal).context(UNWRITABLE)?.into()),
        Command::Describe(args) => {
            return Ok(run::estimate::describe(args, terminal).context(UNWRITABLE)?.into());
        }
        Command::Estimate(args) => return Ok(run::estimate::run(args, terminal).context(UNWRITABLE)?.into()),
        Command::Test(args) => return test::run(args, terminal).context(UNWRITABLE),
        Command::Runs(RunsArgs { on, command: RunsCommand::Answer(args), .. }) => {
            return Ok(answer::run(args, on.as_deref(), terminal).context(UNWRITABLE)?.into());
        }
        Command::Runs(RunsArgs { on, command: RunsCommand::Fork(args), .. }) => {
            let forked = match on {
                None => fork::run(args, terminal),
                Some(on) => cluster::forked::fork(on, args, terminal),
            };
            return Ok(forked.context(UNWRITABLE)?.into());
        }
        Command::Top(args) => top::run(args, terminal).context(UNWRITABLE)?,
        Command::Runs(args) => runs::run(args, terminal).context(UNWRITABLE)?,
        Command::Cluster(args) => cluster::run(args, terminal).context(UNWRITABLE)?,
        Command::Worker(args) => cluster::worker::run(args, terminal).context(UNWRITABLE)?,
        Command::Trust(args) => trust::run(args, terminal).context(UNWRITABLE)?,
        Command::Examples(args) => examples::run(args, terminal).context(UNWRITABLE)?,
        Command::Check(args) => check::run(args, terminal).context(UNWRITABLE)?,
        Command::Compile(args) => compile::run(args, terminal).context(UNWRITABLE)?,
        Command::Graph(args) => graph::run(args, terminal).context(UNWRITABLE)?,
        Command::Fmt(args) => fmt::run(args, terminal).context(UNWRITABLE)?,
        Command::Explain(args) => explain::run(args, terminal).context(UNWRITABLE)?,
        Command::Doctor(args) => doctor::run(args, terminal).context(UNWRITABLE)?,
        Command::Lsp(args) => return lsp::run(args, terminal),
        Command::Mcp(args) => return serve::mcp(args),
        Command::Acp(args) => return serve::acp(args),
        Command::Dap(args) => return serve::dap(args, terminal),
        Command::Fetch(args) => fetch::run(args, terminal).context(UNWRITABLE)?,
        Command::Lock(args) => lock::run(args, terminal).context(UNWRITABLE)?,
        Command::Outdated(args) => outdated::run(args, terminal).context(UNWRITABLE)?,
        Command::Vendor(args) => vendor::run(args, terminal).context(UNWRITABLE)?,
        Command::Cache(args) => cache::run(args, terminal).context(UNWRITABLE)?,
        Command::Update => update::run(terminal).context(UNWRITABLE)?,
        Command::Completions(args) => completions::run(args).context(UNWRITABLE)?,
        Command::Man(args) => man::run(args, terminal).context(UNWRITABLE)?,
        Command::ServeRegistry(args) => serve_registry::run(args, terminal)?,
    };
    Ok(status.into())
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn fail(terminal: &Terminal, message: impl Display) -> ExitCode {
    // If this cannot be written either, no reader is left.
    let _ = writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {message}");
    Status::Trouble.into()
}

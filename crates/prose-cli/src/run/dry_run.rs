//! Writes the prompts of a dry run.

use std::io::{self, Write};

use prose_run::{DryRun, DryRunPrompt, RunRequest};
use prose_vm::event::RunStatus;
use prose_vm::place::NamedLine;

use super::interrupt::Interrupts;
use super::printed;
use crate::cli::run::RunArgs;
use crate::run::ended::{Ended, refuse};
use crate::terminal::{HELP, Terminal, WARNING, counted};

/// Writes the prompts of sessions and questions.
pub(super) fn write(
    request: RunRequest,
    args: &RunArgs,
    interrupts: &mut Interrupts,
    terminal: &Terminal,
) -> io::Result<Ended> {
    let prepared = match prose_run::prepare(request) {
        Ok(prepared) => prepared,
        Err(failure) => return refuse(terminal, &failure.to_string()),
    };
    if prepared.isolates {
        writeln!(terminal.stderr(), "{}", prose_run::ISOLATION)?;
    }
    let mut written = Ok(());
    let mut number = 0;
    let mut report = |line: Option<NamedLine>, reported: DryRun<'_>| {
        if written.is_err() {
            return;
        }
        let line = line.map_or(String::new(), |line| line.to_string());
        written = match reported {
            DryRun::Prompt(prompt) => {
                number += 1;
                write_prompt(number, &line, &prompt, terminal)
            }
            DryRun::Warning(message) => {
                let message = printed::shown(message);
                writeln!(terminal.stderr(), "{WARNING}warning{WARNING:#}: {line}: {message}")
            }
        };
    };
    let over = async {
        match args.runner.timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let interrupted = Box::pin(interrupts.interrupted(over));
    let finished = prepared.rehearse([], interrupted, &mut report);
    written?;
    let end = match finished {
        Ok(end) => end,
        Err(failure) => return refuse(terminal, &failure.to_string()),
    };
    let mut stderr = terminal.stderr();
    let prompts = counted(number as usize, "prompt");
    writeln!(stderr, "{prompts}; nothing was sent, and replies were generated.")?;
    match end.status {
        RunStatus::Completed => Ok(Ended::Completed),
        RunStatus::Interrupted | RunStatus::Waiting => Ok(Ended::Interrupted),
        RunStatus::Failed => {
            if let Some(error) = end.error {
                writeln!(
                    stderr,
                    "{WARNING}warning{WARNING:#}: with these replies the program would fail at line {}: {}",
                    error.line,
                    printed::shown(&error.to_string())
                )?;
            }
            Ok(Ended::Failed)
        }
    }
}

fn write_prompt(number: u32, line: &str, prompt: &DryRunPrompt<'_>, terminal: &Terminal) -> io::Result<()> {
    let mut out = terminal.stdout();
    writeln!(out, "{HELP}== {number}: {line}{}{HELP:#}", prompt.heading())?;
    writeln!(out, "{}", printed::shown(prompt.prompt()))?;
    if let Some(system) = prompt.system() {
        writeln!(out, "\nSystem: {}", printed::shown(&system))?;
    }
    writeln!(out)
}

//! `prose completions`: scripts with which shells complete command lines of `prose`, and the answers to them.
//!
//! A script starts `prose -- WORD…` with the variable [`VARIABLE`], so that a shell offers what is there when somebody types. The words are those of the
//! command line up to the cursor.

mod shells;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;

use crate::cli::Cli;
use crate::cli::shell::{CompletionsArgs, Shell};
use crate::panic::caught;
use crate::status::Status;
use crate::terminal::raw_stdout;

/// The variable that makes `prose` complete a command line for the shell that it names.
const VARIABLE: &str = "PROSE_COMPLETE";

const SHELLS: Shells<'static> = Shells(&[
    &shells::Bash,
    &shells::Described(&clap_complete::env::Fish),
    &shells::Nushell,
    &shells::Described(&clap_complete::env::Powershell),
    &shells::Zsh,
]);

/// Writes the script of a shell.
pub(crate) fn run(args: &CompletionsArgs) -> io::Result<Status> {
    let name = match args.shell {
        Shell::Bash => "bash",
        Shell::Fish => "fish",
        Shell::Nushell => "nushell",
        Shell::Powershell => "powershell",
        Shell::Zsh => "zsh",
    };
    let mut script = Vec::new();
    if let Some(shell) = SHELLS.completer(name) {
        shell.write_registration(VARIABLE, "prose", "prose", &completer(), &mut script)?;
    }
    raw_stdout().write_all(&script)?;
    Ok(Status::Clean)
}

/// How the script starts `prose`: by its name if it was started so, since it may be updated or moved.
fn completer() -> String {
    let started = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    if started.components().count() < 2 {
        return "prose".to_owned();
    }
    std::path::absolute(&started).unwrap_or(started).to_string_lossy().into_owned()
}

/// Completes a command line, if this process was started for that. It never reports an error, which would appear in the line that somebody types.
pub(crate) fn complete() -> Option<ExitCode> {
    std::env::var_os(VARIABLE).filter(|shell| !shell.is_empty())?;
    let environment = CompleteEnv::with_factory(Cli::command).var(VARIABLE).shells(SHELLS).completer("prose");
    let here = std::env::current_dir().ok();
    match caught(|| environment.try_complete(std::env::args_os(), here.as_deref())) {
        Ok(Ok(false)) => None,
        Ok(Ok(true)) => Some(ExitCode::SUCCESS),
        _ => Some(ExitCode::FAILURE),
    }
}

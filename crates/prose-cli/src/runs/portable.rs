//! `prose runs export` and `prose runs import`.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::Path;

use prose_project::Settings;
use prose_project::runnable::{Refusal, check_settings};
use prose_run::{Project, Redaction, recorded_run};
use prose_state::portable;
use prose_syntax::text::enumerated;
use prose_vm::event::StateMode;

use crate::cli::runs::ImportedState;
use crate::command_error::CommandError;
use crate::terminal::{Terminal, counted, one_line};

/// Writes a run to a file.
pub(crate) fn export(
    project: &Project,
    run: &str,
    file: &Path,
    is_forced: bool,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    let id = project.find_run(run)?;
    let recorded = recorded_run(project, &id)?;
    let shown = file.to_string_lossy();
    if file.exists() && !is_forced {
        return Err(CommandError::Message(format!(
            "`{shown}` already exists; pass another file, or overwrite it with `--force`"
        )));
    }
    let rules = Settings::default().of(&project.root.join("program.prose"));
    // A mistake in the settings could be one in what is to be redacted.
    check_settings(&rules).map_err(|refusal| {
        CommandError::Message(match refusal {
            Refusal::Settings { path, line, column, message } => {
                format!("run {id} is not exported: fix {}:{line}:{column}: {message}", path.display())
            }
            other => format!("run {id} {other}"),
        })
    })?;
    let missing = Redaction::missing_variables(rules.config());
    if !missing.is_empty() {
        return Err(CommandError::Message(format!(
            "`run.redact` names {}, which {} not set here, so that its value cannot be found in the run; set it, or remove the name",
            enumerated(missing.iter().map(|name| format!("`${name}`")), "and"),
            if missing.len() == 1 { "is" } else { "are" }
        )));
    }
    let redaction = Redaction::of(rules.config());
    // A part of a run under the name of the file would look like a whole one.
    let partial = file.with_file_name(format!(
        ".{}.part",
        file.file_name().map_or(Cow::Borrowed("run"), |name| name.to_string_lossy())
    ));
    let words = |error: std::io::Error| CommandError::Message(format!("cannot write `{shown}`: {error}"));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    private(&mut options);
    let mut out = BufWriter::new(options.open(&partial).map_err(words)?);
    let exported = redaction.export(&recorded, &mut out);
    let exported = match exported.map_err(CommandError::from).and_then(|exported| {
        out.flush().map_err(words)?;
        std::fs::rename(&partial, file).map_err(words)?;
        Ok(exported)
    }) {
        Ok(exported) => exported,
        Err(error) => {
            let _ = std::fs::remove_file(&partial);
            return Err(error);
        }
    };
    let redacted = match exported.redacted {
        0 => "nothing redacted".to_owned(),
        count => format!("texts redacted in {}", counted(count as usize, "event")),
    };
    writeln!(
        terminal.stderr(),
        "Exported run {id} to `{}`: {}, {redacted}. It contains the prompts and replies of the run.",
        one_line(&shown),
        counted(exported.events as usize, "event")
    )?;
    Ok(())
}

/// A run may contain anything that its agents read.
#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn private(_: &mut OpenOptions) {}

/// Adds an exported run to the runs of a project.
pub(crate) fn import(
    project: &Project,
    file: &Path,
    state: Option<ImportedState>,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    let state = state.map(|state| match state {
        ImportedState::Filesystem => StateMode::Filesystem,
        ImportedState::Sqlite => StateMode::Sqlite,
        ImportedState::Postgres => StateMode::Postgres,
    });
    let id = portable::import(project, file, state)?;
    writeln!(terminal.stdout(), "imported {id}")?;
    Ok(())
}

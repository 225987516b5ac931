//! `prose runs export` and `prose runs import`.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use prose_project::Settings;
use prose_project::runnable::{Refusal, check_settings};
use prose_run::{Project, Redaction, recorded_run};
use prose_state::portable;
use prose_state::replay::RecordedRun;
use prose_syntax::text::enumerated;
use prose_vm::event::StateMode;

use crate::cli::runs::ImportedState;
use crate::command_error::CommandError;
use crate::terminal::{Terminal, WARNING, counted, one_line};

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
    refuse_existing(file, is_forced)?;
    let redaction = redaction(project, &format!("run {id} is not exported"))?;
    warn_of_damage(&recorded, terminal)?;
    let exported = write_whole(file, |out| Ok(redaction.export(&recorded, out)?))?;
    writeln!(
        terminal.stderr(),
        "Exported run {id} to `{}`: {}, {}. It contains the prompts and replies of the run.",
        one_line(&file.to_string_lossy()),
        counted(exported.events as usize, "event"),
        redacted(exported.redacted),
    )?;
    Ok(())
}

/// `texts redacted in 3 events`
pub(super) fn redacted(events: u64) -> String {
    match events {
        0 => "nothing redacted".to_owned(),
        count => format!("texts redacted in {}", counted(count as usize, "event")),
    }
}

/// Refuses to overwrite a file.
pub(super) fn refuse_existing(file: &Path, is_forced: bool) -> Result<(), CommandError> {
    // Also a link that leads nowhere is there.
    match file.symlink_metadata().is_ok() && !is_forced {
        true => Err(CommandError::Message(format!(
            "`{}` already exists; pass another file, or overwrite it with `--force`",
            file.to_string_lossy()
        ))),
        false => Ok(()),
    }
}

/// What the settings of a project redact. `refused` starts the message about a mistake in them.
pub(super) fn redaction(project: &Project, refused: &str) -> Result<Redaction, CommandError> {
    let rules = Settings::default().of(&project.root.join("program.prose"));
    // A mistake in the settings could be one in what is to be redacted.
    check_settings(&rules).map_err(|refusal| {
        CommandError::Message(match refusal {
            Refusal::Settings { path, line, column, message } => {
                format!("{refused}: fix {}:{line}:{column}: {message}", path.display())
            }
            other => format!("{refused}: {other}"),
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
    Ok(Redaction::of(rules.config()))
}

/// Writes a file that only this user can read, as a whole or not at all. What is no file, such as a device or a pipe, is written as it is, and a link is followed.
pub(super) fn write_whole<T>(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let shown = file.to_string_lossy();
    let words = |error: io::Error| CommandError::Message(format!("cannot write `{shown}`: {error}"));
    let existing = file.canonicalize().ok();
    if let Some(existing) = existing.as_ref().filter(|existing| !existing.is_file()) {
        let mut out = BufWriter::new(OpenOptions::new().write(true).open(existing).map_err(words)?);
        let written = write(&mut out)?;
        out.flush().map_err(words)?;
        return Ok(written);
    }
    let target = existing.as_deref().unwrap_or(file);
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A part of a run under the name of the file would look like a whole one. The file is a new one, so that nobody else can read what is written.
    let mut builder = tempfile::Builder::new();
    let partial = builder.prefix(".prose-").suffix(".part").tempfile_in(folder).map_err(words)?;
    let mut out = BufWriter::new(partial);
    let written = write(&mut out)?;
    let partial = out.into_inner().map_err(|error| words(error.into_error()))?;
    partial.persist(target).map_err(|error| words(error.error))?;
    Ok(written)
}

/// Warns of a damaged line of a journal, after which nothing is read.
pub(super) fn warn_of_damage(run: &RecordedRun, terminal: &Terminal) -> io::Result<()> {
    if let Ok(Some(damage)) = run.damage() {
        let id = &run.head.run;
        writeln!(
            terminal.stderr(),
            "{WARNING}warning{WARNING:#}: run {id}: {damage}; what happened after it is not read"
        )?;
    }
    Ok(())
}

/// Adds an exported run to the runs of a project, or to those of a server.
pub(crate) fn import(
    project: &Project,
    file: &Path,
    state: Option<ImportedState>,
    is_on_server: bool,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    let state = match (state, is_on_server) {
        (None, false) => None,
        (None | Some(ImportedState::Postgres), true) | (Some(ImportedState::Postgres), false) => {
            Some(StateMode::Postgres)
        }
        (Some(ImportedState::Filesystem), false) => Some(StateMode::Filesystem),
        (Some(ImportedState::Sqlite), false) => Some(StateMode::Sqlite),
        (Some(ImportedState::Filesystem | ImportedState::Sqlite), true) => {
            return Err(CommandError::Message(
                "with `--on`, a run is imported into the database of the server; leave `--state` out"
                    .to_owned(),
            ));
        }
    };
    let id = portable::import(project, file, state)?;
    writeln!(terminal.stdout(), "imported {id}")?;
    Ok(())
}

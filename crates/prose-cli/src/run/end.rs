//! What is written when a run has ended: its outputs, its errors, and how to continue.

use std::io::{self, Write};
use std::path::Path;

use prose_project::files::shown;
use prose_run::{FinishedRun, FromRun, Notifier, how_to_continue};
use prose_view::View;
use prose_vm::error::ErrorKind;
use prose_vm::event::{RunEnd, RunStatus};
use prose_vm::value::Value;
use smol_str::SmolStr;

use super::ended::Ended;
use super::failures::{Failures, Origin};
use super::{printed, replayed, waiting};
use crate::runs::census;
use crate::terminal::{ERROR, HELP, Terminal, WARNING, counted, one_line};

/// The status of a run that has ended.
pub(crate) fn status_of(end: &RunEnd, is_strict: bool) -> Ended {
    match (&end.error, end.status) {
        (None, _) if is_strict && end.failures > 0 => Ended::Failed,
        (None, _) => Ended::Completed,
        (Some(_), RunStatus::Waiting) => Ended::Waiting,
        (Some(error), RunStatus::Interrupted) if error.kind == ErrorKind::NotRecorded => Ended::NotRecorded,
        (Some(_), RunStatus::Interrupted) => Ended::Interrupted,
        (Some(_), _) => Ended::Failed,
    }
}

/// What the end of a run is reported with.
pub(super) struct EndReport<'a> {
    pub(super) run: &'a str,
    /// The program, as named in commands.
    pub(super) program: &'a str,
    /// The folder of the run, if it has one.
    pub(super) folder: Option<&'a Path>,
    /// The run that it takes answers from.
    pub(super) from: Option<&'a FromRun>,
    /// Whether an earlier execution of the same run was continued.
    pub(super) continues: bool,
    /// Whether its state is kept in files.
    pub(super) is_kept: bool,
    pub(super) is_quiet: bool,
    /// What its errors come from.
    pub(super) failed: &'a Failures,
}

impl EndReport<'_> {
    /// Writes how the run has ended, and what can be done next. Returns how the command ends.
    pub(super) fn write(
        &self,
        finished: &FinishedRun,
        ended: Ended,
        view: &View,
        terminal: &Terminal,
    ) -> io::Result<Ended> {
        let EndReport { run, from, is_kept, .. } = *self;
        let end = &finished.end;
        let mut stderr = terminal.stderr();
        if self.continues && !self.is_quiet {
            let FinishedRun { reused, ran, .. } = finished;
            let reused = counted(*reused as usize, "result");
            writeln!(stderr, "Reused {reused} from the earlier execution, ran {ran}.")?;
        }
        if let Some(from) = from.filter(|_| !self.is_quiet) {
            replayed::write_reused(from, finished, terminal)?;
        }
        if !self.is_quiet {
            census::write_end(end, view, &mut stderr)?;
        }
        match (&end.error, ended) {
            (None, _) => {}
            (Some(_), Ended::Waiting) => waiting::write(run, end, is_kept, terminal)?,
            (Some(error), Ended::NotRecorded) => match (from, &finished.not_recorded) {
                (Some(from), Some(request)) => {
                    replayed::write_not_recorded(from, request, self.program, terminal)?
                }
                _ => writeln!(stderr, "{WARNING}not recorded{WARNING:#}: {}", one_line(&error.message))?,
            },
            (Some(error), Ended::Interrupted) => {
                writeln!(stderr, "{WARNING}stopped{WARNING:#}: {}", one_line(&error.message))?;
            }
            (Some(error), _) => {
                let place = if error.line > 0 { format!(" at line {}", error.line) } else { String::new() };
                let error = error.to_string();
                writeln!(
                    stderr,
                    "{ERROR}error{ERROR:#}: the program failed{place}: {}",
                    printed::shown(&error)
                )?;
            }
        }
        if let Some(error) = end.error.as_ref().filter(|_| is_kept && ended == Ended::Failed)
            && let Some(prompt) = self.failed.prompt_of(error)
        {
            let path = self.folder.unwrap_or(Path::new("")).join(prompt);
            let path = shown(&path);
            writeln!(stderr, "{HELP}help{HELP:#}: its prompt is in `{}`", one_line(&path.to_string_lossy()))?;
        }
        let is_replay = from.is_some_and(|from| !from.is_live);
        if let Some(error) =
            end.error.as_ref().filter(|_| (ended != Ended::Waiting || !is_kept) && !is_replay)
        {
            let (before, command) = match is_kept {
                true => ("", format!("prose resume {run}")),
                false => ("save the narration to FILE; ", "prose resume --transcript FILE".to_owned()),
            };
            let help = how_to_continue(&command, &error.message);
            match help.filter(|_| ended == Ended::Interrupted && error.kind == ErrorKind::Budget) {
                Some(help) => writeln!(stderr, "{HELP}help{HELP:#}: {before}{help}")?,
                None => {
                    let failed = (ended == Ended::Failed).then(|| self.failed.origin_of(error));
                    how_to_resume(run, is_kept, failed, terminal)?;
                }
            }
        }
        match &finished.unrecorded {
            None => Ok(ended),
            Some(error) => {
                let error = one_line(&error.to_string()).into_owned();
                writeln!(
                    stderr,
                    "{ERROR}error{ERROR:#}: the program has completed, but its end cannot be recorded: {error}"
                )?;
                if is_kept {
                    writeln!(
                        stderr,
                        "{HELP}help{HELP:#}: save the output above; `prose resume {run}` records the end without running sessions again"
                    )?;
                }
                Ok(Ended::Unrecorded)
            }
        }
    }
}

/// Writes the named outputs one after the other, or the value of a program that has none; with `only` the value of that output.
pub(crate) fn write_outputs(end: &RunEnd, only: Option<&SmolStr>, terminal: &Terminal) -> io::Result<()> {
    if let Some(only) = only {
        if let Some((_, value)) = end.outputs.iter().find(|(name, _)| name == only) {
            printed::write(&value.to_string())?;
        }
        return io::stdout().flush();
    }
    for (name, value) in &end.outputs {
        let value = value.to_string();
        let separator = if value.contains('\n') { '\n' } else { ' ' };
        write!(terminal.stdout(), "{HELP}{name}:{HELP:#}{separator}")?;
        printed::write(&value)?;
    }
    if !matches!(end.value, Value::Null) {
        printed::write(&end.value.to_string())?;
    }
    io::stdout().flush()
}

/// Writes how to resume a run; `failed` is what it failed at.
pub(super) fn how_to_resume(
    run: &str,
    is_kept: bool,
    failed: Option<Origin>,
    terminal: &Terminal,
) -> io::Result<()> {
    // Another answer helps with what an agent failed by, and only another program with the rest.
    let fails_again = failed.filter(|failed| {
        matches!(
            failed.kind,
            ErrorKind::Thrown
                | ErrorKind::Assertion
                | ErrorKind::UnknownName
                | ErrorKind::Type
                | ErrorKind::Constant
                | ErrorKind::RecursionLimitExceeded
                | ErrorKind::IterationLimitExceeded
                | ErrorKind::Import
                | ErrorKind::UnsafePath
        )
    });
    let help = match (is_kept, fails_again) {
        (true, None) => format!("resume it with `prose resume {run}`; recorded results are reused"),
        (true, Some(Origin { program, .. })) => {
            let program = program.map_or("the program".to_owned(), |name| format!("`{}`", one_line(&name)));
            format!("fix {program}, then run `prose resume {run} --accept-changes`")
        }
        (false, _) => "save the narration to FILE, then run `prose resume --transcript FILE`".to_owned(),
    };
    writeln!(terminal.stderr(), "{HELP}help{HELP:#}: {help}")
}

/// Waits for the notifications of a run, and warns of those that failed.
pub(super) fn warn_of(notifier: &Notifier, terminal: &Terminal) -> io::Result<()> {
    notifier.settle().iter().try_for_each(|problem| {
        writeln!(terminal.stderr(), "{WARNING}warning{WARNING:#}: {}", printed::shown(problem))
    })
}

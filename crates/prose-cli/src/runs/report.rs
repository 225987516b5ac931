//! `prose runs report`.

use std::io::Write;
use std::path::PathBuf;

use prose_report::ReportError;
use prose_run::{Project, recorded_run};

use crate::cli::runs::ReportArgs;
use crate::command_error::CommandError;
use crate::runs::details::details;
use crate::runs::portable::{redacted, redaction, refuse_existing, warn_of_damage, write_whole};
use crate::terminal::{self, Terminal, counted, one_line};

/// Writes the report on some runs.
pub(super) fn report(project: &Project, args: &ReportArgs, terminal: &Terminal) -> Result<(), CommandError> {
    let names = match args.runs.is_empty() {
        true => vec![details(project, None).map_err(CommandError::Message)?.summary.id.to_string()],
        false => args.runs.clone(),
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let redaction = redaction(project, "no report is written")?;
    let file = match &args.output {
        Some(file) => file.clone(),
        None => PathBuf::from(format!("{}.html", recorded_run(project, names[0])?.head.run)),
    };
    if file.as_os_str() == "-" {
        let mut out = terminal::raw_stdout();
        // A reader that has closed the output is no error.
        return match prose_report::report(project, &names, &redaction, &mut out) {
            Ok(_) => Ok(out.flush()?),
            Err(ReportError::Write(error)) => Err(CommandError::Output(error)),
            Err(error) => Err(CommandError::Message(error.to_string())),
        };
    }
    refuse_existing(&file, args.force)?;
    for name in &names {
        warn_of_damage(&recorded_run(project, name)?, terminal)?;
    }
    let reported = write_whole(&file, |out| {
        prose_report::report(project, &names, &redaction, out)
            .map_err(|error| CommandError::Message(error.to_string()))
    })?;
    let runs = match &reported.runs[..] {
        [run] => format!("run {run}"),
        runs => format!("runs {}", runs.join(", ")),
    };
    writeln!(
        terminal.stderr(),
        "Wrote the report on {runs} to `{}`: {}, {}. It contains the prompts and replies of {}.",
        one_line(&file.to_string_lossy()),
        counted(reported.sessions, "session"),
        redacted(reported.redacted),
        if reported.runs.len() == 1 { "the run" } else { "the runs" },
    )?;
    Ok(())
}

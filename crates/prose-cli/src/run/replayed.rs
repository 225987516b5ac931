//! `--replay`: what is said of a run that takes its answers from an earlier one.

use std::io::{self, IsTerminal, Write};

use prose_harness::replay::what;
use prose_project::files::shown;
use prose_project::shell::word;
use prose_run::{FinishedRun, FromRun, NearestRequest, asked_text, nearest_request};
use prose_vm::effect::Request;

use crate::output::diff::{DiffTarget, render_between};
use crate::run::printed;
use crate::terminal::{HELP, Terminal, WARNING, counted, one_line};

/// Writes how many answers came from the earlier run.
pub(crate) fn write_reused(from: &FromRun, finished: &FinishedRun, terminal: &Terminal) -> io::Result<()> {
    let run = &from.recorded.head.run;
    let FinishedRun { reused, ran, .. } = finished;
    let results = counted(*reused as usize, "result");
    match from.is_live {
        true => writeln!(terminal.stderr(), "Reused {results} of run {run}, ran {ran}."),
        false => writeln!(terminal.stderr(), "Replayed {results} of run {run}; no agent was asked."),
    }
}

/// Writes what the program asks that the earlier run does not have, next to the request that is most like it.
pub(crate) fn write_not_recorded(
    from: &FromRun,
    request: &Request,
    program: &str,
    terminal: &Terminal,
) -> io::Result<()> {
    let run = &from.recorded.head.run;
    // An exported run need not be one of this folder.
    let name = match from.recorded.is_exported() {
        true => shown(&from.recorded.path).to_string_lossy().into_owned(),
        false => run.to_string(),
    };
    let asked = asked_text(&request.effect);
    let what = what(request.effect.kind());
    let mut stderr = terminal.stderr();
    writeln!(
        stderr,
        "{WARNING}not recorded{WARNING:#}: run {run} has no answer for the {what} at {} ({})",
        request.line(),
        request.place
    )?;
    match nearest_request(&from.recorded, request) {
        Ok(Some(nearest)) if nearest.text == asked => {
            let why = match nearest.is_answered {
                true => ", with other values or for another place",
                false => " and had no answer when the run stopped",
            };
            writeln!(stderr, "The same {what} was asked {}{why}.", recorded_at(&nearest))?;
        }
        Ok(Some(nearest)) => {
            let look =
                DiffTarget { styled: terminal.stdout_is_styled(), on_terminal: io::stderr().is_terminal() };
            let before = format!("recorded {}", recorded_at(&nearest));
            let now = format!("asked at {} ({})", request.line(), request.place);
            stderr.write_all(render_between([&before, &now], &nearest.text, &asked, look).as_bytes())?;
        }
        Ok(None) => writeln!(stderr, "It has no other {what} either:\n{}", printed::shown(&asked))?,
        Err(error) => writeln!(stderr, "{}", one_line(&error.to_string()))?,
    }
    writeln!(
        stderr,
        "{HELP}help{HELP:#}: `prose run {} --replay {} --live` asks the harness from there on",
        word(program),
        word(&name)
    )
}

/// `at line 4 (s2, event 12)`
fn recorded_at(nearest: &NearestRequest) -> String {
    let line = nearest.line.as_ref().map_or(String::new(), |line| format!("at {line} "));
    format!("{line}({}, event {})", nearest.place, nearest.seq)
}

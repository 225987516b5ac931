//! Results of tests for people.

use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use prose_project::position::Positions;
use prose_test::{AttemptEnd, Coverage, Mismatch, Summary, TestFile, VariantResult};

use crate::output::diff::{DiffTarget, render_between};
use crate::output::github;
use crate::output::repository::Repository;
use crate::terminal::{BOLD, ERROR, Terminal, WARNING, one_line, stdout_is_terminal};

const PASSED: Style = AnsiColor::Green.on_default();

/// The most lines of a difference that are shown.
const MAX_LINES: usize = 60;

/// Writes each result in a line, with a heading for each file.
#[derive(Default)]
pub(super) struct ResultList {
    file: Option<PathBuf>,
}

impl ResultList {
    pub(super) fn write(
        &mut self,
        file: &TestFile,
        result: &VariantResult,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.file.as_deref() != Some(file.path.as_path()) {
            let path = file.path.to_string_lossy();
            writeln!(out, "{BOLD}{}{BOLD:#}", one_line(&path))?;
            self.file = Some(file.path.clone());
        }
        let name = one_line(&result.id);
        let repeated = match result.attempts.len() {
            0 | 1 => String::new(),
            runs => format!(" ({} of {runs} runs passed)", result.passed()),
        };
        match &result.skipped {
            Some(reason) => writeln!(out, "  {WARNING}skip{WARNING:#} {name}: {}", one_line(reason)),
            None if result.is_stopped() => writeln!(out, "  {WARNING}stop{WARNING:#} {name}"),
            None if result.is_passed() => writeln!(out, "  {PASSED}pass{PASSED:#} {name}{repeated}"),
            None => {
                let wanted = match result.attempts.len() {
                    0 | 1 => String::new(),
                    _ => format!(", expected at least {}", result.at_least),
                };
                writeln!(out, "  {ERROR}FAIL{ERROR:#} {name}{}", repeated.replace(')', &format!("{wanted})")))
            }
        }
    }
}

/// Writes why cases failed.
pub(super) fn write_failures(summary: &Summary, terminal: &Terminal, out: &mut dyn Write) -> io::Result<()> {
    let look = DiffTarget { styled: terminal.stdout_is_styled(), on_terminal: stdout_is_terminal() };
    for file in &summary.files {
        let positions = Positions::new(&file.file.text);
        let path = file.path.to_string_lossy();
        let path = one_line(&path);
        for result in file.results.iter().filter(|result| result.is_failed()) {
            let start = positions.position(result.range.start());
            let name = one_line(&result.id);
            let run = match result.first_failure() {
                Some((number, _)) if result.attempts.len() > 1 => format!(", run {number}"),
                _ => String::new(),
            };
            writeln!(out, "\n{ERROR}FAIL{ERROR:#} {BOLD}{name}{BOLD:#}{run}")?;
            match result.first_failure() {
                Some((_, AttemptEnd::Failed(mismatches))) => {
                    for mismatch in mismatches {
                        let start = positions.position(mismatch.range.start());
                        writeln!(
                            out,
                            "  {path}:{}:{}: {}",
                            start.line,
                            start.column,
                            indented(&mismatch.message)
                        )?;
                        write_difference(mismatch, look, out)?;
                    }
                }
                Some((_, AttemptEnd::Error(message))) => {
                    writeln!(out, "  {path}:{}:{}: {}", start.line, start.column, indented(message))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn write_difference(mismatch: &Mismatch, look: DiffTarget, out: &mut dyn Write) -> io::Result<()> {
    let ended = |text: &str| if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let text = match (&mismatch.expected, &mismatch.actual) {
        (Some(expected), Some(actual)) => {
            render_between(["expected", "actual"], &ended(expected), &ended(actual), look)
        }
        (None, Some(actual)) => ended(actual),
        _ => return Ok(()),
    };
    let mut lines = text.lines();
    for line in lines.by_ref().take(MAX_LINES) {
        // The lines of a diff are safe for a terminal already.
        let line = if mismatch.expected.is_some() { line.into() } else { one_line(line) };
        writeln!(out, "    {line}")?;
    }
    match lines.count() {
        0 => Ok(()),
        more => writeln!(out, "    … {more} more lines"),
    }
}

/// A message whose further lines are indented.
fn indented(message: &str) -> String {
    let mut lines = message.trim_end().lines();
    let mut shown = one_line(lines.next().unwrap_or_default()).into_owned();
    for line in lines {
        shown.push_str("\n    ");
        shown.push_str(&one_line(line));
    }
    shown
}

/// Writes annotations of GitHub Actions.
pub(super) fn write_annotations(
    summary: &Summary,
    repository: &Repository,
    out: &mut dyn Write,
) -> io::Result<()> {
    for file in &summary.files {
        let positions = Positions::new(&file.file.text);
        let path = repository.path(&file.path);
        for result in file.results.iter().filter(|result| result.is_failed()) {
            let mut annotate = |range: prose_syntax::TextRange, message: &str| {
                let line = positions.position(range.start()).line;
                github::write_error(&path, line, &format!("{} failed", result.id), message, out)
            };
            match result.first_failure() {
                Some((_, AttemptEnd::Failed(mismatches))) => {
                    mismatches.iter().try_for_each(|mismatch| annotate(mismatch.range, &mismatch.message))?;
                }
                Some((_, AttemptEnd::Error(message))) => annotate(result.range, message)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Writes which statements and branches were executed.
pub(super) fn write_coverage(coverage: &Coverage, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{BOLD}Coverage{BOLD:#}")?;
    for file in coverage.files() {
        let path = prose_project::files::shown(&file.path);
        let (path, all) = (path.to_string_lossy(), file.statements.len());
        write!(out, "  {}: {} of {all} statements", one_line(&path), file.executed())?;
        if !file.branches.is_empty() {
            write!(out, ", {} of {} branches", file.taken(), file.branches.len())?;
        }
        match file.missing_lines() {
            missing if missing.is_empty() => writeln!(out)?,
            missing => writeln!(out, "; lines not executed: {missing}")?,
        }
        for branch in file.branches.iter().filter(|branch| branch.hits == 0) {
            writeln!(out, "    line {}: `{}` not taken", branch.line, one_line(&branch.name))?;
        }
    }
    Ok(())
}

/// Writes how many cases passed.
pub(super) fn write_summary(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let counts = [
        (summary.passed(), "passed"),
        (summary.failed(), "failed"),
        (summary.skipped(), "skipped"),
        (summary.stopped(), "not run to the end"),
    ];
    let counts = counts.into_iter().filter(|(count, what)| *count > 0 || *what == "passed");
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    writeln!(out, "\n{} in {:.2} s", counts.join(", "), summary.took.as_secs_f64())
}

//! `prose fmt`: formats programs.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use prose_format::{apply, edits, range_edits};
use prose_project::files::{read_program, read_stdin};
use prose_project::parts::parts;
use prose_project::{Failure, walk};
use prose_syntax::{LineIndex, Parse, TextRange, TextSize, parse};

use crate::check::write::{Change, replace};
use crate::cli::{FmtArgs, STDIN};
use crate::output::diff;
use crate::status::Status;
use crate::terminal::{self, BOLD, ERROR, Terminal, WARNING, counted, one_line};

/// The results.
#[derive(Default)]
struct Outcome {
    formatted: usize,
    unchanged: usize,
    failures: Vec<Failure>,
    remarks: Vec<String>,
}

/// Formats the programs in the arguments.
pub(crate) fn run(args: &FmtArgs, terminal: &Terminal) -> io::Result<Status> {
    let mut outcome = Outcome::default();
    let (stdin, roots): (Vec<PathBuf>, Vec<PathBuf>) =
        args.paths.iter().cloned().partition(|path| path.as_os_str() == "-");
    if !stdin.is_empty() {
        format_stdin(args, terminal, &mut outcome)?;
    }
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let walked = walk::programs(&roots, threads);
    outcome.failures.extend(walked.failures);
    outcome.remarks.extend(walked.remarks);
    if args.lines.is_some() && walked.programs.len() > 1 {
        outcome.failures.push(Failure {
            path: PathBuf::from("--lines"),
            reason: "is about one program, and here are several".to_owned(),
        });
    } else {
        for path in &walked.programs {
            format_file(args, path, terminal, &mut outcome)?;
        }
    }
    outcome.report(args, terminal)?;
    Ok(outcome.status(args))
}

fn format_stdin(args: &FmtArgs, terminal: &Terminal, outcome: &mut Outcome) -> io::Result<()> {
    let read = read_stdin();
    format_text(args, Path::new(STDIN), read, terminal, outcome, |_, _, formatted| {
        // An editor also waits for the text of a formatted program.
        let mut stdout = terminal::raw_stdout();
        stdout.write_all(formatted.as_bytes())?;
        stdout.flush()
    })
}

fn format_file(args: &FmtArgs, path: &Path, terminal: &Terminal, outcome: &mut Outcome) -> io::Result<()> {
    format_text(args, path, read_program(path), terminal, outcome, |outcome, text, formatted| {
        if formatted == text {
            outcome.unchanged += 1;
            return Ok(());
        }
        match replace(path, text, formatted, Change::Format) {
            Ok(()) => outcome.formatted += 1,
            Err(reason) => outcome.failures.push(Failure { path: path.to_owned(), reason }),
        }
        Ok(())
    })
}

/// Shows the changes if requested; otherwise `write` stores the formatted text.
fn format_text(
    args: &FmtArgs,
    path: &Path,
    read: Result<String, String>,
    terminal: &Terminal,
    outcome: &mut Outcome,
    write: impl FnOnce(&mut Outcome, &str, &str) -> io::Result<()>,
) -> io::Result<()> {
    let text = match read {
        Ok(text) => text,
        Err(reason) => {
            outcome.failures.push(Failure { path: path.to_owned(), reason });
            return Ok(());
        }
    };
    let formatted = formatted(args, path, &text, outcome);
    if args.check || args.diff {
        return show(args, path, &text, &formatted, terminal, outcome);
    }
    write(outcome, &text, &formatted)
}

/// The formatted program, as far as it is selected.
fn formatted(args: &FmtArgs, path: &Path, text: &str, outcome: &mut Outcome) -> String {
    let mut all_edits = Vec::new();
    let mut is_whole = true;
    for part in parts(path, text) {
        let parsed = parse(part.text());
        is_whole &= !has_mistakes(&parsed);
        let edits = match &args.lines {
            None => edits(&parsed, part.text()),
            Some(lines) => match part.range_in_text(range_of(text, lines)) {
                Some(range) => range_edits(&parsed, part.text(), range),
                None => Vec::new(),
            },
        };
        all_edits.extend(edits.iter().map(|edit| part.edit_in_document(edit)));
    }
    if !is_whole {
        outcome.remarks.push(format!(
            "`{}` has errors, and statements with errors are not formatted; run `prose check` for details",
            path.to_string_lossy()
        ));
    }
    apply(text, &all_edits)
}

fn has_mistakes(parsed: &Parse) -> bool {
    parsed.diagnostics().iter().any(|found| found.code.as_str().starts_with('E'))
}

/// The byte range of lines, which are counted from 1.
fn range_of(text: &str, lines: &RangeInclusive<usize>) -> TextRange {
    let index = LineIndex::new(text);
    let start_of = |line: usize| TextSize::new(index.range(line.saturating_sub(1)).start as u32);
    TextRange::new(start_of(*lines.start()), start_of(lines.end() + 1))
}

fn show(
    args: &FmtArgs,
    path: &Path,
    old: &str,
    new: &str,
    terminal: &Terminal,
    outcome: &mut Outcome,
) -> io::Result<()> {
    if old == new {
        outcome.unchanged += 1;
        return Ok(());
    }
    outcome.formatted += 1;
    let name = path.to_string_lossy();
    let mut stdout = terminal.stdout();
    if args.diff {
        let look = diff::DiffTarget {
            styled: terminal.stdout_is_styled(),
            on_terminal: terminal::stdout_is_terminal(),
        };
        stdout.write_all(diff::render(&name, old, new, look).as_bytes())?;
    } else {
        writeln!(stdout, "{}", one_line(&name))?;
    }
    stdout.flush()
}

impl Outcome {
    fn status(&self, args: &FmtArgs) -> Status {
        if !self.failures.is_empty() {
            Status::Trouble
        } else if (args.check || args.diff) && self.formatted > 0 {
            Status::ErrorsFound
        } else {
            Status::Clean
        }
    }

    fn report(&self, args: &FmtArgs, terminal: &Terminal) -> io::Result<()> {
        let mut stderr = terminal.stderr();
        for Failure { path, reason } in &self.failures {
            let path = path.to_string_lossy();
            writeln!(stderr, "{ERROR}error{ERROR:#}: `{}` {}", one_line(&path), one_line(reason))?;
        }
        for remark in &self.remarks {
            writeln!(stderr, "{WARNING}warning{WARNING:#}: {}", one_line(remark))?;
        }
        if args.quiet || self.formatted + self.unchanged == 0 {
            return Ok(());
        }
        let verb = if args.check || args.diff { "would be formatted" } else { "formatted" };
        let formatted = format!("{} {verb}", counted(self.formatted, "program"));
        let summary = match (self.formatted, self.unchanged) {
            (0, _) => format!("{} already formatted", counted(self.unchanged, "program")),
            (_, 0) => formatted,
            (_, unchanged) => format!("{formatted}, {unchanged} already formatted"),
        };
        writeln!(stderr, "{BOLD}{summary}.{BOLD:#}")
    }
}

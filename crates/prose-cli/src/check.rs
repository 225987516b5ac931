//! `prose check`: finds programs, parses them on all processors, and writes what is wrong in one of several formats.

mod source;
mod walk;

use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use annotate_snippets::Renderer;
use prose_syntax::Severity;

use crate::Status;
use crate::cli::{CheckArgs, OutputFormat};
use crate::finding::{CheckedFile, Finding};
use crate::output::{concise, full, github, json, sarif};
use crate::panic::caught;
use crate::position::LineIndex;
use crate::terminal::{self, BOLD, ERROR, Terminal, WARNING, counted, one_line};

/// A file or folder that could not be checked.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Where.
    pub(crate) path: PathBuf,
    /// Why, as the rest of a sentence that starts with the path.
    pub(crate) reason: String,
}

/// Everything that a check has to tell, in the order of the paths.
struct Outcome {
    files: Vec<CheckedFile>,
    failures: Vec<Failure>,
    remarks: Vec<String>,
}

/// Checks what the arguments name and writes what is wrong.
pub(crate) fn run(args: &CheckArgs, terminal: &Terminal) -> io::Result<Status> {
    let outcome = check(args, terminal);
    let written = outcome.write(args, terminal);
    match written {
        // A reader who stops early, such as `head`, changes nothing about the programs.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(outcome.status()),
    }
}

fn check(args: &CheckArgs, terminal: &Terminal) -> Outcome {
    let renderer = (args.output_format == OutputFormat::Full)
        .then(|| full::renderer(terminal.stdout_is_styled(), terminal::width()));
    let renderer = renderer.as_ref();
    let is_stdin = |path: &&PathBuf| path.as_os_str() == "-";

    let mut results = Vec::new();
    if args.paths.iter().any(|path| is_stdin(&path)) {
        let path = args.stdin_filename.clone();
        results.push(
            source::read_stdin()
                .and_then(|text| check_text(&path, &text, renderer))
                .map_err(|reason| Failure { path, reason }),
        );
    }
    let roots: Vec<PathBuf> =
        args.paths.iter().filter(|path| !is_stdin(path)).map(|path| without_dot(path)).collect();
    let threads = args.threads.or_else(|| available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let walked = walk::programs(&roots, threads, |path| {
        let path = without_dot(path);
        source::read_file(&path)
            .and_then(|text| check_text(&path, &text, renderer))
            .map_err(|reason| Failure { path, reason })
    });
    results.extend(walked.results);

    let mut outcome = Outcome { files: Vec::new(), failures: walked.failures, remarks: walked.remarks };
    for result in results {
        match result {
            Ok(file) => outcome.files.push(file),
            Err(failure) => outcome.failures.push(failure),
        }
    }
    outcome.sort();
    if outcome.files.is_empty() && outcome.failures.is_empty() {
        let places: Vec<String> =
            roots.iter().map(|root| format!("`{}`", one_line(&root.to_string_lossy()))).collect();
        outcome.remarks.push(format!(
            "no programs found in {}: files named `*.prose` are looked for, except hidden and ignored ones",
            places.join(", ")
        ));
    }
    outcome
}

/// Checks one program. A panic fails this program alone; the others are still checked.
fn check_text(path: &Path, text: &str, renderer: Option<&Renderer>) -> Result<CheckedFile, String> {
    caught(|| {
        let parse = prose_syntax::parse(text);
        let diagnostics = parse.diagnostics();
        let mut file = CheckedFile { path: path.to_owned(), findings: Vec::new(), full: String::new() };
        if !diagnostics.is_empty() {
            let index = LineIndex::new(text);
            file.findings = diagnostics.iter().map(|diagnostic| Finding::new(diagnostic, &index)).collect();
            if let Some(renderer) = renderer {
                file.full = full::render(&file.name(), text, &index, diagnostics, renderer);
            }
        }
        file
    })
    .map_err(|defect| format!("could not be checked: {defect}"))
}

/// `./a.prose` is shown as `a.prose`; `.` alone stays.
fn without_dot(path: &Path) -> PathBuf {
    match path.strip_prefix(".") {
        Ok(rest) if !rest.as_os_str().is_empty() => rest.to_owned(),
        _ => path.to_owned(),
    }
}

impl Outcome {
    /// Brings everything into the order of the paths and drops what was reached twice, such as a file that is named and
    /// lies in a named folder.
    fn sort(&mut self) {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut seen = std::collections::HashSet::new();
        self.files.retain(|file| seen.insert(absolute(&file.path)));
        self.failures.sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
        seen.clear();
        self.failures.retain(|failure| seen.insert(absolute(&failure.path)));
        self.remarks.sort();
        self.remarks.dedup();
    }

    fn status(&self) -> Status {
        if !self.failures.is_empty() {
            Status::Trouble
        } else if self.count(Severity::Error) > 0 {
            Status::ErrorsFound
        } else {
            Status::Clean
        }
    }

    fn count(&self, severity: Severity) -> usize {
        self.files
            .iter()
            .flat_map(|file| &file.findings)
            .filter(|finding| finding.severity == severity)
            .count()
    }

    /// Findings go to standard output, everything about the check itself to standard error.
    fn write(&self, args: &CheckArgs, terminal: &Terminal) -> io::Result<()> {
        let mut stdout = BufWriter::with_capacity(1 << 16, terminal.stdout());
        self.write_findings(args.output_format, &mut stdout)?;
        stdout.flush()?;

        let mut stderr = BufWriter::new(terminal.stderr());
        self.write_failures(&mut stderr)?;
        if !args.quiet {
            self.write_remarks(&mut stderr)?;
            if args.output_format == OutputFormat::Full {
                self.write_summary(&mut stderr)?;
            }
        }
        stderr.flush()
    }

    fn write_findings(&self, format: OutputFormat, out: &mut dyn Write) -> io::Result<()> {
        match format {
            OutputFormat::Full => self.files.iter().try_for_each(|file| out.write_all(file.full.as_bytes())),
            OutputFormat::Concise => concise::write(&self.files, out),
            OutputFormat::Json => json::write(&self.files, out),
            OutputFormat::Github => github::write(&self.files, &self.failures, out),
            OutputFormat::Sarif => sarif::write(&self.files, &self.failures, out),
        }
    }

    fn write_failures(&self, out: &mut dyn Write) -> io::Result<()> {
        for Failure { path, reason } in &self.failures {
            let path = path.to_string_lossy();
            writeln!(out, "{ERROR}error{ERROR:#}: `{}` {}", one_line(&path), one_line(reason))?;
        }
        Ok(())
    }

    fn write_remarks(&self, out: &mut dyn Write) -> io::Result<()> {
        for remark in &self.remarks {
            writeln!(out, "{WARNING}warning{WARNING:#}: {}", one_line(remark))?;
        }
        Ok(())
    }

    fn write_summary(&self, out: &mut dyn Write) -> io::Result<()> {
        let summary = self.summary();
        if summary.is_empty() { Ok(()) } else { writeln!(out, "{BOLD}{summary}{BOLD:#}") }
    }

    fn summary(&self) -> String {
        let kinds = [
            (Severity::Error, "error"),
            (Severity::Warning, "warning"),
            (Severity::Information, "remark"),
            (Severity::Hint, "hint"),
        ];
        let counts: Vec<String> = kinds
            .into_iter()
            .map(|(severity, noun)| (self.count(severity), noun))
            .filter(|&(count, _)| count > 0)
            .map(|(count, noun)| counted(count, noun))
            .collect();
        let total = self.files.len();
        let mut summary = match (counts.as_slice(), total) {
            ([], 0) => return String::new(),
            ([], 1) => "1 file is clean".to_owned(),
            ([], _) if !self.failures.is_empty() => format!("{total} files are clean"),
            ([], _) => format!("All {total} files are clean"),
            (counts, _) => {
                let affected = self.files.iter().filter(|file| !file.findings.is_empty()).count();
                let files = match total {
                    1 => "1 file".to_owned(),
                    _ => format!("{affected} of {total} files"),
                };
                format!("Found {} in {files}", enumeration(counts))
            }
        };
        if !self.failures.is_empty() {
            summary.push_str(&format!("; {} could not be checked", self.failures.len()));
        }
        summary.push('.');
        summary
    }
}

/// `a`, `a and b`, `a, b and c`.
fn enumeration(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

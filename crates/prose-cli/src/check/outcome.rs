//! The output of a check.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use prose_syntax::FixSafety;
use prose_syntax::text::{counted, enumerated};

use prose_project::Failure;

use crate::check::job::{Checked, Job, Mode};
use crate::cli::check::{CheckArgs, OutputFormat};
use crate::finding::{CheckedFile, Counts};
use crate::output::repository::Repository;
use crate::output::{checkstyle, concise, github, gitlab, json, junit, sarif, statistics};
use crate::status::Status;
use crate::terminal::{self, BOLD, ERROR, Terminal, write_failures, write_remarks};

/// The results of a check, sorted by path.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) files: Vec<CheckedFile>,
    pub(super) failures: Vec<Failure>,
    pub(super) remarks: Vec<String>,
    /// The files that the results depend on.
    pub(super) watched: Vec<PathBuf>,
    /// Standard input after fixing. It goes to standard output.
    fixed_stdin: Option<String>,
}

impl Outcome {
    pub(super) fn add(&mut self, Checked { file, failure }: Checked) {
        self.files.extend(file);
        self.failures.extend(failure);
    }

    pub(super) fn add_stdin(&mut self, (checked, fixed): (Checked, Option<String>)) {
        self.add(checked);
        self.fixed_stdin = fixed;
    }

    /// Sorts the results by path and removes duplicate failures.
    pub(super) fn sort(&mut self) {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.failures.sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
        let mut seen = HashSet::new();
        self.failures.retain(|failure| seen.insert(absolute(&failure.path)));
        self.remarks.sort();
        self.remarks.dedup();
    }

    pub(super) fn status(&self, job: &Job) -> Status {
        let is_wrong = match job.mode {
            Mode::Report | Mode::Fix => self.counts().errors > 0 || self.exceeds_warnings(job).is_some(),
            Mode::Diff => self.fixed() > 0,
        };
        match (self.failures.is_empty(), is_wrong) {
            (false, _) => Status::Trouble,
            (true, true) => Status::ErrorsFound,
            (true, false) => Status::Clean,
        }
    }

    /// The limit on warnings, if it is exceeded.
    fn exceeds_warnings(&self, job: &Job) -> Option<usize> {
        job.max_warnings.filter(|max| self.counts().warnings > *max)
    }

    fn counts(&self) -> Counts {
        self.files.iter().map(|file| file.counts).sum()
    }

    fn fixed(&self) -> usize {
        self.files.iter().map(|file| file.fixed).sum()
    }

    /// Diagnostics go to standard output, everything else to standard error. If a fixed program goes to standard output, diagnostics go to standard
    /// error, too.
    pub(super) fn write(&self, args: &CheckArgs, job: &Job, terminal: &Terminal) -> io::Result<()> {
        let mut stderr = BufWriter::new(terminal.stderr());
        if let Some(text) = &self.fixed_stdin {
            let mut stdout = terminal::raw_stdout();
            stdout.write_all(text.as_bytes())?;
            stdout.flush()?;
            self.write_findings(job, &mut stderr)?;
        } else if job.mode == Mode::Diff && !job.look.styled {
            // A diff is data: escape sequences in it belong to a program.
            let mut stdout = BufWriter::with_capacity(1 << 16, terminal::raw_stdout());
            self.write_drawn(&mut stdout)?;
            stdout.flush()?;
        } else {
            let mut stdout = BufWriter::with_capacity(1 << 16, terminal.stdout());
            self.write_findings(job, &mut stdout)?;
            stdout.flush()?;
        }

        write_failures(&mut stderr, &self.failures)?;
        if let Some(max) = self.exceeds_warnings(job).filter(|_| job.mode != Mode::Diff) {
            let found = counted(self.counts().warnings, "warning");
            writeln!(stderr, "{ERROR}error{ERROR:#}: found {found}, and `--max-warnings` allows {max}")?;
        }
        if !args.quiet {
            write_remarks(&mut stderr, &self.remarks)?;
            if job.format == OutputFormat::Full || self.fixed() > 0 {
                self.write_summary(job, &mut stderr)?;
            }
        }
        stderr.flush()
    }

    pub(super) fn write_findings(&self, job: &Job, out: &mut dyn Write) -> io::Result<()> {
        match job.format {
            format if job.statistics => statistics::write(&self.files, format == OutputFormat::Json, out),
            OutputFormat::Full => self.write_drawn(out),
            OutputFormat::Concise => concise::write(&self.files, out),
            format => {
                let repository = Repository::of_current_folder();
                match format {
                    OutputFormat::Github => github::write(&self.files, &self.failures, &repository, out),
                    OutputFormat::Sarif => sarif::write(&self.files, &self.failures, &repository, out),
                    OutputFormat::Gitlab => gitlab::write(&self.files, &self.failures, &repository, out),
                    OutputFormat::Junit => junit::write(&self.files, &self.failures, &repository, out),
                    OutputFormat::Checkstyle => {
                        checkstyle::write(&self.files, &self.failures, &repository, out)
                    }
                    _ => json::write(&self.files, &repository, out),
                }
            }
        }
    }

    fn write_drawn(&self, out: &mut dyn Write) -> io::Result<()> {
        self.files.iter().try_for_each(|file| out.write_all(file.drawn.as_bytes()))
    }

    fn write_summary(&self, job: &Job, out: &mut dyn Write) -> io::Result<()> {
        let mut parts = match (job.mode, self.fixed()) {
            (Mode::Diff, _) => self.what_would_change(job),
            (Mode::Fix, 1..) => self.what_was_fixed(job),
            (Mode::Fix, 0) | (Mode::Report, _) => self.what_was_found(job),
        };
        if parts.is_empty() {
            return Ok(());
        }
        // A program that cannot be written was checked nevertheless.
        let is_checked = |failure: &&Failure| self.files.iter().any(|file| file.path == failure.path);
        let unfixed = self.failures.iter().filter(is_checked).count();
        for (count, what) in [(self.failures.len() - unfixed, "checked"), (unfixed, "fixed")] {
            if count > 0 {
                parts.push(format!("{count} could not be {what}"));
            }
        }
        writeln!(out, "{BOLD}{}.{BOLD:#}", parts.join("; "))
    }

    fn what_was_found(&self, job: &Job) -> Vec<String> {
        let counts = self.counts();
        let kinds = [
            (counts.errors, "error"),
            (counts.warnings, "warning"),
            (counts.remarks, "remark"),
            (counts.hints, "hint"),
        ];
        let found: Vec<String> = kinds
            .into_iter()
            .filter(|&(count, _)| count > 0)
            .map(|(count, noun)| counted(count, noun))
            .collect();
        let total = self.files.len();
        match (found.as_slice(), total) {
            ([], 0) => Vec::new(),
            ([], 1) => vec!["1 file is clean".to_owned()],
            ([], _) if !self.failures.is_empty() => vec![format!("{total} files are clean")],
            ([], _) => vec![format!("All {total} files are clean")],
            (found, _) => {
                let affected = self.files.iter().filter(|file| file.counts.findings() > 0).count();
                let files = match total {
                    1 => "1 file".to_owned(),
                    _ => format!("{affected} of {total} files"),
                };
                let mut parts = vec![format!("Found {} in {files}", enumerated(found, "and"))];
                parts.extend(fixable(job, counts));
                parts
            }
        }
    }

    fn what_was_fixed(&self, job: &Job) -> Vec<String> {
        let counts = self.counts();
        let remaining = match (counts.findings(), fixable(job, counts)) {
            (0, _) => "none remain".to_owned(),
            (1, None) => "1 remains".to_owned(),
            (1, Some(fixable)) => format!("1 remains, {fixable}"),
            (count, None) => format!("{count} remain"),
            (count, Some(fixable)) => format!("{count} remain, {fixable}"),
        };
        vec![format!("Fixed {}", self.problems_in_files()), remaining]
    }

    fn what_would_change(&self, job: &Job) -> Vec<String> {
        if self.files.is_empty() {
            return Vec::new();
        }
        let change = match self.fixed() {
            0 => "Nothing to fix".to_owned(),
            _ => format!("Would fix {}", self.problems_in_files()),
        };
        [change].into_iter().chain(fixable(job, self.counts())).collect()
    }

    fn problems_in_files(&self) -> String {
        let files = self.files.iter().filter(|file| file.fixed > 0).count();
        format!("{} in {}", counted(self.fixed(), "problem"), counted(files, "file"))
    }
}

/// The number of fixable diagnostics.
fn fixable(job: &Job, counts: Counts) -> Option<String> {
    let Counts { safely_fixable: safe, unsafely_fixable: unsafe_, .. } = counts;
    match (job.mode, job.safety) {
        (Mode::Report, FixSafety::Safe) => match (safe, unsafe_) {
            (0, 0) => None,
            (0, _) => Some(format!("{unsafe_} fixable with `--fix --unsafe-fixes`")),
            (_, 0) => Some(format!("{safe} fixable with `--fix`")),
            (_, _) => Some(format!("{safe} fixable with `--fix`, {unsafe_} more with `--unsafe-fixes`")),
        },
        (Mode::Report, FixSafety::Unsafe) if safe + unsafe_ > 0 => {
            Some(format!("{} fixable with `--fix --unsafe-fixes`", safe + unsafe_))
        }
        // The remaining fixes would make the program worse.
        (Mode::Fix | Mode::Diff, FixSafety::Safe) if unsafe_ > 0 => {
            Some(format!("{unsafe_} fixable with `--unsafe-fixes`"))
        }
        _ => None,
    }
}

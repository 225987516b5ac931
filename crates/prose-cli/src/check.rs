//! `prose check`: finds programs, checks and fixes them in parallel, and writes the diagnostics in one of several formats.

mod hook;
mod job;
mod outcome;
pub(crate) mod write;

use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::thread::available_parallelism;

use prose_config::Overrides;
use prose_project::checker::{Checker, Context, diagnose};
use prose_project::files::{read_program, read_stdin};
use prose_project::imports::{ImportOptions, Imports, LockUse};
use prose_project::settings::{SettingsFile, SettingsSource, is_settings};
use prose_project::{Diagnosed, Failure, Rules, Settings, walk};
use prose_syntax::FixSafety;
use prose_syntax::fix::fix_all;

use self::outcome::Outcome;
use self::write::Change;
use crate::check::job::{Checked, Job, Mode};
use crate::cli::check::{CheckArgs, OutputFormat};
use crate::finding::{CheckedFile, Counts, Finding};
use crate::output::{diff, full};
use crate::panic::caught;
use crate::sources::{OtherTexts, Sources};
use crate::status::Status;
use crate::terminal;
use crate::terminal::{ERROR, Terminal, one_line, write_failures};
use crate::watch;

/// A program to check.
struct Program {
    path: PathBuf,
    rules: Arc<Rules>,
}

/// A program on standard input.
struct Stdin<'a> {
    path: &'a Path,
    rules: Arc<Rules>,
    text: Result<String, String>,
}

/// Checks what the arguments name and writes what is wrong.
pub(crate) fn run(args: &CheckArgs, terminal: &Terminal) -> io::Result<Status> {
    if args.hook {
        return check_edited(args, terminal);
    }
    if let Some(contradiction) = args.contradiction() {
        writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {contradiction}")?;
        return Ok(Status::Trouble);
    }
    if args.watch {
        return check_repeatedly(args, terminal);
    }
    let job = Job::new(args, terminal);
    let outcome = check(args, &job);
    let written = outcome.write(args, &job, terminal);
    match written {
        // A reader that closes the output early, such as `head`, does not change the status.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(outcome.status(&job)),
    }
}

/// Checks now, and whenever something changes that the results depend on, until the user stops it.
fn check_repeatedly(args: &CheckArgs, terminal: &Terminal) -> io::Result<Status> {
    // New programs may be added to the folders.
    let mut watched = args.paths.clone();
    let mut pass = || {
        // From before the check, since a file may change while it is checked.
        let mut stamps = watch::stamps(watched.clone());
        let job = Job::new(args, terminal);
        let outcome = check(args, &job);
        outcome.write(args, &job, terminal)?;
        watched.extend(outcome.watched);
        watched.sort();
        watched.dedup();
        for (path, stamp) in watch::stamps(watched.clone()) {
            stamps.entry(path).or_insert(stamp);
        }
        Ok(stamps)
    };
    watch::repeat(&mut pass, &watch::stopped_by_user(), terminal)?;
    Ok(Status::Clean)
}

/// Checks the file that a coding agent has just edited. Agents read standard error of a hook that ends with status 2.
fn check_edited(args: &CheckArgs, terminal: &Terminal) -> io::Result<Status> {
    let mut stderr = BufWriter::new(terminal.stderr());
    let paths = match hook::edited_programs() {
        Ok(paths) if paths.is_empty() => return Ok(Status::Clean),
        Ok(paths) => paths,
        Err(problem) => {
            writeln!(stderr, "error: {}", one_line(&problem))?;
            return Ok(Status::ErrorsFound);
        }
    };
    let mut args = args.clone();
    (args.paths, args.output_format) = (paths, OutputFormat::Concise);
    let job = Job::new(&args, terminal);
    let outcome = check(&args, &job);
    if outcome.status(&job) == Status::Clean {
        return Ok(Status::Clean);
    }
    outcome.write_findings(&job, &mut stderr)?;
    write_failures(&mut stderr, &outcome.failures)?;
    writeln!(stderr, "`prose explain CODE` explains a code")?;
    stderr.flush()?;
    Ok(Status::Trouble)
}

fn check(args: &CheckArgs, job: &Job) -> Outcome {
    let mut outcome = Outcome::default();
    let source = match &args.config {
        Some(path) => SettingsSource::File(path.clone()),
        None if args.no_config => SettingsSource::Nowhere,
        None => SettingsSource::Nearest,
    };
    let overrides = Overrides { profile: args.profile, levels: args.levels() };
    let mut settings = match Settings::new(source, overrides) {
        Ok(settings) => settings,
        Err(failure) => {
            outcome.failures.push(failure);
            return outcome;
        }
    };
    let (stdin, paths): (Vec<&PathBuf>, Vec<&PathBuf>) =
        args.paths.iter().partition(|path| path.as_os_str() == "-");
    let (settings_files, roots): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().cloned().partition(|path| is_settings(path));
    for path in &settings_files {
        outcome.failures.extend(settings.add_named(path).err());
    }
    let threads = args.threads.or_else(|| available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let mut walked = walk::programs(&roots, threads);
    let files = walked.files(&mut settings);
    outcome.failures.extend(walked.failures);
    outcome.remarks.extend(walked.remarks);

    // Settings are checked and fixed before programs are checked with them.
    let stdin = (!stdin.is_empty()).then_some(&*args.stdin_filename);
    let program_in_stdin = stdin.filter(|path| !is_settings(path));
    for program in files.iter().map(PathBuf::as_path).chain(program_in_stdin) {
        settings.of(program);
    }
    outcome.failures.extend(settings.take_failures());
    outcome.remarks.extend(settings.take_ignored());
    outcome.watched.extend(files.iter().chain(&settings_files).cloned());
    for file in settings.files() {
        outcome.watched.push(file.path.clone());
        outcome.add(job.check_settings(&mut settings, &file));
    }

    if let Some(path) = stdin.filter(|_| program_in_stdin.is_none()) {
        outcome.add_stdin(job.check_stdin(path, read_stdin(), |text| settings.diagnose(path, text)));
    }
    let stdin = program_in_stdin.map(|path| Stdin { rules: settings.of(path), path, text: read_stdin() });
    let programs: Vec<Program> =
        files.into_iter().map(|path| Program { rules: settings.of(&path), path }).collect();
    let lock = LockUse::new(args.locked);
    let imports = Imports::new(ImportOptions { offline: args.offline, lock, ..ImportOptions::default() });
    let context = Context::new(settings, imports);
    job.check_programs(&context, &programs, stdin, threads, &mut outcome);
    outcome.failures.extend(context.imports.take_failures());
    outcome.remarks.extend(context.imports.take_remarks());
    outcome.watched.extend(context.imported_files());
    outcome.sort();
    if outcome.files.is_empty() && outcome.failures.is_empty() {
        let places: Vec<String> =
            roots.iter().map(|root| format!("`{}`", one_line(&root.to_string_lossy()))).collect();
        outcome.remarks.push(format!(
            "no programs found in {}; only `*.prose` files that are not hidden or ignored are checked",
            places.join(", ")
        ));
    }
    outcome
}

/// Calls `work` with every item, on several threads with their own state. The results are in the order of the items.
fn in_parallel<I: Sync, S, T: Send>(
    items: &[I],
    threads: NonZeroUsize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work_on_rest = || {
        let mut state = state();
        let mut results = Vec::new();
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(index)
        {
            results.push((index, work(&mut state, item)));
        }
        results
    };
    let helpers = threads.get().min(items.len()).saturating_sub(1);
    let mut results = thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work_on_rest)).collect();
        let mut results = work_on_rest();
        for helper in helpers {
            match helper.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

impl Job {
    fn new(args: &CheckArgs, terminal: &Terminal) -> Self {
        let styled = terminal.stdout_is_styled();
        Self {
            mode: match (args.diff, args.fix) {
                (true, _) => Mode::Diff,
                (false, true) => Mode::Fix,
                (false, false) => Mode::Report,
            },
            safety: if args.unsafe_fixes { FixSafety::Unsafe } else { FixSafety::Safe },
            format: args.output_format,
            statistics: args.statistics,
            max_warnings: args.max_warnings,
            renderer: full::renderer(styled, terminal::width()),
            look: diff::DiffTarget { styled, on_terminal: terminal::stdout_is_terminal() },
        }
    }

    /// Checks all programs. Those with imports that must be fetched are checked last, so that everything is fetched at once.
    fn check_programs(
        &self,
        context: &Context,
        programs: &[Program],
        stdin: Option<Stdin<'_>>,
        threads: NonZeroUsize,
        outcome: &mut Outcome,
    ) {
        let new = || Checker::new(context);
        let checked =
            in_parallel(programs, threads, new, |checker, program| self.check_file(checker, program, true));
        if let Some(Stdin { path, rules, text: Ok(text) }) = &stdin {
            Checker::new(context).note_imports(path, text, rules);
        }
        context.imports.look_up();
        if let Some(Stdin { path, rules, text }) = stdin {
            outcome.add_stdin(self.check_stdin(path, text, |text| diagnose(context, path, text, &rules)));
        }
        let mut waiting = Vec::new();
        for (checked, program) in checked.into_iter().zip(programs) {
            match checked {
                Some(checked) => outcome.add(checked),
                None => waiting.push(program),
            }
        }
        let checked =
            in_parallel(&waiting, threads, new, |checker, program| self.check_file(checker, program, false));
        checked.into_iter().flatten().for_each(|checked| outcome.add(checked));
    }

    /// `None` if it `may_wait` for a fetch and has to.
    fn check_file(&self, checker: &mut Checker<'_>, program: &Program, may_wait: bool) -> Option<Checked> {
        let Program { path, rules } = program;
        let text = match read_program(path) {
            Ok(text) => text,
            Err(reason) => return Some(Checked::failed(path, reason)),
        };
        let work = || match may_wait {
            true if self.mode == Mode::Report => checker.diagnose_unless_waiting(path, &text, rules),
            true if !text.contains("use") => Some(Vec::new()),
            true => (!checker.note_imports(path, &text, rules)).then(Vec::new),
            false if self.mode == Mode::Report => Some(checker.diagnose(path, &text, rules)),
            // Each round of fixes needs new diagnostics.
            false => Some(Vec::new()),
        };
        let diagnosed = match caught(work) {
            Ok(diagnosed) => diagnosed?,
            Err(defect) => {
                checker.forget();
                return Some(Checked::defective(path, &defect));
            }
        };
        let context = checker.context();
        Some(match self.mode {
            Mode::Report => self.caught(path, || self.report(path, &text, &diagnosed)),
            Mode::Fix | Mode::Diff => {
                self.check_and_write(path, &text, |text| diagnose(context, path, text, rules)).0
            }
        })
    }

    /// Checks a settings file. If it is fixed, or would be, programs are checked with the fixed settings.
    fn check_settings(&self, settings: &mut Settings, file: &SettingsFile) -> Checked {
        let SettingsFile { path, is_named, .. } = file;
        let text = file.text();
        let (mut checked, fixed) = if read_program(path).is_ok_and(|read| read == text) {
            self.check_and_write(path, text, |text| settings.diagnose(path, text))
        } else {
            // Replacement characters for invalid UTF-8 must not be written to the file.
            (self.caught(path, || self.report(path, text, &settings.diagnose_file(file))), None)
        };
        if let Some(fixed) = fixed {
            settings.replace(file, &fixed);
        }
        if !is_named {
            checked.file = checked.file.filter(|file| file.counts.findings() + file.fixed > 0);
        }
        checked
    }

    /// Checks standard input. With `--fix`, also returns the text for standard output, fixed or not: a pipe needs the text in any case.
    fn check_stdin(
        &self,
        path: &Path,
        text: Result<String, String>,
        diagnose: impl Fn(&str) -> Vec<Diagnosed>,
    ) -> (Checked, Option<String>) {
        match text {
            Ok(text) => {
                let (checked, fixed) = self.check_text(path, &text, diagnose);
                (checked, (self.mode == Mode::Fix).then(|| fixed.unwrap_or(text)))
            }
            Err(reason) => (Checked::failed(path, reason), None),
        }
    }

    /// Checks a text, and fixes its file if requested. Returns the fixed text if it differs.
    fn check_and_write(
        &self,
        path: &Path,
        text: &str,
        diagnose: impl Fn(&str) -> Vec<Diagnosed>,
    ) -> (Checked, Option<String>) {
        let (checked, fixed) = self.check_text(path, text, &diagnose);
        if self.mode != Mode::Fix {
            return (checked, fixed);
        }
        match fixed.as_deref().map(|fixed| write::replace(path, text, fixed, Change::Fixes)) {
            None | Some(Ok(())) => (checked, fixed),
            // The file is unchanged, so its diagnostics are, too.
            Some(Err(reason)) => {
                let file = self.caught(path, || self.report(path, text, &diagnose(text))).file;
                (Checked { file, failure: Some(Failure { path: path.to_owned(), reason }) }, None)
            }
        }
    }

    /// Checks a text, and fixes it if requested; returns the fixed text if there were fixes.
    fn check_text(
        &self,
        path: &Path,
        text: &str,
        diagnose: impl Fn(&str) -> Vec<Diagnosed>,
    ) -> (Checked, Option<String>) {
        if self.mode == Mode::Report {
            return (self.caught(path, || self.report(path, text, &diagnose(text))), None);
        }
        let mut new_text = None;
        let checked = self.caught(path, || {
            let fixed = fix_all(text, &diagnose, self.safety);
            let mut file = self.report(path, &fixed.text, &fixed.remaining);
            file.fixed = fixed.applied.len();
            if file.fixed > 0 {
                if self.mode == Mode::Diff {
                    file.drawn = diff::render(&file.name(), text, &fixed.text, self.look);
                }
                new_text = Some(fixed.text);
            }
            file
        });
        (checked, new_text)
    }

    /// A panic fails only this file.
    fn caught(&self, path: &Path, work: impl FnOnce() -> CheckedFile) -> Checked {
        match caught(work) {
            Ok(file) => Checked { file: Some(file), failure: None },
            Err(defect) => Checked::defective(path, &defect),
        }
    }

    fn report(&self, path: &Path, text: &str, diagnosed: &[Diagnosed]) -> CheckedFile {
        let mut file = CheckedFile {
            path: path.to_owned(),
            counts: Counts::of(diagnosed),
            fixed: 0,
            findings: Vec::new(),
            drawn: String::new(),
        };
        if diagnosed.is_empty() || self.mode == Mode::Diff {
            return file;
        }
        let name = path.to_string_lossy();
        let others = OtherTexts::read(diagnosed);
        let sources = Sources::new(&name, text, &others);
        if self.format == OutputFormat::Full && !self.statistics {
            file.drawn = full::render(diagnosed, &sources, &self.renderer);
        } else {
            file.findings = diagnosed.iter().map(|diagnosed| Finding::new(diagnosed, &sources)).collect();
        }
        file
    }
}

impl Checked {
    fn defective(path: &Path, defect: &str) -> Self {
        Self::failed(path, format!("could not be checked: {defect}"))
    }

    fn failed(path: &Path, reason: String) -> Self {
        Self { file: None, failure: Some(Failure { path: path.to_owned(), reason }) }
    }
}

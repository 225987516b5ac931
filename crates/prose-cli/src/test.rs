//! `prose test`.

mod collect;
mod shown;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use prose_project::imports::{ImportOptions, LockUse};
use prose_run::UserTrust;
use prose_test::{
    Answers, Coverage, Job, KeptExpectation, Progress, RunOptions, Subject, Summary, Updated, report,
    run_tests, updated,
};
use tokio::sync::watch as channel;

use self::collect::{Collected, collect};
use crate::cli::test::{TestArgs, TestFormat};
use crate::output::repository::Repository;
use crate::terminal::{ERROR, Terminal, WARNING, one_line};
use crate::watch;

/// How tests end, as the exit status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestStatus {
    Passed = 0,
    Failed = 1,
    Trouble = 2,
    Interrupted = 3,
    NoTests = 5,
}

impl From<TestStatus> for ExitCode {
    fn from(status: TestStatus) -> Self {
        Self::from(status as u8)
    }
}

/// Runs tests.
pub(crate) fn run(args: &TestArgs, terminal: &Terminal) -> io::Result<ExitCode> {
    let stopped = watch::stopped_by_user();
    let options = options(args, stopped.clone());
    if args.watch {
        let mut pass = || {
            let collected = collect(args, &imports(args), terminal)?;
            // A file that changes during the run is run again.
            let stamps = watch::stamps(collected.watched());
            run_collected(args, &collected, &options, terminal)?;
            Ok(stamps)
        };
        watch::repeat(&mut pass, &stopped, terminal)?;
        return Ok(TestStatus::Passed.into());
    }
    let mut collected = collect(args, &imports(args), terminal)?;
    if args.list {
        return Ok(list(args, &collected, terminal)?.into());
    }
    if args.update && update(&collected, &options, terminal)? {
        collected = collect(args, &imports(args), terminal)?;
    }
    Ok(run_collected(args, &collected, &options, terminal)?.into())
}

fn imports(args: &TestArgs) -> ImportOptions {
    ImportOptions { offline: args.offline, lock: LockUse::new(args.locked), ..ImportOptions::default() }
}

fn options(args: &TestArgs, stopped: channel::Receiver<bool>) -> RunOptions {
    let defaults = RunOptions::default();
    RunOptions {
        trust: UserTrust { is_trusted: args.trust, ..UserTrust::of_user() },
        jobs: args.jobs.unwrap_or(defaults.jobs),
        stops_at_failure: args.fail_fast,
        stopped,
        ..defaults
    }
}

fn list(args: &TestArgs, collected: &Collected, terminal: &Terminal) -> io::Result<TestStatus> {
    let mut out = terminal.stdout();
    if let Some(file) = &args.json {
        let is_written = write_json(file.as_deref(), &listed(args, collected), terminal)?;
        let is_sound = is_written && !collected.is_broken;
        return Ok(if is_sound { TestStatus::Passed } else { TestStatus::Trouble });
    }
    for job in &collected.jobs {
        for variant in &job.variants {
            let path = job.file.path.to_string_lossy();
            writeln!(out, "{}::{}", one_line(&path), one_line(&variant.id))?;
        }
    }
    match (collected.is_broken, collected.count()) {
        (true, _) => Ok(TestStatus::Trouble),
        (false, 0) => no_tests(collected, terminal),
        (false, _) => Ok(TestStatus::Passed),
    }
}

/// The selected cases with their places; of files with mistakes all that could be read.
fn listed(args: &TestArgs, collected: &Collected) -> serde_json::Value {
    let selection = collect::selection(args);
    let sound = collected.jobs.iter().map(|job| report::listed(&job.file, &job.variants, &[]));
    let faulty = collected
        .faulty
        .iter()
        .map(|(file, faulty)| report::listed(file, &selection.variants(file), &faulty.problems));
    let mut files: Vec<serde_json::Value> = sound.chain(faulty).collect();
    files.sort_by(|a, b| a["path"].as_str().cmp(&b["path"].as_str()));
    serde_json::json!({ "files": files })
}

/// Says why no case is run.
fn no_tests(collected: &Collected, terminal: &Terminal) -> io::Result<TestStatus> {
    let mut stderr = terminal.stderr();
    if collected.is_unchanged {
        writeln!(stderr, "No test is affected by what has changed.")?;
        return Ok(TestStatus::Passed);
    }
    let message = match collected.found {
        0 => "no tests found; write them to `NAME.test.toml` next to `NAME.prose`",
        _ => "no case has a name with this text; `prose test --list` lists all cases",
    };
    writeln!(stderr, "{ERROR}error{ERROR:#}: {message}")?;
    Ok(TestStatus::NoTests)
}

/// Writes actual values and recorded answers into files. Returns whether a file has changed.
fn update(collected: &Collected, options: &RunOptions, terminal: &Terminal) -> io::Result<bool> {
    let options = RunOptions { updates: true, stops_at_failure: false, ..options.clone() };
    // The answers of a harness differ from run to run, and cost money.
    let jobs: Vec<Job> = collected
        .jobs
        .iter()
        .map(|job| {
            let is_fixed = |case: usize| !matches!(job.file.cases[case].answers, Answers::Harness(_));
            let variants = job.variants.iter().filter(|variant| is_fixed(variant.case)).cloned();
            Job { file: job.file.clone(), subject: job.subject.clone(), variants: variants.collect() }
        })
        .collect();
    let summary = run_tests(&jobs, &options, &mut |_| {});
    let mut has_changed = false;
    for file in &summary.files {
        let recorded =
            file.file.cases.iter().any(
                |case| matches!(&case.answers, Answers::Recorded(recorded) if recorded.harness.is_some()),
            );
        has_changed |= recorded;
        let Updated { text, kept } = updated(&file.file, &file.results);
        let path = file.path.to_string_lossy();
        let path = one_line(&path);
        match text.map(|text| fs::write(&file.path, text)) {
            Some(Ok(())) if kept.is_empty() => writeln!(terminal.stderr(), "Updated {path}.")?,
            Some(Ok(())) => writeln!(terminal.stderr(), "Updated {path} in part.")?,
            Some(Err(error)) => {
                write_failed(&file.path, &error, terminal)?;
                continue;
            }
            None if kept.is_empty() => continue,
            None => {}
        }
        has_changed = true;
        for KeptExpectation { line, message, reason } in kept {
            let message = one_line(message.lines().next().unwrap_or_default()).into_owned();
            writeln!(
                terminal.stderr(),
                "{WARNING}not updated{WARNING:#}: {path}:{line}: {message}; {reason}"
            )?;
        }
    }
    Ok(has_changed)
}

fn write_failed(path: &Path, error: &io::Error, terminal: &Terminal) -> io::Result<()> {
    let path = path.to_string_lossy();
    writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: cannot write `{}`: {error}", one_line(&path))
}

fn run_collected(
    args: &TestArgs,
    collected: &Collected,
    options: &RunOptions,
    terminal: &Terminal,
) -> io::Result<TestStatus> {
    let faulty = collected.faulty.iter();
    let problems: Vec<serde_json::Value> =
        faulty.flat_map(|(file, faulty)| report::problems(file, &faulty.problems)).collect();
    if args.writes_events() {
        for problem in &problems {
            let mut event = problem.clone();
            event["event"] = "problem".into();
            write_event(&event, &mut terminal.stdout())?;
        }
    }
    if collected.count() == 0 {
        let nothing = Summary::default();
        if args.writes_events() {
            write_event(&report::finished(&nothing, None), &mut terminal.stdout())?;
        }
        if let Some(file) = &args.json {
            let mut json = report::json(&nothing, None);
            json["problems"] = problems.into();
            write_json(file.as_deref(), &json, terminal)?;
        }
        return match collected.is_broken {
            true => Ok(TestStatus::Trouble),
            false => no_tests(collected, terminal),
        };
    }
    let mut out = terminal.stdout();
    let mut result = Ok(());
    let mut list = shown::ResultList::default();
    let mut shows = |progress: Progress<'_>| {
        if result.is_err() || args.writes_json() {
            return;
        }
        if args.writes_events() {
            result = write_event(&report::event(&progress), &mut out);
        } else if let Progress::Ended { file, result: variant } = progress {
            result = list.write(file, variant, &mut out);
        }
    };
    let summary = run_tests(&collected.jobs, options, &mut shows);
    result?;
    drop(out);
    let subjects: Vec<Subject> = collected.jobs.iter().map(|job| job.subject.clone()).collect();
    let coverage = (args.coverage || args.lcov.is_some()).then(|| Coverage::of(&summary, &subjects));
    let mut is_written = true;
    let mut write_file = |path: &Path, text: String| -> io::Result<()> {
        if let Err(error) = fs::write(path, text) {
            is_written = false;
            write_failed(path, &error, terminal)?;
        }
        Ok(())
    };
    if let Some(path) = &args.junit {
        write_file(path, report::junit(&summary))?;
    }
    if let (Some(path), Some(coverage)) = (&args.lcov, &coverage) {
        write_file(
            path,
            coverage.lcov(|path| prose_project::files::shown(path).to_string_lossy().into_owned()),
        )?;
    }
    let measured = coverage.as_ref().filter(|_| args.coverage);
    if let Some(file) = &args.json {
        let mut json = report::json(&summary, measured);
        json["problems"] = problems.into();
        is_written &= write_json(file.as_deref(), &json, terminal)?;
    }
    let mut out = terminal.stdout();
    if args.writes_events() {
        write_event(&report::finished(&summary, measured), &mut out)?;
    } else if !args.writes_json() {
        shown::write_failures(&summary, terminal, &mut out)?;
        if is_github(args) {
            shown::write_annotations(&summary, &Repository::of_current_folder(), &mut out)?;
        }
        if let Some(coverage) = measured {
            shown::write_coverage(coverage, &mut out)?;
        }
        shown::write_summary(&summary, &mut out)?;
    }
    Ok(match summary.failed() {
        _ if summary.stopped() > 0 && *options.stopped.borrow() => TestStatus::Interrupted,
        _ if collected.is_broken || !is_written => TestStatus::Trouble,
        0 => TestStatus::Passed,
        _ => TestStatus::Failed,
    })
}

/// Writes JSON to a file, or to standard output. Returns whether it could be written.
fn write_json(file: Option<&Path>, json: &serde_json::Value, terminal: &Terminal) -> io::Result<bool> {
    let text = format!("{json:#}\n");
    let Some(file) = file else {
        terminal.stdout().write_all(text.as_bytes())?;
        return Ok(true);
    };
    match fs::write(file, text) {
        Ok(()) => Ok(true),
        Err(error) => write_failed(file, &error, terminal).map(|()| false),
    }
}

/// Writes an event in a line, at once: who reads it waits for it.
fn write_event(event: &serde_json::Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{event}")?;
    out.flush()
}

fn is_github(args: &TestArgs) -> bool {
    match args.format {
        Some(format) => format == TestFormat::Github,
        None => std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
    }
}

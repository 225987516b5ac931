//! Runs many cases on several threads, and reports them in the order of their files.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::answered::{attempt, result_of};
use super::{Attempt, AttemptEnd, RunOptions, VariantResult};
use crate::file::TestFile;
use crate::subject::Subject;
use crate::variant::Variant;

/// A test file with the variants that are run, and its program.
pub struct Job {
    /// The file.
    pub file: Arc<TestFile>,
    /// The program.
    pub subject: Subject,
    /// The variants.
    pub variants: Vec<Variant>,
}

/// What is reported while tests run.
pub enum Progress<'a> {
    /// The first run of a variant has started. Several variants run at the same time.
    Started {
        /// The file.
        file: &'a TestFile,
        /// The variant.
        variant: &'a Variant,
    },
    /// A variant has ended. Variants are reported in the order of their files, however long each takes.
    Ended {
        /// The file.
        file: &'a TestFile,
        /// The result.
        result: &'a VariantResult,
    },
}

/// The results of a test file.
#[derive(Debug)]
pub struct FileResult {
    /// The path of the file.
    pub path: PathBuf,
    /// The file.
    pub file: Arc<TestFile>,
    /// The results, in order.
    pub results: Vec<VariantResult>,
}

/// The results of all files.
#[derive(Debug, Default)]
pub struct Summary {
    /// The files, in order.
    pub files: Vec<FileResult>,
    /// How long everything took.
    pub took: Duration,
}

impl Summary {
    /// The results of all files.
    pub fn results(&self) -> impl Iterator<Item = &VariantResult> {
        self.files.iter().flat_map(|file| &file.results)
    }

    /// The number of variants that passed.
    pub fn passed(&self) -> usize {
        self.results().filter(|result| result.is_passed()).count()
    }

    /// The number of variants that failed.
    pub fn failed(&self) -> usize {
        self.results().filter(|result| result.is_failed()).count()
    }

    /// The number of skipped variants.
    pub fn skipped(&self) -> usize {
        self.results().filter(|result| result.skipped.is_some()).count()
    }

    /// The number of variants that were not run to their end because the tests were stopped.
    pub fn stopped(&self) -> usize {
        self.results().filter(|result| result.is_stopped()).count()
    }
}

/// One run: the job, the variant in it, and the number of the run.
type Unit = (usize, usize, u32);

/// Runs all variants of all jobs. `report` is called on the calling thread.
pub fn run_tests(jobs: &[Job], options: &RunOptions, report: &mut dyn FnMut(Progress<'_>)) -> Summary {
    let started = Instant::now();
    let mut units: Vec<Unit> = Vec::new();
    for (job, Job { file, variants, .. }) in jobs.iter().enumerate() {
        for (index, variant) in variants.iter().enumerate() {
            let Some(case) = file.cases.get(variant.case) else { continue };
            let runs = if case.skip.is_some() { 0 } else { case.repeat };
            units.extend((0..runs).map(|number| (job, index, number)));
        }
    }
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let (sender, received) = mpsc::channel::<(Unit, Option<Attempt>)>();
    let mut collected = Collected::new(jobs);
    thread::scope(|scope| {
        let work = || {
            while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
                if options.is_stopped() || has_failed.load(Ordering::Relaxed) {
                    break;
                }
                // Without a receiver, the results are not needed any more.
                if sender.send((unit, None)).is_err() {
                    break;
                }
                if sender.send((unit, Some(guarded(jobs, unit, options)))).is_err() {
                    break;
                }
            }
        };
        let threads = options.jobs.get().min(units.len());
        let started = (0..threads)
            .filter(|_| thread::Builder::new().name("tests".to_owned()).spawn_scoped(scope, work).is_ok());
        if started.count() == 0 {
            work();
        }
        let mut left = units.len();
        collected.report(jobs, report);
        while left > 0 {
            match received.recv_timeout(Duration::from_millis(50)) {
                Ok((unit, None)) => report_start(jobs, unit, report),
                Ok((unit, Some(attempt))) => {
                    left -= 1;
                    let has_ended = collected.add(unit, attempt);
                    if has_ended.is_some_and(VariantResult::is_failed) && options.stops_at_failure {
                        has_failed.store(true, Ordering::Relaxed);
                    }
                    collected.report(jobs, report);
                }
                Err(_) if options.is_stopped() || has_failed.load(Ordering::Relaxed) => break,
                Err(_) => {}
            }
        }
    });
    // Those that were at work when the tests were stopped.
    for (unit, attempt) in received.try_iter() {
        match attempt {
            None => report_start(jobs, unit, report),
            Some(attempt) => _ = collected.add(unit, attempt),
        }
    }
    collected.finish(jobs, report, started.elapsed())
}

/// Reports the first run of a variant.
fn report_start(jobs: &[Job], (job, variant, number): Unit, report: &mut dyn FnMut(Progress<'_>)) {
    if number == 0 {
        let Job { file, variants, .. } = &jobs[job];
        report(Progress::Started { file, variant: &variants[variant] });
    }
}

/// Runs a case. A defect of ours fails only that case.
fn guarded(jobs: &[Job], (job, variant, number): Unit, options: &RunOptions) -> Attempt {
    let Job { file, subject, variants } = &jobs[job];
    let variant = &variants[variant];
    let run = || attempt(&file.cases[variant.case], subject, variant, number, options);
    let attempt = panic::catch_unwind(AssertUnwindSafe(run));
    match attempt {
        // Thousands of views would take much memory.
        Ok(attempt) => Attempt { observed: None, ..attempt },
        Err(_) => Attempt {
            end: AttemptEnd::Error(
                "the run stopped because of a defect in `prose`; please report it".to_owned(),
            ),
            ..Attempt::default()
        },
    }
}

/// The results so far.
struct Collected {
    /// By job and variant.
    results: BTreeMap<(usize, usize), VariantResult>,
    /// The runs that have ended of a variant, by number.
    attempts: BTreeMap<(usize, usize), BTreeMap<u32, Attempt>>,
    /// How many runs of a variant are left.
    left: BTreeMap<(usize, usize), u32>,
    /// The first variant that was not reported.
    next: (usize, usize),
}

impl Collected {
    fn new(jobs: &[Job]) -> Self {
        let mut collected =
            Self { results: BTreeMap::new(), attempts: BTreeMap::new(), left: BTreeMap::new(), next: (0, 0) };
        for (job, Job { file, variants, .. }) in jobs.iter().enumerate() {
            for (index, variant) in variants.iter().enumerate() {
                let Some(case) = file.cases.get(variant.case) else { continue };
                let runs = if case.skip.is_some() { 0 } else { case.repeat };
                collected.results.insert((job, index), result_of(case, variant));
                collected.left.insert((job, index), runs);
            }
        }
        collected
    }

    /// Adds a run. Returns the result of the variant if it was the last one of it.
    fn add(&mut self, (job, variant, number): Unit, attempt: Attempt) -> Option<&VariantResult> {
        let key = (job, variant);
        self.attempts.entry(key).or_default().insert(number, attempt);
        let left = self.left.get_mut(&key)?;
        *left = left.saturating_sub(1);
        if *left > 0 {
            return None;
        }
        let attempts = self.attempts.remove(&key).unwrap_or_default();
        let result = self.results.get_mut(&key)?;
        result.attempts = attempts.into_values().collect();
        Some(result)
    }

    /// Reports the variants that have ended, as far as all before them have.
    fn report(&mut self, jobs: &[Job], report: &mut dyn FnMut(Progress<'_>)) {
        while let Some(job) = jobs.get(self.next.0) {
            if self.next.1 >= job.variants.len() {
                self.next = (self.next.0 + 1, 0);
                continue;
            }
            if self.left.get(&self.next).is_some_and(|left| *left > 0) {
                return;
            }
            if let Some(result) = self.results.get(&self.next) {
                report(Progress::Ended { file: &job.file, result });
            }
            self.next.1 += 1;
        }
    }

    fn finish(mut self, jobs: &[Job], report: &mut dyn FnMut(Progress<'_>), took: Duration) -> Summary {
        for (key, attempts) in std::mem::take(&mut self.attempts) {
            if let Some(result) = self.results.get_mut(&key) {
                result.attempts = attempts.into_values().collect();
            }
        }
        self.left.clear();
        self.report(jobs, report);
        let mut files: Vec<FileResult> = jobs
            .iter()
            .map(|job| FileResult {
                path: job.file.path.clone(),
                file: Arc::clone(&job.file),
                results: Vec::new(),
            })
            .collect();
        for ((job, _), result) in self.results {
            files[job].results.push(result);
        }
        Summary { files, took }
    }
}

//! What runs cost, with the harness `offline`. Their state is kept in files where nothing else is said.
//!
//! * `parallel`: ten thousand sessions of 100 ms at the same time, beside as many tasks of tokio that sleep as long and write a file each.
//!   `sqlite` keeps the state in a database, which must not take more than twice the time.
//! * `resume`: a run goes on whose parallel sessions are all recorded.
//! * `replay`: a run takes all its answers from another one.
//! * `loop` and `lines`: the first and the last thousand of a hundred thousand statements, which should take the same time.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use prose_analysis::Text;
use prose_analysis::host::AnalysisHost;
use prose_config::{Config, RunConfig};
use prose_run::{
    FromRun, Project, Questions, RunHooks, RunRequest, Start, TrustSubject, UserFiles, UserTrust, prepare,
};
use prose_vm::budget::Budget;
use prose_vm::event::{Event, EventKind, RunStatus, StateMode};
use prose_vm::program::Program;
use prose_vm::runner::Limits;
use tempfile::TempDir;

/// The allocator of the command, so that runs in this process cost what they cost there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SESSIONS: usize = 10_000;

fn program(text: &str) -> Arc<Program> {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/program.prose"), Text::new(text));
    Program::new(host.db(), file)
}

fn parallel_for(sessions: usize) -> String {
    let items: Vec<String> = (0..sessions).map(|item| item.to_string()).collect();
    format!("parallel for item in [{}]:\n  session \"Work on {{item}}\"\n", items.join(", "))
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

fn request(program: &Arc<Program>, folder: &Path, start: Start) -> RunRequest {
    RunRequest {
        program: Arc::clone(program),
        project: Project::new(folder),
        start,
        part: None,
        id: None,
        state: StateMode::Filesystem,
        harness: Some("offline".to_owned()),
        script: None,
        stand_in: None,
        dispatch: None,
        model: None,
        seed: 0,
        delay: Duration::ZERO,
        inputs: Vec::new(),
        grants: prose_run::Grants::default(),
        config: RunConfig { max_parallel: NonZeroU32::new(SESSIONS as u32), ..RunConfig::default() },
        routes: prose_run::Routes::default(),
        limits: Limits::default(),
        money: prose_run::Money::default(),
        timeout: None,
        subject: TrustSubject::new(folder, &Config::default()),
        trust: UserTrust { files: UserFiles::at(folder.join("state")), is_trusted: false },
        traceparent: None,
        names_program: false,
    }
}

/// Executes a run, and tells its id and how long it took.
fn run(request: RunRequest, status: RunStatus, observer: &mut dyn FnMut(&Event, bool)) -> (String, Duration) {
    let begin = Instant::now();
    let prepared = prepare(request).unwrap_or_else(|error| panic!("{error}"));
    let id = prepared.run().to_owned();
    let hooks = RunHooks {
        questions: Questions::unanswered(),
        observer,
        interrupted: Box::pin(std::future::pending()),
        narration: None,
    };
    let finished = prepared.execute(hooks).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(finished.end.status, status, "{:?}", finished.end.error);
    (id, begin.elapsed())
}

const DELAY: Duration = Duration::from_millis(100);

/// The least that ten thousand sessions can cost: tasks that wait, and write what they come to.
fn sleeps_and_files(folder: &Path) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime can be built");
    let begin = Instant::now();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..SESSIONS)
            .map(|number| {
                let path = folder.join(format!("{number}.md"));
                tokio::spawn(async move {
                    tokio::time::sleep(DELAY).await;
                    std::fs::write(path, "What an agent says to what it was told to do.\n")
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("the task does not panic").expect("the file can be written");
        }
    });
    begin.elapsed()
}

fn parallel(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parallel");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.bench_function("tokio", |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| sleeps_and_files(folder().path())).sum());
    });
    let program = program(&parallel_for(SESSIONS));
    for (name, state) in [("prose", StateMode::Filesystem), ("sqlite", StateMode::Sqlite)] {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|times| {
                let once = |_| {
                    let folder = folder();
                    let request =
                        RunRequest { delay: DELAY, state, ..request(&program, folder.path(), Start::New) };
                    run(request, RunStatus::Completed, &mut |_, _| {}).1
                };
                (0..times).map(once).sum()
            });
        });
    }
    group.finish();
}

fn resume(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("resume");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for sessions in [SESSIONS / 10, SESSIONS] {
        // The limit stops the run before its last session.
        let program = program(&format!("{}session \"Sum up\"\n", parallel_for(sessions)));
        group.throughput(Throughput::Elements(sessions as u64));
        group.bench_function(BenchmarkId::from_parameter(sessions), |bencher| {
            bencher.iter_custom(|times| {
                let once = |_| {
                    let folder = folder();
                    let mut stopped = request(&program, folder.path(), Start::New);
                    stopped.limits.budget = Budget::sessions(sessions as u32);
                    let (id, _) = run(stopped, RunStatus::Interrupted, &mut |_, _| {});
                    let start = Start::Resume { run: id.into(), accept_changes: false };
                    run(request(&program, folder.path(), start), RunStatus::Completed, &mut |_, _| {}).1
                };
                (0..times).map(once).sum()
            });
        });
    }
    group.finish();
}

/// One session after the other and in parallel, with a condition for every tenth.
fn mixed(sessions: usize) -> String {
    let rounds = sessions / 10;
    format!(
        "repeat {rounds} as round:\n  parallel for item in [1, 2, 3, 4, 5]:\n    session \"Work on {{item}} in {{round}}\"\n  let a = session \"First of {{round}}\"\n  let b = session \"Second of {{round}}\"\n    context: a\n  session \"Third of {{round}}\"\n    context: {{ a, b }}\n  if **round {{round}} is good**:\n    session \"Praise {{round}}\"\n  else:\n    session \"Blame {{round}}\"\n  session \"Close {{round}}\"\n"
    )
}

fn replay(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replay");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for sessions in [500, SESSIONS] {
        let program = program(&mixed(sessions));
        let folder = folder();
        let (id, _) = run(request(&program, folder.path(), Start::New), RunStatus::Completed, &mut |_, _| {});
        let recorded = prose_run::recorded_run(&Project::new(folder.path()), &id)
            .unwrap_or_else(|error| panic!("{error}"));
        group.throughput(Throughput::Elements(sessions as u64));
        group.bench_function(BenchmarkId::from_parameter(sessions), |bencher| {
            bencher.iter_custom(|times| {
                let once = |_| {
                    let start = Start::From(Box::new(FromRun::replay(recorded.clone())));
                    let (replay, time) =
                        run(request(&program, folder.path(), start), RunStatus::Completed, &mut |_, _| {});
                    Project::new(folder.path()).remove_run(&replay).unwrap_or_else(|error| panic!("{error}"));
                    time
                };
                (0..times).map(once).sum()
            });
        });
    }
    group.finish();
}

const STATEMENTS: u32 = 100_000;

/// Measures how long it takes to come from one statement to another, as an event tells their numbers. After a number of sessions the run stops, so that
/// what comes behind them costs nothing.
fn between(
    group: &mut BenchmarkGroup<'_, WallTime>,
    program: &Arc<Program>,
    (from, to): (u32, u32),
    sessions: Option<u32>,
    number: fn(&EventKind) -> Option<u32>,
) {
    let name = if sessions.is_some() { "first thousand" } else { "last thousand" };
    let status = if sessions.is_some() { RunStatus::Interrupted } else { RunStatus::Completed };
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|times| {
            let once = |_| {
                let folder = folder();
                let mut request = request(program, folder.path(), Start::New);
                request.limits.budget = sessions.map(Budget::sessions).unwrap_or_default();
                let mut start = None;
                let mut time = Duration::ZERO;
                run(request, status, &mut |event, _| {
                    let number = number(&event.kind);
                    if number == Some(from) {
                        start = Some(Instant::now());
                    } else if number == Some(to) {
                        time = start.map_or(time, |start| start.elapsed());
                    }
                });
                assert!(!time.is_zero(), "both statements are executed");
                time
            };
            (0..times).map(once).sum()
        });
    });
}

fn sequential(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("loop");
    let half = STATEMENTS / 2;
    let text = format!("repeat {half} as item:\n  let value = item\n  session \"Work\"\n");
    let statements = program(&text);
    let iteration = |what: &EventKind| match what {
        EventKind::IterationStarted { number, .. } => Some(*number),
        _ => None,
    };
    between(&mut group, &statements, (1, 501), Some(501), iteration);
    between(&mut group, &statements, (half - 500, half), None, iteration);
    group.finish();

    let mut group = criterion.benchmark_group("lines");
    let line = |at| match at % 10 {
        0 => "session \"Work\"\n".to_owned(),
        _ => format!("let value_{at} = {at}\n"),
    };
    let statements = program(&(0..STATEMENTS).map(line).collect::<String>());
    let statement = |what: &EventKind| match what {
        EventKind::StatementStarted { number, .. } => *number,
        _ => None,
    };
    between(&mut group, &statements, (1, 1001), Some(101), statement);
    between(&mut group, &statements, (STATEMENTS - 1000, STATEMENTS), None, statement);
    group.finish();
}

criterion_group!(benches, parallel, resume, replay, sequential);
criterion_main!(benches);

//! What the machine costs beside what it waits for: agents answer at once, and nothing is kept.
//!
//! * `sessions`: a thousand sessions beside a thousand tasks of tokio that are spawned and joined.
//! * `statements`: the first and the last thousand of a hundred thousand statements, which should take the same time.
//! * `calls`: recursion, and one call after the other.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use prose_analysis::Text;
use prose_analysis::host::AnalysisHost;
use prose_vm::activity::NoApprovals;
use prose_vm::budget::NoAccounts;
use prose_vm::event::{Event, EventKind, RunStatus};
use prose_vm::machine::Machine;
use prose_vm::program::Program;
use prose_vm::runner::{self, Host, Limits, NoInputs};
use prose_vm::settings::Settings;
use prose_vm::store::{NoRecording, NoStore};
use tokio::runtime::Runtime;

#[path = "support/instantly.rs"]
mod instantly;

use instantly::Instantly;

/// The allocator of the command, so that runs in this process cost what they cost there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn program(text: &str) -> Arc<Program> {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/program.prose"), Text::new(text));
    Program::new(host.db(), file)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be built")
}

fn run(runtime: &Runtime, program: &Arc<Program>, observer: &mut dyn FnMut(&Event, bool)) {
    let machine = Machine::new(Arc::clone(program), Settings::new("20260115-143052-a7b3c9"));
    let host = Host {
        harness: Arc::new(Instantly),
        store: &mut NoStore,
        recall: &mut NoRecording,
        trees: Arc::new(prose_vm::runner::NoTrees),
        inputs: Arc::new(NoInputs),
        approvals: Arc::new(NoApprovals),
        commands: prose_vm::command::Commands::none(),
        observer,
        interrupted: Box::pin(std::future::pending()),
        accounts: Arc::new(NoAccounts),
        gate: None,
        limits: Limits { max_parallel: usize::MAX, ..Limits::default() },
        secrets: Arc::default(),
        clock: &|| 0,
    };
    let end = runtime.block_on(runner::run(machine, host)).expect("nothing is kept, so nothing fails");
    assert_eq!(end.status, RunStatus::Completed, "{:?}", end.error);
}

const SESSIONS: usize = 1000;

fn sessions(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut group = criterion.benchmark_group("sessions");
    group.throughput(Throughput::Elements(SESSIONS as u64));
    group.bench_function("tokio", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let tasks: Vec<_> =
                    (0..SESSIONS).map(|_| tokio::spawn(async { String::from("done") })).collect();
                for task in tasks {
                    task.await.expect("the task does not panic");
                }
            });
        });
    });
    let items: Vec<String> = (0..SESSIONS).map(|item| item.to_string()).collect();
    let concurrent =
        program(&format!("parallel for item in [{}]:\n  session \"Work on {{item}}\"\n", items.join(", ")));
    group.bench_function("parallel for", |bencher| {
        bencher.iter(|| run(&runtime, &concurrent, &mut |_, _| {}));
    });
    let sequential = program(&format!("repeat {SESSIONS} as item:\n  session \"Work on {{item}}\"\n"));
    group.bench_function("repeat", |bencher| {
        bencher.iter(|| run(&runtime, &sequential, &mut |_, _| {}));
    });
    group.finish();
}

const STATEMENTS: u32 = 100_000;

fn statements(criterion: &mut Criterion) {
    let runtime = runtime();
    let text: String = (0..STATEMENTS / 2)
        .map(|at| format!("let value_{} = \"one of a few names\"\nsession \"Work\"\n", at % 50))
        .collect();
    let program = program(&text);
    // How long it takes to come from one top-level statement to another.
    let between = |from: u32, to: u32| {
        let mut start = None;
        let mut time = Duration::ZERO;
        run(&runtime, &program, &mut |event, _| {
            if let EventKind::StatementStarted { number: Some(number), .. } = event.kind {
                if number == from {
                    start = Some(Instant::now());
                } else if number == to {
                    time = start.map_or(time, |start| start.elapsed());
                }
            }
        });
        time
    };
    let mut group = criterion.benchmark_group("statements");
    group.sample_size(10);
    group.bench_function("first thousand", |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| between(1, 1001)).sum());
    });
    group.bench_function("last thousand", |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| between(STATEMENTS - 1000, STATEMENTS)).sum());
    });
    group.finish();
}

fn calls(criterion: &mut Criterion) {
    let runtime = runtime();
    let recursive = program(
        "block descend(depth):\n  if depth > 1:\n    do descend(depth - 1)\n  session \"Come up\"\ndo descend(100)\n",
    );
    let repeated =
        program("block work(item):\n  let result = item\nrepeat 10000 as item:\n  do work(item)\n");
    let mut group = criterion.benchmark_group("calls");
    group.sample_size(10);
    group.bench_function("100 deep", |bencher| bencher.iter(|| run(&runtime, &recursive, &mut |_, _| {})));
    group.bench_function("10000 in turn", |bencher| {
        bencher.iter(|| run(&runtime, &repeated, &mut |_, _| {}));
    });
    group.finish();
}

criterion_group!(benches, sessions, statements, calls);
criterion_main!(benches);

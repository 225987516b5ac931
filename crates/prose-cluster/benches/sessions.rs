//! How fast a worker is: sessions one after the other, at the same time, and in many short runs. The server is started here, with its writes synced to the disk.
//!
//! The agents reply at once, so that what is measured is what a cluster adds.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use prose_cluster::{Bundle, Mirror, Options, Priority, Standing, WorkerSettings, submit, work};
use prose_fixture::postgres::PostgresServer;
use prose_project::imports::ImportOptions;
use prose_project::load::load_file;
use prose_state::Server;

/// A program with so many sessions, each behind the other or all at once.
fn bundle(folder: &Path, text: &str) -> Bundle {
    let path = folder.join("main.prose");
    fs::write(&path, text).unwrap();
    let program = load_file(&path, ImportOptions::default()).unwrap().program.unwrap();
    let options = Options { harness: "offline".to_owned(), ..Options::default() };
    Bundle::new(&program, &path, folder, options).unwrap()
}

fn sequential(sessions: usize) -> String {
    format!("repeat {sessions}:\n  session \"next\"\n")
}

fn parallel(sessions: usize) -> String {
    let items: Vec<String> = (0..sessions).map(|item| format!("\"{item}\"")).collect();
    format!("parallel for item in [{}]:\n  session \"work on {{item}}\"\n", items.join(", "))
}

/// Executes runs of a bundle, and waits for all of them.
fn execute(server: &Server, mirror: &Mirror, bundle: &Bundle, runs: usize) {
    let runs: Vec<_> = (0..runs).map(|_| submit(server, bundle, Priority::Normal).unwrap()).collect();
    for run in runs {
        let begin = Instant::now();
        while !matches!(mirror.standing(&run).unwrap(), Some(Standing::Ended(None))) {
            assert!(begin.elapsed() < Duration::from_secs(600));
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn sessions(c: &mut Criterion) {
    let postgres = PostgresServer::start();
    let (project, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::new(Some(&postgres.url()), project.path(), None).unwrap();
    server.prepare().unwrap();
    let settings = WorkerSettings {
        server: server.clone(),
        name: "bench".to_owned(),
        classes: vec!["offline".to_owned()],
        slots: 64,
        leads: 64,
        lease: Duration::from_secs(15),
        metrics: None,
        folder: folder.path().canonicalize().unwrap(),
    };
    thread::spawn(move || work(settings, std::future::pending(), &mut |_| {}).unwrap());
    let mirror = Mirror::open(server.clone(), Some("none")).unwrap();
    let mut group = c.benchmark_group("cluster");
    group.sample_size(10);
    for (name, program, runs, sessions) in [
        ("sequential", sequential(200), 1, 200),
        ("parallel", parallel(2000), 1, 2000),
        ("runs", parallel(10), 100, 1000),
    ] {
        let bundle = bundle(project.path(), &program);
        group.throughput(Throughput::Elements(sessions));
        group.bench_function(name, |bencher| bencher.iter(|| execute(&server, &mirror, &bundle, runs)));
    }
    group.finish();
}

criterion_group!(benches, sessions);
criterion_main!(benches);

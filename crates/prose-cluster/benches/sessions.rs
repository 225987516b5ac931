//! How fast workers are: sessions one after the other, at the same time with many slots and with one in each worker, and in many short runs.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]

mod support;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

use self::support::{Cluster, parallel, sequential};

fn sessions(c: &mut Criterion) {
    let mut group = c.benchmark_group("cluster");
    group.sample_size(10);
    let cluster = Cluster::start();
    cluster.work("bench", 64, 64);
    for (name, program, runs, sessions) in [
        ("sequential", sequential(200), 1, 200),
        ("parallel", parallel(2000), 1, 2000),
        ("runs", parallel(10), 100, 1000),
    ] {
        let bundle = cluster.bundle(&program);
        group.throughput(Throughput::Elements(sessions));
        group.bench_function(name, |bencher| bencher.iter(|| cluster.execute(&bundle, runs)));
    }
    // A leader without slots, and workers that claim one session after the other.
    let cluster = Cluster::start();
    cluster.work("leader", 0, 64);
    for worker in 0..8 {
        cluster.work(&format!("worker-{worker}"), 1, 0);
    }
    let bundle = cluster.bundle(&parallel(2000));
    group.throughput(Throughput::Elements(2000));
    group.bench_function("one-slot-each", |bencher| bencher.iter(|| cluster.execute(&bundle, 1)));
    group.finish();
}

criterion_group!(benches, sessions);
criterion_main!(benches);

//! What a cluster does under load, each measured once: a run of 100,000 sessions, 400 runs at the same time, claims from a long queue, and how soon another
//! worker takes over.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may fail, and prints its figures")]

mod support;

use std::time::{Duration, Instant};

use prose_state::protocol;

use self::support::{Cluster, parallel};

fn main() {
    // `cargo test` starts it, too.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    large_run();
    many_runs();
    long_queue();
    takeover();
}

/// How many seconds so many runs take with so many sessions each, all at the same time.
fn seconds_for(runs: usize, sessions: usize) -> f64 {
    let cluster = Cluster::start();
    cluster.work("bench", 64, 64);
    let bundle = cluster.bundle(&parallel(sessions));
    let begin = Instant::now();
    cluster.execute(&bundle, runs);
    begin.elapsed().as_secs_f64()
}

fn large_run() {
    let seconds = seconds_for(1, 100_000);
    println!("100,000 sessions in one run: {seconds:.1} s, {:.0} sessions/s", 100_000.0 / seconds);
}

fn many_runs() {
    let seconds = seconds_for(400, 10);
    println!("400 runs of 10 sessions: {seconds:.1} s, {:.0} runs/s", 400.0 / seconds);
}

/// The time of one claim after the other, where 100,000 effects are free and then where 100,000 are claimed.
fn long_queue() {
    const CLAIMS: usize = 1000;
    let cluster = Cluster::start();
    let run = cluster.submit(&cluster.bundle(&parallel(1)));
    cluster.postgres.query(&format!(
        "INSERT INTO openprose.effect (run_id, id, fingerprint, class, request, turn)
         SELECT '{run}', id, 'f', 'offline', '{{}}', id FROM generate_series(1, 200000) AS id"
    ));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = cluster.server.connect().await.unwrap().client;
        client.batch_execute(protocol::PLANS).await.unwrap();
        let claim = client.prepare(protocol::CLAIM).await.unwrap();
        let (lease, classes) = (3600.0, vec!["offline"]);
        let mut number = 0_i64;
        let mut claim_some = async |count: i64| {
            let numbers: Vec<i64> = (number..number + count).collect();
            number += count;
            let rows = client.query(&claim, &[&"bench", &lease, &classes, &count, &numbers]).await.unwrap();
            assert_eq!(rows.len(), count as usize);
        };
        for what in ["free", "claimed"] {
            let mut times = Vec::with_capacity(CLAIMS);
            for _ in 0..CLAIMS {
                let begin = Instant::now();
                claim_some(1).await;
                times.push(begin.elapsed());
            }
            times.sort();
            println!(
                "a claim where 100,000 and more are {what}: median {:.2} ms, 99 % within {:.2} ms",
                milliseconds(times[CLAIMS / 2]),
                milliseconds(times[CLAIMS * 99 / 100])
            );
            for _ in 0..100 {
                if what == "free" {
                    claim_some(980).await;
                }
            }
        }
    });
}

/// How long after the lease of a leader that is gone another one has written its first event.
fn takeover() {
    const LEASE: Duration = Duration::from_secs(2);
    let cluster = Cluster::start();
    let mut over = Vec::new();
    for attempt in 0..10 {
        let run = cluster.submit(&cluster.bundle(&parallel(1)));
        let lease = LEASE.as_secs_f64();
        cluster.postgres.query(&format!(
            "UPDATE openprose.job SET epoch = 1, holder = 'gone', until = clock_timestamp() + make_interval(secs => {lease})
             WHERE run_id = '{run}'"
        ));
        let begin = Instant::now();
        if attempt == 0 {
            cluster.work("bench", 4, 4);
        }
        cluster.wait_for(&run);
        over.push(begin.elapsed().saturating_sub(LEASE));
    }
    over.sort();
    println!(
        "a run of a leader that is gone has ended this long after the lease: median {:.0} ms, at most {:.0} ms",
        milliseconds(over[over.len() / 2]),
        milliseconds(over[over.len() - 1])
    );
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

//! Workers, leaders and the server end in any way, again and again, while runs are submitted.

use std::time::{Duration, Instant};

use prose_fixture::number;
use rustix::process::Signal;

use super::{Cluster, ROUNDS};

/// How long faults are injected, in seconds, unless `PROSE_CHAOS_SECONDS` says something else, as `tests/chaos` does.
const SECONDS: u64 = 12;

/// How many workers there are.
const WORKERS: usize = 4;

/// How many runs are executed at the same time.
const RUNS: usize = 3;

/// What was done to the processes.
#[derive(Debug, Default)]
struct Faults {
    kills: u32,
    pauses: u32,
    crashes_of_the_server: u32,
}

impl Cluster {
    fn chaos_worker(&mut self) {
        self.worker(&["--class", "offline", "--lease", "1s", "--slots", "3"]);
    }

    /// Does something to one of the processes.
    fn injure(&mut self, random: &mut fastrand::Rng, faults: &mut Faults) {
        let worker = random.usize(..WORKERS);
        match random.u32(..6) {
            0 => {
                faults.crashes_of_the_server += 1;
                self.server.down();
                std::thread::sleep(Duration::from_millis(random.u64(..1500)));
                self.server.up();
            }
            1 => {
                // Longer than its lease, so that two processes believe that they lead the same runs.
                faults.pauses += 1;
                self.signal(worker, Signal::STOP);
                std::thread::sleep(Duration::from_millis(random.u64(500..2500)));
                self.signal(worker, Signal::CONT);
            }
            _ => {
                faults.kills += 1;
                self.kill(worker);
                self.workers.remove(worker).wait().expect("it has ended");
                self.chaos_worker();
            }
        }
    }

    /// How many runs have not ended.
    fn active(&self) -> usize {
        let sql = "SELECT count(*) FROM job WHERE state = 'active'";
        self.query(sql).trim().parse().expect("it is a number")
    }
}

/// The seed is printed with a failure; `PROSE_CHAOS_SEED` repeats the same faults, though not the same moments.
#[test]
#[ignore = "needs PostgreSQL"]
fn every_outcome_is_recorded_once_whatever_ends() {
    let seed = number("PROSE_CHAOS_SEED").unwrap_or_else(|| fastrand::u64(..));
    let time = Duration::from_secs(number("PROSE_CHAOS_SECONDS").unwrap_or(SECONDS));
    eprintln!("PROSE_CHAOS_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    cluster.workspace.prose(&["cluster", "init", &cluster.server.url()]).ended(0);
    for _ in 0..WORKERS {
        cluster.chaos_worker();
    }
    let (mut submitted, mut faults, begin) = (Vec::new(), Faults::default(), Instant::now());
    while begin.elapsed() < time {
        while cluster.active() < RUNS {
            submitted.push(cluster.submit("rounds.prose", &["--delay", "60ms"]));
        }
        std::thread::sleep(Duration::from_millis(random.u64(300..2500)));
        cluster.injure(&mut random, &mut faults);
    }
    let injured = begin.elapsed();
    while cluster.active() > 0 {
        assert!(
            begin.elapsed() < injured + Duration::from_secs(120),
            "runs are stuck: {faults:?}, seed {seed}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    for run in &submitted {
        assert_eq!(cluster.outcomes(run), "37|37\n", "run {run}, {faults:?}, seed {seed}");
    }
    // A leader whose lease was over has appended nothing: each line begins where the one before it ends.
    let gaps = cluster.query(
        "SELECT count(*) FROM (
            SELECT start - lag(start + octet_length(line) + 1, 1, 0::bigint) OVER (PARTITION BY run_id ORDER BY start) AS gap FROM journal) AS lines
         WHERE gap <> 0",
    );
    assert_eq!(gaps, "0\n");
    let ended = cluster.query("SELECT count(*) FROM run WHERE status = 'completed'");
    assert_eq!(ended, format!("{}\n", submitted.len()), "{faults:?}, seed {seed}");
    let takeovers = cluster.query("SELECT sum(epoch - 1) FROM job");
    eprintln!(
        "{} runs, {} sessions, {faults:?}, {} takeovers in {} s",
        submitted.len(),
        37 * submitted.len(),
        takeovers.trim(),
        injured.as_secs()
    );
}

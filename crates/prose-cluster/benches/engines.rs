//! A cluster beside other engines that record each step in a database: DBOS Transact on the same PostgreSQL, and the development server of
//! Temporal with a file. All execute the same pattern, in turn: one run whose sessions reply at once, 64 of them at the same time or each behind the
//! other, on workers that could stand on any machine.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may fail, and prints its figures")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use self::support::{Cluster, parallel, sequential};

const ROUNDS: usize = 3;

/// The number of sessions, and how often DBOS looks into its queue, in seconds: what is fastest for each pattern. Temporal refuses more than 2,000
/// activities of one workflow at the same time.
const PATTERNS: [(&str, usize, &str); 2] = [("parallel", 1000, "0.1"), ("sequential", 100, "0.01")];

fn main() {
    // `cargo test` starts it, too.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/engines");
    let install = Command::new(folder.join("install")).status().unwrap();
    assert!(install.success(), "the other engines cannot be installed");

    let cluster = Cluster::start();
    cluster.work("bench", 64, 64);
    cluster.postgres.query("CREATE DATABASE dbos");
    let database = format!("{}dbos", cluster.postgres.url().strip_suffix("postgres").unwrap());

    let data = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut server = Command::new(installed("temporal"));
    server.args(["server", "start-dev", "--headless", "--log-level", "error", "--port", &port]);
    let server = server
        .arg("--db-filename")
        .arg(data.path().join("temporal.db"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let _server = Ended(server);
    let address = format!("127.0.0.1:{port}");
    let mut temporal = Engine::start(
        Command::new(installed("python")).arg(folder.join("temporal_sessions.py")).arg(address),
    );

    for (pattern, sessions, interval) in PATTERNS {
        let mut dbos = Command::new(installed("python"));
        let mut dbos = Engine::start(dbos.arg(folder.join("dbos_sessions.py")).args([&database, interval]));
        let program = if pattern == "parallel" { parallel(sessions) } else { sequential(sessions) };
        let bundle = cluster.bundle(&program);
        let mut seconds: [Vec<f64>; 3] = Default::default();
        // The first round fills caches and makes connections.
        for round in 0..=ROUNDS {
            let begin = Instant::now();
            cluster.execute(&bundle, 1);
            let taken =
                [begin.elapsed().as_secs_f64(), dbos.run(pattern, sessions), temporal.run(pattern, sessions)];
            if round > 0 {
                for (all, one) in seconds.iter_mut().zip(taken) {
                    all.push(one);
                }
            }
        }
        let [prose, dbos, temporal] = seconds.map(|mut all| {
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        });
        println!("{sessions} sessions, {pattern}, medians of {ROUNDS} rounds:");
        for (name, seconds) in [("prose", prose), ("DBOS Transact", dbos), ("Temporal", temporal)] {
            let rate = sessions as f64 / seconds;
            println!(
                "  {name}: {seconds:.3} s, {rate:.0} sessions/s, {:.1} times the time of prose",
                seconds / prose
            );
        }
    }
}

/// A program of the environment in which the other engines are installed.
fn installed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/.cache/engines/bin").join(name)
}

/// A process that executes runs on another engine.
struct Engine {
    _process: Ended,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Engine {
    fn start(command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut engine = Self { _process: Ended(process), input, output: BufReader::new(output) };
        assert_eq!(engine.line(), "ready");
        engine
    }

    /// The seconds that a run takes.
    fn run(&mut self, pattern: &str, sessions: usize) -> f64 {
        writeln!(self.input, "{pattern} {sessions}").unwrap();
        let line = self.line();
        line.parse().unwrap_or_else(|_| panic!("{line:?} instead of seconds"))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

/// A process that ends with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

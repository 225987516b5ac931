//! What the benchmarks of a cluster share: a server, workers, and programs.
//!
//! The server is started here, with its writes synced to the disk. The agents reply at once, so that what is measured is what a cluster adds.

#![allow(dead_code, reason = "not every benchmark uses everything")]

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use prose_cluster::{Bundle, Mirror, Options, Priority, Standing, WorkerSettings, submit, work};
use prose_fixture::postgres::PostgresServer;
use prose_project::imports::ImportOptions;
use prose_project::load::load_file;
use prose_state::Server;
use smol_str::SmolStr;
use tempfile::TempDir;

/// How long a worker is waited for that does not answer, in seconds.
pub(crate) const LEASE: u64 = 15;

/// A server, and what is needed to submit runs to it.
pub(crate) struct Cluster {
    pub(crate) server: Server,
    mirror: Mirror,
    project: TempDir,
    pub(crate) postgres: PostgresServer,
}

impl Cluster {
    /// Starts a server without workers.
    pub(crate) fn start() -> Self {
        let postgres = PostgresServer::start();
        let project = tempfile::tempdir().unwrap();
        let server = Server::new(Some(&postgres.url()), project.path(), None).unwrap();
        server.prepare().unwrap();
        let mirror = Mirror::open(server.clone(), Some("none")).unwrap();
        Self { server, mirror, project, postgres }
    }

    /// Starts a worker of this process, which ends with it.
    pub(crate) fn work(&self, name: &str, slots: usize, leads: usize) {
        let folder = tempfile::tempdir().unwrap();
        let settings = WorkerSettings {
            server: self.server.clone(),
            name: name.to_owned(),
            classes: vec!["offline".to_owned()],
            slots,
            leads,
            lease: Duration::from_secs(LEASE),
            workspace: None,
            metrics: None,
            folder: folder.path().canonicalize().unwrap(),
        };
        thread::spawn(move || {
            let _folder = folder;
            work(settings, std::future::pending(), &mut |_| {}).unwrap();
        });
    }

    pub(crate) fn bundle(&self, text: &str) -> Bundle {
        let path = self.project.path().join("main.prose");
        fs::write(&path, text).unwrap();
        let loaded = load_file(&path, ImportOptions::default()).unwrap();
        let program = loaded.program.unwrap();
        let options = Options { harness: "offline".to_owned(), ..Options::default() };
        Bundle::new(&program, loaded.rules.config(), &path, self.project.path(), options).unwrap()
    }

    pub(crate) fn submit(&self, bundle: &Bundle) -> SmolStr {
        submit(&self.server, bundle, Priority::Normal).unwrap()
    }

    /// Waits for the end of a run.
    pub(crate) fn wait_for(&self, run: &str) {
        let begin = Instant::now();
        while !matches!(self.mirror.standing(run).unwrap(), Some(Standing::Ended(None))) {
            assert!(begin.elapsed() < Duration::from_secs(600));
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Executes runs of a bundle, and waits for all of them.
    pub(crate) fn execute(&self, bundle: &Bundle, runs: usize) {
        let runs: Vec<_> = (0..runs).map(|_| self.submit(bundle)).collect();
        runs.iter().for_each(|run| self.wait_for(run));
    }
}

/// A program with so many sessions, each behind the other.
pub(crate) fn sequential(sessions: usize) -> String {
    format!("repeat {sessions}:\n  session \"next\"\n")
}

/// A program with so many sessions, all at once.
pub(crate) fn parallel(sessions: usize) -> String {
    let items: Vec<String> = (0..sessions).map(|item| format!("\"{item}\"")).collect();
    format!("parallel for item in [{}]:\n  session \"work on {{item}}\"\n", items.join(", "))
}

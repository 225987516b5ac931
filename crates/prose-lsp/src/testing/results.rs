//! The test files that are run, their last results, and what the client was sent about them.

use std::collections::HashMap;

use prose_test::VariantResult;
use tokio::sync::watch;

use crate::mailbox::Mailbox;
use crate::protocol::json::Json;
use crate::protocol::uri::DocumentUri;
use crate::testing::commands::TestMessage;

/// The test files of a session.
pub(crate) struct TestFiles {
    pub(crate) owner: Mailbox<TestMessage>,
    /// The published diagnostics of open test files. They are sent to every client, as those of settings files are.
    pub(crate) published: HashMap<DocumentUri, Json>,
    /// Whether the open test files may have other problems than the client was sent.
    pub(crate) is_outdated: bool,
    runs: HashMap<DocumentUri, TestRun>,
    next: u64,
}

/// The last run of cases of a test file.
#[derive(Default)]
pub(crate) struct TestRun {
    number: u64,
    /// The version of the document that was run; none if it was not open.
    version: Option<i32>,
    /// Stops the cases; none once they have ended.
    stop: Option<watch::Sender<bool>>,
    /// The results, once they have ended.
    results: Vec<VariantResult>,
}

impl TestRun {
    /// Whether cases are run now.
    pub(crate) fn is_live(&self) -> bool {
        self.stop.is_some()
    }

    /// The results, if they are those of a version of the document.
    pub(crate) fn results_of(&self, version: i32) -> &[VariantResult] {
        if self.version == Some(version) { &self.results } else { &[] }
    }
}

impl TestFiles {
    pub(crate) fn new(owner: Mailbox<TestMessage>) -> Self {
        Self { owner, published: HashMap::new(), is_outdated: false, runs: HashMap::new(), next: 0 }
    }

    /// The last run of a test file.
    pub(crate) fn run_of(&self, uri: &DocumentUri) -> Option<&TestRun> {
        self.runs.get(uri)
    }

    /// Notes that cases of a test file are run. An earlier run of them is stopped. Returns its number, and what becomes true when it is stopped.
    pub(crate) fn start(&mut self, uri: &DocumentUri, version: Option<i32>) -> (u64, watch::Receiver<bool>) {
        self.stop(uri);
        self.next += 1;
        let (stop, stopped) = watch::channel(false);
        let run = TestRun { number: self.next, version, stop: Some(stop), results: Vec::new() };
        self.runs.insert(uri.clone(), run);
        (self.next, stopped)
    }

    /// Stops the cases of a test file. Returns whether there were any.
    pub(crate) fn stop(&self, uri: &DocumentUri) -> bool {
        let stop = self.runs.get(uri).and_then(|run| run.stop.as_ref());
        stop.is_some_and(|stop| stop.send(true).is_ok())
    }

    /// Stops the cases of all test files.
    pub(crate) fn stop_all(&self) {
        self.runs.keys().for_each(|uri| _ = self.stop(uri));
    }

    /// Takes the results of a run. Returns whether it is the last one of the test file.
    pub(crate) fn end(&mut self, uri: &DocumentUri, number: u64, results: Vec<VariantResult>) -> bool {
        let Some(run) = self.runs.get_mut(uri).filter(|run| run.number == number) else { return false };
        run.stop = None;
        run.results = results;
        true
    }
}

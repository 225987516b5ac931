//! Who answers sessions.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use crate::effect::{
    Choice, Failure, InputRequest, Memory, MemoryPlace, PermissionRule, Question, Reply, Request,
    SessionTask, Summary, Verdict,
};
use crate::value::Value;

/// What a harness answers, when it does. It may be dropped at any time; the work for it then has to stop.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// What a harness can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Its agents read files, so that context is passed by reference (decision 12).
    pub reads_files: bool,
    /// Its agents write files, so that they are told where to write (decision 11).
    pub writes_files: bool,
}

/// Where a run works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workplace {
    /// The folder that holds `.prose`: the one agents work in.
    pub root: PathBuf,
    /// The folder of the run; none where a run leaves no files.
    pub run: Option<PathBuf>,
}

impl Workplace {
    /// The file of a binding or of a memory, if the run has files.
    pub fn file(&self, path: &str) -> Option<PathBuf> {
        self.run
            .as_deref()
            .map(|run| path.split('/').fold(run.to_owned(), |path: PathBuf, part| path.join(part)))
    }

    /// The folder that agents work in.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// Who answers sessions, conditions and choices.
///
/// Each request comes with its number and place, so that an answer may depend on them.
pub trait Harness: Send + Sync {
    /// What it is called, in messages and in the head of a journal.
    fn name(&self) -> &str;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Whether it can see to it that a session keeps to a rule (decision 13).
    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool;

    /// Has a subagent do a task.
    fn session<'a>(&'a self, request: &'a Request, task: &'a Arc<SessionTask>) -> Answer<'a, Reply>;

    /// Judges a condition.
    fn judge<'a>(&'a self, request: &'a Request, question: &'a Question) -> Answer<'a, Verdict>;

    /// Chooses one of several labels.
    fn choose<'a>(&'a self, request: &'a Request, question: &'a Question) -> Answer<'a, Choice>;

    /// Takes a part out of a text; none if it is not there.
    fn extract<'a>(&'a self, request: &'a Request, question: &'a Question) -> Answer<'a, Option<String>>;

    /// Shortens a text.
    fn summarise<'a>(&'a self, request: &'a Request, summary: &'a Summary) -> Answer<'a, String>;

    /// Gives an input, where the harness knows inputs too; none leaves it to the person or to who started the program.
    fn input<'a>(&'a self, request: &'a Request, input: &'a InputRequest) -> Option<Answer<'a, Value>> {
        let _ = (request, input);
        None
    }

    /// What an agent remembers, where the harness says so; none leaves it to the store.
    fn memory(&self, request: &Request, place: &MemoryPlace) -> Option<Memory> {
        let _ = (request, place);
        None
    }

    /// Waits until everything has ended that was dropped before its answer: a run is over when nothing works for it any more.
    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }

    /// Tells it of a request whose outcome is known from an earlier execution, so that it is not asked. A harness that answers
    /// requests in their order counts it.
    fn recalled(&self, request: &Request) {
        let _ = request;
    }
}

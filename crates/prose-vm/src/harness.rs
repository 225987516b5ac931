//! The interface of harnesses, the backends that run sessions.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use prose_rights::Enforcement;

use crate::activity::Reporter;
use crate::effect::{
    Failure, InputRequest, Memory, MemoryPlace, Outcome, PermissionRule, Request, SessionTask,
};
use crate::value::Value;

/// The future result of a harness. Dropping it cancels the work.
pub type HarnessFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// The failure of a request that no harness performs.
pub fn not_performed(request: &Request) -> Failure {
    Failure::session(format!("no harness performs `{}`", request.effect.kind()))
}

/// The capabilities of a harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Its agents read files, so context is passed by reference (decision 12).
    pub reads_files: bool,
    /// Its agents write files, so prompts name the files to write (decision 11).
    pub writes_files: bool,
}

/// The folders of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolders {
    /// The folder that contains `.prose`, in which agents work.
    pub root: PathBuf,
    /// The folder of the run; `None` if the run has no files.
    pub run: Option<PathBuf>,
}

impl RunFolders {
    /// The path of a binding or memory file, if the run has files.
    pub fn file(&self, path: &str) -> Option<PathBuf> {
        self.run
            .as_deref()
            .map(|run| path.split('/').fold(run.to_owned(), |path: PathBuf, part| path.join(part)))
    }

    /// The folder in which agents work.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder in which the agent of a session works: the root, or a working tree.
    pub fn of_session(&self, task: &SessionTask) -> PathBuf {
        task.folder.as_deref().and_then(|folder| self.file(folder)).unwrap_or_else(|| self.root.clone())
    }
}

/// The backend that runs sessions and evaluates conditions and choices.
///
/// Each request has a number and a place, by which a reply may vary. While a backend works on a request it reports usage, tool calls and denials to
/// the reporter; what was reported counts even if the request fails or is cancelled.
pub trait Harness: Send + Sync {
    /// The name, for messages and the head of a journal.
    fn name(&self) -> &str;

    /// The capabilities.
    fn capabilities(&self) -> Capabilities;

    /// Whether it can enforce a permission (decision 13), by default as the table of all harnesses says.
    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        Enforcement::holds(self.name(), about, rule)
    }

    /// The harness that runs the sessions of an agent; `None` if it is this one.
    fn of_agent(&self, agent: Option<&str>) -> Option<&dyn Harness> {
        let _ = agent;
        None
    }

    /// The harness that makes decisions; `None` if it is this one.
    fn of_decisions(&self) -> Option<&dyn Harness> {
        None
    }

    /// Performs a request that [needs an agent](crate::effect::Effect::needs_agent). The outcome is a [`Outcome::Reply`] of a session, a
    /// [`Outcome::Verdict`] on a condition, a [`Outcome::Choice`], or the [`Outcome::Value`] of an extracted part (`null` if the text does not contain
    /// it) or of a summary. The runner does not call it for other requests, which [are failures](not_performed).
    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome>;

    /// The prompt for a condition, a choice, a part of a text or a summary, for dry runs; `None` if the harness does not prompt a model for it.
    fn prompt_of(&self, request: &Request) -> Option<String> {
        let _ = request;
        None
    }

    /// Provides an input; `None` leaves it to the user or the caller.
    fn input<'a>(
        &'a self,
        request: &'a Request,
        input: &'a InputRequest,
    ) -> Option<HarnessFuture<'a, Value>> {
        let _ = (request, input);
        None
    }

    /// Provides the memory of an agent; `None` leaves it to the store.
    fn memory(&self, request: &Request, place: &MemoryPlace) -> Option<Memory> {
        let _ = (request, place);
        None
    }

    /// Waits until all cancelled work has ended, since a run is over only when nothing works for it any more.
    fn settled(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }

    /// Called for a request whose outcome is recorded, instead of the request itself. A harness whose replies depend on the order of requests counts
    /// it.
    fn recalled(&self, request: &Request) {
        let _ = request;
    }

    /// Called before a request is asked again by which an earlier execution of the run failed. A harness whose replies are used up counts that one.
    fn failed_before(&self, request: &Request, failure: &Failure) {
        let _ = (request, failure);
    }
}

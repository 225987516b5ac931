//! Working trees for the sessions of a run whose agents work in a repository (`prose run --on URL --git`).

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prose_vm::effect::{Failure, Outcome, RequestId, SessionTask};
use prose_vm::harness::Harness;

use crate::bundle::Bundle;
use crate::harness::harness_in;
use crate::repository::{Clones, Repository, push_changes};

/// How often it is tried to push: what an agent has made is lost if it fails.
const ATTEMPTS: u32 = 3;

/// How long it is waited before the second try; the third one waits twice as long.
const PAUSE: Duration = Duration::from_secs(1);

/// Makes working trees for a run.
pub(crate) struct Checkouts {
    pub(crate) run: Arc<str>,
    pub(crate) bundle: Bundle,
    pub(crate) repository: Repository,
    pub(crate) clones: Arc<Clones>,
    /// The folder of the worker.
    pub(crate) worker: PathBuf,
}

/// The working tree of a session, which is removed with this value.
pub(crate) struct Checkout {
    pub(crate) harness: Arc<dyn Harness>,
    tree: Tree,
    repository: Repository,
    /// Paths in the tree that are not from the repository.
    ours: Vec<String>,
    branch: String,
    message: String,
}

/// A folder that is removed with this value.
struct Tree(PathBuf);

impl Drop for Tree {
    fn drop(&mut self) {
        // What is left of a folder harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Checkouts {
    /// Makes the working tree for an attempt of a session.
    pub(crate) async fn open(self: &Arc<Self>, id: RequestId, attempt: i32) -> Result<Checkout, String> {
        let this = Arc::clone(self);
        let made = tokio::task::spawn_blocking(move || this.make(id, attempt)).await;
        made.unwrap_or_else(|error| Err(error.to_string()))
    }

    fn make(&self, id: RequestId, attempt: i32) -> Result<Checkout, String> {
        let (run, number) = (&self.run, id.0);
        let trees = self.worker.join("trees");
        fs::create_dir_all(&trees).map_err(|error| format!("`{}`: {error}", trees.display()))?;
        let tree = Tree(trees.join(format!("{run}-{number}-{attempt}")));
        let root = self.clones.check_out(&self.repository, &self.worker, &tree.0)?;
        let folder = &self.repository.folder;
        let unpacked = self.bundle.unpack_texts(&root).map_err(|error| error.to_string())?;
        let mut ours: Vec<String> = unpacked.iter().map(|path| format!("{folder}{path}")).collect();
        ours.push(format!("{folder}.prose"));
        let harness = harness_in(run, &self.bundle, &root, None)?.harness;
        // An attempt that was given up may still push: only the outcome of the last one counts, and names its branch.
        let again = if attempt > 1 { format!("-{attempt}") } else { String::new() };
        let branch = format!("prose/{run}/{number}{again}");
        let message = format!("Session {number} of run {run}");
        Ok(Checkout { harness, tree, repository: self.repository.clone(), ours, branch, message })
    }
}

impl Checkout {
    /// Pushes what a session has changed, and names the branch in its reply. A session fails whose changes cannot be pushed.
    pub(crate) async fn close(self, outcome: Outcome, task: &SessionTask) -> Outcome {
        let Outcome::Reply(mut reply) = outcome else { return outcome };
        let branch = self.branch.clone();
        let pushed = tokio::task::spawn_blocking(move || self.push()).await;
        match pushed.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(None) => {}
            Ok(Some(commit)) => {
                let commit = commit.get(..10).unwrap_or(&commit);
                let notice = format!("The changes are in the branch `{branch}` (commit {commit}).");
                let text = reply.text.trim_end();
                // A memory is the end of its reply.
                reply.text = match task.memory.is_some() {
                    true => format!("{notice}\n\n{text}").into(),
                    false => format!("{text}\n\n{notice}").into(),
                };
            }
            Err(why) => return Outcome::Failed(Failure::session(why)),
        }
        Outcome::Reply(reply)
    }

    fn push(&self) -> Result<Option<String>, String> {
        let mut attempt = 1;
        loop {
            let pushed =
                push_changes(&self.repository, &self.tree.0, &self.ours, &self.branch, &self.message);
            if pushed.is_ok() || attempt == ATTEMPTS {
                return pushed;
            }
            std::thread::sleep(PAUSE * attempt);
            attempt += 1;
        }
    }
}

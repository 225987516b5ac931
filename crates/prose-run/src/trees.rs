//! Working trees of branches in git (`run.isolation`).
//!
//! A tree is a worktree of the repository in `trees/` of the folder of the run. It starts with the files of the project as they are, also those that
//! are not committed, and with its `HEAD`. When branches have ended, the changes since then are merged without the working folder, and only if that
//! succeeds for all of them, the changed files are written to the project. Branches and index of the user are not touched.
//!
//! What must survive a crash is in references of a tree, which are removed with it: [`BASE`] are the files that it started with, so that a tree with
//! it is complete; [`PLAN`] is what is being written to the project, so that it is written once.

mod git;
mod merge;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use prose_vm::effect::Failure;
use prose_vm::runner::{TreeFuture, Trees};
use prose_vm::trees::{BranchTree, TreeName, TreeOutcome, TreeRequest, outer};
use tokio::sync::Mutex;

use self::git::{Git, NoRepository, failed, not_supported};
use self::merge::{Changes, Merger};

/// The state that a tree started with.
const BASE: &str = "refs/worktree/prose/base";
/// The state that the project is brought to, with the one that it had before as parent.
const PLAN: &str = "refs/worktree/prose/plan";

/// The folder of trees in that of a run.
const TREES: &str = "trees";

/// The lock of a repository: one run after the other changes files of a project.
const LOCK_FILE: &str = "prose.lock";

/// The files in the Git repository of a folder that differ from a commit, with untracked ones. The error is for the user.
pub fn changed_in_git(folder: &Path, commit: &str) -> Result<Vec<PathBuf>, String> {
    git::changed(folder, commit)
}

/// The program `git` in a folder, as it is started for runs: without hooks and other programs of the repository, without questions, and without reaching
/// other machines unless `GIT_ALLOW_PROTOCOL` is set again.
pub fn git_in(folder: &Path) -> Command {
    git::plain(folder)
}

/// What such a command writes, which succeeds. The error is for the user.
pub fn written_by_git(command: &mut Command) -> Result<Vec<u8>, String> {
    git::written(command)
}

/// Checks that branches of a program in a project can have working trees.
///
/// # Errors
///
/// Says what is missing and what to do.
pub(crate) fn check(project: &Path) -> Result<(), String> {
    find(project).map(drop)
}

fn find(project: &Path) -> Result<Git, String> {
    const OFF: &str = "or set `isolation = \"none\"` in `[run]` in `prose.toml`";
    let needs = "`run.isolation = \"worktree\"` needs";
    let shown = project.display();
    let git = Git::find(project).map_err(|reason| match reason {
        NoRepository::NoGit => format!("{needs} `git`, which is not installed; install it, {OFF}"),
        NoRepository::TooOld(version) => {
            format!("{needs} git 2.38 or later, and this is {version}; update it, {OFF}")
        }
        NoRepository::None => {
            format!("{needs} a git repository, and the project {shown} is in none; run `git init` there, {OFF}")
        }
        NoRepository::Failed(said) => {
            format!("{needs} a git repository, and git cannot open the one of the project {shown}: {said}; repair it, {OFF}")
        }
    })?;
    if git.ignores_project() {
        return Err(format!(
            "{needs} a project that git does not ignore, and a `.gitignore` of {} ignores {shown}; change it, {OFF}",
            git.top.display()
        ));
    }
    match git.inner_repository() {
        Ok(None) => Ok(git),
        Ok(Some(repository)) => {
            Err(format!("{}; add it to `.gitignore` if it is none, {OFF}", not_supported(&repository)))
        }
        Err(failure) => Err(failure.message),
    }
}

/// The trees of a run.
pub(crate) struct GitTrees {
    shared: Arc<Shared>,
    /// Requests are performed in the order in which they are made.
    turn: Arc<Mutex<()>>,
    /// The trees to copy again before a session works in them.
    discarded: std::sync::Mutex<BTreeSet<TreeName>>,
}

struct Shared {
    git: Git,
    /// The absolute folder of the trees.
    folder: PathBuf,
    /// The same for people, from the folder of the project.
    shown: String,
}

impl GitTrees {
    /// The trees of a run in a project, with the folder of the run.
    pub(crate) fn new(project: &Path, run: &Path) -> Result<Self, String> {
        let git = find(project)?;
        let run = run.canonicalize().map_err(|error| format!("cannot open {}: {error}", run.display()))?;
        let id = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let shared = Shared { git, folder: run.join(TREES), shown: format!(".prose/runs/{id}/{TREES}") };
        shared.repair();
        Ok(Self { shared: Arc::new(shared), turn: Arc::default(), discarded: std::sync::Mutex::default() })
    }

    /// Waits for the request that is being performed.
    pub(crate) async fn settled(&self) {
        drop(self.turn.lock().await);
    }

    fn discarded(&self) -> std::sync::MutexGuard<'_, BTreeSet<TreeName>> {
        self.discarded.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn perform_by<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let shared = Arc::clone(&self.shared);
        let work = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let _lock = shared.lock()?;
            work(&shared)
        });
        work.await.unwrap_or_else(|error| Err(failed(format!("cannot work with trees: {error}"))))
    }
}

impl Trees for GitTrees {
    fn perform<'a>(&'a self, request: &'a TreeRequest) -> TreeFuture<'a, TreeOutcome> {
        let request = request.clone();
        Box::pin(self.perform_by(move |shared| match request {
            TreeRequest::Open { tree } => {
                shared.open(&tree)?;
                Ok(TreeOutcome::Opened { folder: shared.project_in(&tree).into() })
            }
            TreeRequest::Join { into, merged, dropped } => {
                let kept = shared.join(into.as_deref(), &merged, &dropped)?;
                Ok(TreeOutcome::Joined { kept })
            }
            TreeRequest::Remove { trees } => {
                trees.iter().try_for_each(|tree| shared.remove(&shared.path(tree)))?;
                Ok(TreeOutcome::Removed)
            }
        }))
    }

    fn restore<'a>(&'a self, folder: &'a str) -> TreeFuture<'a, ()> {
        Box::pin(async move {
            let Some(tree) = tree_of(folder) else { return Ok(()) };
            if self.discarded().remove(tree) {
                let tree = tree.to_owned();
                return self.perform_by(move |shared| shared.open_anew(&tree)).await;
            }
            if self.shared.is_there(&self.shared.path(tree)) {
                return Ok(());
            }
            let tree = tree.to_owned();
            self.perform_by(move |shared| shared.restore(&tree)).await
        })
    }

    fn discard(&self, folder: &str) {
        self.discarded().extend(tree_of(folder).map(TreeName::from));
    }
}

/// The tree of a folder of a session.
fn tree_of(folder: &str) -> Option<&str> {
    folder.split('/').nth(1)
}

impl Shared {
    /// Waits until no other run changes files of the repository.
    fn lock(&self) -> Result<File, Failure> {
        let path = self.git.common.join(LOCK_FILE);
        let lock = File::create(&path).and_then(|file| file.lock().map(|()| file));
        lock.map_err(|error| failed(format!("cannot lock {}: {error}", path.display())))
    }

    /// The folder of a tree.
    fn path(&self, tree: &str) -> PathBuf {
        self.folder.join(tree)
    }

    /// The folder that a tree was made from.
    fn origin(&self, outer: Option<&str>) -> PathBuf {
        outer.map_or_else(|| self.git.top.clone(), |outer| self.path(outer))
    }

    /// A tree for people.
    fn shown(&self, tree: &str) -> String {
        format!("`{}/{tree}`", self.shown)
    }

    /// The folder of the project in a tree, relative to that of the run.
    fn project_in(&self, tree: &str) -> String {
        format!("{TREES}/{tree}/{}", self.git.prefix).trim_end_matches('/').to_owned()
    }

    /// Whether the folder is a working tree.
    fn is_there(&self, path: &Path) -> bool {
        path.join(".git").is_file()
    }

    /// The commit with the files that a tree started with; `None` if it is not complete.
    fn base(&self, path: &Path) -> Option<String> {
        self.is_there(path).then(|| self.git.object(path, BASE)).flatten()
    }

    fn open(&self, tree: &str) -> Result<(), Failure> {
        let path = self.path(tree);
        if self.base(&path).is_some() {
            return Ok(());
        }
        self.remove(&path)?;
        let from = self.origin(outer(tree));
        let files = self.git.state(&from, &self.folder)?;
        let head = self.git.object(&from, "HEAD^{commit}");
        let parents: Vec<&str> = head.as_deref().into_iter().collect();
        let base = self.git.commit(&files, &parents)?;
        let add = ["worktree", "add", "-q", "--detach"].map(OsString::from);
        let add: Vec<OsString> = add.into_iter().chain([path.clone().into(), base.clone().into()]).collect();
        self.git.run(&self.git.top, &add)?;
        if let Some(head) = head {
            // What is not committed in the project is not committed in the tree.
            self.git.run(&path, &["reset", "-q", "--mixed", &head])?;
        }
        let project = path.join(&self.git.prefix);
        fs::create_dir_all(&project)
            .map_err(|error| failed(format!("cannot create {}: {error}", project.display())))?;
        self.git.run(&path, &["update-ref", BASE, &base])?;
        Ok(())
    }

    /// Opens a tree without what is in it.
    fn open_anew(&self, tree: &str) -> Result<(), Failure> {
        self.remove(&self.path(tree))?;
        self.open(tree)
    }

    /// Opens a tree again that was removed since nothing in it was changed.
    fn restore(&self, tree: &str) -> Result<(), Failure> {
        let path = self.path(tree);
        if self.is_there(&path) {
            return Ok(());
        }
        if self.is_known(&path)? {
            return Err(self.missing(tree));
        }
        if let Some(outer) = outer(tree) {
            self.restore(outer)?;
        }
        self.open(tree)
    }

    fn missing(&self, tree: &str) -> Failure {
        let shown = self.shown(tree);
        failed(format!(
            "the working tree {shown} was deleted, with the work of its branch; restore it, or run `git worktree prune` to continue without that work"
        ))
    }

    /// Whether git knows a tree, whose folder may be missing.
    fn is_known(&self, path: &Path) -> Result<bool, Failure> {
        let listed = self.git.run(&self.git.top, &["worktree", "list", "--porcelain", "-z"])?;
        let mut trees = listed.split(|byte| *byte == 0).filter_map(|line| line.strip_prefix(b"worktree "));
        Ok(trees.any(|tree| git::path(tree) == path))
    }

    /// Removes a tree, or what is left of one.
    fn remove(&self, path: &Path) -> Result<(), Failure> {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(format!("cannot remove {}: {error}", path.display())));
            }
            _ => {}
        }
        if self.is_known(path)? {
            let arguments: Vec<OsString> = ["worktree", "remove", "--force", "--force"]
                .map(OsString::from)
                .into_iter()
                .chain([path.into()])
                .collect();
            self.git.run(&self.git.top, &arguments)?;
        }
        // It stays while other trees are in it.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }

    /// Connects the trees of a resumed run with the repository again, in case the project was moved.
    fn repair(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let trees: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| self.is_there(path)).collect();
        if trees.iter().any(|tree| self.base(tree).is_none()) {
            let arguments: Vec<OsString> = ["worktree", "repair"]
                .map(OsString::from)
                .into_iter()
                .chain(trees.into_iter().map(OsString::from))
                .collect();
            // What cannot be repaired is reported where it is needed.
            let _ = self.git.output(&self.git.top, None, &arguments, None);
        }
    }

    /// What was changed in a tree; `None` without changes. A tree that git does not know any more was removed without changes, or by the user.
    fn changes(&self, tree: &str) -> Result<Option<Changes>, Failure> {
        let path = self.path(tree);
        if !self.is_there(&path) {
            return if self.is_known(&path)? { Err(self.missing(tree)) } else { Ok(None) };
        }
        let Some(base) = self.base(&path) else { return Ok(None) };
        let before = self.git.id(&path, &["rev-parse", &format!("{base}^{{tree}}")])?;
        let files = self.git.state(&path, &self.folder)?;
        Ok((files != before).then_some(Changes { base, files }))
    }

    /// Merges trees into what they were made from. Returns the other ones with changes.
    fn join(
        &self,
        into: Option<&str>,
        merged: &[BranchTree],
        dropped: &[TreeName],
    ) -> Result<Vec<TreeName>, Failure> {
        let mut changed = Vec::new();
        for branch in merged {
            changed.extend(self.changes(&branch.tree)?.map(|changes| (branch, changes)));
        }
        let mut kept = Vec::new();
        for tree in dropped {
            if self.changes(tree)?.is_some() {
                kept.push(tree.clone());
            }
        }
        let Some((first, _)) = changed.first() else { return Ok(kept) };
        let path = self.path(&first.tree);
        let merger = Merger { git: &self.git, target: self.origin(into), temporary: self.folder.clone() };
        let plan = match self.git.object(&path, PLAN) {
            Some(plan) => plan,
            None => {
                let plan = match merger.plan(&changed)? {
                    Ok(plan) => plan,
                    Err(conflict) => return Err(self.conflict(&changed, &conflict)),
                };
                self.git.run(&path, &["update-ref", PLAN, &plan])?;
                plan
            }
        };
        if let Err(failure) = merger.apply(&plan) {
            // Another attempt looks at the trees again.
            self.git.run(&path, &["update-ref", "-d", PLAN])?;
            return Err(failure);
        }
        Ok(kept)
    }

    fn conflict(&self, changed: &[(&BranchTree, Changes)], conflict: &merge::MergeConflict) -> Failure {
        let files = merge::shown_files(&conflict.files);
        let (later, _) = &changed[conflict.later];
        let resume = "then resume the run";
        let message = match conflict.earlier.map(|earlier| changed[earlier].0) {
            Some(earlier) => {
                let (one, other) = (self.shown(&earlier.tree), self.shown(&later.tree));
                format!(
                    "{} and {} have changed {files} in ways that cannot be merged; nothing was merged, and their work is kept in {one} and {other}: \
                     make these files the same in both, {resume}, or discard a branch with `git worktree remove --force` and its folder",
                    earlier.branch, later.branch
                )
            }
            None => {
                let other = self.shown(&later.tree);
                format!(
                    "{files} was changed outside of the run while {} changed it, too, and the changes cannot be merged; nothing was merged, and its work is \
                     kept in {other}: make the file the same there, {resume}, or discard the branch with `git worktree remove --force` and its folder",
                    later.branch
                )
            }
        };
        Failure::new(prose_vm::error::ErrorKind::Conflict, message)
    }
}

/// Removes what git knows of the working trees of a run whose folder was removed.
pub fn forget_trees(project: &Path, run: &Path) {
    let folder = run.join(TREES);
    if let Ok(git) = Git::find(project)
        && let Ok(listed) = git.run(&git.top, &["worktree", "list", "--porcelain", "-z"])
    {
        let trees = listed.split(|byte| *byte == 0).filter_map(|line| line.strip_prefix(b"worktree "));
        for tree in trees.map(git::path).filter(|tree| tree.starts_with(&folder)) {
            let arguments: Vec<OsString> = ["worktree", "remove", "--force", "--force"]
                .map(OsString::from)
                .into_iter()
                .chain([tree.into()])
                .collect();
            // `git worktree prune` removes what is left in the end.
            let _ = git.run(&git.top, &arguments);
        }
    }
}

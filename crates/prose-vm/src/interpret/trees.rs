//! Working trees of branches: opened before the first session that may change files, joined when the branches have ended.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, Shared};
use prose_syntax::text::enumerated;
use smol_str::{SmolStr, format_smolstr};

use super::{Cx, Exec, Flow};
use crate::effect::{Effect, Failure, Outcome, Permission, SessionTask};
use crate::error::ErrorKind;
use crate::permissions::effective;
use crate::trees::{BranchTree, TreeName, TreeOutcome, TreeRequest};

/// The working tree of a branch.
pub(super) struct Tree {
    /// The branch, in the tree around it.
    cx: Cx,
    label: SmolStr,
    /// Its name once it was requested.
    name: Rc<OnceCell<TreeName>>,
    opening: RefCell<Option<Opening>>,
    /// The trees of branches in this branch that are not joined yet.
    inner: RefCell<Vec<Rc<Tree>>>,
    /// The lines of the sessions that may change files.
    lines: RefCell<BTreeSet<u32>>,
}

/// The folder of a tree. The future does not refer to the tree, so that dropping the tree cancels the request.
type Opening = Shared<LocalBoxFuture<'static, Result<Arc<str>, Failure>>>;

impl Tree {
    fn folder(&self) -> Option<Arc<str>> {
        self.opening.borrow().as_ref()?.peek()?.as_ref().ok().cloned()
    }

    /// Opens the tree once, after the one around it.
    fn open(&self) -> Opening {
        if let Some(opening) = &*self.opening.borrow() {
            return opening.clone();
        }
        let (cx, label, name) = (self.cx.clone(), self.label.clone(), Rc::clone(&self.name));
        let opening = async move {
            let outer = match &cx.tree {
                Some(outer) => {
                    let opening = outer.open();
                    opening.await?;
                    outer.name.get()
                }
                None => None,
            };
            let number = cx.run.trees.get() + 1;
            cx.run.trees.set(number);
            let tree = match outer {
                Some(outer) => format_smolstr!("{outer}.{number}-{}", in_a_path(&label)),
                None => format_smolstr!("{number}-{}", in_a_path(&label)),
            };
            // It is set only here.
            let _ = name.set(tree.clone());
            match cx.step("tree").request(Effect::Tree(TreeRequest::Open { tree }.into())).await {
                Outcome::Tree(TreeOutcome::Opened { folder }) => Ok(folder),
                Outcome::Failed(failure) => Err(failure),
                _ => Err(Failure::new(ErrorKind::Other, "the working tree of the branch was not opened")),
            }
        };
        let opening = opening.boxed_local().shared();
        *self.opening.borrow_mut() = Some(opening.clone());
        opening
    }

    /// Adds the names of the trees in this one that are not joined any more, the innermost first.
    fn leave(&self, names: &mut Vec<TreeName>) {
        for inner in self.inner.take() {
            inner.leave(names);
            names.extend(inner.name.get().cloned());
        }
    }

    /// The branch and its sessions, for messages.
    fn branch(&self) -> SmolStr {
        let lines = self.lines.borrow();
        let sessions = if lines.len() == 1 { "session of line" } else { "sessions of lines" };
        let lines = enumerated(lines.iter().map(u32::to_string), "and");
        match self.label.contains(' ') {
            true => format_smolstr!("{} ({sessions} {lines})", self.label),
            false => format_smolstr!("branch `{}` ({sessions} {lines})", self.label),
        }
    }
}

impl Cx {
    /// Gives branches that run at the same time a working tree each, if they may change files.
    pub(super) fn isolate(&mut self, branches: usize, label: &SmolStr) -> Option<Rc<Tree>> {
        if branches < 2 || !self.run.world.settings.isolates_any() {
            return None;
        }
        let tree = Rc::new(Tree {
            cx: self.clone(),
            label: label.clone(),
            name: Rc::default(),
            opening: RefCell::default(),
            inner: RefCell::default(),
            lines: RefCell::default(),
        });
        if let Some(outer) = &self.tree {
            outer.inner.borrow_mut().push(Rc::clone(&tree));
        }
        self.tree = Some(Rc::clone(&tree));
        Some(tree)
    }

    /// Opens the working tree of the branch for a session that may change files.
    pub(super) async fn open_tree(&self, agent: Option<&str>, permissions: &[Permission]) -> Exec<()> {
        let settings = &self.run.world.settings;
        let Some(tree) = &self.tree else { return Ok(()) };
        if !settings.agent_isolates(agent)
            || !SessionTask::may_change_files(&effective(permissions, &settings.permissions))
        {
            return Ok(());
        }
        tree.lines.borrow_mut().insert(self.site().line);
        let opening = tree.open();
        match opening.await {
            Ok(_) => Ok(()),
            Err(failure) => self.fail(failure.kind, failure.message),
        }
    }

    /// The folder of the project in the innermost tree that is open; `None` for the project itself.
    pub(super) fn tree_folder(&self) -> Option<Arc<str>> {
        let mut tree = self.tree.as_ref();
        while let Some(current) = tree {
            if let Some(folder) = current.folder() {
                return Some(folder);
            }
            tree = current.cx.tree.as_ref();
        }
        None
    }

    /// Merges the changes of branches that have ended well, if all of them together have. The trees of the other branches are removed unless
    /// something in them was changed.
    pub(super) async fn join_trees(
        &self,
        trees: &[Rc<Tree>],
        is_done: impl Fn(usize) -> bool,
        joined: Exec<()>,
    ) -> Exec<()> {
        let is_merged = !matches!(joined, Err(Flow::Throw(_)));
        let (mut merged, mut dropped) = (Vec::new(), Vec::new());
        for (nth, tree) in trees.iter().enumerate() {
            tree.leave(&mut dropped);
            let Some(name) = tree.name.get() else { continue };
            match is_merged && is_done(nth) {
                true => merged.push(BranchTree { tree: name.clone(), branch: tree.branch() }),
                false => dropped.push(name.clone()),
            }
        }
        let joined = match merged.is_empty() && dropped.is_empty() {
            true => joined,
            false => self.request_join(merged, dropped, joined).await,
        };
        // Until here a branch around this one may be cancelled, which drops these trees then.
        if let Some(outer) = &self.tree {
            outer.inner.borrow_mut().retain(|tree| !trees.iter().any(|own| Rc::ptr_eq(tree, own)));
        }
        joined
    }

    async fn request_join(
        &self,
        merged: Vec<BranchTree>,
        dropped: Vec<TreeName>,
        joined: Exec<()>,
    ) -> Exec<()> {
        let names: Vec<TreeName> =
            merged.iter().map(|branch| branch.tree.clone()).chain(dropped.iter().cloned()).collect();
        let into = self.tree.as_ref().and_then(|tree| tree.name.get()).cloned();
        let request = TreeRequest::Join { into, merged, dropped };
        let cx = self.step("trees");
        let kept = match cx.request(Effect::Tree(request.into())).await {
            Outcome::Tree(TreeOutcome::Joined { kept }) => kept,
            Outcome::Failed(failure) if joined.is_err() => {
                self.warn(failure.message);
                return joined;
            }
            outcome => return self.unexpected(&outcome),
        };
        for tree in &kept {
            let folder = self.path_from_root(&format!("trees/{tree}"));
            self.warn(format!(
                "a branch that failed or was cancelled has changed files; they are not merged, but kept in `{folder}`; to discard them, run \
                 `git worktree remove --force {folder}`"
            ));
        }
        let trees: Vec<TreeName> = names.into_iter().filter(|name| !kept.contains(name)).collect();
        if !trees.is_empty() {
            let request = TreeRequest::Remove { trees };
            match cx.step("removed").request(Effect::Tree(request.into())).await {
                Outcome::Failed(failure) => self.warn(failure.message),
                Outcome::Tree(_) => {}
                outcome => return self.unexpected(&outcome),
            }
        }
        joined
    }
}

/// A label as a part of a name of a folder.
fn in_a_path(label: &str) -> String {
    const MAX_CHARS: usize = 24;
    let part: String = label
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' })
        .take(MAX_CHARS)
        .collect();
    part.trim_matches('-').to_owned()
}

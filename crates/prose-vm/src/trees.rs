//! Working trees: copies of the project in which branches change files at the same time (`run.isolation`).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// The name of a working tree, unique in its run: `2-review`, or `2-review.5-tests` for one whose branch is in the branch of another.
pub type TreeName = SmolStr;

/// The tree that a tree was made from; `None` for the project.
pub fn outer(tree: &str) -> Option<&str> {
    tree.rsplit_once('.').map(|(outer, _)| outer)
}

/// A request about working trees. Performing one again changes nothing, so that a run can be resumed in the middle of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
pub enum TreeRequest {
    /// Copy the project, or the outer tree, as it is now, with changes that are not committed.
    Open {
        /// The new tree.
        tree: TreeName,
    },
    /// Merge the changes in trees into what they were made from, all of them or none.
    Join {
        /// The tree that they were made from; `None` for the project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        into: Option<TreeName>,
        /// The trees to merge, in the order of the text.
        merged: Vec<BranchTree>,
        /// The trees of branches that failed or were cancelled. They are not merged.
        dropped: Vec<TreeName>,
    },
    /// Remove trees.
    Remove {
        /// The trees.
        trees: Vec<TreeName>,
    },
}

/// The tree of a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchTree {
    /// Its name.
    pub tree: TreeName,
    /// The branch and the lines of its sessions, for messages: ``branch `a` (session of line 4)``.
    pub branch: SmolStr,
}

/// The outcome of a request about working trees. A conflict is a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tree", rename_all = "kebab-case")]
pub enum TreeOutcome {
    /// A tree was opened.
    Opened {
        /// The folder of the project in the tree, relative to the folder of the run.
        folder: Arc<str>,
    },
    /// Trees were merged.
    Joined {
        /// The trees with changes that were not merged.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<TreeName>,
    },
    /// Trees were removed.
    Removed,
}

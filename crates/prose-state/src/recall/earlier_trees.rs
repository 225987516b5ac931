//! The working trees of an earlier execution.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// The working trees that are left of an earlier execution, before the program changed.
#[derive(Debug, Default)]
pub(super) struct EarlierTrees {
    /// The fingerprints of the sessions that have started in each, by folder.
    sessions: FxHashMap<SmolStr, FxHashSet<SmolStr>>,
    /// The folders in which a session of this execution works, or one whose result is reused.
    kept: FxHashSet<SmolStr>,
}

impl EarlierTrees {
    pub(super) fn add(&mut self, folder: &SmolStr, fingerprint: SmolStr) {
        self.sessions.entry(folder.clone()).or_default().insert(fingerprint);
    }

    pub(super) fn keep(&mut self, folder: &str) {
        self.kept.insert(folder.into());
    }

    pub(super) fn is_own(&self, folder: &str, fingerprint: &str) -> Option<bool> {
        if self.kept.contains(folder) {
            return Some(true);
        }
        self.sessions.get(folder).map(|sessions| sessions.contains(fingerprint))
    }
}

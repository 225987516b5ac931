//! The effects that the runs of a process wait for.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::effects::{Key, Wanted};

/// The effects, and how many of them each run has in each class.
#[derive(Default)]
pub(super) struct Waiting {
    wanted: HashMap<Key, Wanted>,
    open: HashMap<Arc<str>, HashMap<SmolStr, i64>>,
}

impl Waiting {
    /// Adds an effect, which learns how many of its class the run has before it.
    pub(super) fn insert(&mut self, mut wanted: Wanted) {
        // One that is asked for again takes the place of itself.
        self.remove(&wanted.key);
        let open = self.open.entry(Arc::clone(&wanted.key.0)).or_default();
        let open = open.entry(wanted.class.clone()).or_default();
        wanted.before = *open;
        *open += 1;
        self.wanted.insert(wanted.key.clone(), wanted);
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Wanted> {
        let wanted = self.wanted.remove(key)?;
        if let Some(open) = self.open.get_mut(&key.0).and_then(|open| open.get_mut(&wanted.class)) {
            *open -= 1;
        }
        Some(wanted)
    }

    /// Removes all of a run.
    pub(super) fn forget(&mut self, run: &str) {
        if self.open.remove(run).is_some() {
            self.wanted.retain(|(of, _), _| **of != *run);
        }
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Wanted> {
        self.wanted.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &Key) -> Option<&mut Wanted> {
        self.wanted.get_mut(key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.wanted.keys()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }
}

//! The texts that an editor holds over files: until it closes a file, the text on the disk does not count.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files that an editor has open, by path, with its name for each: one file can be named in two ways.
#[derive(Debug)]
pub struct Overlays<N>(HashMap<PathBuf, N>);

impl<N> Default for Overlays<N> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<N> Overlays<N> {
    /// An editor has opened a file.
    pub fn open(&mut self, path: PathBuf, name: N) {
        self.0.insert(path, name);
    }

    /// An editor has closed a file.
    pub fn close(&mut self, path: &Path) {
        self.0.remove(path);
    }

    /// Whether an editor holds the text of a file, so that the text on the disk does not count.
    pub fn has(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    /// The editor's name of an open file.
    pub fn name(&self, path: &Path) -> Option<&N> {
        self.0.get(path)
    }

    /// The paths of all open files.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }
}

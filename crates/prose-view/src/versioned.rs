//! A list that reports what changed after a revision, and whose clones share what neither of them changes.

use std::sync::Arc;

/// The number of items in a chunk, and of chunks below an entry of an index.
const CHUNK: usize = 64;

/// A list of items with the revisions at which they changed last. A clone copies one pointer for each chunk.
#[derive(Debug, Clone)]
pub(crate) struct Versioned<T> {
    chunks: Vec<Arc<Vec<(u64, T)>>>,
    /// The latest revision in each chunk, then in each [`CHUNK`] entries of the level before, up to a level with one entry.
    levels: Vec<Vec<u64>>,
    len: usize,
}

impl<T> Default for Versioned<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), levels: Vec::new(), len: 0 }
    }
}

impl<T: Clone> Versioned<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends an item and returns its index.
    pub(crate) fn push(&mut self, revision: u64, item: T) -> usize {
        let index = self.len;
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => Arc::make_mut(chunk).push((revision, item)),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push((revision, item));
                self.chunks.push(Arc::new(chunk));
            }
        }
        self.len += 1;
        self.touch(index, revision);
        index
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK).map(|(_, item)| item)
    }

    /// The item, which changes at a revision.
    pub(crate) fn get_mut(&mut self, revision: u64, index: usize) -> Option<&mut T> {
        if index >= self.len {
            return None;
        }
        self.touch(index, revision);
        let (changed, item) = Arc::make_mut(self.chunks.get_mut(index / CHUNK)?).get_mut(index % CHUNK)?;
        *changed = revision;
        Some(item)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).map(|(_, item)| item)
    }

    /// The items that changed after a revision, with their indices, in order. Costs what changed, not what there is.
    pub(crate) fn since(&self, revision: u64) -> impl Iterator<Item = (usize, &T)> + Clone {
        let mut chunks = Vec::new();
        if let Some(top) = self.levels.len().checked_sub(1) {
            self.changed_chunks(top, 0, revision, &mut chunks);
        }
        chunks.into_iter().flat_map(move |chunk| {
            let items = self.chunks[chunk].iter().enumerate();
            items
                .filter(move |(_, (changed, _))| *changed > revision)
                .map(move |(index, (_, item))| (chunk * CHUNK + index, item))
        })
    }

    fn changed_chunks(&self, level: usize, first: usize, revision: u64, found: &mut Vec<usize>) {
        let entries = self.levels[level].iter().enumerate().skip(first).take(CHUNK);
        for (index, _) in entries.filter(|(_, changed)| **changed > revision) {
            match level.checked_sub(1) {
                Some(below) => self.changed_chunks(below, index * CHUNK, revision, found),
                None => found.push(index),
            }
        }
    }

    fn touch(&mut self, index: usize, revision: u64) {
        let mut at = index / CHUNK;
        let mut level = 0;
        loop {
            if self.levels.len() == level {
                // A new level starts with the latest of all revisions in the one below it.
                let latest = self.levels.last().and_then(|below| below.iter().copied().max());
                self.levels.push(vec![latest.unwrap_or(revision)]);
            }
            let entries = &mut self.levels[level];
            if at == entries.len() {
                entries.push(revision);
            }
            entries[at] = revision;
            if entries.len() == 1 {
                return;
            }
            at /= CHUNK;
            level += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_after_a_revision_is_found_among_many_items() {
        let mut list = Versioned::default();
        for index in 0..300_000_usize {
            list.push(index as u64, index);
        }
        assert_eq!(list.since(299_998).collect::<Vec<_>>(), [(299_999, &299_999)]);
        for (revision, index) in [(300_000, 7), (300_001, 200_000), (300_002, 64)] {
            *list.get_mut(revision, index).unwrap() += 1;
        }
        assert_eq!(list.since(300_000).collect::<Vec<_>>(), [(64, &65), (200_000, &200_001)]);
        assert_eq!(list.since(0).count(), 299_999);
        assert_eq!(list.since(300_002).count(), 0);
    }

    #[test]
    fn a_clone_keeps_what_it_has() {
        let mut list = Versioned::default();
        list.push(1, "a");
        let before = list.clone();
        *list.get_mut(2, 0).unwrap() = "b";
        list.push(3, "c");
        assert_eq!(before.iter().collect::<Vec<_>>(), [&"a"]);
        assert_eq!(list.iter().collect::<Vec<_>>(), [&"b", &"c"]);
    }
}

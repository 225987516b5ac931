//! Who imports from where.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::db::{Database, Place, SourceFile};
use crate::imports::{import_places, normalized};

/// Who imports from where, kept up to date with every program that changes. A query that answers this for one program would look at all
/// others whenever one changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Importers {
    of: FxHashMap<Place, FxHashSet<SourceFile>>,
    imports: FxHashMap<SourceFile, FxHashSet<Place>>,
    changed: FxHashSet<SourceFile>,
}

impl Importers {
    /// Says that a program has another text.
    pub(crate) fn changed(&mut self, file: SourceFile) {
        self.changed.insert(file);
    }

    /// The programs that import a program, or also those that do `through_others`.
    pub(crate) fn of(
        &mut self,
        db: &Database,
        program: SourceFile,
        through_others: bool,
    ) -> FxHashSet<SourceFile> {
        self.catch_up(db);
        let mut found: FxHashSet<SourceFile> = FxHashSet::default();
        let mut waiting = vec![program];
        while let Some(imported) = waiting.pop() {
            let place = db.known_place(&normalized(imported.path(db)));
            for importer in place.and_then(|place| self.of.get(&place)).into_iter().flatten() {
                if found.insert(*importer) && through_others {
                    waiting.push(*importer);
                }
            }
        }
        found
    }

    fn catch_up(&mut self, db: &Database) {
        for file in self.changed.drain() {
            let after = import_places(db, file);
            let before = self.imports.remove(&file).unwrap_or_default();
            for place in before.difference(&after) {
                if let Some(importers) = self.of.get_mut(place) {
                    importers.remove(&file);
                }
            }
            for place in after.difference(&before) {
                self.of.entry(*place).or_default().insert(file);
            }
            self.imports.insert(file, after);
        }
    }
}

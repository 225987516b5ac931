//! Who imports from where.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::db::{Database, Place, SourceFile};
use crate::imports::import_places;

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

    /// The programs that import from a place.
    pub(crate) fn of_place(&mut self, db: &Database, place: Place) -> FxHashSet<SourceFile> {
        self.catch_up(db);
        self.of.get(&place).cloned().unwrap_or_default()
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
            for importer in db.places_of(imported).iter().filter_map(|place| self.of.get(place)).flatten() {
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
            for place in before.difference(after) {
                if let Some(importers) = self.of.get_mut(place) {
                    importers.remove(&file);
                }
            }
            for place in after.difference(&before) {
                self.of.entry(*place).or_default().insert(file);
            }
            self.imports.insert(file, after.clone());
        }
    }
}

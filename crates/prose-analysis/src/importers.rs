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
        self.known_of(db, db.places_of(program), through_others)
    }

    /// Those that import from some places, as far as programs have not changed since the last [`Self::catch_up`].
    pub(crate) fn known_of(
        &self,
        db: &Database,
        places: Vec<Place>,
        through_others: bool,
    ) -> FxHashSet<SourceFile> {
        let mut found: FxHashSet<SourceFile> = FxHashSet::default();
        let mut waiting = vec![places];
        while let Some(places) = waiting.pop() {
            for importer in places.iter().filter_map(|place| self.of.get(place)).flatten() {
                if found.insert(*importer) && through_others {
                    waiting.push(db.places_of(*importer));
                }
            }
        }
        found
    }

    /// Reads the imports of the programs that have changed.
    pub(crate) fn catch_up(&mut self, db: &Database) {
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

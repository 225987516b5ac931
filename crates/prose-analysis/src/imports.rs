//! Resolution of the paths of imports.

use std::path::Path;
use std::sync::Arc;

use prose_reference::{Invalid, Reference};
use prose_syntax::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::db::{Content, Db, Place, SourceFile};
use crate::index::{Site, Symbol};
use crate::location::{Location, Note, Origin, Remote, local_path};
use crate::statements::chunks::summarized;

/// The result of resolving the path of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, salsa::SalsaValue)]
pub enum Imported {
    /// A loaded program.
    Program(SourceFile),
    /// There is no program.
    Missing,
    /// Not known, or not loaded yet.
    Unknown,
}

impl Imported {
    /// The loaded program.
    pub fn program(self) -> Option<SourceFile> {
        match self {
            Imported::Program(program) => Some(program),
            Imported::Missing | Imported::Unknown => None,
        }
    }
}

/// Resolves the path of an import in a file.
pub fn imported(db: &dyn Db, file: SourceFile, path: impl Into<SmolStr>) -> Imported {
    target(db, Symbol::new(db, file, path.into()))
}

/// The note about the location of an import, apart from the diagnostics of the program there.
pub fn note(db: &dyn Db, file: SourceFile, path: &str) -> Option<Arc<Note>> {
    place(db, file, path)?.note(db).clone()
}

/// The remote program that the path of an import names.
pub fn remote(db: &dyn Db, file: SourceFile, path: &str) -> Option<Remote> {
    place(db, file, path)?.location(db).remote().cloned()
}

/// The remote programs that a file imports and that are not loaded.
pub fn missing_remotes(db: &dyn Db, file: SourceFile) -> Vec<Remote> {
    let missing = import_places(db, file).iter().filter(|place| place.program(db).is_none());
    missing.filter_map(|place| place.location(db).remote().cloned()).collect()
}

/// The program that the path of a `use` names in a file (decision 16).
pub fn reference(db: &dyn Db, file: SourceFile, path: &str) -> Result<Reference, Invalid> {
    match file.origin(db) {
        Origin::Local => Reference::parse(path),
        Origin::Remote(origin) => Reference::parse_in(path, &origin.base),
    }
}

#[salsa::tracked(returns(copy))]
fn target<'db>(db: &'db dyn Db, path: Symbol<'db>) -> Imported {
    match place(db, path.file(db), path.text(db)).map(|place| place.content(db)) {
        Some(Content::Program(program)) => Imported::Program(program),
        Some(Content::Missing) => Imported::Missing,
        Some(Content::Unknown) | None => Imported::Unknown,
    }
}

/// The place of an imported path.
fn place(db: &dyn Db, importer: SourceFile, path: &str) -> Option<Place> {
    let location = match reference(db, importer, path).ok()? {
        Reference::Local(local) => {
            let wanted = local_path(importer.path(db), Path::new(&local));
            // A program that is in no file yet has no folder that paths could start from.
            if !wanted.has_root() {
                return None;
            }
            Location::File(wanted)
        }
        reference => Location::Remote(Remote { registry: importer.project(db).registry.clone(), reference }),
    };
    Some(db.place(location))
}

/// The places that a file imports from, each once.
#[salsa::tracked(returns(ref))]
pub(crate) fn import_places(db: &dyn Db, file: SourceFile) -> FxHashSet<Place> {
    if let Some(results) = file.results(db) {
        return results.import_places.clone();
    }
    import_sites(db, file).iter().filter_map(|import| place(db, file, &import.path)).collect()
}

/// The loaded programs that a file imports.
#[salsa::tracked(returns(ref))]
pub fn imported_programs(db: &dyn Db, file: SourceFile) -> Vec<SourceFile> {
    if let Some(results) = file.results(db) {
        return results.imported_programs.clone();
    }
    import_paths(db, file).into_iter().filter_map(|path| imported(db, file, path).program()).collect()
}

/// A program, then those that it imports, direct or through others, each once.
pub fn with_imported_programs(db: &dyn Db, file: SourceFile) -> Vec<SourceFile> {
    let mut found = vec![file];
    let mut seen = FxHashSet::from_iter([file]);
    let mut followed = 0;
    while let Some(program) = found.get(followed).copied() {
        followed += 1;
        found.extend(imported_programs(db, program).iter().copied().filter(|next| seen.insert(*next)));
    }
    found
}

/// The paths that a file imports, as they are written.
pub fn import_paths(db: &dyn Db, file: SourceFile) -> Vec<SmolStr> {
    import_sites(db, file).iter().map(|import| import.path.clone()).collect()
}

/// A path that a file imports.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub struct ImportSite<'db> {
    /// The path as it is written.
    pub path: SmolStr,
    /// Where the name of the program is bound.
    pub site: Option<Site<'db>>,
}

impl ImportSite<'_> {
    /// The position of the import in its file.
    pub fn range(&self, db: &dyn Db) -> Option<TextRange> {
        let statement = self.site?.statement;
        Some(statement.range(db, statement.start(db)?))
    }
}

/// The paths that a file imports. The places of the statements in the text are no part of it.
#[salsa::tracked(returns(ref))]
pub fn import_sites(db: &dyn Db, file: SourceFile) -> Vec<ImportSite<'_>> {
    let mut sites = Vec::new();
    for (statement, summary) in summarized(db, file) {
        for import in &summary.imports {
            if let Some(path) = import.path.clone() {
                let site = import.name.map(|name| Site { statement, name });
                sites.push(ImportSite { path, site });
            }
        }
    }
    sites
}

/// The way from a file back to itself through an import of `program`, if there is one: the files in between, `program` first.
pub fn cycle(db: &dyn Db, file: SourceFile, program: SourceFile) -> Option<Vec<SourceFile>> {
    // Who imports each program on the way, as it was found.
    let mut importers: FxHashMap<SourceFile, SourceFile> = FxHashMap::default();
    let mut waiting = vec![program];
    while let Some(last) = waiting.pop() {
        if last == file {
            let mut way = vec![file];
            while let Some(importer) =
                way.last().filter(|last| **last != program).and_then(|last| importers.get(last))
            {
                way.push(*importer);
            }
            way.reverse();
            return Some(way);
        }
        for next in imported_programs(db, last) {
            if *next != program && !importers.contains_key(next) {
                importers.insert(*next, last);
                waiting.push(*next);
            }
        }
    }
    None
}

/// The first cycle of imports that `program` leads into: its programs in order, with the first one again at the end.
pub fn first_cycle(db: &dyn Db, program: SourceFile) -> Option<Vec<SourceFile>> {
    let mut seen = FxHashSet::from_iter([program]);
    // The programs on the way, each with how many of its imports were followed.
    let mut way = vec![(program, 0)];
    while let Some((last, followed)) = way.last_mut() {
        let Some(next) = imported_programs(db, *last).get(*followed).copied() else {
            way.pop();
            continue;
        };
        *followed += 1;
        if let Some(start) = way.iter().position(|(program, _)| *program == next) {
            return Some(way[start..].iter().map(|(program, _)| *program).chain([next]).collect());
        }
        if seen.insert(next) {
            way.push((next, 0));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_paths_start_from_the_folder_of_the_importer() {
        let path = |importer: &str, path: &str| {
            local_path(Path::new(importer), Path::new(path)).display().to_string()
        };
        assert_eq!(path("/flows/main.prose", "./a.prose"), "/flows/a.prose");
        assert_eq!(path("/flows/main.prose", "../lib/./a.prose"), "/lib/a.prose");
        assert_eq!(path("/flows/main.prose", "/a.prose"), "/a.prose");
        assert_eq!(path("main.prose", "../a.prose"), "../a.prose");
    }
}

//! The analysis host: the programs of a session, kept up to date.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_syntax::suggest::nearest;
use prose_syntax::{Code, Level};
use rustc_hash::{FxHashMap, FxHashSet};
use salsa::Setter;
use smol_str::SmolStr;

use crate::db::{Content, Database, Place, Results, SourceFile, Text};
pub use crate::db::{Models, Project};
use crate::importers::Importers;
use crate::imports::import_places;
use crate::location::{Fetched, Location, Note, Origin, Remote, normalized};
use crate::released::release;
use crate::skills::{MissingSkills, NamedSkill, named_skills};

/// The state of the analysis: the programs of a session, by their paths.
#[derive(Clone, Default)]
pub struct AnalysisHost {
    db: Database,
    files: FxHashMap<PathBuf, SourceFile>,
    importers: Importers,
    /// The programs whose trees are released.
    released: FxHashSet<SourceFile>,
    /// All others.
    unreleased: FxHashSet<SourceFile>,
    /// The programs that were outdated with their importers since trees were last released. While one is typed in, its importers stay outdated.
    outdated: FxHashSet<SourceFile>,
    listing: Option<Listing>,
}

/// Lists the names of the programs in a folder. The analysis itself reads no folder.
pub type Listing = fn(&Path) -> Vec<String>;

impl AnalysisHost {
    /// A host without programs on the given database.
    pub fn with_database(db: Database) -> Self {
        Self { db, ..Self::default() }
    }

    /// The same host; where an imported program is missing, it proposes the program next to it that was probably meant.
    pub fn with_listing(mut self, listing: Listing) -> Self {
        self.listing = Some(listing);
        self
    }

    /// The database.
    pub fn db(&self) -> &Database {
        &self.db
    }

    /// A snapshot for another thread. The next change of the host waits until every snapshot is dropped, and makes queries on them end
    /// with [`salsa::Cancelled`].
    pub fn snapshot(&self) -> Database {
        self.db.clone()
    }

    /// The number of programs.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are no programs.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The program at a path.
    pub fn file(&self, path: &Path) -> Option<SourceFile> {
        self.files.get(path).copied()
    }

    /// Sets the text of a program, which other programs can import from its path from now on.
    pub fn set_text(&mut self, path: &Path, text: Text) -> SourceFile {
        let file = match self.files.get(path) {
            Some(file) => {
                let file = *file;
                self.outdate(file);
                file.set_text(&mut self.db).to(text);
                file
            }
            None => {
                let file = SourceFile::new(
                    &self.db,
                    Arc::from(path),
                    text,
                    Project::default(),
                    Origin::Local,
                    0,
                    MissingSkills::default(),
                    None,
                );
                self.files.insert(path.to_owned(), file);
                self.unreleased.insert(file);
                file
            }
        };
        // A note about a missing program no longer applies.
        self.set_place(Location::File(normalized(path)), Content::Program(file), None);
        self.importers.changed(file);
        file
    }

    /// Every program, in no order.
    pub fn files(&self) -> impl Iterator<Item = SourceFile> {
        self.files.values().copied()
    }

    /// Whether some program imports from a path, or did once.
    pub fn is_imported(&self, path: &Path) -> bool {
        self.db.is_asked_for(&Location::File(path.to_owned()))
            || self.file(path).is_some_and(|file| *file.origin(&self.db) != Origin::Local)
    }

    /// The programs that import a program, or also those that do `through_others`; in no order.
    pub fn importers(&mut self, program: SourceFile, through_others: bool) -> Vec<SourceFile> {
        self.importers.of(&self.db, program, through_others).into_iter().collect()
    }

    /// Sets the origin of the text of a program.
    pub fn set_origin(&mut self, file: SourceFile, origin: Origin) {
        if *file.origin(&self.db) != origin {
            self.outdate(file);
            file.set_origin(&mut self.db).to(origin);
            self.importers.changed(file);
        }
    }

    /// Sets the number of lines above a program in the document that contains it.
    pub fn set_lines_above(&mut self, file: SourceFile, lines: usize) {
        if file.lines_above(&self.db) != lines {
            self.outdate(file);
            file.set_lines_above(&mut self.db).to(lines);
        }
    }

    /// Sets the project of a program.
    pub fn set_project(&mut self, file: SourceFile, project: Project) {
        if !self.has_project(file, &project) {
            self.outdate(file);
            file.set_project(&mut self.db).to(project);
            self.importers.changed(file);
        }
    }

    /// The project of a program, if it is set.
    pub fn project(&self, file: SourceFile) -> Project {
        file.project(&self.db).clone()
    }

    /// Whether this project is set for a program.
    pub fn has_project(&self, file: SourceFile, project: &Project) -> bool {
        file.project(&self.db) == project
    }

    /// Removes the program at a path: imports do not find it until it is loaded again.
    pub fn remove(&mut self, path: &Path) {
        if let Some(file) = self.files.remove(path) {
            // What was computed from the text is kept until it is computed again.
            self.outdate(file);
            self.unreleased.remove(&file);
            file.set_text(&mut self.db).to(Text::new(""));
            release(&self.db, file);
            _ = Results::of(&self.db, file);
            self.importers.changed(file);
            for place in self.db.places_of(file) {
                self.outdate_importers(vec![place]);
                self.db.set_content(place.location(&self.db).clone(), Content::Unknown);
            }
        }
        let location = Location::File(normalized(path));
        if self.db.is_asked_for(&location) {
            self.set_place(location, Content::Unknown, None);
        }
    }

    /// Loads the files that a program imports and that are not loaded yet, and their imports. Nothing is fetched.
    pub fn load_imports(&mut self, file: SourceFile, read: impl FnMut(&Path) -> Option<String>) {
        self.load_imports_with(file, &mut Files(read));
    }

    /// Loads every place that some program imports from and that is not loaded yet. What is found there is analysed for its own
    /// imports. To be called before diagnostics of imports are asked for.
    pub fn load_imports_with(&mut self, file: SourceFile, loader: &mut impl Loader) {
        self.load(vec![file], loader);
    }

    /// Stores the result of a look-up, and loads the imports of the program. Returns the programs that import it.
    pub fn set_fetched(
        &mut self,
        remote: &Remote,
        fetched: Fetched,
        loader: &mut impl Loader,
    ) -> Vec<SourceFile> {
        let file = self.settle(remote, fetched);
        self.load(file.into_iter().collect(), loader);
        self.importers_of(remote)
    }

    /// The programs that import from a path, whether or not it exists; in no order.
    pub fn importers_at(&mut self, path: &Path) -> Vec<SourceFile> {
        self.importers_of_location(&Location::File(normalized(path)))
    }

    /// The paths that some program imports from, or did once, without a loaded program; in no order.
    pub fn missing(&self) -> Vec<PathBuf> {
        let asked_for = self.db.asked_for_files().into_iter();
        asked_for.filter(|path| !self.files.contains_key(path)).collect()
    }

    /// The programs that import a remote program; in no order.
    pub fn importers_of(&mut self, remote: &Remote) -> Vec<SourceFile> {
        self.importers_of_location(&Location::Remote(remote.clone()))
    }

    fn importers_of_location(&mut self, location: &Location) -> Vec<SourceFile> {
        let place = self.db.known_place(location);
        place.map(|place| self.importers.of_place(&self.db, place).into_iter().collect()).unwrap_or_default()
    }

    /// The origin of the importer of a remote program: of several, the one with the fewest imports between it and a local program;
    /// none if nothing imports it any more.
    pub fn importer_origin(&mut self, remote: &Remote) -> Option<Origin> {
        let importers = self.importers_of(remote).into_iter();
        importers.map(|importer| importer.origin(&self.db).clone()).min_by_key(Origin::depth)
    }

    /// The remote programs that some program imports, or did once; in order.
    pub fn remotes(&self) -> Vec<Remote> {
        let mut remotes = self.db.remotes();
        remotes.sort();
        remotes
    }

    fn load(&mut self, mut waiting: Vec<SourceFile>, loader: &mut impl Loader) {
        let mut names: FxHashMap<PathBuf, Vec<String>> = FxHashMap::default();
        while let Some(file) = waiting.pop() {
            self.look_up_skills(file, loader);
            let places: Vec<Place> = import_places(&self.db, file).iter().copied().collect();
            for place in places {
                if !place.is_unsettled(&self.db) {
                    continue;
                }
                let location = place.location(&self.db).clone();
                match &location {
                    Location::File(path) => match loader.file(path) {
                        Ok(text) => {
                            let file = self.set_text(path, Text::new(text));
                            if let Some(project) = loader.project(path) {
                                self.set_project(file, project);
                            }
                            if let Some(origin) = loader.origin(path) {
                                self.set_origin(file, origin);
                            }
                            waiting.push(file);
                        }
                        Err(LoadError::Unreadable(why)) => {
                            let note = Note { code: Code::E143, message: why, better: None };
                            self.set_place(location, Content::Missing, Some(Arc::new(note)));
                        }
                        Err(LoadError::Missing) => {
                            let near = self.listing.zip(path.parent()).and_then(|(listing, folder)| {
                                let names = names.entry(folder.to_owned()).or_insert_with(|| listing(folder));
                                nearest_program(path, names)
                            });
                            let note = near.map(|near| Arc::new(Note::near_miss(near)));
                            self.set_place(location, Content::Missing, note);
                        }
                    },
                    Location::Remote(remote) => {
                        let Some(asker) = self.importer_origin(remote) else { continue };
                        let fetched = loader.remote(remote, &asker);
                        waiting.extend(fetched.and_then(|fetched| self.settle(remote, fetched)));
                    }
                }
            }
        }
    }

    /// Looks for the skills that a program of this machine names.
    fn look_up_skills(&mut self, file: SourceFile, loader: &mut impl Loader) {
        if *file.origin(&self.db) != Origin::Local {
            return;
        }
        let named = named_skills(&self.db, file);
        let missing = match named.is_empty() {
            true => MissingSkills::default(),
            false => loader.missing_skills(file.path(&self.db), &named),
        };
        if *file.missing_skills(&self.db) != missing {
            self.outdate(file);
            file.set_missing_skills(&mut self.db).to(missing);
        }
    }

    /// Has a program that is not on this machine looked for again, if it was not found.
    pub fn remove_fetched(&mut self, remote: &Remote) {
        let location = Location::Remote(remote.clone());
        let place = self.db.known_place(&location);
        if place.is_some_and(|place| place.program(&self.db).is_none()) {
            self.set_place(location, Content::Unknown, None);
        }
    }

    /// Releases the trees of programs, and all that was computed from them except for their [`Results`]. For programs that nobody reads now: what
    /// else is asked about them has to be computed again.
    pub fn release_trees(&mut self, files: &[SourceFile]) {
        let results: Vec<Arc<Results>> = files
            .iter()
            .map(|file| match file.results(&self.db) {
                Some(results) => Arc::clone(results),
                None => Arc::new(Results::of(&self.db, *file)),
            })
            .collect();
        // Whatever changes now, it is known which of these programs depend on it.
        self.importers.catch_up(&self.db);
        let texts: Vec<Text> = files.iter().map(|file| file.text(&self.db).clone()).collect();
        for (file, results) in files.iter().zip(results) {
            file.set_results(&mut self.db).to(Some(results));
            file.set_text(&mut self.db).to(Text::new(""));
        }
        for file in files {
            release(&self.db, *file);
        }
        for (file, text) in files.iter().zip(texts) {
            file.set_text(&mut self.db).to(text);
        }
        for file in files {
            self.unreleased.remove(file);
            self.released.insert(*file);
        }
        self.outdated.clear();
    }

    /// The programs whose trees are not released, in no order.
    pub fn unreleased(&self) -> impl Iterator<Item = SourceFile> {
        self.unreleased.iter().copied()
    }

    /// Sets the content of a place and the note about it.
    fn set_place(&mut self, location: Location, content: Content, note: Option<Arc<Note>>) {
        if let Some(place) = self.db.known_place(&location)
            && (place.content(&self.db) != content || *place.note(&self.db) != note)
        {
            self.outdate_importers(vec![place]);
        }
        self.db.set_place(location, content, note);
    }

    /// Has the results of a program computed again that is going to change, and those of the programs that import it.
    fn outdate(&mut self, file: SourceFile) {
        if !self.released.is_empty() && self.outdated.insert(file) {
            self.outdate_results(file);
            self.outdate_importers(self.db.places_of(file));
        }
    }

    fn outdate_importers(&mut self, places: Vec<Place>) {
        if self.released.is_empty() {
            return;
        }
        for importer in self.importers.known_of(&self.db, places, true) {
            self.outdate_results(importer);
        }
    }

    fn outdate_results(&mut self, file: SourceFile) {
        if self.released.remove(&file) {
            self.unreleased.insert(file);
            file.set_results(&mut self.db).to(None);
        }
    }

    fn settle(&mut self, remote: &Remote, fetched: Fetched) -> Option<SourceFile> {
        let location = Location::Remote(remote.clone());
        let is_missing = fetched.note.as_ref().is_some_and(|note| note.code.info().default == Level::Error);
        let file = fetched.program.map(|program| {
            let path = normalized(&program.path);
            let is_known =
                self.file(&path).is_some_and(|file| file.text(&self.db).as_str() == &*program.text);
            let file = match self.file(&path).filter(|_| is_known) {
                Some(file) => file,
                None => self.set_text(&path, Text::new(program.text)),
            };
            self.set_origin(file, Origin::Remote(program.origin));
            let registry = remote.registry.clone();
            self.set_project(file, Project { registry, ..Project::default() });
            file
        });
        let content = match file {
            Some(file) => Content::Program(file),
            None if is_missing => Content::Missing,
            None => Content::Unknown,
        };
        self.set_place(location, content, fetched.note);
        file
    }
}

/// Why the text of a file cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadError {
    /// The file does not exist.
    Missing,
    /// The file cannot be read as a text. Why, as the rest of a sentence that starts with the path.
    Unreadable(String),
}

/// Loads the texts of imported programs.
pub trait Loader {
    /// The text of a file.
    fn file(&mut self, path: &Path) -> Result<String, LoadError>;

    /// The project of a file that was loaded because others import it.
    fn project(&mut self, _: &Path) -> Option<Project> {
        None
    }

    /// Where the text of a file came from, if it is a copy of a program that was fetched: its rights stay those of one.
    fn origin(&mut self, _: &Path) -> Option<Origin> {
        None
    }

    /// The skills that cannot be used of those that a file names.
    fn missing_skills(&mut self, _: &Path, _named: &BTreeSet<NamedSkill>) -> MissingSkills {
        MissingSkills::default()
    }

    /// The known text of a remote program, without waiting. None if that takes longer: then the caller
    /// calls [`AnalysisHost::set_fetched`] when it is fetched.
    fn remote(&mut self, _: &Remote, _asker: &Origin) -> Option<Fetched> {
        None
    }
}

/// A loader for local files only.
struct Files<F>(F);

impl<F: FnMut(&Path) -> Option<String>> Loader for Files<F> {
    fn file(&mut self, path: &Path) -> Result<String, LoadError> {
        (self.0)(path).ok_or(LoadError::Missing)
    }
}

/// The one of some names that was probably meant by the last part of a path. The ending is often forgotten, and so left out of account.
fn nearest_program(path: &Path, names: &[String]) -> Option<SmolStr> {
    let stem = |name: &str| name.strip_suffix(".prose").unwrap_or(name).to_owned();
    let wanted = stem(path.file_name()?.to_str()?);
    let mut stems: Vec<(String, &String)> = names.iter().map(|name| (stem(name), name)).collect();
    // The nearest of several is the first one, which has to be the same each time.
    stems.sort();
    nearest(&wanted, stems, |(stem, _)| stem).map(|(_, name)| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imports::imported_programs;

    #[test]
    fn slips_and_forgotten_endings_lead_to_the_program_that_was_meant() {
        let names = ["review.prose", "research.prose", "draft.prose"].map(str::to_owned);
        let near = |path: &str| nearest_program(Path::new(path), &names);
        assert_eq!(near("/flows/reserch.prose").as_deref(), Some("research.prose"));
        assert_eq!(near("/flows/Research.prose").as_deref(), Some("research.prose"));
        assert_eq!(near("/flows/research").as_deref(), Some("research.prose"));
        assert_eq!(near("/flows/summary.prose"), None);
    }

    #[test]
    fn what_was_set_is_not_read_again() {
        let mut host = AnalysisHost::default();
        let main = host.set_text(Path::new("/main.prose"), Text::new("use \"./lib.prose\"\n"));
        let _ = imported_programs(host.db(), main);
        let lib = host.set_text(Path::new("/lib.prose"), Text::new("input topic: \"open in the editor\"\n"));
        host.load_imports(main, |path| panic!("{} is read", path.display()));
        assert_eq!(*imported_programs(host.db(), main), [lib]);
    }
}

//! The programs of a session: what is known of them, kept up to date.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_syntax::suggest::nearest;
use rustc_hash::FxHashMap;
use salsa::Setter;
use smol_str::SmolStr;

use crate::db::{Content, Database, Settings, SourceFile, Text};
use crate::imports::normalized;

/// The programs of a session, known by their paths.
#[derive(Clone, Default)]
pub struct AnalysisHost {
    db: Database,
    files: FxHashMap<PathBuf, SourceFile>,
    settings: FxHashMap<Models, Settings>,
    listing: Option<Listing>,
}

/// Gives the names of the programs in a folder. The analysis itself looks at no folder.
pub type Listing = fn(&Path) -> Vec<String>;

/// The models that have a name of their own, with what they stand for.
pub type Models = Arc<BTreeMap<SmolStr, String>>;

/// The models of a project, given the names that its settings declare and what they stand for.
pub fn models<'a>(aliases: impl IntoIterator<Item = (&'a String, &'a String)>) -> Models {
    Models::new(aliases.into_iter().map(|(name, id)| (name.into(), id.clone())).collect())
}

impl AnalysisHost {
    /// A host without programs on a database of one's own.
    pub fn with_database(db: Database) -> Self {
        Self { db, ..Self::default() }
    }

    /// The same host; where an imported program is missing, it proposes the program beside it that was probably meant.
    pub fn with_listing(mut self, listing: Listing) -> Self {
        self.listing = Some(listing);
        self
    }

    /// What is known.
    pub fn db(&self) -> &Database {
        &self.db
    }

    /// A view for work on another thread. The next change of the host waits until every view is gone, and has queries that run on one end
    /// with [`salsa::Cancelled`].
    pub fn snapshot(&self) -> Database {
        self.db.clone()
    }

    /// How many programs there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The program at a path.
    pub fn file(&self, path: &Path) -> Option<SourceFile> {
        self.files.get(path).copied()
    }

    /// Says what the text of a program is; other programs can import it from its path from now on.
    pub fn set_text(&mut self, path: &Path, text: Text) -> SourceFile {
        let file = match self.files.get(path) {
            Some(file) => {
                file.set_text(&mut self.db).to(text);
                *file
            }
            None => {
                let settings = self.settings(Models::default());
                let file = SourceFile::new(&self.db, Arc::from(path), text, settings);
                self.files.insert(path.to_owned(), file);
                file
            }
        };
        self.db.set_content(normalized(path), Content::Program(file));
        file
    }

    /// Every program, in no order.
    pub fn files(&self) -> impl Iterator<Item = SourceFile> {
        self.files.values().copied()
    }

    /// Whether some program imports from a path, or did once.
    pub fn is_imported(&self, path: &Path) -> bool {
        self.db.is_asked_for(path)
    }

    /// Says what models have names of their own in a program.
    pub fn set_models(&mut self, file: SourceFile, models: Models) {
        let settings = self.settings(models);
        if file.settings(&self.db) != settings {
            file.set_settings(&mut self.db).to(settings);
        }
    }

    /// Whether a program is under such models already.
    pub fn has_models(&self, file: SourceFile, models: &Models) -> bool {
        file.settings(&self.db).models(&self.db) == models
    }

    fn settings(&mut self, models: Models) -> Settings {
        let db = &self.db;
        *self.settings.entry(models).or_insert_with_key(|models| Settings::new(db, Arc::clone(models)))
    }

    /// Says that there is no program at a path.
    pub fn set_missing(&mut self, path: PathBuf) {
        self.db.set_content(path, Content::Missing);
    }

    /// Forgets a program: imports no longer find it.
    pub fn remove(&mut self, path: &Path) {
        if let Some(file) = self.files.remove(path) {
            // The text takes the most memory.
            file.set_text(&mut self.db).to(Text::new(""));
            self.db.set_content(normalized(path), Content::Missing);
        }
    }

    /// Looks at every place that some program imports from and that nobody has looked at yet, with `read`. What is found there is
    /// analysed for its own imports. To be called before diagnostics of imports are asked for.
    pub fn load_imports(&mut self, file: SourceFile, mut read: impl FnMut(&Path) -> Option<String>) {
        let mut waiting = vec![file];
        let mut names: FxHashMap<PathBuf, Vec<String>> = FxHashMap::default();
        while let Some(file) = waiting.pop() {
            let _ = crate::imports::imported_programs(&self.db, file);
            for path in self.db.take_unknown() {
                match read(&path) {
                    Some(text) => waiting.push(self.set_text(&path, Text::new(text))),
                    None => {
                        let near = self.listing.zip(path.parent()).and_then(|(listing, folder)| {
                            nearest_program(
                                &path,
                                names.entry(folder.to_owned()).or_insert_with(|| listing(folder)),
                            )
                        });
                        self.db.set_missing(path, near);
                    }
                }
            }
        }
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

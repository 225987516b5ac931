//! Checks programs one after another, with their texts, settings and imports in one analysis.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::host::{self, LoadError, Loader};
use prose_analysis::imports::{
    Imported, import_paths, imported, imported_programs, reference, with_imported_programs,
};
use prose_analysis::location::{Fetched, Origin, Registry, Remote};
use prose_analysis::skills::{MissingSkills, NamedSkill};
use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_vm::program::Program;

use crate::files::{identity, read_import};
use crate::imports::{Imports, Needs};
use crate::parts::{Part, parts};
use crate::runnable::{Refusal, check_runnable};
use crate::settings::{Diagnosed, Rules, Settings};

/// Says which project a program belongs to. Where its file shows a program that was fetched, the program keeps the rights and the registry of one.
pub fn set_project(
    host: &mut AnalysisHost,
    file: SourceFile,
    mut project: host::Project,
    shown: Option<(Origin, Option<Registry>)>,
) {
    if let Some((origin, registry)) = shown {
        host.set_origin(file, origin);
        project.registry = registry.unwrap_or(project.registry);
    }
    host.set_project(file, project);
}

/// The settings and imports that all programs of a session share.
pub struct Context {
    settings: Mutex<Settings>,
    /// The imports.
    pub imports: Imports,
    /// The files that imports name, also those that do not exist.
    imported: Mutex<BTreeSet<PathBuf>>,
}

impl Context {
    /// A session with these settings and imports.
    pub fn new(settings: Settings, imports: Imports) -> Self {
        Self { settings: Mutex::new(settings), imports, imported: Mutex::default() }
    }

    /// The local files that imports of the checked programs name, also those that do not exist.
    pub fn imported_files(&self) -> Vec<PathBuf> {
        self.imported.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// The loader for imports of a program.
struct Importing<'a> {
    context: &'a Context,
    rules: &'a Rules,
}

impl Loader for Importing<'_> {
    fn file(&mut self, path: &Path) -> Result<String, LoadError> {
        match self.context.imports.may_read(path) {
            true => {
                let mut imported = self.context.imported.lock().unwrap_or_else(PoisonError::into_inner);
                imported.insert(path.to_owned());
                drop(imported);
                read_import(path)
            }
            false => Err(LoadError::Unreadable("is outside the folder that is served".to_owned())),
        }
    }

    fn project(&mut self, path: &Path) -> Option<host::Project> {
        let mut settings = self.context.settings.lock().unwrap_or_else(PoisonError::into_inner);
        Some(settings.of(path).meaning())
    }

    fn origin(&mut self, path: &Path) -> Option<Origin> {
        self.context.imports.shown_at(path).map(|(origin, _)| origin)
    }

    fn missing_skills(&mut self, path: &Path, named: &BTreeSet<NamedSkill>) -> MissingSkills {
        let mut settings = self.context.settings.lock().unwrap_or_else(PoisonError::into_inner);
        settings.of(path).missing_skills(path, named)
    }

    fn remote(&mut self, remote: &Remote, asker: &Origin) -> Option<Fetched> {
        self.context.imports.of(self.rules).remote(remote, asker)
    }
}

/// Checks programs one after another. Shared imports are parsed once, until the limit on cached programs is reached.
pub struct Checker<'a> {
    context: &'a Context,
    host: AnalysisHost,
    /// The settings for imports.
    settings: Option<PathBuf>,
    /// The number of programs after which the cache is cleared.
    limit: usize,
    /// The number of programs that were checked, not only imported.
    checked: usize,
}

/// This many programs with their analysis fit into the caches of a processor: with 64, the total time rises by a third.
const MIN_KEPT: usize = 4;

impl<'a> Checker<'a> {
    /// A checker without cached programs.
    pub fn new(context: &'a Context) -> Self {
        let host = AnalysisHost::default().with_listing(prose_config::programs_in);
        Self { context, host, settings: None, limit: MIN_KEPT, checked: 0 }
    }

    /// The settings and imports.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// The diagnostics of a file with its imports, sorted by position, without disabled ones.
    pub fn diagnose(&mut self, path: &Path, text: &str, rules: &Rules) -> Vec<Diagnosed> {
        let mut diagnosed = Vec::new();
        for part in parts(path, text) {
            let file = self.read(part.path(), part.text(), rules);
            diagnosed.extend(self.diagnosed(path, &part, file, rules));
        }
        diagnosed
    }

    fn diagnosed(&self, path: &Path, part: &Part<'_>, file: SourceFile, rules: &Rules) -> Vec<Diagnosed> {
        part.in_document(rules.diagnosed(path, diagnostics(self.host.db(), file)))
    }

    /// The same, unless an import must be fetched first.
    pub fn diagnose_unless_waiting(
        &mut self,
        path: &Path,
        text: &str,
        rules: &Rules,
    ) -> Option<Vec<Diagnosed>> {
        let mut is_waiting = false;
        let mut diagnosed = Vec::new();
        for part in parts(path, text) {
            let file = self.read(part.path(), part.text(), rules);
            is_waiting |= self.note(file, rules);
            if !is_waiting {
                diagnosed.extend(self.diagnosed(path, &part, file, rules));
            }
        }
        (!is_waiting).then_some(diagnosed)
    }

    /// Records the imports of a file, and returns whether one of them must be fetched.
    pub fn note_imports(&mut self, path: &Path, text: &str, rules: &Rules) -> bool {
        let mut is_waiting = false;
        for part in parts(path, text) {
            let file = self.read(part.path(), part.text(), rules);
            is_waiting |= self.note(file, rules);
        }
        is_waiting
    }

    /// The diagnostics of the program in a part of a file, as diagnostics of the file, and the program as it is run: the one that it imports if
    /// it `stands_for_import`. Places of errors are those of the file, too.
    pub fn runnable(
        &mut self,
        path: &Path,
        part: &Part<'_>,
        rules: &Rules,
        stands_for_import: bool,
    ) -> (Vec<Diagnosed>, Result<Arc<Program>, Refusal>) {
        let file = self.read(part.path(), part.text(), rules);
        // A copy without imports has its rights, too.
        if let Some(shown) = self.context.imports.shown_at(&identity(part.path())) {
            set_project(&mut self.host, file, rules.meaning(), Some(shown));
        }
        let db = self.host.db();
        let program = check_runnable(db, file, rules, path).and_then(|()| match stands_for_import {
            true => imported_programs(db, file).first().copied().ok_or(Refusal::NotThere),
            false => Ok(file),
        });
        let program = match program {
            Err(Refusal::Errors(errors)) => Err(Refusal::Errors(part.in_document(errors))),
            program => program.map(|program| Program::new(db, program)),
        };
        (self.diagnosed(path, part, file, rules), program)
    }

    fn note(&self, file: SourceFile, rules: &Rules) -> bool {
        let needs = self.needs(file);
        let is_waiting = needs.are_unknown;
        if !needs.roots.is_empty() {
            self.context.imports.of(rules).add(needs);
        }
        is_waiting
    }

    /// The remote imports of a program, direct or through local programs.
    fn needs(&self, file: SourceFile) -> Needs {
        let db = self.host.db();
        let mut needs = Needs::default();
        for file in with_imported_programs(db, file) {
            for path in import_paths(db, file) {
                let Ok(reference) = reference(db, file, &path) else { continue };
                if reference.is_local() {
                    continue;
                }
                needs.are_unknown |= imported(db, file, path) == Imported::Unknown;
                if *file.origin(db) == Origin::Local {
                    let registry = file.project(db).registry.clone();
                    needs.roots.push(Remote { registry, reference });
                }
            }
        }
        needs
    }

    /// Loads a program with its imports.
    fn read(&mut self, path: &Path, text: &str, rules: &Rules) -> SourceFile {
        if self.settings != rules.project().path {
            // Another project may have another text for the same reference.
            if !self.host.remotes().is_empty() {
                self.forget();
            }
            self.settings.clone_from(&rules.project().path);
        }
        if self.host.len() >= self.limit {
            // If most programs were read as imports, they are likely to be imported again.
            if self.host.len() > 2 * self.checked {
                self.limit *= 2;
            } else {
                self.forget();
            }
        }
        self.checked += 1;
        let path = identity(path);
        let known = self.host.file(&path).filter(|file| file.text(self.host.db()).as_str() == text);
        let file = known.unwrap_or_else(|| self.host.set_text(&path, Text::new(text)));
        // A program from the network never leads to a local file.
        let imports = !import_paths(self.host.db(), file).is_empty();
        let shown = imports.then(|| self.context.imports.shown_at(&path)).flatten();
        set_project(&mut self.host, file, rules.meaning(), shown);
        self.host.load_imports_with(file, &mut Importing { context: self.context, rules });
        file
    }

    /// Removes all programs: there are too many, or an analysis panicked and left an unknown state.
    pub fn forget(&mut self) {
        self.host = AnalysisHost::default().with_listing(prose_config::programs_in);
        self.checked = 0;
    }
}

/// The diagnostics of a single program.
pub fn diagnose(context: &Context, path: &Path, text: &str, rules: &Rules) -> Vec<Diagnosed> {
    Checker::new(context).diagnose(path, text, rules)
}

//! Checks programs one after another: their texts, their settings and what they import, brought together in one analysis.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::host::{self, LoadError, Loader};
use prose_analysis::imports::{Imported, import_paths, imported, imported_programs, reference};
use prose_analysis::location::{Fetched, Origin, Registry, Remote};
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

/// What all programs of a session have in common: their settings and imports.
pub struct Context {
    settings: Mutex<Settings>,
    /// Their imports.
    pub imports: Imports,
}

impl Context {
    /// A session with these settings and imports.
    pub fn new(settings: Settings, imports: Imports) -> Self {
        Self { settings: Mutex::new(settings), imports }
    }
}

/// Reads what a program imports.
struct Importing<'a> {
    context: &'a Context,
    rules: &'a Rules,
}

impl Loader for Importing<'_> {
    fn file(&mut self, path: &Path) -> Result<String, LoadError> {
        read_import(path)
    }

    fn project(&mut self, path: &Path) -> Option<host::Project> {
        let mut settings = self.context.settings.lock().unwrap_or_else(PoisonError::into_inner);
        Some(settings.of(path).meaning())
    }

    fn origin(&mut self, path: &Path) -> Option<Origin> {
        self.context.imports.shown_at(path).map(|(origin, _)| origin)
    }

    fn remote(&mut self, remote: &Remote, asker: &Origin) -> Option<Fetched> {
        self.context.imports.of(self.rules).remote(remote, asker)
    }
}

/// Checks one program after the other. What several of them import is parsed once, as long as not too much has come together.
pub struct Checker<'a> {
    context: &'a Context,
    host: AnalysisHost,
    /// The settings that say where the programs get what they import from elsewhere.
    settings: Option<PathBuf>,
    /// How many programs may come together before they are forgotten.
    limit: usize,
    /// How many of them were checked, and not only imported.
    checked: usize,
}

/// So many programs fit into the caches of a processor with all that is known of them: with 64, the whole takes a third longer.
const MIN_KEPT: usize = 4;

impl<'a> Checker<'a> {
    /// A checker that knows no program yet.
    pub fn new(context: &'a Context) -> Self {
        let host = AnalysisHost::default().with_listing(prose_config::programs_in);
        Self { context, host, settings: None, limit: MIN_KEPT, checked: 0 }
    }

    /// What its programs have in common with others.
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// The diagnostics of a file, sorted by position, without those that are off. What it imports is read.
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

    /// The same, unless something has to be looked up first.
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

    /// Notes what a file imports from elsewhere, and says whether something of it has to be looked up.
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
        // Also one that imports nothing has the rights of the copy that it is.
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

    /// What a program imports from elsewhere, itself or through others of this machine.
    fn needs(&self, file: SourceFile) -> Needs {
        let db = self.host.db();
        let mut needs = Needs::default();
        let mut seen = HashSet::from([file]);
        let mut waiting = vec![file];
        while let Some(file) = waiting.pop() {
            for path in import_paths(db, file) {
                let Ok(reference) = reference(db, file, &path) else { continue };
                if reference.is_local() {
                    continue;
                }
                needs.are_unknown |= imported(db, file, path) == Imported::Unknown;
                if *file.origin(db) == Origin::Local {
                    let registry = file.settings(db).registry(db).clone();
                    needs.roots.push(Remote { registry, reference });
                }
            }
            let imported = imported_programs(db, file).iter();
            waiting.extend(imported.copied().filter(|program| seen.insert(*program)));
        }
        needs
    }

    /// Reads a program and what it imports.
    fn read(&mut self, path: &Path, text: &str, rules: &Rules) -> SourceFile {
        if self.settings != rules.project().path {
            // Another project may have another text for the same reference.
            if !self.host.remotes().is_empty() {
                self.forget();
            }
            self.settings.clone_from(&rules.project().path);
        }
        if self.host.len() >= self.limit {
            // Where most were read because others import them, they will be wanted again.
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
        // What is checked to know more of it came from the network nevertheless, and reaches no file of this machine.
        let imports = !import_paths(self.host.db(), file).is_empty();
        let shown = imports.then(|| self.context.imports.shown_at(&path)).flatten();
        set_project(&mut self.host, file, rules.meaning(), shown);
        self.host.load_imports_with(file, &mut Importing { context: self.context, rules });
        file
    }

    /// Forgets all programs: they are too many, or an analysis broke off and nobody knows what it left.
    pub fn forget(&mut self) {
        self.host = AnalysisHost::default().with_listing(prose_config::programs_in);
        self.checked = 0;
    }
}

/// The diagnostics of a program that is checked alone.
pub fn diagnose(context: &Context, path: &Path, text: &str, rules: &Rules) -> Vec<Diagnosed> {
    Checker::new(context).diagnose(path, text, rules)
}

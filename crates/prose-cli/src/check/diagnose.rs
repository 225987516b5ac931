//! What there is to say about a program. Everything else in this crate is about finding programs and telling the findings.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::host::{self, Loader, NoText};
use prose_analysis::imports::{Imported, import_paths, imported, imported_programs, reference};
use prose_analysis::location::{Fetched, Origin, Remote};
use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_files::Limit;
use prose_syntax::fix::Reported;
use prose_syntax::{Diagnostic, Severity};
use prose_vm::program::Program;

use super::parts::{Part, parts};
use super::settings::{Rules, Settings, identity};
use super::source;
use crate::imports::{Imports, Needs};

/// A diagnostic with the severity that it has for this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diagnosed {
    pub(crate) diagnostic: Diagnostic,
    pub(crate) severity: Severity,
}

impl Reported for Diagnosed {
    fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }

    fn severity(&self) -> Severity {
        self.severity
    }
}

/// What all programs have in common: who knows their settings, and what they import.
pub(crate) struct Common {
    settings: Mutex<Settings>,
    pub(crate) imports: Imports,
}

impl Common {
    pub(crate) fn new(settings: Settings, imports: Imports) -> Self {
        Self { settings: Mutex::new(settings), imports }
    }
}

/// Reads what a program imports.
struct Importing<'a> {
    common: &'a Common,
    rules: &'a Rules,
}

impl Loader for Importing<'_> {
    fn file(&mut self, path: &Path) -> Result<String, NoText> {
        prose_files::read_text(path, Limit::PROGRAM).map_err(|error| match error.is_missing() {
            true => NoText::Missing,
            false => NoText::Unreadable(error.to_string()),
        })
    }

    fn project(&mut self, path: &Path) -> Option<host::Project> {
        let mut settings = self.common.settings.lock().unwrap_or_else(PoisonError::into_inner);
        Some(settings.of(path).meaning())
    }

    fn origin(&mut self, path: &Path) -> Option<Origin> {
        self.common.imports.shown_at(path).map(|(origin, _)| origin)
    }

    fn remote(&mut self, remote: &Remote, asker: &Origin) -> Option<Fetched> {
        self.common.imports.of(self.rules).remote(remote, asker)
    }
}

/// Checks one program after the other. What several of them import is parsed once, as long as not too much has come together.
pub(crate) struct Analyst<'a> {
    common: &'a Common,
    host: AnalysisHost,
    /// The settings that say where the programs get what they import from elsewhere.
    settings: Option<PathBuf>,
    /// How many programs may come together before they are forgotten.
    limit: usize,
    /// How many of them were checked, and not only imported.
    checked: usize,
}

/// So many programs fit into the caches of a processor with all that is known of them: with 64, the whole takes a third longer.
const FEW: usize = 4;

impl<'a> Analyst<'a> {
    pub(crate) fn new(common: &'a Common) -> Self {
        let host = AnalysisHost::default().with_listing(prose_config::programs_in);
        Self { common, host, settings: None, limit: FEW, checked: 0 }
    }

    pub(crate) fn common(&self) -> &'a Common {
        self.common
    }

    /// The diagnostics of a file, sorted by position, without those that are off. What it imports is read.
    pub(super) fn diagnose(&mut self, path: &Path, text: &str, rules: &Rules) -> Vec<Diagnosed> {
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
    pub(super) fn diagnose_unless_waiting(
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
    pub(crate) fn note_imports(&mut self, path: &Path, text: &str, rules: &Rules) -> bool {
        let mut is_waiting = false;
        for part in parts(path, text) {
            let file = self.read(part.path(), part.text(), rules);
            is_waiting |= self.note(file, rules);
        }
        is_waiting
    }

    /// The diagnostics of the program in a part of a file, and the program as it is run: that which it imports as its only one if it
    /// `stands_for` that. None if that is not there.
    pub(crate) fn program(
        &mut self,
        path: &Path,
        part: &Part<'_>,
        rules: &Rules,
        stands_for_import: bool,
    ) -> (Vec<Diagnosed>, Option<Arc<Program>>) {
        let file = self.read(part.path(), part.text(), rules);
        // Also one that imports nothing has the rights of the copy that it is.
        if let Some((origin, registry)) = self.common.imports.shown_at(&identity(part.path())) {
            self.host.set_origin(file, origin);
            let registry = registry.unwrap_or(rules.meaning().registry);
            self.host.set_project(file, host::Project { registry, ..rules.meaning() });
        }
        let db = self.host.db();
        let program =
            if stands_for_import { imported_programs(db, file).first().copied() } else { Some(file) };
        (self.diagnosed(path, part, file, rules), program.map(|program| Program::new(db, program)))
    }

    fn note(&self, file: SourceFile, rules: &Rules) -> bool {
        let needs = self.needs(file);
        let is_waiting = needs.are_unknown;
        if !needs.roots.is_empty() {
            self.common.imports.of(rules).add(needs);
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
        let mut project = rules.meaning();
        // What somebody checks to know more of it came from the network nevertheless, and reaches no file of this machine.
        if !import_paths(self.host.db(), file).is_empty()
            && let Some((origin, registry)) = self.common.imports.shown_at(&path)
        {
            self.host.set_origin(file, origin);
            project.registry = registry.unwrap_or(project.registry);
        }
        self.host.set_project(file, project);
        self.host.load_imports_with(file, &mut Importing { common: self.common, rules });
        file
    }

    /// Forgets all programs: they are too many, or an analysis broke off and nobody knows what it left.
    pub(super) fn forget(&mut self) {
        self.host = AnalysisHost::default().with_listing(prose_config::programs_in);
        self.checked = 0;
    }
}

/// The diagnostics of a program that is checked alone.
pub(super) fn diagnose(common: &Common, path: &Path, text: &str, rules: &Rules) -> Vec<Diagnosed> {
    Analyst::new(common).diagnose(path, text, rules)
}

/// The text of another file that a diagnostic refers to. One that has gone meanwhile is as good as empty.
pub(crate) fn text_of_other(path: &str) -> String {
    source::read_file(Path::new(path)).unwrap_or_default()
}

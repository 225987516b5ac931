//! What there is to say about a program. Everything else in this crate is about finding programs and telling the findings.

use std::path::Path;

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::fix::Reported;
use prose_syntax::{Diagnostic, Severity};

use super::settings::{Rules, identity};
use super::source;

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

/// Checks one program after the other. What several of them import is parsed once, as long as not too much has come together.
pub(super) struct Analyst {
    host: AnalysisHost,
    /// How many programs may come together before they are forgotten.
    limit: usize,
    /// How many of them were checked, and not only imported.
    checked: usize,
}

impl Default for Analyst {
    fn default() -> Self {
        Self { host: AnalysisHost::default().with_listing(prose_config::programs_in), limit: FEW, checked: 0 }
    }
}

/// So many programs fit into the caches of a processor with all that is known of them: with 64, the whole takes a third longer.
const FEW: usize = 8;

impl Analyst {
    /// The diagnostics of a program, sorted by position, without those that are off. What it imports is read.
    pub(super) fn diagnose(&mut self, path: &Path, text: &str, rules: &Rules) -> Vec<Diagnosed> {
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
        self.host.set_project(file, rules.meaning());
        self.host.load_imports(file, |path| source::read_file(path).ok());
        rules.diagnosed(file.path(self.host.db()), diagnostics(self.host.db(), file))
    }

    /// Forgets all programs: they are too many, or an analysis broke off and nobody knows what it left.
    pub(super) fn forget(&mut self) {
        self.host = AnalysisHost::default().with_listing(prose_config::programs_in);
        self.checked = 0;
    }
}

/// The diagnostics of a program that is checked alone.
pub(super) fn diagnose(path: &Path, text: &str, rules: &Rules) -> Vec<Diagnosed> {
    Analyst::default().diagnose(path, text, rules)
}

/// The text of another file that a diagnostic refers to. One that has gone meanwhile is as good as empty.
pub(super) fn text_of_other(path: &str) -> String {
    source::read_file(Path::new(path)).unwrap_or_default()
}

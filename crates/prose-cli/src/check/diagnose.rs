//! What there is to say about a program. Everything else in this crate is about finding programs and telling the findings.

use std::path::Path;

use prose_syntax::codes::Profile;
use prose_syntax::fix::Reported;
use prose_syntax::{Diagnostic, Severity};

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

/// The diagnostics of a program, sorted by position, without those that are off.
pub(super) fn diagnose(_path: &Path, text: &str) -> Vec<Diagnosed> {
    let parse = prose_syntax::parse(text);
    let reported = parse.diagnostics().iter().filter_map(|diagnostic| {
        let severity = diagnostic.level(Profile::Default).severity()?;
        Some(Diagnosed { diagnostic: diagnostic.clone(), severity })
    });
    reported.collect()
}

/// The text of another file that a diagnostic refers to. One that has gone meanwhile is as good as empty.
pub(super) fn text_of_other(path: &str) -> String {
    source::read_file(Path::new(path)).unwrap_or_default()
}

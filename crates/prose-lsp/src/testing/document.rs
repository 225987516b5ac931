//! An open test file as the client shows it: its diagnostics and its lenses.

use prose_syntax::text::counted;
use prose_syntax::{Diagnostic, Severity, TextRange};
use prose_test::{AttemptEnd, Mismatch, TestFile, VariantResult};
use ropey::Rope;
use serde_json::{Value, json};

use crate::protocol::convert::{Converter, Reported};
use crate::protocol::lsp;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::testing::commands::{STOP_TESTS, TEST};
use crate::testing::results::TestRun;

/// The source of diagnostics about cases that failed.
const SOURCE: &str = "prose test";

/// The longest text of a difference in a diagnostic, in characters.
const MAX_SHOWN: usize = 400;

/// An open test file.
pub(crate) struct TestDocument {
    pub(crate) uri: DocumentUri,
    pub(crate) version: i32,
    pub(crate) text: Rope,
    pub(crate) file: TestFile,
    /// What keeps its cases from being run.
    pub(crate) problems: Vec<Diagnostic>,
}

impl TestDocument {
    /// Its diagnostics: its mistakes, and the failures of the last run of its cases.
    pub(crate) fn diagnostics(&self, run: Option<&TestRun>, session: &Session) -> Vec<lsp::Diagnostic> {
        let shown = ProgramDocument::alone(self.text.clone());
        let converter = Converter::new(&shown, session);
        let reported = self.problems.iter().map(|diagnostic| Reported {
            severity: Severity::Error,
            diagnostic,
            uri: &self.uri,
            place: &|_| None,
        });
        let mut diagnostics = converter.diagnostics(reported);
        for result in self.results(run).iter().filter(|result| result.is_failed()) {
            for (range, message) in failures(result) {
                let diagnostic = lsp::Diagnostic {
                    range: converter.range(range),
                    severity: Some(lsp::DiagnosticSeverity::ERROR),
                    source: Some(SOURCE.to_owned()),
                    message,
                    ..lsp::Diagnostic::default()
                };
                // Several combinations of a matrix may fail in the same way.
                if !diagnostics.contains(&diagnostic) {
                    diagnostics.push(diagnostic);
                }
            }
        }
        diagnostics
    }

    /// Its lenses: one for all cases, and one for each.
    pub(crate) fn lenses(&self, run: Option<&TestRun>, session: &Session) -> Vec<Value> {
        let shown = ProgramDocument::alone(self.text.clone());
        let converter = Converter::new(&shown, session);
        let lens = |range: TextRange, title: &str, command: &str, name: Option<&str>| {
            let mut argument = json!({ "uri": &*self.uri });
            if let Some(name) = name {
                argument["name"] = name.into();
            }
            let command = json!({ "title": title, "command": command, "arguments": [argument] });
            json!({ "range": converter.range(range), "command": command })
        };
        let top = TextRange::default();
        let mut lenses = Vec::new();
        match self.problems.len() {
            0 => lenses.push(lens(top, "▶ Run all tests", TEST, None)),
            // Without a command it can be read and does nothing.
            count => {
                lenses.push(lens(top, &format!("Cannot run: {}", counted(count, "error")), "", None));
            }
        }
        if run.is_some_and(TestRun::is_live) {
            lenses.push(lens(top, "■ Stop", STOP_TESTS, None));
        }
        for (index, case) in self.file.cases.iter().enumerate().filter(|_| self.problems.is_empty()) {
            let header = TextRange::empty(case.range.start());
            lenses.push(lens(header, "▶ Run test", TEST, Some(&case.name)));
            let results = self.results(run).iter().filter(|result| result.case == index);
            if let Some(title) = title_of(&results.collect::<Vec<_>>()) {
                lenses.push(lens(header, &title, "", None));
            }
        }
        lenses
    }

    fn results<'a>(&self, run: Option<&'a TestRun>) -> &'a [VariantResult] {
        run.map_or(&[], |run| run.results_of(self.version))
    }
}

/// The result of a case, over all combinations of its matrix; none if it was not run.
fn title_of(results: &[&VariantResult]) -> Option<String> {
    let first = results.first()?;
    let failed = results.iter().filter(|result| result.is_failed()).count();
    Some(match (failed, &first.skipped) {
        (_, Some(reason)) => format!("skipped: {reason}"),
        _ if results.iter().any(|result| result.is_stopped()) => "■ stopped".to_owned(),
        (0, None) => {
            let took: f64 = results.iter().map(|result| result.took().as_secs_f64()).sum();
            format!("✓ passed in {took:.2} s")
        }
        (failed, None) if results.len() > 1 => format!("✗ {failed} of {} failed", results.len()),
        _ => "✗ failed".to_owned(),
    })
}

/// Why a case failed, each with its place in the test file.
pub(crate) fn failures(result: &VariantResult) -> Vec<(TextRange, String)> {
    match result.first_failure() {
        Some((_, AttemptEnd::Failed(mismatches))) => {
            mismatches.iter().map(|mismatch| (mismatch.range, message_of(mismatch))).collect()
        }
        Some((_, AttemptEnd::Error(message))) => vec![(result.range, message.clone())],
        _ => Vec::new(),
    }
}

fn message_of(mismatch: &Mismatch) -> String {
    let mut message = mismatch.message.clone();
    for (name, text) in [("expected", &mismatch.expected), ("actual", &mismatch.actual)] {
        if let Some(text) = text {
            message += &format!("\n{name}: {}", prose_syntax::text::beginning(text.trim_end(), MAX_SHOWN));
        }
    }
    message
}

//! Everything that is wrong with a file: what the parser found and what the checks found, in the order of the text.

use std::sync::Arc;

use prose_syntax::{Code, Diagnostic, Related, Severity, TextRange, TextSize};

use crate::checks::{self, Finding};
use crate::db::{Db, SourceFile};
use crate::ignores;
use crate::index::Site;
use crate::repairs::{self, Repair};
use crate::statements::{Statements, TopStatement, body, parse, statements};

/// Everything that is wrong with a file, whatever its level. What is off in the profile at hand is for the caller to leave out:
/// see [`Diagnostic::level`].
#[salsa::tracked(returns(ref))]
pub fn diagnostics(db: &dyn Db, file: SourceFile) -> Arc<[Diagnostic]> {
    let syntax = parse(db, file).diagnostics();
    let text = file.text(db).as_str();
    let broken = broken_lines(syntax, text);
    let mut found: Vec<Diagnostic> = syntax.to_vec();
    let statements = statements(db, file);
    let place = Placer { db, file, statements };
    let mut add = |statement: TopStatement<'_>, start: TextSize, finding: &Finding<'_>| {
        let diagnostic = place.diagnostic(statement, start, finding);
        // What follows from a line that was not understood is not worth saying.
        let at = diagnostic.range.start();
        let line = broken.partition_point(|line| line.end() < at);
        if broken.get(line).is_none_or(|line| at < line.start()) {
            found.push(diagnostic);
        }
    };
    for placed in &statements.list {
        for finding in checks::check(db, placed.statement) {
            add(placed.statement, placed.start.into(), finding);
        }
    }
    for (statement, finding) in checks::check_file(db, file) {
        if let Some(start) = statements.start(*statement) {
            add(*statement, start, finding);
        }
    }
    keep_what_an_error_may_mean(&mut found);
    found.sort_by_key(|diagnostic| (diagnostic.range.start(), diagnostic.range.end(), diagnostic.code));
    ignores::apply(text, parse(db, file), &mut found);
    found.into()
}

/// Leaves the removal of what is never used to a person, as long as there is a mistake that may be the reason: `session: improve` for
/// `do improve` leaves a block without a call.
fn keep_what_an_error_may_mean(found: &mut [Diagnostic]) {
    let is_mistake = |diagnostic: &Diagnostic| {
        diagnostic.severity() == Severity::Error || diagnostic.code.as_str().starts_with('E')
    };
    if !found.iter().any(is_mistake) {
        return;
    }
    for diagnostic in found {
        if matches!(diagnostic.code, Code::W115 | Code::W116 | Code::W117 | Code::W119 | Code::W120) {
            diagnostic.other_fixes.extend(diagnostic.fix.take());
        }
    }
}

/// The lines that have a syntax error, in the order of the text.
fn broken_lines(syntax: &[Diagnostic], text: &str) -> Vec<TextRange> {
    let is_error =
        |diagnostic: &&Diagnostic| diagnostic.severity() == Severity::Error && diagnostic.code != Code::E112;
    let mut lines: Vec<TextRange> = Vec::new();
    for diagnostic in syntax.iter().filter(is_error) {
        let at = usize::from(diagnostic.range.start()).min(text.len());
        if lines.last().is_some_and(|line| usize::from(line.end()) >= at && usize::from(line.start()) <= at) {
            continue;
        }
        let bytes = text.as_bytes();
        let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let start = bytes[..at].iter().rposition(is_break).map_or(0, |index| index + 1);
        let end = bytes[at..].iter().position(is_break).map_or(text.len(), |length| at + length);
        lines.push(TextRange::new(size(start), size(end)));
    }
    lines
}

fn size(bytes: usize) -> TextSize {
    // The text was parsed, so its length fits.
    TextSize::new(bytes as u32)
}

/// Turns places in statements into places in files.
struct Placer<'a, 'db> {
    db: &'db dyn Db,
    file: SourceFile,
    statements: &'a Statements<'db>,
}

impl<'db> Placer<'_, 'db> {
    fn diagnostic(
        &self,
        statement: TopStatement<'db>,
        start: TextSize,
        finding: &Finding<'db>,
    ) -> Diagnostic {
        let mut diagnostic = finding.diagnostic.clone().moved(|range| range + start);
        for (site, message) in &finding.elsewhere {
            diagnostic.related.extend(self.related(*site, message));
        }
        for repair in &finding.repairs {
            let edits = repairs::edits(self.db, self.file, statement, start, repair);
            match repair {
                // What is missing is more often misspelt than forgotten, so this is for a person to choose.
                Repair::AddAgent { .. } | Repair::AddBlock { .. } | Repair::AddInput { .. } => {
                    diagnostic.other_fixes.extend(edits);
                }
                Repair::AddPersist { .. } | Repair::RemoveLines { .. } => {
                    diagnostic = diagnostic.with_fix(edits)
                }
            }
        }
        diagnostic
    }

    fn related(&self, site: Site<'db>, message: &str) -> Option<Related> {
        let file = site.statement.file(self.db);
        let is_here = file == self.file;
        let start = match is_here {
            true => self.statements.start(site.statement)?,
            false => statements(self.db, file).start(site.statement)?,
        };
        let range = body(self.db, site.statement)[site.name].range + start;
        let path = (!is_here).then(|| Arc::from(file.path(self.db).to_string_lossy()));
        Some(Related { path, range, message: message.to_owned() })
    }
}

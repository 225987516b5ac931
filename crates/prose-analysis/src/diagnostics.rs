//! The diagnostics of a file: those of the parser and those of the checks, in the order of the text.

use std::sync::Arc;

use prose_syntax::lines::{line_end, line_start, size};
use prose_syntax::{
    Code, Diagnostic, Fix, FixSafety, NameRole, Related, Severity, TextEdit, TextRange, TextSize, Undecided,
    UndecidedName,
};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use crate::checks::{self, Finding, RelatedPlace};
use crate::db::{Db, SourceFile};
use crate::ignores;
use crate::index::lookup;
use crate::repairs::{self, Repair};
use crate::statements::chunks::chunks;
use crate::statements::{TopStatement, body, parse};

/// The diagnostics of a file of every level. The caller leaves out those that are off in its profile:
/// see [`Diagnostic::level`].
#[salsa::tracked(returns(ref))]
pub fn diagnostics(db: &dyn Db, file: SourceFile) -> Arc<[Diagnostic]> {
    if let Some(results) = file.results(db) {
        return Arc::clone(&results.diagnostics);
    }
    find(db, file, checks::check_imported(db, file)).into()
}

/// The number of errors of a file in the default profile, without those of the programs that it imports.
#[salsa::tracked(returns(copy))]
pub fn error_count(db: &dyn Db, file: SourceFile) -> usize {
    if let Some(results) = file.results(db) {
        return results.error_count;
    }
    // A circular import is reported in each program of the cycle.
    let counts =
        |diagnostic: &&Diagnostic| diagnostic.severity() == Severity::Error && diagnostic.code != Code::E138;
    find(db, file, &[]).iter().filter(counts).count()
}

fn find<'db>(
    db: &'db dyn Db,
    file: SourceFile,
    of_imported: &[(TopStatement<'db>, Finding<'db>)],
) -> Vec<Diagnostic> {
    let syntax = parse(db, file).diagnostics();
    let text = file.text(db).as_str();
    let broken = broken_lines(syntax, text);
    let mut found: Vec<Diagnostic> = syntax.to_vec();
    let place = Placer { db, file, surroundings: repairs::Surroundings::new(text) };
    let mut add = |(statement, finding): &(TopStatement<'db>, Finding<'db>)| {
        let Some(start) = statement.start(db) else { return };
        let diagnostic = place.diagnostic(start, finding);
        // Consequences of a line with a syntax error are not reported.
        let at = diagnostic.range.start();
        let line = broken.partition_point(|line| line.end() < at);
        if broken.get(line).is_none_or(|line| at < line.start()) {
            found.push(diagnostic);
        }
    };
    chunks(db, file).list.iter().flat_map(|chunk| checks::check(db, *chunk)).for_each(&mut add);
    checks::check_file(db, file).iter().for_each(&mut add);
    checks::check_isolated(db, file).iter().chain(of_imported).for_each(&mut add);
    decide_by_names(db, file, &mut found);
    read_strings_of_several_lines(text, &mut found);
    keep_what_an_error_may_mean(&mut found);
    found.sort_by_key(|diagnostic| (diagnostic.range.start(), diagnostic.range.end(), diagnostic.code));
    ignores::apply(text, parse(db, file), &mut found);
    found
}

/// Makes the removal of unused code an unsafe fix, as long as an error may be the reason that it is unused.
fn keep_what_an_error_may_mean(found: &mut [Diagnostic]) {
    if !found.iter().any(|diagnostic| diagnostic.code.is_error_code()) {
        return;
    }
    for diagnostic in found {
        if diagnostic.code.is_about_unused() {
            diagnostic.other_fixes.extend(diagnostic.fix.take());
        }
    }
}

/// Decides what is wrong where that depends on what a name stands for.
///
/// `session draft` lacks the `:` before an agent, unless `draft` is a variable: then its value was meant to be the text. A word alone starts
/// no statement, unless it is the name of a block: then the block was to be called.
fn decide_by_names(db: &dyn Db, file: SourceFile, found: &mut Vec<Diagnostic>) {
    let text = file.text(db).as_str();
    let mut variables: FxHashSet<SmolStr> = FxHashSet::default();
    for diagnostic in found.iter_mut() {
        let Some(Undecided::Name(UndecidedName { range, role })) = diagnostic.undecided else { continue };
        let name = SmolStr::new(&text[range]);
        let named = lookup(db, file, &name).unwrap_or_default();
        let (fix, message, range) = match role {
            NameRole::Statement if !named.blocks.is_empty() => {
                let insert = TextEdit::insert(range.start(), "do ");
                let fix = Fix::suggestion(format!("Call the block with `do {name}`"), vec![insert]);
                (fix, format!("`{name}` is a block; call it with `do {name}`"), range)
            }
            NameRole::SessionAgent | NameRole::ResumeAgent if !named.agents.is_empty() => {
                if let Some(fix) = &mut diagnostic.fix {
                    fix.safety = FixSafety::Safe;
                }
                continue;
            }
            NameRole::SessionAgent if !named.variables.is_empty() || named.local.is_some() => {
                let edit = TextEdit::replace(range, format!("\"{{{name}}}\""));
                let fix = Fix::suggestion("Interpolate the variable in a text", edit);
                let message =
                    format!("`{name}` is a variable; interpolate it in a text: `session \"{{{name}}}\"`");
                variables.insert(name);
                (fix, message, range)
            }
            _ => continue,
        };
        *diagnostic = Diagnostic::new(diagnostic.code, range, message).with_fix(fix);
    }
    // The session reads them.
    found.retain(|diagnostic| {
        let is_unread = matches!(diagnostic.code, Code::W115 | Code::W119);
        !(is_unread && variables.contains(&text[diagnostic.range]))
    });
}

/// A string between single `"` that continues on the lines below is never closed on its line, and those lines start no statement: that is one
/// mistake. It is taken for that only where the closing quote ends its line.
fn read_strings_of_several_lines(text: &str, found: &mut Vec<Diagnostic>) {
    // What the parser found is in the order of the text, and only that is looked at.
    let unknown_lines: Vec<TextSize> = found
        .iter()
        .filter(|diagnostic| diagnostic.undecided.is_some_and(Undecided::is_about_line))
        .map(|diagnostic| diagnostic.range.start())
        .collect();
    let mut inside: Vec<TextRange> = Vec::new();
    let is_open = |diagnostic: &&mut Diagnostic| diagnostic.undecided == Some(Undecided::OpenString);
    for diagnostic in found.iter_mut().filter(is_open) {
        let (open, end) = (diagnostic.range.start(), diagnostic.range.end());
        let below = &text[usize::from(end)..];
        if !below.starts_with(['\n', '\r']) {
            continue;
        }
        let Some(close) = below.find('"') else { continue };
        let rest = below[close + 1..].split(['\n', '\r']).next().unwrap_or_default();
        let close = TextRange::at(end + size(close), TextSize::of('"'));
        let first = unknown_lines.get(unknown_lines.partition_point(|start| *start < end));
        if !rest.trim().is_empty() || first.is_none_or(|start| *start >= close.end()) {
            continue;
        }
        let quotes = [TextRange::at(open, TextSize::of('"')), close];
        *diagnostic = Diagnostic::new(
            Code::E001,
            diagnostic.range,
            "a string ends on its line; a text of several lines must be between `\"\"\"`",
        )
        .with_fix(Fix::suggestion(
            "Change to `\"\"\"`",
            quotes.map(|quote| TextEdit::replace(quote, "\"\"\"")).to_vec(),
        ));
        inside.push(TextRange::new(end, close.end()));
    }
    found.retain(|diagnostic| {
        let at = diagnostic.range.start();
        let lines = inside.get(inside.partition_point(|lines| lines.end() <= at));
        lines.is_none_or(|lines| at <= lines.start())
    });
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
        lines.push(TextRange::new(size(line_start(text, at)), size(line_end(text, at))));
    }
    lines
}

/// Turns places in statements into places in files.
struct Placer<'a, 'db> {
    db: &'db dyn Db,
    file: SourceFile,
    surroundings: repairs::Surroundings<'a>,
}

impl<'db> Placer<'_, 'db> {
    fn diagnostic(&self, start: TextSize, finding: &Finding<'db>) -> Diagnostic {
        let mut diagnostic = finding.diagnostic.clone().moved(|range| range + start);
        if let Some(last) = finding.until
            && let Some(start) = last.start(self.db)
        {
            diagnostic.range = diagnostic.range.cover(last.range(self.db, start));
        }
        for (place, message) in &finding.elsewhere {
            diagnostic.related.extend(self.related(*place, message));
        }
        for repair in &finding.repairs {
            let edits = repairs::edits(self.db, self.file, &self.surroundings, start, repair);
            match repair {
                // What is missing is more often misspelt than forgotten, and what is never reached may be the larger part of a program, and
                // the statement above it the mistake. So these need a choice.
                Repair::AddAgent { .. }
                | Repair::AddBlock { .. }
                | Repair::AddInput { .. }
                | Repair::RemoveStatements { .. }
                | Repair::RemoveUnreachable(_) => diagnostic.other_fixes.extend(edits),
                Repair::AddPersist { .. }
                | Repair::ChangeConst { .. }
                | Repair::PassContext { .. }
                | Repair::RemoveLines { .. } => diagnostic = diagnostic.with_fix(edits),
            }
        }
        diagnostic
    }

    fn related(&self, place: RelatedPlace<'db>, message: &str) -> Option<Related> {
        let (statement, range) = match place {
            RelatedPlace::Name(site) => (site.statement, body(self.db, site.statement)[site.name].range),
            RelatedPlace::Whole(statement) => (statement, TextRange::up_to(statement.len(self.db))),
        };
        let file = statement.file(self.db);
        let is_here = file == self.file;
        let range = range + statement.start(self.db)?;
        let path = (!is_here).then(|| Arc::from(file.path(self.db).to_string_lossy()));
        Some(Related::new(path, range, message))
    }
}

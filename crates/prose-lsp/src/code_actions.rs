//! Code actions: the fixes of the diagnostics at a place, and all safe fixes of a document at once.

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::fix::{Reported as Fixable, fix_all};
use prose_syntax::{Diagnostic, FixSafety, Severity, TextEdit, TextRange};
use ropey::Rope;
use serde_json::{Value, json};

use crate::commands::import_actions;
use crate::convert::{Reported, Session, end_of_line, lsp, size};
use crate::diagnostics::reported;
use crate::documents::Snapshot;
use crate::json::{Json, json as text};
use crate::reads::{View, Views};
use crate::runs::lenses::run_actions;

/// What kinds of actions the server has.
pub(crate) const KINDS: &[&str] = &[QUICK_FIX, FIX_ALL];

const QUICK_FIX: &str = "quickfix";
const FIX_ALL: &str = "source.fixAll.prose";

/// The answer to `textDocument/codeAction`. `only` holds the kinds that are wanted; none for any.
pub(crate) fn code_actions(
    views: &Views,
    session: &Session,
    range: lsp::Range,
    only: Option<&[String]>,
) -> Json {
    // A kind stands for all kinds below it.
    let is_wanted = |kind: &str| {
        only.is_none_or(|only| {
            only.iter().any(|wanted| {
                kind.strip_prefix(wanted.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    };
    let mut actions = Vec::new();
    for view in views.each() {
        let position = range;
        let Some(range) = view.converter(session).text_range(range) else { continue };
        if is_wanted(QUICK_FIX) {
            actions.extend(quick_fixes(&view, session, range));
        }
        // These change no text, and so are of no kind that could be asked for.
        if only.is_none() {
            actions.extend(import_actions(&view, range));
            actions.extend(run_actions(&view, session, position));
        }
    }
    // Clients that ask for anything want what is of use at the place; all fixes are asked for by name.
    if only.is_some() && is_wanted(FIX_ALL) {
        actions.extend(all_fixes(views, session));
    }
    text(&actions)
}

fn quick_fixes(view: &View<'_>, session: &Session, range: TextRange) -> Vec<Value> {
    let snapshot = view.snapshot;
    let converter = view.converter(session);
    let mut actions = Vec::new();
    for (severity, diagnostic) in reported(snapshot, view.db) {
        if offered_at(&snapshot.text, diagnostic.range).intersect(range).is_none() {
            continue;
        }
        let shown =
            converter.diagnostic(&Reported { severity, diagnostic, uri: &snapshot.uri, place: &|_| None });
        let fixes = diagnostic.fix.iter().chain(&diagnostic.other_fixes);
        for (position, fix) in fixes.enumerate() {
            actions.push(json!({
                "title": fix.title,
                "kind": QUICK_FIX,
                "diagnostics": [shown],
                // What only a person can choose is not for the command that applies the preferred fix.
                "isPreferred": position == 0 && diagnostic.fix.is_some(),
                "edit": edit(snapshot, session, converter.edits(&fix.edits)),
            }));
        }
    }
    actions
}

/// Where the fixes of a diagnostic are offered. What is missing has no characters to put the cursor on, so its whole line has them.
fn offered_at(text: &Rope, range: TextRange) -> TextRange {
    if !range.is_empty() {
        return range;
    }
    let line = text.byte_to_line(usize::from(range.start()).min(text.len_bytes()));
    TextRange::new(size(text.line_to_byte(line)), size(end_of_line(text, line)))
}

/// The edit of the document that a program is shown in.
fn edit(snapshot: &Snapshot, session: &Session, edits: Vec<lsp::TextEdit>) -> Value {
    let edits = json!(edits);
    if session.edits_versions {
        let document = json!({ "uri": &*snapshot.uri, "version": snapshot.version });
        json!({ "documentChanges": [{ "textDocument": document, "edits": edits }] })
    } else {
        let mut changes = serde_json::Map::new();
        changes.insert(snapshot.uri.to_string(), edits);
        json!({ "changes": changes })
    }
}

struct Found {
    severity: Severity,
    diagnostic: Diagnostic,
}

impl Fixable for Found {
    fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }

    fn severity(&self) -> Severity {
        self.severity
    }
}

/// All fixes of the programs of a document at once.
fn all_fixes(views: &Views, session: &Session) -> Option<Value> {
    let edits = views.each().filter_map(|view| {
        let fixed = fixed(&view)?;
        Some(view.converter(session).edits(&[fixed]))
    });
    let edits: Vec<lsp::TextEdit> = edits.flatten().collect();
    let snapshot = views.snapshots.first().filter(|_| !edits.is_empty())?;
    let edit = edit(snapshot, session, edits);
    Some(json!({ "title": "Apply all safe fixes", "kind": FIX_ALL, "edit": edit }))
}

/// All fixes of a program as one edit.
fn fixed(view: &View<'_>) -> Option<TextEdit> {
    let snapshot = view.snapshot;
    let before = snapshot.file.text(view.db).as_str();
    let path = snapshot.file.path(view.db);
    // The fixes are tried on programs of their own: those of the session change with the client's edits alone.
    let mut host = AnalysisHost::default();
    let diagnose = |text: &str| {
        let file = host.set_text(path, Text::new(text));
        host.set_project(file, snapshot.config.meaning());
        host.load_imports(file, |path| Some(view.db.file_at(path)?.text(view.db).as_str().to_owned()));
        let found = diagnostics(host.db(), file).iter().filter_map(|diagnostic| {
            Some(Found { severity: snapshot.severity(diagnostic)?, diagnostic: diagnostic.clone() })
        });
        found.collect()
    };
    let fixed = fix_all(before, diagnose, FixSafety::Safe);
    (!fixed.applied.is_empty()).then(|| difference(before, &fixed.text))
}

/// The one edit that makes one text of another.
fn difference(before: &str, after: &str) -> TextEdit {
    let same = |a: &mut dyn Iterator<Item = (char, char)>| -> usize {
        a.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let start = same(&mut before.chars().zip(after.chars()));
    let end = same(&mut before[start..].chars().rev().zip(after[start..].chars().rev()));
    let range = TextRange::new(size(start), size(before.len() - end));
    TextEdit::replace(range, &after[start..after.len() - end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_makes_one_text_of_the_other() {
        for (before, after) in
            [("", ""), ("a", ""), ("", "a"), ("aaa", "aa"), ("xäy", "xöy"), ("abc", "abc"), ("ab", "aab")]
        {
            let TextEdit { range, new_text } = difference(before, after);
            let mut text = before.to_owned();
            text.replace_range(std::ops::Range::<usize>::from(range), &new_text);
            assert_eq!(text, after);
        }
    }
}

//! Code actions: the fixes of the diagnostics at a place, and all safe fixes of a document at once.

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::fix::{Reported as Fixable, fix_all};
use prose_syntax::{Diagnostic, Fix, FixSafety, Severity, TextEdit, TextRange, TextSize};
use ropey::Rope;
use serde_json::{Value, json};

use crate::commands::import_actions;
use crate::convert::{Converter, Reported, Session, end_of_line};
use crate::diagnostics::reported;
use crate::json::{Json, json as text};
use crate::reads::View;

/// What kinds of actions the server has.
pub(crate) const KINDS: &[&str] = &[QUICK_FIX, FIX_ALL];

const QUICK_FIX: &str = "quickfix";
const FIX_ALL: &str = "source.fixAll.prose";

/// The answer to `textDocument/codeAction`. `only` holds the kinds that are wanted; none for any.
pub(crate) fn code_actions(
    view: &View,
    session: &Session,
    range: TextRange,
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
    if is_wanted(QUICK_FIX) {
        actions.extend(quick_fixes(view, session, range));
    }
    // These change no text, and so are of no kind that could be asked for.
    if only.is_none() {
        actions.extend(import_actions(view, range));
    }
    // Clients that ask for anything want what is of use at the place; all fixes are asked for by name.
    if only.is_some() && is_wanted(FIX_ALL) {
        actions.extend(all_fixes(view, session));
    }
    text(&actions)
}

fn quick_fixes(view: &View, session: &Session, range: TextRange) -> Vec<Value> {
    let snapshot = &view.snapshot;
    let converter = Converter { text: &snapshot.text, session };
    let mut actions = Vec::new();
    for (severity, diagnostic) in reported(snapshot, &view.db) {
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
                "edit": edit(view, &converter, &fix.edits),
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

fn edit(view: &View, converter: &Converter<'_>, edits: &[TextEdit]) -> Value {
    let snapshot = &view.snapshot;
    let edits = json!(converter.edits(edits));
    if converter.session.edits_versions {
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

fn all_fixes(view: &View, session: &Session) -> Option<Value> {
    let snapshot = &view.snapshot;
    let before = snapshot.file.text(&view.db).as_str();
    let path = snapshot.file.path(&view.db);
    // The fixes are tried on programs of their own: those of the session change with the client's edits alone.
    let mut host = AnalysisHost::default();
    let diagnose = |text: &str| {
        let file = host.set_text(path, Text::new(text));
        host.set_project(file, snapshot.config.meaning());
        host.load_imports(file, |path| Some(view.db.file_at(path)?.text(&view.db).as_str().to_owned()));
        let found = diagnostics(host.db(), file).iter().filter_map(|diagnostic| {
            Some(Found { severity: snapshot.config.severity(diagnostic)?, diagnostic: diagnostic.clone() })
        });
        found.collect()
    };
    let fixed = fix_all(before, diagnose, FixSafety::Safe);
    if fixed.applied.is_empty() {
        return None;
    }
    let converter = Converter { text: &snapshot.text, session };
    let fix = Fix::safe("Apply all safe fixes", vec![difference(before, &fixed.text)]);
    Some(json!({ "title": fix.title, "kind": FIX_ALL, "edit": edit(view, &converter, &fix.edits) }))
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

fn size(bytes: usize) -> TextSize {
    // Documents that are too long for positions are not opened.
    TextSize::new(u32::try_from(bytes).unwrap_or(u32::MAX))
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

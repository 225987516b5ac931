//! Code actions: the fixes of the diagnostics at a place and the refactorings there, and for a whole document all safe fixes at once and its imports in
//! order.

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, Text};
use prose_ide::{Assist, AssistKind, assists, organize_uses};
use prose_syntax::fix::{Reported as Fixable, fix_all};
use prose_syntax::{Diagnostic, FixSafety, Severity, TextEdit, TextRange};
use ropey::Rope;
use serde_json::{Value, json};

use crate::features::code_lenses::run_actions;
use crate::features::diagnostics::reported;
use crate::features::fork_actions::fork_actions;
use crate::features::import_actions::import_actions;
use crate::protocol::convert::{Converter, Reported};
use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp;
use crate::protocol::position::{end_of_line, position, size};
use crate::reads::views::{View, Views};

/// The kinds of code actions.
pub(crate) const KINDS: &[&str] = &[QUICK_FIX, EXTRACT, INLINE, REWRITE, ORGANIZE, FIX_ALL];

const QUICK_FIX: &str = "quickfix";
const EXTRACT: &str = "refactor.extract";
const INLINE: &str = "refactor.inline";
const REWRITE: &str = "refactor.rewrite";
const ORGANIZE: &str = "source.organizeImports";
const FIX_ALL: &str = "source.fixAll.prose";

/// The client's command to rename the symbol at a position.
const RENAME: &str = "prose.rename";

/// The answer to `textDocument/codeAction`. `only` holds the kinds that are wanted; none for any.
pub(crate) fn code_actions(views: &Views, range: lsp::Range, only: Option<&[String]>) -> Json {
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
        let Some(range) = view.converter().text_range(range) else { continue };
        if is_wanted(QUICK_FIX) {
            actions.extend(quick_fixes(&view, range));
        }
        if [EXTRACT, INLINE, REWRITE].into_iter().any(is_wanted) {
            actions.extend(
                refactorings(&view, range).filter(|(kind, _)| is_wanted(kind)).map(|(_, action)| action),
            );
        }
        // These change no text, and so are of no kind that could be asked for.
        if only.is_none() {
            actions.extend(import_actions(&view, range));
            actions.extend(run_actions(&view, position));
            actions.extend(fork_actions(&view, position));
        }
    }
    // Actions on the whole document are offered only if their kind is requested.
    if only.is_some() && is_wanted(ORGANIZE) {
        actions.extend(views.each().filter_map(|view| organized_imports(&view)));
    }
    if only.is_some() && is_wanted(FIX_ALL) {
        actions.extend(all_fixes(views));
    }
    text(&actions)
}

/// The refactorings at a place, each with its kind. The edits are made at once: they cost less than the request that would ask for them.
fn refactorings(view: &View<'_>, range: TextRange) -> impl Iterator<Item = (&'static str, Value)> {
    let found = assists(view.db, view.snapshot.file, range);
    found.into_iter().map(move |assist| (kind(&assist), refactoring(view, &assist)))
}

/// The imports of a program in order. Each program of a document has its own.
fn organized_imports(view: &View<'_>) -> Option<Value> {
    let assist = organize_uses(view.db, view.snapshot.file)?;
    Some(refactoring(view, &assist))
}

fn refactoring(view: &View<'_>, assist: &Assist) -> Value {
    let snapshot = view.snapshot;
    let converter = view.converter();
    let edits = converter.edits(&assist.edits);
    let mut action = json!({ "title": assist.label, "kind": kind(assist), "edit": edit(view, edits) });
    if view.session.renames_afterwards
        && let Some(position) = new_name(&converter, assist)
    {
        let argument = json!({ "uri": &*snapshot.uri, "position": position });
        action["command"] = json!({ "title": "Choose the name", "command": RENAME, "arguments": [argument] });
    }
    action
}

/// Where the made-up name of a refactoring is in the document that has been edited.
fn new_name(converter: &Converter<'_>, assist: &Assist) -> Option<lsp::Position> {
    let name = usize::from(assist.new_name?.start());
    // Only edits before the name move it.
    let mut edits: Vec<TextEdit> = Vec::new();
    let (mut added, mut removed) = (0, 0);
    for edit in &assist.edits {
        let before = (name + removed).checked_sub(usize::from(edit.range.start()) + added)?;
        let mut edit = edit.clone();
        added += edit.new_text.len();
        removed += usize::from(edit.range.len());
        let is_in_it = before < edit.new_text.len();
        edit.new_text.truncate(before);
        edits.push(converter.shown.edit_outward(&edit));
        if is_in_it {
            break;
        }
    }
    let mut document = converter.shown.document().clone();
    let mut at = 0;
    for TextEdit { range, new_text } in edits.iter().rev() {
        let chars = document.byte_to_char(range.start().into())..document.byte_to_char(range.end().into());
        document.remove(chars.clone());
        document.insert(chars.start, new_text);
        at += new_text.len();
    }
    let (last, earlier) = edits.split_last()?;
    at += usize::from(last.range.start());
    at -= earlier.iter().map(|edit| usize::from(edit.range.len())).sum::<usize>();
    Some(position(&document, at, converter.session.encoding))
}

fn kind(assist: &Assist) -> &'static str {
    match assist.kind {
        AssistKind::Extract => EXTRACT,
        AssistKind::Inline => INLINE,
        AssistKind::Rewrite => REWRITE,
        AssistKind::Organize => ORGANIZE,
    }
}

fn quick_fixes(view: &View<'_>, range: TextRange) -> Vec<Value> {
    let snapshot = view.snapshot;
    let converter = view.converter();
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
                // A fix that needs a choice is not preferred.
                "isPreferred": position == 0 && diagnostic.fix.is_some(),
                "edit": edit(view, converter.edits(&fix.edits)),
            }));
        }
    }
    actions
}

/// The range in which fixes of a diagnostic are offered: its line if the diagnostic is empty.
fn offered_at(text: &Rope, range: TextRange) -> TextRange {
    if !range.is_empty() {
        return range;
    }
    let line = text.byte_to_line(usize::from(range.start()).min(text.len_bytes()));
    TextRange::new(size(text.line_to_byte(line)), size(end_of_line(text, line)))
}

/// The edit of the document that a program is shown in.
fn edit(view: &View<'_>, edits: Vec<lsp::TextEdit>) -> Value {
    let (edits, snapshot) = (json!(edits), view.snapshot);
    if view.session.edits_versions {
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
fn all_fixes(views: &Views) -> Option<Value> {
    let edits = views.each().filter_map(|view| {
        let fixed = fixed(&view)?;
        Some(view.converter().edits(&[fixed]))
    });
    let edits: Vec<lsp::TextEdit> = edits.flatten().collect();
    let view = views.each().next().filter(|_| !edits.is_empty())?;
    let edit = edit(&view, edits);
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

//! What is true of every text, however broken. Property tests, fuzz targets and the tests on real programs share it.

#![allow(dead_code, reason = "each of the test binaries that share this module uses a part of it")]

pub(crate) mod isolation;
#[cfg(test)]
pub(crate) mod programs;

use std::collections::BTreeSet;

use prose_syntax::fix::fix_all;
use prose_syntax::{Diagnostic, Fix, FixSafety, Parse, Severity, TextEdit, TextRange, TextSize, parse};

/// Parses `text` and checks what holds for every tree and every diagnostic.
#[track_caller]
pub(crate) fn check_parse(text: &str) -> Parse {
    let parsed = parse(text);
    check_tree(&parsed, text);
    check_diagnostics(parsed.diagnostics(), text);
    parsed
}

#[track_caller]
fn check_tree(parsed: &Parse, text: &str) {
    let tree = parsed.syntax().text().to_string();
    if tree != text {
        let same = tree.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        panic!("the text of the tree differs from the input at byte {same}, in {:?}", excerpt(text, same));
    }
}

fn excerpt(text: &str, at: usize) -> &str {
    let start = text.floor_char_boundary(at.saturating_sub(20));
    &text[start..text.floor_char_boundary(at + 20)]
}

#[track_caller]
fn check_diagnostics(diagnostics: &[Diagnostic], text: &str) {
    let mut last = TextSize::new(0);
    for diagnostic in diagnostics {
        check_range(diagnostic.range, text, diagnostic);
        assert!(diagnostic.range.start() >= last, "diagnostics are not sorted: {diagnostic:?}");
        assert!(!diagnostic.message.is_empty(), "no message: {diagnostic:?}");
        last = diagnostic.range.start();
        if let Some(fix) = &diagnostic.fix {
            assert!(!fix.edits.is_empty(), "a fix without edits: {diagnostic:?}");
            let mut end = TextSize::new(0);
            for edit in &fix.edits {
                check_range(edit.range, text, diagnostic);
                assert!(edit.range.start() >= end, "edits overlap or are not sorted: {diagnostic:?}");
                end = edit.range.end();
            }
        }
    }
}

#[track_caller]
fn check_range(range: TextRange, text: &str, diagnostic: &Diagnostic) {
    assert!(
        text.get(std::ops::Range::<usize>::from(range)).is_some(),
        "{range:?} is outside of the text or splits a character: {diagnostic:?}"
    );
}

/// Replaces `range` of the text of `old` by `inserted`, and compares the incremental parse with a fresh one.
#[track_caller]
pub(crate) fn check_reparse(
    old: &Parse,
    old_text: &str,
    range: std::ops::Range<usize>,
    inserted: &str,
) -> (Parse, String) {
    let mut text = old_text.to_owned();
    text.replace_range(range.clone(), inserted);
    let incremental = old.reparse(text_range(&range), TextSize::of(inserted), &text);
    let fresh = check_parse(&text);
    if incremental != fresh {
        let context = format!("after replacing {range:?} by {inserted:?} in\n{old_text}");
        assert_eq!(incremental.diagnostics(), fresh.diagnostics(), "{context}");
        let shape = |parsed: &Parse| format!("{:#?}", parsed.syntax());
        assert_eq!(shape(&incremental), shape(&fresh), "{context}");
        panic!("the trees and diagnostics are equal, what is kept beside them is not {context}");
    }
    (incremental, text)
}

fn text_range(range: &std::ops::Range<usize>) -> TextRange {
    let size = |at| TextSize::try_from(at).expect("test programs are short");
    TextRange::new(size(range.start), size(range.end))
}

/// The text after a fix.
pub(crate) fn apply(text: &str, fix: &Fix) -> String {
    let mut fixed = text.to_owned();
    for TextEdit { range, new_text } in fix.edits.iter().rev() {
        fixed.replace_range(std::ops::Range::<usize>::from(*range), new_text);
    }
    fixed
}

/// Fixes all that `safety` allows and checks what holds for every result.
#[track_caller]
pub(crate) fn check_fix_all(text: &str, safety: FixSafety) {
    let mut offered = BTreeSet::new();
    let diagnose = |text: &str| {
        let diagnostics = check_parse(text).diagnostics().to_vec();
        for diagnostic in &diagnostics {
            let fix = diagnostic.fix.iter().filter(|fix| safety == FixSafety::Unsafe || fix.safety == safety);
            offered.extend(fix.map(|fix| (diagnostic.code, fix.title.clone())));
        }
        diagnostics
    };
    let fixed = fix_all(text, diagnose, safety);
    let context = || format!("fixing {text:?} gives {:?} by {:#?}", fixed.text, fixed.applied);
    for applied in &fixed.applied {
        assert!(offered.contains(applied), "{applied:?} was not offered, {}", context());
    }
    assert_eq!(fixed.applied.is_empty(), fixed.text == text, "{}", context());
    assert_eq!(fixed.remaining, parse(&fixed.text).diagnostics(), "{}", context());
    let error_count = |diagnostics: &[Diagnostic]| errors(diagnostics).len();
    assert!(error_count(&fixed.remaining) <= error_count(parse(text).diagnostics()), "{}", context());
    assert!(!text.starts_with('\u{feff}') || fixed.text.starts_with('\u{feff}'), "{}", context());
    let has_bare_line_feed = |text: &str| text.replace("\r\n", "").contains('\n');
    if text.contains('\r') && !has_bare_line_feed(text) {
        assert!(!has_bare_line_feed(&fixed.text), "{}", context());
    }
    let again = fix_all(&fixed.text, |text| parse(text).diagnostics().to_vec(), safety);
    assert_eq!((again.text.as_str(), &again.applied), (fixed.text.as_str(), &vec![]), "{}", context());
}

/// A safe fix that leaves its mistake or makes another.
#[derive(Debug)]
pub(crate) struct BadFix {
    pub(crate) title: String,
    pub(crate) diagnostic: String,
    pub(crate) found: Vec<String>,
    pub(crate) fixed: String,
}

/// Applies each safe fix on its own: it must remove its diagnostic and add no error.
pub(crate) fn bad_safe_fixes(text: &str) -> Vec<BadFix> {
    let before = parse(text);
    let mut bad = Vec::new();
    for (index, diagnostic) in before.diagnostics().iter().enumerate() {
        let Some(fix) = diagnostic.fix.as_ref().filter(|fix| fix.safety == FixSafety::Safe) else { continue };
        let fixed = apply(text, fix);
        let after = check_parse(&fixed);
        let others = before.diagnostics().iter().enumerate().filter(|&(other, _)| other != index);
        let mut found = errors(after.diagnostics());
        for other in errors(others.map(|(_, other)| other)) {
            if let Some(at) = found.iter().position(|found| *found == other) {
                found.remove(at);
            }
        }
        if !found.is_empty() {
            let diagnostic = format!("{}: {}", diagnostic.code, diagnostic.message);
            bad.push(BadFix { title: fix.title.clone(), diagnostic, found, fixed });
        }
    }
    bad
}

fn errors<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Vec<String> {
    diagnostics
        .into_iter()
        .filter(|diagnostic| diagnostic.severity() == Severity::Error)
        .map(|diagnostic| format!("{}: {}", diagnostic.code, diagnostic.message))
        .collect()
}

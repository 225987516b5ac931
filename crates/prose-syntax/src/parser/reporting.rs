//! Reports mistakes: one diagnostic for each line.

use rowan::{TextRange, TextSize};

use super::Parser;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Fix, FixSafety, TextEdit, Undecided};
use crate::severity::Severity;

impl Parser<'_> {
    /// Reports the line, unless it was reported before: one mistake gives one diagnostic.
    pub(crate) fn error(&mut self, code: Code, range: TextRange, message: impl Into<String>) {
        self.error_with_fix(code, range, message, None);
    }

    pub(crate) fn error_with_fix(
        &mut self,
        code: Code,
        range: TextRange,
        message: impl Into<String>,
        fix: Option<Fix>,
    ) {
        if !self.line_has_error() {
            self.note(code, range, message, fix);
            self.line_is_reported();
        }
    }

    /// Reports that something is missing: after the last token of the line, or at the token that is in its place.
    pub(crate) fn expected(&mut self, code: Code, message: impl Into<String>) {
        self.error(code, self.missing_at(), message);
    }

    /// Reports that `missing` is missing after the last token. The fix inserts it.
    pub(crate) fn missing(&mut self, missing: &str, safety: FixSafety, message: impl Into<String>) {
        let at = self.previous_end();
        let title = format!("Insert `{}`", missing.trim());
        let fix = fix(title, safety, TextEdit::insert(at, missing));
        self.error_with_fix(Code::E005, TextRange::empty(at), message, fix);
    }

    /// Reports a sign after a word, where `expected` should be. The fix puts that right after the word.
    pub(crate) fn wrong_sign(
        &mut self,
        sign: TextRange,
        expected: &str,
        safety: FixSafety,
        message: impl Into<String>,
    ) {
        let after_word = TextRange::new(self.previous_end(), sign.end());
        let title = format!("Change `{}` to `{}`", self.text_at(sign), expected.trim());
        let fix = fix(title, safety, TextEdit::replace(after_word, expected));
        self.error_with_fix(Code::E005, sign, message, fix);
    }

    /// Reports text in the place of which `meant` should be. The fix replaces it.
    pub(crate) fn error_with_change(
        &mut self,
        code: Code,
        range: TextRange,
        meant: &str,
        safety: FixSafety,
        message: impl Into<String>,
    ) {
        let title = format!("Change to `{meant}`");
        self.error_with_fix(code, range, message, fix(title, safety, TextEdit::replace(range, meant)));
    }

    /// Reports the current token as one that only other languages have here, and passes it. The fix removes it with the space around it
    /// that is in `removed`.
    pub(crate) fn superfluous(&mut self, removed: TextRange, safety: FixSafety, message: impl Into<String>) {
        let title = format!("Remove `{}`", self.token_text());
        let fix = fix(title, safety, TextEdit::delete(removed));
        self.error_with_fix(Code::E108, self.range(), message, fix);
        self.bump_error(1);
    }

    /// Reports something that does not affect the rest of the line.
    pub(crate) fn note(
        &mut self,
        code: Code,
        range: TextRange,
        message: impl Into<String>,
        fix: Option<Fix>,
    ) {
        self.diagnostics.push(Diagnostic::new(code, range, message).with_fix(fix));
    }

    /// Reports an error whose message depends on something else.
    pub(crate) fn undecided_error(
        &mut self,
        code: Code,
        range: TextRange,
        message: impl Into<String>,
        fix: Option<Fix>,
        undecided: Undecided,
    ) {
        if !self.line_has_error() {
            self.error_with_fix(code, range, message, fix);
            if let Some(diagnostic) = self.diagnostics.last_mut() {
                diagnostic.undecided = Some(undecided);
            }
        }
    }

    pub(crate) fn line_has_error(&self) -> bool {
        self.reported_at.is_some()
    }

    /// Marks the line as reported, where a diagnostic on it explains what follows.
    pub(crate) fn line_is_reported(&mut self) {
        self.reported_at = Some(self.lexemes[self.at].token as usize);
        self.is_line_reported = true;
    }

    /// How many diagnostics there are so far.
    pub(crate) fn diagnostic_count(&self) -> usize {
        self.diagnostics.len()
    }

    /// Whether an error was reported since there were `before` diagnostics.
    pub(crate) fn has_errors_since(&self, before: usize) -> bool {
        self.diagnostics.iter().skip(before).any(|diagnostic| diagnostic.severity() == Severity::Error)
    }

    /// Whether an error was reported since there were `before` diagnostics, at a place up to `end`.
    pub(crate) fn has_error_up_to(&self, end: TextSize, before: usize) -> bool {
        self.diagnostics
            .iter()
            .skip(before)
            .any(|diagnostic| diagnostic.severity() == Severity::Error && diagnostic.range.start() <= end)
    }

    /// Takes back what was reported since there were `before` diagnostics, when it was about text that is not code.
    pub(crate) fn retract_since(&mut self, before: usize) {
        self.diagnostics.truncate(before);
    }

    /// Takes the diagnostic at `index` back, when a later line has shown that it was a consequence.
    pub(crate) fn retract(&mut self, index: usize) {
        self.diagnostics.remove(index);
    }
}

/// Safe, if the intention is certain.
pub(crate) fn safe_if(is_clear: bool) -> FixSafety {
    if is_clear { FixSafety::Safe } else { FixSafety::Unsafe }
}

/// A fix of one edit.
pub(crate) fn fix(title: impl Into<String>, safety: FixSafety, edit: TextEdit) -> Option<Fix> {
    Some(Fix::new(title, safety, edit))
}

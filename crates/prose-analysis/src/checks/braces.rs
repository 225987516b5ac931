//! Braces in one-line strings that fill in nothing although they are nearly right.

use prose_syntax::braces::{SlipKind, slips};
use prose_syntax::{Code, Diagnostic, Fix, TextRange, TextSize};

use super::Checker;
use crate::model::*;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    for (id, data) in body.exprs() {
        let Expr::Text(text) = &data.expr else { continue };
        // Most braces hold a value, and the source is read for the others alone.
        let is_literal = |value: &str| value.matches('{').count() > text.interpolations.len();
        if body.string(id).is_some_and(is_literal) && text.content != data.range {
            checker.slips(text.content);
        }
    }
}

impl Checker<'_, '_> {
    fn slips(&mut self, content: TextRange) {
        let source = self.source(content).to_owned();
        let slips = slips(&source);
        if slips.is_empty() {
            return;
        }
        let Some(stmt) = self.body.stmt_around(content) else { return };
        for slip in slips {
            let name = &source[slip.name];
            if !self.is_variable(name, stmt.scope) {
                continue;
            }
            // Every offset is one in the text of a file, whose length fits.
            let at = |offset: usize| content.start() + TextSize::new(offset as u32);
            let range = TextRange::new(at(slip.range.start), at(slip.range.end));
            let written = &source[slip.range];
            let why = match slip.kind {
                SlipKind::Unclosed => "the closing `}` is missing",
                SlipKind::Spaces => "no spaces stand between the braces",
                SlipKind::Path => "only `.field`, `[0]` and `[name]` follow the name",
                SlipKind::Expression => {
                    "nothing is computed or called between braces; keep the value with `let` before"
                }
            };
            let message = format!("`{written}` is literal text and not the value of `{name}`: {why}");
            let fix = slip.meant.map(|meant| Fix::change(range, &meant));
            self.report(Diagnostic::new(Code::W145, range, message).with_fix(fix));
        }
    }
}

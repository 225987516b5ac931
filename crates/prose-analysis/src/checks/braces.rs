//! Braces in texts that are nearly interpolations, and those of other languages, which leave a part in the text.

use prose_syntax::braces::{BrokenInterpolationKind, broken_interpolations};
use prose_syntax::{Code, Diagnostic, Fix, TextRange, TextSize};

use super::Checker;
use crate::model::*;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    for (id, data) in body.exprs() {
        let Expr::Text(text) = &data.expr else { continue };
        checker.braces_of_other_languages(text);
        // Most braces hold a value, and the source is read for the others alone.
        let is_literal = |value: &str| value.matches('{').count() > text.interpolations.len();
        if body.string(id).is_some_and(is_literal) && text.content != data.range {
            checker.broken_interpolations(text.content);
        }
    }
}

/// Words of amounts of money, before which a `$` is one.
const MONEY: &[&str] = &[
    "amount", "balance", "budget", "cost", "dollar", "fee", "price", "revenue", "salary", "spend", "total",
    "usd",
];

impl Checker<'_, '_> {
    /// `${name}` and `{{name}}`, where `name` is a variable.
    fn braces_of_other_languages(&mut self, text: &Text) {
        for interpolation in &text.interpolations {
            if !self.resolution.of(interpolation.root).is_found() {
                continue;
            }
            let inside = interpolation.range;
            let sign = TextSize::of('$');
            let before = self.source(TextRange::new(text.content.start(), inside.start()));
            let behind = self.source(TextRange::new(inside.end(), text.content.end()));
            let has_sign = before.ends_with('$') && !before.ends_with("\\$");
            let is_doubled = before.ends_with('{') && !before.ends_with("\\{") && behind.starts_with('}');
            let name = self.source(TextRange::new(inside.start() + sign, inside.end() - sign)).to_owned();
            let range = if has_sign {
                let name = name.to_lowercase();
                if MONEY.iter().any(|word| name.contains(word)) {
                    continue;
                }
                TextRange::new(inside.start() - sign, inside.end())
            } else if is_doubled {
                TextRange::new(inside.start() - sign, inside.end() + sign)
            } else {
                continue;
            };
            self.other_braces(range, &name);
        }
    }

    fn other_braces(&mut self, range: TextRange, name: &str) {
        let written = self.source(range);
        let message =
            format!("one pair of braces interpolates a value; the rest of `{written}` stays in the text");
        let fix = Fix::change(range, &format!("{{{name}}}"));
        self.report(Diagnostic::new(Code::W149, range, message).with_fix(fix));
    }

    fn broken_interpolations(&mut self, content: TextRange) {
        let source = self.source(content).to_owned();
        let slips = broken_interpolations(&source);
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
            let is_doubled =
                source[..slip.range.start].ends_with('{') && source[slip.range.end..].starts_with('}');
            if let (BrokenInterpolationKind::Spaces, true, Some(meant)) = (slip.kind, is_doubled, &slip.meant)
            {
                let both = TextRange::new(range.start() - TextSize::of('{'), range.end() + TextSize::of('}'));
                self.other_braces(both, meant.trim_matches(['{', '}']));
                continue;
            }
            let written = &source[slip.range];
            let why = match slip.kind {
                BrokenInterpolationKind::Unclosed => "the closing `}` is missing",
                BrokenInterpolationKind::Spaces => "remove the spaces between the braces",
                BrokenInterpolationKind::Path => "only `.field`, `[0]` and `[name]` may follow the name",
                BrokenInterpolationKind::Expression => "compute the value before with `let`",
            };
            let message = format!("`{written}` does not interpolate `{name}`; {why}");
            let fix = slip.meant.map(|meant| Fix::change(range, &meant));
            self.report(Diagnostic::new(Code::W145, range, message).with_fix(fix));
        }
    }
}

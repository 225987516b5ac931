//! Conditions of loops and branches.

use rowan::TextRange;

use super::expressions::{self, expression};
use super::recovery;
use crate::codes::Code;
use crate::diagnostic::{FixSafety, TextEdit};
use crate::parser::{Parser, fix, safe_if};
use crate::syntax_kind::SyntaxKind::{self, *};

#[derive(PartialEq, Eq)]
pub(super) enum Followed {
    ByColon,
    ByModifiers,
}

/// A condition: a discretion, or an expression over values.
pub(super) fn condition(p: &mut Parser<'_>, followed: Followed) {
    if p.at(COLON) || p.at_line_end() {
        return p.expected(Code::E005, "expected a condition, such as `**the tests pass**`");
    }
    let start = p.range();
    // `if the tests pass:` – words in a row are no expression.
    // After the condition of a loop a parenthesis opens the modifiers.
    let first = usize::from(p.at(L_PAREN) && followed == Followed::ByColon);
    let are_words = p.nth(first).is_name()
        && p.nth(first) != NOT_KW
        && p.nth(first + 1).is_name()
        && !is_operator(p.nth(first + 1));
    // Nothing else starts with a `*`.
    let is_prose = are_words || p.at(STAR);
    if !is_prose {
        match followed {
            Followed::ByColon => expression(p),
            Followed::ByModifiers => expressions::condition_before_modifiers(p),
        };
        if p.at(COLON)
            || p.at_line_end()
            || p.line_has_error()
            || (followed == Followed::ByModifiers && matches!(p.kind(), L_PAREN | AS_KW))
        {
            return;
        }
        if p.at(EQ) {
            let edit = TextEdit::replace(p.range(), "==");
            let message = "expected `==` to compare values, found `=`";
            let fix = fix("Change `=` to `==`", FixSafety::Safe, edit);
            return p.error_with_fix(Code::E005, p.range(), message, fix);
        }
        if p.at(UNKNOWN) && p.token_text() == "&" {
            recovery::unexpected(p);
            return;
        }
        let has_markers = p.text_at(start).starts_with("**");
        if has_markers || !(p.at_name() || p.at(UNKNOWN) || p.at(QUESTION)) {
            return;
        }
    }
    let words = (0..p.rest_of_line())
        .take_while(|&ahead| {
            let ends_header = p.nth(ahead) == COLON && p.nth(ahead + 1) == LINE_END;
            let modifiers = followed == Followed::ByModifiers
                && p.nth(ahead) == L_PAREN
                && p.nth(ahead + 1).is_name()
                && p.nth(ahead + 2) == COLON;
            !ends_header && !modifiers
        })
        .count();
    let end = if words == 0 { p.previous_end().max(start.end()) } else { p.nth_range(words - 1).end() };
    let range = TextRange::new(start.start(), end);
    let text = p.text_at(range).trim_matches('*').trim();
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    p.error_with_fix(
        Code::E113,
        range,
        "a condition in words must be between `**` markers",
        fix(
            "Put the condition between `**`",
            safe_if(!text.contains('"')),
            TextEdit::replace(range, format!("**{text}**")),
        )
        .filter(|_| !text.contains("**")),
    );
    p.bump_error(words);
}

fn is_operator(kind: SyntaxKind) -> bool {
    matches!(kind, AND_KW | OR_KW | IS_KW | AS_KW)
}

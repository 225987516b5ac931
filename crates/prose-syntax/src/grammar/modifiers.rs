//! What changes how a statement runs, in parentheses after it: `(max: 3)`.

use super::{expressions, name, recovery};
use crate::codes::Code;
use crate::diagnostic::{Fix, FixSafety, TextEdit};
use crate::parser::{Parser, fix, safe_if};
use crate::syntax_kind::SyntaxKind::*;

/// `(max: 3)`, `("first", on-fail: "continue")`
pub(super) fn modifiers(p: &mut Parser<'_>) {
    expressions::list(p, MODIFIER_LIST, R_PAREN, modifier);
}

/// The same without parentheses: `max: 3`. Nothing, if the `header` has no such thing.
pub(super) fn bare_modifiers(p: &mut Parser<'_>, header: &str) {
    // `as` begins the name of an index, and no option is called so.
    let is_named = p.at_name() && !p.at(AS_KW) && p.nth(1) == COLON && p.nth(2) != LINE_END;
    let is_strategy = header == "parallel" && p.kind().is_string();
    if !is_named && !is_strategy {
        return;
    }
    let count = (0..p.rest_of_line())
        .take_while(|&ahead| {
            !(p.nth(ahead) == COLON && p.nth(ahead + 1) == LINE_END) && p.nth(ahead) != AS_KW
        })
        .count();
    let range = p.range().cover(p.nth_range(count - 1));
    let ends_line = p.nth(count) == LINE_END;
    let is_clear = (0..count).all(|ahead| !matches!(p.nth(ahead), L_PAREN | R_PAREN | UNKNOWN));
    p.error_with_fix(
        Code::E005,
        range,
        format!(
            "the options of `{header}` must be in parentheses: `({})`",
            recovery::shorten(p.text_at(range))
        ),
        Some(Fix::new(
            "Put the options in parentheses",
            safe_if(is_clear),
            vec![
                TextEdit::insert(range.start(), "("),
                TextEdit::insert(range.end(), if ends_line { "):" } else { ")" }),
            ],
        )),
    );
    p.start(MODIFIER_LIST);
    while p.range().start() < range.end() && !p.at_line_end() {
        if !modifier(p) {
            break;
        }
        p.eat(COMMA);
    }
    p.finish();
}

fn modifier(p: &mut Parser<'_>) -> bool {
    p.start(MODIFIER);
    let mut found = true;
    if p.at_name() && p.nth(1) == COLON {
        let modifier = p.token_text();
        name(p);
        p.bump();
        check_count(p, modifier);
        found = expressions::expression(p) != ERROR;
        // `wait: 2s each`
        while found && p.at_name() {
            p.bump_as(IDENT);
        }
    } else if p.at_name() && matches!(p.nth(1), EQ) {
        let equals = p.nth_range(1);
        let message = "expected `:` after the name of an option: `(max: 5)`";
        let fix = fix("Change `=` to `:`", FixSafety::Safe, TextEdit::replace(equals, ":"));
        p.error_with_fix(Code::E005, equals, message, fix);
        found = false;
    } else if p.at_name() && matches!(p.nth(1), NUMBER | DURATION | STRING_LITERAL) && !p.nth_is_glued(1) {
        let modifier = p.token_text();
        name(p);
        p.missing(":", FixSafety::Safe, format!("expected `:` after `{modifier}`"));
        check_count(p, modifier);
        expressions::expression(p);
    } else if p.at_string() || p.at_name() || p.kind().is_discretion() {
        expressions::expression(p);
    } else {
        recovery::unexpected(p);
        found = false;
    }
    p.finish();
    found
}

/// Reports a number that a count cannot be: `max: 0`, `retry: 1.5`, `count: -1`.
pub(super) fn check_count(p: &mut Parser<'_>, what: &str) {
    if !matches!(what, "retry" | "max" | "count" | "max_depth" | "repeat") {
        return;
    }
    let (number, range) = match (p.kind(), p.nth(1)) {
        (NUMBER, _) => (p.token_text(), p.range()),
        (MINUS, NUMBER) => (p.nth_text(1), p.range().cover(p.nth_range(1))),
        _ => return,
    };
    let is_positive = number.bytes().any(|byte| matches!(byte, b'1'..=b'9')) && p.at(NUMBER);
    let what = if what == "repeat" { "the count of `repeat`".to_owned() } else { format!("`{what}`") };
    let message = if number.contains('.') {
        format!("{what} must be a whole number")
    } else if !is_positive {
        format!("{what} must be at least 1")
    } else {
        return;
    };
    let whole = number.split('.').next().filter(|_| is_positive).and_then(|whole| whole.parse::<u32>().ok());
    let nearest = whole.unwrap_or(0).max(1);
    p.note(Code::E112, range, message, Some(Fix::change(range, &nearest.to_string())));
}

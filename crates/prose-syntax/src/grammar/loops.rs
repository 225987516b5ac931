//! Loops, and what runs at the same time.

use rowan::TextRange;

use super::conditions::{Followed, condition};
use super::expressions::{self, expression};
use super::modifiers::{bare_modifiers, check_count, modifiers};
use super::{body, expect_name, foreign, header_end, recovery};
use crate::codes::Code;
use crate::diagnostic::{Fix, FixSafety, TextEdit};
use crate::parser::{Parser, fix, safe_if};
use crate::suggest;
use crate::syntax_kind::SyntaxKind::*;

/// `parallel:`, `parallel ("first"):`, `parallel for x in xs:`
pub(super) fn parallel(p: &mut Parser<'_>) {
    let keyword = p.range();
    if p.nth(1) == FOR_KW {
        p.start(PARALLEL_FOR);
        p.bump_as(PARALLEL_KW);
        for_header_and_body(p, keyword);
    } else {
        p.start(PARALLEL);
        p.bump_as(PARALLEL_KW);
        if p.at(L_PAREN) {
            modifiers(p);
        }
        bare_modifiers(p, "parallel");
        header_end(p, "parallel");
        body(p, keyword, "parallel");
    }
    p.finish();
}

/// `repeat 3 as i:`
pub(super) fn repeat(p: &mut Parser<'_>) {
    let keyword = p.range();
    if matches!(p.nth(1), UNTIL_KW | WHILE_KW) && p.nth(2).is_discretion() {
        let message = "`repeat` takes a number; use `loop` for a loop with a condition";
        p.error_with_change(Code::E108, keyword, "loop", FixSafety::Safe, message);
        return loop_statement(p);
    }
    p.start(REPEAT);
    p.bump_as(REPEAT_KW);
    if p.at(COLON) {
        p.error(Code::E005, p.range(), "expected a number of iterations: `repeat 3:`");
    } else {
        check_count(p, "repeat");
        expressions::condition_before_modifiers(p);
    }
    if p.at_name() && p.token_text() == "times" {
        p.superfluous(p.range_after_previous(), FixSafety::Safe, "unexpected `times`; write `repeat 3:`");
    }
    if matches!(p.token_text(), "with" | "for" | "using") && p.nth(1).is_name() && p.nth(2) == COLON {
        let message = format!("expected `as` before the name of the index: `as {}`", p.nth_text(1));
        p.error_with_change(Code::E005, p.range(), "as", FixSafety::Safe, message);
        p.bump_as(AS_KW);
        expect_name(p, Code::E005, "a name for the index");
    }
    loop_name(p);
    header_end(p, "repeat");
    loop_body(p, keyword, "repeat");
    p.finish();
}

/// `as i`
fn loop_name(p: &mut Parser<'_>) {
    if p.eat(AS_KW) {
        expect_name(p, Code::E005, "a name after `as`");
    }
}

fn loop_body(p: &mut Parser<'_>, header: TextRange, owner: &str) {
    p.loops += 1;
    body(p, header, owner);
    p.loops -= 1;
}

/// `for x, i in xs:`
pub(super) fn for_statement(p: &mut Parser<'_>) {
    let keyword = p.range();
    p.start(FOR);
    for_header_and_body(p, keyword);
    p.finish();
}

fn for_header_and_body(p: &mut Parser<'_>, keyword: TextRange) {
    p.bump_as(FOR_KW);
    let parenthesis = p.at(L_PAREN).then(|| p.range());
    if let Some(open) = parenthesis {
        let close =
            (0..p.rest_of_line()).rev().find(|&ahead| p.nth(ahead) == R_PAREN).map(|at| p.nth_range(at));
        let is_plain = p.nth(1).is_name()
            && matches!(p.nth(2), IN_KW | COMMA)
            && !p.text_at(p.rest_of_line_range()).contains('{');
        let counts = matches!(p.nth(1), LET_KW) || matches!(p.nth_text(1), "var" | "int");
        let message = match counts && p.nth(3) == EQ {
            true => "`for` iterates over a collection: `for item in items:`; to count, use `repeat 3 as i:`",
            false => "unexpected parentheses after `for`; write `for item in items:`",
        };
        p.error_with_fix(
            Code::E108,
            open,
            message,
            close.filter(|_| p.nth(3) != EQ).map(|close| {
                Fix::new(
                    "Remove the parentheses",
                    safe_if(is_plain),
                    vec![TextEdit::delete(open), TextEdit::delete(close)],
                )
            }),
        );
        p.bump();
    }
    if p.at(IDENT) && p.token_text() == "each" && p.nth(1).is_name() && p.nth(1) != IN_KW {
        let message = "unexpected `each`; write `for item in items:`";
        p.superfluous(p.range_before_next(), FixSafety::Safe, message);
    }
    if p.at(IN_KW) && p.nth(1) != IN_KW {
        p.error(Code::E005, p.range(), "expected a name for the loop variable: `for item in items:`");
    } else {
        expect_name(p, Code::E005, "a name for the loop variable");
    }
    if p.eat(COMMA) {
        expect_name(p, Code::E005, "a name for the index");
    }
    if p.at_name() && p.token_text() == "of" {
        let fix = fix("Change `of` to `in`", FixSafety::Safe, TextEdit::replace(p.range(), "in"));
        p.error_with_fix(Code::E108, p.range(), "expected `in`, found `of`", fix);
        p.bump_as(IN_KW);
    } else if !p.eat(IN_KW) {
        let at = p.previous_end();
        let is_elsewhere = (0..p.rest_of_line()).any(|ahead| p.nth(ahead) == IN_KW);
        let fix = fix("Insert `in`", FixSafety::Safe, TextEdit::insert(at, " in"))
            .filter(|_| !is_elsewhere && (p.at_name() || p.at(L_BRACKET)));
        let message = "expected `in` and a collection: `for item in items:`";
        p.error_with_fix(Code::E005, TextRange::empty(at), message, fix);
    }
    if p.at(COLON) || p.at_line_end() {
        p.expected(Code::E005, "expected a collection after `in`");
    } else {
        foreign::range_call(p);
        expression(p);
    }
    if parenthesis.is_some() {
        p.eat(R_PAREN);
    }
    header_end(p, "for");
    loop_body(p, keyword, "for");
}

/// `loop until **done** (max: 5) as i:`
pub(super) fn loop_statement(p: &mut Parser<'_>) {
    let keyword = p.range();
    p.start(LOOP);
    p.bump_as(LOOP_KW);
    if p.token_text() == "forever" && p.nth(1) == COLON {
        p.superfluous(p.range_after_previous(), FixSafety::Safe, "an infinite loop is written `loop:`");
    }
    loop_header(p, keyword);
    p.finish();
}

/// `while **so**:`, which other languages have; `keyword` is its range.
pub(super) fn bare_while(p: &mut Parser<'_>) {
    let keyword = p.range();
    p.start(LOOP);
    loop_header(p, keyword);
    p.finish();
}

fn loop_header(p: &mut Parser<'_>, keyword: TextRange) {
    if p.at(NUMBER) && (p.nth(1) == COLON || p.nth_text(1) == "times") {
        counted_loop(p, keyword);
    } else if matches!(p.kind(), UNTIL_KW | WHILE_KW)
        || (p.at_name() && !p.at(AS_KW) && (p.nth(1) != COLON || p.nth(2) == LINE_END))
    {
        loop_keyword(p);
        condition(p, Followed::ByModifiers);
    } else if p.kind().is_discretion() {
        missing_loop_keyword(p, true);
        p.bump();
    }
    if p.at(L_PAREN) {
        modifiers(p);
    }
    bare_modifiers(p, "loop");
    loop_name(p);
    header_end(p, "loop");
    loop_body(p, keyword, "loop");
}

/// `until` or `while`, or the word in its place.
fn loop_keyword(p: &mut Parser<'_>) {
    if matches!(p.kind(), UNTIL_KW | WHILE_KW) {
        p.bump();
        return;
    }
    let word = p.token_text();
    let is_written_out = p.nth(1).is_discretion() || p.nth(1) == NOT_KW;
    let begun = |keyword: &&str| keyword.starts_with(word);
    let nearest = match suggest::nearest(word, ["until", "while"], |keyword| keyword) {
        None => ["until", "while"].into_iter().find(begun),
        nearest => nearest,
    };
    let Some(keyword) = nearest.filter(|_| is_written_out || p.rest_of_line() == 1) else {
        let is_condition =
            p.nth(1).is_discretion() || p.nth(1).is_name() || (p.nth(1) == COLON && p.nth(2) == LINE_END);
        return missing_loop_keyword(p, is_condition);
    };
    let message = format!("unexpected `{}`; did you mean `{keyword}`?", recovery::shorten(word));
    let safety = safe_if(is_written_out && p.nth(p.rest_of_line() - 1) == COLON);
    p.error_with_change(Code::E004, p.range(), keyword, safety, message);
    p.bump_as(if keyword == "until" { UNTIL_KW } else { WHILE_KW });
}

fn missing_loop_keyword(p: &mut Parser<'_>, is_condition: bool) {
    let message = "expected `until` or `while` before the condition of a loop";
    let fix = fix("Insert `until`", FixSafety::Unsafe, TextEdit::insert(p.range().start(), "until "));
    p.error_with_fix(Code::E005, TextRange::empty(p.previous_end()), message, fix.filter(|_| is_condition));
}

/// `loop 3:`, `loop 3 times:`
fn counted_loop(p: &mut Parser<'_>, keyword: TextRange) {
    let has_times = p.nth_text(1) == "times";
    let last = p.nth_range(usize::from(has_times));
    let mut edits = vec![TextEdit::replace(keyword, "repeat")];
    if has_times {
        edits.push(TextEdit::delete(TextRange::new(p.range().end(), last.end())));
    }
    let message = "`loop` takes no number; use `repeat` for a fixed number of iterations";
    let fix = Fix::safe(format!("Change to `repeat {}`", p.token_text()), edits);
    p.error_with_fix(Code::E108, keyword.cover(last), message, Some(fix));
    p.bump();
    if has_times {
        p.bump_as(IDENT);
    }
}

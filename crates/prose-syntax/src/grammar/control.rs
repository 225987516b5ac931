//! Branches, choices, errors and jumps.

use rowan::TextRange;

use super::conditions::{Followed, condition};
use super::expressions::{self, expression};
use super::{
    Parent, body, body_of, end_of_statement, expect_name, foreign_statements, header_end, recovery,
    right_hand_side, starts_statement,
};
use crate::codes::Code;
use crate::diagnostic::{Fix, FixSafety, TextEdit};
use crate::parser::{Parser, fix, safe_if};
use crate::syntax_kind::SyntaxKind::{self, *};

/// `try:` with `catch` and `finally`
pub(super) fn try_statement(p: &mut Parser<'_>) {
    let keyword = p.range();
    p.start(TRY);
    p.bump_as(TRY_KW);
    header_end(p, "try");
    let is_being_written = p.line_has_error() || !p.at_lines_below() && p.at_line_end();
    body(p, keyword, "try");
    let mut handlers = 0;
    let mut has_finally = false;
    while at_clause(p, |kind| matches!(kind, CATCH_KW | FINALLY_KW)) {
        let clause = p.kind();
        let before = p.diagnostic_count();
        let line_end = p.rest_of_line_range().end();
        if has_finally {
            let message = match clause {
                FINALLY_KW => "this `try` already has a `finally`",
                _ => "`catch` must come before `finally`",
            };
            p.error(Code::E104, p.range(), message);
        }
        clause_of_try(p, clause);
        // A clause with a mistake may stand where another `try` starts, and have what follows.
        has_finally = (has_finally || clause == FINALLY_KW) && !p.has_error_up_to(line_end, before);
        handlers += 1;
    }
    // What else is on the line is reported, and may be the handler.
    if handlers == 0 && !is_being_written && !p.line_has_error() {
        p.handlerless_try = Some(p.diagnostic_count());
        p.note(Code::E105, keyword, "`try` needs a `catch:` or a `finally:`", None);
    }
    p.finish();
}

/// Whether a clause of the current statement comes next; passes the line end before it.
fn at_clause(p: &mut Parser<'_>, is_clause: impl Fn(SyntaxKind) -> bool) -> bool {
    let first = usize::from(p.at(LINE_END));
    let (clause, next) = (p.nth(first), p.nth(first + 1));
    // `else = 3` assigns to a variable of that name, and `catch (error):` is a clause of other languages.
    let is_header =
        clause == CATCH_KW && next == L_PAREN && p.nth(first + 3) == R_PAREN && p.nth(first + 4) == COLON;
    let found = is_clause(clause)
        && (starts_statement(clause, next) || is_header)
        && !(p.in_expression && p.at(LINE_END));
    if found {
        p.eat(LINE_END);
    }
    found
}

fn clause_header_end(p: &mut Parser<'_>, header: &str) {
    header_end(p, header);
    p.clause_has_error |= p.line_has_error();
}

fn clause_of_try(p: &mut Parser<'_>, clause: SyntaxKind) {
    let keyword = p.range();
    p.handlerless_try = None;
    if clause == CATCH_KW {
        p.start(CATCH_CLAUSE);
        p.bump_as(CATCH_KW);
        if p.eat(AS_KW) {
            expect_name(p, Code::E005, "a name for the error");
        } else if p.at_name() && p.nth(1) == AS_KW {
            type_of_error(p, p.range_before_next(), FixSafety::Safe);
            p.bump();
            expect_name(p, Code::E005, "a name for the error");
        } else if p.kind().is_string() {
            type_of_error(p, p.range_after_previous(), FixSafety::Unsafe);
            if p.eat(AS_KW) {
                expect_name(p, Code::E005, "a name for the error");
            }
        } else if p.at_name() {
            let message = "expected `as` before the name of the error: `catch as error:`";
            let safety = safe_if(p.nth(1) == COLON);
            let fix = fix("Insert `as`", safety, TextEdit::insert(p.range().start(), "as "));
            p.error_with_fix(Code::E005, p.range(), message, fix);
            super::name(p);
        } else if p.at(L_PAREN) && p.nth(1).is_name() && p.nth(2) == R_PAREN {
            let parenthesis = p.range().cover(p.nth_range(2));
            let name = p.nth_text(1);
            let message = format!("expected `as` before the name of the error: `catch as {name}:`");
            let meant = format!("as {name}");
            p.error_with_change(Code::E108, parenthesis, &meant, FixSafety::Safe, message);
            p.bump();
            super::name(p);
            p.bump();
        }
        clause_header_end(p, "catch");
        body(p, keyword, "catch");
    } else {
        p.start(FINALLY_CLAUSE);
        p.bump_as(FINALLY_KW);
        clause_header_end(p, "finally");
        body(p, keyword, "finally");
    }
    p.finish();
}

/// The type of an error after `catch`, as other languages have it.
fn type_of_error(p: &mut Parser<'_>, removed: TextRange, safety: FixSafety) {
    let fix = fix("Remove the type", safety, TextEdit::delete(removed));
    p.error_with_fix(Code::E108, p.range(), "`catch` handles every error and takes no type", fix);
    p.bump_error(1);
}

/// `choice **which**:` with its options
pub(super) fn choice(p: &mut Parser<'_>) {
    let keyword = p.range();
    p.start(CHOICE);
    p.bump_as(CHOICE_KW);
    condition(p, Followed::ByColon);
    header_end(p, "choice");
    body_of(p, keyword, "choice", Parent::Choice);
    p.finish();
}

/// `"label":` or `label:` among the options of a `choice`.
pub(super) fn option_without_keyword(p: &mut Parser<'_>) {
    let label = p.range();
    let text = p.token_text();
    let is_quoted = p.kind().is_string();
    let mut edits = vec![TextEdit::insert(label.start(), if is_quoted { "option " } else { "option \"" })];
    if !is_quoted {
        edits.push(TextEdit::insert(label.end(), "\""));
    }
    p.error_with_fix(
        Code::E005,
        label,
        format!("expected `option` before the label: `option \"{}\":`", text.trim_matches('"')),
        Some(Fix::new("Insert `option`", safe_if(is_quoted && p.nth(2) == LINE_END), edits)),
    );
    p.start(CHOICE_OPTION);
    if is_quoted {
        expressions::string(p);
    } else {
        p.bump_error(1);
    }
    header_end(p, "option");
    body(p, label, "option");
    p.finish();
    end_of_statement(p);
}

/// `option "label":`
pub(super) fn option(p: &mut Parser<'_>, parent: Parent, after_error: bool) {
    let keyword = p.range();
    if !matches!(parent, Parent::Choice | Parent::Unknown) && !after_error {
        p.error(Code::E104, keyword, "`option` outside of a `choice`");
    }
    p.start(CHOICE_OPTION);
    p.bump_as(OPTION_KW);
    if p.at_string() {
        expressions::string(p);
    } else {
        let words = (0..p.rest_of_line())
            .take_while(|&ahead| !(p.nth(ahead) == COLON && p.nth(ahead + 1) == LINE_END))
            .count();
        if words == 0 {
            p.expected(Code::E005, "expected a label: `option \"label\":`");
        } else {
            let range = p.range().cover(p.nth_range(words - 1));
            let label = recovery::string_of(p.text_at(range));
            let safety = safe_if(!p.text_at(range).contains('"'));
            let fix = fix("Put the label in quotes", safety, TextEdit::replace(range, label));
            p.error_with_fix(Code::E005, range, "the label of an option must be in quotes", fix);
            p.bump_error(words);
        }
    }
    header_end(p, "option");
    body(p, keyword, "option");
    p.finish();
    end_of_statement(p);
}

/// `if **so**:` with `elif` and `else`
pub(super) fn if_statement(p: &mut Parser<'_>) {
    let keyword = p.range();
    p.start(IF);
    if p.kind().is_discretion() {
        let message = "expected `if` or `loop until` before the condition";
        let edit = TextEdit::insert(keyword.start(), "if ");
        p.error_with_fix(Code::E005, keyword, message, fix("Insert `if`", FixSafety::Unsafe, edit));
    } else {
        p.bump_as(IF_KW);
    }
    condition(p, Followed::ByColon);
    header_end(p, "if");
    body(p, keyword, "if");
    let mut has_else = false;
    while at_clause(p, |kind| matches!(kind, ELIF_KW | ELSE_KW)) {
        let clause = p.kind();
        let before = p.diagnostic_count();
        let line_end = p.rest_of_line_range().end();
        if has_else {
            let message = match clause {
                ELSE_KW if !is_else_if(p) => "this `if` already has an `else`",
                _ => "`elif` must come before `else`",
            };
            p.error(Code::E104, p.range(), message);
        }
        let is_else = clause == ELSE_KW && !is_else_if(p);
        clause_of_if(p, clause);
        has_else |= is_else && !p.has_error_up_to(line_end, before);
    }
    p.finish();
}

fn is_else_if(p: &Parser<'_>) -> bool {
    p.at(ELSE_KW) && p.nth(1) == IF_KW
}

fn clause_of_if(p: &mut Parser<'_>, clause: SyntaxKind) {
    let keyword = p.range();
    // The body above has ended, and so has a `try` in it.
    p.handlerless_try = None;
    if clause == ELSE_KW && !is_else_if(p) {
        p.start(ELSE_CLAUSE);
        p.bump_as(ELSE_KW);
        clause_header_end(p, "else");
        body(p, keyword, "else");
        p.finish();
        return;
    }
    p.start(ELIF_CLAUSE);
    if is_else_if(p) {
        let range = keyword.cover(p.nth_range(1));
        let safety = safe_if((0..p.rest_of_line()).any(|ahead| p.nth(ahead) == COLON));
        p.error_with_change(Code::E108, range, "elif", safety, "unexpected `else if`; use `elif`");
        p.bump();
        p.bump();
    } else {
        p.bump_as(ELIF_KW);
    }
    condition(p, Followed::ByColon);
    clause_header_end(p, "elif");
    body(p, keyword, "elif");
    p.finish();
}

/// A clause below a statement that cannot have it.
pub(super) fn orphan_clause(p: &mut Parser<'_>, keyword: SyntaxKind, parent: Parent, after_error: bool) {
    if parent != Parent::Unknown && !after_error {
        let (clause, owner) = match keyword {
            ELIF_KW => ("elif", "if"),
            ELSE_KW => ("else", "if"),
            CATCH_KW => ("catch", "try"),
            _ => ("finally", "try"),
        };
        let message = format!("`{clause}` has no matching `{owner}` above it at this indentation");
        p.error(Code::E104, p.range(), message);
    }
    match keyword {
        ELIF_KW | ELSE_KW => clause_of_if(p, keyword),
        _ => clause_of_try(p, keyword),
    }
    end_of_statement(p);
}

/// `throw`, `throw "message"`
pub(super) fn throw(p: &mut Parser<'_>) {
    p.start(THROW);
    p.bump_as(THROW_KW);
    if p.at(COLON) && p.nth(1) != LINE_END {
        recovery::superfluous_colon(p, "throw", FixSafety::Safe);
    }
    if !p.at_line_end() && !foreign_statements::thrown_object(p) {
        let start = p.range();
        let kind = expression(p);
        recovery::text_without_quotes(p, start, kind);
    }
    p.finish();
    end_of_statement(p);
}

/// `return`, `return value`
pub(super) fn return_statement(p: &mut Parser<'_>) {
    p.start(RETURN);
    p.bump_as(RETURN_KW);
    if p.at(COLON) && p.nth(1) != LINE_END {
        recovery::superfluous_colon(p, "return", FixSafety::Safe);
    }
    if !p.at_line_end() {
        right_hand_side(p);
    }
    p.finish();
    end_of_statement(p);
}

/// `break`, `continue`
pub(super) fn jump(p: &mut Parser<'_>, keyword: SyntaxKind, parent: Parent) {
    if p.loops == 0 && parent != Parent::Unknown {
        let range = p.range();
        let word = if keyword == BREAK_KW { "break" } else { "continue" };
        let fix = fix(format!("Remove `{word}`"), FixSafety::Unsafe, TextEdit::delete(range));
        p.error_with_fix(Code::E114, range, format!("`{word}` outside of a loop"), fix);
    }
    p.start(if keyword == BREAK_KW { BREAK } else { CONTINUE });
    p.bump_as(keyword);
    p.finish();
    end_of_statement(p);
}

/// `assert condition`, with a message after a colon or below it
pub(super) fn assert(p: &mut Parser<'_>) {
    p.start(ASSERT);
    p.bump_as(ASSERT_KW);
    if p.at_line_end() || p.at(COLON) {
        recovery::missing_value(p);
    } else {
        expression(p);
    }
    if p.at(COLON) {
        p.bump();
        if p.at_lines_below() {
            p.bump();
            p.bump();
            if p.at_string() {
                expressions::string(p);
                p.eat(LINE_END);
            } else {
                p.error(Code::E004, p.range(), "expected the message of `assert` as a string");
            }
            if p.at(DEDENT) {
                p.bump();
            } else {
                recovery::rest_of_block(p, "the message alone");
            }
        } else if p.at_string() {
            expressions::string(p);
        } else {
            p.expected(Code::E005, "expected a message after `:`");
        }
    }
    p.finish();
    end_of_statement(p);
}

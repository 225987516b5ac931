//! Sessions, arrow chains and `do`.

use rowan::TextRange;

use super::property_lists::{self, property_value};
use super::{body, expect_name, expressions, foreign, foreign_statements, name, name_ref, recovery};
use crate::codes::Code;
use crate::diagnostic::{Fix, FixSafety, NameRole, TextEdit, Undecided, UndecidedName};
use crate::parser::{Parser, fix, safe_if};
use crate::properties;
use crate::syntax_kind::SyntaxKind::{self, *};

/// A session, and those chained after it by arrows.
pub(super) fn session_chain(p: &mut Parser<'_>, keyword: SyntaxKind) {
    let checkpoint = p.checkpoint();
    session(p, keyword);
    if !at_arrow(p) {
        return;
    }
    p.start_at(checkpoint, ARROW_CHAIN);
    let mut indented = 0;
    let mut spans_lines = false;
    while at_arrow(p) {
        spans_lines |= !p.at(ARROW) || p.is_past_line();
        while !p.at(ARROW) {
            indented += usize::from(p.at(INDENT));
            p.bump();
        }
        p.bump();
        match p.kind() {
            keyword @ (SESSION_KW | RESUME_KW) => session(p, keyword),
            _ => {
                let message =
                    "expected `session` or `resume` after `->`, as in `session \"a\" -> session \"b\"`";
                p.expected(Code::E005, message);
                p.skip_line();
            }
        }
        spans_lines |= p.is_past_line();
        // The line above is one of the chain only where the chain has several.
        p.clause_has_error |= p.line_has_error() || (spans_lines && p.line_above_has_error);
        p.leave_indented(&mut indented);
    }
    for _ in 0..indented {
        recovery::rest_of_block(p, "a session after `->`");
    }
    p.finish();
}

fn at_arrow(p: &Parser<'_>) -> bool {
    match p.kind() {
        ARROW => true,
        LINE_END if p.in_expression => false,
        LINE_END => p.nth(1) == ARROW || (p.nth(1) == INDENT && p.nth(2) == ARROW),
        _ => false,
    }
}

/// `session "text"`, `session: agent`, `session name: agent`, `resume: agent`
fn session(p: &mut Parser<'_>, keyword: SyntaxKind) {
    let keyword_range = p.range();
    let is_session = keyword == SESSION_KW;
    p.start(if is_session { SESSION } else { RESUME });
    p.bump_as(keyword);
    foreign::string_prefix(p);
    match p.kind() {
        COLON => {
            let colon = p.range();
            p.bump();
            if p.at_name() {
                name_ref(p);
                text_after_agent(p, keyword_range);
            } else if p.at_string() && !is_session {
                recovery::quoted_name(p, NAME_REF, Code::E003, "an agent name");
            } else if p.at_string() {
                // One word may be the name of an agent as well.
                let name = recovery::unquoted(p.token_text());
                p.error_with_fix(
                    Code::E108,
                    colon,
                    "unexpected `:` before the text; `session:` takes the name of an agent",
                    match name {
                        Some(name) => {
                            fix("Remove the quotes", FixSafety::Unsafe, TextEdit::replace(p.range(), name))
                        }
                        None => fix("Remove `:`", FixSafety::Safe, TextEdit::delete(colon)),
                    },
                );
                expressions::string(p);
            } else {
                missing_target(p, keyword_range, keyword);
            }
        }
        EQ if p.nth(1).is_name() => {
            let message = "expected `:` before the name of the agent, found `=`";
            p.wrong_sign(p.range(), ":", FixSafety::Safe, message);
            p.bump_error(1);
            name_ref(p);
        }
        kind if kind.is_string() && is_session => {
            expressions::string(p);
            rest_after_text(p, keyword_range);
        }
        kind if kind.is_name() && is_session && p.nth(1) == COLON => {
            name(p);
            p.bump();
            if p.at_name() {
                name_ref(p);
            } else {
                text_after_agent(p, keyword_range);
            }
        }
        kind if kind.is_name()
            && is_session
            && matches!(p.nth(1), STRING_LITERAL | TRIPLE_STRING_LITERAL)
            && !p.nth_is_glued(1)
            && p.rest_of_line() == 2 =>
        {
            name_ref(p);
            text_after_agent(p, keyword_range);
        }
        kind if kind.is_name() && p.rest_of_line() == 1 => {
            let word = if is_session { "session" } else { "resume" };
            let role = if is_session { NameRole::SessionAgent } else { NameRole::ResumeAgent };
            let at = p.previous_end();
            p.undecided_error(
                Code::E003,
                TextRange::empty(at),
                format!(
                    "expected `:` before the name of the agent: `{word}: {}`",
                    recovery::shorten(p.token_text())
                ),
                fix("Insert `:`", FixSafety::Unsafe, TextEdit::insert(at, ":")),
                Undecided::Name(UndecidedName { range: p.range(), role }),
            );
            name_ref(p);
        }
        kind if kind.is_name() && is_session => {
            let range = p.rest_of_line_range();
            recovery::unquoted_text(p, Code::E003, range, "the text of a session must be in quotes");
        }
        L_PAREN if is_session => foreign_statements::session_call(p),
        _ => {
            if p.at(UNKNOWN) {
                recovery::unexpected(p);
            } else {
                missing_target(p, keyword_range, keyword);
            }
            p.skip_line();
        }
    }
    // The lines below may also continue with the chain.
    if !matches!(p.nth(2), ARROW | PIPE) {
        property_lists::properties(p, if is_session { "session" } else { "resume" });
    }
    p.finish();
}

/// `session = writer` with properties below it, which an assignment has not.
pub(super) fn has_equals_sign(p: &Parser<'_>) -> bool {
    let is_property = || p.nth(6) == COLON && properties::find(p.nth_text(5)).is_some();
    p.nth(1) == EQ && p.nth(2).is_name() && p.nth(3) == LINE_END && p.nth(4) == INDENT && is_property()
}

/// `session: writer "text"`, where the text is a property.
fn text_after_agent(p: &mut Parser<'_>, keyword: TextRange) {
    if !matches!(p.kind(), STRING_LITERAL | TRIPLE_STRING_LITERAL) || p.is_glued() {
        return;
    }
    let range = p.range();
    let text = p.token_text();
    let agent = p.previous_range();
    let agent = if p.text_at(agent) == ":" {
        p.text_at(TextRange::new(keyword.end(), agent.start()))
    } else {
        p.text_at(agent)
    };
    let between = TextRange::new(keyword.end(), range.end());
    let below = format!(": {}\n{}  prompt: {text}", agent.trim(), p.indentation_at(keyword.start()));
    p.error_with_fix(
        Code::E108,
        range,
        "unexpected text after the agent; write it below as `prompt: \"what to do\"`",
        fix("Move the text below", safe_if(p.nth(2) != INDENT), TextEdit::replace(between, below))
            .filter(|_| p.rest_of_line() == 1 && !p.in_expression),
    );
    p.bump_error(1);
}

fn missing_target(p: &mut Parser<'_>, range: TextRange, keyword: SyntaxKind) {
    let message = match keyword {
        SESSION_KW => "`session` takes a text or an agent: `session \"what to do\"` or `session: agent`",
        _ => "`resume` takes an agent: `resume: agent`",
    };
    p.error(Code::E003, range, message);
}

/// What may come after the text of a session on its line.
fn rest_after_text(p: &mut Parser<'_>, session: TextRange) {
    match p.kind() {
        L_PAREN => {
            expressions::list(p, PROPERTY_LIST, R_PAREN, |p| {
                p.start(PROPERTY);
                let found = expect_name(p, Code::E005, "a property name");
                if found {
                    property_value(p);
                }
                p.finish();
                found
            });
        }
        COLON if p.nth(1) == LINE_END => {
            let message =
                "unexpected `:` after the text of a session; indent its properties on the lines below";
            p.superfluous(p.range(), FixSafety::Safe, message);
        }
        kind if kind.is_name() && p.nth(1) == COLON => {
            p.start(PROPERTY_LIST);
            while p.at_name() && p.nth(1) == COLON {
                p.start(PROPERTY);
                name(p);
                property_value(p);
                p.finish();
            }
            p.finish();
        }
        kind if kind.is_name() => foreign_statements::after_session(p, session),
        _ => {}
    }
}

/// `do greet "Bob"`, where the arguments have no parentheses around them.
fn bare_arguments(p: &mut Parser<'_>) {
    let count = p.rest_of_line();
    let is_value = |kind: SyntaxKind| matches!(kind, IDENT | STRING_LITERAL | NUMBER | DURATION);
    let are_values = count % 2 == 1
        && (0..count).all(|ahead| match ahead % 2 {
            0 => is_value(p.nth(ahead)),
            _ => p.nth(ahead) == COMMA,
        });
    if !are_values || p.line_has_error() {
        return;
    }
    let arguments = p.rest_of_line_range();
    let before = TextRange::new(p.previous_end(), arguments.start());
    let name = recovery::shorten(p.text_at(p.previous_range()));
    p.error_with_fix(
        Code::E005,
        arguments,
        format!(
            "the arguments of a block must be in parentheses: `{name}({})`",
            recovery::shorten(p.text_at(arguments))
        ),
        Some(Fix::new(
            "Put the arguments in parentheses",
            // A word may also be the second of a name.
            safe_if(!p.at(IDENT)),
            vec![TextEdit::replace(before, "("), TextEdit::insert(arguments.end(), ")")],
        )),
    );
    p.skip_line();
}

/// `do:` with its body, or `do block(arguments)`
pub(super) fn do_statement(p: &mut Parser<'_>) {
    let keyword = p.range();
    if p.nth(1) == COLON {
        p.start(DO_BLOCK);
        p.bump_as(DO_KW);
        p.bump();
        body(p, keyword, "do");
    } else {
        p.start(DO_CALL);
        p.bump_as(DO_KW);
        if p.at_name() || (p.at_string() && recovery::unquoted(p.token_text()).is_some()) {
            if p.at_name() {
                name_ref(p);
            } else {
                recovery::quoted_name(p, NAME_REF, Code::E005, "a block name");
            }
            if p.at(L_PAREN) {
                expressions::arguments(p);
            } else {
                bare_arguments(p);
            }
        } else {
            let message = "`do` takes the name of a block, or `:` and a body: `do review(\"x\")`";
            p.expected(Code::E005, message);
        }
    }
    p.finish();
}

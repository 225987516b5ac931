//! Sessions, their properties, arrow chains and `do`.

use rowan::TextRange;

use super::definitions::agent_reference;
use super::{Parent, expect_name};
use super::{
    body, end_of_statement, expressions, foreign, indented_lines, listed_statement, modifiers::check_count,
    name, name_ref, recovery, statement_keyword, yaml,
};
use crate::codes::Code;
use crate::diagnostic::{Fix, FixSafety, NameRole, TextEdit, UndecidedName};
use crate::parser::{Parser, fix, is_name, safe_if};
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
                let range = recovery::missing_at(p);
                p.error(
                    Code::E005,
                    range,
                    "expected `session` or `resume` after `->`, as in `session \"a\" -> session \"b\"`",
                );
                p.skip_line();
            }
        }
        spans_lines |= p.is_past_line();
        // The line above is one of the chain only where the chain has several.
        p.clause_has_error |= p.line_has_error() || (spans_lines && p.line_above_has_error);
        while indented > 0 && (p.at(DEDENT) || (p.at(LINE_END) && p.nth(1) == DEDENT)) {
            p.eat(LINE_END);
            p.bump();
            indented -= 1;
        }
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
                agent_reference(p);
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
        EQ if is_name(p.nth(1)) => {
            let after_keyword = TextRange::new(p.previous_end(), p.range().end());
            p.error_with_fix(
                Code::E005,
                p.range(),
                "expected `:` before the name of the agent, found `=`",
                fix("Change `=` to `:`", FixSafety::Safe, TextEdit::replace(after_keyword, ":")),
            );
            p.start(ERROR);
            p.bump();
            p.finish();
            agent_reference(p);
        }
        kind if super::is_string(kind) && is_session => {
            expressions::string(p);
            rest_after_text(p, keyword_range);
        }
        kind if is_name(kind) && is_session && p.nth(1) == COLON => {
            name(p);
            p.bump();
            if p.at_name() {
                agent_reference(p);
            } else {
                text_after_agent(p, keyword_range);
            }
        }
        kind if is_name(kind)
            && is_session
            && matches!(p.nth(1), STRING_LITERAL | TRIPLE_STRING_LITERAL)
            && !p.nth_is_glued(1)
            && p.rest_of_line() == 2 =>
        {
            agent_reference(p);
            text_after_agent(p, keyword_range);
        }
        kind if is_name(kind) && p.rest_of_line() == 1 => {
            let word = if is_session { "session" } else { "resume" };
            let role = if is_session { NameRole::SessionAgent } else { NameRole::ResumeAgent };
            let at = p.previous_end();
            p.error_about_name(
                Code::E003,
                TextRange::empty(at),
                format!(
                    "expected `:` before the name of the agent: `{word}: {}`",
                    recovery::shorten(p.token_text())
                ),
                fix("Insert `:`", FixSafety::Unsafe, TextEdit::insert(at, ":")),
                UndecidedName { range: p.range(), role },
            );
            agent_reference(p);
        }
        kind if is_name(kind) && is_session => {
            let range = p.rest_of_line_range();
            let text = p.text_at(range).replace('\\', "\\\\").replace('"', "\\\"");
            p.error_with_fix(
                Code::E003,
                range,
                "the text of a session must be in quotes",
                fix(
                    "Put the text in quotes",
                    FixSafety::Unsafe,
                    TextEdit::replace(range, format!("\"{text}\"")),
                ),
            );
            p.skip_line();
        }
        L_PAREN if is_session => foreign::session_call(p),
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
        properties(p, if is_session { "session" } else { "resume" });
    }
    p.finish();
}

/// `session = writer` with properties below it, which an assignment has not.
pub(super) fn has_equals_sign(p: &Parser<'_>) -> bool {
    let is_property = || p.nth(6) == COLON && properties::find(p.nth_text(5)).is_some();
    p.nth(1) == EQ && is_name(p.nth(2)) && p.nth(3) == LINE_END && p.nth(4) == INDENT && is_property()
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
    p.start(ERROR);
    p.bump();
    p.finish();
}

/// The properties below the header of an `owner`. Returns whether there are any.
pub(super) fn properties(p: &mut Parser<'_>, owner: &str) -> bool {
    properties_below(p) || unindented_properties(p, owner)
}

/// Property lines that are below their header without being indented. They are reported once.
fn unindented_properties(p: &mut Parser<'_>, owner: &str) -> bool {
    let at_property =
        |p: &Parser<'_>| p.at(LINE_END) && p.nth(2) == COLON && properties::find(p.nth_text(1)).is_some();
    // After an error it is unknown what the lines belong to, and in a list of properties they are part of it.
    if p.in_expression || p.one_line || p.is_place_unknown || p.line_has_error() || !at_property(p) {
        return false;
    }
    p.bump();
    let first = p.range();
    let mut edits = Vec::new();
    p.start(PROPERTY_LIST);
    while p.at_name() && p.nth(1) == COLON && properties::find(p.token_text()).is_some() {
        let start = p.range().start();
        property(p);
        let lines = TextRange::new(start, p.previous_end());
        edits.extend(p.line_starts(lines).map(|start| TextEdit::insert(start, "  ")));
        if p.at(INDENT) && p.nth(2) == COLON && properties::find(p.nth_text(1)).is_some() {
            // The other properties are indented.
            p.bump();
            property_lines(p, false);
            p.eat(DEDENT);
        }
    }
    p.finish();
    let name = p.text_at(first);
    p.note(
        Code::E101,
        first,
        format!("`{name}:` is a property of the `{owner}` above; indent it below its header"),
        Some(Fix { title: "Indent the properties".into(), safety: FixSafety::Safe, edits }),
    );
    true
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
            let colon = p.range();
            p.error_with_fix(
                Code::E108,
                colon,
                "unexpected `:` after the text of a session; indent its properties on the lines below",
                fix("Remove `:`", FixSafety::Safe, TextEdit::delete(colon)),
            );
            p.start(ERROR);
            p.bump();
            p.finish();
        }
        kind if is_name(kind) && p.nth(1) == COLON => {
            p.start(PROPERTY_LIST);
            while p.at_name() && p.nth(1) == COLON {
                p.start(PROPERTY);
                name(p);
                property_value(p);
                p.finish();
            }
            p.finish();
        }
        kind if is_name(kind) => foreign::after_session(p, session),
        _ => {}
    }
}

/// The `:` and the value of a property whose name was passed, both on the current line.
fn property_value(p: &mut Parser<'_>) {
    let property = p.text_at(p.previous_range());
    if p.at(EQ) {
        let after_name = TextRange::new(p.previous_end(), p.range().end());
        p.error_with_fix(
            Code::E005,
            p.range(),
            format!("expected `:`, found `=`; a property is written `{}: …`", recovery::shorten(property)),
            fix("Change `=` to `:`", FixSafety::Safe, TextEdit::replace(after_name, ":")),
        );
        p.bump();
    } else if !p.eat(COLON) {
        let range = recovery::missing_at(p);
        p.error(
            Code::E005,
            range,
            format!("expected `:` after the property `{}`", recovery::shorten(property)),
        );
        return;
    }
    check_count(p, property);
    if property == "model" && bare_model_id(p) {
        return;
    }
    let start = p.range();
    let kind = expressions::expression(p);
    if kind == NAME_REF && (p.at_name() || p.at(UNKNOWN)) && p.nth(1) != COLON {
        let range = start.cover(p.rest_of_line_range());
        let quick_fix = recovery::quoted(p, range, FixSafety::Unsafe);
        p.error_with_fix(Code::E004, range, "a text of several words must be in quotes", quick_fix);
        p.skip_line();
    }
}

/// `context: a, b`, where the values of an array have no brackets around them.
fn values_without_brackets(p: &mut Parser<'_>, start: TextRange) {
    if !p.at(COMMA) || p.nth(1) == LINE_END || p.line_has_error() {
        return;
    }
    let values = start.cover(p.rest_of_line_range());
    let is_clear = (0..p.rest_of_line()).all(|ahead| match p.nth(ahead) {
        COMMA => ahead % 2 == 0,
        kind => ahead % 2 == 1 && (is_name(kind) || matches!(kind, STRING_LITERAL | NUMBER)),
    });
    let edits = vec![TextEdit::insert(values.start(), "["), TextEdit::insert(values.end(), "]")];
    p.error_with_fix(
        Code::E005,
        values,
        "several values must be in brackets: `[a, b]`",
        Some(Fix { title: "Put the values in brackets".into(), safety: safe_if(is_clear), edits }),
    );
    p.skip_line();
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
        Some(Fix {
            title: "Put the arguments in parentheses".into(),
            // A word may also be the second of a name.
            safety: safe_if(!p.at(IDENT)),
            edits: vec![TextEdit::replace(before, "("), TextEdit::insert(arguments.end(), ")")],
        }),
    );
    p.skip_line();
}

/// The id of a model without quotes, where it is more than a word: `vendor/model-1.5`. Returns whether there is one.
fn bare_model_id(p: &mut Parser<'_>) -> bool {
    let is_part = |kind| is_name(kind) || matches!(kind, NUMBER | DURATION | DOT | SLASH | MINUS | COLON);
    let parts = 1 + (1..).take_while(|&ahead| p.nth_is_glued(ahead) && is_part(p.nth(ahead))).count();
    if !p.at_name() || parts == 1 {
        return false;
    }
    let range = p.range().cover(p.nth_range(parts - 1));
    let id = p.text_at(range);
    p.error_with_fix(
        Code::E008,
        range,
        format!("a model id must be in quotes: `\"{}\"`", recovery::shorten(id)),
        fix("Put it in quotes", FixSafety::Unsafe, TextEdit::replace(range, format!("\"{id}\""))),
    );
    p.start(ERROR);
    for _ in 0..parts {
        p.bump();
    }
    p.finish();
    true
}

/// The indented property lines below the current line. Returns whether there are any.
pub(super) fn properties_below(p: &mut Parser<'_>) -> bool {
    if !p.at_lines_below() {
        return false;
    }
    let after_error = p.line_has_error();
    let one_line = std::mem::replace(&mut p.one_line, false);
    p.bump();
    indented_lines(p, PROPERTY_LIST, after_error, |p| property_lines(p, after_error));
    p.one_line = one_line;
    true
}

fn property_lines(p: &mut Parser<'_>, mut after_error: bool) {
    let is_unknown = after_error;
    // One session indented below another is one mistake, however many lines it has.
    let mut statements_reported = false;
    loop {
        let before = p.diagnostic_count();
        let is_indented = p.at(INDENT);
        match p.kind() {
            END | DEDENT => break,
            LINE_END => p.bump(),
            INDENT => recovery::indented(p, after_error || p.line_above_has_error),
            kind if is_name(kind) && p.nth(1) == COLON && !starts_statement_with_colon(kind) => {
                statements_reported = false;
                property(p);
            }
            kind if is_name(kind)
                && properties::find(p.token_text()).is_some()
                && !(is_unknown && p.nth(1) == EQ) =>
            {
                statements_reported = false;
                property(p);
            }
            kind if super::is_string(kind)
                && p.nth(1) == COLON
                && recovery::unquoted(p.token_text())
                    .is_some_and(|name| !is_unknown || properties::find(name).is_some()) =>
            {
                statements_reported = false;
                property(p);
            }
            _ if is_unknown => {
                listed_statement(p, Parent::Unknown, true);
            }
            _ => {
                let is_statement = statement_keyword(p).is_some() || (p.at_name() && p.nth(1) == EQ);
                if is_statement && !statements_reported && !after_error {
                    statements_reported = true;
                    p.error(
                        Code::E101,
                        p.range(),
                        "expected a property; indent a statement like the line it follows",
                    );
                } else if is_statement {
                    statements_reported = true;
                    p.line_is_reported();
                } else if p.at_name() {
                    let word = recovery::shorten(p.token_text());
                    p.error(
                        Code::E004,
                        p.range(),
                        format!("`{word}` is not a property; a property is written `name: value`"),
                    );
                    p.skip_line();
                    end_of_statement(p);
                    after_error = true;
                    continue;
                } else if !after_error && expressions::starts_value(p.kind()) {
                    p.error(
                        Code::E004,
                        p.range(),
                        "this is not a property; a property is written `name: value`",
                    );
                }
                listed_statement(p, Parent::Unknown, true);
            }
        }
        after_error = is_indented || p.has_errors_since(before);
    }
}

/// Whether a keyword followed by a colon is a statement and no property, here where properties are expected.
fn starts_statement_with_colon(keyword: SyntaxKind) -> bool {
    matches!(
        keyword,
        SESSION_KW | RESUME_KW | DO_KW | PARALLEL_KW | LOOP_KW | TRY_KW | ELSE_KW | FINALLY_KW | CATCH_KW
    )
}

/// `name: value`, or `name:` with entries below it
pub(super) fn property(p: &mut Parser<'_>) {
    p.start(PROPERTY);
    let property = p.token_text();
    if p.at_name() {
        name(p);
    } else {
        recovery::quoted_name(p, NAME, Code::E005, "a property name");
    }
    match p.kind() {
        COLON if yaml::is_text_below(p, 0) => {
            p.bump();
            yaml::text(p, property);
        }
        COLON if yaml::is_list_below(p, 1) => {
            p.bump();
            yaml::list(p, property != "context");
        }
        COLON if p.nth(1) == LINE_END && p.nth(2) == INDENT && !p.in_expression => {
            p.bump();
            properties_below(p);
        }
        COLON => {
            let value = p.nth_range(1);
            property_value(p);
            if !p.in_expression {
                values_without_brackets(p, value);
            }
        }
        EQ => {
            let range = p.range();
            let after_name = TextRange::new(p.previous_end(), range.end());
            p.error_with_fix(
                Code::E005,
                range,
                format!("expected `:`, found `=`; a property is written `{property}: …`"),
                fix("Change `=` to `:`", FixSafety::Safe, TextEdit::replace(after_name, ":")),
            );
            p.start(ERROR);
            p.bump();
            p.finish();
            expressions::expression(p);
        }
        _ if p.at_line_end() => {
            let at = p.previous_end();
            p.error(Code::E005, TextRange::empty(at), format!("expected `:` and a value after `{property}`"));
            properties_below(p);
        }
        _ => {
            let at = p.previous_end();
            p.error_with_fix(
                Code::E005,
                TextRange::empty(at),
                format!("expected `:` after `{property}`"),
                fix("Insert `:`", FixSafety::Safe, TextEdit::insert(at, ":")),
            );
            expressions::expression(p);
        }
    }
    p.finish();
    end_of_statement(p);
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
            let range = recovery::missing_at(p);
            p.error(
                Code::E005,
                range,
                "`do` takes the name of a block, or `:` and a body: `do review(\"x\")`",
            );
        }
    }
    p.finish();
}

//! Properties of agents and sessions, on the line or indented below it.

use rowan::TextRange;

use super::modifiers::check_count;
use super::{
    Parent, end_of_statement, expressions, indented_lines, listed_statement, name, recovery,
    statement_keyword, yaml,
};
use crate::codes::Code;
use crate::diagnostic::{Fix, FixSafety, TextEdit};
use crate::parser::{Parser, fix, safe_if};
use crate::properties;
use crate::syntax_kind::SyntaxKind::{self, *};

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
        Some(Fix::safe("Indent the properties", edits)),
    );
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
            kind if kind.is_name() && p.nth(1) == COLON && !starts_statement_with_colon(kind) => {
                statements_reported = false;
                property(p);
            }
            kind if kind.is_name()
                && properties::find(p.token_text()).is_some()
                && !(is_unknown && p.nth(1) == EQ) =>
            {
                statements_reported = false;
                property(p);
            }
            kind if kind.is_string()
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
                    let message = "expected a property; indent a statement like the line it follows";
                    p.error(Code::E101, p.range(), message);
                } else if is_statement {
                    statements_reported = true;
                    p.line_is_reported();
                } else if p.at_name() {
                    let word = recovery::shorten(p.token_text());
                    let message = format!("`{word}` is not a property; a property is written `name: value`");
                    p.error(Code::E004, p.range(), message);
                    p.skip_line();
                    end_of_statement(p);
                    after_error = true;
                    continue;
                } else if !after_error && expressions::starts_value(p.kind()) {
                    let message = "this is not a property; a property is written `name: value`";
                    p.error(Code::E004, p.range(), message);
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
            let message = format!("expected `:`, found `=`; a property is written `{property}: …`");
            p.wrong_sign(p.range(), ":", FixSafety::Safe, message);
            p.bump_error(1);
            expressions::expression(p);
        }
        _ if p.at_line_end() => {
            p.expected(Code::E005, format!("expected `:` and a value after `{property}`"));
            properties_below(p);
        }
        _ => {
            p.missing(":", FixSafety::Safe, format!("expected `:` after `{property}`"));
            expressions::expression(p);
        }
    }
    p.finish();
    end_of_statement(p);
}

/// The `:` and the value of a property whose name was passed, both on the current line.
pub(super) fn property_value(p: &mut Parser<'_>) {
    let property = p.text_at(p.previous_range());
    let shown = recovery::shorten(property);
    if p.at(EQ) {
        let message = format!("expected `:`, found `=`; a property is written `{shown}: …`");
        p.wrong_sign(p.range(), ":", FixSafety::Safe, message);
        p.bump();
    } else if !p.eat(COLON) {
        return p.expected(Code::E005, format!("expected `:` after the property `{shown}`"));
    }
    check_count(p, property);
    if property == "model" && bare_model_id(p) {
        return;
    }
    let start = p.range();
    let kind = expressions::expression(p);
    if kind == NAME_REF && (p.at_name() || p.at(UNKNOWN)) && p.nth(1) != COLON {
        let range = start.cover(p.rest_of_line_range());
        recovery::unquoted_text(p, Code::E004, range, "a text of several words must be in quotes");
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
        kind => ahead % 2 == 1 && (kind.is_name() || matches!(kind, STRING_LITERAL | NUMBER)),
    });
    let edits = vec![TextEdit::insert(values.start(), "["), TextEdit::insert(values.end(), "]")];
    p.error_with_fix(
        Code::E005,
        values,
        "several values must be in brackets: `[a, b]`",
        Some(Fix::new("Put the values in brackets", safe_if(is_clear), edits)),
    );
    p.skip_line();
}

/// The id of a model without quotes, where it is more than a word: `vendor/model-1.5`. Returns whether there is one.
fn bare_model_id(p: &mut Parser<'_>) -> bool {
    let is_part =
        |kind: SyntaxKind| kind.is_name() || matches!(kind, NUMBER | DURATION | DOT | SLASH | MINUS | COLON);
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
    p.bump_error(parts);
    true
}

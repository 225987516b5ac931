//! Expressions, from the ternary down to names and literals.

use rowan::TextRange;

use super::{block_expression, block_expression_keyword, foreign, name, name_ref, recovery};
use crate::codes::Code;
use crate::diagnostic::{FixSafety, TextEdit};
use crate::layout::MAX_DEPTH;
use crate::parser::{Parser, fix, safe_if};
use crate::syntax_kind::SyntaxKind::{self, *};

/// Whether a value followed by a space and `(` is a call. In a loop's condition the parenthesis opens the modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Calls {
    Anywhere,
    GluedOnly,
}

/// An expression. Returns the kind of its node, `ERROR` where there is none.
pub(super) fn expression(p: &mut Parser<'_>) -> SyntaxKind {
    ternary(p, Calls::Anywhere)
}

/// The condition of a loop, after which modifiers may be in parentheses.
pub(super) fn condition_before_modifiers(p: &mut Parser<'_>) -> SyntaxKind {
    ternary(p, Calls::GluedOnly)
}

fn ternary(p: &mut Parser<'_>, calls: Calls) -> SyntaxKind {
    if recovery::is_too_deep(p) {
        return ERROR;
    }
    p.depth += 1;
    let checkpoint = p.checkpoint();
    let mut kind = binary(p, 0, calls);
    if kind != ERROR && p.at(QUESTION) {
        p.start_at(checkpoint, TERNARY);
        p.bump();
        binary(p, 0, calls);
        if p.eat(COLON) {
            binary(p, 0, calls);
        } else {
            p.expected(Code::E005, "expected `:` in `condition ? one : other`");
        }
        p.finish();
        kind = TERNARY;
    }
    p.depth -= 1;
    kind
}

/// How tightly a comparison binds. A `not` binds looser than one.
const COMPARISON: u8 = 2;

/// How tightly an operator binds its operands, from the loosest up.
fn level(operator: SyntaxKind) -> Option<u8> {
    match operator {
        OR_KW => Some(0),
        AND_KW => Some(1),
        EQ_EQ | BANG_EQ | LT_EQ | GT_EQ | LT | GT | IS_KW => Some(COMPARISON),
        PLUS | MINUS => Some(3),
        STAR | SLASH => Some(4),
        _ => None,
    }
}

/// Operators of `loosest` and tighter ones. Operands of one level stand side by side in one node: `a + b - c` is flat, so that a
/// long sum is not a deep tree.
fn binary(p: &mut Parser<'_>, loosest: u8, calls: Calls) -> SyntaxKind {
    let checkpoint = p.checkpoint();
    let mut kind = if loosest <= COMPARISON && p.at(NOT_KW) && starts_value(p.nth(1)) {
        unary(p, |p| binary(p, COMPARISON, calls))
    } else {
        postfix(p, calls)
    };
    while kind != ERROR
        && let Some(tightness) = level(p.kind()).filter(|&tightness| tightness >= loosest)
    {
        p.start_at(checkpoint, BINARY);
        while level(p.kind()) == Some(tightness) {
            p.bump();
            if binary(p, tightness + 1, calls) == ERROR {
                break;
            }
        }
        p.finish();
        kind = BINARY;
    }
    kind
}

fn unary(p: &mut Parser<'_>, operand: impl FnOnce(&mut Parser<'_>) -> SyntaxKind) -> SyntaxKind {
    if recovery::is_too_deep(p) {
        return ERROR;
    }
    p.depth += 1;
    p.start(UNARY);
    p.bump();
    operand(p);
    p.finish();
    p.depth -= 1;
    UNARY
}

fn postfix(p: &mut Parser<'_>, calls: Calls) -> SyntaxKind {
    let checkpoint = p.checkpoint();
    let mut kind = atom(p);
    // A condition takes no postfix: in `loop until **x** (max: 3)` the parenthesis is a modifier.
    if matches!(kind, ERROR | DISCRETION | LITERAL | STRING | UNARY | PLACEHOLDER) || kind_is_block(kind) {
        return kind;
    }
    for _ in 0..MAX_DEPTH {
        match p.kind() {
            DOT if p.nth(1).is_name() => {
                p.start_at(checkpoint, FIELD);
                p.bump();
                // The name is resolved through what comes before it, so it is not a reference of its own.
                p.bump_as(IDENT);
                p.finish();
                kind = FIELD;
            }
            DOT => {
                p.start_at(checkpoint, FIELD);
                p.bump();
                p.expected(Code::E005, "expected a property name after `.`");
                p.finish();
                return FIELD;
            }
            L_BRACKET if p.is_glued() => {
                p.start_at(checkpoint, INDEX);
                let open = p.range();
                p.bump();
                expression(p);
                close(p, open, R_BRACKET);
                p.finish();
                kind = INDEX;
            }
            L_PAREN if p.is_glued() || calls == Calls::Anywhere => {
                p.start_at(checkpoint, CALL);
                arguments(p);
                kind = CALL;
                from_clause(p);
                p.finish();
            }
            _ => return kind,
        }
    }
    if matches!(p.kind(), DOT | L_BRACKET | L_PAREN) {
        recovery::too_deep(p, p.range());
        p.skip_line();
    }
    kind
}

fn kind_is_block(kind: SyntaxKind) -> bool {
    matches!(kind, SESSION | BLOCK)
}

/// `from ".env"` after a call.
fn from_clause(p: &mut Parser<'_>) {
    if p.at(FROM_KW) && p.nth(1).is_string() {
        p.bump();
        string(p);
    }
}

pub(super) fn starts_value(kind: SyntaxKind) -> bool {
    kind.is_name()
        || kind.is_string()
        || kind.is_discretion()
        || matches!(kind, NUMBER | DURATION | L_PAREN | L_BRACKET | L_BRACE | MINUS)
}

fn atom(p: &mut Parser<'_>) -> SyntaxKind {
    if let Some(keyword) = block_expression_keyword(p) {
        let in_expression = std::mem::replace(&mut p.in_expression, true);
        block_expression(p, keyword);
        p.in_expression = in_expression;
        return BLOCK;
    }
    foreign::string_prefix(p);
    match p.kind() {
        kind if kind.is_string() => string(p),
        kind if kind.is_discretion() => {
            p.bump();
            DISCRETION
        }
        NUMBER | DURATION => token_node(p, LITERAL),
        TRUE_KW | FALSE_KW | NULL_KW => token_node(p, LITERAL),
        NOT_KW if starts_value(p.nth(1)) => unary(p, |p| binary(p, COMPARISON, Calls::Anywhere)),
        INPUT_KW if p.nth(1).is_string() => {
            p.start(INPUT_VALUE);
            p.bump();
            string(p);
            p.finish();
            INPUT_VALUE
        }
        kind if kind.is_name() => {
            name_ref(p);
            NAME_REF
        }
        MINUS => unary(p, |p| postfix(p, Calls::Anywhere)),
        ELLIPSIS => token_node(p, PLACEHOLDER),
        L_PAREN => {
            p.start(PAREN);
            let open = p.range();
            p.bump();
            expression(p);
            close(p, open, R_PAREN);
            p.finish();
            PAREN
        }
        L_BRACKET => {
            list(p, ARRAY, R_BRACKET, |p| expression(p) != ERROR);
            ARRAY
        }
        L_BRACE => {
            list(p, OBJECT, R_BRACE, object_entry);
            OBJECT
        }
        _ => {
            recovery::missing_value(p);
            ERROR
        }
    }
}

fn token_node(p: &mut Parser<'_>, node: SyntaxKind) -> SyntaxKind {
    p.start(node);
    p.bump();
    p.finish();
    node
}

/// A string of either kind, or one in single quotes, which is reported.
pub(super) fn string(p: &mut Parser<'_>) -> SyntaxKind {
    if p.at(SINGLE_QUOTED) {
        recovery::single_quoted(p);
        p.bump_error(1);
    } else {
        p.bump();
    }
    STRING
}

/// `(a, key: b)` of a call.
pub(super) fn arguments(p: &mut Parser<'_>) {
    list(p, ARG_LIST, R_PAREN, |p| {
        p.start(ARG);
        if p.at_name() && p.nth(1) == COLON {
            name(p);
            p.bump();
        } else if p.at_name() && p.nth(1) == EQ {
            name(p);
            let message = "expected `:` after the name of an argument, found `=`";
            p.wrong_sign(p.range(), ":", FixSafety::Safe, message);
            p.bump_error(1);
        }
        let kind = expression(p);
        p.finish();
        kind != ERROR
    });
}

fn object_entry(p: &mut Parser<'_>) -> bool {
    p.start(OBJECT_ENTRY);
    let has_key = (p.at_name() || p.at_string()) && p.nth(1) == COLON;
    if has_key {
        if p.at_string() {
            string(p);
        } else {
            name(p);
        }
        p.bump();
    }
    let kind = expression(p);
    p.finish();
    if !has_key && !matches!(kind, NAME_REF | FIELD | PLACEHOLDER | ERROR | INDEX) {
        let range = p.previous_range();
        p.error(Code::E005, range, "an entry of an object must be a name or `key: value`");
    }
    kind != ERROR
}

/// Items between brackets, with commas between them and perhaps after the last.
pub(super) fn list(
    p: &mut Parser<'_>,
    node: SyntaxKind,
    closer: SyntaxKind,
    mut item: impl FnMut(&mut Parser<'_>) -> bool,
) {
    p.start(node);
    let open = p.range();
    p.bump();
    while !p.at(closer) && !p.at_line_end() {
        if !item(p) {
            skip_item(p, closer);
        }
        if p.eat(COMMA) || p.at(closer) || p.at_line_end() {
            continue;
        }
        if starts_value(p.kind()) && !p.line_has_error() && !is_header_colon(p) {
            // Two items without a space between them may be one that is broken, and so may be those before a broken string.
            let is_clear = !p.is_glued()
                && !p.at(FROM_KW)
                && (node != OBJECT || p.nth(1) == COLON || p.at(IDENT))
                && !p.nth(1).is_name()
                && (0..p.rest_of_line())
                    .all(|ahead| !matches!(p.nth(ahead), UNTERMINATED_STRING | UNTERMINATED_DISCRETION));
            p.missing(",", safe_if(is_clear), "expected `,` between two items");
            continue;
        }
        if is_header_colon(p) {
            break;
        }
        recovery::unexpected(p);
        skip_item(p, closer);
        p.eat(COMMA);
    }
    close(p, open, closer);
    p.finish();
}

/// Whether the current colon ends the line: it belongs to the header, and the bracket was forgotten.
fn is_header_colon(p: &Parser<'_>) -> bool {
    p.at(COLON) && p.nth(1) == LINE_END
}

fn skip_item(p: &mut Parser<'_>, closer: SyntaxKind) {
    let mut open = 0usize;
    p.start(ERROR);
    while !p.at_line_end() && !(open == 0 && (p.at(COMMA) || p.at(closer) || is_header_colon(p))) {
        match p.kind() {
            L_PAREN | L_BRACKET | L_BRACE => open += 1,
            R_PAREN | R_BRACKET | R_BRACE => open = open.saturating_sub(1),
            _ => {}
        }
        p.bump();
    }
    p.finish();
}

/// The bracket that closes the one at `open`.
pub(super) fn close(p: &mut Parser<'_>, open: TextRange, closer: SyntaxKind) {
    if p.eat(closer) {
        return;
    }
    let closing = match closer {
        R_PAREN => ")",
        R_BRACKET => "]",
        _ => "}",
    };
    let at = p.previous_end();
    let opening = p.text_at(open);
    p.is_bracket_open = true;
    if is_closed_in_broken_string(p, closing) {
        p.line_is_reported();
        return;
    }
    p.error_with_fix(
        Code::E005,
        open,
        format!("unclosed `{opening}`; expected `{closing}`"),
        // Where the bracket or a comma ends its line, further items are probably on the lines below.
        fix(format!("Insert `{closing}`"), FixSafety::Unsafe, TextEdit::insert(at, closing))
            .filter(|_| at > open.end() && !(p.text_at(p.previous_range()) == "," && p.nth(1) == INDENT)),
    );
}

/// Whether the closing bracket is on a line below, in a string that is never closed. That is the mistake then.
fn is_closed_in_broken_string(p: &Parser<'_>, closing: &str) -> bool {
    // No more than the lines of an array or a call.
    const MAX_AHEAD: usize = 200;
    if !p.at(LINE_END) || p.nth(1) != INDENT {
        return false;
    }
    (2..MAX_AHEAD)
        .take_while(|&ahead| !matches!(p.nth(ahead), INDENT | DEDENT | END))
        .any(|ahead| p.nth(ahead) == UNTERMINATED_STRING && p.nth_text(ahead).contains(closing))
}

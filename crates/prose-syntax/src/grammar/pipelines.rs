//! `xs | filter: … | map: … | reduce(total, x): …`

use rowan::Checkpoint;

use super::expressions::close;
use super::{body, expect_name, header_end, recovery};
use crate::codes::Code;
use crate::diagnostic::{FixSafety, TextEdit};
use crate::parser::{Parser, fix};
use crate::suggest;
use crate::syntax_kind::SyntaxKind::*;

/// The stages after the expression that began at `checkpoint`: on its line, on lines indented below it, or on lines that start
/// with `|` at its column. Returns whether there are any.
pub(super) fn pipeline(p: &mut Parser<'_>, checkpoint: Checkpoint) -> bool {
    if !at_stage(p) {
        return false;
    }
    p.start_at(checkpoint, PIPELINE);
    let mut indented = 0;
    while at_stage(p) {
        while !p.at(PIPE) {
            indented += usize::from(p.at(INDENT));
            p.bump();
        }
        stage(p);
        p.leave_indented(&mut indented);
    }
    for _ in 0..indented {
        recovery::rest_of_block(p, "a stage that starts with `|`");
    }
    p.finish();
    true
}

/// Whether a stage comes next, perhaps on the next line. The body of a stage that is on its line ends with it, so the lines
/// below belong to the pipeline outside.
fn at_stage(p: &Parser<'_>) -> bool {
    if p.one_line {
        return false;
    }
    match p.kind() {
        PIPE => true,
        LINE_END if p.in_expression => false,
        LINE_END => p.nth(1) == PIPE || (p.nth(1) == INDENT && p.nth(2) == PIPE),
        _ => false,
    }
}

/// `| map: body`
pub(super) fn stage(p: &mut Parser<'_>) {
    p.start(PIPE_STAGE);
    p.bump();
    // Where the operator is missing, the stage is known by its `|`.
    let header = if p.at_line_end() { p.previous_range() } else { p.range() };
    let operator = p.token_text().to_owned();
    match p.kind() {
        MAP_KW | FILTER_KW | PMAP_KW => {
            p.bump();
            superfluous_names(p, &operator);
        }
        REDUCE_KW => {
            p.bump();
            reduce_names(p);
        }
        _ => unknown_operator(p),
    }
    header_end(p, if p.line_has_error() { "|" } else { &operator });
    p.clause_has_error |= p.line_has_error();
    body(p, header, &operator);
    p.finish();
}

fn unknown_operator(p: &mut Parser<'_>) {
    if p.at(PIPE) && p.is_glued() {
        p.error(Code::E108, p.range(), "unknown operator `||`; use `or`");
    }
    const OPERATORS: [&str; 4] = ["map", "filter", "reduce", "pmap"];
    let word = p.token_text();
    let nearest = suggest::nearest(word, OPERATORS, |operator| operator).filter(|_| p.at_name());
    match nearest {
        Some(operator) => {
            let word = recovery::shorten(word);
            let message = format!("unknown pipeline operator `{word}`; did you mean `{operator}`?");
            p.error_with_change(Code::E116, p.missing_at(), operator, FixSafety::Safe, message);
        }
        None => {
            p.expected(Code::E116, "expected `map:`, `filter:`, `pmap:` or `reduce(total, item):` after `|`")
        }
    }
    p.start(ERROR);
    while !p.at_line_end() && !p.at(COLON) && !p.at(PIPE) {
        p.bump();
    }
    p.finish();
}

/// `map(x):`, where the item always has the same name.
fn superfluous_names(p: &mut Parser<'_>, operator: &str) {
    if !p.at(L_PAREN) {
        return;
    }
    let Some(end) = (0..p.rest_of_line()).find(|&ahead| p.nth(ahead) == R_PAREN) else { return };
    let range = p.range().cover(p.nth_range(end));
    let message = format!("`{operator}` takes no parameters; its body uses the name `item`");
    let fix = fix("Remove the parentheses", FixSafety::Unsafe, TextEdit::delete(range));
    p.error_with_fix(Code::E116, range, message, fix);
    p.start(PARAM_LIST);
    p.bump();
    while !p.at(R_PAREN) && !p.at_line_end() {
        if p.at_name() {
            param(p);
        } else {
            p.bump();
        }
    }
    p.eat(R_PAREN);
    p.finish();
}

/// `(total, item)`
fn reduce_names(p: &mut Parser<'_>) {
    const MESSAGE: &str = "`reduce` takes two names: `reduce(total, item):`";
    if !p.at(L_PAREN) {
        return p.expected(Code::E116, MESSAGE);
    }
    p.start(PARAM_LIST);
    let open = p.range();
    p.bump();
    param(p);
    if p.eat(COMMA) {
        param(p);
    } else {
        p.expected(Code::E116, MESSAGE);
    }
    close(p, open, R_PAREN);
    p.finish();
}

fn param(p: &mut Parser<'_>) {
    p.start(PARAM);
    expect_name(p, Code::E116, "a parameter name in `reduce(total, item)`");
    p.finish();
}

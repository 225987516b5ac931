//! What is written as in YAML: lists with an item a line behind a `-`, and texts below a `|`.

use rowan::TextRange;

use super::{expressions, recovery};
use crate::codes::Code;
use crate::diagnostic::{Fix, TextEdit};
use crate::parser::{Parser, fix, is_name, safe_if};
use crate::syntax_kind::SyntaxKind::*;

/// Whether such a list stands below the line that ends `ahead` places on.
pub(super) fn is_list_below(p: &Parser<'_>, ahead: usize) -> bool {
    let (next, second) = (p.nth(ahead + 1), p.nth(ahead + 2));
    p.nth(ahead) == LINE_END && !p.in_expression && (next == MINUS || (next == INDENT && second == MINUS))
}

/// The list below the present line end, as the array that it was meant to be. `are_texts` tells that a word is no name.
pub(super) fn list(p: &mut Parser<'_>, are_texts: bool) {
    let header_end = p.previous_end();
    p.bump();
    let is_indented = p.eat(INDENT);
    let first = p.range();
    let mut items: Vec<String> = Vec::new();
    let mut is_clear = true;
    p.start(ARRAY);
    while p.at(MINUS) {
        p.start(ERROR);
        p.bump();
        p.finish();
        let text = p.text_at(p.rest_of_line_range());
        if p.rest_of_line() == 1 && (p.at(STRING_LITERAL) || (is_name(p.kind()) && !are_texts)) {
            items.push(text.to_owned());
            expressions::expression(p);
        } else {
            // Words in a row are no name of a variable either.
            is_clear &= are_texts && !text.is_empty() && !text.contains(['"', '\\', ':']);
            items.push(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")));
            p.skip_line();
        }
        if !p.eat(LINE_END) {
            break;
        }
    }
    p.finish();
    let lines = TextRange::new(header_end, p.previous_end());
    is_clear &= !p.text_at(lines).contains('#');
    let array = format!(" [{}]", items.join(", "));
    p.note(
        Code::E108,
        first,
        "the items of a list stand between brackets, with commas between them: `[a, b]`",
        fix("Write it as an array", safe_if(is_clear), TextEdit::replace(lines, array)),
    );
    if is_indented && !p.eat(DEDENT) {
        recovery::rest_of_block(p, "an item of the list");
    }
}

/// Whether a text in the form of YAML stands behind the colon `ahead` places on: `prompt: |` with indented lines below.
pub(super) fn is_text_below(p: &Parser<'_>, ahead: usize) -> bool {
    let end = ahead + 1 + usize::from(p.nth(ahead + 2) == MINUS);
    matches!(p.nth(ahead + 1), PIPE | GT)
        && p.nth(end + 1) == LINE_END
        && p.nth(end + 2) == INDENT
        && p.nth(end + 3) != PIPE
        && !p.in_expression
}

/// The sign behind the colon and the text below it, whose words are no code.
pub(super) fn text(p: &mut Parser<'_>, property: &str) {
    let indentation = p.indentation_at(p.range().start());
    let sign = p.rest_of_line_range();
    p.start(ERROR);
    while !p.at(LINE_END) {
        p.bump();
    }
    p.finish();
    p.bump();
    let before = p.diagnostic_count();
    let first = p.nth_range(1).start();
    recovery::skip_block(p);
    // Quotes in the text are no strings.
    p.retract_since(before);
    let text = p.text_at(TextRange::new(first, p.previous_end()));
    let is_clear = !text.contains(['"', '\\', '#', '{']);
    let edits = vec![
        TextEdit::replace(sign, "\"\"\""),
        TextEdit::insert(p.previous_end(), format!("\n{indentation}\"\"\"")),
    ];
    p.note(
        Code::E108,
        sign,
        format!("a text of several lines stands between `\"\"\"`: `{property}: \"\"\"` opens it, and `\"\"\"` on a line of its own closes it"),
        Some(Fix { title: "Put the text between `\"\"\"`".into(), safety: safe_if(is_clear), edits }),
    );
}

//! What is written as in YAML: front matter, definitions below a word such as `agents:`, lists with an item a line after a `-`, and texts
//! below a `|`.

use rowan::TextRange;

use super::{expressions, recovery};
use crate::codes::Code;
use crate::diagnostic::{Fix, FixSafety, TextEdit};
use crate::parser::{Parser, fix, safe_if};
use crate::syntax_kind::SyntaxKind::*;

/// Whether such a list is below the line that ends `ahead` places on.
pub(super) fn is_list_below(p: &Parser<'_>, ahead: usize) -> bool {
    let (next, second) = (p.nth(ahead + 1), p.nth(ahead + 2));
    p.nth(ahead) == LINE_END && !p.in_expression && (next == MINUS || (next == INDENT && second == MINUS))
}

/// The list below the current line end, as the array that it was meant to be. `are_texts` states that words are not names.
pub(super) fn list(p: &mut Parser<'_>, are_texts: bool) {
    let header_end = p.previous_end();
    p.bump();
    let is_indented = p.eat(INDENT);
    let first = p.range();
    let mut items: Vec<String> = Vec::new();
    let mut is_clear = true;
    p.start(ARRAY);
    while p.at(MINUS) {
        p.bump_error(1);
        let text = p.text_at(p.rest_of_line_range());
        if p.rest_of_line() == 1 && (p.at(STRING_LITERAL) || (p.kind().is_name() && !are_texts)) {
            items.push(text.to_owned());
            expressions::expression(p);
        } else {
            // Words in a row are no name of a variable either.
            is_clear &= are_texts && !text.is_empty() && !text.contains(['"', '\\', ':']);
            items.push(recovery::string_of(text));
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
    let message = "the items of a list must be in brackets, separated by commas: `[a, b]`";
    let fix = fix("Write it as an array", safe_if(is_clear), TextEdit::replace(lines, array));
    p.note(Code::E108, first, message, fix);
    if is_indented && !p.eat(DEDENT) {
        recovery::rest_of_block(p, "an item of the list");
    }
}

/// Whether a text in the form of YAML comes after the colon `ahead` places on: `prompt: |` with indented lines below.
pub(super) fn is_text_below(p: &Parser<'_>, ahead: usize) -> bool {
    let end = ahead + 1 + usize::from(p.nth(ahead + 2) == MINUS);
    matches!(p.nth(ahead + 1), PIPE | GT)
        && p.nth(end + 1) == LINE_END
        && p.nth(end + 2) == INDENT
        && p.nth(end + 3) != PIPE
        && !p.in_expression
}

/// The sign after the colon and the text below it, whose words are no code.
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
        format!("a text of several lines must be between `\"\"\"`; open it with `{property}: \"\"\"`"),
        Some(Fix::new("Put the text between `\"\"\"`", safe_if(is_clear), edits)),
    );
}

/// Lines between two lines of `---` at the start of a program.
pub(super) fn front_matter(p: &mut Parser<'_>) {
    /// Front matter is short, and a program without its end is searched no farther.
    const MAX_LEXEMES: usize = 1000;
    let is_fence = |p: &Parser<'_>, at: usize| {
        let is_dash = |at: usize| p.nth(at) == MINUS && p.nth_text(at) == "-";
        (at..at + 3).all(is_dash)
            && p.nth_is_glued(at + 1)
            && p.nth_is_glued(at + 2)
            && matches!(p.nth(at + 3), LINE_END | END)
    };
    let first = (0..).find(|&at| p.nth(at) != LINE_END).unwrap_or(0);
    if !is_fence(p, first) {
        return;
    }
    let starts_line = |p: &Parser<'_>, at: usize| matches!(p.nth(at - 1), LINE_END | DEDENT);
    let mut depth = 0usize;
    let mut last = None;
    for at in first + 4..first + MAX_LEXEMES {
        match p.nth(at) {
            INDENT => depth += 1,
            DEDENT => depth = depth.saturating_sub(1),
            END => break,
            _ if depth == 0 && starts_line(p, at) && is_fence(p, at) => {
                last = Some(at + 3);
                break;
            }
            _ => {}
        }
    }
    let Some(last) = last else {
        p.looked_ahead(p.nth_range(first).start(), first + MAX_LEXEMES);
        return;
    };
    p.looked_ahead(p.nth_range(first).start(), last);
    let range = TextRange::new(p.nth_range(first).start(), p.nth_range(last - 1).end());
    let lines = p.text_at(range).lines().filter(|line| line.trim() != "---");
    let comments = lines.map(|line| if line.trim().is_empty() { "#".into() } else { format!("# {line}") });
    let comments = comments.collect::<Vec<_>>().join("\n");
    let before = p.diagnostic_count();
    p.bump_error(last);
    // The words are no code.
    p.retract_since(before);
    let message = "a program has no front matter; write it as comments starting with `#`";
    let fix = fix("Convert to comments", FixSafety::Safe, TextEdit::replace(range, comments));
    p.error_with_fix(Code::E108, range, message, fix);
    p.eat(LINE_END);
}

/// The keyword of the definitions that are below a word such as `agents`.
fn definition(word: &str) -> Option<&'static str> {
    match word {
        "agents" => Some("agent"),
        "blocks" => Some("block"),
        "inputs" => Some("input"),
        _ => None,
    }
}

/// Definitions below a word for all of them: `agents:` with `writer:` and its properties below. Returns whether they are there.
pub(super) fn definitions(p: &mut Parser<'_>) -> bool {
    let is_header = p.nth(1) == COLON && p.nth(2) == LINE_END && p.nth(3) == INDENT;
    let is_named = p.nth(4).is_name() && p.nth(5) == COLON;
    let Some(keyword) = definition(p.token_text()).filter(|_| is_header && is_named) else { return false };
    let (word, range, name) = (p.token_text(), p.range(), p.nth_text(4));
    let outer = p.indentation_at(range.start());
    let inner = p.indentation_at(p.nth_range(4).start());
    let message = format!(
        "unexpected `{word}:`; define each {keyword} separately: `{keyword} {}:`",
        recovery::shorten(name)
    );
    let first = p.nth_range(4).start();
    p.bump_as(IDENT);
    p.bump();
    p.bump();
    let before = p.diagnostic_count();
    recovery::skip_block(p);
    p.retract_since(before);
    let body = TextRange::new(first, p.previous_end());
    let lines = p.text_at(body).split('\n').enumerate().map(|(nth, line)| {
        let inside = if nth == 0 { Some(line) } else { line.strip_prefix(inner) };
        match inside {
            Some(line) if line.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                format!("{outer}{keyword} {line}")
            }
            Some(line) => format!("{outer}{line}"),
            None => line.to_owned(),
        }
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let edit = TextEdit::replace(TextRange::new(range.start(), body.end()), text.trim_start_matches(outer));
    let fix = fix(format!("Define each with `{keyword}`"), FixSafety::Unsafe, edit);
    p.error_with_fix(Code::E108, range, message, fix);
    true
}

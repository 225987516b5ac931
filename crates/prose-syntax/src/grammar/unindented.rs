//! Bodies that are below their header without being indented. They are taken for what they were meant to be, so that the header
//! keeps what it binds for them, and are reported once.

use rowan::{TextRange, TextSize};

use super::{Parent, listed_statement, may_stand_in_body, starts_statement};
use crate::codes::Code;
use crate::diagnostic::{Fix, TextEdit};
use crate::parser::{Parser, Unindented, safe_if};
use crate::syntax_kind::SyntaxKind::*;

/// Whether the lines below the present one, which is a header, are its body although they are not indented; and how many lexemes
/// were looked at to know.
pub(super) fn is_body_below(p: &Parser<'_>, parent: Parent) -> (bool, usize) {
    let is_known = !p.is_line_reported && !p.is_place_unknown && parent != Parent::Unknown;
    if is_known && !p.in_expression && p.at(LINE_END) && is_next_line(p, 1, parent) {
        leads_to_statement(p, 1)
    } else {
        (false, 0)
    }
}

/// Whether the line that starts `ahead` places on is not a header, or one with a body. Headers one below the other are a sketch, and
/// none of them is the body of the one above.
fn leads_to_statement(p: &Parser<'_>, mut ahead: usize) -> (bool, usize) {
    const MAX_HEADERS: usize = 8;
    for _ in 0..MAX_HEADERS {
        let end = (ahead..).find(|&at| matches!(p.nth(at), LINE_END | END)).unwrap_or(ahead);
        if p.nth(end - 1) != COLON || p.nth(end + 1) == INDENT {
            return (true, end + 1);
        }
        if !may_stand_in_body(p.nth(end + 1)) && p.nth(end + 1) != OPTION_KW && p.nth(end + 2) != EQ {
            return (false, end + 2);
        }
        ahead = end + 1;
    }
    (false, ahead)
}

/// Whether the line that starts `ahead` places on is one of such a body: a statement without anything between it and the line above.
/// After a blank line, or a comment that is indented like a body, the header was left without a body.
fn is_next_line(p: &Parser<'_>, ahead: usize, parent: Parent) -> bool {
    let (kind, next) = (p.nth(ahead), p.nth(ahead + 1));
    let is_statement = match parent {
        Parent::Choice => kind == OPTION_KW,
        _ if may_stand_in_body(kind) && starts_statement(kind, next) => true,
        _ => kind.is_name() && kind != OPTION_KW && matches!(next, EQ | L_PAREN),
    };
    let start = p.nth_range(ahead).start();
    let gap = p.text_at(TextRange::new(p.previous_end(), start)).replace("\r\n", "\n");
    let lines: Vec<&str> = gap.split(['\n', '\r']).collect();
    let [_, between @ .., indentation] = lines.as_slice() else { return false };
    let is_comment = |line: &&str| line.strip_prefix(indentation).is_some_and(|code| code.starts_with('#'));
    is_statement && between.iter().all(is_comment)
}

/// Whether the current line is probably the first after the body of an `owner`: a result is passed at the end, and a block is
/// called where it is defined only from outside.
fn leads_out(p: &Parser<'_>, owner: &str) -> bool {
    match owner {
        "block" => p.at(DO_KW) && p.nth(1) != COLON,
        _ => p.at(OUTPUT_KW),
    }
}

/// The body below the header of an `owner`, up to a blank line or a line that can be none of it.
pub(super) fn body(p: &mut Parser<'_>, owner: &str, parent: Parent) {
    let is_inner = std::mem::replace(&mut p.is_body_unindented, true);
    p.bump();
    let first = p.range();
    let before = p.diagnostic_count();
    if p.unindented.is_none() {
        let owner = owner.to_owned();
        p.unindented = Some(Unindented { first, owner, lines: Vec::new(), is_clear: true });
    }
    p.start(BLOCK);
    let mut count = 0;
    while count == 0 || (is_next_line(p, 0, parent) && !leads_out(p, owner)) {
        listed_statement(p, parent, false);
        count += 1;
    }
    p.finish();
    p.is_body_unindented = is_inner;
    // A body of several lines may have ended before the last of them.
    let is_end_clear = match p.kind() {
        ELIF_KW | ELSE_KW | CATCH_KW | FINALLY_KW => true,
        END | DEDENT => count == 1,
        _ => parent == Parent::Choice,
    };
    let is_clear = is_end_clear && !is_inner && !p.has_errors_since(before);
    let lines: Vec<TextSize> = p.line_starts(TextRange::new(first.start(), p.previous_end())).collect();
    if let Some(unindented) = &mut p.unindented {
        unindented.lines.extend(lines);
        unindented.is_clear &= is_clear;
    }
}

/// Reports the bodies of the statement that has just ended, if there are any.
pub(super) fn report(p: &mut Parser<'_>) {
    if p.is_body_unindented {
        // The outer statement reports them.
        return;
    }
    let Some(mut found) = p.unindented.take() else { return };
    found.lines.sort_unstable();
    let edits: Vec<TextEdit> = found
        .lines
        .chunk_by(|a, b| a == b)
        .map(|levels| TextEdit::insert(levels[0], "  ".repeat(levels.len())))
        .collect();
    p.note(
        Code::E101,
        found.first,
        format!("the body of `{}` must be indented two spaces deeper than its header", found.owner),
        Some(Fix::new("Indent the body", safe_if(found.is_clear), edits)),
    );
}

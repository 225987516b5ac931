//! The inside of strings and discretions: text, escapes and interpolations.

use rowan::{TextRange, TextSize};

use super::{Parser, fix, safe_if};
use crate::braces::{digits_len, interpolation_len};
use crate::codes::Code;
use crate::diagnostic::{FixSafety, TextEdit, Undecided};
use crate::names;
use crate::syntax_kind::SyntaxKind::{self, *};

/// Splits the literal at `range` into its parts.
pub(super) fn literal(p: &mut Parser<'_>, kind: SyntaxKind, range: TextRange) {
    let text = p.text_at(range);
    let (node, mark, mark_len) = match kind {
        STRING_LITERAL | UNTERMINATED_STRING => (STRING, QUOTE, 1),
        TRIPLE_STRING_LITERAL | UNTERMINATED_TRIPLE_STRING => (STRING, TRIPLE_QUOTE, 3),
        _ if matches!(text.len(), 4 | 6) && text.bytes().all(|byte| byte == b'*') => {
            (DISCRETION, DISCRETION_MARK, text.len() / 2)
        }
        _ if text.starts_with("***") => (DISCRETION, DISCRETION_MARK, 3),
        _ => (DISCRETION, DISCRETION_MARK, 2),
    };
    let mark_size = TextSize::new(mark_len as u32);
    let open = TextRange::at(range.start(), mark_size);
    let is_closed = matches!(kind, STRING_LITERAL | TRIPLE_STRING_LITERAL | DISCRETION_LITERAL);
    let content_end = if is_closed { range.end() - mark_size } else { range.end() };

    p.start_part(node);
    p.part(mark, open);
    content(p, kind, TextRange::new(open.end(), content_end));
    if is_closed {
        p.part(mark, TextRange::new(content_end, range.end()));
    } else {
        unterminated(p, kind, open, range);
    }
    p.finish();
}

fn content(p: &mut Parser<'_>, kind: SyntaxKind, range: TextRange) {
    let text = p.text_at(range);
    let bytes = text.as_bytes();
    let at = |offset: usize| range.start() + TextSize::new(offset as u32);
    let has_escapes = !matches!(kind, DISCRETION_LITERAL | UNTERMINATED_DISCRETION);
    let mut text_start = 0;
    let mut next = 0;
    while let Some(found) = memchr::memchr2(b'{', b'\\', &bytes[next..]) {
        let found = next + found;
        if bytes[found] == b'{' {
            match interpolation_len(&text[found..]) {
                Some(len) => {
                    p.part(TEXT, TextRange::new(at(text_start), at(found)));
                    interpolation(p, TextRange::new(at(found), at(found + len)));
                    next = found + len;
                    text_start = next;
                }
                None => next = found + 1,
            }
            continue;
        }
        match bytes.get(found + 1) {
            Some(b'\\' | b'"' | b'n' | b't' | b'{' | b'}') if has_escapes => {
                p.part(TEXT, TextRange::new(at(text_start), at(found)));
                p.part(ESCAPE, TextRange::new(at(found), at(found + 2)));
                next = found + 2;
                text_start = next;
            }
            Some(_) if matches!(kind, STRING_LITERAL | UNTERMINATED_STRING) => {
                let len = 1 + text[found + 1..].chars().next().map_or(0, char::len_utf8);
                unknown_escape(p, TextRange::new(at(found), at(found + len)));
                next = found + len;
            }
            _ => next = found + 1,
        }
    }
    p.part(TEXT, TextRange::new(at(text_start), range.end()));
}

fn unknown_escape(p: &mut Parser<'_>, range: TextRange) {
    let escape = p.text_at(range);
    p.note(
        Code::E002,
        range,
        format!("unknown escape `{escape}`; write a backslash as `\\\\`"),
        fix("Double the backslash", FixSafety::Safe, TextEdit::insert(range.start(), "\\")),
    );
}

fn unterminated(p: &mut Parser<'_>, kind: SyntaxKind, open: TextRange, range: TextRange) {
    let mark = p.text_at(open).to_owned();
    let what = match kind {
        UNTERMINATED_DISCRETION => "condition",
        UNTERMINATED_TRIPLE_STRING => "triple-quoted string",
        _ => "string",
    };
    let spans_lines = p.text_at(range).contains(['\n', '\r']);
    let (closer, safety) = match kind {
        UNTERMINATED_TRIPLE_STRING => {
            (format!("\n{}{mark}", p.indentation_at(open.start())), FixSafety::Unsafe)
        }
        UNTERMINATED_DISCRETION if spans_lines => {
            (format!("\n{}{mark}", p.indentation_at(open.start())), FixSafety::Unsafe)
        }
        _ => (mark.clone(), safe_if(has_clear_end(p.text_at(range), &mark) && !p.is_in_brackets())),
    };
    // What a literal that can span lines swallowed is not wrong, only its opener is.
    let shown = if kind == UNTERMINATED_TRIPLE_STRING || spans_lines { open } else { range };
    let message = format!("unterminated {what}; expected a closing `{mark}`");
    let fix = fix(format!("Insert the closing `{mark}`"), safety, TextEdit::insert(range.end(), closer));
    if kind == UNTERMINATED_STRING && !spans_lines {
        p.undecided_error(Code::E001, shown, message, fix, Undecided::OpenString);
    } else {
        p.error_with_fix(Code::E001, shown, message, fix);
    }
    p.line_is_reported();
}

/// Whether the unterminated `literal` can only end where its line does. The colon of a header may be inside, as in
/// `option "label:`, or brackets and commas around it, or the first half of a marker.
fn has_clear_end(literal: &str, mark: &str) -> bool {
    let content = literal.trim_start_matches(mark).trim();
    !content.ends_with([':', ',', ')', ']', '}'])
        && !content.contains('*')
        && (mark == "\"" || content.starts_with(|c: char| c.is_alphanumeric() || c == '{'))
}

fn interpolation(p: &mut Parser<'_>, range: TextRange) {
    let text = p.text_at(range);
    let bytes = text.as_bytes();
    let at = |offset: usize| range.start() + TextSize::new(offset as u32);
    let mut offset = 0;
    let mut is_reference = true;
    p.start_part(INTERPOLATION);
    while offset < bytes.len() {
        let (kind, len) = match bytes[offset] {
            b'{' => (L_BRACE, 1),
            b'}' => (R_BRACE, 1),
            b'[' => (L_BRACKET, 1),
            b']' => (R_BRACKET, 1),
            b'.' => (DOT, 1),
            byte if byte.is_ascii_digit() => (NUMBER, digits_len(&bytes[offset..]).unwrap_or(1)),
            _ => (IDENT, names::length(&text[offset..], true).unwrap_or(1)),
        };
        let part = TextRange::new(at(offset), at(offset + len));
        if kind == IDENT && is_reference {
            p.start_part(NAME_REF);
            p.part(kind, part);
            p.finish();
        } else {
            p.part(kind, part);
        }
        is_reference = matches!(kind, L_BRACE | L_BRACKET);
        offset += len;
    }
    p.finish();
}

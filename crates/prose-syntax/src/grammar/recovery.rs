//! What is reported about text that fits no rule, and how parsing continues after it.

use rowan::TextRange;

use super::{Parent, block_of, foreign, statement_keyword, statements};
use crate::codes::Code;
use crate::diagnostic::{Fix, FixSafety, TextEdit};
use crate::layout::MAX_DEPTH;
use crate::names;
use crate::parser::{Parser, fix, safe_if};
use crate::properties;
use crate::syntax_kind::SyntaxKind::{self, *};

/// Lines that are indented although nothing opens a block. They are parsed all the same.
pub(super) fn indented(p: &mut Parser<'_>, after_error: bool) {
    let indentation = indentation_before(p, 1);
    // The tabs before the first line are reported once.
    let is_reported = p.position() == 0 && p.text_at(indentation).contains('\t');
    if !after_error && !is_reported {
        let word = p.nth_text(1);
        let message = if p.nth(2) == COLON && properties::find(word).is_some() {
            format!("`{word}:` is a property, but the statement above takes none")
        } else {
            match p.position() {
                0 => "the first line of a program must not be indented".to_owned(),
                _ => "unexpected indentation; the line above does not open a block".to_owned(),
            }
        };
        p.note(Code::E101, indentation, message, None);
    }
    if p.depth >= MAX_DEPTH {
        too_deep(p, p.nth_range(1));
        skip_block(p);
        return;
    }
    p.depth += 1;
    block_of(p, Parent::Unknown);
    p.depth -= 1;
}

/// The indentation of the line on which the lexeme `ahead` places on stands.
fn indentation_before(p: &Parser<'_>, ahead: usize) -> TextRange {
    let start = p.nth_range(ahead).start();
    let len = rowan::TextSize::of(p.indentation_at(start));
    TextRange::new(start - len, start)
}

/// Passes an indented region without looking at it.
pub(super) fn skip_block(p: &mut Parser<'_>) {
    let mut open = 0usize;
    p.start(ERROR);
    loop {
        match p.kind() {
            INDENT => open += 1,
            DEDENT => open -= 1,
            END => break,
            _ => {}
        }
        p.bump();
        if open == 0 {
            break;
        }
    }
    p.finish();
}

/// The rest of an indented region whose lines were to continue a chain, up to and with its end.
pub(super) fn rest_of_block(p: &mut Parser<'_>, expected: &str) {
    p.eat(LINE_END);
    if statement_keyword(p).is_some() {
        p.error(Code::E004, p.range(), format!("expected {expected}, or a less indented line"));
    }
    statements(p, Parent::Unknown);
    p.eat(DEDENT);
}

/// Whether the nesting is too deep. Reports it and passes the line.
pub(super) fn is_too_deep(p: &mut Parser<'_>) -> bool {
    let is_too_deep = p.depth >= MAX_DEPTH;
    if is_too_deep {
        too_deep(p, p.range());
        p.skip_line();
    }
    is_too_deep
}

pub(super) fn too_deep(p: &mut Parser<'_>, range: TextRange) {
    p.error(
        Code::E111,
        range,
        format!("nested more than {MAX_DEPTH} levels deep; move the inner part into a `block`"),
    );
}

/// A value was expected.
pub(super) fn missing_value(p: &mut Parser<'_>) {
    if p.at_line_end() {
        let behind = p.text_at(p.previous_range());
        p.expected(Code::E005, format!("expected a value after `{}`", shorten(behind)));
    } else {
        unexpected(p);
    }
}

/// A token stands where it cannot. Reports it, and leaves passing it to the caller.
pub(super) fn unexpected(p: &mut Parser<'_>) {
    let range = p.range();
    let text = p.token_text();
    match p.kind() {
        SINGLE_QUOTED => single_quoted(p),
        UNKNOWN if text == ";" && p.nth(1) == LINE_END => p.error_with_fix(
            Code::E004,
            range,
            "unexpected `;`; a statement ends at the end of its line",
            fix("Remove `;`", FixSafety::Safe, TextEdit::delete(range)),
        ),
        UNKNOWN if text.starts_with(['“', '”', '„']) => p.error_with_fix(
            Code::E109,
            range,
            "a string takes straight quotes `\"`, not typographic ones",
            straight_quotes(p),
        ),
        UNKNOWN if text.contains(['\u{a0}', '\u{200b}', '\u{3000}']) => p.error_with_fix(
            Code::E004,
            range,
            "unexpected character that looks like a space, often pasted from a web page",
            fix(
                "Change to a space",
                FixSafety::Safe,
                TextEdit::replace(range, text.replace(['\u{a0}', '\u{200b}', '\u{3000}'], " ")),
            ),
        ),
        UNKNOWN if text == "：" => {
            let message = "unexpected full-width colon; use `:`";
            p.error_with_change(Code::E004, range, ":", FixSafety::Safe, message);
        }
        _ if foreign::unexpected(p) => {}
        _ if follows_string(p) => {
            let message = "the string ends before this; write a quote inside a string as `\\\"`";
            p.error_with_fix(Code::E004, range, message, escaped_quotes(p));
        }
        UNKNOWN if text.starts_with(['`', '\'']) && !text.starts_with("``") => {
            p.error_with_fix(Code::E109, range, "a string must be in double quotes", double_quotes(p));
        }
        UNKNOWN if text.contains(char::is_alphanumeric) => not_a_name(p),
        UNKNOWN => {
            let shown: String = text.chars().take(20).flat_map(char::escape_debug).collect();
            p.error(Code::E004, range, format!("unexpected `{shown}` outside of a string"));
        }
        R_PAREN | R_BRACKET | R_BRACE => p.error(Code::E004, range, format!("unmatched closing `{text}`")),
        kind if kind.is_string() => p.error(
            Code::E004,
            range,
            "unexpected string; is an operator, a comma or a colon missing before it?",
        ),
        kind if kind.is_discretion() => p.error(Code::E004, range, "unexpected `**condition**`"),
        _ => p.error(Code::E004, range, format!("unexpected `{}`", shorten(text))),
    }
}

/// Whether the current token is right after a string, as `hello` does in `"He said "hello" to me"`.
fn follows_string(p: &Parser<'_>) -> bool {
    p.is_glued() && (p.at_name() || p.kind().is_string()) && p.text_at(p.previous_range()).ends_with('"')
}

/// A backslash before each quote between the first of the string that ended and the last of the line.
fn escaped_quotes(p: &Parser<'_>) -> Option<Fix> {
    let first = p.previous_range().end() - rowan::TextSize::of('"');
    let rest = TextRange::new(first, p.rest_of_line_range().end());
    let text = p.text_at(rest);
    let last = text.rfind('"')?;
    let at = |offset: usize| rest.start() + rowan::TextSize::new(offset as u32);
    let edits: Vec<TextEdit> =
        text[..last].match_indices('"').map(|(quote, _)| TextEdit::insert(at(quote), "\\")).collect();
    let is_plain = !edits.is_empty() && !text.contains(['\\', '\n', '\r']);
    is_plain.then(|| Fix::new("Escape the quotes inside", FixSafety::Unsafe, edits))
}

/// Double quotes for the backticks or single quotes that the rest of the line starts with.
fn double_quotes(p: &Parser<'_>) -> Option<Fix> {
    let rest = p.rest_of_line_range();
    let text = p.text_at(rest);
    let quote = text.chars().next()?;
    let (content, len) = match text[1..].rfind(quote) {
        Some(end) => (&text[1..=end], end + 2),
        None => (&text[1..], text.len()),
    };
    let content = content.replace(&format!("\\{quote}"), &quote.to_string());
    // A template names its values with a `$`.
    let content = if quote == '`' { content.replace("${", "{") } else { content };
    let range = TextRange::at(rest.start(), rowan::TextSize::new(len as u32));
    let is_clear =
        len == text.len() && text.len() > 1 && text.ends_with(quote) && !content.contains(['\\', quote]);
    fix("Use double quotes", safe_if(is_clear), TextEdit::replace(range, string_of(&content)))
        .filter(|_| !text.contains(['\n', '\r']))
}

fn straight_quotes(p: &Parser<'_>) -> Option<Fix> {
    let rest = p.rest_of_line_range();
    let edits: Vec<TextEdit> = p
        .text_at(rest)
        .match_indices(['“', '”', '„'])
        .map(|(at, quote)| {
            let start = rest.start() + rowan::TextSize::new(at as u32);
            TextEdit::replace(TextRange::at(start, rowan::TextSize::of(quote)), "\"")
        })
        .collect();
    Some(Fix::safe("Use straight quotes", edits))
}

pub(super) fn single_quoted(p: &mut Parser<'_>) {
    let range = p.range();
    let quick_fix = if p.nth(1) == SINGLE_QUOTED && p.nth_is_glued(1) {
        doubled_quotes(p)
    } else if p.nth(1) != LINE_END && p.nth_is_glued(1) && (p.nth(1).is_name() || p.nth(1) == UNKNOWN) {
        // An apostrophe: the string ends at the last quote.
        double_quotes(p)
    } else {
        let edits: Vec<TextEdit> = (0..p.rest_of_line())
            .filter(|&ahead| p.nth(ahead) == SINGLE_QUOTED)
            .map(|ahead| {
                let text = p.nth_text(ahead);
                TextEdit::replace(p.nth_range(ahead), string_of(&text[1..text.len() - 1]))
            })
            .collect();
        Some(Fix::safe("Use double quotes", edits))
    };
    p.error_with_fix(Code::E109, range, "a string must be in double quotes", quick_fix);
}

/// `'it''s'`, where other languages have a single quote: one string of those that touch.
fn doubled_quotes(p: &Parser<'_>) -> Option<Fix> {
    let count = (1..p.rest_of_line())
        .take_while(|&ahead| p.nth(ahead) == SINGLE_QUOTED && p.nth_is_glued(ahead))
        .count();
    let range = p.range().cover(p.nth_range(count));
    let text = p.text_at(range);
    let string = string_of(&text[1..text.len() - 1].replace("''", "'"));
    fix("Use double quotes", FixSafety::Unsafe, TextEdit::replace(range, string))
}

/// A colon between a keyword and its value: `return: draft`.
pub(super) fn superfluous_colon(p: &mut Parser<'_>, keyword: &str, safety: FixSafety) {
    p.superfluous(p.range(), safety, format!("unexpected `:` after `{keyword}`"));
}

/// A colon before the name of a definition instead of after it: `agent: writer`.
pub(super) fn misplaced_colon(p: &mut Parser<'_>, keyword: &str) {
    if !p.at(COLON) || !p.nth(1).is_name() {
        return;
    }
    let range = p.range();
    let name = p.nth_text(1);
    let mut edits = vec![TextEdit::delete(range)];
    if p.nth(2) == LINE_END {
        edits.push(TextEdit::insert(p.nth_range(1).end(), ":"));
    }
    let is_clear = p.nth(2) == LINE_END || p.nth(p.rest_of_line() - 1) == COLON;
    p.error_with_fix(
        Code::E108,
        range,
        format!("the `:` must come after the name: `{keyword} {}:`", shorten(name)),
        Some(Fix::new("Move `:` after the name", safe_if(is_clear), edits)),
    );
    p.bump_error(1);
}

/// A word with a character that names cannot have.
fn not_a_name(p: &mut Parser<'_>) {
    if p.token_text().starts_with(['`', '\'']) {
        return unexpected(p);
    }
    let range = p.range();
    let shown: String = p.token_text().chars().take(40).flat_map(char::escape_debug).collect();
    p.error(
        Code::E115,
        range,
        format!("`{shown}` is not a valid name; use letters, digits, `_` and `-`, or put a text in quotes"),
    );
}

/// Passes a string that is in place of a name, which is a `node` where it is written without quotes.
pub(super) fn quoted_name(p: &mut Parser<'_>, node: SyntaxKind, code: Code, what: &str) -> bool {
    let range = p.range();
    let is_clear = match p.nth(1) {
        COLON | EQ | IN_KW | LINE_END => true,
        L_PAREN => matches!(p.nth(p.rest_of_line() - 1), R_PAREN | COLON),
        _ => false,
    };
    let quick_fix = unquoted(p.token_text())
        .and_then(|name| fix("Remove the quotes", safe_if(is_clear), TextEdit::replace(range, name)));
    p.error_with_fix(code, range, format!("{what} must not be quoted"), quick_fix);
    if unquoted(p.token_text()).is_some() && matches!(p.kind(), STRING_LITERAL | SINGLE_QUOTED) {
        // What the name is used for elsewhere is no mistake.
        p.start(node);
        p.bump_unquoted();
    } else {
        p.start(ERROR);
        p.bump();
    }
    p.finish();
    true
}

/// The name that a string holds, if it holds nothing else.
pub(super) fn unquoted(string: &str) -> Option<&str> {
    let name = string.trim_matches(['"', '\'']);
    names::is_name(name).then_some(name)
}

/// `if **so** {` in place of a header's colon.
pub(super) fn braces_around_body(p: &mut Parser<'_>) {
    let count = p.rest_of_line();
    if !p.at(L_BRACE) || (count > 1 && p.nth(count - 1) != R_BRACE) {
        return;
    }
    let opening = TextRange::new(p.previous_end(), p.range().end());
    let mut edits = vec![TextEdit::replace(opening, ":")];
    if count > 1 {
        edits.push(TextEdit::delete(p.nth_range(count - 1)));
    }
    p.error_with_fix(
        Code::E108,
        p.range(),
        "unexpected braces around a body; end the line with `:` and indent the body",
        Some(Fix::new("Replace the braces with `:`", FixSafety::Unsafe, edits)),
    );
}

/// A text as a string of the language.
pub(super) fn string_of(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Reports a text that has to be in quotes, which is the rest of the line, and passes it.
pub(super) fn unquoted_text(p: &mut Parser<'_>, code: Code, range: TextRange, message: &str) {
    // What already holds quotes may need them elsewhere.
    let string = string_of(p.text_at(range));
    let fix = fix("Put the text in quotes", FixSafety::Unsafe, TextEdit::replace(range, string));
    p.error_with_fix(code, range, message, fix);
    p.skip_line();
}

/// Reports a text without quotes that starts at `start`, where its first word was taken for a name: `throw Nothing was found`.
pub(super) fn text_without_quotes(p: &mut Parser<'_>, start: TextRange, kind: SyntaxKind) {
    let words = (0..p.rest_of_line()).map(|ahead| p.nth(ahead));
    let is_text = kind == NAME_REF
        && (p.at(IDENT) || p.at(UNKNOWN) && p.token_text().contains(char::is_alphanumeric))
        && words.clone().all(|kind| {
            kind.is_name()
                || matches!(kind, UNKNOWN | COMMA | DOT | QUESTION | NUMBER | MINUS | SINGLE_QUOTED)
        });
    if is_text && !p.line_has_error() {
        let range = start.cover(p.rest_of_line_range());
        unquoted_text(p, Code::E004, range, "a text of several words must be in quotes");
    }
}

/// Passes a word that is in place of a name and is none.
pub(super) fn invalid_name(p: &mut Parser<'_>) -> bool {
    not_a_name(p);
    p.bump_error(1);
    false
}

/// A piece of program text short enough for a message.
pub(super) fn shorten(text: &str) -> String {
    const MAX_SHOWN: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

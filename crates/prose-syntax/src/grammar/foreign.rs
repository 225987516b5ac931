//! Values, signs and words of other languages inside a statement (decision 6).

use rowan::{TextRange, TextSize};

use crate::codes::Code;
use crate::diagnostic::{FixSafety, TextEdit};
use crate::parser::{Parser, fix, safe_if};
use crate::syntax_kind::SyntaxKind::*;

/// A sign that other languages have between values, or before or after one.
struct Sign {
    text: &'static str,
    message: &'static str,
    /// What takes its place.
    replacement: Option<&'static str>,
}

const fn written(text: &'static str, message: &'static str, replacement: &'static str) -> Sign {
    Sign { text, message, replacement: Some(replacement) }
}

const fn missing(text: &'static str, message: &'static str) -> Sign {
    Sign { text, message, replacement: None }
}

const ARROW_MESSAGE: &str = "expected `->` between two sessions";

/// A longer sign comes before one that it starts with.
const SIGNS: &[Sign] = &[
    written("===", "unknown operator `===`; use `==`", "=="),
    written("!==", "unknown operator `!==`; use `!=`", "!="),
    written("==>", ARROW_MESSAGE, "->"),
    written("=>", ARROW_MESSAGE, "->"),
    written("&&", "unknown operator `&&`; use `and`", "and"),
    written("||", "unknown operator `||`; use `or`", "or"),
    missing("??", "unknown operator `??`; use `condition ? one : other`"),
    written("!", "unknown operator `!`; use `not`", "not "),
    missing("++", "unknown operator `++`; use `count = count + 1`"),
    missing("--", "unknown operator `--`; use `count = count - 1`"),
    missing("%", "unknown operator `%`; use a `session` to compute the value"),
];

/// Reports the sign of another language that starts here, or with the token before, which is an operator on its own. Returns whether
/// there is one.
pub(super) fn sign(p: &mut Parser<'_>) -> bool {
    // A sign has three tokens at most, and a line can have very many.
    let tokens = (0..4).take_while(|&ahead| p.nth(ahead) != LINE_END).count();
    let next = p.range().cover(p.nth_range(tokens.saturating_sub(1)));
    let start = match p.text_at(p.previous_range()) {
        "=" | "==" | "!=" | "?" | "+" | "-" if p.is_glued() => p.previous_range().start(),
        _ => next.start(),
    };
    let text = p.text_at(TextRange::new(start, next.end()));
    let Some(sign) = SIGNS.iter().find(|sign| text.starts_with(sign.text)) else { return false };
    // In a row of signs none of them is meant.
    let behind = text[sign.text.len()..].trim_start();
    let is_operand = |c: char| c.is_alphanumeric() || matches!(c, '"' | '*' | '(' | '[' | '{' | '_');
    if !(behind.starts_with(is_operand) || behind.is_empty() && sign.replacement.is_none()) {
        return false;
    }
    let range = TextRange::at(start, TextSize::of(sign.text));
    let leads_to_session = matches!(p.nth(2), SESSION_KW | RESUME_KW);
    let quick_fix = sign.replacement.filter(|&replacement| replacement != "->" || leads_to_session).and_then(
        |replacement| {
            let title = format!("Change to `{}`", replacement.trim());
            fix(title, safe_if(leads_to_session), TextEdit::replace(range, replacement))
        },
    );
    p.error_with_fix(Code::E108, range, sign.message, quick_fix);
    true
}

/// Two dots between two numbers.
pub(super) fn range_of_numbers(p: &mut Parser<'_>) -> bool {
    if !(p.at(DOT) && p.nth(1) == DOT && p.nth_is_glued(1)) {
        return false;
    }
    let start = p.previous_range();
    let range =
        if p.nth(2) == NUMBER { start.cover(p.nth_range(2)) } else { p.range().cover(p.nth_range(1)) };
    let bounds = (p.text_at(start).parse::<u32>(), p.nth_text(2).parse::<u32>());
    numbers_in_a_row(p, range, bounds.0.ok().zip(bounds.1.ok()));
    true
}

/// `range(5)` as a collection.
pub(super) fn range_call(p: &mut Parser<'_>) {
    if p.token_text() != "range" || p.nth(1) != L_PAREN {
        return;
    }
    let end = (0..p.rest_of_line()).find(|&ahead| p.nth(ahead) == R_PAREN);
    let range = p.range().cover(p.nth_range(end.unwrap_or(1)));
    let number = |ahead: usize| p.nth_text(ahead).parse::<u32>().ok();
    let bounds = match end {
        Some(3) => Some(0).zip(number(2)),
        Some(5) => number(2).zip(number(4)),
        _ => None,
    };
    numbers_in_a_row(p, range, bounds.and_then(|(first, behind)| Some((first, behind.checked_sub(1)?))));
}

fn numbers_in_a_row(p: &mut Parser<'_>, range: TextRange, bounds: Option<(u32, u32)>) {
    const MAX_NUMBERS: u32 = 20;
    let array =
        bounds.filter(|(first, last)| first <= last && last - first < MAX_NUMBERS).map(|(first, last)| {
            let numbers: Vec<String> = (first..=last).map(|number| number.to_string()).collect();
            format!("[{}]", numbers.join(", "))
        });
    p.error_with_fix(
        Code::E108,
        range,
        "ranges are not supported; use `repeat 5 as i:` to count, or an array such as `[1, 2, 3]`",
        array.and_then(|array| {
            fix("Write the numbers out", FixSafety::Unsafe, TextEdit::replace(range, array))
        }),
    );
}

/// The letter before the quotes of `f"…"`. Passes it, so that the string comes next.
pub(super) fn string_prefix(p: &mut Parser<'_>) {
    let is_prefix = p.at(IDENT)
        && matches!(p.token_text(), "f" | "F" | "r" | "R" | "b" | "u" | "rf" | "fr")
        && p.nth(1).is_string()
        && p.nth_is_glued(1);
    if !is_prefix {
        return;
    }
    let prefix = p.token_text();
    let message = format!("unexpected `{prefix}` before a string; `{{name}}` in it is always interpolated");
    p.superfluous(p.range(), safe_if(p.nth(1) == STRING_LITERAL), message);
}

/// Words that say how a value is waited for. Passes them, so that what they come before comes next.
pub(super) fn words_of_waiting(p: &mut Parser<'_>) {
    while matches!(p.token_text(), "await" | "async" | "yield")
        && matches!(p.nth(1), SESSION_KW | RESUME_KW | DO_KW | PARALLEL_KW | FOR_KW | LOOP_KW | BLOCK_KW)
        && p.nth(2) != EQ
    {
        let word = p.token_text();
        let message =
            format!("unexpected `{word}`; statements run in order, those in `parallel:` concurrently");
        p.superfluous(p.range_before_next(), FixSafety::Safe, message);
    }
}

/// `agent name():`
pub(super) fn parameters_of_agent(p: &mut Parser<'_>) {
    let open = p.range();
    let Some(close) = (1..p.rest_of_line()).find(|&ahead| p.nth(ahead) == R_PAREN) else { return };
    let range = open.cover(p.nth_range(close));
    let message = "an agent takes no parameters; pass values with the `context:` of each session";
    let fix = fix("Remove the parentheses", safe_if(close == 1), TextEdit::delete(range));
    p.error_with_fix(Code::E108, range, message, fix);
    p.bump_error(close + 1);
}

/// Whether `word` names a type in other languages.
pub(super) fn is_type(word: &str) -> bool {
    const TYPES: &[&str] = &[
        "string", "str", "String", "text", "int", "integer", "number", "float", "bool", "boolean", "list",
        "array", "dict", "object", "any", "Any",
    ];
    TYPES.contains(&word)
}

/// What comes after the name of a parameter elsewhere: `x: string`, `x = "a"`. Passes it; returns whether the list continues.
pub(super) fn type_or_default(p: &mut Parser<'_>) -> bool {
    let (message, title) = match p.kind() {
        COLON if p.nth(1).is_name() => ("parameters have no types", "Remove the type"),
        EQ => (
            "parameters have no default values; pass every argument in each call",
            "Remove the default value",
        ),
        _ => return true,
    };
    let range = p.range().cover(p.nth_range(1));
    let superfluous = TextRange::new(p.previous_end(), range.end());
    // The colon of the type and that of the header are the only ones.
    let signs = (0..p.rest_of_line()).filter(|&ahead| matches!(p.nth(ahead), COLON | EQ | ARROW)).count();
    let is_only = p.at(COLON) && signs == 2;
    p.error_with_fix(Code::E108, range, message, fix(title, safe_if(is_only), TextEdit::delete(superfluous)));
    p.bump_error(2);
    true
}

/// A call of what other languages print with. It is not a call of a program, to which values are given by name.
pub(super) fn call_that_prints(p: &mut Parser<'_>) {
    let is_call = matches!(p.token_text(), "print" | "println" | "echo" | "log")
        && p.nth(1) == L_PAREN
        && p.nth(2).is_string()
        && p.nth(3) == R_PAREN;
    if !is_call {
        return;
    }
    let call = p.range().cover(p.nth_range(3));
    let (word, session) = (p.token_text(), format!("session {}", p.nth_text(2)));
    let message = format!("unknown function `{word}`; run a `session`, or return a result with `output`");
    let fix = fix("Change to `session`", FixSafety::Unsafe, TextEdit::replace(call, session));
    p.error_with_fix(Code::E108, p.range(), message, fix);
}

/// A comment as other languages start it: `-- text`, `/* text */`. Returns whether there is one.
pub(super) fn comment(p: &mut Parser<'_>) -> bool {
    let rule = (0..p.rest_of_line()).take_while(|&at| p.nth(at) == MINUS).count();
    if rule > 2 && rule == p.rest_of_line() {
        let range = p.rest_of_line_range();
        let comment = format!("# {}", p.text_at(range));
        let message = "a line of dashes is not a statement; a comment starts with `#`";
        let fix = fix("Convert to a comment", FixSafety::Safe, TextEdit::replace(range, comment));
        p.error_with_fix(Code::E110, range, message, fix);
        p.skip_line();
        return true;
    }
    let is_dashes = p.at(MINUS) && p.nth(1) == MINUS && p.nth(2).is_name();
    let is_block = p.at(SLASH) && matches!(p.nth_text(1).as_bytes(), [b'*', ..]);
    if !(is_dashes || is_block) || !p.nth_is_glued(1) {
        return false;
    }
    let opener = TextRange::at(p.range().start(), TextSize::new(2));
    p.error_with_change(Code::E110, opener, "#", FixSafety::Safe, "a comment starts with `#`");
    p.skip_line();
    true
}

/// Whether the line has the form of a header whose name has parentheses after it, as that of a function has.
pub(super) fn is_header_with_parentheses(p: &Parser<'_>) -> bool {
    let last = || p.nth(p.rest_of_line().saturating_sub(1));
    p.nth(1) == L_PAREN && (matches!(last(), COLON | L_BRACE) || is_braced(p))
}

/// Whether a body in braces ends the logical line.
fn is_braced(p: &Parser<'_>) -> bool {
    let close = (1..p.rest_of_line()).find(|&ahead| p.nth(ahead) == R_PAREN);
    close.is_some_and(|close| p.nth(close + 1) == L_BRACE)
}

/// Passes what `recovery` has no better word for than that it is unexpected. Returns whether there is one.
pub(super) fn unexpected(p: &mut Parser<'_>) -> bool {
    if p.at(PIPE) && matches!(p.nth(1), SESSION_KW | RESUME_KW) {
        let message = "expected `->` between two sessions; `|` starts a stage over the items of an array";
        p.error_with_change(Code::E108, p.range(), "->", FixSafety::Safe, message);
        return true;
    }
    if p.at(PLUS) && p.text_at(p.previous_range()).ends_with('"') {
        let range = p.range();
        let quote = TextRange::new(p.previous_end() - TextSize::of('"'), p.nth_range(1).end());
        let is_name = p.nth(1) == IDENT && p.nth(2) == LINE_END;
        let edit = TextEdit::replace(quote, format!("{{{}}}\"", p.nth_text(1)));
        let fix = fix("Interpolate the value", FixSafety::Safe, edit).filter(|_| is_name);
        let message = "unexpected `+` after a string; interpolate the value: `\"Write about {topic}\"`";
        p.error_with_fix(Code::E108, range, message, fix);
        return true;
    }
    if p.token_text() == ";" && p.nth(1) != LINE_END {
        p.error(Code::E004, p.range(), "unexpected `;`; put each statement on its own line");
        return true;
    }
    range_of_numbers(p) || sign(p)
}

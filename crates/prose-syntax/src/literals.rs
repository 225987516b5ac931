//! Where strings and discretions end (L4–L10, L13), and where an unterminated one is taken to end.
//!
//! A literal that spans lines could swallow the rest of a file when its closer is missing, and would turn every later literal
//! inside out. So a would-be closer that stands where code opens a literal (`prompt: """`), and that itself has a closer,
//! is taken for what it looks like: an opener. The literal before it is then unterminated (decision 8).

use rowan::{TextRange, TextSize};

use crate::syntax_kind::SyntaxKind::{self, *};

/// One literal of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Literal {
    pub(crate) kind: SyntaxKind,
    pub(crate) end: usize,
}

/// Finds the end of the literal whose opener is given; `line_start` is that of the opener's line.
pub(crate) type Scan = fn(&str, logos::Span, usize, &mut Memory) -> Literal;

/// What earlier literals of the same text have shown.
#[derive(Default)]
pub(crate) struct Memory {
    /// For each literal whose end depends on text behind it: its start, and how far the text was looked at.
    lookaheads: Vec<TextRange>,
    /// Markers that were searched for up to the end of the text in vain: searching again from a later place would find nothing
    /// either, and would make a text of many unterminated literals take quadratic time.
    exhausted: Vec<&'static str>,
}

impl Memory {
    pub(crate) fn into_lookaheads(self) -> Vec<TextRange> {
        self.lookaheads
    }

    fn looked_ahead(&mut self, from: usize, to: usize) {
        self.lookaheads.push(TextRange::new(TextSize::new(from as u32), TextSize::new(to as u32)));
    }
}

/// `"` up to the next unescaped `"` on the same line (L4, L5).
pub(crate) fn one_line_string(text: &str, opener: logos::Span, _: usize, _: &mut Memory) -> Literal {
    let bytes = text.as_bytes();
    let mut at = opener.end;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Literal { kind: STRING_LITERAL, end: at + 1 },
            Some(b'\\') if !matches!(bytes.get(at + 1), None | Some(b'\n' | b'\r')) => at += 2,
            Some(b'\n' | b'\r') | None => {
                let end = opener.end + text[opener.end..at].trim_end().len();
                return Literal { kind: UNTERMINATED_STRING, end };
            }
            Some(_) => at += 1,
        }
        // Only escapes can leave `at` inside a character; the bytes searched for are ASCII, so going on is safe.
    }
}

/// `"""` up to the closing `"""` (L6–L10).
pub(crate) fn triple_string(
    text: &str,
    opener: logos::Span,
    line_start: usize,
    memory: &mut Memory,
) -> Literal {
    const MARK: &str = "\"\"\"";
    let block_open = rest_of_line(text, opener.end).trim().is_empty();
    let indent = indent_of(text, line_start);
    if memory.exhausted.contains(&MARK) {
        let end = end_of_indented(text, opener.end, indent, text.len());
        memory.looked_ahead(opener.start, text.len());
        return Literal { kind: UNTERMINATED_TRIPLE_STRING, end };
    }
    let mut from = opener.end;
    while let Some(run) = next_quote_run(text, from) {
        let close = Literal { kind: TRIPLE_STRING_LITERAL, end: run.end };
        let run_line = line_start_of(text, opener.end, run.start);
        if run_line == opener.end {
            return close;
        }
        let before = &text[run_line..run.start];
        if !opens_literal(before) {
            return close;
        }
        let next = next_quote_run(text, run.end);
        memory.looked_ahead(opener.start, next.as_ref().map_or(text.len(), |next| next.end));
        if block_open
            && run.len() == MARK.len()
            && let Some(next) = &next
            && is_nested(text, run_line, &run, next, indent)
        {
            from = next.end;
            continue;
        }
        let opens_another = next.as_ref().is_some_and(|next| {
            let next_line = line_start_of(text, run.end, next.start);
            next_line == run.end || !opens_literal(&text[next_line..next.start])
        });
        if !opens_another {
            return close;
        }
        let end = end_of_indented(text, opener.end, indent, run_line);
        return Literal { kind: UNTERMINATED_TRIPLE_STRING, end };
    }
    memory.exhausted.push(MARK);
    memory.looked_ahead(opener.start, text.len());
    let end = end_of_indented(text, opener.end, indent, text.len());
    Literal { kind: UNTERMINATED_TRIPLE_STRING, end }
}

/// `**` or `***` up to the next same marker (L13). `****` and `******` are empty discretions.
pub(crate) fn discretion(text: &str, opener: logos::Span, line_start: usize, memory: &mut Memory) -> Literal {
    let mark = match opener.len() {
        2 => "**",
        3 => "***",
        4 | 6 => return Literal { kind: DISCRETION_LITERAL, end: opener.end },
        _ => return Literal { kind: UNKNOWN, end: opener.end },
    };
    let rest = rest_of_line(text, opener.end);
    if let Some(close) = memchr::memmem::find(rest.as_bytes(), mark.as_bytes()) {
        return Literal { kind: DISCRETION_LITERAL, end: opener.end + close + mark.len() };
    }
    let indent = indent_of(text, line_start);
    let unterminated = |limit: usize| {
        let content = rest.trim_end();
        let end = if content.is_empty() {
            end_of_indented(text, opener.end, indent, limit)
        } else {
            opener.end + without_header_end(content).len()
        };
        Literal { kind: UNTERMINATED_DISCRETION, end }
    };
    if rest.trim_end().ends_with(':') {
        // `if **the tests pass:` is a header whose marker was forgotten.
        return unterminated(opener.end);
    }
    if memory.exhausted.contains(&mark) {
        memory.looked_ahead(opener.start, text.len());
        return unterminated(text.len());
    }
    let find =
        |from: usize| memchr::memmem::find(&text.as_bytes()[from..], mark.as_bytes()).map(|at| from + at);
    let Some(close) = find(opener.end) else {
        memory.exhausted.push(mark);
        memory.looked_ahead(opener.start, text.len());
        return unterminated(text.len());
    };
    let close_end = close + mark.len();
    let close_line = line_start_of(text, opener.end, close);
    if opens_discretion(&text[close_line..close]) {
        let next = find(close_end);
        memory.looked_ahead(opener.start, next.map_or(text.len(), |next| next + mark.len()));
        let opens_another = next.is_some_and(|next| {
            let next_line = line_start_of(text, close_end, next);
            next_line == close_end || !opens_discretion(&text[next_line..next])
        });
        if opens_another {
            return unterminated(close_line);
        }
    }
    Literal { kind: DISCRETION_LITERAL, end: close_end }
}

/// The closing quotes of the next run of three or more: the last three close, earlier ones are content (L9).
/// `start` is that of the whole run.
fn next_quote_run(text: &str, from: usize) -> Option<logos::Span> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'\\' {
            // Only `\"` and `\\` are passed over as pairs: nothing else may hide a closing delimiter (L8).
            at += if matches!(bytes.get(at + 1), Some(b'"' | b'\\')) { 2 } else { 1 };
            continue;
        }
        let length = bytes[at..].iter().take_while(|&&byte| byte == b'"').count();
        if length >= 3 {
            return Some(at..at + length);
        }
        at += length;
    }
}

/// Whether `run` opens a literal inside the text of another, which `next` closes (L10).
fn is_nested(
    text: &str,
    run_line: usize,
    run: &logos::Span,
    next: &logos::Span,
    outer_indent: usize,
) -> bool {
    let indent = indent_of(text, run_line);
    if indent <= outer_indent || !rest_of_line(text, run.end).trim().is_empty() {
        return false;
    }
    let next_line = line_start_of(text, run.end, next.start);
    let closes_at_same_column = next_line != run.end
        && indent_of(text, next_line) == indent
        && next_line + indent == next.start
        && rest_of_line(text, next.end).trim().is_empty();
    closes_at_same_column
        && text[run.end..next_line]
            .lines()
            .skip(1)
            .all(|line| line.trim().is_empty() || indent_of(line, 0) >= outer_indent)
}

/// Whether code that ends in `before`, the text of a line up to the quotes, would open a string there.
fn opens_literal(before: &str) -> bool {
    let code = before.trim_end();
    if code.ends_with(['(', '[']) {
        return true;
    }
    if code.len() == before.len() {
        return false;
    }
    match code.as_bytes() {
        [.., name, b':'] => name.is_ascii_alphanumeric() || *name == b'_',
        [.., b'='] => true,
        _ => last_word(code) == "session",
    }
}

/// Whether code that ends in `before` would open a discretion there.
fn opens_discretion(before: &str) -> bool {
    let code = before.trim_end();
    matches!(last_word(code), "if" | "elif" | "until" | "while" | "choice" | "and" | "or" | "not")
        || (code.len() < before.len() && code.ends_with([':', '=']))
}

fn last_word(code: &str) -> &str {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    &code[code.trim_end_matches(is_word).len()..]
}

/// The content of an unterminated `**` without what belongs to the header behind it: `the tests pass (max: 3):`.
fn without_header_end(content: &str) -> &str {
    let Some(header) = content.strip_suffix(':') else { return content };
    let header = header.trim_end();
    match header.rfind(" (") {
        Some(modifiers) if header.ends_with(')') => header[..modifiers].trim_end(),
        _ => header,
    }
}

/// The end of an unterminated literal that may span lines: its own line and the lines indented deeper than it, up to `limit`.
fn end_of_indented(text: &str, from: usize, indent: usize, limit: usize) -> usize {
    let mut end = from + rest_of_line(text, from).trim_end().len();
    let mut at = from + rest_of_line(text, from).len();
    while at < limit {
        at += if text[at..].starts_with("\r\n") { 2 } else { 1 };
        if at >= limit {
            break;
        }
        let line = rest_of_line(text, at);
        if !line.trim().is_empty() {
            if indent_of(text, at) <= indent {
                break;
            }
            end = at + line.trim_end().len();
        }
        at += line.len();
    }
    end.min(limit.max(from))
}

fn rest_of_line(text: &str, from: usize) -> &str {
    let rest = &text[from..];
    &rest[..memchr::memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len())]
}

/// The start of the line on which `at` stands, or `from` where no line starts between the two.
fn line_start_of(text: &str, from: usize, at: usize) -> usize {
    memchr::memrchr2(b'\n', b'\r', &text.as_bytes()[from..at]).map_or(from, |newline| from + newline + 1)
}

fn indent_of(text: &str, line_start: usize) -> usize {
    text.as_bytes()[line_start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

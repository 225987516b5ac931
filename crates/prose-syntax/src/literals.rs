//! Where strings and discretions end (L4–L10, L13), and where an unterminated one is taken to end.
//!
//! A literal that spans lines could swallow the rest of a file when its closer is missing, and would turn every later literal
//! inside out. So a would-be closer that stands where code opens a literal (`prompt: """`), and that itself has a closer,
//! is taken for what it looks like: an opener. The literal before it is then unterminated (decision 8). In the other direction,
//! markers where code opens no literal, such as quotes alone on a line, are closers that have lost their opener: they are
//! unterminated and take nothing but the rest of their line. What an unterminated literal takes for its text is its own line and,
//! where it opens at the end of that, the lines that are indented deeper.

use rowan::{TextRange, TextSize};

use crate::names;
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
    /// For each literal whose end depends on text after it: its start, and how far the text was looked at.
    lookaheads: Vec<TextRange>,
    /// Markers that were not found from a place up to the end of the text: searching again from a later place would find
    /// nothing either, and would make a text of many unterminated literals take quadratic time.
    exhausted: Vec<(&'static str, usize)>,
}

impl Memory {
    pub(crate) fn into_lookaheads(self) -> Vec<TextRange> {
        self.lookaheads
    }

    fn is_exhausted(&self, mark: &str, from: usize) -> bool {
        self.exhausted.iter().any(|&(exhausted, start)| exhausted == mark && start <= from)
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
        // Only escapes can leave `at` inside a character; the bytes searched for are ASCII, so continuing is safe.
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
    let before_opener = &text[line_start..opener.start];
    let is_block = ends_line(text, opener.end) && opens_literal(before_opener);
    let indent = indent_of(text, line_start);
    let unterminated = |limit: usize| {
        // Quotes that open a line were probably a closer, so the lines below them are code.
        let own_line = opener.end + rest_of_line(text, opener.end).len();
        let limit = if before_opener.trim().is_empty() { own_line } else { limit };
        let is_inside = |line: &str| is_indented(line, indent) || is_prose(line);
        Literal { kind: UNTERMINATED_TRIPLE_STRING, end: end_of_lines(text, opener.end, limit, is_inside) }
    };
    if memory.is_exhausted(MARK, opener.end) {
        memory.looked_ahead(opener.start, text.len());
        return unterminated(text.len());
    }
    let mut from = opener.end;
    while let Some(run) = next_quote_run(text, from) {
        let close = Literal { kind: TRIPLE_STRING_LITERAL, end: run.end };
        let run_line = line_start_of(text, opener.end, run.start);
        if run_line == opener.end {
            return close;
        }
        let before = &text[run_line..run.start];
        if !opens_literal(before) && !opens_message(text, run_line, &run) {
            return close;
        }
        let next = next_quote_run(text, run.end);
        memory.looked_ahead(opener.start, next.as_ref().map_or(text.len(), |next| next.end));
        if is_block
            && run.len() == MARK.len()
            && let Some(next) = &next
            && is_nested(text, from, run_line, &run, next, indent)
        {
            from = next.end;
            continue;
        }
        let has_closer = next.as_ref().is_some_and(|next| {
            let next_line = line_start_of(text, run.end, next.start);
            next_line == run.end || !opens_literal(&text[next_line..next.start])
        });
        let opens_block = ends_line(text, run.end) && is_header(before);
        if !has_closer && !opens_block {
            return close;
        }
        return unterminated(run_line);
    }
    memory.exhausted.push((MARK, from));
    memory.looked_ahead(opener.start, text.len());
    unterminated(text.len())
}

/// `**` or `***` up to the next same marker (L13). `****` and `******` are empty discretions.
pub(crate) fn discretion(text: &str, opener: logos::Span, line_start: usize, memory: &mut Memory) -> Literal {
    let mark = match opener.len() {
        2 => "**",
        3 => "***",
        4 | 6 => return Literal { kind: DISCRETION_LITERAL, end: opener.end },
        _ => return Literal { kind: UNKNOWN, end: opener.end },
    };
    let find =
        |from: usize| memchr::memmem::find(&text.as_bytes()[from..], mark.as_bytes()).map(|at| from + at);
    let close = if memory.is_exhausted(mark, opener.end) { None } else { find(opener.end) };
    let close_line = close.map(|close| line_start_of(text, opener.end, close));
    if let Some(close) = close
        && close_line == Some(opener.end)
    {
        return Literal { kind: DISCRETION_LITERAL, end: close + mark.len() };
    }
    if close.is_none() && !memory.is_exhausted(mark, opener.end) {
        memory.exhausted.push((mark, opener.end));
    }
    let rest = rest_of_line(text, opener.end);
    let before_opener = &text[line_start..opener.start];
    let indent = indent_of(text, line_start);
    let content = rest.trim_end();
    // A marker that is alone was probably to close something, and one after a word that takes no condition is none.
    let can_span_lines = match before_opener.trim().is_empty() {
        true => !content.is_empty(),
        false => opens_discretion(before_opener),
    };
    // A condition holds no property, so markers after one are in the text of that.
    let opens_string = |line: &str| line.split_once("\"\"\"").is_some_and(|(before, _)| is_header(before));
    let unterminated = |limit: usize| {
        let end = match content.is_empty() && can_span_lines {
            true => {
                end_of_lines(text, opener.end, limit, |line| is_indented(line, indent) && !opens_string(line))
            }
            false => opener.end + without_header_end(content).len(),
        };
        Literal { kind: UNTERMINATED_DISCRETION, end }
    };
    if content.ends_with(':') || !can_span_lines {
        // `if **the tests pass:` is a header whose marker was forgotten.
        return unterminated(opener.end);
    }
    let (Some(close), Some(close_line)) = (close, close_line) else {
        memory.looked_ahead(opener.start, text.len());
        return unterminated(text.len());
    };
    let close_end = close + mark.len();
    let before_close = &text[close_line..close];
    if opens_discretion(before_close) {
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
    let closes_at_line_start = before_close.trim().is_empty() && ends_header(rest_of_line(text, close_end));
    let is_inside = |line: &str| line.trim().is_empty() || indent_of(line, 0) > indent;
    // Nor does a condition end inside of a string.
    let is_quoted = before_close.bytes().filter(|&byte| byte == b'"').count() % 2 == 1;
    let content = || text[opener.end..close].lines().skip(1);
    if is_quoted || content().any(opens_string) || (!closes_at_line_start && !content().all(is_inside)) {
        // Text between other markers further down.
        memory.looked_ahead(opener.start, close_end + rest_of_line(text, close_end).len());
        return unterminated(close_line);
    }
    if closes_at_line_start {
        memory.looked_ahead(opener.start, close_end + rest_of_line(text, close_end).len());
    }
    Literal { kind: DISCRETION_LITERAL, end: close_end }
}

/// Whether `rest` is what can come after a condition on its line, and not the text between two markers.
fn ends_header(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with([':', '(', '#', ')', ']', '}', ','])
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

/// Whether `run` opens a literal inside the text of another, which `next` closes (L10). `from` is where that text, or what has
/// not been looked at of it, starts.
fn is_nested(
    text: &str,
    from: usize,
    run_line: usize,
    run: &logos::Span,
    next: &logos::Span,
    outer_indent: usize,
) -> bool {
    let indent = indent_of(text, run_line);
    if indent <= outer_indent || !ends_line(text, run.end) {
        return false;
    }
    let next_line = line_start_of(text, run.end, next.start);
    let closes_at_same_column = next_line != run.end
        && indent_of(text, next_line) == indent
        && next_line + indent == next.start
        && ends_line(text, next.end);
    let is_inside = |line: &str| line.trim().is_empty() || indent_of(line, 0) >= outer_indent.max(1);
    closes_at_same_column
        && text[from..run_line].lines().skip(1).all(is_inside)
        && text[run.end..next_line].lines().skip(1).all(is_inside)
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
        [.., b','] => true,
        _ => matches!(last_word(code), "session" | "output" | "return" | "throw" | "input" | "option"),
    }
}

/// Whether `before` is all that code has before a literal, as in `prompt: """` and `let text = """`, and no text that ends so.
fn is_header(before: &str) -> bool {
    let code = before.trim();
    let mut words = code.trim_end_matches([':', '=']).split_ascii_whitespace();
    code.ends_with([':', '='])
        && words.next().is_some_and(is_word)
        && words.next().is_none_or(is_word)
        && words.next().is_none()
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| names::is_part(c) || c == '-')
}

/// Whether `run` is alone on the line below the header of an `assert`, where its message does.
fn opens_message(text: &str, run_line: usize, run: &logos::Span) -> bool {
    if run_line + indent_of(text, run_line) != run.start {
        return false;
    }
    let above = text[..run_line].trim_end();
    let header = &text[line_start_of(text, 0, above.len())..above.len()];
    header.ends_with(':')
        && header.trim_start().starts_with("assert ")
        && indent_of(header, 0) < indent_of(text, run_line)
}

/// Whether code that ends in `before` would open a discretion there.
fn opens_discretion(before: &str) -> bool {
    let code = before.trim_end();
    matches!(last_word(code), "if" | "elif" | "until" | "while" | "choice" | "and" | "or" | "not")
        || code.ends_with(['(', '[', '{', ',', '?'])
        || (code.len() < before.len() && code.ends_with([':', '=']))
}

fn last_word(code: &str) -> &str {
    let is_word = |c: char| names::is_part(c) || c == '-';
    &code[code.trim_end_matches(is_word).len()..]
}

/// The content of an unterminated `**` without what belongs to the header after it: `the tests pass (max: 3):`.
fn without_header_end(content: &str) -> &str {
    let Some(header) = content.strip_suffix(':') else { return content };
    let header = header.trim_end();
    match header.rfind(" (") {
        Some(modifiers) if header.ends_with(')') && is_modifier(&header[modifiers + 2..]) => {
            header[..modifiers].trim_end()
        }
        _ => header,
    }
}

/// Whether `text` starts like the modifiers of a loop, as in `max: 3)`, and not like words in parentheses.
fn is_modifier(text: &str) -> bool {
    text.split_once(':').is_some_and(|(name, _)| is_word(name))
}

/// The end of an unterminated literal that may span lines: its own line and those below that are `is_inside`, up to `limit`.
/// Blank lines and those of comments are inside where others are after them.
fn end_of_lines(text: &str, from: usize, limit: usize, is_inside: impl Fn(&str) -> bool) -> usize {
    let mut end = from + rest_of_line(text, from).trim_end().len();
    let mut at = from + rest_of_line(text, from).len();
    while at < limit {
        at += if text[at..].starts_with("\r\n") { 2 } else { 1 };
        if at >= limit {
            break;
        }
        let line = rest_of_line(text, at);
        if is_inside(line) {
            end = at + line.trim_end().len();
        } else if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            break;
        }
        at += line.len();
    }
    end.min(limit.max(from))
}

/// Whether `line` holds something, and that deeper than at column `indent`.
fn is_indented(line: &str, indent: usize) -> bool {
    !line.trim().is_empty() && indent_of(line, 0) > indent
}

/// Whether `line` reads as a sentence or an item of a list, and as no statement, not even a misspelled one.
fn is_prose(line: &str) -> bool {
    let line = line.trim();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if line.starts_with("- ") || line.starts_with("* ") {
        return true;
    }
    if number.len() < line.len() {
        return number.starts_with(". ") || number.starts_with(") ");
    }
    if line.contains(['=', '"', '(', '|']) || SyntaxKind::from_keyword(first_word(line)).is_some() {
        return false;
    }
    let is_capitalized = line.starts_with(char::is_uppercase);
    let is_spoken = |word: &str| {
        word.starts_with(char::is_alphabetic)
            && !word.contains(|c: char| c.is_ascii_punctuation() && !"',.;!?-".contains(c))
    };
    let mut words = line.trim_end_matches(':').split_ascii_whitespace();
    let is_sentence = match (words.next(), words.next()) {
        // A word alone is not a statement, unless it is one of the keywords that were excluded above.
        (Some(one), None) => {
            is_spoken(one)
                && (one.ends_with(['.', '!', '?', ','])
                    || one.chars().all(|c| c.is_alphabetic() || c == '\''))
        }
        (Some(one), Some(two)) => is_spoken(one) && two.starts_with(char::is_alphabetic),
        _ => false,
    };
    is_sentence && (is_capitalized || !line.ends_with(':'))
}

fn first_word(code: &str) -> &str {
    code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default()
}

/// Whether nothing but whitespace comes after `at` on its line. A line can be long, and hold many literals.
fn ends_line(text: &str, at: usize) -> bool {
    text[at..]
        .chars()
        .find(|&c| !c.is_whitespace() || matches!(c, '\n' | '\r'))
        .is_none_or(char::is_whitespace)
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

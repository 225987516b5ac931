//! Values as narrations write them: between quotes of many kinds or none, on one line or wrapped over several.

use prose_vm::value::Value;

use super::lines::{item, marked};

/// A value that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// All of it.
    Whole(String),
    /// A reference to something narrated elsewhere, such as `<result>`.
    Reference,
    /// Nothing stands there.
    Missing,
    /// Only a part of it.
    Doubtful(&'static str),
}

impl Read {
    /// All of it, or why it is not known.
    pub(super) fn whole(self, if_missing: &'static str) -> Result<String, &'static str> {
        match self {
            Self::Whole(text) => Ok(text),
            Self::Reference | Self::Missing => Err(if_missing),
            Self::Doubtful(why) => Err(why),
        }
    }
}

pub(super) const CUT: &str = "its text is cut off";
const UNCLOSED: &str = "its text has no end";
pub(super) const TORN: &str = "the transcript ends in the middle of it";

/// The quotes that values stand between.
const QUOTES: &[(char, char)] = &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('\'', '\''), ('`', '`')];

/// A value, what follows on its closing quote, and how many lines it takes after the first one. `is_torn` says that the last of the lines may lack
/// its end.
pub(super) fn value<'a>(first: &'a str, following: &[&str], is_torn: bool) -> (Read, &'a str, usize) {
    let first = first.trim();
    let Some(start) = first.chars().next() else { return (Read::Missing, "", 0) };
    if first.starts_with("<result") || first.starts_with("<value") || first.starts_with("<stored") {
        return (Read::Reference, "", 0);
    }
    match QUOTES.iter().find(|(open, _)| *open == start) {
        Some((_, close)) => between_quotes(first, *close, following),
        None => {
            let (text, lines) = without_quotes(first, following);
            let read = match () {
                () if is_cut(&text) => Read::Doubtful(CUT),
                () if is_torn && lines == following.len() => Read::Doubtful(TORN),
                () => Read::Whole(text),
            };
            (read, "", lines)
        }
    }
}

/// What follows on the sign that sets a value apart from what it belongs to; none where there is no such sign.
pub(super) fn separated(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let sign = [":", "=", "–", "—", "-"].iter().find_map(|sign| text.strip_prefix(sign));
    sign.map(str::trim)
}

/// A value that stands below the line that it belongs to, maybe as a block of code, and how many lines it takes.
pub(super) fn below(following: &[&str], is_torn: bool) -> (Read, usize) {
    let Some(first) = following.first() else { return (Read::Missing, 0) };
    let is_text = !first.trim().is_empty() && marked(first).is_none() && !first.trim().starts_with('[');
    if !is_text {
        return (Read::Missing, 0);
    }
    if !first.trim().starts_with("```") {
        let (read, _, lines) = value(first, &following[1..], is_torn);
        return (read, lines + 1);
    }
    let is_end = |line: &&str| line.trim() == "```";
    let Some(end) = following[1..].iter().position(is_end) else { return (Read::Doubtful(UNCLOSED), 0) };
    let block = &following[1..=end];
    // The fence is that of the narration then, which ends here or continues.
    if block.iter().any(|line| marked(line).is_some()) {
        return (Read::Missing, 0);
    }
    let text = block.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    let read = if is_cut(&text) { Read::Doubtful(CUT) } else { Read::Whole(text) };
    (read, end + 2)
}

fn between_quotes<'a>(first: &'a str, close: char, following: &[&str]) -> (Read, &'a str, usize) {
    let open = first.chars().next().map_or(0, char::len_utf8);
    let inner = &first[open..];
    if let Some(end) = closing(inner, close) {
        let read = unquoted(&inner[..end], close);
        return (read, inner[end + close.len_utf8()..].trim(), 0);
    }
    let mut text = inner.to_owned();
    for (at, line) in following.iter().enumerate() {
        if marked(line).is_some() {
            break;
        }
        let line = line.trim();
        text.push('\n');
        if let Some(end) = closing(line, close) {
            text.push_str(&line[..end]);
            return (unquoted(&text, close), "", at + 1);
        }
        text.push_str(line);
    }
    (Read::Doubtful(UNCLOSED), "", 0)
}

/// Where a text between quotes ends. Quotes inside that a model forgot to escape do not end it: only one that nothing or a remark between parentheses
/// follows does.
fn closing(text: &str, close: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let is_end = c == close && !is_escaped && {
            let rest = text[at + c.len_utf8()..].trim();
            rest.is_empty() || (rest.starts_with('(') && rest.ends_with(')')) || rest.starts_with('#')
        };
        is_escaped = c == '\\' && !is_escaped;
        is_end.then_some(at)
    })
}

fn unquoted(text: &str, close: char) -> Read {
    if is_cut(text) {
        return Read::Doubtful(CUT);
    }
    if close == '"' {
        // A text that a model wrote may hold what JSON does not allow; it is taken as it stands then.
        let json = format!("\"{}\"", text.replace('\n', "\\n"));
        if let Ok(text) = serde_json::from_str(&json) {
            return Read::Whole(text);
        }
    }
    Read::Whole(text.replace("\\\"", "\"").replace("\\n", "\n"))
}

/// A text without quotes continues over the lines that follow on it without a gap.
fn without_quotes(first: &str, following: &[&str]) -> (String, usize) {
    let goes_on = |line: &&&str| {
        let line = line.trim();
        !line.is_empty()
            && marked(line).is_none()
            && item(line).is_none()
            && line.split_once(" = ").is_none_or(|(name, _)| !crate::text::is_name(name))
            && !line.starts_with(['[', '<'])
            && !line.starts_with("```")
            && !line.starts_with("...")
    };
    let lines = following.iter().take_while(goes_on).count();
    let rest = following[..lines].iter().map(|line| line.trim());
    let text = std::iter::once(first).chain(rest).collect::<Vec<_>>().join("\n");
    (text, lines)
}

fn is_cut(text: &str) -> bool {
    let text = text.trim_end();
    text.ends_with("...") || text.ends_with('…') || text.ends_with("[truncated]") || text.ends_with("[...]")
}

/// The beginning of a text of which not all is there, with the dots that say so.
pub(super) fn start(raw: &str) -> String {
    let raw = raw.trim();
    let inner = raw.strip_prefix('"').unwrap_or(raw);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    serde_json::from_str(&format!("\"{inner}\"")).unwrap_or_else(|_| inner.to_owned())
}

/// The value of an input: JSON where it is such, and a text otherwise.
pub(super) fn input(read: Read, raw: &str) -> Result<Value, &'static str> {
    let remark = |text: &str| -> String {
        text.strip_suffix(')')
            .and_then(|text| text.rsplit_once(" (from "))
            .map_or(text, |(text, _)| text)
            .trim()
            .into()
    };
    if raw.trim().starts_with(['[', '{', '-', 't', 'f', 'n'])
        || raw.trim().starts_with(|c: char| c.is_ascii_digit())
    {
        let raw = remark(raw.trim());
        if let Ok(value) = serde_json::from_str(&raw) {
            return Ok(value);
        }
    }
    let text = read.whole("its value is not stated")?;
    let is_quoted = raw.trim().starts_with(['"', '\'', '“', '`']);
    Ok(Value::text(if is_quoted { text } else { remark(&text) }))
}

//! Beginnings of texts: a view of a run with many sessions has no room for whole ones.

use prose_syntax::text;
use prose_vm::effect::Usage;
use smol_str::SmolStr;

/// The longest text of a view in characters, such as the prompt of an input.
const MAX_TEXT: usize = 300;
/// The longest label of a node in characters.
const MAX_LABEL: usize = 120;

/// The beginning of a text.
pub(crate) fn shortened(text: &str) -> SmolStr {
    text::shorten(text, MAX_TEXT).into()
}

/// The first line that is not empty, shortened.
pub(crate) fn first_line(text: &str) -> SmolStr {
    text::shorten(text::first_line(text), MAX_LABEL).into()
}

/// The last line that is not empty, shortened.
pub(crate) fn last_line(text: &str) -> SmolStr {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    text::shorten(line.unwrap_or_default(), MAX_LABEL).into()
}

/// The first line of a value, with an ellipsis if there is more.
pub(crate) fn beginning(text: &str) -> SmolStr {
    let line = first_line(text);
    let is_whole = line.ends_with('…') || text.trim().len() == line.len();
    if is_whole { line } else { format!("{line}…").into() }
}

/// A duration in milliseconds: `40 ms`, `1.2 s`, `3 m 10 s`, `2 h 5 m`.
pub fn duration(ms: u64) -> String {
    let seconds = (ms + 500) / 1000;
    match ms {
        0..100 => format!("{ms} ms"),
        100..59_950 => format!("{:.1} s", ms as f64 / 1000.0),
        _ if seconds < 3600 => format!("{} m {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Tokens and cost: `1.2k tokens, $0.03`.
pub fn usage_text(usage: Usage) -> String {
    let count = usage.input_tokens.saturating_add(usage.output_tokens);
    let tokens = match count {
        0..1_000 => count.to_string(),
        1_000..99_950 => format!("{:.1}k", count as f64 / 1e3),
        99_950..999_500 => format!("{:.0}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    };
    match usage.cost {
        None => format!("{tokens} tokens"),
        Some(cost) if cost > 0.0 && cost < 0.01 => format!("{tokens} tokens, ${cost:.4}"),
        Some(cost) => format!("{tokens} tokens, ${cost:.2}"),
    }
}

/// What a total has more than a part of it; `None` if that is nothing.
pub(crate) fn difference(total: Usage, part: Usage) -> Option<Usage> {
    let cost = match (total.cost, part.cost) {
        (Some(total), Some(part)) if total == part => None,
        // What the provider reports at last may be less than what was estimated.
        (Some(total), part) => Some(total - part.unwrap_or_default()),
        (None, _) => None,
    };
    let rest = Usage { cost, ..total.less(part) };
    (rest != Usage::default()).then_some(rest)
}

/// `1 branch`, `2 branches`
pub(crate) fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

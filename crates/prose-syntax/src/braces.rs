//! Braces in texts: interpolations such as `{topic}`, and broken ones such as `{ topic }`, which are literal text.

use std::ops::Range;

use crate::names;

/// A broken interpolation: a name after a brace that was probably to be interpolated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenInterpolation {
    /// The range of the name.
    pub name: Range<usize>,
    /// The range from the brace to the end of the probable interpolation.
    pub range: Range<usize>,
    /// What is wrong with it.
    pub kind: BrokenInterpolationKind,
    /// The probable intention, if it is clear.
    pub meant: Option<String>,
}

/// What is wrong with the braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokenInterpolationKind {
    /// `{topic`
    Unclosed,
    /// `{ topic }`
    Spaces,
    /// `{topic.}`, `{topic[0}`
    Path,
    /// `{count + 1}`
    Expression,
}

/// The length of the interpolation at the start of `text`, if what is there has the form of one:
/// a name, then `.name`, `[3]` or `[name]`, without spaces. All else between braces is literal text.
pub(crate) fn interpolation_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1 + names::length(&text[1..], true)?;
    loop {
        match bytes.get(at)? {
            b'}' => return Some(at + 1),
            b'.' => at += 1 + names::length(&text[at + 1..], false)?,
            b'[' => {
                let inner = &text[at + 1..];
                let len = names::length(inner, true).or_else(|| digits_len(inner.as_bytes()))?;
                at += 1 + len;
                if bytes.get(at) != Some(&b']') {
                    return None;
                }
                at += 1;
            }
            _ => return None,
        }
    }
}

pub(crate) fn digits_len(bytes: &[u8]) -> Option<usize> {
    let len = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (len > 0).then_some(len)
}

/// The broken interpolations in the source of a one-line string. The caller checks which names
/// are those of variables. Words, lists and keys in braces are left alone: those are meant for the model.
pub fn broken_interpolations(text: &str) -> Vec<BrokenInterpolation> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(step) = text[at..].find(['\\', '{']) {
        at += step;
        if text[at..].starts_with('\\') {
            let escaped = text[at + 1..].chars().next();
            at += 1 + escaped.map_or(0, char::len_utf8);
            continue;
        }
        match interpolation_len(&text[at..]) {
            Some(len) => at += len,
            None => {
                found.extend(slip(text, at));
                at += 1;
            }
        }
    }
    found
}

fn slip(text: &str, open: usize) -> Option<BrokenInterpolation> {
    let behind = &text[open + 1..];
    let spaces = behind.len() - behind.trim_start_matches(' ').len();
    let start = open + 1 + spaces;
    let length = names::length(&text[start..], true)?;
    let name = start..start + length;
    let end = path_end(text, name.end);
    let rest = &text[end..];
    let slip = |range_end, kind, meant| {
        Some(BrokenInterpolation { name: name.clone(), range: open..range_end, kind, meant })
    };
    let path = &text[start..end];
    // As far as the brace that closes this one.
    let inside = rest.find(['{', '}']).filter(|at| rest[*at..].starts_with('}')).map(|at| &rest[..at]);
    match inside {
        Some(inside) => {
            let behind = end + inside.len() + 1;
            let is_index = |inside: &str| interpolation_len(&format!("{{{path}{inside}]}}")).is_some();
            match inside {
                _ if inside.trim_matches(' ').is_empty() => {
                    slip(behind, BrokenInterpolationKind::Spaces, Some(format!("{{{path}}}")))
                }
                "." => slip(behind, BrokenInterpolationKind::Path, Some(format!("{{{path}}}"))),
                _ if inside.starts_with('[') && is_index(inside) => {
                    slip(behind, BrokenInterpolationKind::Path, Some(format!("{{{path}{inside}]}}")))
                }
                _ if inside.starts_with(['.', '[', ']']) => slip(behind, BrokenInterpolationKind::Path, None),
                _ if inside.trim_start().starts_with(['(', '+', '?']) => {
                    slip(behind, BrokenInterpolationKind::Expression, None)
                }
                _ => None,
            }
        }
        // A sentence continues after it, but no list or object.
        None if spaces == 0 && (rest.is_empty() || rest.starts_with([' ', '.', ';', '!', '?', ')', ']'])) => {
            slip(end, BrokenInterpolationKind::Unclosed, Some(format!("{{{path}}}")))
        }
        None => None,
    }
}

/// Where the fields and indexes end that follow a name.
fn path_end(text: &str, mut end: usize) -> usize {
    loop {
        let rest = &text[end..];
        let step = match rest.as_bytes().first() {
            Some(b'.') => names::length(&rest[1..], false).map(|length| 1 + length),
            Some(b'[') => {
                let close = rest[1..].find(['[', ']', '{', '}']).map(|at| at + 1);
                close.filter(|at| rest[*at..].starts_with(']')).map(|at| at + 1)
            }
            _ => None,
        };
        // What has been taken is right if the braces could be closed after it.
        match step.filter(|step| interpolation_len(&format!("{{x{}}}", &rest[..*step])).is_some()) {
            Some(step) => end += step,
            None => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(BrokenInterpolationKind, Option<String>)> {
        broken_interpolations(text).into_iter().map(|slip| (slip.kind, slip.meant)).collect()
    }

    #[test]
    fn what_was_to_be_filled_in() {
        use BrokenInterpolationKind::*;
        let meant = |text: &str| Some(text.to_owned());
        assert_eq!(kinds("about {topic"), [(Unclosed, meant("{topic}"))]);
        assert_eq!(kinds("about {plan.title, or"), []);
        assert_eq!(kinds("about {plan.title."), [(Unclosed, meant("{plan.title}"))]);
        assert_eq!(kinds("about {topic and {place}"), [(Unclosed, meant("{topic}"))]);
        assert_eq!(
            kinds("about { topic }, { plan.title}"),
            [(Spaces, meant("{topic}")), (Spaces, meant("{plan.title}"))]
        );
        assert_eq!(
            kinds("about {topic.}, {topic[0}"),
            [(Path, meant("{topic}")), (Path, meant("{topic[0]}"))]
        );
        assert_eq!(kinds("about {topic[i + 1]}"), [(Path, None)]);
        assert_eq!(kinds("about {count + 1}, {title()}"), [(Expression, None), (Expression, None)]);
    }

    #[test]
    fn what_is_filled_in_or_text() {
        for text in [
            "{topic}",
            "{plan.title[0]}",
            "\\{ topic }",
            "{topic: 1}",
            "{topic, place}",
            "{topic of it}",
            "{",
            "{ \u{e9}",
        ] {
            assert_eq!(kinds(text), [], "{text}");
        }
    }
}

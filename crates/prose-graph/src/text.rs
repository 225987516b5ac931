//! How wide texts are, and what of them fits.
//!
//! What draws has no fonts. The widths are those of a wide font, so that texts in others fit as well.

use unicode_width::UnicodeWidthChar;

/// The size and weight of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The label of a node.
    Label,
    /// The start of a prompt.
    Detail,
}

/// The width of a text in pixels.
pub(crate) fn width(text: &str, style: Style) -> f64 {
    let size = match style {
        // Bold.
        Style::Label => 12.0 * 1.06,
        Style::Detail => 11.0,
    };
    text.chars().map(share).sum::<f64>() * size
}

/// The width of a character as a share of the size of the font.
fn share(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | 'I' | '|' | '!' | '.' | ',' | ':' | ';' | '\'' | '`' => 0.31,
        ' ' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '{' | '}' | '/' | '\\' | '-' | '"' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' | '0'..='9' | '#' | '$' | '&' | '+' | '<' | '>' | '=' | '~' | '^' | '?' => 0.67,
        '\0'..='\u{7f}' => 0.6,
        _ => match character.width() {
            Some(2) => 1.05,
            Some(0) => 0.0,
            _ => 0.66,
        },
    }
}

/// A text, with an ellipsis in place of what is wider.
pub(crate) fn fitted(text: &str, room: f64, style: Style) -> String {
    if width(text, style) <= room {
        return text.to_owned();
    }
    let mut left = room - width("…", style);
    let mut kept = String::new();
    for character in text.chars() {
        left -= width(character.encode_utf8(&mut [0; 4]), style);
        if left < 0.0 {
            break;
        }
        kept.push(character);
    }
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_too_wide_end_in_an_ellipsis() {
        assert_eq!(fitted("short", 100.0, Style::Label), "short");
        assert_eq!(fitted("a much longer text", 60.0, Style::Label), "a much…");
        assert_eq!(fitted("世界世界世界", 40.0, Style::Detail), "世界…");
        assert_eq!(fitted("anything", 0.0, Style::Label), "…");
    }
}

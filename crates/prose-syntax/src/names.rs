//! The syntax of names: letters and digits of Unicode identifiers, `_`, and `-` between two of these (L12).
//! The reference says "valid identifiers" and no more.

/// Whether a name can start with the character.
pub fn is_start(c: char) -> bool {
    c == '_' || unicode_ident::is_xid_start(c)
}

/// Whether the character can be in a name; a hyphen can only between two of these.
pub fn is_part(c: char) -> bool {
    unicode_ident::is_xid_continue(c)
}

/// Whether a text is a name.
pub fn is_name(text: &str) -> bool {
    length(text, true) == Some(text.len())
}

/// The length of the name at the start of a text.
pub(crate) fn length(text: &str, hyphens: bool) -> Option<usize> {
    let word = |text: &str| text.find(|c| !is_part(c)).unwrap_or(text.len());
    text.starts_with(is_start).then(|| {
        let mut length = word(text);
        while hyphens && text[length..].starts_with('-') && text[length + 1..].starts_with(is_part) {
            length += 1 + word(&text[length + 1..]);
        }
        length
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_script() {
        for name in ["a", "_", "draft_2", "on-fail", "größe", "élan-vital", "変数", "тема"] {
            assert!(is_name(name), "{name}");
        }
        for other in ["", "2nd", "a-", "-a", "a b", "a.b", "😀", "a→b", "“a”"] {
            assert!(!is_name(other), "{other}");
        }
    }
}

//! Shell commands in messages.

use std::borrow::Cow;

/// Quotes a text as one word of a shell, so that a displayed command can be copied.
pub fn word(text: &str) -> Cow<'_, str> {
    let is_plain = |character: char| character.is_alphanumeric() || "_-./:@%+=,\\".contains(character);
    // Windows paths have backslashes, which its shells do not interpret; other shells would remove them.
    let is_plain = |character: char| is_plain(character) && (cfg!(windows) || character != '\\');
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_more_into_them() {
        assert_eq!(word("/home/ada/flows-2/a.prose"), "/home/ada/flows-2/a.prose");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(word(""), "''");
        assert_eq!(word("$(reboot)"), "'$(reboot)'");
        assert_eq!(word("it's; x"), r"'it'\''s; x'");
    }
}

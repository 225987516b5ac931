//! Masks keys in what backends report.

use std::borrow::Cow;
use std::fmt;

/// What is shown in the place of a secret.
const MASK: &str = "[masked]";

/// The minimum length of a masked value in bytes: shorter ones occur in any text.
const MIN_LENGTH: usize = 8;

/// Texts that must not occur in reports, such as API keys.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Vec<Box<str>>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// Masks these texts, except those that are too short to be secrets.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let long = secrets.into_iter().filter(|secret| secret.len() >= MIN_LENGTH);
        let forms = long.flat_map(|secret| written_forms(&secret));
        let mut secrets: Vec<Box<str>> = forms.map(String::into_boxed_str).collect();
        // A secret that contains another one is masked as a whole.
        secrets.sort_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
        secrets.dedup();
        Self(secrets)
    }

    /// The values of the variables of an environment whose names look like those of keys.
    pub fn of_variables(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::new(variables.into_iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| value))
    }

    /// Whether nothing is masked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text with masked secrets.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        for secret in &self.0 {
            if masked.contains(&**secret) {
                masked = Cow::Owned(masked.replace(&**secret, MASK));
            }
        }
        masked
    }

    /// The end of the part of a text that can be masked before the rest of the text is known: what follows may be the beginning of a secret.
    pub fn known_end(&self, text: &str) -> usize {
        let open = |secret: &str| {
            let starts = text.char_indices().rev().take(secret.len());
            starts.filter(|(at, _)| secret.starts_with(&text[*at..]) && text.len() - at < secret.len()).last()
        };
        self.0.iter().filter_map(|secret| open(secret)).map(|(at, _)| at).min().unwrap_or(text.len())
    }
}

/// How a text can stand in what agents receive and report: as it is, in an object that is passed as JSON, and in JSON that is a text in JSON.
pub fn written_forms(text: &str) -> [String; 3] {
    let in_json = |text: &str| {
        let json = serde_json::Value::from(text).to_string();
        json[1..json.len() - 1].to_owned()
    };
    let once = in_json(text);
    let twice = in_json(&once);
    [text.to_owned(), once, twice]
}

/// Whether a variable holds a secret, as far as its name tells.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> = name.split('_').collect();
    let is_place = matches!(words.last(), Some(&("FILE" | "PATH" | "DIR" | "SOCK")));
    let is_key = |word: &&str| {
        ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS"].contains(word)
            || word.ends_with("KEY") && *word != "HOTKEY"
            || word.ends_with("TOKEN")
    };
    !is_place && words.iter().any(is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let variables = [
            ("ANTHROPIC_API_KEY", "sk-ant-12345678"),
            ("GITHUB_TOKEN", "ghp_abcdefgh"),
            ("SSH_KEY_FILE", "/home/ada/.ssh/id"),
            ("SHORT_SECRET", "abc"),
            ("HOME", "/home/ada/secret"),
        ];
        Secrets::of_variables(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn the_values_of_variables_that_look_like_keys_are_masked() {
        let text = "curl -H sk-ant-12345678 /home/ada/.ssh/id /home/ada/secret ghp_abcdefgh abc";
        assert_eq!(secrets().mask(text), "curl -H [masked] /home/ada/.ssh/id /home/ada/secret [masked] abc");
    }

    #[test]
    fn a_secret_that_may_begin_at_the_end_of_a_text_is_held_back() {
        let secrets = secrets();
        for (text, known) in [
            ("it is sk-ant", "it is "),
            ("it is g", "it is "),
            ("nothing", "nothin"),
            ("sk-x", "sk-x"),
            ("ä", "ä"),
        ] {
            assert_eq!(&text[..secrets.known_end(text)], known);
        }
    }
}

//! Markup in the form that the client supports.

use serde_json::{Value, json};

/// The markup in which a client shows documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Markup {
    Markdown,
    /// Plain: a client without this capability may show every mark.
    #[default]
    Plain,
}

impl Markup {
    /// The best markup among the formats of a client.
    pub(crate) fn negotiate(formats: Option<&Value>) -> Self {
        let formats = formats.and_then(Value::as_array);
        match formats.is_some_and(|formats| formats.iter().any(|format| format == "markdown")) {
            true => Markup::Markdown,
            false => Markup::Plain,
        }
    }

    /// A text that is given as Markdown, as the `MarkupContent` of the protocol.
    pub(crate) fn content(self, markdown: &str) -> Value {
        match self {
            Markup::Markdown => json!({ "kind": "markdown", "value": markdown }),
            Markup::Plain => json!({ "kind": "plaintext", "value": plain(markdown) }),
        }
    }
}

/// The text without the marks of Markdown that `prose-ide` writes: fences, code in lines, bold words and escapes.
fn plain(markdown: &str) -> String {
    let mut lines = Vec::new();
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        let marks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => lines.push(line.to_owned()),
            None if marks.len() >= 3 && !line[marks.len()..].contains('`') => fence = Some(marks),
            None => lines.push(plain_line(line)),
        }
    }
    lines.join("\n")
}

fn plain_line(line: &str) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        let marks = &rest[..rest.len() - rest.trim_start_matches('`').len()];
        let behind = &rest[marks.len()..];
        // Text between the same number of backticks is code.
        if let Some((code, after)) = (!marks.is_empty()).then(|| behind.split_once(marks)).flatten() {
            shown.push_str(code.trim());
            rest = after;
        } else if let Some(after) = rest.strip_prefix("**") {
            rest = after;
        } else if let Some(escaped) =
            rest.strip_prefix('\\').and_then(|after| after.chars().next()).filter(char::is_ascii_punctuation)
        {
            shown.push(escaped);
            rest = &rest[1 + escaped.len_utf8()..];
        } else {
            shown.push(char);
            rest = &rest[char.len_utf8()..];
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_marks() {
        let markdown = "```prose\nagent a: # `b` **c**\n```\n\nNeeds `web-search`, \\<b> and \\\\.\n\n- `` a`b ``: **all** of `**`\n\n````text\n```\n````";
        assert_eq!(
            plain(markdown),
            "agent a: # `b` **c**\n\nNeeds web-search, <b> and \\.\n\n- a`b: all of **\n\n```"
        );
        assert_eq!(plain("one ` alone, and größe"), "one ` alone, and größe");
    }

    #[test]
    fn a_client_gets_the_format_that_it_knows() {
        let formats = json!(["plaintext", "markdown"]);
        assert_eq!(Markup::negotiate(Some(&formats)), Markup::Markdown);
        assert_eq!(Markup::negotiate(Some(&json!(["plaintext"]))), Markup::Plain);
        assert_eq!(Markup::negotiate(Some(&json!("markdown"))), Markup::Plain);
        assert_eq!(Markup::negotiate(None).content("`a`"), json!({ "kind": "plaintext", "value": "a" }));
    }
}

//! What is wrong with a file in TOML, in one line.

/// The line that an error is in.
pub(crate) fn line(text: &str, error: &toml::de::Error) -> usize {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    before.matches('\n').count() + 1
}

/// Where an error is, and what it is. The message of the parser would show the line as well, over several lines.
pub(crate) fn reason(text: &str, error: &toml::de::Error) -> String {
    format!("line {}: {}", line(text, error), error.message().trim().replace('\n', "; "))
}

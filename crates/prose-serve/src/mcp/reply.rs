//! The results of tools: texts of a bounded size, with the same as JSON where a program may want it. Some clients show only the JSON, so that it has all
//! that the text has.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

/// The maximum length of a result in bytes: some 10,000 tokens.
pub(super) const MAX_TEXT: usize = 40_000;

/// The result of a tool.
#[derive(Debug, Default)]
pub(super) struct Reply {
    text: String,
    facts: Option<Value>,
    is_error: bool,
}

impl Reply {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// What keeps a tool from its work.
    pub(super) fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, facts: None }
    }

    pub(super) fn with_facts(self, facts: Value) -> Self {
        Self { facts: Some(facts), ..self }
    }
}

impl From<Reply> for CallToolResult {
    fn from(reply: Reply) -> Self {
        let content = vec![ContentBlock::text(bounded(reply.text))];
        let mut result =
            if reply.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        // A client that shows only the JSON shows the text where the JSON is too long.
        result.structured_content = reply.facts.filter(|facts| facts.to_string().len() <= MAX_TEXT);
        result
    }
}

/// The lines of a text that the server has not written: a prompt, a reply, an error of a program. The mark keeps them apart from lines of the server.
pub(super) fn data(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let text = text.strip_suffix('\n').unwrap_or(&text);
    // Whatever some client shows as the end of a line.
    let ends = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    text.split(ends).map(|line| format!("| {line}\n")).collect()
}

/// A text without its end, if it is too long for a result.
fn bounded(mut text: String) -> String {
    let length = text.len();
    if length > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push_str(&format!("\n… ({length} bytes; the first {} are shown)", text.len()));
    }
    text
}

//! Texts of runs in attributes: prompts, replies, questions and messages of errors. They are sent only if that is switched on, and without what exports of runs
//! redact.

use std::fmt;

use serde_json::json;

/// Replaces what must not leave the machine; `None` if a text has nothing of that.
pub type Redact = Box<dyn Fn(&str) -> Option<String> + Send>;

/// How texts are sent.
pub(crate) struct Content {
    redact: Redact,
    max_text: usize,
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").field("max_text", &self.max_text).finish_non_exhaustive()
    }
}

impl Content {
    pub(crate) fn new(redact: Redact, max_text: usize) -> Self {
        Self { redact, max_text }
    }

    /// A text without what is redacted, and shortened. It is redacted first, since a part of a secret would not be found.
    pub(crate) fn text(&self, text: &str) -> String {
        let redacted = (self.redact)(text);
        let text = redacted.as_deref().unwrap_or(text);
        match text.char_indices().nth(self.max_text) {
            Some((end, _)) => text[..end].to_owned(),
            None => text.to_owned(),
        }
    }

    /// A prompt, in the form of the conventions.
    pub(crate) fn input(&self, prompt: &str) -> String {
        json!([{ "role": "user", "parts": [{ "type": "text", "content": self.text(prompt) }] }]).to_string()
    }

    /// The system part of a prompt.
    pub(crate) fn system(&self, system: &str) -> String {
        json!([{ "type": "text", "content": self.text(system) }]).to_string()
    }

    /// A reply.
    pub(crate) fn output(&self, reply: &str) -> String {
        json!([{
            "role": "assistant",
            "parts": [{ "type": "text", "content": self.text(reply) }],
            "finish_reason": "stop",
        }])
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_redacted_before_they_are_shortened() {
        let redact = |text: &str| text.contains("secret").then(|| text.replace("secret", "[redacted]"));
        let content = Content::new(Box::new(redact), 8);
        assert_eq!(content.text("a secret"), "a [redac");
        assert_eq!(content.text("äöüäöüäöü"), "äöüäöüäö");
        assert_eq!(content.input("hi"), r#"[{"parts":[{"content":"hi","type":"text"}],"role":"user"}]"#);
    }
}

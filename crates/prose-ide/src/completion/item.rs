//! A completion and its snippet.

use prose_syntax::TextRange;

/// The kind of a completion, for its icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompletionKind {
    /// A keyword, perhaps with what follows it
    Keyword,
    /// An agent
    Agent,
    /// A block
    Block,
    /// An imported program
    Program,
    /// A variable
    Variable,
    /// A constant
    Constant,
    /// A parameter of a block, an input of a program
    Parameter,
    /// A property or an option
    Property,
    /// A word that stands for itself: a model, a strategy, a permission
    Value,
    /// An output of a program, after a dot
    Field,
    /// The path of a program
    File,
    /// A postfix completion
    Snippet,
}

/// A completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The label in the list.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// The detail after the label.
    pub detail: Option<String>,
    /// Its documentation, as Markdown.
    pub documentation: Option<String>,
    /// The range to replace: the whole word around the cursor.
    pub range: TextRange,
    /// The text to insert.
    pub text: String,
    /// The snippet to insert where snippets are supported. Its lines after the first are indented relative to the current line.
    pub snippet: Option<String>,
    /// The text to filter by; none for the label.
    pub filter: Option<String>,
    /// Whether completion is triggered again after the insertion.
    pub continues: bool,
    /// Its place in the list.
    pub order: u32,
}

impl Completion {
    pub(super) fn new(kind: CompletionKind, label: impl Into<String>, range: TextRange) -> Self {
        let label = label.into();
        Self {
            text: label.clone(),
            label,
            kind,
            detail: None,
            documentation: None,
            range,
            snippet: None,
            filter: None,
            continues: false,
            order: 0,
        }
    }

    pub(super) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into()).filter(|detail| !detail.is_empty());
        self
    }

    pub(super) fn documentation(mut self, documentation: impl Into<String>) -> Self {
        self.documentation = Some(documentation.into()).filter(|documentation| !documentation.is_empty());
        self
    }

    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    pub(super) fn filter(mut self, filter: impl Into<String>) -> Self {
        self.filter = Some(filter.into());
        self
    }

    /// Writes a snippet; where snippets are not understood, what comes before its first gap.
    pub(super) fn snippet(mut self, snippet: impl Into<String>) -> Self {
        let snippet = snippet.into();
        self.text = before_gap(&snippet);
        self.snippet = has_gap(&snippet).then_some(snippet);
        self
    }

    pub(super) fn continues(mut self) -> Self {
        self.continues = true;
        self
    }
}

/// A sentence with what else is to be known, as Markdown.
pub(super) fn explained(summary: &str, docs: &str) -> String {
    if docs.is_empty() { summary.to_owned() } else { format!("{summary}\n\n{docs}") }
}

/// A text as part of a snippet.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '$' | '}') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn has_gap(snippet: &str) -> bool {
    unescaped(snippet).any(|(c, is_escaped)| c == '$' && !is_escaped)
}

/// The characters of a snippet without backslashes that escape, and whether they were escaped.
fn unescaped(snippet: &str) -> impl Iterator<Item = (char, bool)> {
    let mut chars = snippet.chars();
    std::iter::from_fn(move || match chars.next()? {
        '\\' => chars.next().map(|c| (c, true)),
        c => Some((c, false)),
    })
}

/// The first line of a snippet up to its first gap, without a quote or bracket that nothing would close.
fn before_gap(snippet: &str) -> String {
    let text: String = unescaped(snippet)
        .take_while(|&(c, is_escaped)| is_escaped || !matches!(c, '$' | '\n'))
        .map(|(c, _)| c)
        .collect();
    if !has_gap(snippet) {
        return text;
    }
    text.trim_end_matches(['"', '*', '(', '[', '{']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(snippet: &str, text: &str) {
        assert_eq!(before_gap(snippet), text);
    }

    #[test]
    fn the_plain_form_of_a_snippet_ends_before_its_first_gap() {
        check("session \"$1\"", "session ");
        check("try:\n  $0", "try:");
        check("if **${1:so}**:\n  $0", "if ");
        check("review(${1:topic})", "review");
        check("break", "break");
        check("cost\\$ $1", "cost$ ");
    }

    #[test]
    fn texts_are_escaped_in_snippets() {
        assert_eq!(escape("a}$\\"), "a\\}\\$\\\\");
    }
}

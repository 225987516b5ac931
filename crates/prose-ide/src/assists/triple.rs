//! Converting a string to a triple-quoted one.

use prose_syntax::ast::{AstNode, Part, Property, Str, Template};
use prose_syntax::{SyntaxKind, TextEdit, TextRange};

use super::Assist;
use super::source::{INDENT, Source, Used, end};

/// The same text between triple quotes, with line breaks where it has `\n`.
pub(super) fn to_triple(source: &Source<'_>) -> Option<Assist> {
    let string: Str = source.node()?;
    let node = string.syntax();
    if string.is_triple() || source.has_errors(node.text_range()) {
        return None;
    }
    let owner = node.parent()?;
    let can_be_long = match owner.kind() {
        SyntaxKind::SESSION | SyntaxKind::LET | SyntaxKind::ASSIGNMENT | SyntaxKind::OUTPUT => true,
        SyntaxKind::PROPERTY => Property::cast(owner)?.name()?.text() == "prompt",
        _ => false,
    };
    // What continues after the string would have to continue after the closing quotes.
    let rest = &source.text[TextRange::new(end(node), source.line_end(end(node)))];
    let goes_on = !rest.trim().is_empty() && !rest.trim_start().starts_with('#');
    if !can_be_long || goes_on {
        return None;
    }
    // An unknown name is a mistake on one line, and text on several.
    let names = source.names();
    let is_unknown =
        |used: &&Used<'_>| node.text_range().contains_range(used.range) && !used.resolved.is_found();
    if names.used.iter().any(|used| is_unknown(&used)) {
        return None;
    }
    let line = source.line_start(node.text_range().start());
    let before = &source.text[TextRange::new(line, node.text_range().start())];
    let spaces = &before[..before.len() - before.trim_start_matches(' ').len()];
    let margin = format!("{spaces}{INDENT}");
    let mut content = String::new();
    for part in string.parts() {
        match part {
            Part::Text(token) => content += token.text(),
            Part::Escape(token) if token.text() == "\\n" => content.push('\n'),
            Part::Escape(token) if token.text() == "\\\"" => content.push('"'),
            Part::Escape(token) => content += token.text(),
            Part::Interpolation(node) => content += &node.syntax().text().to_string(),
        }
    }
    let words = || content.split('\n').filter(|line| !line.trim().is_empty());
    // The margin of a text is what all its lines start with, so one line has to start with a word. Quotes in a row could end the text, and
    // a line break of another kind would be read as one that stands for `\n`.
    let has_margin = words().next().is_some() && words().any(|line| !line.starts_with([' ', '\t']));
    if !has_margin || content.contains("\"\"") || content.contains('\r') || opens_text(&content) {
        return None;
    }
    let mut text = "\"\"\"".to_owned();
    for line in content.split('\n') {
        text += source.line_break();
        if !line.is_empty() {
            text += &margin;
            text += line;
        }
    }
    text += source.line_break();
    text += &margin;
    text += "\"\"\"";
    Some(Assist::rewrite(
        "Convert to a triple-quoted string",
        vec![TextEdit::replace(node.text_range(), text)],
    ))
}

/// Whether a line could be taken for the end of the text, or for the beginning of one in it.
fn opens_text(content: &str) -> bool {
    content.split('\n').any(|line| line.ends_with(['"', '\\']))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    const LABEL: &str = "Convert to a triple-quoted";

    #[test]
    fn a_prompt_gets_its_line_breaks() {
        check(
            LABEL,
            r#"
            input topic: "What about"
            let x = session "Write about {topic}:$0\n- \"short\" lines\n\n  - no \\ and \{ no }"  # why
            "#,
            expect![[r#"
                input topic: "What about"
                let x = session """
                  Write about {topic}:
                  - "short" lines

                    - no \\ and \{ no }
                  """  # why
            "#]],
        );
        check(
            LABEL,
            "block b:\r\n  session: a\r\n    prompt: \"on$0e\\ntwo\"\r\n",
            expect![[r#"
                block b:␍
                  session: a␍
                    prompt: """␍
                      one␍
                      two␍
                      """␍
            "#]],
        );
    }

    #[test]
    fn texts_that_would_not_be_the_same_stay() {
        for text in [
            r#"session "$0""#,
            r#"session "$0  margin""#,
            r#"session "$0a \"\"\" b""#,
            r#"session "$0he said \"no\"""#,
            r#"session "a$0" -> session "b""#,
            r#"session """$0 long already """"#,
            r#"use "al$0ice/x""#,
            r#"session "about {n$0othing}""#,
        ] {
            check_none(LABEL, &format!("{text}\n"));
        }
    }
}

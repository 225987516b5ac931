//! Selection ranges.

use prose_syntax::{SyntaxKind, SyntaxKind::*, SyntaxNode, SyntaxToken, TextRange, TextSize};

use crate::element::token_at;
use prose_syntax::lines::{line_end, line_start};

/// The ranges around `offset`, the smallest first, each around the one before it and larger.
pub fn selection_ranges(root: &SyntaxNode, offset: TextSize) -> Vec<TextRange> {
    let file = root.text_range();
    let offset = offset.min(file.end());
    let mut ranges = Vec::new();
    if let Some(token) = token_at(root, offset, weight) {
        match token.kind() {
            TEXT => ranges.push(word(&token, offset)),
            COMMENT => ranges.extend([word(&token, offset), token.text_range()]),
            // The space between two words is not selected before its line.
            WHITESPACE | NEWLINE => {}
            _ => ranges.push(token.text_range()),
        }
        for node in token.parent_ancestors() {
            if let Some(inside) = inside_of_literal(&node).filter(|inside| inside.contains_inclusive(offset))
            {
                ranges.extend([line(root, inside, offset), inside]);
            }
            ranges.push(node.text_range());
        }
    }
    ranges.push(file);
    let mut last = TextRange::empty(offset);
    ranges.retain(|range| {
        let grows = *range != last && range.contains_range(last);
        if grows {
            last = *range;
        }
        grows
    });
    ranges
}

fn weight(kind: SyntaxKind) -> u8 {
    match kind {
        WHITESPACE | NEWLINE => 0,
        kind if kind.is_keyword() => 3,
        IDENT | NUMBER | DURATION | TEXT | ESCAPE => 3,
        COMMENT => 2,
        _ => 1,
    }
}

/// The word at `offset`, which may be empty.
fn word(token: &SyntaxToken, offset: TextSize) -> TextRange {
    let (before, after) = token.text().split_at((offset - token.text_range().start()).into());
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let before = TextSize::of(before) - TextSize::of(before.trim_end_matches(is_part));
    let after = TextSize::of(after) - TextSize::of(after.trim_start_matches(is_part));
    TextRange::new(offset - before, offset + after)
}

/// The line at `offset`, as far as it lies in `range`, without the space around it.
fn line(root: &SyntaxNode, range: TextRange, offset: TextSize) -> TextRange {
    let text = root.text().slice(range).to_string();
    let at = usize::from(offset - range.start());
    let before = text[line_start(&text, at)..at].trim_start();
    let after = text[at..line_end(&text, at)].trim_end();
    TextRange::new(offset - TextSize::of(before), offset + TextSize::of(after))
}

/// What is between the quotes of a string or the markers of a condition.
fn inside_of_literal(node: &SyntaxNode) -> Option<TextRange> {
    let (first, last) = (node.first_token()?, node.last_token()?);
    let is_literal =
        matches!(node.kind(), STRING | DISCRETION) && first != last && first.kind() == last.kind();
    is_literal.then(|| TextRange::new(first.text_range().end(), last.text_range().start()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Shows the ranges around `$0`, one a line.
    #[track_caller]
    fn check(marked: &str, expected: Expect) {
        let (before, after) = marked.split_once("$0").unwrap();
        let text = format!("{before}{after}");
        let root = prose_syntax::parse(&text).syntax();
        let ranges = selection_ranges(&root, TextSize::of(before));
        let shown: String = ranges.iter().map(|range| format!("{:?}\n", &text[*range])).collect();
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_name_grows_to_its_statement_and_the_file() {
        check(
            "let draft = session: wri$0ter\n  prompt: \"Write\"\nsession \"b\"\n",
            expect![[r#"
                "writer"
                "session: writer\n  prompt: \"Write\""
                "let draft = session: writer\n  prompt: \"Write\""
                "let draft = session: writer\n  prompt: \"Write\"\nsession \"b\"\n"
            "#]],
        );
    }

    #[test]
    fn a_word_grows_to_its_line_its_text_and_the_string() {
        check(
            "session \"\"\"\n  Write ab$0out {topic} now.\n  Then stop.\n\"\"\"\nsession \"b\"\n",
            expect![[r#"
                "about"
                "Write about {topic} now."
                "\n  Write about {topic} now.\n  Then stop.\n"
                "\"\"\"\n  Write about {topic} now.\n  Then stop.\n\"\"\""
                "session \"\"\"\n  Write about {topic} now.\n  Then stop.\n\"\"\""
                "session \"\"\"\n  Write about {topic} now.\n  Then stop.\n\"\"\"\nsession \"b\"\n"
            "#]],
        );
    }

    #[test]
    fn an_interpolation_grows_to_its_line() {
        check(
            "session \"\"\"\n  Write about {to$0pic} now.\n  Then stop.\n\"\"\"\n",
            expect![[r#"
            "topic"
            "{topic}"
            "Write about {topic} now."
            "\n  Write about {topic} now.\n  Then stop.\n"
            "\"\"\"\n  Write about {topic} now.\n  Then stop.\n\"\"\""
            "session \"\"\"\n  Write about {topic} now.\n  Then stop.\n\"\"\""
            "session \"\"\"\n  Write about {topic} now.\n  Then stop.\n\"\"\"\n"
        "#]],
        );
    }

    #[test]
    fn between_two_tokens_the_word_counts() {
        check(
            "session \"a\"$0\n",
            expect![[r#"
            "\""
            "\"a\""
            "session \"a\""
            "session \"a\"\n"
        "#]],
        );
        check(
            "let x = f(a$0, b)\n",
            expect![[r#"
            "a"
            "(a, b)"
            "f(a, b)"
            "let x = f(a, b)"
            "let x = f(a, b)\n"
        "#]],
        );
    }

    #[test]
    fn space_selects_what_it_stands_in() {
        check(
            "if **so**:\n  session \"a\"\n $0 session \"b\"\n",
            expect![[r#"
            "session \"a\"\n  session \"b\""
            "if **so**:\n  session \"a\"\n  session \"b\""
            "if **so**:\n  session \"a\"\n  session \"b\"\n"
        "#]],
        );
    }

    #[test]
    fn comments_have_words() {
        check(
            "session \"a\" # why n$0ot\n",
            expect![[r##"
            "not"
            "# why not"
            "session \"a\" # why not\n"
        "##]],
        );
    }

    #[test]
    fn an_empty_file_has_its_empty_range() {
        check("$0", expect![[r#""#]]);
    }
}

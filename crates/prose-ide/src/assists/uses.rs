//! Organizing imports.

use prose_syntax::ast::{AstNode, Statement, Template, Use};
use prose_syntax::{SyntaxNode, TextEdit, TextRange};

use super::source::{Source, end};
use super::{Assist, AssistKind};

/// All `use` lines above the first statement, those of the network first and then those of this machine, by their paths, each with the comments
/// that belong to it. They all run before anything else wherever they stand (R5).
pub(super) fn organize(source: &Source<'_>) -> Option<Assist> {
    let statements: Vec<SyntaxNode> = source.root.children().collect();
    let uses: Vec<Use> = statements.iter().cloned().filter_map(Use::cast).collect();
    let first = statements.iter().find(|node| Statement::can_cast(node.kind()))?;
    let mut lines = Vec::new();
    for node in &uses {
        let syntax = node.syntax();
        let path = node.path()?.text();
        source.indent(syntax).filter(|indent| indent.is_empty())?;
        if source.has_errors(syntax.text_range()) {
            return None;
        }
        // The comment at the top of the file is about the file.
        let start = match source.start_with_comments(syntax) {
            start if syntax == first => start.max(source.line_start(syntax.text_range().start())),
            start => start,
        };
        let range = TextRange::new(start, source.next_line(end(syntax)));
        lines.push((path, range));
    }
    // Of two imports under one name or of one path, the first counts.
    let mut names: Vec<String> = uses.iter().filter_map(name).collect();
    names.sort();
    names.dedup();
    if lines.is_empty() || names.len() < lines.len() {
        return None;
    }
    let mut sorted: Vec<usize> = (0..lines.len()).collect();
    sorted.sort_by_key(|line| (lines[*line].0.starts_with(['.', '/']), lines[*line].0.clone()));
    let is_together = statements.iter().zip(&uses).all(|(statement, node)| statement == node.syntax());
    if is_together && sorted.is_sorted() {
        return None;
    }
    let mut text = String::new();
    for line in sorted {
        let line = &source.text[lines[line].1];
        text += line;
        if !line.ends_with(['\n', '\r']) {
            text += source.line_break();
        }
    }
    let mut edits = if uses[0].syntax() == first {
        vec![TextEdit::replace(lines[0].1, text)]
    } else {
        text += source.line_break();
        let insertion = TextEdit::insert(source.start_with_comments(first), text);
        vec![insertion, TextEdit::replace(removed(source, lines[0].1), "")]
    };
    edits.extend(lines.iter().skip(1).map(|(_, range)| TextEdit::replace(removed(source, *range), "")));
    Some(Assist::new("Organize imports", AssistKind::Organize, edits))
}

/// A line that goes, with the blank lines below it if there are some above it.
fn removed(source: &Source<'_>, range: TextRange) -> TextRange {
    let above = source.text[..usize::from(range.start())].trim_end_matches(' ');
    let is_apart = above.ends_with("\n\n") || above.ends_with("\n\r\n") || above.is_empty();
    let end = if is_apart { source.after_blank_lines(range.end()) } else { range.end() };
    TextRange::new(range.start(), end)
}

/// What an import is called by: its alias, or the last part of its path.
fn name(node: &Use) -> Option<String> {
    let path = node.path()?.text();
    let last = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".prose").to_owned();
    Some(node.alias().map_or(last, |alias| alias.text()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    const LABEL: &str = "Organize imports";

    #[test]
    fn imports_are_sorted_with_their_comments() {
        check(
            LABEL,
            r#"
            # What the program does

            use "./parts/b.prose"  # ours
            # Reads.
            use "bob/read" as read
            use "alice/write"
            session "x"

            use "./a.prose"

            session "y"
            "#,
            expect![[r#"
                # What the program does

                use "alice/write"
                # Reads.
                use "bob/read" as read
                use "./a.prose"
                use "./parts/b.prose"  # ours
                session "x"

                session "y"
            "#]],
        );
    }

    #[test]
    fn imports_come_before_all_else() {
        check(
            LABEL,
            "input x: \"y\"\r\nuse \"b/b\"\r\nuse \"a/a\"\r\n",
            expect![[r#"
                use "a/a"␍
                use "b/b"␍
                ␍
                input x: "y"␍
            "#]],
        );
    }

    #[test]
    fn what_is_in_order_or_unclear_stays() {
        check_none(LABEL, "# $0\nuse \"a/a\"\n\nuse \"b/b\"\nsession \"x\"\n");
        check_none(LABEL, "session$0 \"x\"\n");
        check_none(LABEL, "use \"b/$0x\"\nuse \"a/x\"\n");
        check_none(LABEL, "use \"b/$0x\"\nuse a/y\n");
    }
}

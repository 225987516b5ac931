//! Surrounding statements with `try` and `catch`.

use prose_syntax::ast::{AstNode, Try};
use prose_syntax::{SyntaxKind, TextEdit};

use super::Assist;
use super::source::{INDENT, Source, are_branches};

/// A `catch` for a `try` that has none. It throws the error again, as if it were not there.
pub(super) fn add_catch(source: &Source<'_>) -> Option<Assist> {
    let node: Try = source.node()?;
    let syntax = node.syntax();
    let is_at_keyword = source.is_in_header(syntax);
    if node.catches().next().is_some() || node.finally().is_none() || !is_at_keyword {
        return None;
    }
    let body = node.body()?;
    if source.has_errors(syntax.text_range()) {
        return None;
    }
    // `x = try:` has its clauses below the `x`.
    let statement = syntax
        .ancestors()
        .take_while(|node| node.kind() != SyntaxKind::BLOCK)
        .find(|node| source.indent(node).is_some())?;
    let indent = source.indent(&statement)?;
    let at = source.end_with_comments(body.syntax(), indent);
    let line_break = source.line_break();
    let error = source.free_name("error");
    let head = format!("{line_break}{indent}catch as ");
    let text = format!("{head}{error}:{line_break}{indent}{INDENT}throw");
    let assist = Assist::rewrite("Add a `catch`", vec![TextEdit::insert(at, text)]);
    Some(assist.naming(0, head.len(), &error))
}

/// Selected statements in a `try` with a `catch`.
pub(super) fn surround(source: &Source<'_>) -> Option<Assist> {
    let selection = source.selection()?;
    // A branch or an input cannot be in a body, and a definition does nothing that could fail.
    let can_fail = |node: &prose_syntax::SyntaxNode| {
        !matches!(
            node.kind(),
            SyntaxKind::USE
                | SyntaxKind::IMPORT
                | SyntaxKind::INPUT
                | SyntaxKind::AGENT
                | SyntaxKind::BLOCK_DEF
        )
    };
    // A bare `throw` would throw what this catches.
    let throws_again = |node: &prose_syntax::SyntaxNode| {
        let throws = node.descendants().filter_map(prose_syntax::ast::Throw::cast);
        throws.into_iter().any(|throw| throw.message().is_none())
    };
    if are_branches(&selection.list)
        || !selection.statements.iter().all(can_fail)
        || selection.statements.iter().any(throws_again)
    {
        return None;
    }
    let indent = &selection.indent;
    let lifted = format!("{indent}{INDENT}");
    let line_break = source.line_break();
    let mut edits = source.moves(selection.range, indent, &lifted)?;
    edits.first_mut()?.new_text = format!("{indent}try:{line_break}{lifted}");
    let error = source.free_name("error");
    let head = format!("{line_break}{indent}catch as ");
    let text = format!("{head}{error}:{line_break}{lifted}throw");
    edits.push(TextEdit::insert(selection.range.end(), text));
    let last = edits.len() - 1;
    Some(Assist::rewrite("Surround with `try` and `catch`", edits).naming(last, head.len(), &error))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    #[test]
    fn a_try_gets_a_catch() {
        check(
            "Add a `catch`",
            r#"
            repeat 2:
              tr$0y:
                session "x"  # may fail

                # That was it.
              # At last
              finally:
                session "z"
            "#,
            expect![[r#"
                repeat 2:
                  try:
                    session "x"  # may fail

                    # That was it.
                  catch as «error»:
                    throw
                  # At last
                  finally:
                    session "z"
            "#]],
        );
        check_none("Add a `catch`", "try$0:\n  session \"x\"\ncatch:\n  session \"y\"\n");
        check_none("Add a `catch`", "try:\n  ses$0sion \"x\"\nfinally:\n  session \"y\"\n");
    }

    #[test]
    fn statements_are_surrounded() {
        check(
            "Surround with",
            "block b:\r\n  # Why\r\n  $0let error = session \"x\"\r\n    model: opus\r\n\r\n  session \"{error}\"$0  # last\r\n",
            expect![[r#"
                block b:␍
                  # Why␍
                  try:␍
                    let error = session "x"␍
                      model: opus␍
                ␍
                    session "{error}"  # last␍
                  catch as «error_2»:␍
                    throw␍
            "#]],
        );
        check_none("Surround with", "parallel:\n  $0session \"x\"$0\n  session \"y\"\n");
        check_none("Surround with", "$0input x: \"y\"\nsession \"{x}\"$0\n");
        check_none("Surround with", "try:\n  session \"x\"\ncatch:\n  $0throw$0\n");
    }
}

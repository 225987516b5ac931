//! `session "a" -> session "b"` and the same as statements below each other (R34).

use prose_syntax::ast::{ArrowChain, AstNode, Session, Statement, Value};
use prose_syntax::chains::as_statements;
use prose_syntax::{SyntaxKind, SyntaxNode, TextEdit, TextRange};

use super::Assist;
use super::source::{Source, are_branches, end};

/// Each session of an arrow chain as a statement. Where the chain is a value, the last of them is.
pub(super) fn to_statements(source: &Source<'_>) -> Option<Assist> {
    let chain: ArrowChain = source.node()?;
    if source.has_errors(chain.syntax().text_range()) {
        return None;
    }
    Some(Assist::rewrite("Convert the arrow chain to statements", as_statements(&chain, source.text)?))
}

/// Selected sessions that follow each other as one arrow chain.
pub(super) fn to_chain(source: &Source<'_>) -> Option<Assist> {
    let selection = source.selection()?;
    let (last, earlier) = selection.statements.split_last()?;
    if earlier.is_empty() || are_branches(&selection.list) {
        return None;
    }
    // Below a session with properties, only a statement could continue with the chain.
    let is_plain = |node: &SyntaxNode| match Statement::cast(node.clone()) {
        Some(Statement::Session(session)) => is_on_one_line(source, &session),
        Some(Statement::Resume(resume)) => resume.properties().next().is_none(),
        _ => false,
    };
    let value = match Statement::cast(last.clone())? {
        Statement::Let(node) => node.name().and(node.value()),
        Statement::Assignment(node) => node.value(),
        Statement::Output(node) => node.value(),
        Statement::Return(node) => node.value(),
        statement => Some(Value::Statement(statement)),
    };
    let value = value?.syntax().clone();
    if !earlier.iter().all(is_plain) || !matches!(value.kind(), SyntaxKind::SESSION | SyntaxKind::RESUME) {
        return None;
    }
    let mut edits = Vec::new();
    let head = TextRange::new(last.text_range().start(), value.text_range().start());
    let first = &earlier[0];
    if !head.is_empty() {
        edits.push(TextEdit::insert(first.text_range().start(), &source.text[head]));
    }
    for pair in selection.statements.windows(2) {
        let next = if pair[1] == *last { value.text_range().start() } else { pair[1].text_range().start() };
        let gap = TextRange::new(end(&pair[0]), next);
        // A comment between two sessions has no place in a chain.
        let between = TextRange::new(gap.start(), pair[1].text_range().start());
        if !source.text[between].trim().is_empty() {
            return None;
        }
        edits.push(TextEdit::replace(gap, " -> "));
    }
    Some(Assist::rewrite("Convert the sessions to an arrow chain", edits))
}

fn is_on_one_line(source: &Source<'_>, session: &Session) -> bool {
    session.properties().next().is_none() && !source.code(session.syntax()).contains(['\n', '\r'])
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    const SPLIT: &str = "Convert the arrow chain";
    const JOIN: &str = "Convert the sessions";

    #[test]
    fn a_chain_becomes_statements() {
        check(
            SPLIT,
            r#"
            # Three steps
            session "Plan" $0-> session "Do" -> session "Check"  # at last
            session "Next"
            "#,
            expect![[r#"
                # Three steps
                session "Plan"
                session "Do"
                session "Check"  # at last
                session "Next"
            "#]],
        );
    }

    #[test]
    fn the_last_session_gives_the_value_and_properties_stay_with_theirs() {
        check(
            SPLIT,
            r#"
            block b:
              let report = session "Plan"$0 -> session "Do"
                model: opus
              session "Use {report}"
            "#,
            expect![[r#"
                block b:
                  session "Plan"
                  let report = session "Do"
                    model: opus
                  session "Use {report}"
            "#]],
        );
        check(
            SPLIT,
            "session \"a\"\r\n  model: opus\r\n$0-> session \"b\"\r\n  model: haiku\r\n",
            expect![[r#"
                session "a"␍
                  model: opus␍
                session "b"␍
                  model: haiku␍
            "#]],
        );
    }

    #[test]
    fn branches_and_parts_of_values_stay_chains() {
        check_none(SPLIT, "parallel:\n  session \"a\" $0-> session \"b\"\n  session \"c\"\n");
        check_none(SPLIT, "parallel:\n  x = session \"a\" $0-> session \"b\"\n  session \"c\"\n");
        check_none(SPLIT, "session$0 \"a\"\n");
        check_none(SPLIT, "session \"a\" $0-> session \"b\" -> sesion \"c\"\n");
    }

    #[test]
    fn sessions_become_a_chain() {
        check(
            JOIN,
            r#"
            repeat 2:
              $0session "Plan"
              session "Do"

              output report = session "Check"$0
                model: opus
            "#,
            expect![[r#"
                repeat 2:
                  output report = session "Plan" -> session "Do" -> session "Check"
                    model: opus
            "#]],
        );
    }

    #[test]
    fn only_sessions_without_properties_and_comments_between_them_are_joined() {
        check_none(JOIN, "$0session \"a\"\n  model: opus\nsession \"b\"$0\n");
        check_none(JOIN, "$0session \"a\"\n# why\nsession \"b\"$0\n");
        check_none(JOIN, "$0session \"a\"  # why\nsession \"b\"$0\n");
        check_none(JOIN, "$0let x = session \"a\"\nsession \"b\"$0\n");
        check_none(JOIN, "$0session \"a\"$0\n");
        check_none(JOIN, "parallel:\n  $0session \"a\"\n  session \"b\"$0\n");
        check_none(JOIN, "$0session \"a\"\nlet x = 1$0\n");
    }
}

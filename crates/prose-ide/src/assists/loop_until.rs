//! Converting a loop with a `break` to `loop until`.

use prose_syntax::ast::{AstNode, Block, If, Loop, Repeat, Statement};
use prose_syntax::{SyntaxKind, SyntaxNode, TextEdit, TextRange};

use super::Assist;
use super::source::{Source, end};

/// `loop until **done** (max: 5)` in place of a loop with that bound that has `if **done**: break` first or last in its body.
///
/// The condition of a loop is judged before the first round and after the last (R60). So it is judged once more: after the last round where the `if` is
/// the first in the body, before the first round where it is the last. The label mentions this.
pub(super) fn to_loop_until(source: &Source<'_>) -> Option<Assist> {
    let Header { node, body, bound, index } = header(source)?;
    if !source.is_in_header(&node) || source.has_errors(node.text_range()) {
        return None;
    }
    let statements: Vec<SyntaxNode> = body.syntax().children().collect();
    let (first, last) = (statements.first()?, statements.last()?);
    if statements.len() < 2 {
        return None;
    }
    let (exit, condition, is_asked_first) = match (exit(first), exit(last)) {
        (Some(condition), _) => (first, condition, true),
        (None, Some(condition)) => (last, condition, false),
        (None, None) => return None,
    };
    if !is_asked_first && depends_on_round(source, &condition, &node) {
        return None;
    }
    // The body has to begin on a line of its own, and the `if` to be all that is in its lines.
    let indent = source.indent(exit)?;
    let index = index.map_or(String::new(), |name| format!(" as {name}"));
    let text = format!("loop until {} (max: {bound}){index}:", source.code(&condition));
    let colon = node.children_with_tokens().filter(|child| child.kind() == SyntaxKind::COLON).last()?;
    let header = TextRange::new(node.text_range().start(), colon.text_range().end());
    let start = source.start_with_comments(exit);
    let first_line = source.next_line(node.text_range().start());
    let removed = TextRange::new(start.max(first_line), source.next_line(end(exit)));
    // Comments on the exit are kept.
    let comments: String = kept_comments(source, removed, indent);
    let label = if is_asked_first {
        "Convert to `loop until` (also judges after the last iteration)"
    } else {
        "Convert to `loop until` (also judges before the first iteration)"
    };
    Some(Assist::rewrite(label, vec![TextEdit::replace(header, text), TextEdit::replace(removed, comments)]))
}

struct Header {
    node: SyntaxNode,
    body: Block,
    bound: String,
    index: Option<String>,
}

fn header(source: &Source<'_>) -> Option<Header> {
    if let Some(node) = source.node::<Repeat>()
        && source.is_in_header(node.syntax())
    {
        let count = node.count()?;
        // The bound of a loop must be a number, the count of a `repeat` may be any value.
        let is_number = count.syntax().kind() == SyntaxKind::LITERAL;
        let bound = source.code(count.syntax()).to_owned();
        let index = node.index().map(|name| name.text());
        return is_number.then_some(Header { body: node.body()?, node: node.syntax().clone(), bound, index });
    }
    let node = source.node::<Loop>()?;
    let mut modifiers = node.modifiers();
    let modifier = modifiers.next()?;
    let is_bound = modifier.name()?.text() == "max" && modifiers.next().is_none();
    let bound = source.code(modifier.value()?.syntax()).to_owned();
    let index = node.index().map(|name| name.text());
    let is_open = node.condition().is_none() && is_bound;
    is_open.then_some(Header { body: node.body()?, node: node.syntax().clone(), bound, index })
}

/// The condition of a statement that does nothing but leave the loop.
fn exit(statement: &SyntaxNode) -> Option<SyntaxNode> {
    let node = If::cast(statement.clone())?;
    if node.elifs().next().is_some() || node.else_clause().is_some() {
        return None;
    }
    let body = node.body()?;
    let mut statements = body.statements();
    let is_exit = matches!(statements.next()?, Statement::Break(_)) && statements.next().is_none();
    let condition = node.condition()?.syntax().clone();
    (is_exit && condition.kind() == SyntaxKind::DISCRETION).then_some(condition)
}

/// Whether a condition names something that is bound by the loop alone, so that before the first round it would ask for something else.
fn depends_on_round(source: &Source<'_>, condition: &SyntaxNode, node: &SyntaxNode) -> bool {
    let names = source.names();
    let mut used = names
        .used
        .iter()
        .filter(|used| condition.text_range().contains_range(used.range) && used.entity.is_some());
    used.any(|used| {
        let mut sites = names.bound.iter().filter(|bound| used.is(&bound.entity));
        sites.all(|bound| node.text_range().contains_range(bound.range))
    })
}

/// The comments in some lines, each on a line of its own after an indentation.
fn kept_comments(source: &Source<'_>, lines: TextRange, indent: &str) -> String {
    let tokens = source.root.descendants_with_tokens().filter_map(|element| element.into_token());
    let comments = tokens
        .filter(|token| token.kind() == SyntaxKind::COMMENT && lines.contains_range(token.text_range()));
    comments.map(|comment| format!("{indent}{}{}", comment.text().trim_end(), source.line_break())).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    const LABEL: &str = "Convert to `loop until`";

    #[test]
    fn a_loop_that_is_left_first_asks_once_more_at_its_end() {
        check(
            "Convert to `loop until` (also judges after",
            r#"
            let draft = session "Draft"
            rep$0eat 5 as i:  # at most
              # Enough
              if **the draft is good**:  # or nearly so
                # Not yet
                break

              draft = session "Improve {draft} ({i})"
            "#,
            expect![[r#"
                let draft = session "Draft"
                loop until **the draft is good** (max: 5) as i:  # at most
                  # Enough
                  # or nearly so
                  # Not yet

                  draft = session "Improve {draft} ({i})"
            "#]],
        );
    }

    #[test]
    fn a_loop_that_is_left_last_reports_what_changes() {
        check(
            "Convert to `loop until` (also judges before",
            "block b:\r\n  lo$0op (max: 3):\r\n    session \"x\"\r\n    if **done**:\r\n      break\r\n  session \"y\"\r\n",
            expect![[r#"
                block b:␍
                  loop until **done** (max: 3):␍
                    session "x"␍
                  session "y"␍
            "#]],
        );
    }

    #[test]
    fn other_loops_stay() {
        for text in [
            "lo$0op:\n  session \"x\"\n  if **done**:\n    break\n",
            "re$0peat 3:\n  if **done**:\n    break\n",
            "re$0peat 3:\n  session \"x\"\n  if **done**:\n    session \"y\"\n    break\n",
            "re$0peat 3:\n  session \"x\"\n  if **done**:\n    break\n  else:\n    session \"y\"\n",
            "re$0peat 3:\n  session \"x\"\n  if **done**:\n    break\n  session \"y\"\n",
            "loop until **x** (ma$0x: 3):\n  session \"x\"\n  if **done**:\n    break\n",
            // Before the first round there is no draft, and what counts the rounds is one further after each.
            "re$0peat 3:\n  let draft = session \"x\"\n  if **{draft} is good**:\n    break\n",
            "re$0peat 3 as i:\n  session \"x\"\n  if **{i} is enough**:\n    break\n",
            "repeat 3:\n  sess$0ion \"x\"\n  if **done**:\n    break\n",
        ] {
            check_none(LABEL, text);
        }
    }
}

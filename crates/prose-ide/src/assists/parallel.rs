//! Converting between independent sessions in sequence and branches of a `parallel`.

use prose_analysis::model::{NameKind, Place, RefKind};
use prose_analysis::resolve::Resolved;
use prose_syntax::ast::{Agent, AstNode, Parallel, Resume, Session, Statement, Value};
use prose_syntax::{SyntaxKind, SyntaxNode, TextEdit, TextRange};

use super::Assist;
use super::source::{INDENT, Names, Selection, Source, Used, are_branches, has_memory, is_list};

/// Selected sessions as branches of a `parallel`.
pub(super) fn to_parallel(source: &Source<'_>) -> Option<Assist> {
    let selection = source.selection()?;
    if selection.statements.len() < 2 || are_branches(&selection.list) || gives_its_last(&selection) {
        return None;
    }
    let branches: Option<Vec<Branch>> = selection.statements.iter().map(Branch::of).collect();
    let branches = branches?;
    // A condition is judged by all results before it.
    let asks = |node: &SyntaxNode| node.descendants().any(|node| node.kind() == SyntaxKind::DISCRETION);
    if selection.statements.iter().any(asks) || share_memory(source, &branches) {
        return None;
    }
    if data_flows(&source.names(), &selection) {
        return None;
    }
    let lifted = format!("{}{INDENT}", selection.indent);
    let mut edits = source.moves(selection.range, &selection.indent, &lifted)?;
    let header = format!("{}parallel:{}{lifted}", selection.indent, source.line_break());
    // The first line begins with the header.
    edits.first_mut()?.new_text = header;
    // A branch is a name, `=` and what gives the value, without a keyword.
    edits.extend(branches.iter().filter_map(|branch| Some(TextEdit::replace(branch.keyword?, ""))));
    edits.sort_by_key(|edit| (edit.range.start(), edit.range.end()));
    Some(Assist::rewrite("Run the sessions concurrently", edits))
}

/// The branches of a `parallel` as statements.
pub(super) fn to_sequence(source: &Source<'_>) -> Option<Assist> {
    let parallel: Parallel = source.node()?;
    let node = parallel.syntax();
    let list = node.parent().filter(is_list)?;
    // With a strategy or a policy, the branches that fail or come late have a meaning of their own.
    let is_plain = parallel.modifiers().next().is_none() && !are_branches(&list);
    if !is_plain || !source.is_in_header(node) {
        return None;
    }
    let outer = source.select(list, vec![node.clone()])?;
    let body = parallel.body()?;
    let statements: Vec<SyntaxNode> = body.syntax().children().collect();
    let inner = source.select(body.syntax().clone(), statements)?;
    if gives_its_last(&outer) || data_flows(&source.names(), &inner) {
        return None;
    }
    // Comments between the header and the first branch stay above it.
    let lines = TextRange::new(source.next_line(node.text_range().start()), inner.range.end());
    let mut edits = source.moves(lines, &inner.indent, &outer.indent)?;
    for statement in &inner.statements {
        if Statement::cast(statement.clone()).is_some_and(|node| matches!(node, Statement::Assignment(_))) {
            edits.push(TextEdit::insert(statement.text_range().start(), "let "));
        }
    }
    edits.sort_by_key(|edit| (edit.range.start(), edit.range.end()));
    let start = node.text_range().start();
    let header = TextRange::new(source.line_start(start), source.next_line(start));
    let behind = &source.text[TextRange::new(start, source.line_end(start))];
    let mut with_comment = String::new();
    if let Some(at) = behind.find('#') {
        with_comment = format!("{}{}{}", outer.indent, &behind[at..], source.line_break());
    }
    edits.insert(0, TextEdit::replace(header, with_comment));
    Some(Assist::rewrite("Run the branches sequentially", edits))
}

/// A statement that can be a branch.
struct Branch {
    /// `let ` or `const `.
    keyword: Option<TextRange>,
    session: SyntaxNode,
}

impl Branch {
    fn of(statement: &SyntaxNode) -> Option<Self> {
        let (keyword, value) = match Statement::cast(statement.clone())? {
            Statement::Let(node) => {
                let keyword = TextRange::new(
                    statement.text_range().start(),
                    node.name()?.syntax().text_range().start(),
                );
                (Some(keyword), node.value()?)
            }
            Statement::Assignment(node) => (None, node.value()?),
            node => (None, Value::Statement(node)),
        };
        let session = value.syntax().clone();
        let is_session = matches!(session.kind(), SyntaxKind::SESSION | SyntaxKind::RESUME);
        is_session.then_some(Self { keyword, session })
    }

    fn agent(&self) -> Option<String> {
        let resumed = Resume::cast(self.session.clone()).and_then(|node| node.agent());
        let agent = resumed.or_else(|| Session::cast(self.session.clone()).and_then(|node| node.agent()));
        agent.map(|agent| agent.text())
    }
}

/// Whether two of the sessions are of one agent with a memory, or one of them resumes it.
fn share_memory(source: &Source<'_>, branches: &[Branch]) -> bool {
    let remembers = |name: &str| {
        let agents = source.root.descendants().filter_map(Agent::cast);
        let mut named = agents.filter(|agent| agent.name().is_some_and(|found| found.text() == name));
        named.any(|agent| has_memory(&agent))
    };
    let mut agents: Vec<String> = branches.iter().filter_map(Branch::agent).collect();
    agents.retain(|name| remembers(name));
    let count = agents.len();
    agents.sort();
    agents.dedup();
    agents.len() < count
}

/// Whether one of the statements may use what another one binds, now or in an earlier round of a loop.
fn data_flows(names: &Names<'_>, selection: &Selection) -> bool {
    let is_inside = |range: TextRange| selection.range.contains_range(range);
    let bound: Vec<_> = names.bound.iter().filter(|bound| is_inside(bound.range)).collect();
    let variables = || bound.iter().filter(|bound| bound.kind.is_variable() && !bound.kind.is_local());
    let is_used_here = |used: &&Used<'_>| {
        // The texts of an agent are interpolated by the sessions of it, and a block may use all that its callers have.
        let is_elsewhere = matches!(used.place, Place::Agent { .. });
        (is_inside(used.range) || is_elsewhere) && variables().any(|bound| bound.entity.name == used.name)
    };
    let is_bound_twice = || {
        variables().any(|bound| {
            let same = names.bound.iter().filter(|other| other.entity.may_be(&bound.entity));
            same.count() > 1 || bound.kind == NameKind::Session
        })
    };
    let calls = || names.used.iter().any(|used| is_inside(used.range) && used.kind == RefKind::Block);
    let uses_agent = || {
        let is_agent = |used: &&Used<'_>| used.resolved == Resolved::AgentAsValue && is_inside(used.range);
        names.used.iter().find(is_agent).is_some()
    };
    names.used.iter().find(is_used_here).is_some() || is_bound_twice() || calls() || uses_agent()
}

/// Whether the value of the last statement may be the value of the body. A `parallel` has another value.
fn gives_its_last(selection: &Selection) -> bool {
    let is_in_value = selection.list.ancestors().any(|node| {
        matches!(
            node.kind(),
            SyntaxKind::BLOCK_DEF
                | SyntaxKind::LET
                | SyntaxKind::ASSIGNMENT
                | SyntaxKind::OUTPUT
                | SyntaxKind::RETURN
                | SyntaxKind::PIPE_STAGE
                | SyntaxKind::PARALLEL_FOR
        )
    });
    selection.is_last && is_in_value
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    const AT_ONCE: &str = "Run the sessions concurrently";
    const IN_TURN: &str = "Run the branches seq";

    #[test]
    fn sessions_without_data_between_them_run_at_once() {
        check(
            AT_ONCE,
            r#"
            input topic: "What about"
            # All of it
            $0let a = session "Find {topic}"  # first
              context: topic

            # The other
            const b = session """
            Look at
              the rest
            """
            session "Greet"$0
            session "Use"
              context: { a, b }
            "#,
            expect![[r#"
                input topic: "What about"
                # All of it
                parallel:
                  a = session "Find {topic}"  # first
                    context: topic

                  # The other
                  b = session """
                Look at
                  the rest
                """
                  session "Greet"
                session "Use"
                  context: { a, b }
            "#]],
        );
        check(
            AT_ONCE,
            "repeat 2:\r\n  $0session \"a\"\r\n  session \"b\"$0\r\n",
            expect![[r#"
                repeat 2:␍
                  parallel:␍
                    session "a"␍
                    session "b"␍
            "#]],
        );
    }

    #[test]
    fn data_that_flows_keeps_the_order() {
        for text in [
            "$0let a = session \"x\"\nlet b = session \"y\"\n  context: a$0\n",
            "$0let a = session \"x\"\nlet b = session \"about {a}\"$0\n",
            // The second reads the result of the first in the last round.
            "repeat 2:\n  $0session \"about {b}\"\n  let b = session \"y\"$0\n",
            "let a = 1\n$0a = session \"x\"\nsession \"y\"$0\n",
            // The agent's text contains the result of the first one.
            "agent w:\n  prompt: \"of {a}\"\n$0let a = session \"x\"\nsession: w$0\n",
            "agent w:\n  prompt: \"w\"\n  persist: true\n$0session: w\nresume: w$0\n",
            "$0session \"x\"\nsession \"y\"\n  early_exit: **all is said**$0\n",
            "parallel:\n  $0session \"x\"\n  session \"y\"$0\n",
            "$0session \"x\"\nlet b = 1$0\n",
            "$0session \"x\"$0\nsession \"y\"\n",
            // The value of the block is the result of the last one.
            "block b:\n  $0session \"x\"\n  session \"y\"$0\n",
        ] {
            check_none(AT_ONCE, text);
        }
    }

    #[test]
    fn branches_become_statements() {
        check(
            IN_TURN,
            r#"
            if **so**:
              par$0allel:  # both
                # One
                a = session "x"
                  model: opus
                session "y"
              session "Use {a}"
            "#,
            expect![[r#"
                if **so**:
                  # both
                  # One
                  let a = session "x"
                    model: opus
                  session "y"
                  session "Use {a}"
            "#]],
        );
    }

    #[test]
    fn strategies_values_and_branches_stay() {
        for text in [
            "par$0allel (\"first\"):\n  session \"x\"\n  session \"y\"\n",
            "let r = par$0allel:\n  session \"x\"\n  session \"y\"\n",
            "parallel:\n  par$0allel:\n    session \"x\"\n    session \"y\"\n  session \"z\"\n",
            "let a = 1\npar$0allel:\n  a = session \"x\"\n  session \"y\"\n",
            "parallel:\n  ses$0sion \"x\"\n  session \"y\"\n",
        ] {
            check_none(IN_TURN, text);
        }
    }
}

//! Inlining a block.

use prose_analysis::index::lookup;
use prose_analysis::model::{NameKind, RefKind};
use prose_analysis::resolve::Resolved;
use prose_syntax::SyntaxKind::*;
use prose_syntax::ast::{Arg, AstNode, BlockDef, DoCall, Let, Output, Return, Throw};
use prose_syntax::{SyntaxNode, TextEdit, TextRange};

use super::source::{Names, Selection, Source, are_branches, end, is_list};
use super::{Assist, AssistKind};
use crate::entity::EntityKind;

/// Replaces the call at the cursor by the statements of the block. The block is removed if nothing else calls it.
pub(super) fn inline_block(source: &Source<'_>) -> Option<Assist> {
    let call: DoCall = source.node()?;
    let name = call.block()?.text();
    let parent = call.syntax().parent()?;
    // `do b`, or `let x = do b`.
    let statement = match parent.kind() {
        LET | ASSIGNMENT | OUTPUT | RETURN => parent,
        _ => call.syntax().clone(),
    };
    let list = statement.parent().filter(is_list)?;
    if are_branches(&list) || !source.is_in_header(call.syntax()) || source.has_errors(statement.text_range())
    {
        return None;
    }
    let at = source.select(list, vec![statement.clone()])?;
    let block = definition(source, &name)?;
    let body = body(source, &block)?;
    if block.syntax().text_range().contains_range(statement.text_range()) {
        return None;
    }
    let names = source.names();
    let arguments = arguments(&block, &call)?;
    let taken: Vec<String> = arguments.iter().filter_map(Argument::bound).collect();
    if captures(&names, &block, &taken) {
        return None;
    }
    let head = TextRange::new(statement.text_range().start(), call.syntax().text_range().start());
    let mut statements = statements(source, &body, &at, &source.text[head])?;
    let tail = comments_at_end(source, &body, &at.indent);
    let behind = &source.text[TextRange::new(end(&statement), source.line_end(end(&statement)))];
    // They would have to come after the comment after the call.
    if !tail.is_empty() && !behind.trim().is_empty() {
        return None;
    }
    statements += &tail;

    let calls = names.used.iter().filter(|used| used.kind == RefKind::Block && used.name == name);
    let is_only_call = calls.count() == 1;
    let line_break = source.line_break();
    let mut text = String::new();
    if is_only_call {
        // Comments on the block describe the statements in its place.
        let start = source.start_with_comments(block.syntax());
        let comments = &source.text[TextRange::new(start, block.syntax().text_range().start())];
        for comment in comments.lines() {
            text += &format!("{comment}{line_break}{}", at.indent);
        }
    }
    for argument in &arguments {
        if let Some(name) = argument.bound() {
            text += &format!("let {name} = {}{line_break}{}", source.code(&argument.value), at.indent);
        }
    }
    text += &statements;
    // A comment after the call is kept after what has come in its place.
    let replaced = TextRange::new(statement.text_range().start(), end(&statement));
    let mut edits = vec![TextEdit::replace(replaced, text)];
    if is_only_call {
        edits.push(TextEdit::replace(lines_of(source, block.syntax()), ""));
        edits.sort_by_key(|edit| edit.range.start());
    }
    let is_own = |range: TextRange| block.syntax().text_range().contains_range(range);
    let adds = !taken.is_empty()
        || names.bound.iter().any(|bound| {
            is_own(bound.range)
                && matches!(bound.entity.kind, EntityKind::Frame(..))
                && bound.kind != NameKind::Param
        })
        || body.statements.iter().any(Source::has_unnamed_result);
    let mut label = format!("Inline `{name}`");
    // The block's own conditions see its parameters by their questions alone, and variables as well.
    let known = taken.is_empty().then(|| block.syntax().text_range());
    if adds && source.asks_after(&at, known) {
        label += " (conditions see more of its results)";
    }
    Some(Assist::new(label, AssistKind::Inline, edits))
}

/// The only block of that name, if it is at the top level and takes no options.
fn definition(source: &Source<'_>, name: &str) -> Option<BlockDef> {
    let named = lookup(source.db, source.file, &name.into())?;
    if named.blocks.len() != 1 {
        return None;
    }
    let mut blocks = source.root.children().filter_map(BlockDef::cast);
    let block = blocks.find(|block| block.name().is_some_and(|found| found.text() == name))?;
    block.modifiers().next().is_none().then_some(block)
}

/// The statements of a block, if they can be moved: only the last one may leave the block.
fn body(source: &Source<'_>, block: &BlockDef) -> Option<Selection> {
    let name = block.name()?.text();
    let list = block.body()?.syntax().clone();
    let statements: Vec<SyntaxNode> = list.children().collect();
    let body = source.select(list, statements)?;
    let last = body.statements.last()?;
    let is_bound = body.list.descendants().any(|node| match node.kind() {
        USE | IMPORT | INPUT | AGENT | BLOCK_DEF | PLACEHOLDER => true,
        OUTPUT | RETURN => node != *last,
        THROW => Throw::cast(node).is_some_and(|throw| throw.message().is_none()),
        DO_CALL => {
            DoCall::cast(node).and_then(|call| call.block()).is_some_and(|called| called.text() == name)
        }
        _ => false,
    });
    (!is_bound).then_some(body)
}

/// A value for a parameter.
struct Argument {
    param: String,
    value: SyntaxNode,
}

impl Argument {
    /// The variable that replaces the parameter; none if the value has the same name.
    fn bound(&self) -> Option<String> {
        let is_same = self.value.kind() == NAME_REF && self.value.text() == self.param.as_str();
        (!is_same).then(|| self.param.clone())
    }
}

/// The values of all parameters, which are taken in their order (R80); none if one has no value, or one that is named as that of another.
fn arguments(block: &BlockDef, call: &DoCall) -> Option<Vec<Argument>> {
    let params: Vec<String> = block
        .params()
        .into_iter()
        .flat_map(|list| list.params())
        .map(|param| Some(param.name()?.text()))
        .collect::<Option<_>>()?;
    let given: Vec<Arg> = call.arguments().into_iter().flat_map(|list| list.arguments()).collect();
    if given.len() != params.len() {
        return None;
    }
    let mut arguments: Vec<Argument> = Vec::new();
    for (param, argument) in params.into_iter().zip(given) {
        let is_its_own = argument.name().is_none_or(|name| name.text() == param);
        if !is_its_own || arguments.iter().any(|known| known.param == param) {
            return None;
        }
        arguments.push(Argument { param, value: argument.value()?.syntax().clone() });
    }
    Some(arguments)
}

/// Whether a name of the block would mean something else outside of it, or something outside would mean a name of the block.
fn captures(names: &Names<'_>, block: &BlockDef, taken: &[String]) -> bool {
    let range = block.syntax().text_range();
    let is_inside = |name: TextRange| range.contains_range(name);
    // A parameter may be declared again in its block; the variable in its place may not (`E019`).
    let is_declared_again = names.bound.iter().any(|bound| {
        is_inside(bound.range)
            && !matches!(bound.kind, NameKind::Param | NameKind::Assigned | NameKind::Branch)
            && taken.iter().any(|name| bound.entity.name == *name)
    });
    if is_declared_again {
        return true;
    }
    let outside = |name: &str| {
        names.bound.iter().any(|bound| !is_inside(bound.range) && bound.entity.name == name)
            || names.used.iter().any(|used| {
                !is_inside(used.range)
                    && used.name == name
                    && used.kind != RefKind::Agent
                    && used.kind != RefKind::Block
            })
    };
    let own = names.bound.iter().filter(|bound| is_inside(bound.range) && !bound.kind.is_local());
    let own = own.filter(|bound| matches!(bound.entity.kind, EntityKind::Frame(..)));
    let own = own.filter(|bound| bound.kind != NameKind::Param);
    let mut own = own.map(|bound| bound.entity.name.to_string()).chain(taken.iter().cloned());
    if own.any(|name| outside(&name)) {
        return true;
    }
    // Names of the file that the block uses may be shadowed where it is called.
    let is_hidden = |name: &str| {
        names.bound.iter().any(|bound| {
            !is_inside(bound.range) && bound.entity.name == name && bound.entity.kind != EntityKind::Root
        })
    };
    let mut used = names.used.iter().filter(|used| is_inside(used.range));
    let mut assigned =
        names.bound.iter().filter(|bound| is_inside(bound.range) && bound.entity.kind == EntityKind::Root);
    names.have_own_agents(is_inside)
        || assigned.any(|bound| is_hidden(&bound.entity.name))
        || used.any(|used| match used.resolved {
            Resolved::Root => is_hidden(&used.name),
            Resolved::Elsewhere | Resolved::Lost | Resolved::Undefined => true,
            _ => false,
        })
}

/// The statements of the block where it is called; the last of them gives the value after `head`.
fn statements(source: &Source<'_>, body: &Selection, at: &Selection, head: &str) -> Option<String> {
    let last = body.statements.last()?;
    let header = body.list.parent()?.text_range().start();
    let before = TextRange::new(source.next_line(header), source.line_start(last.text_range().start()));
    let mut text =
        if before.is_empty() { String::new() } else { source.moved(before, &body.indent, &at.indent)? };
    // The lines end before the comment of the last one, which the rest of the line with the call may have, too.
    let lines = TextRange::new(last.text_range().start(), end(last));
    let moved = source.moved(lines, &body.indent, &at.indent)?;
    let moved = moved.strip_prefix(at.indent.as_str())?;
    let value = |value: Option<SyntaxNode>| {
        let start = value?.text_range().start() - last.text_range().start();
        moved.get(usize::from(start)..)
    };
    let line = match last.kind() {
        OUTPUT => {
            let output = Output::cast(last.clone())?;
            let given = output.value()?.syntax().clone();
            match output.name() {
                // The value needs a name only if it is not used.
                Some(name) if head.is_empty() => format!("let {} = {}", name.text(), value(Some(given))?),
                None if head.is_empty() && !is_statement(&given) => return None,
                _ => format!("{head}{}", value(Some(given))?),
            }
        }
        RETURN => {
            let given = Return::cast(last.clone())?.value()?.syntax().clone();
            if head.is_empty() && !is_statement(&given) {
                return None;
            }
            format!("{head}{}", value(Some(given))?)
        }
        _ if head.is_empty() => moved.to_owned(),
        LET => {
            let name = Let::cast(last.clone())?.name()?.text();
            format!("{moved}{}{}{head}{name}", source.line_break(), at.indent)
        }
        _ if is_statement(last) => format!("{head}{moved}"),
        _ => return None,
    };
    text += &at.indent;
    text += &line;
    Some(text.strip_prefix(at.indent.as_str())?.to_owned())
}

/// Whether a statement has a value, so that it may come after `=`.
fn is_statement(node: &SyntaxNode) -> bool {
    matches!(node.kind(), SESSION | RESUME | ARROW_CHAIN | DO_CALL | DO_BLOCK | PARALLEL | PARALLEL_FOR)
}

/// The comments after and below the last statement of a block, for other lines.
fn comments_at_end(source: &Source<'_>, body: &Selection, indent: &str) -> String {
    let Some((last, header)) = body.statements.last().zip(body.list.parent()) else { return String::new() };
    let own_indent = source.indent(&header).unwrap_or_default();
    let lines = TextRange::new(end(last), source.end_with_comments(last, own_indent));
    let mut comments = source.text[lines].lines();
    let mut text = comments.next().unwrap_or_default().trim_end().to_owned();
    for comment in comments.map(str::trim).filter(|line| !line.is_empty()) {
        text += &format!("{}{indent}{comment}", source.line_break());
    }
    text
}

/// The lines of a definition with the comments above it and the blank lines below.
fn lines_of(source: &Source<'_>, node: &SyntaxNode) -> TextRange {
    let indent = source.indent(node).unwrap_or_default();
    let end = source.next_line(source.end_with_comments(node, indent));
    TextRange::new(source.start_with_comments(node), source.after_blank_lines(end))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    const LABEL: &str = "Inline `b`";

    #[test]
    fn a_call_becomes_what_it_does() {
        check(
            LABEL,
            r#"
            input topic: "What about"
            # Finds it.
            block b(topic, depth):
              # First
              let facts = session "Find {topic}"  # all
                context: depth
              session """
            Tell
              {facts}
            """

            # Now
            if **so**:
              do $0b(topic, 2)  # here
            "#,
            expect![[r#"
                input topic: "What about"
                # Now
                if **so**:
                  # Finds it.
                  let depth = 2
                  # First
                  let facts = session "Find {topic}"  # all
                    context: depth
                  session """
                Tell
                  {facts}
                """  # here
            "#]],
        );
    }

    #[test]
    fn the_last_statement_gives_the_value() {
        check(
            LABEL,
            "block b:\r\n  let x = session \"x\"\r\n  output session \"y {x}\"\r\n    model: opus\r\n\r\nlet r = do$0 b\r\nsession \"{r}\"\r\n",
            expect![[r#"
                let x = session "x"␍
                let r = session "y {x}"␍
                  model: opus␍
                session "{r}"␍
            "#]],
        );
        check(
            LABEL,
            "do b\nlet r = do$0 b\nblock b:\n  session \"y\"\n",
            expect![[r#"
                do b
                let r = session "y"
                block b:
                  session "y"
            "#]],
        );
    }

    #[test]
    fn comments_at_the_end_of_a_block_go_with_it() {
        let block = "block b:\n  session \"x\"  # it\n\n  # That was it.\n\n# Now\n";
        check(
            LABEL,
            &format!("{block}do$0 b\nsession \"y\"\n"),
            expect![[r##"
                # Now
                session "x"  # it
                # That was it.
                session "y"
            "##]],
        );
        check_none(LABEL, &format!("{block}do$0 b  # here\n"));
    }

    #[test]
    fn blocks_that_go_elsewhere_or_whose_names_mean_something_else_stay() {
        for text in [
            "block b:\n  if **x**:\n    return\n  session \"x\"\ndo$0 b\n",
            "block b(n):\n  do b(n)\ndo$0 b(1)\n",
            "block b(x):\n  session \"{x}\"\nlet x = 1\ndo$0 b(2)\nsession \"{x}\"\n",
            "block b:\n  let x = 1\n  session \"{x}\"\nlet x = 1\ndo$0 b\nsession \"{x}\"\n",
            "let y = 1\nblock b:\n  session \"{y}\"\nfor y in [1]:\n  do$0 b\n",
            "let y = 1\nblock b:\n  y = 2\n  session \"z\"\nfor y in [1]:\n  do$0 b\n",
            "let x = 1\nagent w:\n  prompt: \"of {x}\"\nblock b:\n  session: w\nfor x in [1]:\n  do$0 b\n",
            "block b(x):\n  session \"{x}\"\ndo$0 b\n",
            // A variable cannot be declared twice, as a parameter can.
            "block b(x):\n  let x = session \"{x}\"\n  session \"{x}\"\ndo$0 b(1)\n",
            // Arguments are taken in their order, whatever they are named.
            "block b(x, y):\n  session \"{x} {y}\"\ndo$0 b(y: 1, x: 2)\n",
            "block b (max_depth: 3):\n  session \"x\"\ndo$0 b\n",
            "parallel:\n  do$0 b\n  session \"y\"\nblock b:\n  session \"x\"\n  session \"z\"\n",
            "let r = do$0 b\nblock b:\n  if **x**:\n    session \"x\"\n",
            "do$0 c\n",
        ] {
            check_none("Inline", text);
        }
    }
}

//! Statements as a block that is called in their place.

use prose_analysis::model::{NameKind, Place, RefKind};
use prose_analysis::resolve::Resolved;
use prose_syntax::SyntaxKind::{self, *};
use prose_syntax::ast::{Assignment, AstNode, Let, Throw};
use prose_syntax::{SyntaxNode, TextEdit, TextRange};
use smol_str::SmolStr;

use super::source::{INDENT, Names, Selection, Source};
use super::{Assist, AssistKind};
use crate::entity::{Entity, EntityKind};

/// Selected statements as a block. What they read is passed to it, and what is used behind them is given back (R80, R86).
pub(super) fn extract_block(source: &Source<'_>) -> Option<Assist> {
    let selection = source.selection()?;
    let is_branch = selection.list.parent().is_some_and(|owner| owner.kind() == PARALLEL);
    if is_branch || selection.statements.iter().any(|statement| leaves(statement, &selection.list)) {
        return None;
    }
    let names = source.names();
    let bound = bound_inside(&names, &selection)?;
    let params = params(&names, &selection, &bound)?;
    let results = results(&names, &selection, &bound);
    let is_caught = results.iter().any(|result| is_used_when_failed(source, &names, &selection, result));
    if is_caught || !keeps_value(&selection, &results) {
        return None;
    }
    let name = source.free_name("new_block");
    let line_break = source.line_break();
    let list = |names: &[SmolStr]| names.join(", ");
    let (head, call) = match &params[..] {
        [] => (format!("block {name}:"), format!("do {name}")),
        params => (format!("block {name}({}):", list(params)), format!("do {name}({})", list(params))),
    };
    let body = source.moved(selection.range, &selection.indent, INDENT)?;
    let result: Vec<SmolStr> = results.iter().map(|entity| entity.name.clone()).collect();
    let (value, call) = match &result[..] {
        [] => (String::new(), call),
        [result] => (format!("{INDENT}output {result}{line_break}"), format!("let {result} = {call}")),
        results => {
            let results = list(results);
            (format!("{INDENT}output {{ {results} }}{line_break}"), format!("let {{ {results} }} = {call}"))
        }
    };
    let block = format!("{head}{line_break}{body}{line_break}{value}{line_break}");
    let at = source.start_with_comments(&source.top_level(&selection.statements[0])?);
    let start = selection.range.start();
    // Where nothing stands between the two edits, they are one.
    let edits = match source.text[TextRange::new(at, start)].is_empty() {
        true => vec![TextEdit::replace(selection.range, block + &call)],
        false => vec![TextEdit::insert(at, block), TextEdit::replace(selection.range, call)],
    };
    let assist = Assist::new("Extract a block", AssistKind::Extract, edits);
    Some(assist.naming(0, "block ".len(), &name))
}

/// Whether something in a statement goes elsewhere than to the next one, or cannot stand in a block.
fn leaves(statement: &SyntaxNode, list: &SyntaxNode) -> bool {
    let is_within = |node: &SyntaxNode, kinds: &[SyntaxKind]| {
        node.ancestors().take_while(|around| around != list).any(|around| kinds.contains(&around.kind()))
    };
    statement.descendants().any(|node| match node.kind() {
        USE | IMPORT | INPUT | OUTPUT | AGENT | BLOCK_DEF | RETURN | PLACEHOLDER => true,
        BREAK | CONTINUE => !is_within(&node, &[REPEAT, FOR, LOOP, PARALLEL_FOR]),
        // What the caller has caught is not the block's to throw again.
        THROW => {
            let is_bare = Throw::cast(node.clone()).is_some_and(|throw| throw.message().is_none());
            is_bare && !is_within(&node, &[CATCH_CLAUSE])
        }
        _ => false,
    })
}

/// The variables of the statements; none if others of their variables are bound elsewhere too, so that the block would have its own.
fn bound_inside<'db>(names: &Names<'db>, selection: &Selection) -> Option<Vec<Entity<'db>>> {
    let is_inside = |range: TextRange| selection.range.contains_range(range);
    let mut found: Vec<Entity<'db>> = Vec::new();
    for bound in names.bound.iter().filter(|bound| is_inside(bound.range)) {
        let entity = &bound.entity;
        if bound.kind.is_local() || found.contains(entity) {
            continue;
        }
        let mut others =
            names.bound.iter().filter(|other| !is_inside(other.range) && other.entity.may_be(entity));
        match others.next() {
            None => found.push(entity.clone()),
            // A variable of the file gets its value from wherever it is assigned (R17).
            Some(_) if bound.kind == NameKind::Assigned && entity.kind == EntityKind::Root => {}
            Some(_) => return None,
        }
    }
    // An agent's texts are filled in where it is spawned, with the variables of the file.
    let is_in_agent = names.used.iter().any(|used| {
        matches!(used.place, Place::Agent { .. }) && found.iter().any(|entity| entity.name == used.name)
    });
    (!is_in_agent).then_some(found)
}

/// The variables that the statements read and do not bind, in the order of the text; none if one of them could not be passed.
fn params<'db>(names: &Names<'db>, selection: &Selection, own: &[Entity<'db>]) -> Option<Vec<SmolStr>> {
    let is_inside = |range: TextRange| selection.range.contains_range(range);
    let mut params: Vec<SmolStr> = Vec::new();
    for used in names.used.iter().filter(|used| is_inside(used.range)) {
        let entity = match (used.kind, used.resolved) {
            (RefKind::Agent | RefKind::Block, _) => continue,
            (_, Resolved::Program | Resolved::AgentAsValue | Resolved::Literal) => continue,
            (_, Resolved::Root | Resolved::Local(_)) => used.entity.as_ref()?,
            // Such a name means something else in every frame, or nothing.
            (_, Resolved::Agent | Resolved::Block) => continue,
            (_, Resolved::Elsewhere | Resolved::Lost | Resolved::Undefined) => return None,
        };
        if own.contains(entity) {
            continue;
        }
        let sites: Vec<_> = names.bound.iter().filter(|bound| bound.entity.may_be(entity)).collect();
        // A loop's own variable goes with the loop.
        if !sites.is_empty() && sites.iter().all(|bound| is_inside(bound.range)) {
            continue;
        }
        if used.kind == RefKind::Write {
            return None;
        }
        // Blocks may give a variable of the file another value, which they could not give to a parameter.
        let is_fixed = entity.kind != EntityKind::Root || sites.len() == 1;
        if is_fixed && !params.contains(&used.name) {
            params.push(used.name.clone());
        }
    }
    // What the statements call a variable of their own cannot be a parameter as well.
    let is_hidden = params
        .iter()
        .any(|param| names.bound.iter().any(|bound| is_inside(bound.range) && bound.entity.name == *param));
    (!is_hidden).then_some(params)
}

/// The variables of the statements that are used outside of them.
fn results<'db>(names: &Names<'db>, selection: &Selection, own: &[Entity<'db>]) -> Vec<Entity<'db>> {
    let is_used = |entity: &&Entity<'db>| {
        names.used.iter().any(|used| !selection.range.contains_range(used.range) && used.is(entity))
    };
    own.iter().filter(is_used).cloned().collect()
}

/// Whether a result is used where the statements may have failed. A block that fails gives nothing back.
fn is_used_when_failed(
    source: &Source<'_>,
    names: &Names<'_>,
    selection: &Selection,
    result: &Entity<'_>,
) -> bool {
    let is_tried = selection.list.ancestors().any(|node| node.kind() == TRY);
    let is_in_handler = |range: TextRange| {
        let around = source.root.covering_element(range);
        around.ancestors().any(|node| matches!(node.kind(), CATCH_CLAUSE | FINALLY_CLAUSE))
    };
    is_tried && names.used.iter().any(|used| used.is(result) && is_in_handler(used.range))
}

/// Whether the body has the same value, if that is the one of the last statement.
fn keeps_value(selection: &Selection, results: &[Entity<'_>]) -> bool {
    if !selection.is_last || selection.list.kind() == SOURCE_FILE || results.is_empty() {
        return true;
    }
    let Some(last) = selection.statements.last() else { return false };
    let name = Let::cast(last.clone())
        .and_then(|node| Some(node.name()?.text()))
        .or_else(|| Assignment::cast(last.clone()).and_then(|node| Some(node.target()?.text())));
    matches!(results, [result] if name.is_some_and(|name| name == result.name))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    const LABEL: &str = "Extract a block";

    #[test]
    fn what_is_read_is_passed_and_what_is_used_is_given_back() {
        check(
            LABEL,
            r#"
            input topic: "What about"

            # Find it.
            $0let facts = session "Find {topic}"
            # Tell it.
            let text = session """
            Write
              with care
            """  # the text
              context: facts$0
            output report = text
            "#,
            expect![[r#"
                input topic: "What about"

                block «new_block»(topic):
                  let facts = session "Find {topic}"
                  # Tell it.
                  let text = session """
                Write
                  with care
                """  # the text
                    context: facts
                  output text

                # Find it.
                let text = do new_block(topic)
                output report = text
            "#]],
        );
    }

    #[test]
    fn several_results_and_loop_variables() {
        check(
            LABEL,
            "for item in [1, 2]:\r\n  $0let a = session \"a {item}\"\r\n  let b = session \"b\"\r\n    context: a$0\r\n  session \"{a} {b}\"\r\n",
            expect![[r#"
                block «new_block»(item):␍
                  let a = session "a {item}"␍
                  let b = session "b"␍
                    context: a␍
                  output { a, b }␍
                ␍
                for item in [1, 2]:␍
                  let { a, b } = do new_block(item)␍
                  session "{a} {b}"␍
            "#]],
        );
    }

    #[test]
    fn variables_of_blocks_are_passed_and_loops_go_as_a_whole() {
        check(
            LABEL,
            r#"
            let count = 0
            block b(x):
              let y = session "y"
              # Again
              $0repeat 3 as i:
                count = count + 1
                session "{x} {y} {i}"
                if **done**:
                  break$0
              session "end"
            do b(1)
            output total = count
            "#,
            expect![[r#"
                let count = 0
                block «new_block»(x, y):
                  repeat 3 as i:
                    count = count + 1
                    session "{x} {y} {i}"
                    if **done**:
                      break

                block b(x):
                  let y = session "y"
                  # Again
                  do new_block(x, y)
                  session "end"
                do b(1)
                output total = count
            "#]],
        );
    }

    #[test]
    fn nothing_is_extracted_that_goes_elsewhere() {
        for text in [
            "repeat 2:\n  $0session \"x\"\n  break$0\n",
            "block b:\n  $0session \"x\"\n  return$0\n",
            "block b:\n  $0output session \"x\"$0\n",
            "$0output r = session \"x\"$0\n",
            "try:\n  session \"x\"\ncatch:\n  $0throw$0\n",
            "$0agent w:\n  prompt: \"w\"$0\n",
            "$0input x: \"y\"$0\nsession \"{x}\"\n",
            "parallel:\n  $0a = session \"x\"\n  b = session \"y\"$0\n",
            "choice **x**:\n  $0option \"a\":\n    session \"x\"$0\n",
            "ses$0sion \"x\"\n",
        ] {
            check_none(LABEL, text);
        }
    }

    #[test]
    fn nothing_is_extracted_whose_variables_are_bound_elsewhere_too() {
        for text in [
            "block b:\n  let x = 1\n  $0x = 2$0\n  session \"{x}\"\n",
            "for x in [1]:\n  $0x = 2$0\n  session \"{x}\"\n",
            "agent w:\n  prompt: \"of {x}\"\n$0let x = 1\nsession: w$0\n",
            "try:\n  $0let x = session \"a\"\n  session \"b\"$0\ncatch:\n  session \"{x}\"\n",
            "let r = do:\n  session \"b\"\n  $0let x = session \"a\"\n  session \"b {x}\"$0\nsession \"{x}\"\n",
        ] {
            check_none(LABEL, text);
        }
    }
}

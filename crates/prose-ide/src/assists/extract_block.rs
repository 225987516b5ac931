//! Extracting statements to a block.

use prose_analysis::model::{NameKind, RefKind};
use prose_analysis::resolve::Resolved;
use prose_syntax::SyntaxKind::{self, *};
use prose_syntax::ast::{Assignment, AstNode, Let, Throw};
use prose_syntax::{SyntaxNode, TextEdit, TextRange};
use smol_str::SmolStr;

use super::source::{Bound, INDENT, Names, Selection, Source, Used, are_branches};
use super::{Assist, AssistKind};
use crate::entity::{Entity, EntityKind};

/// Selected statements as a block. What they read is passed to it, and what is used after them is given back (R80, R86).
pub(super) fn extract_block(source: &Source<'_>) -> Option<Assist> {
    let selection = source.selection()?;
    if are_branches(&selection.list)
        || selection.statements.iter().any(|statement| leaves(statement, &selection.list))
    {
        return None;
    }
    let names = source.names();
    let bound = bound_inside(source, &names, &selection)?;
    if bound.iter().any(|own| is_read_before(source, &names, &selection, own)) {
        return None;
    }
    let params = params(source, &names, &selection, &bound)?;
    let results = results(&names, &selection, &bound);
    // What is bound in one of several ways may not be there to be given back.
    let is_sure = |result: &Entity<'_>| {
        names
            .bound
            .iter()
            .any(|bound| bound.entity == *result && source.lists_of(bound.range).contains(&selection.list))
    };
    if !results.iter().all(is_sure) {
        return None;
    }
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
    let at = source.start_with_comments(&source.top_level(&selection.statements[0])?);
    let gap = source.gap_above(at);
    let block = format!("{gap}{head}{line_break}{body}{line_break}{value}{line_break}");
    let start = selection.range.start();
    // Where nothing is between the two edits, they are one.
    let edits = match source.text[TextRange::new(at, start)].is_empty() {
        true => vec![TextEdit::replace(selection.range, block + &call)],
        false => vec![TextEdit::insert(at, block), TextEdit::replace(selection.range, call)],
    };
    let is_kept_back =
        results.len() < bound.len() || selection.statements.iter().any(Source::has_unnamed_result);
    let label = match is_kept_back && source.asks_after(&selection, None) {
        false => "Extract a block",
        true => "Extract a block (conditions outside no longer see its other results)",
    };
    let assist = Assist::new(label, AssistKind::Extract, edits);
    Some(assist.naming(0, gap.len() + "block ".len(), &name))
}

/// Whether something in a statement goes elsewhere than to the next one, or cannot be in a block.
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
fn bound_inside<'db>(
    source: &Source<'db>,
    names: &Names<'db>,
    selection: &Selection,
) -> Option<Vec<Entity<'db>>> {
    let is_inside = |range: TextRange| selection.range.contains_range(range);
    let mut found: Vec<Entity<'db>> = Vec::new();
    for bound in names.bound.iter().filter(|bound| is_inside(bound.range)) {
        let entity = &bound.entity;
        if bound.kind.is_local() || found.contains(entity) {
            continue;
        }
        let others: Vec<_> = names
            .bound
            .iter()
            .filter(|other| !is_inside(other.range) && other.entity.may_be(entity))
            .collect();
        // A variable of the file gets its value from wherever it is assigned (R17), if there is one by then.
        let is_of_file = bound.kind == NameKind::Assigned && entity.kind == EntityKind::Root;
        if others.is_empty() {
            found.push(entity.clone());
        } else if !is_of_file || !others.iter().any(|other| is_bound_before(source, other, selection)) {
            return None;
        }
    }
    let is_in_agent =
        found.iter().any(|entity| names.is_in_agent(&entity.name)) || names.have_own_agents(is_inside);
    (!is_in_agent).then_some(found)
}

/// The variables that the statements read and do not bind, in the order of the text; none if one of them could not be passed.
fn params<'db>(
    source: &Source<'db>,
    names: &Names<'db>,
    selection: &Selection,
    own: &[Entity<'db>],
) -> Option<Vec<SmolStr>> {
    let is_inside = |range: TextRange| selection.range.contains_range(range);
    let mut params: Vec<&Entity<'db>> = Vec::new();
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
        // In a text, a name that is not bound yet stays as it is, and a call cannot pass it.
        if !sites.iter().any(|bound| is_bound_before(source, bound, selection)) {
            return None;
        }
        // Blocks may give a variable of the file another value, which they could not give to a parameter.
        let is_fixed = entity.kind != EntityKind::Root || sites.len() == 1;
        if is_fixed && params.iter().all(|param| param.name != entity.name) {
            params.push(entity);
        }
    }
    // What the statements call a variable of their own cannot be a parameter as well.
    let is_hidden = params.iter().any(|param| {
        names.bound.iter().any(|bound| is_inside(bound.range) && bound.entity.name == param.name)
    });
    // Nor blocks that they call, which see the names of their callers (R16).
    let has_calls = names.used.iter().any(|used| is_inside(used.range) && used.kind == RefKind::Block);
    let is_in_block = |range: TextRange| {
        !is_inside(range)
            && source.root.covering_element(range).ancestors().any(|node| node.kind() == BLOCK_DEF)
    };
    let is_taken = |param: &&Entity<'_>| {
        // A variable of the file has the same value there.
        let is_read = |used: &Used<'_>| {
            param.kind != EntityKind::Root
                && used.name == param.name
                && !matches!(used.resolved, Resolved::Local(_))
                && is_in_block(used.range)
        };
        let is_assigned = |bound: &Bound<'_>| {
            bound.entity.name == param.name && bound.kind == NameKind::Assigned && is_in_block(bound.range)
        };
        names.used.iter().any(is_read) || names.bound.iter().any(is_assigned)
    };
    let is_clear = !is_hidden && (!has_calls || !params.iter().any(is_taken));
    is_clear.then(|| params.into_iter().map(|param| param.name.clone()).collect())
}

/// Whether the statements may read a variable of theirs before they bind it: what an earlier round of a loop has left in it, which a block forgets.
fn is_read_before(source: &Source<'_>, names: &Names<'_>, selection: &Selection, own: &Entity<'_>) -> bool {
    let is_inside = |range: TextRange| selection.range.contains_range(range);
    // The statement after which the variable is there. The branches of a `parallel` bind theirs together (R19).
    let binding = |bound: &Bound<'_>| {
        let lists = source.lists_of(bound.range);
        let list = lists.iter().find(|list| !are_branches(list))?;
        list.children().find(|node| node.text_range().contains_range(bound.range))
    };
    let sites = names.bound.iter().filter(|bound| is_inside(bound.range) && bound.entity == *own);
    let ends: Vec<_> = sites.filter_map(binding).map(|node| node.text_range().end()).collect();
    let mut reads = names.used.iter().filter(|used| is_inside(used.range) && used.is(own));
    reads.any(|used| ends.iter().all(|end| *end > used.range.start()))
}

/// Whether a variable is bound for sure before some statements run.
fn is_bound_before(source: &Source<'_>, bound: &Bound<'_>, selection: &Selection) -> bool {
    let around: Vec<SyntaxNode> = selection.list.ancestors().collect();
    // What blocks read of the file may be below them.
    let is_called =
        bound.entity.kind == EntityKind::Root && around.iter().any(|around| around.kind() == BLOCK_DEF);
    if bound.range.start() > selection.range.start() && !is_called {
        return false;
    }
    let lists = source.lists_of(bound.range);
    let Some(list) = lists.iter().find(|list| around.contains(list)) else { return false };
    // A parameter or what a loop counts is there in its body; a branch has nothing of the others, and a value nothing of what it is bound to.
    let has_selection = |node: &SyntaxNode| node.text_range().contains_range(selection.range);
    let is_inside =
        list.children().any(|node| node.text_range().contains_range(bound.range) && has_selection(&node));
    bound.kind.is_local() || bound.kind == NameKind::Param || !is_inside && !are_branches(list)
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
    // A program gives the value of its last statement if it has no outputs (R5).
    let is_given = selection.list.kind() != SOURCE_FILE
        || selection.list.children().all(|statement| statement.kind() != OUTPUT);
    if !selection.is_last || !is_given || results.is_empty() {
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
    fn only_what_is_bound_for_sure_is_passed_and_given_back() {
        for text in [
            "$0session \"of {x}\"$0\nlet x = 1\n",
            "if **so**:\n  let x = 1\n$0session \"of {x}\"$0\n",
            "$0if **so**:\n  let x = 1$0\nsession \"of {x}\"\n",
            // The second round reads what the first one has bound.
            "let x = 1\nblock b:\n  repeat 2:\n    $0parallel:\n      x = session \"a\"\n      session \"of {x}\"$0\n",
            "$0x = 1$0\nsession \"a\"\nlet x = 2\nsession \"of {x}\"\n",
            // What `b` calls `x` is what its caller calls so.
            "let x = 1\nblock b:\n  session \"of {x}\"\nfor x in [2]:\n  $0session \"of {x}\"\n  do b$0\n",
            "try:\n  let x = 1\ncatch:\n  session \"a\"\n$0session \"of {x}\"$0\n",
        ] {
            check_none(LABEL, text);
        }
        // What a block reads of the file, it reads in the new one, too.
        check(
            LABEL,
            "let x = 1\nblock b:\n  session \"of {x}\"\n$0session \"{x}\"\ndo b$0\n",
            expect![[r#"
            let x = 1
            block b:
              session "of {x}"

            block «new_block»(x):
              session "{x}"
              do b

            do new_block(x)
        "#]],
        );
        check(
            LABEL,
            "parallel:\n  x = session \"a\"\n  session \"b\"\n$0do:\n  let y = session \"of {x}\"$0\nsession \"{y}\"\n",
            expect![[r#"
                parallel:
                  x = session "a"
                  session "b"

                block «new_block»(x):
                  do:
                    let y = session "of {x}"
                  output y

                let y = do new_block(x)
                session "{y}"
            "#]],
        );
    }

    #[test]
    fn comments_at_the_end_of_a_body_go_with_it() {
        check(
            LABEL,
            "$0if **so**:\n    session \"a\"\n\n    # That was it.$0\n\n# Now\nsession \"b\"\n",
            expect![[r#"
                block «new_block»:
                  if **so**:
                      session "a"

                      # That was it.

                do new_block

                # Now
                session "b"
            "#]],
        );
    }

    #[test]
    fn conditions_that_see_less_are_reported() {
        let label = "Extract a block (conditions outside no longer see its other results)";
        check(
            label,
            "$0session \"Review\"$0\nif **the review is good**:\n  session \"b\"\n",
            expect![[r#"
            block «new_block»:
              session "Review"

            do new_block
            if **the review is good**:
              session "b"
        "#]],
        );
        check(
            label,
            "block b:\n  repeat 2:\n    if **enough**:\n      break\n    $0session \"Review\"$0\n",
            expect![[r#"
                block «new_block»:
                  session "Review"

                block b:
                  repeat 2:
                    if **enough**:
                      break
                    do new_block
            "#]],
        );
        // What is given back, and what is judged before, is known as before.
        check_none(label, "$0let x = session \"a\"$0\nif **good {x}**:\n  session \"b\"\n");
        check_none(label, "if **good**:\n  session \"b\"\n$0session \"a\"$0\n");
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
            "let x = 1\nagent w:\n  prompt: \"of {x}\"\nfor x in [2]:\n  $0session: w$0\n",
            "for x in [1]:\n  $0x = 2$0\n  session \"{x}\"\n",
            "agent w:\n  prompt: \"of {x}\"\n$0let x = 1\nsession: w$0\n",
            "try:\n  $0let x = session \"a\"\n  session \"b\"$0\ncatch:\n  session \"{x}\"\n",
            "let r = do:\n  session \"b\"\n  $0let x = session \"a\"\n  session \"b {x}\"$0\nsession \"{x}\"\n",
        ] {
            check_none(LABEL, text);
        }
    }
}

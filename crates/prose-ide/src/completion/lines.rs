//! Outside of brackets and texts: what the line asks for next.

use prose_syntax::SyntaxKind::*;
use prose_syntax::ast::{AstNode, Str, Template};
use prose_syntax::names;

use super::{CompletionKind, Context, calls, paths, properties, statements, values};
use crate::cursor::{Piece, PropertyOwner, Start, statement_start};

/// What can come after the pieces of the line.
pub(super) fn complete(context: &mut Context<'_>) {
    let pieces = context.cursor.pieces.clone();
    if let Some(owner) = context.cursor.property_owner()
        && property_line(context, owner, &pieces)
    {
        return;
    }
    let (start, why) = statement_start(&pieces);
    let statement = &pieces[start..];
    match (why, statement) {
        (Start::Line, []) if below_choice(context) => statements::option(context),
        // Directly after the colon of a header one continues with Enter, which would take the first of what is offered.
        (Start::Body, [])
            if pieces.last().is_some_and(|colon| colon.range.end() == context.replaced.start()) => {}
        (Start::Line | Start::Body, []) => {
            statements::complete(context);
            values::variables(context);
        }
        (Start::Value, []) if matches!(pieces[..start], [.., Piece { kind: OUTPUT_KW, .. }, _, _]) => {
            values::to_give(context);
        }
        (Start::Value, []) => values::to_keep(context),
        (Start::Arrow, []) => statements::sessions(context),
        (Start::Stage, _) => stage(context, statement),
        _ => behind(context, statement),
    }
}

fn below_choice(context: &Context<'_>) -> bool {
    let header = context.cursor.headers.first();
    header.is_some_and(|header| header.pieces.iter().any(|piece| piece.kind == CHOICE_KW))
        && header.is_some_and(|header| header.pieces.iter().all(|piece| piece.kind != OPTION_KW))
}

/// A line below an agent, a session or `permissions:`. Returns whether the line can be nothing else.
fn property_line(context: &mut Context<'_>, owner: PropertyOwner, pieces: &[Piece<'_>]) -> bool {
    match pieces {
        [] => {
            let given = context.cursor.names_of_siblings();
            match owner {
                PropertyOwner::Statement(owner) => properties::names(context, owner, &given),
                PropertyOwner::Permissions => properties::permissions(context, &given),
                // The entries have names of their own, or none that is known.
                PropertyOwner::Context => {}
            }
            true
        }
        [name, colon, value @ ..] if name.is_name() && colon.kind == COLON => {
            match owner {
                PropertyOwner::Statement(_) => properties::values(context, name.text, value),
                PropertyOwner::Permissions => properties::permission_values(context, value),
                PropertyOwner::Context => values::operand(context, value),
            }
            true
        }
        [first, ..] => !matches!(first.kind, ARROW | PIPE),
    }
}

/// What can come after `|`.
fn stage(context: &mut Context<'_>, pieces: &[Piece<'_>]) {
    if pieces.len() != 1 {
        return;
    }
    const STAGES: [(prose_syntax::SyntaxKind, &str, &str); 4] = [
        (MAP_KW, "map:\n  $0", "a value for each `item`"),
        (FILTER_KW, "filter:\n  $0", "the `item`s for which the body answers yes"),
        (PMAP_KW, "pmap:\n  $0", "a value for each `item`, concurrently"),
        (REDUCE_KW, "reduce(${1:total}, ${2:item}):\n  $0", "one value from all items"),
    ];
    for (keyword, snippet, detail) in STAGES {
        let item = context.item(CompletionKind::Keyword, statements::text_of(keyword));
        context.add(item.snippet(snippet).detail(detail));
    }
}

/// What can come after the beginning of a statement or value.
fn behind(context: &mut Context<'_>, statement: &[Piece<'_>]) {
    let kinds: Vec<_> = statement.iter().map(|piece| piece.kind).collect();
    let last_ends_value = statement.last().is_some_and(|last| last.ends_value());
    match kinds.as_slice() {
        [SESSION_KW, COLON] => calls::agents_to_start(context),
        [SESSION_KW, _, COLON] if statement[1].is_name() => calls::agents_to_start(context),
        [SESSION_KW, STRING, .., COLON] => {
            properties::values(context, statement[statement.len() - 2].text, &[]);
        }
        [RESUME_KW, COLON] => calls::agents_to_resume(context),
        [DO_KW] => calls::blocks_to_call(context, ""),
        [USE_KW] => paths::quoted(context),
        [USE_KW, STRING] => alias(context, statement[1]),
        [IMPORT_KW, STRING] => values::keyword(context, "from", "the source of the skill"),
        [PARALLEL_KW] => {
            values::keyword(context, "for", "a branch for each item");
            options(context, "(\"first\")", "(\"${1:first}\"):", "strategy");
            options(context, "(on-fail: …)", "(on-fail: \"${1:continue}\"):", "the failure policy");
        }
        [PARALLEL_KW, FOR_KW, rest @ ..] | [FOR_KW, rest @ ..] => each(context, statement, rest.len()),
        [REPEAT_KW] => values::variables(context),
        [REPEAT_KW, ..] if last_ends_value && !kinds.contains(&AS_KW) => index(context),
        [CATCH_KW] => values::keyword(context, "as", "a name for the error"),
        [LOOP_KW, ..] => in_loop(context, statement),
        [CHOICE_KW] => values::condition(context),
        [IF_KW | ELIF_KW | ASSERT_KW, rest @ ..] => {
            values::condition_after(context, &statement[statement.len() - rest.len()..]);
        }
        [RETURN_KW | OUTPUT_KW] => values::to_give(context),
        [THROW_KW] => values::variables(context),
        [INPUT_KW | AGENT_KW | BLOCK_KW | LET_KW | CONST_KW | TRY_KW | FINALLY_KW | ELSE_KW, ..] => {}
        [SESSION_KW | RESUME_KW | DO_KW | USE_KW | IMPORT_KW | OPTION_KW | CATCH_KW | REPEAT_KW, ..] => {}
        _ => values::operand(context, statement),
    }
}

/// `for x, i in xs`
fn each(context: &mut Context<'_>, statement: &[Piece<'_>], len: usize) {
    let rest = &statement[statement.len() - len..];
    match rest.iter().position(|piece| piece.kind == IN_KW) {
        // A name alone may be `in` itself.
        Some(at) if at > 0 => values::operand(context, &rest[at + 1..]),
        _ => {
            if rest.last().is_some_and(|last| last.is_name()) {
                values::keyword(context, "in", "the collection");
            }
        }
    }
}

/// `loop until **done** (max: 5) as i`
fn in_loop(context: &mut Context<'_>, statement: &[Piece<'_>]) {
    let rest = &statement[1..];
    let Some(last) = rest.last() else {
        for (word, detail) in
            [("until", "repeats until the condition holds"), ("while", "repeats while the condition holds")]
        {
            let item =
                context.item(CompletionKind::Keyword, word).snippet(format!("{word} **$1**")).detail(detail);
            context.add(item);
        }
        maximum(context);
        return index(context);
    };
    if rest.iter().any(|piece| piece.kind == AS_KW) {
        return;
    }
    let has_options = rest.iter().any(|piece| piece.text == "max");
    match last.kind {
        UNTIL_KW | WHILE_KW => values::condition(context),
        R_PAREN if has_options => index(context),
        _ if last.ends_value() => {
            maximum(context);
            index(context);
            values::operators(context);
        }
        _ => values::condition(context),
    }
}

fn maximum(context: &mut Context<'_>) {
    options(context, "(max: …)", "(max: ${1:5})", "the maximum number of iterations");
}

fn options(context: &mut Context<'_>, label: &str, snippet: &str, detail: &str) {
    let item = context.item(CompletionKind::Keyword, label).snippet(snippet).filter("(").detail(detail);
    context.add(item.text("("));
}

fn index(context: &mut Context<'_>) {
    let item =
        context.item(CompletionKind::Keyword, "as").snippet("as ${1:i}").detail("a name for the index");
    context.add(item);
}

/// `as name` after a path that gives a name, or for one that gives none.
fn alias(context: &mut Context<'_>, path: Piece<'_>) {
    let token = context.cursor.literal_at(path.range).and_then(Str::cast);
    let text = token.map(|token| token.text()).unwrap_or_default();
    let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name: String = last
        .trim_end_matches(".prose")
        .chars()
        .map(|c| if names::is_part(c) || c == '-' { c } else { '_' })
        .collect();
    let name = if name.is_empty() { "name" } else { &name };
    let item = context
        .item(CompletionKind::Keyword, "as")
        .snippet(format!("as ${{1:{name}}}"))
        .detail("a name for the program");
    context.add(item);
}

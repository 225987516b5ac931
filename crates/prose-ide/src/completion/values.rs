//! Values: variables, calls and the statements that give one.

use prose_syntax::SyntaxKind::*;

use super::variables::visible;
use super::{CompletionKind, Context, calls, statements};
use crate::cursor::Piece;

/// Everything that can come after `=`: what is kept under a name is most often made there.
pub(super) fn to_keep(context: &mut Context<'_>) {
    made_by_statements(context);
    variables(context);
    literals(context);
}

/// Everything that can come after `return` or `output`: what is given back is most often there already.
pub(super) fn to_give(context: &mut Context<'_>) {
    variables(context);
    made_by_statements(context);
    literals(context);
}

fn made_by_statements(context: &mut Context<'_>) {
    statements::with_value(context);
    calls::sessions_of_agents(context);
    calls::blocks_to_call(context, "do ");
    calls::programs_to_call(context);
}

/// Everything that can stand where an expression begins.
pub(super) fn all(context: &mut Context<'_>) {
    variables(context);
    calls::programs_to_call(context);
    literals(context);
}

/// What can be at the start of a condition.
pub(super) fn condition(context: &mut Context<'_>) {
    let item = context
        .item(CompletionKind::Keyword, "**…**")
        .snippet("**$1**")
        .text("**")
        .filter("**")
        .detail("a condition that a model judges");
    context.add(item);
    variables(context);
    keyword(context, "not", "the negated condition");
}

/// The variables that can be seen.
pub(super) fn variables(context: &mut Context<'_>) {
    variables_but(context, &[]);
}

/// The variables that can be seen, without those of the given names.
pub(super) fn variables_but(context: &mut Context<'_>, given: &[&str]) {
    for variable in visible(&context.cursor) {
        if !given.contains(&variable.name.as_str()) {
            context.add(variable.item(context));
        }
    }
}

/// What a session can be given: a variable, or several in brackets or braces.
pub(super) fn of_context(context: &mut Context<'_>) {
    variables(context);
    for (label, snippet, detail) in
        [("[…]", "[$1]", "several values"), ("{…}", "{ $1 \\}", "several named values")]
    {
        let open = &label[..1];
        let item = context
            .item(CompletionKind::Value, label)
            .snippet(snippet)
            .filter(open)
            .detail(detail)
            .text(open);
        context.add(item);
    }
}

fn literals(context: &mut Context<'_>) {
    for kind in [TRUE_KW, FALSE_KW, NULL_KW] {
        context.add(context.item(CompletionKind::Keyword, statements::text_of(kind)));
    }
}

/// What continues with a value that `pieces` is the start of.
pub(super) fn operand(context: &mut Context<'_>, pieces: &[Piece<'_>]) {
    match pieces.last() {
        None => all(context),
        Some(last) if last.ends_value() => {}
        Some(_) => all(context),
    }
}

/// What continues with a condition.
pub(super) fn condition_after(context: &mut Context<'_>, pieces: &[Piece<'_>]) {
    match pieces.last() {
        Some(last) if last.ends_value() => operators(context),
        _ => condition(context),
    }
}

/// The operators that are words.
pub(super) fn operators(context: &mut Context<'_>) {
    keyword(context, "and", "both hold");
    keyword(context, "or", "at least one holds");
    keyword(context, "is", "the same as `==`");
}

/// A keyword with a space after it.
pub(super) fn keyword(context: &mut Context<'_>, word: &str, detail: &str) {
    let item = context.item(CompletionKind::Keyword, word).text(format!("{word} "));
    context.add(item.detail(detail).continues());
}

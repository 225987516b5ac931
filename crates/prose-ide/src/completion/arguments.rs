//! Arguments of calls.

use prose_analysis::contract::contract;
use prose_syntax::SyntaxKind::*;

use super::calls::{blocks, program};
use super::{Completion, CompletionKind, Context, values};
use crate::cursor::{Piece, last_item, names_before_colons};

/// The arguments of a call: `before` ends with what is called, `inside` is what follows the parenthesis.
pub(super) fn arguments(context: &mut Context<'_>, before: &[Piece<'_>], inside: &[Piece<'_>]) {
    let item = last_item(inside);
    if !item.is_empty() {
        let value = match item {
            [name, colon, value @ ..] if name.is_name() && colon.kind == COLON => value,
            item => item,
        };
        return values::operand(context, value);
    }
    let mut given: Vec<&str> = names_before_colons(inside);
    given.extend(context.cursor.names_after());
    let Some(callee) = before.last() else { return };
    let is_block = before.len() > 1 && before[before.len() - 2].kind == DO_KW;
    if is_block {
        let block = blocks(&context.cursor).into_iter().find(|block| block.name == callee.text);
        for param in block.iter().flat_map(|block| &block.facts.params) {
            if !given.contains(&param.as_str()) {
                context.add(argument(context, param, "parameter"));
            }
        }
        return values::all(context);
    }
    let known = program(&context.cursor, &callee.text.into());
    let Some(known) = known else { return values::all(context) };
    for input in &contract(context.cursor.db, known).inputs {
        if !given.contains(&input.name.as_str()) {
            let detail = if input.is_optional() { "optional input" } else { "input" };
            context.add(
                argument(context, &input.name, detail)
                    .documentation(input.description.as_deref().unwrap_or_default()),
            );
        }
    }
}

fn argument(context: &Context<'_>, name: &str, detail: &str) -> Completion {
    let has_colon = context.cursor.after_word().trim_start_matches(' ').starts_with(':');
    let text = if has_colon { name.to_owned() } else { format!("{name}: ") };
    context.item(CompletionKind::Parameter, name).text(text).detail(detail).continues()
}

//! Between brackets: options, arguments, parameters, lists and objects.

use prose_syntax::SyntaxKind::*;
use prose_syntax::options::{Header, OptionValue, STRATEGIES};
use prose_syntax::properties::Owner;

use super::{CompletionKind, Context, arguments, calls, properties, values};
use crate::cursor::{Piece, PropertyOwner, last_item, names_before_colons, statement_start};

/// What can come after the open bracket at `open` of the line's pieces.
pub(super) fn complete(context: &mut Context<'_>, open: usize) {
    let pieces = context.cursor.pieces.clone();
    let (before, inside) = (&pieces[..open], &pieces[open + 1..]);
    let item = last_item(inside);
    match pieces[open].kind {
        L_PAREN => parentheses(context, before, inside),
        L_BRACE if before.last().is_some_and(|word| matches!(word.kind, LET_KW | CONST_KW)) => {
            destructuring(context, inside);
        }
        L_BRACE => match item {
            // A shorthand names a variable, each once.
            [] => {
                let given: Vec<&str> = inside.iter().map(|piece| piece.text).collect();
                values::variables_but(context, &given);
            }
            [key, colon, value @ ..] if colon.kind == COLON && (key.is_name() || key.kind == STRING) => {
                values::operand(context, value);
            }
            _ => {}
        },
        // The patterns of a permission are strings.
        _ if context.cursor.property_owner() == Some(PropertyOwner::Permissions) => {
            if item.is_empty() {
                values::variables(context);
            }
        }
        _ if is_value_of("skills", before) => {}
        _ if is_value_of("context", before) => {
            if item.is_empty() {
                let given: Vec<&str> = inside.iter().map(|piece| piece.text).collect();
                values::variables_but(context, &given);
            }
        }
        _ => values::operand(context, item),
    }
}

/// Whether the pieces are the name and the colon of a property.
fn is_value_of(property: &str, before: &[Piece<'_>]) -> bool {
    matches!(before, [.., name, colon] if name.text == property && colon.kind == COLON)
}

fn parentheses(context: &mut Context<'_>, before: &[Piece<'_>], inside: &[Piece<'_>]) {
    let (start, _) = statement_start(before);
    let statement = &before[start.min(before.len())..];
    match statement {
        [parallel] if parallel.kind == PARALLEL_KW => options(context, Header::Parallel, inside),
        [first, .., last] if first.kind == LOOP_KW && !is_callee(last, context) => {
            options(context, Header::Loop, inside);
        }
        [first] if first.kind == LOOP_KW => options(context, Header::Loop, inside),
        [block, .., closer] if block.kind == BLOCK_KW && closer.kind == R_PAREN => {
            options(context, Header::Block, inside);
        }
        [block, name] if block.kind == BLOCK_KW && name.is_name() => {
            // New names, unless the block has no parameters.
            if inside.is_empty() {
                options(context, Header::Block, inside);
            }
        }
        [pipe, ..] if pipe.kind == PIPE => {}
        [session, text] if session.kind == SESSION_KW && text.kind == STRING => {
            inline_properties(context, inside);
        }
        [.., callee] if is_callee(callee, context) => arguments::arguments(context, statement, inside),
        _ => values::operand(context, last_item(inside)),
    }
}

/// Whether the parenthesis after the piece is that of a call.
fn is_callee(piece: &Piece<'_>, context: &Context<'_>) -> bool {
    let is_glued = context.cursor.text[usize::from(piece.range.end())..].starts_with('(');
    piece.is_name() && is_glued
}

/// The options of a header.
fn options(context: &mut Context<'_>, header: Header, inside: &[Piece<'_>]) {
    let item = last_item(inside);
    match item {
        [] => {}
        [name, colon] if colon.kind == COLON => {
            let option = header.options().find(|option| option.name == name.text);
            for word in option.map(|option| option.value.words()).unwrap_or_default() {
                let item = context
                    .item(CompletionKind::Value, format!("\"{}\"", word.name))
                    .filter(word.name)
                    .documentation(word.summary);
                context.add(item);
            }
            return;
        }
        _ => return,
    }
    let mut given = names_before_colons(inside);
    given.extend(context.cursor.names_after());
    if header == Header::Parallel && inside.is_empty() {
        for strategy in STRATEGIES {
            let item = context
                .item(CompletionKind::Value, format!("\"{}\"", strategy.name))
                .filter(strategy.name)
                .detail("strategy")
                .documentation(strategy.summary);
            context.add(item);
        }
    }
    for option in header.options().filter(|option| !given.contains(&option.name)) {
        let item = context
            .item(CompletionKind::Property, option.name)
            .detail("option")
            .documentation(option.summary)
            .continues();
        let has_colon = context.cursor.after_word().trim_start_matches(' ').starts_with(':');
        context.add(match option.value {
            _ if has_colon => item,
            OptionValue::Count => item.snippet(format!("{}: ${{1:5}}", option.name)),
            OptionValue::FailurePolicy => item.text(format!("{}: ", option.name)),
        });
    }
}

/// The properties in parentheses after the text of a session.
fn inline_properties(context: &mut Context<'_>, inside: &[Piece<'_>]) {
    match last_item(inside) {
        [] => {
            let mut given = names_before_colons(inside);
            given.extend(context.cursor.names_after());
            properties::names(context, Owner::Session, &given);
        }
        [name, colon, value @ ..] if colon.kind == COLON => {
            properties::values(context, name.text, value);
        }
        _ => {}
    }
}

/// The outputs of the program or the block whose result is taken apart.
fn destructuring(context: &mut Context<'_>, inside: &[Piece<'_>]) {
    if !last_item(inside).is_empty() {
        return;
    }
    let behind = context.cursor.pieces_after();
    let equals = behind.iter().position(|piece| piece.kind == EQ);
    match equals.map(|equals| &behind[equals + 1..]) {
        Some([keyword, block, ..]) if keyword.kind == DO_KW => {
            let block = block.text.into();
            calls::outputs_of_block(context, &block);
        }
        Some([callee, ..]) if callee.is_name() => {
            let program = callee.text.into();
            calls::outputs_of_program(context, &program);
        }
        _ => return,
    }
    let given: Vec<&Piece<'_>> =
        inside.iter().chain(behind.iter().take_while(|piece| piece.kind != R_BRACE)).collect();
    context.items.retain(|item| given.iter().all(|piece| piece.text != item.label));
}

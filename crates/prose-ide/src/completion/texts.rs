//! Inside of strings and discretions: references in braces, paths, and words in quotes.

use prose_syntax::SyntaxKind::*;
use prose_syntax::options::{OPTIONS, STRATEGIES};
use prose_syntax::properties::{self, MODELS, Owner};
use prose_syntax::{TextRange, names};

use super::variables::{anywhere, visible};
use super::{CompletionKind, Context, calls, paths};
use crate::cursor::{PropertyOwner, open_bracket};

/// What can be written in the literal around the cursor.
pub(super) fn complete(context: &mut Context<'_>) {
    if let Some(reference) = Reference::before_cursor(context) {
        return reference.complete(context);
    }
    whole_literal(context);
}

/// The start of a reference in braces that the cursor is in.
struct Reference {
    /// The names before the one that is being typed.
    path: Vec<String>,
    /// Where the braces are: in an agent's text anything may be interpolated.
    in_agent: bool,
}

impl Reference {
    fn before_cursor(context: &Context<'_>) -> Option<Self> {
        let cursor = &context.cursor;
        let literal = cursor.literal.as_ref()?;
        let start = usize::from(literal.content.start());
        let before = cursor.text.get(start..usize::from(cursor.word.start()).max(start))?;
        let open = before.rfind(|c: char| !(names::is_part(c) || matches!(c, '-' | '.')))?;
        let is_escaped = literal.node.kind() == STRING && before[..open].ends_with('\\');
        if !before[open..].starts_with('{') || is_escaped {
            return None;
        }
        let mut path: Vec<String> = before[open + 1..].split('.').map(str::to_owned).collect();
        // What comes after the last dot is the word itself.
        let last = path.pop()?;
        let is_sound = last.is_empty() && path.iter().all(|name| !name.is_empty());
        let in_agent = cursor.property_owner() == Some(PropertyOwner::Statement(Owner::Agent));
        is_sound.then_some(Self { path, in_agent })
    }

    fn complete(self, context: &mut Context<'_>) {
        let is_closed = context.cursor.after_word().starts_with(['}', '.', '[']);
        let first = context.items.len();
        match self.path.as_slice() {
            [] => {
                let variables =
                    if self.in_agent { anywhere(&context.cursor) } else { visible(&context.cursor) };
                for variable in variables {
                    context.add(variable.item(context));
                }
            }
            [variable] => calls::parts_of_variable(context, variable),
            _ => {}
        }
        if !is_closed {
            for item in &mut context.items[first..] {
                item.text.push('}');
            }
        }
    }
}

/// A literal that is one word or one path.
fn whole_literal(context: &mut Context<'_>) {
    let cursor = &context.cursor;
    let Some(literal) = &cursor.literal else { return };
    let is_one_line = literal.node.first_token().is_some_and(|token| token.kind() == QUOTE);
    if !is_one_line {
        return;
    }
    let end = literal.content.end().max(cursor.offset);
    // What is not closed continues to the end of the line, and may hold what was meant to be code.
    let end = match literal.is_closed {
        true => end,
        false => end.min(cursor.word.end().max(cursor.offset)),
    };
    let start = literal.content.start();
    let closing = if literal.is_closed { "" } else { "\"" };
    let pieces = &cursor.pieces;
    let words = match pieces.as_slice() {
        [.., word] if word.kind == USE_KW && pieces.len() == 1 => {
            return paths::between_quotes(context, TextRange::new(start, end), closing);
        }
        [.., name, colon] if colon.kind == COLON && open_bracket(pieces).is_none() => {
            let property = properties::find(name.text);
            let takes_words = property.is_some_and(|_| cursor.property_owner().is_some());
            // The words of `persist` stand without quotes: what is quoted there is a path.
            property
                .filter(|property| takes_words && property.name != "persist")
                .map(|property| property.words)
        }
        [parallel, paren] if parallel.kind == PARALLEL_KW && paren.kind == L_PAREN => Some(STRATEGIES),
        [.., parallel, paren] if parallel.kind == PARALLEL_KW && paren.kind == L_PAREN => Some(STRATEGIES),
        [.., name, colon] if colon.kind == COLON => {
            OPTIONS.iter().find(|option| option.name == name.text).map(|option| option.value.words())
        }
        _ => None,
    };
    let Some(words) = words.filter(|words| !words.is_empty()) else { return };
    context.replaced = TextRange::new(start, end);
    for word in words {
        let item = context
            .item(CompletionKind::Value, word.name)
            .text(format!("{}{closing}", word.name))
            .documentation(word.summary);
        context.add(item);
    }
    if words == MODELS {
        super::properties::aliases(context);
    }
}

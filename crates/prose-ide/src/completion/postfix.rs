//! Postfix completions: `xs.map` becomes a pipeline.

use prose_syntax::SyntaxKind::*;
use prose_syntax::TextRange;

use super::item::escape;
use super::variables::visible;
use super::{CompletionKind, Context};
use crate::cursor::{Start, statement_start};

/// Something to write around a value: its name, a snippet in which `%` stands for the value, and what it is.
type Template = (&'static str, &'static str, &'static str);

/// The templates that have a value.
const VALUES: &[Template] = &[
    ("map", "% | map:\n  session \"${1:Work on} {item}\"", "A session for each item, one after the other"),
    ("pmap", "% | pmap:\n  session \"${1:Work on} {item}\"", "A session for each item, concurrently"),
    (
        "filter",
        "% | filter:\n  session \"${1:Is} {item} ${2:good}? Answer true or false.\"",
        "The items for which a session answers yes",
    ),
    (
        "reduce",
        "% | reduce(${1:result}, ${2:item}):\n  session \"${3:Combine} {${1:result}} and {${2:item}}\"",
        "One value from all items",
    ),
    ("session", "session \"$1\"\n  context: %", "A session with the value as context"),
];

/// The templates that are statements without a value.
const STATEMENTS: &[Template] = &[
    ("for", "for ${1:item} in %:\n  $0", "A body for each item, one after the other"),
    ("pfor", "parallel for ${1:item} in %:\n  $0", "A body for each item, concurrently"),
    ("if", "if **{%} ${1:is good}**:\n  $0", "A body that runs if a model judges the condition true"),
    ("output", "output ${1:result} = %", "The value as an output of the program"),
];

/// The templates for the variable, or the part of one, before the dot that the pieces end with, if a statement or its value begins
/// with it.
pub(super) fn complete(context: &mut Context<'_>) {
    let cursor = &context.cursor;
    let (start, why) = statement_start(&cursor.pieces);
    let [path @ .., dot] = &cursor.pieces[start..] else { return };
    let [variable, fields @ ..] = path else { return };
    let is_variable =
        variable.kind == IDENT && visible(cursor).iter().any(|visible| visible.name == variable.text);
    let is_path =
        fields.chunks(2).all(|step| matches!(step, [dot, name] if dot.kind == DOT && name.is_name()));
    if !is_variable || !is_path || dot.kind != DOT || !cursor.is_at_end() {
        return;
    }
    let alone = match why {
        Start::Line | Start::Body => true,
        Start::Value => false,
        Start::Arrow | Start::Stage => return,
    };
    let value = TextRange::new(variable.range.start(), dot.range.start());
    let (value, range) = (&cursor.text[value], TextRange::new(value.start(), cursor.word.end()));
    let statements = if alone { STATEMENTS } else { &[] };
    for (name, snippet, summary) in VALUES.iter().chain(statements) {
        let item = context
            .item(CompletionKind::Snippet, *name)
            .detail(*summary)
            .snippet(snippet.replace('%', &escape(value)))
            .filter(format!("{value}.{name}"));
        context.add(super::Completion { range, ..item });
    }
}

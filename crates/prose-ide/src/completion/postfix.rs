//! Postfix completions: `xs.map` becomes a pipeline.

use prose_syntax::SyntaxKind::*;
use prose_syntax::TextRange;

use super::item::escape;
use super::variables::visible;
use super::{CompletionKind, Context};
use crate::cursor::{Start, statement_start};

/// Something to write around a value. `%` stands for the value.
struct Template {
    name: &'static str,
    snippet: &'static str,
    summary: &'static str,
    /// Whether it is a statement that is not a value.
    stands_alone: bool,
}

const TEMPLATES: &[Template] = &[
    Template {
        name: "map",
        snippet: "% | map:\n  session \"${1:Work on} {item}\"",
        summary: "A session for each item, one after the other",
        stands_alone: false,
    },
    Template {
        name: "pmap",
        snippet: "% | pmap:\n  session \"${1:Work on} {item}\"",
        summary: "A session for each item, concurrently",
        stands_alone: false,
    },
    Template {
        name: "filter",
        snippet: "% | filter:\n  session \"${1:Is} {item} ${2:good}? Answer true or false.\"",
        summary: "The items for which a session answers yes",
        stands_alone: false,
    },
    Template {
        name: "reduce",
        snippet: "% | reduce(${1:result}, ${2:item}):\n  session \"${3:Combine} {${1:result}} and {${2:item}}\"",
        summary: "One value from all items",
        stands_alone: false,
    },
    Template {
        name: "session",
        snippet: "session \"$1\"\n  context: %",
        summary: "A session with the value as context",
        stands_alone: false,
    },
    Template {
        name: "for",
        snippet: "for ${1:item} in %:\n  $0",
        summary: "A body for each item, one after the other",
        stands_alone: true,
    },
    Template {
        name: "pfor",
        snippet: "parallel for ${1:item} in %:\n  $0",
        summary: "A body for each item, concurrently",
        stands_alone: true,
    },
    Template {
        name: "if",
        snippet: "if **{%} ${1:is good}**:\n  $0",
        summary: "A body that runs if a model judges the condition true",
        stands_alone: true,
    },
    Template {
        name: "output",
        snippet: "output ${1:result} = %",
        summary: "The value as an output of the program",
        stands_alone: true,
    },
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
    for template in TEMPLATES.iter().filter(|template| alone || !template.stands_alone) {
        let item = context.item(CompletionKind::Snippet, template.name);
        let item = item
            .detail(template.summary)
            .snippet(template.snippet.replace('%', &escape(value)))
            .filter(format!("{value}.{}", template.name));
        context.add(super::Completion { range, ..item });
    }
}

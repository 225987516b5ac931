//! The properties of agents and sessions, their values, and permissions.

use prose_syntax::options::Word;
use prose_syntax::properties::{self, MODELS, Owner, PERMISSION_VALUES, PERMISSIONS, Property};

use super::item::explained;
use super::{Completion, CompletionKind, Context, values};
use crate::cursor::Piece;

/// The properties that an owner has not got yet.
pub(super) fn names(context: &mut Context<'_>, owner: Owner, given: &[&str]) {
    let mut missing: Vec<&Property> =
        properties::of(owner).filter(|property| !given.contains(&property.name)).collect();
    // The model of a session is most often that of its agent.
    missing.sort_by_key(|property| owner == Owner::Session && property.name == "model");
    for property in missing {
        let item = context
            .item(CompletionKind::Property, property.name)
            .detail("property")
            .documentation(explained(property.summary, property.docs));
        context.add(with_value(context, item, property.name, property.value));
    }
}

/// The permissions that are not given yet.
pub(super) fn permissions(context: &mut Context<'_>, given: &[&str]) {
    for permission in PERMISSIONS.iter().filter(|permission| !given.contains(&permission.name)) {
        let item = context
            .item(CompletionKind::Property, permission.name)
            .detail("permission")
            .documentation(explained(permission.summary, permission.docs));
        context.add(with_value(context, item, permission.name, None));
    }
}

/// Lets a name be written with its colon, and with the snippet of its value, unless the colon is there already.
fn with_value(context: &Context<'_>, item: Completion, name: &str, value: Option<&str>) -> Completion {
    let has_colon = context.cursor.after_word().trim_start_matches(' ').starts_with(':');
    match value {
        _ if has_colon => item,
        _ if !context.cursor.is_at_end() => item.text(format!("{name}:")),
        // Only a block is on the lines below.
        Some(value) if value.starts_with('\n') => item.snippet(format!("{name}:{value}")),
        Some(value) => item.snippet(format!("{name}: {value}")),
        None => item.text(format!("{name}: ")).continues(),
    }
}

/// The values of a property; `value` is what of it comes before the word.
pub(super) fn values(context: &mut Context<'_>, name: &str, value: &[Piece<'_>]) {
    if name == "context" {
        return match value {
            [] => values::of_context(context),
            value => values::operand(context, value),
        };
    }
    if !value.is_empty() {
        return;
    }
    if let Some(property) = properties::find(name) {
        words(context, property.words);
        if property.words == MODELS {
            aliases(context);
        }
        snippet_of_value(context, property);
    }
}

/// What a permission may be.
pub(super) fn permission_values(context: &mut Context<'_>, value: &[Piece<'_>]) {
    if value.is_empty() {
        words(context, PERMISSION_VALUES);
        let patterns = context
            .item(CompletionKind::Value, "[\"…\"]")
            .snippet("[\"${1:**}\"]")
            .text("[")
            .filter("[")
            .detail("patterns that are allowed");
        context.add(patterns);
    }
}

fn snippet_of_value(context: &mut Context<'_>, property: &Property) {
    let Some(value) = property.value.filter(|value| !value.starts_with('\n')) else { return };
    let label: String = value.replace("$1", "…");
    // A number has nothing that could be completed.
    if label != value {
        let filter: String = label.chars().take_while(|c| *c != '…').collect();
        let item = context
            .item(CompletionKind::Value, label)
            .snippet(value)
            .text(filter.as_str())
            .filter(filter)
            .detail(property.name);
        context.add(item);
    }
}

/// The words of a table.
pub(super) fn words(context: &mut Context<'_>, words: &[Word]) {
    for word in words {
        context.add(context.item(CompletionKind::Value, word.name).documentation(word.summary));
    }
}

/// The models that the settings give a name.
pub(super) fn aliases(context: &mut Context<'_>) {
    let db = context.cursor.db;
    for (alias, model) in context.cursor.file.project(db).models.iter() {
        context.add(context.item(CompletionKind::Value, alias.as_str()).detail(model.as_str()));
    }
}

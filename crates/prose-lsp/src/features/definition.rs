//! `textDocument/definition`, `declaration`, `typeDefinition` and `implementation`.

use prose_analysis::{Db, SourceFile};
use prose_ide::Definition;
use prose_syntax::TextSize;
use serde_json::{Value, json};

use crate::protocol::convert::Converter;
use crate::reads::views::View;

/// The answer to `textDocument/definition`.
pub(crate) fn definition(view: &View<'_>, offset: TextSize) -> Option<Vec<Value>> {
    let definition = prose_ide::goto_definition(view.db, view.snapshot.file, offset)?;
    Some(targets(view, &definition, view.session.links_definitions))
}

/// The answer to the requests that lead to other places than the definition.
pub(crate) fn goto(
    view: &View<'_>,
    offset: TextSize,
    goto: fn(&dyn Db, SourceFile, TextSize) -> Option<Definition>,
) -> Vec<Value> {
    let found = goto(view.db, view.snapshot.file, offset);
    found.map(|found| targets(view, &found, false)).unwrap_or_default()
}

/// The targets as places or, for a client that takes them, as links with the range that they are asked from.
fn targets(view: &View<'_>, definition: &Definition, are_links: bool) -> Vec<Value> {
    let origin = view.converter().range(definition.origin);
    let targets = definition.targets.iter().filter_map(|target| {
        let (uri, shown) = view.place(target.file)?;
        let there = Converter::new(&shown, view.session);
        Some(if are_links {
            json!({
                "originSelectionRange": origin,
                "targetUri": &*uri,
                "targetRange": there.range(target.range),
                "targetSelectionRange": there.range(target.selection_range),
            })
        } else {
            json!({ "uri": &*uri, "range": there.range(target.selection_range) })
        })
    });
    targets.collect()
}

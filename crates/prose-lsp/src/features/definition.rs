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
    let origin = view.converter().range(definition.origin);
    let targets = definition.targets.iter().filter_map(|target| {
        let (uri, shown) = view.place(target.file)?;
        let there = Converter::new(&shown, view.session);
        Some(if view.session.links_definitions {
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
    Some(targets.collect())
}

/// The answer to the requests that lead to other places than the definition.
pub(crate) fn goto(
    view: &View<'_>,
    offset: TextSize,
    goto: fn(&dyn Db, SourceFile, TextSize) -> Option<Definition>,
) -> Vec<Value> {
    let found = goto(view.db, view.snapshot.file, offset);
    let targets = found.iter().flat_map(|found| &found.targets).filter_map(|target| {
        let (uri, shown) = view.place(target.file)?;
        let range = Converter::new(&shown, view.session).range(target.selection_range);
        Some(json!({ "uri": &*uri, "range": range }))
    });
    targets.collect()
}

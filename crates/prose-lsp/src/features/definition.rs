//! `textDocument/definition`, `declaration`, `typeDefinition` and `implementation`.

use prose_analysis::{Db, SourceFile};
use prose_ide::Definition;
use prose_syntax::TextSize;
use serde_json::{Value, json};

use crate::protocol::convert::Converter;
use crate::protocol::json::{Json, json as text};
use crate::protocol::session::Session;
use crate::reads::views::View;

/// The answer to `textDocument/definition`.
pub(crate) fn definition(view: &View<'_>, session: &Session, offset: TextSize) -> Json {
    let Some(definition) = prose_ide::goto_definition(view.db, view.snapshot.file, offset) else {
        return text(&());
    };
    let origin = view.converter(session).range(definition.origin);
    let targets = definition.targets.iter().filter_map(|target| {
        let (uri, shown) = view.place(target.file)?;
        let there = Converter::new(&shown, session);
        Some(if session.links_definitions {
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
    text(&targets.collect::<Vec<Value>>())
}

/// The answer to the requests that lead to other places than the definition.
pub(crate) fn goto(
    view: &View<'_>,
    session: &Session,
    offset: TextSize,
    goto: fn(&dyn Db, SourceFile, TextSize) -> Option<Definition>,
) -> Json {
    let found = goto(view.db, view.snapshot.file, offset);
    let targets = found.iter().flat_map(|found| &found.targets).filter_map(|target| {
        let (uri, shown) = view.place(target.file)?;
        let range = Converter::new(&shown, session).range(target.selection_range);
        Some(json!({ "uri": &*uri, "range": range }))
    });
    text(&targets.collect::<Vec<Value>>())
}

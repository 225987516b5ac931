//! The call hierarchy.

use std::path::Path;

use prose_analysis::{Database, SourceFile};
use prose_ide::{Callable, Calls};
use prose_syntax::TextSize;
use serde::Deserialize;
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::documents::programs::Programs;
use crate::protocol::convert::Converter;
use crate::protocol::json::{Json, json as text};
use crate::protocol::session::Session;
use crate::reads::views::{View, Views};

/// The data of an item, which the client sends back.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ItemData {
    path: String,
    block: Option<SmolStr>,
}

/// The answer to `textDocument/prepareCallHierarchy`.
pub(crate) fn prepare(view: &View<'_>, offset: TextSize) -> Option<Vec<Value>> {
    let found = prose_ide::callables(view.db, view.snapshot.file, offset);
    let item = |callable| item(view.db, view.programs, view.session, callable);
    let items: Vec<Value> = found.iter().filter_map(item).collect();
    (!items.is_empty()).then_some(items)
}

/// The answer to `callHierarchy/incomingCalls`.
pub(crate) fn incoming(views: &Views, data: &ItemData) -> Json {
    let calls = callable(views, data).map(|callee| {
        let calls = prose_ide::incoming_calls(&views.db, &callee, &views.db.programs());
        listed(views, "from", &calls, |calls| calls.other.file())
    });
    text(&calls)
}

/// The answer to `callHierarchy/outgoingCalls`.
pub(crate) fn outgoing(views: &Views, data: &ItemData) -> Json {
    let calls = callable(views, data)
        .map(|caller| listed(views, "to", &prose_ide::outgoing_calls(&views.db, &caller), |_| caller.file()));
    text(&calls)
}

/// Calls, whose other end is called `end` in the answer, with their ranges in the file of the caller.
fn listed(views: &Views, end: &str, calls: &[Calls], caller: impl Fn(&Calls) -> SourceFile) -> Vec<Value> {
    let listed = calls.iter().filter_map(|calls| {
        let other = item(&views.db, &views.programs, &views.session, &calls.other)?;
        let (_, shown) = views.programs.place(&views.db, caller(calls))?;
        let converter = Converter::new(&shown, &views.session);
        let ranges: Vec<_> = calls.ranges.iter().map(|range| converter.range(*range)).collect();
        Some(json!({ end: other, "fromRanges": ranges }))
    });
    listed.collect()
}

/// The block or program of an item, if it still exists.
fn callable(views: &Views, data: &ItemData) -> Option<Callable> {
    let file = views.db.file_at(Path::new(&data.path))?;
    Some(match &data.block {
        Some(block) => Callable::Block(file, block.clone()),
        None => Callable::Program(file),
    })
}

fn item(db: &Database, programs: &Programs, session: &Session, callable: &Callable) -> Option<Value> {
    const FUNCTION: u32 = 12;
    const MODULE: u32 = 2;
    let file = callable.file();
    let (uri, shown) = programs.place(db, file)?;
    let (range, name_range) = callable.place(db)?;
    let converter = Converter::new(&shown, session);
    let path = file.path(db).display().to_string();
    let stem = file.path(db).file_name().map_or_else(|| path.clone(), |name| name.display().to_string());
    let (name, kind, block) = match callable {
        Callable::Block(_, name) => (name.as_str(), FUNCTION, Some(name)),
        Callable::Program(_) => (stem.as_str(), MODULE, None),
    };
    let mut item = json!({
        "name": name,
        "kind": kind,
        "uri": &*uri,
        "range": converter.range(range),
        "selectionRange": converter.range(name_range),
        "data": { "path": path, "block": block },
    });
    if block.is_some() {
        item["detail"] = json!(stem);
    }
    Some(item)
}

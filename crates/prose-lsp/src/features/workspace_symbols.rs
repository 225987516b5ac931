//! Definitions by a part of their name, in everything that the workspace has.

use prose_ide::{FoundSymbol, search_symbols};
use serde_json::{Value, json};

use crate::protocol::convert::{Converter, symbol_kind};
use crate::protocol::json::{Json, json as text};
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::session::Session;
use crate::reads::views::Views;

/// The most symbols in an answer. The client sends a request for every letter.
const MAX_SYMBOLS: usize = 400;

/// The answer to `workspace/symbol`.
pub(crate) fn workspace_symbols(views: &Views, typed: &str) -> Json {
    let db = &views.db;
    let known = db.programs();
    let found = search_symbols(db, &known, typed).into_iter().take(MAX_SYMBOLS);
    let entries = found.filter_map(|(file, symbol)| {
        let (uri, shown) = views.programs.place(db, file)?;
        Some(entry(&symbol, &uri, &shown, &views.session))
    });
    text(&entries.collect::<Vec<Value>>())
}

fn entry(found: &FoundSymbol, uri: &str, shown: &ProgramDocument, session: &Session) -> Value {
    let range = Converter::new(shown, session).range(found.symbol.selection_range);
    let file = uri.rsplit('/').next().unwrap_or_default();
    json!({
        "name": found.symbol.name,
        "kind": symbol_kind(found.symbol.kind),
        "location": { "uri": uri, "range": range },
        "containerName": found.container.as_deref().unwrap_or(file),
    })
}

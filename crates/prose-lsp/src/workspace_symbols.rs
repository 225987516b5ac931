//! Definitions by a part of their name, in everything that the workspace has.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use prose_ide::{FoundSymbol, SymbolQuery, search_symbols};
use ropey::Rope;
use serde_json::{Value, json};

use crate::convert::{Converter, Session, symbol_kind, uri_of_path};
use crate::json::{Json, json as text};
use crate::reads::Views;
use crate::shown::Shown;
use crate::workspace_files::{files_below, is_program};

/// How many definitions an answer has at most: nobody reads more, and the client asks again for every letter.
const MOST: usize = 400;
/// How many programs of the workspace's folders are looked into that are neither open nor imported.
const MOST_FILES: usize = 500;
/// How long such a program may be, in bytes.
const LONGEST: u64 = 1 << 20;

/// The answer to `workspace/symbol`.
pub(crate) fn workspace_symbols(views: &Views, session: &Session, typed: &str) -> Json {
    let db = &views.db;
    let known = db.programs();
    let mut found: Vec<(u32, Value)> = Vec::new();
    for (file, symbol) in search_symbols(db, &known, typed).into_iter().take(MOST) {
        if let Some((uri, shown)) = views.programs.place(db, file) {
            found.push((symbol.score, entry(&symbol, &uri, &shown, session)));
        }
    }
    let known: HashSet<&Path> = known.iter().map(|file| &**file.path(db)).collect();
    let mut query = SymbolQuery::new(typed);
    for path in programs_in(&session.folders) {
        // An edit must not wait for the disk.
        db.give_way();
        if known.contains(&*path) {
            continue;
        }
        let Some((uri, written)) = uri_of_path(&path).zip(std::fs::read_to_string(&path).ok()) else {
            continue;
        };
        let symbols = query.find(&prose_syntax::parse(&written).syntax());
        let shown = Shown::alone(Rope::from_str(&written));
        found.extend(symbols.iter().map(|symbol| (symbol.score, entry(symbol, &uri, &shown, session))));
    }
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let found = found.into_iter().take(MOST).map(|(_, entry)| entry);
    text(&found.collect::<Vec<Value>>())
}

fn entry(found: &FoundSymbol, uri: &str, shown: &Shown, session: &Session) -> Value {
    let range = Converter::new(shown, session).range(found.symbol.selection_range);
    let file = uri.rsplit('/').next().unwrap_or_default();
    json!({
        "name": found.symbol.name,
        "kind": symbol_kind(found.symbol.kind),
        "location": { "uri": uri, "range": range },
        "containerName": found.container.as_deref().unwrap_or(file),
    })
}

/// Programs below the folders that are not too long to be looked into.
fn programs_in(folders: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let is_short = |path: &PathBuf| path.metadata().is_ok_and(|file| file.len() <= LONGEST);
    files_below(folders).filter(|path| is_program(path)).filter(is_short).take(MOST_FILES)
}

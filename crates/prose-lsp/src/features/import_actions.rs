//! Code actions on imports: fetching a program, pinning it.

use prose_analysis::imports::{Imported, import_sites, imported, note, remote};
use prose_config::FetchMode;
use prose_syntax::TextRange;
use serde_json::{Value, json};

use crate::imports::commands::{FETCH, PIN};
use crate::reads::views::View;

/// The actions on the imports in a range.
pub(crate) fn import_actions(view: &View<'_>, range: TextRange) -> Vec<Value> {
    let (db, file) = (view.db, view.snapshot.file);
    let mut actions = Vec::new();
    for import in import_sites(db, file) {
        let is_here = import.range(db).is_some_and(|place| place.intersect(range).is_some());
        if !is_here || remote(db, file, &import.path).is_none() {
            continue;
        }
        let path = &*import.path;
        let is_known = matches!(imported(db, file, path), Imported::Program(_));
        let is_new = !is_known && note(db, file, path).is_none();
        let action = |title: String, command: &str| {
            let argument = json!({ "uri": &*view.snapshot.name, "path": path });
            json!({ "title": title, "command": { "title": title, "command": command, "arguments": [argument] } })
        };
        let again = if is_known { " again" } else { "" };
        // While it is being fetched there is nothing to do.
        if !is_new && view.snapshot.config.fetch_mode() != FetchMode::Off {
            actions.push(action(format!("Fetch `{path}`{again}"), FETCH));
        }
        if is_known {
            actions.push(action(format!("Pin `{path}` in prose.lock"), PIN));
        }
    }
    actions
}

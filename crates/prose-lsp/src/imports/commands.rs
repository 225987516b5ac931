//! Commands: what code actions at imports have the server do.


use prose_analysis::imports::{Imported, import_sites, imported, note, remote};
use prose_config::FetchMode;
use prose_syntax::TextRange;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::protocol::request::Answer;
use crate::protocol::uri::DocumentUri;
use crate::reads::views::View;
use crate::runs::orders;

/// What a person wants done about an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandKind {
    /// Look up the program, however fresh what is known of it.
    Fetch,
    /// Write into `prose.lock` what the program is now.
    Pin,
}

const FETCH: &str = "prose.fetch";
const PIN: &str = "prose.pin";

/// The names of all commands.
pub(crate) fn names() -> Vec<&'static str> {
    [FETCH, PIN].into_iter().chain(orders::COMMANDS.iter().map(|(name, _)| *name)).collect()
}

/// A command with its arguments.
pub(crate) struct Command {
    pub(crate) uri: DocumentUri,
    /// The path of the import as it is written.
    pub(crate) path: String,
    pub(crate) what: CommandKind,
    pub(crate) answer: Answer,
}

#[derive(Deserialize)]
struct Argument {
    uri: String,
    path: String,
}

impl Command {
    /// Reads the parameters of `workspace/executeCommand`.
    pub(crate) fn read(params: &Value, answer: Answer) -> Result<Self, String> {
        let name = params.get("command").and_then(Value::as_str).unwrap_or_default();
        let what = match name {
            FETCH => CommandKind::Fetch,
            PIN => CommandKind::Pin,
            _ => {
                return Err(format!("`{name}` is not a command of prose; there are {}", names().join(", ")));
            }
        };
        let argument = params.pointer("/arguments/0").unwrap_or(&Value::Null);
        let Argument { uri, path } = Argument::deserialize(argument).map_err(|problem| {
            format!("`{name}` takes one argument, {{ \"uri\": …, \"path\": … }}: {problem}")
        })?;
        Ok(Self { uri: uri.into(), path, what, answer })
    }
}

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

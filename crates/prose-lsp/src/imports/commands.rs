//! The commands at imports, and messages about imports.

use std::path::PathBuf;

use prose_analysis::location::Remote;
use prose_project::imports::FetchResult;
use serde::Deserialize;
use serde_json::Value;

use crate::protocol::answer::Answer;
use crate::protocol::uri::DocumentUri;
use crate::runs::requests;
use crate::testing::commands;

/// A command at an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandKind {
    /// Fetch the program, even if a cached text is fresh.
    Fetch,
    /// Pin the program in `prose.lock`.
    Pin,
}

pub(crate) const FETCH: &str = "prose.fetch";
pub(crate) const PIN: &str = "prose.pin";

/// The names of all commands.
pub(crate) fn names() -> Vec<&'static str> {
    let runs = requests::COMMANDS.iter().map(|(name, _)| *name);
    [FETCH, PIN].into_iter().chain(runs).chain(commands::COMMANDS.iter().copied()).collect()
}

/// A command with its arguments.
pub(crate) struct Command {
    pub(crate) what: CommandKind,
    pub(crate) import: Import,
    pub(crate) answer: Answer,
}

/// The import that a command is about.
#[derive(Deserialize)]
pub(crate) struct Import {
    pub(crate) uri: DocumentUri,
    /// The path as it is written.
    pub(crate) path: String,
}

impl Import {
    /// Reads the parameters of `workspace/executeCommand`.
    pub(crate) fn read(params: &Value) -> Result<(CommandKind, Self), String> {
        let name = params.get("command").and_then(Value::as_str).unwrap_or_default();
        let what = match name {
            FETCH => CommandKind::Fetch,
            PIN => CommandKind::Pin,
            _ => {
                return Err(format!("`{name}` is not a command of prose; there are {}", names().join(", ")));
            }
        };
        let argument = params.pointer("/arguments/0").unwrap_or(&Value::Null);
        let import = Self::deserialize(argument).map_err(|problem| {
            format!("`{name}` takes one argument, {{ \"uri\": …, \"path\": … }}: {problem}")
        })?;
        Ok((what, import))
    }
}

/// A message to the owner about imported programs.
pub(crate) enum ImportMessage {
    /// Fetch or pin a program.
    Command(Command),
    /// What the look-up of a program resulted in.
    Fetched(Remote, FetchResult),
    /// The user has stopped typing, so a program can be looked up.
    Due(Remote),
    /// Some time has passed since the look-up of a program failed.
    RetryDue(Remote),
    /// A program was pinned in the lock file at a path, with a message for the user, or the reason why not.
    Pinned(Result<(String, PathBuf), String>),
}

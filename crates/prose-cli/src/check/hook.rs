//! The file that a coding agent has just edited, as the JSON of its hook says.

use std::path::PathBuf;

use prose_files::{Limit, read_stream};
use serde_json::Value;

/// The program that standard input names, if the agent has edited one. The error says what is wrong with the input.
pub(super) fn edited_program() -> Result<Option<PathBuf>, String> {
    let event = read_stream(std::io::stdin().lock(), Limit::PROGRAM)
        .map_err(|error| format!("the JSON of the hook on standard input {error}"))?;
    let event: Value = serde_json::from_slice(&event)
        .map_err(|error| format!("standard input is not the JSON of a hook: {error}"))?;
    // An edit that has failed leaves no file to check.
    Ok(program_of(&event).filter(|path| path.is_file()))
}

/// The program that the event of a hook names.
fn program_of(event: &Value) -> Option<PathBuf> {
    let input = event.get("tool_input")?;
    let path = ["file_path", "path", "filePath"].iter().find_map(|key| input.get(*key)?.as_str())?;
    let path = PathBuf::from(path);
    path.extension().is_some_and(|extension| extension == "prose").then_some(path)
}

//! The files that a coding agent has just edited, as the JSON of its hook says.

use std::path::{Path, PathBuf};

use prose_files::{Limit, read_stream};
use serde_json::Value;

/// The programs that standard input names, if the agent has edited any. The error says what is wrong with the input.
pub(super) fn edited_programs() -> Result<Vec<PathBuf>, String> {
    let event = read_stream(std::io::stdin().lock(), Limit::PROGRAM)
        .map_err(|error| format!("the JSON of the hook on standard input {error}"))?;
    let event: Value = serde_json::from_slice(&event)
        .map_err(|error| format!("standard input is not the JSON of a hook: {error}"))?;
    // An edit that has failed leaves no file to check.
    Ok(programs_of(&event).into_iter().filter(|path| path.is_file()).collect())
}

/// The programs that the event of a hook names.
fn programs_of(event: &Value) -> Vec<PathBuf> {
    let Some(input) = event.get("tool_input") else { return Vec::new() };
    let texts = |keys: &[&str]| keys.iter().find_map(|key| input.get(*key)?.as_str());
    let mut paths: Vec<&str> = texts(&["file_path", "path", "filePath"]).into_iter().collect();
    // Codex edits with a text that names each file.
    if let Some(patch) = texts(&["command", "input"]).filter(|text| text.contains("*** Begin Patch")) {
        let headers = ["*** Add File: ", "*** Update File: ", "*** Move to: "];
        let file = |line| headers.iter().find_map(|header| str::strip_prefix(line, header));
        paths.extend(patch.lines().filter_map(file).map(str::trim));
    }
    let folder = event.get("cwd").and_then(Value::as_str).map(Path::new);
    let programs =
        paths.into_iter().map(|path| folder.map_or_else(|| path.into(), |folder| folder.join(path)));
    programs.filter(|path: &PathBuf| path.extension().is_some_and(|extension| extension == "prose")).collect()
}

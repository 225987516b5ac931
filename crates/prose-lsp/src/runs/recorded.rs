//! The folders of runs, and what is sent of the texts in them.

use std::path::Path;

use prose_run::Project;
use prose_state::runs::RunDetails;
use serde_json::Value;

/// The longest text in an event of `prose/run`, in characters. What looks at a whole run shows the beginnings of texts, and all texts of a long run
/// together take more than a client has room for.
const MAX_SHOWN_CHARS: usize = 400;

/// What the folder of a run tells.
pub(super) fn details(folder: &Path) -> Result<RunDetails, String> {
    let missing = || format!("{} is not the folder of a run; `prose/runs` lists them", folder.display());
    let id = folder.file_name().and_then(|id| id.to_str()).ok_or_else(missing)?;
    let project = root_of(folder).map(Project::new).ok_or_else(missing)?;
    project.show_run(id).map_err(|error| error.for_editor())
}

/// The folder that holds `.prose/runs` with the folder of a run.
pub(super) fn root_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().nth(3)
}

/// Shortens all texts in a value.
pub(super) fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(MAX_SHOWN_CHARS) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let mut event = json!({ "at": 1, "task": { "prompt": "ü".repeat(MAX_SHOWN_CHARS + 1), "task": "ü".repeat(MAX_SHOWN_CHARS) } });
        shorten(&mut event);
        let (long, short) = (&event["task"]["prompt"], &event["task"]["task"]);
        assert_eq!(*long, format!("{}…", "ü".repeat(MAX_SHOWN_CHARS)));
        assert_eq!(*short, "ü".repeat(MAX_SHOWN_CHARS));
    }
}

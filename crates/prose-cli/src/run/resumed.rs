//! Which program a run goes on with.

use std::fs;
use std::path::Path;

use prose_markdown::program_at_path;
use prose_run::Project;
use prose_state::folder::PROGRAM_FILE;
use prose_state::runs::RunDetails;

/// The program that a run goes on with.
pub(crate) struct Original {
    /// Its path or address.
    pub(crate) program: String,
    /// What the person should know of it.
    pub(crate) note: Option<String>,
}

/// Which program a run goes on with, or why there is none.
pub(crate) fn program(details: &RunDetails, project: &Project) -> Result<Original, String> {
    let copy = details.summary.folder.join(PROGRAM_FILE);
    let at = |path: &Path, note| Original { program: path.to_string_lossy().into_owned(), note };
    let from = details.head.as_ref().map(|head| head.from.as_str());
    let is_there =
        |path: &Path| path.exists() || program_at_path(path).is_some_and(|(path, _)| path.exists());
    if let Some(from) = from.filter(|from| from.contains("://") || is_there(Path::new(from))) {
        return Ok(at(Path::new(from), None));
    }
    // A run of another machine says only what its program is called, and a project may have been moved. What the program imports by relative
    // paths lies beside the program itself and not beside the copy.
    let kept = fs::read_to_string(&copy);
    let original = details.summary.program.as_ref().map(|name| project.root.join(name.as_str()));
    let gone = from
        .map(|from| format!("the program `{from}` is gone; the run goes on with the text that it has kept"));
    match (kept, original) {
        (Ok(kept), Some(original)) if fs::read_to_string(&original).is_ok_and(|text| text == kept) => {
            Ok(at(&original, None))
        }
        (Ok(_), _) => Ok(at(&copy, gone)),
        (Err(error), _) => Err(format!(
            "the program of the run {} is gone, and its copy `{}` cannot be read: {error}; put the program there to go on",
            details.summary.id,
            copy.display()
        )),
    }
}

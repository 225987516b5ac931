//! Which program a run continues with.

use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};
use std::thread::available_parallelism;

use prose_files::{Limit, read_text};
use prose_markdown::program_at_path;
use prose_project::shell::word;
use prose_project::walk;
use prose_registry::Reference;
use prose_run::Project;
use prose_state::folder::{PROGRAM_FILE, resolved};
use prose_state::runs::RunDetails;
use prose_syntax::ast::{AstNode, Use};

/// The program that a run continues with.
pub(crate) struct Original {
    /// Its path or address.
    pub(crate) program: String,
    /// What the person should know of it.
    pub(crate) note: Option<String>,
}

/// Which program a run continues with, or why there is none. `is_confirmed` says whether it is known that this user has started the run; what the journal
/// of another one names has to lie in the project; `how_to_confirm` says how the user names the program of a run.
pub(crate) fn program(
    details: &RunDetails,
    project: &Project,
    accept_changes: bool,
    is_confirmed: bool,
    how_to_confirm: &dyn Fn(&str, &str) -> String,
) -> Result<Original, String> {
    let copy = details.summary.folder.join(PROGRAM_FILE);
    let at = |path: &Path, note| Original { program: path.to_string_lossy().into_owned(), note };
    let from = details.head.as_ref().map(|head| head.from.as_str());
    let is_there =
        |path: &Path| path.exists() || program_at_path(path).is_some_and(|(path, _)| path.exists());
    if let Some(from) = from.filter(|from| from.contains("://") || is_there(Path::new(from))) {
        if !is_confirmed && !resolved(Path::new(from)).starts_with(resolved(&project.root)) {
            let run = &details.summary.id;
            return Err(format!(
                "nothing confirms that you started the run {run} on this machine with the program `{from}`, which is not in the project. If that is \
                 right, {}",
                how_to_confirm(&word(run), &word(from))
            ));
        }
        return Ok(at(Path::new(from), None));
    }
    // A run of another machine says only what its program is called, and a project may have been moved. What the program imports by relative
    // paths is next to the program itself, not next to the copy.
    let kept = read_text(&copy, Limit::PROGRAM).map_err(|error| {
        format!(
            "the program of run {} does not exist any more, and its copy `{}` {error}; restore the program to resume the run",
            details.summary.id,
            copy.display()
        )
    })?;
    let name = details.summary.program.as_deref().map(Path::new).filter(|name| is_inside(name));
    let original = name.map(|name| project.root.join(name)).filter(|path| path.is_file());
    let is_same = |path: &Path| read_text(path, Limit::PROGRAM).is_ok_and(|text| text == kept);
    if let Some(original) = original.as_deref().filter(|path| is_same(path)) {
        return Ok(at(original, None));
    }
    let gone = from.map(|from| {
        format!("program `{from}` does not exist any more; the run is resumed with its stored copy")
    });
    let Some(import) = local_imports(&kept).into_iter().find(|import| !is_beside(&copy, import, project))
    else {
        return Ok(at(&copy, gone));
    };
    if let Some(found) = name.and_then(|name| same_program(project, name, is_same)) {
        return Ok(at(&found, None));
    }
    let run = &details.summary.id;
    match (original, name) {
        (Some(original), _) if accept_changes => Ok(at(&original, None)),
        (Some(original), _) => Err(format!(
            "the program `{}` has changed since the run {run} was started, and `{import}`, which it imports, is looked for next to it; undo the change, \
            or use `--accept-changes` to continue with the program as it is",
            original.display()
        )),
        (None, name) => Err(format!(
            "the program of the run {run} imports `{import}`, which is looked for next to the program, and no program {}with the text of `{}` is in \
            {}; put it back, or name its path from there on the line `program:` of `{}`",
            name.map(|name| format!("`{}` ", name.display())).unwrap_or_default(),
            copy.display(),
            project.root.display(),
            details.summary.folder.join("state.md").display(),
        )),
    }
}

/// Whether a path in a run stays in the folder that it starts from.
fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// What the copy of the program of a run imports from the disk and what is not next to the copy, but next to the program; `None` if the copy can be run.
pub(crate) fn import_elsewhere(copy: &Path, project: &Project) -> Option<String> {
    let kept = read_text(copy, Limit::PROGRAM).ok()?;
    local_imports(&kept).into_iter().find(|import| !is_beside(copy, import, project))
}

/// The paths of the programs that a program imports from the disk.
fn local_imports(text: &str) -> Vec<String> {
    let root = prose_syntax::parse(text).syntax();
    let paths = root.children().filter_map(Use::cast).filter_map(|found| found.path());
    let paths = paths.map(|path| path.syntax().text().to_string().trim().trim_matches('"').to_owned());
    paths.filter(|path| Reference::parse(path).is_ok_and(|reference| reference.is_local())).collect()
}

/// Whether what the copy of a program imports lies next to the copy, and in the project: the author of the folder of a run does not decide what else is
/// read.
fn is_beside(copy: &Path, import: &str, project: &Project) -> bool {
    let path = copy.parent().unwrap_or(Path::new("")).join(import);
    let (Ok(path), Ok(root)) = (path.canonicalize(), project.root.canonicalize()) else { return false };
    path.starts_with(root)
}

/// A program of a project with a name and the text that is wanted: a run of another machine may leave out the folder of its program.
fn same_program(project: &Project, name: &Path, is_same: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let programs = walk::programs(std::slice::from_ref(&project.root), threads).programs;
    programs.into_iter().find(|path| path.file_name() == name.file_name() && is_same(path))
}

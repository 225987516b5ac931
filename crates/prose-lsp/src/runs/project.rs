//! Where runs of a program keep their files.

use std::path::Path;

use prose_run::Project;

use crate::protocol::session::Session;
use crate::workspace::settings::FileConfig;

/// Where the runs of a program keep their files: in the folder of its `prose.toml`, else in the folder that is open in the editor, else beside it.
/// None for a program that lies in no folder.
pub(crate) fn project_of(program: &Path, config: &FileConfig, session: &Session) -> Option<Project> {
    let folder = program.parent().filter(|folder| folder.is_absolute())?;
    let of_settings = config.project_file().and_then(Path::parent);
    let open = session.folders.iter().filter(|open| folder.starts_with(open));
    let open = open.max_by_key(|open| open.components().count()).map(|open| open.as_path());
    let root = of_settings.or(open).unwrap_or(folder);
    Some(Project { home: std::env::home_dir(), ..Project::new(root) })
}

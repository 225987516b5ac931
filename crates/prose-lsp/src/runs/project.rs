//! Where runs of a program keep their files.

use std::path::Path;

use prose_analysis::location::Origin;
use prose_run::Project;

use crate::protocol::session::Session;
use crate::workspace::settings::FileConfig;

/// Where the runs of a program keep their files: in the folder of its `prose.toml`, else in the folder that is open in the editor, else next to it; in the
/// temporary project of this server for a program that is in no folder. None for a program of the cache while no folder is open.
pub(crate) fn project_of(
    program: &Path,
    origin: &Origin,
    config: &FileConfig,
    session: &Session,
) -> Option<Project> {
    let Some(folder) = program.parent().filter(|folder| folder.is_absolute()) else {
        let root = session.temporary.as_ref()?.root()?;
        return Some(Project { home: std::env::home_dir(), ..Project::new(root) });
    };
    let of_settings = config.project_file().and_then(Path::parent);
    let open = session.folders.iter().filter(|open| folder.starts_with(open));
    let open = open.max_by_key(|open| open.components().count()).map(|open| open.as_path());
    let fallback = match origin {
        Origin::Local => Some(folder),
        // The folder of a fetched program belongs to the cache.
        Origin::Remote(_) => session.folders.first().map(|open| open.as_path()),
    };
    let root = of_settings.or(open).or(fallback)?;
    Some(Project { home: std::env::home_dir(), ..Project::new(root) })
}

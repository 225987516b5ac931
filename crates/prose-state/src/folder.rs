//! Where runs keep their files (R96, R97).

use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prose_files::Folder;
use prose_rights::normalized;
use smol_str::{SmolStr, format_smolstr};

pub use crate::disk::resolved;
use crate::disk::{Tree, check_part, is_absent, make_tree, open_tree};
use crate::error::StateError;
use crate::state_file::{self, timestamp};

/// The folder of a project in which everything lies that runs keep.
pub const PROSE_FOLDER: &str = ".prose";

/// What version control leaves out of the folder.
const IGNORE_FILE: &str = ".gitignore";
const IGNORED: &str = "runs/\n.env\nagents.db\n";

/// The copy of the program in the folder of a run.
pub const PROGRAM_FILE: &str = "program.prose";

/// The places where runs of a project keep their files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The folder that holds `.prose`.
    pub root: PathBuf,
    /// The home folder, for the memory of agents that lasts across projects; none where there is none.
    pub home: Option<PathBuf>,
    /// Whether a program may name files and folders outside the project: for the memory of an agent, and to pass on (decision 14).
    pub allows_outside: bool,
    /// The protected files that local programs may pass on if they name them exactly.
    pub allowed_files: Vec<String>,
}

impl Project {
    /// The project whose `.prose` lies in that folder.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), home: None, allows_outside: false, allowed_files: Vec::new() }
    }

    /// Where a path leads that a program names: from the folder that holds `.prose`, or, after `~/`, from the home folder. None if that is outside the
    /// project and the person's own `.prose`, and it is not allowed (decision 14).
    pub(crate) fn named_by_program(&self, path: &str) -> Option<PathBuf> {
        let named = match path.strip_prefix("~/") {
            Some(rest) => self.home.as_ref()?.join(rest),
            None => self.root.join(path),
        };
        if self.allows_outside {
            return Some(named);
        }
        let goes_up = |path: &Path| path.components().any(|part| part == Component::ParentDir);
        let target = resolved(&named);
        let home = self.home.as_ref().map(|home| resolved(&home.join(PROSE_FOLDER)));
        let is_inside =
            target.starts_with(resolved(&self.root)) || home.is_some_and(|home| target.starts_with(home));
        // A `..` that is left comes after what is not there, so that its target is unknown.
        let is_known = is_inside && !goes_up(&target);
        is_known.then(|| if goes_up(&named) { target } else { named })
    }

    /// A path as settings would name it: from the folder of the project, without links.
    pub(crate) fn settled(&self, path: &Path) -> String {
        let target = resolved(path);
        let inside = target.strip_prefix(resolved(&self.root)).unwrap_or(&target);
        normalized(&inside.to_string_lossy())
    }

    /// The folder of all runs.
    pub fn runs(&self) -> PathBuf {
        self.root.join(PROSE_FOLDER).join("runs")
    }

    /// The folder of a run. An id that would lead elsewhere is refused, since ids come from command lines and editors.
    pub fn run(&self, id: &str) -> Result<PathBuf, StateError> {
        check_part(id, id)?;
        Ok(self.runs().join(id))
    }

    /// What the folders of a project have to lie in: the project, whatever links there are on the way; nothing if the person allows it (decision 14).
    fn limits(&self) -> Vec<&Path> {
        if self.allows_outside { Vec::new() } else { vec![&self.root] }
    }

    /// The folder of everything that runs keep. It is made if it is missing, with a list of what version control leaves out.
    pub(crate) fn make_prose_folder(&self) -> Result<Tree, StateError> {
        let tree = make_tree(&self.root.join(PROSE_FOLDER), &self.limits())?;
        if tree.folder().identity(IGNORE_FILE)?.is_none() {
            // As a whole: a part of it would stay, since one that is there is never written over.
            tree.folder().write_new(IGNORE_FILE, IGNORED.as_bytes())?;
        }
        Ok(tree)
    }

    /// The folder of all runs; none if there is none. One that lies elsewhere is refused.
    pub(crate) fn runs_tree(&self) -> Result<Option<Tree>, StateError> {
        open_tree(&self.runs(), &self.limits())
    }

    /// The open folder of a run that exists.
    pub(crate) fn run_tree(&self, folder: &Path) -> Result<Tree, StateError> {
        let missing = || StateError::io("open", folder)(std::io::ErrorKind::NotFound.into());
        open_tree(folder, &self.limits())?.ok_or_else(missing)
    }

    /// The folder of a run that exists and that is a folder, no link to one.
    pub fn existing_run(&self, id: &str) -> Result<PathBuf, StateError> {
        let mut folder = self.run(id)?;
        if !folder.exists() && self.legacy_run(id).exists() {
            // R105
            folder = self.legacy_run(id);
        }
        match folder.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {
                // The folder itself is no link, but `.prose` or `runs` may be one.
                self.run_tree(&folder)?;
                Ok(folder)
            }
            Ok(metadata) if metadata.is_symlink() => Err(StateError::refused(
                folder.display().to_string(),
                "it is a link, and a run writes only to `.prose/runs`; replace it with a folder",
            )),
            Ok(_) => Err(StateError::NoRun { run: id.to_owned(), folder: self.runs() }),
            Err(error) if is_absent(&error) => {
                Err(StateError::NoRun { run: id.to_owned(), folder: self.runs() })
            }
            Err(error) => Err(StateError::io("open", &folder)(error)),
        }
    }

    /// Makes the folder of a new run, and its id, which is the given one if no other run has it.
    pub(crate) fn make_run(&self, id: Option<&str>, at: SystemTime) -> Result<NewRun, StateError> {
        if let Some(id) = id {
            check_part(id, id)?;
        }
        let prose = self.make_prose_folder()?;
        let runs = prose.folder().make_folder(Path::new("runs"))?;
        // Another run may have the same id; the next one will differ.
        let mut wanted = id.map(SmolStr::new);
        let id = loop {
            let id = wanted.take().unwrap_or_else(|| run_id(at));
            if runs.make_new_folder(&id)? {
                break id;
            }
        };
        let tree = Tree::new(runs.make_folder(Path::new(id.as_str()))?);
        Ok(NewRun { folder: self.runs().join(id.as_str()), id, tree, around: [runs, prose.into_folder()] })
    }
}

/// The folder of a run that starts.
pub(crate) struct NewRun {
    pub(crate) id: SmolStr,
    pub(crate) folder: PathBuf,
    pub(crate) tree: Tree,
    /// The folders that it lies in.
    around: [Folder; 2],
}

impl NewRun {
    /// Brings the folder to the disk, so that a loss of power leaves a run that can continue and not a file without a name.
    pub(crate) fn sync(&self) -> Result<(), StateError> {
        self.tree.sync()?;
        self.around.iter().try_for_each(|folder| folder.sync().map_err(StateError::from))
    }
}

/// An id for a run that starts at that time: `20260115-143052-a7b3c9` (R96), in UTC.
pub fn run_id(at: SystemTime) -> SmolStr {
    let at = at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    // `2026-01-15T14:30:52Z`
    let time: String = timestamp(at.as_millis() as u64).chars().filter(char::is_ascii_digit).collect();
    let (date, time) = time.split_at(8);
    let random: String = (0..6).map(|_| char::from_digit(fastrand::u32(0..36), 36).unwrap_or('0')).collect();
    format_smolstr!("{date}-{time}-{random}")
}

/// The milliseconds since 1970 at which a run of that id started, if the id has that.
pub fn time_of_id(id: &str) -> Option<u64> {
    let mut parts = id.split('-');
    let (date, time) = (parts.next()?, parts.next()?);
    let is_time = date.len() == 8
        && time.len() == 6
        && [date, time].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()));
    if !is_time {
        return None;
    }
    let (year, month, day) = (&date[..4], &date[4..6], &date[6..]);
    let (hour, minute, second) = (&time[..2], &time[2..4], &time[4..]);
    state_file::time(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))
}

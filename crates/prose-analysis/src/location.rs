//! Locations of imported programs.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use prose_reference::Reference;
use prose_syntax::Code;
use smol_str::SmolStr;
use url::Url;

/// The location of an imported program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Location {
    /// A local file, at a normalised path.
    File(PathBuf),
    /// A remote program.
    Remote(Remote),
}

impl Location {
    /// The path of a local file.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Location::File(path) => Some(path),
            Location::Remote(_) => None,
        }
    }

    /// The remote program.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        match self {
            Location::Remote(remote) => Some(remote),
            Location::File(_) => None,
        }
    }
}

/// A remote program: in a registry, at an address or in a repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Remote {
    /// The sources of the importer's project: projects may have different registries and vendored copies.
    pub registry: Registry,
    /// The reference, which is never a local one.
    pub reference: Reference,
}

/// The sources of the remote programs of a project.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Registry {
    /// The address of the registry. Empty if the one in the settings is invalid.
    pub url: Arc<str>,
    /// The folder with vendored copies, which take precedence.
    pub vendor: Option<Arc<Path>>,
    /// The lock file.
    pub lock: Option<LockFile>,
}

/// A version of a lock file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockFile {
    /// Its path.
    pub path: Arc<Path>,
    /// A number that changes with its text.
    pub version: u64,
}

impl Remote {
    /// Whether it is in a registry whose address is unknown.
    pub fn is_of_unknown_registry(&self) -> bool {
        self.registry.url.is_empty() && matches!(self.reference, Reference::Registry(_))
    }
}

impl From<&str> for Registry {
    fn from(url: &str) -> Self {
        Self { url: url.into(), vendor: None, lock: None }
    }
}

/// The origin of the text of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// A local file.
    #[default]
    Local,
    /// The network, now or earlier. Such a program never accesses local files.
    Remote(Arc<RemoteOrigin>),
}

/// The origin of a remote program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteOrigin {
    /// The reference that others import it by.
    pub reference: Reference,
    /// The base of local paths in the program.
    pub base: Reference,
    /// The address that answered with the text.
    pub url: Url,
    /// The number of imports from a local program to it.
    pub depth: usize,
    /// Its version, as a message: when it was fetched, from where, with which hash.
    pub version: String,
}

impl Origin {
    /// The number of imports from a local program to this one; 0 for a local one.
    pub fn depth(&self) -> usize {
        match self {
            Origin::Local => 0,
            Origin::Remote(origin) => origin.depth,
        }
    }
}

/// The result of looking up a remote program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fetched {
    /// The program, if there is one.
    pub program: Option<FetchedProgram>,
    /// A note about it.
    pub note: Option<Arc<Note>>,
}

/// A fetched program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedProgram {
    /// A file with the text, for display.
    pub path: PathBuf,
    /// The text.
    pub text: Arc<str>,
    /// Where it came from.
    pub origin: Arc<RemoteOrigin>,
}

/// A note about the target of an import, apart from its own diagnostics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The code of its diagnostic.
    pub code: Code,
    /// The message.
    pub message: String,
    /// A better path: the one that was probably meant, or the one it has moved to.
    pub better: Option<SmolStr>,
}

impl Note {
    /// The file next to a missing one that was probably meant.
    pub(crate) fn near_miss(near: SmolStr) -> Self {
        Self { code: Code::E139, message: format!("did you mean `{near}`?"), better: Some(near) }
    }
}

/// The file that a local path means in a file.
pub fn local_path(importer: &Path, path: &Path) -> PathBuf {
    normalized(&importer.parent().unwrap_or(Path::new("")).join(path))
}

/// The path without `.` and `..`, as far as the path alone shows.
pub fn normalized(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(parts.components().next_back(), Some(Component::Normal(_))) => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts
}

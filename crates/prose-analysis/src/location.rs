//! Where programs lie that others import.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_reference::Reference;
use prose_syntax::Code;
use smol_str::SmolStr;
use url::Url;

/// Where an imported program lies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Location {
    /// In a file of this machine, at a normalised path.
    File(PathBuf),
    /// In a registry, at an address or in a repository.
    Remote(Remote),
}

/// A program in a registry, at an address or in a repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Remote {
    /// Where the project of the importer has it from: projects may have different registries, and copies of their own.
    pub registry: Registry,
    /// The program. Never a local one.
    pub reference: Reference,
}

/// Where the programs of a project come from that are not on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Registry {
    /// The address that programs by name are asked of. Empty if the settings name one that cannot be read.
    pub url: Arc<str>,
    /// The folder with copies, which come before what any host has.
    pub vendor: Option<Arc<Path>>,
    /// The lock file that says which texts programs have.
    pub lock: Option<LockFile>,
}

/// A lock file as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockFile {
    /// Where it lies.
    pub path: Arc<Path>,
    /// A number that is another one when its text is.
    pub version: u64,
}

impl Remote {
    /// Whether it is named as one of a registry that nobody knows.
    pub fn is_of_unknown_registry(&self) -> bool {
        self.registry.url.is_empty() && matches!(self.reference, Reference::Registry(_))
    }
}

impl From<&str> for Registry {
    fn from(url: &str) -> Self {
        Self { url: url.into(), vendor: None, lock: None }
    }
}

/// Where the text of a program came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// From this machine.
    #[default]
    Local,
    /// From the network, now or earlier. Such a program never reaches files of this machine.
    Remote(Arc<RemoteOrigin>),
}

/// Where a program of the network came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteOrigin {
    /// As others import it.
    pub reference: Reference,
    /// What local paths in the program start from.
    pub base: Reference,
    /// The address that answered with the text.
    pub url: Url,
    /// How many programs lie between it and one of this machine, with itself.
    pub depth: usize,
    /// What is known of its version, for a person: when it was fetched, from where, with which hash.
    pub version: String,
}

impl Origin {
    /// How many programs lie between this one and one of this machine, with itself.
    pub fn depth(&self) -> usize {
        match self {
            Origin::Local => 0,
            Origin::Remote(origin) => origin.depth,
        }
    }
}

/// What a look-up of a program gave that is not on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fetched {
    /// The program, if there is one to work with.
    pub program: Option<FetchedProgram>,
    /// What there is to say about it.
    pub note: Option<Arc<Note>>,
}

/// A program that came from the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedProgram {
    /// A file that has the text, for a person to read.
    pub path: PathBuf,
    /// The text.
    pub text: Arc<str>,
    /// Where it came from.
    pub origin: Arc<RemoteOrigin>,
}

/// What there is to say about what an import leads to, besides what its text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Under which code.
    pub code: Code,
    /// In words.
    pub message: String,
    /// The path that was probably meant, or that is the better one now.
    pub better: Option<SmolStr>,
}

impl Note {
    /// The file that was probably meant beside one that is missing.
    pub(crate) fn beside(near: SmolStr) -> Self {
        Self { code: Code::E139, message: format!("there is `{near}` beside it"), better: Some(near) }
    }
}

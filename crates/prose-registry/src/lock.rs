//! `prose.lock`: the texts that a project was checked with.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use prose_files::{Limit, ReadError, read_text};
use prose_reference::Reference;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::cache::write_for_all;
use crate::malformed;
use crate::program::{Hash, Program, Timestamp};

/// The name of the lock file, in the folder of `prose.toml`.
pub const LOCK_FILE: &str = "prose.lock";

/// The form of the file.
const VERSION: u32 = 1;

/// What is pinned. Written in the order of the references, so that a change shows as little as possible.
#[derive(Debug, Clone, Default)]
pub struct Lock {
    /// By the canonical spelling of the reference.
    programs: BTreeMap<String, Pin>,
    /// The references by the places of their programs, computed on demand.
    by_place: OnceLock<HashMap<Place, String>>,
}

impl PartialEq for Lock {
    fn eq(&self, other: &Self) -> bool {
        self.programs == other.programs
    }
}

impl Eq for Lock {}

/// The pinned text of a reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Pin {
    /// The reference in its canonical spelling.
    pub reference: String,
    /// The address that gave the text.
    pub url: Url,
    /// The commit, if its git host reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The hash of the text.
    pub sha256: Hash,
    /// When it was pinned to this text.
    pub time: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    #[serde(default, rename = "program")]
    programs: Vec<Pin>,
}

/// Why a text does not match its pin. Displayed as a sentence that starts with the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockMismatch {
    /// The lock file does not name the reference.
    NotLocked {
        /// The reference.
        reference: String,
    },
    /// The lock file cannot be read, so the pin is unknown.
    Unreadable {
        /// The reference.
        reference: String,
        /// Why the lock file cannot be read; see [`LockError::reason`].
        why: String,
    },
    /// The text has another hash.
    Changed {
        /// What is pinned.
        pin: Pin,
        /// The hash of the actual text.
        found: Hash,
    },
}

/// Why a lock file cannot be read or written.
#[derive(Debug)]
pub enum LockError {
    /// The file cannot be read.
    Unreadable(PathBuf, ReadError),
    /// The system reports an error.
    Io(PathBuf, io::Error),
    /// The file is malformed.
    Malformed(PathBuf, String),
    /// The file was written by a later version.
    Version(PathBuf, u32),
}

/// The place of a program: host, port and path.
type Place = (Option<String>, Option<u16>, String);

/// The place of a program, without what may be written in one way or another: `@` before a handle and `.prose` at the end.
fn place(address: &Url) -> Place {
    let path = address.path().replace("%40", "@").replace("/@", "/");
    let path = path.strip_suffix(".prose").unwrap_or(&path).to_owned();
    (address.host_str().map(str::to_owned), address.port_or_known_default(), path)
}

impl Lock {
    /// The lock file at a path. `None` if there is none.
    pub fn load(path: &Path) -> Result<Option<Self>, LockError> {
        let text = match read_text(path, Limit::LOCK) {
            Ok(text) => text,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(LockError::Unreadable(path.to_owned(), error)),
        };
        Self::parse(&text, path).map(Some)
    }

    /// The text of a lock file; the path is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, LockError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let malformed =
            |error: toml::de::Error| LockError::Malformed(path.to_owned(), malformed::reason(text, &error));
        let Version { version } = toml::from_str(text).map_err(malformed)?;
        if version != VERSION {
            return Err(LockError::Version(path.to_owned(), version));
        }
        let file: File = toml::from_str(text).map_err(malformed)?;
        let programs = file.programs.into_iter().map(|pin| (pin.reference.clone(), pin)).collect();
        Ok(Self { programs, by_place: OnceLock::new() })
    }

    /// Writes the file atomically, unless it already has the same text.
    pub fn save(&self, path: &Path) -> Result<(), LockError> {
        let text = self.to_string();
        if read_text(path, Limit::LOCK).is_ok_and(|found| found == text) {
            return Ok(());
        }
        write_for_all(path, text.as_bytes()).map_err(|error| LockError::Io(path.to_owned(), error))
    }

    /// The pin of a reference.
    pub fn get(&self, reference: &Reference) -> Option<&Pin> {
        self.programs.get(&reference.to_string())
    }

    /// The pin of a program that is at one of these addresses: whatever a program spells it like, it is the same one.
    pub(crate) fn at(&self, addresses: &[Url]) -> Option<&Pin> {
        let by_place = self.by_place.get_or_init(|| {
            // Of several with one place, the first one counts.
            self.pins().rev().map(|pin| (place(&pin.url), pin.reference.clone())).collect()
        });
        let references = addresses.iter().filter_map(|address| by_place.get(&place(address)));
        self.programs.get(references.min()?)
    }

    /// All that is pinned, in the order of the references.
    pub fn pins(&self) -> impl DoubleEndedIterator<Item = &Pin> {
        self.programs.values()
    }

    /// Whether the text with a hash is the one that the reference is pinned to.
    pub fn check(&self, reference: &Reference, sha256: Hash) -> Result<(), Box<LockMismatch>> {
        match self.get(reference) {
            None => Err(Box::new(LockMismatch::NotLocked { reference: reference.to_string() })),
            Some(pin) if pin.sha256 != sha256 => {
                Err(Box::new(LockMismatch::Changed { pin: pin.clone(), found: sha256 }))
            }
            Some(_) => Ok(()),
        }
    }

    /// Pins a program to its text, and returns the previous pin if it had another text. The time stays while the text does.
    pub fn pin(&mut self, program: &Program, commit: Option<String>, time: Timestamp) -> Option<Pin> {
        let source = &program.source;
        let before = self.programs.get(&source.reference).cloned();
        let is_same = before.as_ref().is_some_and(|pin| pin.sha256 == source.sha256);
        let pin = Pin {
            reference: source.reference.clone(),
            url: source.final_url.clone(),
            commit,
            sha256: source.sha256,
            time: before.as_ref().filter(|_| is_same).map_or(time, |pin| pin.time),
        };
        self.programs.insert(source.reference.clone(), pin);
        self.by_place = OnceLock::new();
        before.filter(|_| !is_same)
    }

    /// Removes unused pins and returns them.
    pub fn retain(&mut self, is_used: impl Fn(&str) -> bool) -> Vec<Pin> {
        let (used, unused) =
            std::mem::take(&mut self.programs).into_iter().partition(|(reference, _)| is_used(reference));
        self.programs = used;
        self.by_place = OnceLock::new();
        let unused: BTreeMap<String, Pin> = unused;
        unused.into_values().collect()
    }
}

impl Pin {
    /// Where to find the text that is pinned: at its commit, if that is known.
    pub fn reference(&self) -> Option<Reference> {
        match (Reference::parse(&self.reference).ok()?, &self.commit) {
            (Reference::Git(program), Some(commit)) => Some(Reference::Git(program.at(commit))),
            (reference, _) => Some(reference),
        }
    }

    /// Whether the host has another text now.
    pub fn is_outdated(&self, now: &Program) -> bool {
        self.sha256 != now.source.sha256
    }
}

/// The text of the file.
impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = File { version: VERSION, programs: self.programs.values().cloned().collect() };
        let text = toml::to_string(&file).map_err(|_| fmt::Error)?;
        write!(f, "# Written by `prose lock`; belongs into version control.\n{text}")
    }
}

impl fmt::Display for LockMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockMismatch::NotLocked { reference } => {
                write!(f, "`{reference}` is not in {LOCK_FILE}; run `prose lock` to add it")
            }
            LockMismatch::Unreadable { reference, why } => {
                write!(f, "`{reference}` is rejected, since {LOCK_FILE} {why}")
            }
            LockMismatch::Changed { pin, found } => write!(
                f,
                "`{}` differs from the text in {LOCK_FILE}, locked {} (SHA-256 {:.12}…, here {:.12}…); review the change, \
                 then run `prose lock --update={}` to accept it",
                pin.reference,
                pin.time,
                pin.sha256.to_string(),
                found.to_string(),
                pin.reference
            ),
        }
    }
}

impl std::error::Error for LockMismatch {}

impl LockError {
    /// What is wrong, as the rest of a sentence that starts with the path.
    pub fn reason(&self) -> String {
        match self {
            LockError::Unreadable(_, error) => error.to_string(),
            LockError::Io(_, error) => format!("cannot be read or written: {error}"),
            LockError::Malformed(_, error) => format!(
                "is not a valid lock file; after a merge, keep one side and run `prose lock`: {error}"
            ),
            LockError::Version(_, version) => {
                format!("has version {version}, written by a newer `prose`")
            }
        }
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (LockError::Unreadable(path, _)
        | LockError::Io(path, _)
        | LockError::Malformed(path, _)
        | LockError::Version(path, _)) = self;
        write!(f, "{} {}", path.display(), self.reason())
    }
}

impl std::error::Error for LockError {}

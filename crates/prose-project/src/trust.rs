//! Workspace trust: nothing is started for a project before a person has said that it may be.
//!
//! A [`Subject`] is a folder and those of its settings that would make `prose` start a program or give something away. A person trusts the two together,
//! and [`TrustStore`] remembers that outside of the project: when one of these settings changes, the person is asked again. Reading a project
//! needs no trust, nor does a run that starts no program.

mod concerns;
mod store;

use std::path::{Path, PathBuf};

use prose_config::Config;

use crate::{UserFiles, ownership, shell};

pub use self::concerns::Concern;
pub use self::store::{TrustStore, TrustedFolder};

/// What a person trusts: a folder and what its settings may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The folder, without links in its path.
    pub folder: PathBuf,
    /// The settings that trust is about, in the order in which they are shown.
    pub concerns: Vec<Concern>,
}

impl Subject {
    /// The project in a folder with these settings, which need not all be those of its file: an editor may have others.
    pub fn new(folder: &Path, config: &Config) -> Self {
        // A folder that does not exist is trusted by nobody; what is wrong with it is found out by whoever uses it.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let concerns = concerns::concerns(&folder, config);
        Self { folder, concerns }
    }
}

/// Why something is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// Nobody has trusted the folder.
    Unknown,
    /// These settings are new or have another value since the folder was trusted.
    Changed(Vec<String>),
    /// It cannot be read what was trusted.
    Unreadable(String),
}

/// What a person has said about the projects on this machine.
#[derive(Debug, Clone)]
pub struct Person {
    /// The files in which it is remembered.
    pub files: UserFiles,
    /// Whether the person, or an editor that asks itself, trusts the project of this run.
    pub trusts: bool,
}

impl Person {
    /// The user of this process, who has said nothing about this run.
    pub fn of_user() -> Self {
        Self { files: UserFiles::of_user(), trusts: false }
    }

    /// The projects that the person has trusted.
    pub fn store(&self) -> TrustStore {
        TrustStore::in_files(self.files.clone())
    }

    /// Whether the person trusts a subject.
    pub fn check(&self, subject: &Subject) -> Result<(), Doubt> {
        if self.trusts { Ok(()) } else { self.store().check(subject) }
    }
}

/// Whether a `prose.toml` is read: it belongs to the user, or the user has named its folder.
pub fn accepts_settings(store: &TrustStore, file: &Path) -> bool {
    ownership::is_own(file) || file.parent().is_some_and(|folder| store.names(folder))
}

/// What a person is told of a `prose.toml` that is not read.
pub fn ignored_settings(file: &Path) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    format!(
        "`{}` belongs to another user and is ignored; if you trust its folder, run `prose trust {}`",
        file.display(),
        shell::word(&folder.to_string_lossy())
    )
}

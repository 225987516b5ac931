//! Workspace trust: nothing is started for a project before a person has said that it may be.
//!
//! A [`Subject`] is a folder and those of its settings that would make `prose` start a program or give something away. A person trusts the two together,
//! and [`TrustStore`] remembers that outside of the project: when one of these settings changes, the person is asked again. Reading a project
//! needs no trust, nor does a run that starts no program.

mod concerns;
mod store;

use std::path::{Path, PathBuf};

use prose_config::Config;

pub use self::concerns::Concern;
pub use self::store::{StoreError, TrustStore, TrustedFolder};

/// What a person trusts: a folder and what its settings may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The folder, without links in its path.
    pub folder: PathBuf,
    /// The settings that trust is about, in the order in which they are shown.
    pub concerns: Vec<Concern>,
}

impl Subject {
    /// The project in a folder with these settings.
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

/// Whose word a run has.
#[derive(Debug, Clone)]
pub enum Word {
    /// That of a person who has just given it, or of an editor that asks itself.
    Given,
    /// That of the person who trusted the folder earlier, if somebody did.
    Remembered(TrustStore),
}

/// What a run has to be trusted with, and whose word it has.
#[derive(Debug, Clone)]
pub struct Trust {
    /// What it needs.
    pub subject: Subject,
    /// What it has.
    pub word: Word,
}

impl Trust {
    /// Whether the subject is trusted.
    pub fn check(&self) -> Result<(), Doubt> {
        match &self.word {
            Word::Given => Ok(()),
            Word::Remembered(store) => store.check(&self.subject),
        }
    }
}

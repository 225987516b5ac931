//! Workspace trust: nothing is started for a project before the user has trusted it.
//!
//! A [`TrustSubject`] is a folder with those of its settings that make `prose` start a program or send data. The user trusts both together, and
//! [`TrustStore`] stores that outside of the project: when one of these settings changes, the user is asked again. Reading a project needs no trust,
//! nor does a run that starts no program.

mod concerns;
mod store;

use std::path::{Path, PathBuf};

use prose_config::Config;

use crate::{UserFiles, ownership, shell};

pub use self::concerns::TrustedSetting;
pub use self::store::{TrustStore, TrustedFolder};

/// What a user trusts: a folder and the effects of its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustSubject {
    /// The folder, without links in its path.
    pub folder: PathBuf,
    /// The settings that need trust, in display order.
    pub concerns: Vec<TrustedSetting>,
}

impl TrustSubject {
    /// The project in a folder with these settings, which may differ from those of its file: an editor may override them.
    pub fn new(folder: &Path, config: &Config) -> Self {
        // A folder that does not exist is not trusted; its user reports the error.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let concerns = concerns::concerns(&folder, config);
        Self { folder, concerns }
    }
}

/// The reason why a project is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustError {
    /// The folder is not trusted.
    Unknown,
    /// These settings are new or have changed since the folder was trusted.
    Changed(Vec<String>),
    /// The stored trust cannot be read.
    Unreadable(String),
}

/// The trust of a user.
#[derive(Debug, Clone)]
pub struct UserTrust {
    /// The files in which it is stored.
    pub files: UserFiles,
    /// Whether the user, or an editor with its own workspace trust, trusts the project of this run.
    pub is_trusted: bool,
}

impl UserTrust {
    /// The user of this process, without trust for this run.
    pub fn of_user() -> Self {
        Self { files: UserFiles::of_user(), is_trusted: false }
    }

    /// The projects that the user trusts.
    pub fn store(&self) -> TrustStore {
        TrustStore::in_files(self.files.clone())
    }

    /// Checks that the user trusts a project.
    pub fn check(&self, subject: &TrustSubject) -> Result<(), TrustError> {
        if self.is_trusted { Ok(()) } else { self.store().check(subject) }
    }
}

/// Whether a `prose.toml` is read: it belongs to the user, or the user has trusted its folder.
pub fn accepts_settings(store: &TrustStore, file: &Path) -> bool {
    ownership::is_own(file) || file.parent().is_some_and(|folder| store.names(folder))
}

/// The warning about an ignored `prose.toml`.
pub fn ignored_settings(file: &Path) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    format!(
        "`{}` belongs to another user and is ignored; if you trust its folder, run `prose trust {}`",
        file.display(),
        shell::word(&folder.to_string_lossy())
    )
}

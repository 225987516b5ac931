//! The projects that a user trusts, in a file outside of all projects.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{TrustError, TrustSubject};
use crate::{FileError, UserFiles};

/// The name of the file.
const FILE: &str = "trust.json";

/// The version of the file format.
const VERSION: u32 = 1;

/// The projects that a user trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    files: UserFiles,
}

/// A trusted folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedFolder {
    /// The folder.
    pub folder: PathBuf,
    /// The time when it was last trusted.
    pub since: SystemTime,
    /// The names of the trusted settings.
    pub settings: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    version: u32,
    /// By the path of the folder.
    folders: BTreeMap<String, StoredFolder>,
}

impl Default for Stored {
    fn default() -> Self {
        Self { version: VERSION, folders: BTreeMap::new() }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredFolder {
    /// When it was last trusted, in seconds since 1970.
    since: u64,
    /// The hashes of the trusted settings, by name.
    settings: BTreeMap<String, String>,
}

impl TrustStore {
    /// The store of the user of this process.
    pub fn of_user() -> Self {
        Self::in_files(UserFiles::of_user())
    }

    /// The store in these files.
    pub fn in_files(files: UserFiles) -> Self {
        Self { files }
    }

    /// Checks that a project is trusted: its folder is, and each setting has the same value as then.
    pub fn check(&self, subject: &TrustSubject) -> Result<(), TrustError> {
        let stored = self.read().map_err(|error| TrustError::Unreadable(error.to_string()))?;
        let Some(known) = stored.folders.get(&key(&subject.folder)) else { return Err(TrustError::Unknown) };
        let is_new =
            |concern: &&super::TrustedSetting| known.settings.get(&concern.name) != Some(&concern.sha256);
        let changed: Vec<String> =
            subject.concerns.iter().filter(is_new).map(|concern| concern.name.clone()).collect();
        if changed.is_empty() { Ok(()) } else { Err(TrustError::Changed(changed)) }
    }

    /// Whether the folder is trusted, with any settings. Without a readable store, it is not.
    pub fn names(&self, folder: &Path) -> bool {
        let Ok(folder) = folder.canonicalize() else { return false };
        self.read().is_ok_and(|stored| stored.folders.contains_key(&key(&folder)))
    }

    /// Stores that a user trusts a project, and replaces earlier trust in its folder.
    pub fn grant(&self, subject: &TrustSubject) -> Result<(), FileError> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let settings = subject.concerns.iter().map(|concern| (concern.name.clone(), concern.sha256.clone()));
        let trusted = StoredFolder { since, settings: settings.collect() };
        self.change(|stored| _ = stored.folders.insert(key(&subject.folder), trusted))
    }

    /// Revokes the trust in a folder. Returns whether it was trusted. The folder need not exist any more.
    pub fn revoke(&self, folder: &Path) -> Result<bool, FileError> {
        let folder = match folder.canonicalize() {
            Ok(folder) => folder,
            Err(_) => std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
        };
        let mut was_trusted = false;
        if self.read()?.folders.contains_key(&key(&folder)) {
            self.change(|stored| was_trusted = stored.folders.remove(&key(&folder)).is_some())?;
        }
        Ok(was_trusted)
    }

    /// All trusted folders, sorted by path.
    pub fn list(&self) -> Result<Vec<TrustedFolder>, FileError> {
        let folders = self.read()?.folders.into_iter().filter_map(|(name, stored)| {
            Some(TrustedFolder {
                folder: folder_of(&name)?,
                since: SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(stored.since))?,
                settings: stored.settings.into_keys().collect(),
            })
        });
        Ok(folders.collect())
    }

    fn read(&self) -> Result<Stored, FileError> {
        match self.files.read(FILE)? {
            None => Ok(Stored::default()),
            Some(bytes) => parse(&bytes).map_err(|reason| self.files.error(FILE, reason)),
        }
    }

    fn change(&self, change: impl FnOnce(&mut Stored)) -> Result<(), FileError> {
        let locked = self.files.lock()?;
        // Changes by other processes are kept.
        let mut stored = self.read()?;
        change(&mut stored);
        let text = serde_json::to_vec_pretty(&stored).map_err(|error| self.files.error(FILE, error))?;
        locked.write(FILE, &text)
    }
}

fn parse(bytes: &[u8]) -> Result<Stored, String> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let damaged =
        |error: serde_json::Error| format!("is damaged: {error}; remove it, then trust your projects again");
    let Versioned { version } = serde_json::from_slice(bytes).map_err(damaged)?;
    if version > VERSION {
        return Err(
            "was written by a newer version of `prose`; use that version, or remove the file".to_owned()
        );
    }
    serde_json::from_slice(bytes).map_err(damaged)
}

/// The prefix of paths that are not Unicode. Other paths are absolute and never start with it.
const NO_TEXT: &str = "bytes:";

/// The unique name of a folder in the file.
fn key(folder: &Path) -> String {
    match folder.to_str() {
        Some(text) => text.to_owned(),
        None => {
            let bytes = folder.as_os_str().as_encoded_bytes();
            bytes.iter().fold(NO_TEXT.to_owned(), |mut name, byte| {
                // Writing to a string cannot fail.
                let _ = write!(name, "{byte:02x}");
                name
            })
        }
    }
}

/// The folder of a name, for display.
fn folder_of(name: &str) -> Option<PathBuf> {
    let Some(digits) = name.strip_prefix(NO_TEXT) else { return Some(name.into()) };
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>()?;
    Some(String::from_utf8_lossy(&bytes).into_owned().into())
}

#[cfg(test)]
mod tests {
    use prose_config::Config;
    use tempfile::TempDir;

    use super::*;

    const AGENT: &str = "[run]\nharness = \"command\"\ncommand = [\"./agent\"]\n";

    struct Place {
        folder: TempDir,
        store: TrustStore,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("project")).unwrap();
            let store = TrustStore::in_files(UserFiles::at(folder.path().join("state")));
            Self { folder, store }
        }

        fn subject(&self, settings: &str) -> TrustSubject {
            TrustSubject::new(&self.folder.path().join("project"), &Config::parse(settings).0)
        }
    }

    #[test]
    fn trust_is_for_a_folder_and_its_settings() {
        let place = Place::new();
        let Place { store, .. } = &place;
        let subject = place.subject(AGENT);
        assert_eq!(store.check(&subject), Err(TrustError::Unknown));
        store.grant(&subject).unwrap();
        assert_eq!(store.check(&subject), Ok(()));
        assert!(store.names(&subject.folder));

        let elsewhere = TrustSubject { folder: place.folder.path().to_owned(), ..subject.clone() };
        assert_eq!(store.check(&elsewhere), Err(TrustError::Unknown), "the folder above is another one");

        let more = place.subject(&format!("{AGENT}environment = [\"KEY\"]\n"));
        assert_eq!(store.check(&more), Err(TrustError::Changed(vec!["run.environment".to_owned()])));
        let other = place.subject(&AGENT.replace("agent", "other"));
        assert_eq!(store.check(&other), Err(TrustError::Changed(vec!["run.command".to_owned()])));
        assert!(store.names(&subject.folder), "the folder is named whatever its settings are now");
        assert_eq!(store.check(&place.subject("")), Ok(()), "less is never more");

        store.grant(&other).unwrap();
        assert_eq!(store.check(&other), Ok(()));
        assert_eq!(
            store.check(&subject),
            Err(TrustError::Changed(vec!["run.command".to_owned()])),
            "what was trusted before is asked again"
        );
    }

    #[test]
    fn what_is_trusted_is_listed_and_revoked() {
        let place = Place::new();
        let Place { store, .. } = &place;
        let subject = place.subject(AGENT);
        assert_eq!(store.list().unwrap(), []);
        assert!(!store.revoke(&subject.folder).unwrap());
        store.grant(&subject).unwrap();
        let listed = store.list().unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].folder, subject.folder);
        assert_eq!(listed[0].settings, ["run.command", "run.harness"]);
        assert!(listed[0].since.elapsed().unwrap() < Duration::from_secs(60));
        std::fs::remove_dir(&subject.folder).unwrap();
        assert!(store.revoke(&subject.folder).unwrap(), "a folder that is gone can be forgotten");
        assert_eq!(store.check(&subject), Err(TrustError::Unknown));
    }

    #[test]
    fn several_processes_grant_at_once() {
        let place = Place::new();
        let Place { store, .. } = &place;
        std::thread::scope(|scope| {
            for number in 0..8 {
                let folder = place.folder.path().join(format!("{number}"));
                std::fs::create_dir(&folder).unwrap();
                scope.spawn(move || store.grant(&TrustSubject::new(&folder, &Config::default())).unwrap());
            }
        });
        assert_eq!(store.list().unwrap().len(), 8);
    }

    #[test]
    fn a_file_that_is_damaged_trusts_nothing_and_is_not_written_over() {
        let place = Place::new();
        let subject = place.subject(AGENT);
        place.store.grant(&subject).unwrap();
        let path = place.folder.path().join("state/trust.json");
        for (text, expected) in [
            ("{", "EOF while parsing"),
            ("{\"version\": 2}", "was written by a newer version of `prose`"),
            ("{\"version\": 1, \"folders\": 7}", "invalid type"),
        ] {
            std::fs::write(&path, text).unwrap();
            match place.store.check(&subject) {
                Err(TrustError::Unreadable(reason)) => assert!(reason.contains(expected), "{reason}"),
                other => panic!("{other:?}"),
            }
            assert!(place.store.grant(&subject).is_err());
            assert!(!place.store.names(&subject.folder));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    #[cfg(unix)]
    fn folders_whose_names_are_no_text_are_told_apart() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let path = |bytes: &'static [u8]| Path::new(OsStr::from_bytes(bytes));
        assert_ne!(key(path(b"/\xff")), key(path(b"/\xfe")));
        assert_eq!(folder_of(&key(path(b"/a"))).as_deref(), Some(path(b"/a")));
        assert_eq!(folder_of(&key(path(b"/\xff"))).as_deref(), Some(Path::new("/\u{fffd}")));
    }
}

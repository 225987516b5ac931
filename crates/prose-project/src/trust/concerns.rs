//! Which settings trust is about.

use std::path::Path;

use prose_config::{Config, HarnessName, Word};
use prose_files::Limit;
use sha2::{Digest, Sha256};

use crate::ownership;

/// A setting that makes `prose` start something or give something away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concern {
    /// What it is called, such as `run.command`.
    pub name: String,
    /// Its values, as a person is shown them. Values that may be secret are not among them.
    pub shown: Vec<String>,
    /// A hash of the name and the values.
    pub(super) sha256: String,
}

impl Concern {
    fn new(name: impl Into<String>, values: Vec<String>) -> Self {
        let name = name.into();
        let sha256 = hash(&name, &values);
        Self { name, shown: values, sha256 }
    }

    /// A setting whose value nobody is shown.
    fn secret(name: impl Into<String>, value: &str) -> Self {
        let name = name.into();
        let sha256 = hash(&name, &[value.to_owned()]);
        Self { name, shown: Vec::new(), sha256 }
    }
}

fn hash(name: &str, values: &[String]) -> String {
    let mut hash = Sha256::new();
    for part in std::iter::once(name).chain(values.iter().map(String::as_str)) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All settings of the project in a folder that trust is about. This is the only place that says which they are: a setting that starts a program,
/// passes something to one, or allows a program from elsewhere to do something belongs here. A setting that is not there must never allow more than
/// one that is, since a project that has lost a setting stays trusted.
pub(super) fn concerns(folder: &Path, config: &Config) -> Vec<Concern> {
    let mut concerns = Vec::new();
    let run = &config.run;
    if !matches!(run.harness, HarnessName::Offline | HarnessName::Script) {
        concerns.push(Concern::new("run.harness", vec![run.harness.as_str().to_owned()]));
    }
    let passed_on = [
        ("run.command", &run.command),
        ("run.environment", &run.environment),
        ("run.allow-files", &run.allow_files),
    ];
    for (name, words) in passed_on {
        if !words.is_empty() {
            concerns.push(Concern::new(name, words.iter().map(Word::as_str).map(str::to_owned).collect()));
        }
    }
    for (program, rights) in config.imports.entries() {
        if !rights.allow.is_empty() {
            let mut allowed: Vec<String> = rights.allow.iter().map(ToString::to_string).collect();
            // Another registry or folder has other programs of that name. The one that counts where none is set is named as well.
            allowed.push(format!("from {}", config.registry.url.as_str()));
            if let Some(vendor) = config.registry.vendor.as_path() {
                allowed.push(format!("or from {}", vendor.display()));
            }
            concerns.push(Concern::new(format!("imports.{program:?}.allow"), allowed));
        }
    }
    concerns.extend(env_file(folder));
    concerns
}

/// Keys of `.prose/.env` that other tools write for themselves and that nothing is made of here (R103).
const KEYS_WITHOUT_EFFECT: &[&str] = &["OPENPROSE_TELEMETRY", "USER_ID", "SESSION_ID"];

/// The entries of `.prose/.env`. A file of another user has no effect, and one that cannot be read has none either.
fn env_file(folder: &Path) -> Vec<Concern> {
    let path = folder.join(".prose").join(".env");
    if !ownership::is_own(&path) {
        return Vec::new();
    }
    let bytes = prose_files::read(&path, Limit::SETTINGS).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut concerns: Vec<Concern> = Vec::new();
    for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')) {
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        if KEYS_WITHOUT_EFFECT.contains(&key) {
            continue;
        }
        let concern = Concern::secret(format!(".prose/.env: {key}"), value);
        // Of several lines with a key, the last one counts.
        concerns.retain(|other| other.name != concern.name);
        concerns.push(concern);
    }
    concerns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(settings: &str, env: Option<&str>) -> Vec<(String, Vec<String>)> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(env) = env {
            std::fs::create_dir(folder.path().join(".prose")).unwrap();
            std::fs::write(folder.path().join(".prose/.env"), env).unwrap();
        }
        let (config, problems) = Config::parse(settings);
        assert!(problems.is_empty(), "{problems:?}");
        concerns(folder.path(), &config).into_iter().map(|concern| (concern.name, concern.shown)).collect()
    }

    #[test]
    fn what_starts_programs_and_what_they_are_given_needs_trust() {
        let settings =
            "[run]\nharness = \"command\"\ncommand = [\"./agent\", \"-q\"]\nenvironment = [\"KEY\"]\n";
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            of(settings, Some("# mine\nUSER_ID=user-1\nURL=one\nURL = two\nno setting\n")),
            [
                ("run.harness".to_owned(), words(&["command"])),
                ("run.command".to_owned(), words(&["./agent", "-q"])),
                ("run.environment".to_owned(), words(&["KEY"])),
                (".prose/.env: URL".to_owned(), Vec::new()),
            ]
        );
    }

    #[test]
    fn what_fetched_programs_may_do_needs_trust() {
        let settings =
            "[imports.\"alice/research\"]\nallow = [\"files:docs/**\"]\n[imports.\"bob/deep\"]\nallow = []\n";
        let allowed = (
            "imports.\"alice/research\".allow".to_owned(),
            vec!["files:docs/**".to_owned(), "from https://p.prose.md/".to_owned()],
        );
        assert_eq!(of(settings, None), [allowed]);
        let elsewhere =
            format!("{settings}[registry]\nurl = \"https://example.com/\"\nvendor = \"vendor\"\n");
        let words = ["files:docs/**", "from https://example.com/", "or from vendor"].map(str::to_owned);
        assert_eq!(of(&elsewhere, None)[0].1, words);
    }

    #[test]
    fn what_starts_nothing_needs_none() {
        assert_eq!(
            of("[run]\nharness = \"offline\"\nmax-parallel = 2\n[check]\nprofile = \"strict\"\n", None),
            []
        );
        assert_eq!(of("", Some("SESSION_ID=sess-1\n")), []);
    }

    #[test]
    fn values_are_told_apart() {
        let hash = |name: &str, values: &[&str]| {
            Concern::new(name, values.iter().map(|value| (*value).to_owned()).collect()).sha256
        };
        assert_eq!(hash("a", &["b", "c"]), hash("a", &["b", "c"]));
        assert_ne!(hash("a", &["b", "c"]), hash("a", &["bc"]));
        assert_ne!(hash("a", &["b", "c"]), hash("a", &["b c"]));
        assert_ne!(hash("a", &["b"]), hash("ab", &[]));
    }
}

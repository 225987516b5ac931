//! The settings that need trust.

use std::path::Path;

use prose_config::{Config, HarnessName, ProviderName, Word};
use prose_files::Limit;
use sha2::{Digest, Sha256};

use crate::ownership;

/// A setting that makes `prose` start a program or send data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedSetting {
    /// The name, such as `run.command`.
    pub name: String,
    /// Its values for display. Values that may be secret are omitted.
    pub shown: Vec<String>,
    /// A hash of the name and the values.
    pub(super) sha256: String,
}

impl TrustedSetting {
    fn new(name: impl Into<String>, values: Vec<String>) -> Self {
        let name = name.into();
        let sha256 = hash(&name, &values);
        Self { name, shown: values, sha256 }
    }

    /// A setting whose value is not displayed.
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

/// All settings of a project that need trust. Every setting that starts a program, passes something to one, or gives rights to fetched programs
/// belongs here. Removing a setting must never allow more, since a project that has lost a setting stays trusted.
pub(super) fn concerns(folder: &Path, config: &Config) -> Vec<TrustedSetting> {
    let mut concerns = Vec::new();
    let run = &config.run;
    let mut named = |name: String, value: &str| {
        concerns.push(TrustedSetting::new(name, vec![value.to_owned()]));
    };
    let agents =
        config.agents.iter().map(|(agent, config)| (format!("agents.{agent}.harness"), config.harness));
    let harnesses =
        [("run.harness".to_owned(), Some(run.harness)), ("run.judge.harness".to_owned(), run.judge.harness)];
    for (name, harness) in harnesses.into_iter().chain(agents) {
        if let Some(harness) = harness
            && !matches!(harness, HarnessName::Offline | HarnessName::Script)
        {
            named(name, harness.as_str());
        }
    }
    // Where prompts and a key are sent to.
    let provider = &run.provider;
    if provider.name != ProviderName::default() {
        named("run.provider.name".to_owned(), provider.name.as_str());
    }
    if let Some(url) = &provider.base_url {
        named("run.provider.base-url".to_owned(), url.as_str());
    }
    if let Some(variable) = &provider.key_variable {
        named("run.provider.key-variable".to_owned(), variable.as_str());
    }
    for (name, server) in &config.mcp.servers.0 {
        // Which of them start is up to `agents`, which is included so that no agent gets a server unnoticed.
        let users =
            config.agents.iter().filter(|(_, agent)| agent.mcp.iter().any(|used| used.as_str() == name));
        let mut words: Vec<String> = Vec::new();
        words.extend(server.command.iter().chain(&server.args).map(|word| word.as_str().to_owned()));
        words.extend(server.environment.iter().map(|variable| format!("${}", variable.as_str())));
        words.extend(server.url.iter().map(|url| url.as_str().to_owned()));
        words.extend(server.headers.0.iter().map(|(header, value)| format!("{header}: {value}")));
        words.extend(users.map(|(agent, _)| format!("for {agent}")));
        concerns.push(TrustedSetting::new(format!("mcp.servers.{name}"), words));
    }
    let passed_on = [
        ("run.command", &run.command),
        ("run.environment", &run.environment),
        ("run.allow-files", &run.allow_files),
        ("run.notify", &run.notify),
    ];
    for (name, words) in passed_on {
        if !words.is_empty() {
            concerns
                .push(TrustedSetting::new(name, words.iter().map(Word::as_str).map(str::to_owned).collect()));
        }
    }
    if !run.permissions.is_empty() {
        // Without any rule, agents may run no commands, so that a project that has lost them allows less.
        let rules = run.permissions.iter().map(|(about, rule)| rule.shown(about)).collect();
        concerns.push(TrustedSetting::new("run.permissions", rules));
    }
    if config.mcp.run {
        concerns.push(TrustedSetting::new("mcp.run", vec!["true".to_owned()]));
    }
    for (program, rights) in config.imports.entries() {
        if !rights.allow.is_empty() {
            let mut allowed: Vec<String> = rights.allow.iter().map(ToString::to_string).collect();
            // Another registry or folder has other programs of that name. The default one is included as well.
            allowed.push(format!("from {}", config.registry.url.as_str()));
            if let Some(vendor) = config.registry.vendor.as_path() {
                allowed.push(format!("or from {}", vendor.display()));
            }
            concerns.push(TrustedSetting::new(format!("imports.{program:?}.allow"), allowed));
        }
    }
    concerns.extend(env_file(folder));
    concerns
}

/// Keys of `.prose/.env` that other tools use and that have no effect here (R103).
const KEYS_WITHOUT_EFFECT: &[&str] = &["OPENPROSE_TELEMETRY", "USER_ID", "SESSION_ID"];

/// The entries of `.prose/.env`. Files of other users and unreadable files have no effect.
fn env_file(folder: &Path) -> Vec<TrustedSetting> {
    let path = folder.join(".prose").join(".env");
    if !ownership::is_own(&path) {
        return Vec::new();
    }
    let bytes = prose_files::read(&path, Limit::SETTINGS).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut concerns: Vec<TrustedSetting> = Vec::new();
    for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')) {
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        if KEYS_WITHOUT_EFFECT.contains(&key) {
            continue;
        }
        let concern = TrustedSetting::secret(format!(".prose/.env: {key}"), value);
        // The last line of a key is used.
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
    fn what_is_started_for_runs_needs_trust() {
        let words = ["./notify", "--channel", "flows"].map(str::to_owned).to_vec();
        let settings = "[run]\nnotify = [\"./notify\", \"--channel\", \"flows\"]\n";
        assert_eq!(of(settings, None), [("run.notify".to_owned(), words)]);
    }

    #[test]
    fn what_agents_may_do_needs_trust() {
        let rules = "[run.permissions]\nbash = [\"git log*\"]\nwrite = \"deny\"\n";
        let shown = ["bash: [\"git log*\"]", "write: deny"].map(str::to_owned).to_vec();
        assert_eq!(of(rules, None), [("run.permissions".to_owned(), shown)]);
    }

    #[test]
    fn where_prompts_and_keys_are_sent_to_needs_trust() {
        let settings = "[run]\njudge = { harness = \"provider\" }\n[run.provider]\nname = \"compatible\"\n\
            base-url = \"https://models.example.com\"\nkey-variable = \"AWS_SECRET_ACCESS_KEY\"\n\
            [agents.writer]\nharness = \"codex\"\n[agents.critic]\nharness = \"offline\"\n";
        let of_settings: Vec<_> = of(settings, None);
        let shown: Vec<_> =
            of_settings.iter().map(|(name, shown)| format!("{name}: {}", shown.join(" "))).collect();
        assert_eq!(
            shown,
            [
                "run.judge.harness: provider",
                "agents.writer.harness: codex",
                "run.provider.name: compatible",
                "run.provider.base-url: https://models.example.com/",
                "run.provider.key-variable: AWS_SECRET_ACCESS_KEY",
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
            TrustedSetting::new(name, values.iter().map(|value| (*value).to_owned()).collect()).sha256
        };
        assert_eq!(hash("a", &["b", "c"]), hash("a", &["b", "c"]));
        assert_ne!(hash("a", &["b", "c"]), hash("a", &["bc"]));
        assert_ne!(hash("a", &["b", "c"]), hash("a", &["b c"]));
        assert_ne!(hash("a", &["b"]), hash("ab", &[]));
    }
}

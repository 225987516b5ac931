//! What is replaced in the texts of a run before it is exported.

use std::borrow::Cow;
use std::io::{Write, sink};

use prose_config::{Config, McpServerConfigs, RunConfig, Word};
use prose_state::StateError;
use prose_state::portable::{self, Exported};
use prose_state::replay::RecordedRun;
use prose_vm::secrets::{Secrets, written_forms};

/// What stands for a redacted text.
const REDACTED: &str = "[redacted]";

/// The texts that must not leave the machine: the values of environment variables whose names look like those of keys or that the settings pass to agents
/// and servers, and what `run.redact` names.
#[derive(Debug, Clone)]
pub struct Redaction {
    secrets: Secrets,
    /// The longest first, so that one that contains another is replaced as a whole.
    texts: Vec<String>,
    /// Each of them alone, by what messages call it without its text.
    sources: Vec<(String, Source)>,
}

/// The variable that an entry of `run.redact` names: `$NAME`, or `${NAME}` as in the headers of servers.
fn named_variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    Some(name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name))
}

/// What is redacted because of one variable or one text of the settings.
#[derive(Debug, Clone)]
enum Source {
    Text(String),
    /// The variable, and its value.
    Key(String, String),
}

impl Redaction {
    /// What the settings of a project and the environment of this process name.
    pub fn of(config: &Config) -> Self {
        Self::of_run(&config.run, &config.mcp.servers)
    }

    /// The same for the settings of a run and its servers.
    pub(crate) fn of_run(run: &RunConfig, servers: &McpServerConfigs) -> Self {
        Self::new(
            run,
            servers,
            &|name| std::env::var(name).ok(),
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        )
    }

    fn new(
        run: &RunConfig,
        servers: &McpServerConfigs,
        variable: &dyn Fn(&str) -> Option<String>,
        all: Vec<(String, String)>,
    ) -> Self {
        let passed: Vec<&str> = run.environment.iter().map(Word::as_str).collect();
        let is_passed = |name: &str| {
            passed.iter().any(|passed| match passed.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => *passed == name,
            })
        };
        let key = run.provider.key_variable.as_ref().map(|name| name.as_str());
        let servers = servers.0.values();
        let of_servers: Vec<&str> =
            servers.flat_map(|server| server.environment.iter().map(|name| name.as_str())).collect();
        let value_of = |name: &str| format!("the value of `{name}`");
        let of_variables = all.iter().filter(|(name, value)| {
            let is_named =
                is_passed(name) || key == Some(name.as_str()) || of_servers.contains(&name.as_str());
            // Values such as `1` and `true` occur in any text.
            is_named && value.len() >= MIN_LENGTH
        });
        let of_variables = of_variables.map(|(name, value)| (value_of(name), value.clone()));
        let named = (1..).zip(run.redact.iter().map(Word::as_str));
        let named = named.filter_map(|(number, text)| match named_variable(text) {
            Some(name) => Some((value_of(name), variable(name)?)),
            None => Some((format!("entry {number} of `run.redact`"), text.to_owned())),
        });
        let texts: Vec<(String, String)> =
            of_variables.chain(named).filter(|(_, text)| !text.is_empty()).collect();
        let keys = all.iter().map(|(name, value)| (value_of(name), Source::Key(name.clone(), value.clone())));
        let sources: Vec<(String, Source)> =
            texts.iter().map(|(name, text)| (name.clone(), Source::Text(text.clone()))).chain(keys).collect();
        let mut texts: Vec<String> = texts.iter().flat_map(|(_, text)| written_forms(text)).collect();
        texts.sort_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
        texts.dedup();
        Self { secrets: Secrets::of_variables(all), texts, sources }
    }

    /// The variables that `run.redact` names and this process does not have: their values cannot be found.
    pub fn missing_variables(config: &Config) -> Vec<String> {
        let named = config.run.redact.iter().filter_map(|text| named_variable(text.as_str()));
        named.filter(|name| std::env::var_os(name).is_none()).map(str::to_owned).collect()
    }

    /// A text without what is redacted; `None` if it has nothing of that.
    pub fn of_text(&self, text: &str) -> Option<String> {
        let mut redacted = Cow::Borrowed(text);
        for secret in &self.texts {
            if redacted.contains(secret.as_str()) {
                redacted = redacted.replace(secret.as_str(), REDACTED).into();
            }
        }
        match self.secrets.mask(&redacted) {
            Cow::Owned(masked) => Some(masked),
            Cow::Borrowed(_) => matches!(redacted, Cow::Owned(_)).then(|| redacted.into_owned()),
        }
    }
}

impl Redaction {
    /// Writes a run without what is redacted. The error names the settings and variables whose text is a part of what events consist of, and never the text.
    pub fn export(&self, run: &RecordedRun, out: &mut dyn Write) -> Result<Exported, StateError> {
        let exported = portable::export(run, &|text| self.of_text(text), out);
        if !matches!(exported, Err(StateError::RedactedFormat { .. })) {
            return exported;
        }
        let breaks = |source: &Source| {
            let alone = source.alone();
            let redact = |text: &str| alone.of_text(text);
            matches!(portable::export(run, &redact, &mut sink()), Err(StateError::RedactedFormat { .. }))
        };
        let mut names: Vec<String> =
            self.sources.iter().filter(|(_, source)| breaks(source)).map(|(name, _)| name.clone()).collect();
        names.dedup();
        Err(StateError::RedactedFormat { names })
    }
}

impl Source {
    fn alone(&self) -> Redaction {
        let (texts, secrets) = match self {
            Source::Text(text) => (written_forms(text).to_vec(), Secrets::new([])),
            Source::Key(name, value) => (Vec::new(), Secrets::of_variables([(name.clone(), value.clone())])),
        };
        Redaction { secrets, texts, sources: Vec::new() }
    }
}

/// The shortest value of a variable that is redacted because it is passed on, in bytes.
const MIN_LENGTH: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_passed_variables_and_named_texts_are_redacted() {
        let text =
            "[run]\nenvironment = [\"CRM_*\"]\nredact = [\"Ada Lovelace\", \"$CITY\", \"${STREET}\"]\n";
        let config = prose_config::Project::parse(Some("prose.toml".into()), text.to_owned()).config;
        let variables = [
            ("API_KEY", "sk-1234567890"),
            ("CRM_HOST", "crm.internal"),
            ("CRM_ON", "1"),
            ("CITY", "Turin"),
            ("STREET", "Via Po"),
            ("HOME", "/home/ada"),
        ];
        let all: Vec<_> = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let value = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let redaction = Redaction::new(&config.run, &config.mcp.servers, &value, all);
        assert_eq!(
            redaction
                .of_text("sk-1234567890 of Ada Lovelace in Via Po, Turin, at crm.internal, 1 in /home/ada")
                .unwrap(),
            "[masked] of [redacted] in [redacted], [redacted], at [redacted], 1 in /home/ada"
        );
        assert_eq!(redaction.of_text("nothing of that"), None);
    }

    #[test]
    fn what_is_redacted_is_found_in_json() {
        let text = "[run]\nredact = ['pass\"word', \"$KEY\"]\n";
        let config = prose_config::Project::parse(Some("prose.toml".into()), text.to_owned()).config;
        let key = "-----BEGIN\nabc\"def\nEND-----";
        let variables = vec![("DEPLOY_KEY".to_owned(), key.to_owned())];
        let redaction =
            Redaction::new(&config.run, &config.mcp.servers, &|_| Some(key.to_owned()), variables);
        let object = serde_json::json!({ "key": key, "word": "pass\"word" });
        for text in [object.to_string(), serde_json::Value::from(object.to_string()).to_string()] {
            let redacted = redaction.of_text(&text).unwrap();
            assert!(!redacted.contains("abc") && !redacted.contains("pass"), "{redacted}");
        }
    }
}

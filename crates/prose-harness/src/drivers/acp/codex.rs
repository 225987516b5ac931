//! The configuration of Codex below `codex-acp`.

use std::fs;
use std::path::{Path, PathBuf};

use prose_vm::effect::Failure;
use serde_json::{Map, Value, json};

/// The variable with the configuration of all sessions.
const CONFIG: &str = "CODEX_CONFIG";

/// The settings of a provider by which Codex itself repeats requests.
const RETRIES: [&str; 2] = ["request_max_retries", "stream_max_retries"];

/// What Codex uses without a question, although no sandbox restricts it.
const UNASKED: [&str; 2] = ["features.apps", "features.plugins"];

/// Adds to the variables of `codex-acp` what its sessions need. Codex makes no attempts of its own at its provider, since `codex-acp` is silent about those
/// after a rejected key. It has no tools that neither its sandbox nor a question restricts, such as the search of the web and the servers of the user.
pub(super) fn configure(variables: &mut Vec<(String, String)>) -> Result<(), Failure> {
    let own = variables.iter().position(|(name, _)| name == CONFIG);
    let own = own.map(|at| variables.swap_remove(at).1).filter(|text| !text.trim().is_empty());
    let mut config: Map<String, Value> = match &own {
        Some(text) => serde_json::from_str(text).map_err(|error| {
            Failure::session(format!(
                "the environment variable `{CONFIG}` must be an object in JSON: {error}"
            ))
        })?,
        None => Map::new(),
    };
    let file = file(variables).unwrap_or_default();
    if let Some(provider) = provider(&file, variables, &config) {
        for setting in RETRIES {
            config.entry(format!("model_providers.{provider}.{setting}")).or_insert(0.into());
        }
    }
    config.insert("web_search".to_owned(), "disabled".into());
    config.extend(UNASKED.map(|feature| (feature.to_owned(), false.into())));
    if let Some(servers) = file.get("mcp_servers").and_then(toml::Value::as_table) {
        let off = servers.keys().map(|name| (name.clone(), json!({ "enabled": false })));
        config.insert("mcp_servers".to_owned(), off.collect::<Map<_, _>>().into());
    }
    variables.push((CONFIG.to_owned(), json!(config).to_string()));
    Ok(())
}

/// The configuration of the user.
fn file(variables: &[(String, String)]) -> Option<toml::Table> {
    let folder = match value(variables, "CODEX_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => {
            Path::new(value(variables, "HOME").or_else(|| value(variables, "USERPROFILE"))?).join(".codex")
        }
    };
    fs::read_to_string(folder.join("config.toml")).ok()?.parse().ok()
}

/// The provider that the user has configured. Those that are built into Codex have no settings.
fn provider(
    file: &toml::Table,
    variables: &[(String, String)],
    config: &Map<String, Value>,
) -> Option<String> {
    let text = |table: &toml::Table| table.get("model_provider")?.as_str().map(str::to_owned);
    let profile = || file.get("profiles")?.get(file.get("profile")?.as_str()?)?.as_table();
    let named = value(variables, "MODEL_PROVIDER").or_else(|| config.get("model_provider")?.as_str());
    let named = named.map(str::to_owned).or_else(|| text(profile()?)).or_else(|| text(file))?;
    // A name with a dot would be a path.
    let is_plain = named.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let is_configured = file.get("model_providers").is_some_and(|providers| providers.get(&named).is_some());
    (is_plain && is_configured).then_some(named)
}

fn value<'v>(variables: &'v [(String, String)], wanted: &str) -> Option<&'v str> {
    let found = variables.iter().find(|(name, _)| name == wanted);
    found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// What is added for a user with a configuration and variables.
    fn check(file: &str, variables: &[(&str, &str)], expected: Expect) {
        let home = prose_fixture::tempdir().unwrap();
        fs::create_dir(home.path().join(".codex")).unwrap();
        fs::write(home.path().join(".codex/config.toml"), file).unwrap();
        let mut variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        variables.push(("HOME".to_owned(), home.path().display().to_string()));
        configure(&mut variables).unwrap();
        let config: Value = serde_json::from_str(value(&variables, CONFIG).unwrap()).unwrap();
        expected.assert_eq(&format!("{config:#}"));
    }

    const FILE: &str = r#"
model_provider = "own"
[model_providers.own]
name = "own"
[model_providers.other]
[mcp_servers.files]
command = "files-mcp"
"#;

    #[test]
    fn codex_repeats_nothing_at_a_provider_of_the_user() {
        check(
            FILE,
            &[],
            expect![[r#"
            {
              "features.apps": false,
              "features.plugins": false,
              "mcp_servers": {
                "files": {
                  "enabled": false
                }
              },
              "model_providers.own.request_max_retries": 0,
              "model_providers.own.stream_max_retries": 0,
              "web_search": "disabled"
            }"#]],
        );
    }

    #[test]
    fn what_else_the_user_configures_stays() {
        let config = r#"{"model":"tides","web_search":"live","model_providers.other.stream_max_retries":2}"#;
        check(
            FILE,
            &[("CODEX_CONFIG", config), ("MODEL_PROVIDER", "other")],
            expect![[r#"
            {
              "features.apps": false,
              "features.plugins": false,
              "mcp_servers": {
                "files": {
                  "enabled": false
                }
              },
              "model": "tides",
              "model_providers.other.request_max_retries": 0,
              "model_providers.other.stream_max_retries": 2,
              "web_search": "disabled"
            }"#]],
        );
    }

    #[test]
    fn providers_of_codex_itself_have_no_settings() {
        check(
            "model_provider = \"openai\"\n",
            &[],
            expect![[r#"
            {
              "features.apps": false,
              "features.plugins": false,
              "web_search": "disabled"
            }"#]],
        );
    }

    #[test]
    fn a_configuration_that_is_no_json_is_an_error() {
        let mut variables = vec![(CONFIG.to_owned(), "model = 1".to_owned())];
        assert!(configure(&mut variables).unwrap_err().message.contains("must be an object in JSON"));
    }
}

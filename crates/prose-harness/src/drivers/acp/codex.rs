//! The configuration of Codex below `codex-acp`.

use std::fs;
use std::path::{Path, PathBuf};

use prose_vm::effect::Failure;
use serde_json::{Map, Value, json};

use crate::drivers::connection::Program;

/// The program whose environment is that of Codex: a command of a project may change it.
const PROGRAM: &str = "codex-acp";

/// The variable with the configuration of all sessions.
const CONFIG: &str = "CODEX_CONFIG";

/// The settings of a provider by which Codex itself repeats requests.
const RETRIES: [&str; 2] = ["request_max_retries", "stream_max_retries"];

/// The provider that Codex uses unless another one is configured. It is built in and has no settings.
const OPENAI: &str = "openai";

/// The name of a provider that is the same and has settings.
const COPY_OF_OPENAI: &str = "prose-openai";

/// What Codex uses without a question, although no sandbox restricts it; and the snapshot of its shell, which writes the keys in its environment into a file.
const UNASKED: [&str; 3] = ["features.apps", "features.plugins", "features.shell_snapshot"];

/// Adds to the variables of `codex-acp` what its sessions need. Codex makes no attempts of its own at its provider, since `codex-acp` is silent about those
/// after a rejected key. It has no tools that neither its sandbox nor a question restricts, such as the search of the web and the servers of the user.
pub(super) fn configure(program: &mut Program) -> Result<(), Failure> {
    let own = program.variables.iter().position(|(name, _)| name == CONFIG);
    let own = own.map(|at| program.variables.swap_remove(at).1).filter(|text| !text.trim().is_empty());
    let mut config: Map<String, Value> = match &own {
        Some(text) => serde_json::from_str(text).map_err(|error| {
            Failure::session(format!(
                "the environment variable `{CONFIG}` must be an object in JSON: {error}"
            ))
        })?,
        None => Map::new(),
    };
    let home = folder(&program.variables);
    let read = |name: &str| fs::read_to_string(home.as_ref()?.join(name)).ok();
    let parsed = read("config.toml").map_or(Some(toml::Table::new()), |text| text.parse().ok());
    let is_understood = parsed.is_some();
    let file = parsed.unwrap_or_default();
    let named = value(&program.variables, "MODEL_PROVIDER").map(str::to_owned);
    match named.or_else(|| text("model_provider", &file, &config)) {
        Some(provider) if is_configured(&file, &provider) => {
            for setting in RETRIES {
                config.entry(format!("model_providers.{provider}.{setting}")).or_insert(0.into());
            }
        }
        named => {
            let credentials = read("auth.json").and_then(|text| serde_json::from_str(&text).ok());
            let is_openai = named.as_deref().map_or(!file.contains_key("profile"), |named| named == OPENAI)
                && is_understood
                && program.program == PROGRAM
                && !has_other_settings(&program.folder, home.as_deref());
            let address = text("openai_base_url", &file, &config);
            if is_openai
                && has_key(&file, credentials.as_ref())
                && let Some(providers) =
                    config.entry("model_providers").or_insert_with(|| json!({})).as_object_mut()
            {
                providers.insert(COPY_OF_OPENAI.to_owned(), copy_of_openai(address.as_deref()));
                config.insert("model_provider".to_owned(), COPY_OF_OPENAI.into());
                program.variables.retain(|(name, _)| name != "MODEL_PROVIDER");
            }
        }
    }
    config.insert("web_search".to_owned(), "disabled".into());
    config.extend(UNASKED.map(|feature| (feature.to_owned(), false.into())));
    if let Some(servers) = file.get("mcp_servers").and_then(toml::Value::as_table) {
        let off = servers.keys().map(|name| (name.clone(), json!({ "enabled": false })));
        config.insert("mcp_servers".to_owned(), off.collect::<Map<_, _>>().into());
    }
    program.variables.push((CONFIG.to_owned(), json!(config).to_string()));
    Ok(())
}

/// The folder with the configuration of the user.
fn folder(variables: &[(String, String)]) -> Option<PathBuf> {
    match value(variables, "CODEX_HOME") {
        Some(folder) => Some(folder.into()),
        None => {
            let home = value(variables, "HOME").or_else(|| value(variables, "USERPROFILE"))?;
            Some(Path::new(home).join(".codex"))
        }
    }
}

/// Whether a project or the system has settings of Codex besides those of the user, of which the provider may be one.
fn has_other_settings(project: &Path, home: Option<&Path>) -> bool {
    let folders = project.ancestors().map(|folder| folder.join(".codex"));
    let mut others =
        folders.filter(|folder| Some(&**folder) != home).map(|folder| folder.join("config.toml"));
    others.any(|settings| settings.exists()) || Path::new("/etc/codex").exists()
}

/// A setting, also in the profile of the user.
fn text(name: &str, file: &toml::Table, config: &Map<String, Value>) -> Option<String> {
    let of_table = |table: &toml::Table| table.get(name)?.as_str().map(str::to_owned);
    let profile = || file.get("profiles")?.get(file.get("profile")?.as_str()?)?.as_table();
    let named = config.get(name).and_then(Value::as_str).map(str::to_owned);
    named.or_else(|| of_table(profile()?)).or_else(|| of_table(file))
}

/// Whether the user has configured a provider, which has settings then.
fn is_configured(file: &toml::Table, provider: &str) -> bool {
    // A name with a dot would be a path.
    let is_plain = provider.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_plain && file.get("model_providers").is_some_and(|providers| providers.get(provider).is_some())
}

/// Whether Codex uses a key, and not an account, with which it asks other servers.
fn has_key(file: &toml::Table, credentials: Option<&Value>) -> bool {
    let is_in_file = match file.get("cli_auth_credentials_store") {
        Some(store) => store.as_str() == Some("file"),
        None => true,
    };
    is_in_file && credentials.is_none_or(|credentials| credentials["tokens"].is_null())
}

/// The provider that is built into Codex, as a provider of the user whose requests are not repeated.
fn copy_of_openai(address: Option<&str>) -> Value {
    let mut provider = json!({
        "name": "OpenAI",
        "wire_api": "responses",
        "requires_openai_auth": true,
        "supports_websockets": true,
        "env_http_headers": {
            "OpenAI-Organization": "OPENAI_ORGANIZATION",
            "OpenAI-Project": "OPENAI_PROJECT",
        },
    });
    for setting in RETRIES {
        provider[setting] = 0.into();
    }
    if let Some(address) = address {
        provider["base_url"] = address.into();
    }
    provider
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
        let mut program = program(home.path(), variables);
        configure(&mut program).unwrap();
        let config: Value = serde_json::from_str(value(&program.variables, CONFIG).unwrap()).unwrap();
        expected.assert_eq(&format!("{config:#}"));
    }

    fn program(home: &Path, variables: &[(&str, &str)]) -> Program {
        let mut variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        variables.push(("HOME".to_owned(), home.display().to_string()));
        let (program, folder) = (PROGRAM.to_owned(), home.join("project"));
        Program { program, arguments: Vec::new(), folder, variables, files: Vec::new() }
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
              "features.shell_snapshot": false,
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
              "features.shell_snapshot": false,
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
    fn the_provider_of_codex_itself_is_copied() {
        check(
            "openai_base_url = \"http://127.0.0.1:1/v1\"\n",
            &[("MODEL_PROVIDER", "openai")],
            expect![[r#"
                {
                  "features.apps": false,
                  "features.plugins": false,
                  "features.shell_snapshot": false,
                  "model_provider": "prose-openai",
                  "model_providers": {
                    "prose-openai": {
                      "base_url": "http://127.0.0.1:1/v1",
                      "env_http_headers": {
                        "OpenAI-Organization": "OPENAI_ORGANIZATION",
                        "OpenAI-Project": "OPENAI_PROJECT"
                      },
                      "name": "OpenAI",
                      "request_max_retries": 0,
                      "requires_openai_auth": true,
                      "stream_max_retries": 0,
                      "supports_websockets": true,
                      "wire_api": "responses"
                    }
                  },
                  "web_search": "disabled"
                }"#]],
        );
    }

    #[test]
    fn a_provider_that_a_project_may_have_chosen_is_not_replaced() {
        let home = prose_fixture::tempdir().unwrap();
        fs::create_dir_all(home.path().join("project/.codex")).unwrap();
        fs::write(home.path().join("project/.codex/config.toml"), "model_provider = \"own\"").unwrap();
        let of_project = program(home.path(), &[]);
        let of_command = Program { program: "./codex-acp".to_owned(), ..program(Path::new("/nowhere"), &[]) };
        for mut program in [of_project, of_command] {
            configure(&mut program).unwrap();
            let config = value(&program.variables, CONFIG).unwrap();
            assert!(!config.contains(COPY_OF_OPENAI), "{config}");
        }
    }

    #[test]
    fn other_providers_of_codex_itself_have_no_settings() {
        check(
            "model_provider = \"ollama\"\n",
            &[],
            expect![[r#"
            {
              "features.apps": false,
              "features.plugins": false,
              "features.shell_snapshot": false,
              "web_search": "disabled"
            }"#]],
        );
    }

    #[test]
    fn an_account_stays_with_the_provider_of_codex_itself() {
        let uses_key =
            |file: &str, credentials: Option<Value>| has_key(&file.parse().unwrap(), credentials.as_ref());
        assert!(uses_key("", None) && uses_key("", Some(json!({ "OPENAI_API_KEY": "sk", "tokens": null }))));
        assert!(!uses_key("", Some(json!({ "tokens": { "id_token": "a" } }))));
        assert!(!uses_key("cli_auth_credentials_store = \"keyring\"", None));
    }

    #[test]
    fn a_configuration_that_is_no_json_is_an_error() {
        let mut program = program(Path::new("/nowhere"), &[(CONFIG, "model = 1")]);
        assert!(configure(&mut program).unwrap_err().message.contains("must be an object in JSON"));
    }
}

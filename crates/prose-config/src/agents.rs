//! Which backend answers what: providers, judges and agents with a backend of their own.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use prose_syntax::Code;
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::DeValue;

use crate::mcp::ServerName;
use crate::registry_url::RegistryUrl;
use crate::setting::{NamedInSettings, Reader, Setting, settings, shorten};
use crate::values::{HarnessName, ProviderName, Variable, Word, is_name};

settings! {
    /// The provider of the harness `provider`.
    pub struct ProviderConfig {
        /// The provider. `compatible` is any server with the API of OpenAI.
        name: ProviderName = "name",
        /// The address of the provider, if it is another one than usual. `compatible` has none of its own.
        base_url: Option<RegistryUrl> = "base-url",
        /// The id of the model for sessions that name none. The default is the provider's model for `sonnet`; `ollama`, `vllm` and `compatible` have none.
        model: Option<String> = "model",
        /// The environment variable with the key, if it is another one than usual. Keys are only read from the environment.
        key_variable: Option<Variable> = "key-variable",
        /// How long a session waits in total for a provider that is overloaded, limits the rate of requests or cannot be reached, in seconds.
        wait_seconds: NonZeroU32 = "wait-seconds" or NonZeroU32::MIN.saturating_add(599),
    }
}

settings! {
    /// The backend that evaluates conditions and choices, extracts parts of texts and summarizes.
    pub struct JudgeConfig {
        /// The harness, if it is another one than `run.harness`.
        harness: Option<HarnessName> = "harness",
        /// The model. The default is the one that the harness has for `haiku`.
        model: Option<String> = "model",
    }
}

settings! {
    /// The backend and the tools of an agent.
    pub struct AgentConfig {
        /// The harness, if it is another one than `run.harness`.
        harness: Option<HarnessName> = "harness",
        /// The model, instead of the one in the program.
        model: Option<String> = "model",
        /// The servers in `[mcp.servers]` whose tools the agent can use. The permission `mcp` decides about each use.
        mcp: Vec<ServerName> = "mcp",
        /// The skills, instead of those in the program: names that the harness has, or paths of folders with a `SKILL.md` that start with `./`.
        skills: Option<Vec<SkillName>> = "skills",
    }
}

/// The name of a skill, or the path of its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillName(String);

impl SkillName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for SkillName {
    fn expected() -> String {
        Word::expected()
    }

    fn expected_list() -> String {
        "a list of strings, such as [\"review\", \"./skills/style\"]".to_owned()
    }

    fn schema() -> Value {
        Word::schema()
    }

    fn to_json(&self) -> Value {
        self.as_str().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let name = reader.parsed(value, Word::new)?.as_str().to_owned();
        // Whether it exists is looked up by those who read the folder.
        let range = reader.range(value.span());
        reader.named_skills.push(NamedInSettings { agent: String::new(), name: name.clone(), range });
        Some(Self(name))
    }
}

/// The agents with a backend of their own, by their names in programs.
pub type AgentConfigs = BTreeMap<String, AgentConfig>;

impl Setting for AgentConfigs {
    fn expected() -> String {
        "a table for each agent, such as `[agents.writer]`".to_owned()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_-]*$" },
            "additionalProperties": AgentConfig::schema(),
        })
    }

    fn to_json(&self) -> Value {
        self.iter().map(|(name, config)| (name.clone(), config.to_json())).collect()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut agents = BTreeMap::new();
        reader.entries::<Self>(value, |reader, key, value| {
            let name = key.get_ref();
            if is_name(name) {
                let before = reader.named_skills.len();
                agents.extend(AgentConfig::read(value, reader).map(|config| (name.to_string(), config)));
                for skill in &mut reader.named_skills[before..] {
                    skill.agent = name.to_string();
                }
            } else {
                let message = format!("`{}` is not the name of an agent", shorten(name));
                reader.report(Code::E142, key.span(), message, None);
            }
        })?;
        Some(agents)
    }
}

//! The messages of the Agent Client Protocol that only the driver of agents uses.

use std::path::PathBuf;

use prose_acp::{StopReason, Tokens};
use prose_vm::effect::{Failure, Usage};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The result of `initialize`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialized {
    #[serde(default)]
    pub(super) auth_methods: Vec<Named>,
    #[serde(default)]
    agent_capabilities: Value,
}

impl Initialized {
    /// Whether sessions can be closed before the agent ends.
    pub(super) fn closes_sessions(&self) -> bool {
        self.agent_capabilities.pointer("/sessionCapabilities/close").is_some_and(|close| !close.is_null())
    }

    /// Whether sessions can be given a title.
    pub(super) fn names_sessions(&self) -> bool {
        self.agent_capabilities.pointer("/sessionCapabilities/title").is_some_and(|title| !title.is_null())
    }

    /// How earlier sessions can be continued. A copy leaves them as they are, and loading sends all that was said in them.
    pub(super) fn continuing(&self) -> Option<Continuing> {
        let of_sessions = &self.agent_capabilities["sessionCapabilities"];
        let loads = self.agent_capabilities["loadSession"] == true;
        [
            (Continuing::Copy, !of_sessions["fork"].is_null()),
            (Continuing::Resume, !of_sessions["resume"].is_null()),
            (Continuing::Load, loads),
        ]
        .into_iter()
        .find_map(|(continuing, is_offered)| is_offered.then_some(continuing))
    }

    /// Whether it can use MCP servers that are reached by HTTP, besides programs.
    pub(super) fn uses_http_servers(&self) -> bool {
        self.agent_capabilities.pointer("/mcpCapabilities/http").and_then(Value::as_bool).unwrap_or_default()
    }
}

/// How an agent continues an earlier session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuing {
    /// In a copy of it.
    Copy,
    /// In the session itself.
    Resume,
    /// In the session itself, after it was sent to the client.
    Load,
}

impl Continuing {
    /// The method of the protocol.
    pub(super) fn method(self) -> &'static str {
        match self {
            Continuing::Copy => "session/fork",
            Continuing::Resume => "session/resume",
            Continuing::Load => "session/load",
        }
    }
}

/// Something with an id.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub(super) id: String,
}

/// The result of `session/new`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSession {
    pub(super) session_id: String,
    pub(super) modes: Option<Modes>,
    pub(super) config_options: Option<Vec<ConfigOption>>,
    /// The models of agents of earlier versions of the protocol.
    pub(super) models: Option<Models>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Modes {
    pub(super) current_mode_id: String,
    pub(super) available_modes: Vec<Named>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Models {
    pub(super) current_model_id: String,
    pub(super) available_models: Vec<Model>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Model {
    pub(super) model_id: String,
}

/// An option of a session, such as its model.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConfigOption {
    pub(super) id: String,
    pub(super) category: Option<String>,
    #[serde(default)]
    pub(super) current_value: Value,
    #[serde(default)]
    pub(super) options: Vec<ConfigValue>,
}

/// A value of an option, or a group of them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ConfigValue {
    One { value: String },
    Group { options: Vec<ConfigValue> },
}

impl ConfigValue {
    /// The values, without their groups.
    pub(super) fn values(&self) -> Vec<&str> {
        match self {
            ConfigValue::One { value } => vec![value],
            ConfigValue::Group { options } => options.iter().flat_map(ConfigValue::values).collect(),
        }
    }
}

/// The result of `session/prompt`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ended {
    pub(super) stop_reason: StopReason,
    usage: Option<Tokens>,
    #[serde(rename = "_meta", default)]
    meta: Value,
}

impl Ended {
    /// The tokens of the turn.
    pub(super) fn usage(&self) -> Option<Usage> {
        let Some(tokens) = &self.usage else { return self.quota() };
        let cached = tokens.cached_read_tokens.unwrap_or_default();
        let written = tokens.cached_write_tokens.unwrap_or_default();
        Some(Usage {
            // Input tokens of the protocol are those outside of the cache.
            input_tokens: tokens.input_tokens.saturating_add(cached).saturating_add(written),
            cache_read_tokens: cached,
            cache_write_tokens: written,
            output_tokens: tokens.output_tokens,
            cost: None,
        })
    }

    /// The tokens as Gemini CLI reports them.
    fn quota(&self) -> Option<Usage> {
        let tokens = self.meta.pointer("/quota/token_count")?;
        let count = |name: &str| tokens[name].as_u64();
        Some(Usage {
            input_tokens: count("input_tokens")?,
            output_tokens: count("output_tokens").unwrap_or_default(),
            ..Usage::default()
        })
    }
}

/// The parameters of `fs/read_text_file`.
#[derive(Debug, Deserialize)]
pub(super) struct ReadFile {
    pub(super) path: PathBuf,
    pub(super) line: Option<u32>,
    pub(super) limit: Option<u32>,
}

/// The parameters of `fs/write_text_file`.
#[derive(Debug, Deserialize)]
pub(super) struct WriteFile {
    pub(super) path: PathBuf,
    pub(super) content: String,
}

/// Reads the result of a request.
pub(super) fn read<T: DeserializeOwned>(who: &str, method: &str, result: &Value) -> Result<T, Failure> {
    T::deserialize(result).map_err(|error| {
        Failure::session(format!(
            "{who} answered `{method}` in an unknown form: {error}; check that it speaks the Agent Client Protocol"
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn agents_report_what_they_are_capable_of() {
        let check = |initialized: Value, expected: (bool, bool, Option<&str>)| {
            let met: Initialized = serde_json::from_value(initialized).unwrap();
            let continuing = met.continuing().map(Continuing::method);
            assert_eq!((met.closes_sessions(), met.uses_http_servers(), continuing), expected);
        };
        check(json!({ "protocolVersion": 1 }), (false, false, None));
        let of_servers = json!({ "loadSession": true, "mcpCapabilities": { "http": true, "sse": false } });
        check(json!({ "agentCapabilities": of_servers }), (false, true, Some("session/load")));
        let of_sessions = json!({ "mcpCapabilities": { "http": false }, "sessionCapabilities": { "close": {}, "resume": {} } });
        check(json!({ "agentCapabilities": of_sessions }), (true, false, Some("session/resume")));
        let all = json!({ "loadSession": true, "sessionCapabilities": { "fork": {}, "resume": {} } });
        check(json!({ "agentCapabilities": all }), (false, false, Some("session/fork")));
    }
}

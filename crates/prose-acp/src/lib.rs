//! Messages of the Agent Client Protocol, version 1: those that the driver of agents receives and the server of programs sends, and the other way
//! round.
//!
//! The crates of the protocol have all of them, but they make JSON objects keep the order of their keys in the whole program, and the order in files
//! of runs and in output would change with it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The version of the protocol.
pub const PROTOCOL_VERSION: u32 = 1;

/// Codes of errors.
pub mod code {
    /// A message is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// A message is not a request, or cannot be handled now.
    pub const INVALID_REQUEST: i64 = -32600;
    /// A method does not exist.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters of a method are wrong.
    pub const INVALID_PARAMS: i64 = -32602;
    /// A request failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The agent asks for a sign-in.
    pub const AUTH_REQUIRED: i64 = -32000;
    /// A resource, such as a session or a file, does not exist.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
}

/// An error of JSON-RPC.
pub fn error(code: i64, message: impl Into<String>) -> Value {
    json!({ "code": code, "message": message.into() })
}

/// The error for a method that does not exist.
pub fn unknown_method(method: &str) -> Value {
    error(code::METHOD_NOT_FOUND, format!("method `{method}` is not supported"))
}

/// The error for parameters that are not those of a method.
pub fn invalid_params(method: &str) -> Value {
    error(code::INVALID_PARAMS, format!("the parameters of `{method}` are not valid"))
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named for what they are")]
pub enum StopReason {
    EndTurn,
    MaxTokens,
    MaxTurnRequests,
    Refusal,
    #[serde(other)]
    Cancelled,
}

/// The parameters of `session/update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionNotification {
    /// The session.
    #[serde(default)]
    pub session_id: String,
    /// What happened in it.
    pub update: Update,
}

/// What happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
pub enum Update {
    /// A part of what the user wrote, in a session that is loaded.
    UserMessageChunk(Chunk),
    /// A part of what the agent writes.
    AgentMessageChunk(Chunk),
    /// A part of what the agent considers.
    AgentThoughtChunk(Chunk),
    /// A tool call started.
    ToolCall(ToolCall),
    /// A tool call changed.
    #[serde(rename = "tool_call_update")]
    ToolCallChanged(ToolCall),
    /// The plan, as a whole.
    Plan {
        /// Its entries in order.
        entries: Vec<PlanEntry>,
    },
    /// The commands that a prompt can start with.
    #[serde(rename_all = "camelCase")]
    AvailableCommandsUpdate {
        /// The commands.
        available_commands: Vec<AvailableCommand>,
    },
    /// The usage of the session.
    #[serde(rename = "usage_update")]
    Usage {
        /// The cost so far.
        cost: Option<Cost>,
    },
    /// An update of a later version.
    #[serde(other)]
    Other,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chunk {
    /// The part.
    pub content: Content,
    /// The message that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// What only some agents and clients understand.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

impl Chunk {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: Content::Text { text: text.into() }, message_id: None, meta: Map::new() }
    }

    /// A text about the work that is no part of its result.
    pub fn notice(text: impl Into<String>) -> Self {
        let meta = Map::from_iter([("prose".to_owned(), json!({ "kind": "notice" }))]);
        Self { meta, ..Self::text(text) }
    }

    /// Whether it is about the work and no part of its result.
    pub fn is_notice(&self) -> bool {
        let kind = |agent: &str| self.meta.get(agent).and_then(|meta| meta["kind"].as_str());
        // Claude Code reports messages of its program like this.
        kind("prose") == Some("notice") || kind("claudeCode") == Some("informational")
    }
}

/// A block of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// A link to a file or another resource.
    ResourceLink {
        /// Its address.
        uri: String,
    },
    /// A file or another resource with its content.
    Resource {
        /// The resource.
        resource: Resource,
    },
    /// An image, a sound, or a block of a later version.
    #[serde(other)]
    Other,
}

/// A resource with its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// Its address.
    #[serde(default)]
    pub uri: String,
    /// Its text; none of binary resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The cost of a session so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// The currency, as ISO 4217 names it.
    pub currency: String,
}

/// A tool call, or what has changed in it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Its id.
    pub tool_call_id: String,
    /// What it does, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its kind, such as `read` or `execute`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// How it goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<CallStatus>,
    /// The files that it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<Location>>,
    /// What it was called with, in the words of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// What a person is shown about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
}

/// The content of a tool call that is a text.
pub fn call_text(text: &str) -> Value {
    json!([{ "type": "content", "content": { "type": "text", "text": text } }])
}

/// How a tool call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named for what they are")]
pub enum CallStatus {
    InProgress,
    Completed,
    Failed,
    #[serde(other)]
    Pending,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The file.
    pub path: String,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// An entry of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// How important it is.
    #[serde(default)]
    pub priority: String,
    /// How it goes.
    pub status: PlanStatus,
}

/// How an entry of a plan goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named for what they are")]
pub enum PlanStatus {
    InProgress,
    Completed,
    #[serde(other)]
    Pending,
}

/// A command that a prompt can start with, after a `/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AvailableCommand {
    /// Its name.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// What follows it; nothing for a command that stands alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<CommandInput>,
}

/// What follows a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandInput {
    /// What is shown while nothing is written.
    #[serde(default)]
    pub hint: String,
}

/// The parameters of `session/request_permission`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// The session.
    #[serde(default)]
    pub session_id: String,
    /// The tool call that it is about.
    pub tool_call: ToolCall,
    /// The answers to choose from.
    #[serde(default)]
    pub options: Vec<PermissionOption>,
}

impl PermissionRequest {
    /// Whether it is about a permission, which can be refused. Other questions are for a person only.
    pub fn can_be_rejected(&self) -> bool {
        self.options.iter().any(|option| option.kind.rejects())
    }
}

/// An answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    /// Its id.
    pub option_id: String,
    /// Its words.
    #[serde(default)]
    pub name: String,
    /// What it means.
    pub kind: OptionKind,
}

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named for what they are")]
pub enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    #[serde(other)]
    Unknown,
}

impl OptionKind {
    /// Whether it refuses.
    pub fn rejects(self) -> bool {
        matches!(self, OptionKind::RejectOnce | OptionKind::RejectAlways)
    }
}

/// The answer to a permission request: an option, or none if the turn was cancelled or the question has no answer.
pub fn outcome(option: Option<&PermissionOption>) -> Value {
    match option {
        Some(option) => json!({ "outcome": { "outcome": "selected", "optionId": option.option_id } }),
        None => json!({ "outcome": { "outcome": "cancelled" } }),
    }
}

/// The id of the option in an answer to a permission request; none if it was cancelled.
pub fn selected(answer: &Value) -> Option<&str> {
    let outcome = answer.get("outcome").filter(|outcome| outcome["outcome"] == "selected")?;
    outcome["optionId"].as_str()
}

/// Used tokens. Input tokens do not include those of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// All of them.
    #[serde(default)]
    pub total_tokens: u64,
    /// Those that the model read.
    #[serde(default)]
    pub input_tokens: u64,
    /// Those that the model wrote.
    #[serde(default)]
    pub output_tokens: u64,
    /// Those that were read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_read_tokens: Option<u64>,
    /// Those that were written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_write_tokens: Option<u64>,
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(update: &Update, expect: Expect) {
        let text = serde_json::to_string(update).unwrap_or_default();
        expect.assert_eq(&text);
        let read: Update = serde_json::from_str(&text).unwrap_or(Update::Other);
        assert_eq!(&read, update);
    }

    #[test]
    fn updates_have_the_form_of_the_protocol() {
        check(
            &Update::AgentMessageChunk(Chunk::text("Done")),
            expect![[r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Done"}}"#]],
        );
        check(
            &Update::ToolCallChanged(ToolCall {
                tool_call_id: "1".to_owned(),
                status: Some(CallStatus::InProgress),
                ..ToolCall::default()
            }),
            expect![[r#"{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress"}"#]],
        );
        let entry = PlanEntry {
            content: "Write".to_owned(),
            priority: "medium".to_owned(),
            status: PlanStatus::Pending,
        };
        check(
            &Update::Plan { entries: vec![entry] },
            expect![[
                r#"{"sessionUpdate":"plan","entries":[{"content":"Write","priority":"medium","status":"pending"}]}"#
            ]],
        );
        let command = AvailableCommand { name: "review".to_owned(), description: String::new(), input: None };
        check(
            &Update::AvailableCommandsUpdate { available_commands: vec![command] },
            expect![[
                r#"{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"review","description":""}]}"#
            ]],
        );
    }

    #[test]
    fn what_later_versions_add_is_no_error() {
        let read = |text: &str| serde_json::from_str::<Update>(text).unwrap();
        assert_eq!(read(r#"{"sessionUpdate":"config_option_update","options":[]}"#), Update::Other);
        let thought = r#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"hologram","text":1}}"#;
        let Update::AgentThoughtChunk(Chunk { content: Content::Other, .. }) = read(thought) else {
            panic!("a block of a later version is read");
        };
        let status = serde_json::from_str::<CallStatus>(r#""paused""#).unwrap();
        assert_eq!(status, CallStatus::Pending);
        assert_eq!(serde_json::from_str::<StopReason>(r#""tired""#).unwrap(), StopReason::Cancelled);
    }

    #[test]
    fn answers_are_read_as_they_are_written() {
        let option = PermissionOption {
            option_id: "once".to_owned(),
            name: "Allow once".to_owned(),
            kind: OptionKind::AllowOnce,
        };
        assert_eq!(selected(&outcome(Some(&option))), Some("once"));
        assert_eq!(selected(&outcome(None)), None);
    }
}

//! The messages of Claude Code, as far as they are used.

use std::collections::BTreeMap;
use std::path::PathBuf;

use prose_vm::effect::Usage;
use serde::Deserialize;
use serde_json::Value;
use smol_str::SmolStr;

/// A message.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Message {
    System(System),
    Assistant(FromModel),
    User(FromTools),
    StreamEvent(Streamed),
    ControlRequest(ControlRequest),
    Result(Box<TurnResult>),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(super) enum System {
    /// A turn begins.
    Init { session_id: SmolStr, model: Option<SmolStr> },
    /// A request to the provider failed and is made again.
    ApiRetry {
        #[serde(default)]
        attempt: u32,
        #[serde(default)]
        retry_delay_ms: f64,
        error_status: Option<u16>,
        #[serde(default)]
        error: Value,
    },
    #[serde(other)]
    Other,
}

/// A part of a message of the model.
#[derive(Debug, Deserialize)]
pub(super) struct FromModel {
    pub(super) message: Content,
    /// The tool call that a subagent works for.
    pub(super) parent_tool_use_id: Option<SmolStr>,
}

/// The results of tools.
#[derive(Debug, Deserialize)]
pub(super) struct FromTools {
    pub(super) message: Content,
}

#[derive(Debug, Deserialize)]
pub(super) struct Content {
    pub(super) id: Option<SmolStr>,
    #[serde(default, deserialize_with = "blocks")]
    pub(super) content: Vec<Block>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: SmolStr,
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        tool_use_id: SmolStr,
        #[serde(default)]
        is_error: bool,
    },
    #[serde(other)]
    Other,
}

/// The blocks of a content, which can also be a text.
fn blocks<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Block>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Blocks(Vec<Block>),
        Text(String),
    }
    Ok(match Written::deserialize(from)? {
        Written::Blocks(blocks) => blocks,
        Written::Text(text) => vec![Block::Text { text }],
    })
}

/// A message of the model while it is written.
#[derive(Debug, Deserialize)]
pub(super) struct Streamed {
    pub(super) event: StreamEvent,
    pub(super) parent_tool_use_id: Option<SmolStr>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum StreamEvent {
    MessageStart {
        message: Started,
    },
    ContentBlockDelta {
        delta: Delta,
    },
    MessageDelta {
        #[serde(default)]
        usage: Tokens,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Started {
    pub(super) id: Option<SmolStr>,
    #[serde(default)]
    pub(super) usage: Tokens,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(other)]
    Other,
}

/// The usage of a message, as the provider reports it.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Tokens {
    /// These with what is missing from others.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.or(other.input_tokens),
            cache_creation_input_tokens: self
                .cache_creation_input_tokens
                .or(other.cache_creation_input_tokens),
            cache_read_input_tokens: self.cache_read_input_tokens.or(other.cache_read_input_tokens),
            output_tokens: self.output_tokens.or(other.output_tokens),
        }
    }

    pub(super) fn usage(self) -> Usage {
        let or_none = Option::unwrap_or_default;
        let (read, written) =
            (or_none(self.cache_read_input_tokens), or_none(self.cache_creation_input_tokens));
        Usage {
            input_tokens: or_none(self.input_tokens) + read + written,
            cache_read_tokens: read,
            cache_write_tokens: written,
            output_tokens: or_none(self.output_tokens),
            cost: None,
        }
    }
}

/// A question to the owner of the process.
#[derive(Debug, Deserialize)]
pub(super) struct ControlRequest {
    pub(super) request_id: SmolStr,
    pub(super) request: Control,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(super) enum Control {
    /// Whether a tool may be used.
    CanUseTool {
        tool_name: String,
        #[serde(default)]
        input: Value,
        tool_use_id: Option<SmolStr>,
    },
    /// A hook is called.
    HookCallback { callback_id: SmolStr, input: HookInput },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct HookInput {
    pub(super) transcript_path: Option<PathBuf>,
    /// The folder in which commands run.
    pub(super) cwd: Option<PathBuf>,
}

/// The end of a turn.
#[derive(Debug, Deserialize)]
pub(super) struct TurnResult {
    #[serde(default)]
    pub(super) is_error: bool,
    #[serde(default)]
    pub(super) subtype: SmolStr,
    #[serde(default)]
    pub(super) result: String,
    #[serde(default)]
    pub(super) errors: Vec<String>,
    pub(super) api_error_status: Option<u16>,
    /// The cost of the whole process so far.
    pub(super) total_cost_usd: Option<f64>,
    #[serde(default)]
    usage: Tokens,
    /// The usage of the whole process so far, by model.
    #[serde(default, rename = "modelUsage")]
    models: BTreeMap<String, ModelTokens>,
    #[serde(default)]
    pub(super) permission_denials: Vec<PermissionDenial>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ModelTokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct PermissionDenial {
    pub(super) tool_name: String,
    pub(super) tool_use_id: SmolStr,
    #[serde(default)]
    pub(super) tool_input: Value,
}

impl TurnResult {
    /// The usage of the process so far, with that of its earlier turns where only the usage of this turn is reported.
    pub(super) fn total(&self, before: Usage) -> Usage {
        let total = match self.models.is_empty() {
            true => before.and(self.usage.usage()),
            false => self.models.values().map(|tokens| tokens.usage()).fold(Usage::default(), Usage::and),
        };
        Usage { cost: self.total_cost_usd.or(before.cost), ..total }
    }

    /// The usage of the turn without subagents.
    pub(super) fn of_turn(&self) -> Usage {
        self.usage.usage()
    }

    /// The error message.
    pub(super) fn error(&self) -> String {
        match (self.result.is_empty(), self.errors.is_empty()) {
            (false, _) => self.result.clone(),
            (true, false) => self.errors.join("; "),
            (true, true) => self.subtype.replace('_', " "),
        }
    }
}

impl ModelTokens {
    fn usage(self) -> Usage {
        let Self { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = self;
        Usage {
            input_tokens: input_tokens + cache_read_input_tokens + cache_creation_input_tokens,
            cache_read_tokens: cache_read_input_tokens,
            cache_write_tokens: cache_creation_input_tokens,
            output_tokens,
            cost: None,
        }
    }
}

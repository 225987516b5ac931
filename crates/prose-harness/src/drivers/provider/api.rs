//! The APIs of providers: what is sent, and what the events of a stream mean.

use prose_vm::effect::Usage;
use serde_json::{Value, json};

/// An API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// `v1/messages` of Anthropic.
    Anthropic,
    /// `chat/completions` of OpenAI, which many servers have.
    OpenAi,
    /// `streamGenerateContent` of Gemini.
    Gemini,
}

/// What a model is asked.
#[derive(Debug)]
pub(super) struct Prompt<'a> {
    pub(super) model: &'a str,
    pub(super) system: Option<&'a str>,
    pub(super) text: &'a str,
    pub(super) schema: Option<&'a Value>,
}

/// A part of what an event says.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    Reasoning(String),
    /// The id of the answer and its model.
    Head {
        id: String,
        model: Option<String>,
    },
    /// The total usage so far. Counts that an event does not name are `None`.
    Used(Used),
    /// The answer is complete, for a reason.
    Stopped(Stop),
    /// The provider failed.
    Failed {
        status: Option<u16>,
        message: String,
    },
}

/// Counts of an event.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Used {
    pub(super) input: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
    pub(super) output: Option<u64>,
}

impl Used {
    /// Replaces the counts that an event names.
    pub(super) fn update(self, usage: &mut Usage) {
        let counts = [
            (self.input, &mut usage.input_tokens),
            (self.cache_read, &mut usage.cache_read_tokens),
            (self.cache_write, &mut usage.cache_write_tokens),
            (self.output, &mut usage.output_tokens),
        ];
        for (count, total) in counts {
            *total = count.unwrap_or(*total);
        }
    }
}

/// Why an answer is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Ended,
    /// The limit of output tokens.
    CutOff,
    /// The context of the model is full.
    ContextFull,
    Refused,
}

impl Api {
    /// The path of requests, after the base address.
    pub(super) fn path(self, base: &str, model: &str) -> String {
        match self {
            // The address is set with and without the version.
            Api::Anthropic if base.ends_with("/v1") => "messages".to_owned(),
            Api::Anthropic => "v1/messages".to_owned(),
            Api::OpenAi => "chat/completions".to_owned(),
            Api::Gemini => format!("models/{model}:streamGenerateContent?alt=sse"),
        }
    }

    /// The header with the key, and its value.
    pub(super) fn key_header(self, key: &str) -> (&'static str, String) {
        match self {
            Api::Anthropic => ("x-api-key", key.to_owned()),
            Api::OpenAi => ("authorization", format!("Bearer {key}")),
            Api::Gemini => ("x-goog-api-key", key.to_owned()),
        }
    }

    /// Whether answers of a model can be bound to a schema.
    pub(super) fn binds_answers(self, model: &str) -> bool {
        // Models before 4.5 do not know it.
        let is_older = |model: &str| {
            [
                "claude-3",
                "claude-sonnet-4-0",
                "claude-opus-4-0",
                "claude-opus-4-1",
                "claude-sonnet-4-2",
                "claude-opus-4-2",
            ]
            .iter()
            .any(|older| model.starts_with(older))
        };
        self != Api::Anthropic || !is_older(model)
    }

    /// The body of a request.
    pub(super) fn body(self, prompt: &Prompt<'_>) -> Value {
        let Prompt { model, system, text, schema } = *prompt;
        match self {
            Api::Anthropic => {
                let mut body = json!({
                    "model": model,
                    "max_tokens": max_tokens(model),
                    "stream": true,
                    "messages": [{ "role": "user", "content": text }],
                });
                if let Some(system) = system {
                    // The same for all sessions of an agent, so it is worth caching.
                    body["system"] =
                        json!([{ "type": "text", "text": system, "cache_control": { "type": "ephemeral" } }]);
                }
                if let Some(schema) = schema {
                    body["output_config"] = json!({ "format": { "type": "json_schema", "schema": schema } });
                }
                body
            }
            Api::OpenAi => {
                // Prefixes that are the same are cached without being asked to.
                let system = system.map(|system| json!({ "role": "system", "content": system }));
                let user = json!({ "role": "user", "content": text });
                let mut body = json!({
                    "model": model,
                    "stream": true,
                    "stream_options": { "include_usage": true },
                    "messages": system.into_iter().chain([user]).collect::<Vec<_>>(),
                });
                if let Some(schema) = schema {
                    let schema = json!({ "name": "answer", "strict": true, "schema": schema });
                    body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
                }
                body
            }
            Api::Gemini => {
                let mut body = json!({ "contents": [{ "role": "user", "parts": [{ "text": text }] }] });
                if let Some(system) = system {
                    body["systemInstruction"] = json!({ "parts": [{ "text": system }] });
                }
                if let Some(schema) = schema {
                    body["generationConfig"] =
                        json!({ "responseMimeType": "application/json", "responseJsonSchema": schema });
                }
                body
            }
        }
    }

    /// What an event of the stream says.
    pub(super) fn parts(self, event: &Value) -> Vec<Part> {
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            let status = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
            return vec![Part::Failed { status, message: event.to_string() }];
        }
        match self {
            Api::Anthropic => anthropic(event),
            Api::OpenAi => openai(event),
            Api::Gemini => gemini(event),
        }
    }
}

/// The limit of output tokens, which Anthropic requires: as much as the model can.
fn max_tokens(model: &str) -> u32 {
    match model {
        model if model.starts_with("claude-3-5") => 8_192,
        model if model.starts_with("claude-3-7") => 32_000,
        model if model.starts_with("claude-3") => 4_096,
        _ => 32_000,
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn head(id: &Value, model: &Value) -> Option<Part> {
    Some(Part::Head { id: text(id)?, model: text(model) })
}

fn anthropic(event: &Value) -> Vec<Part> {
    let used = |usage: &Value| {
        let cache_read = usage["cache_read_input_tokens"].as_u64();
        let cache_write = usage["cache_creation_input_tokens"].as_u64();
        let input = usage["input_tokens"].as_u64();
        let input = input.map(|input| input + cache_read.unwrap_or(0) + cache_write.unwrap_or(0));
        Part::Used(Used { input, cache_read, cache_write, output: usage["output_tokens"].as_u64() })
    };
    match event["type"].as_str() {
        Some("message_start") => {
            let message = &event["message"];
            head(&message["id"], &message["model"]).into_iter().chain([used(&message["usage"])]).collect()
        }
        Some("content_block_delta") => {
            let delta = &event["delta"];
            let said = text(&delta["text"]).map(Part::Text);
            said.or_else(|| text(&delta["thinking"]).map(Part::Reasoning)).into_iter().collect()
        }
        Some("message_delta") => {
            let stop = event["delta"]["stop_reason"].as_str().map(|reason| match reason {
                "max_tokens" => Stop::CutOff,
                "model_context_window_exceeded" => Stop::ContextFull,
                "refusal" => Stop::Refused,
                _ => Stop::Ended,
            });
            let output = event["usage"]["output_tokens"].as_u64();
            let used = Part::Used(Used { output, ..Used::default() });
            [used].into_iter().chain(stop.map(Part::Stopped)).collect()
        }
        _ => Vec::new(),
    }
}

fn openai(event: &Value) -> Vec<Part> {
    let choice = &event["choices"][0];
    let delta = &choice["delta"];
    let mut parts: Vec<Part> = head(&event["id"], &event["model"]).into_iter().collect();
    let reasoning = text(&delta["reasoning_content"]).or_else(|| text(&delta["reasoning"]));
    parts.extend(reasoning.map(Part::Reasoning));
    parts.extend(text(&delta["content"]).map(Part::Text));
    if text(&delta["refusal"]).is_some() {
        parts.push(Part::Stopped(Stop::Refused));
    }
    parts.extend(choice["finish_reason"].as_str().map(|reason| {
        Part::Stopped(match reason {
            "length" => Stop::CutOff,
            "content_filter" => Stop::Refused,
            _ => Stop::Ended,
        })
    }));
    let usage = &event["usage"];
    if usage.is_object() {
        parts.push(Part::Used(Used {
            input: usage["prompt_tokens"].as_u64(),
            cache_read: usage["prompt_tokens_details"]["cached_tokens"].as_u64(),
            cache_write: None,
            output: usage["completion_tokens"].as_u64(),
        }));
    }
    parts
}

fn gemini(event: &Value) -> Vec<Part> {
    let candidate = &event["candidates"][0];
    let mut parts: Vec<Part> = head(&event["responseId"], &event["modelVersion"]).into_iter().collect();
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        let is_thought = part["thought"].as_bool() == Some(true);
        let wrap = if is_thought { Part::Reasoning } else { Part::Text };
        parts.extend(text(&part["text"]).map(wrap));
    }
    let usage = &event["usageMetadata"];
    if usage.is_object() {
        let (said, thought) = (usage["candidatesTokenCount"].as_u64(), usage["thoughtsTokenCount"].as_u64());
        let output = said.or(thought).map(|_| said.unwrap_or(0) + thought.unwrap_or(0));
        let (input, cache_read) =
            (usage["promptTokenCount"].as_u64(), usage["cachedContentTokenCount"].as_u64());
        parts.push(Part::Used(Used { input, cache_read, cache_write: None, output }));
    }
    if event["promptFeedback"]["blockReason"].is_string() {
        parts.push(Part::Stopped(Stop::Refused));
    }
    parts.extend(candidate["finishReason"].as_str().map(|reason| {
        Part::Stopped(match reason {
            "MAX_TOKENS" => Stop::CutOff,
            "SAFETY" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" | "RECITATION" => Stop::Refused,
            _ => Stop::Ended,
        })
    }));
    parts
}

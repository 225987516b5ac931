//! Turns the events of `opencode run --format json` into activities and a reply.

use std::time::Duration;

use prose_vm::activity::{Activity, AgentSession, Denial, ToolKind, ToolStatus, ToolUse};
use prose_vm::effect::Usage;
use serde::Deserialize;
use serde_json::Value;
use smol_str::SmolStr;

use crate::faults;
use crate::gate::Fault;

/// What a session has reported so far.
pub(super) struct Events {
    model: Option<SmolStr>,
    session: Option<SmolStr>,
    /// The last message and its text.
    message: SmolStr,
    reply: String,
    has_acted: bool,
}

/// An event.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "sessionID")]
    session: Option<SmolStr>,
    #[serde(default)]
    part: Value,
    error: Option<Error>,
}

#[derive(Deserialize)]
struct TextPart {
    #[serde(rename = "messageID")]
    message: SmolStr,
    text: String,
}

#[derive(Deserialize)]
struct ToolPart {
    tool: String,
    #[serde(rename = "callID")]
    call: SmolStr,
    state: ToolState,
}

#[derive(Deserialize)]
struct ToolState {
    status: String,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    error: String,
}

#[derive(Deserialize)]
struct StepPart {
    tokens: Tokens,
    #[serde(default)]
    cost: f64,
}

/// The tokens of a step. The input does not include those of the cache, and the output not those of the reasoning.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Cache,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: u64,
    write: u64,
}

#[derive(Deserialize)]
struct Error {
    name: String,
    #[serde(default)]
    data: Value,
}

impl Events {
    pub(super) fn new(model: Option<&str>) -> Self {
        Self {
            model: model.map(Into::into),
            session: None,
            message: SmolStr::default(),
            reply: String::new(),
            has_acted: false,
        }
    }

    /// Whether a tool was called.
    pub(super) fn has_acted(&self) -> bool {
        self.has_acted
    }

    /// The text of the last message.
    pub(super) fn reply(&mut self) -> String {
        std::mem::take(&mut self.reply)
    }

    /// Adds an event. Returns the fault that ends the session. Events in an unknown form are ignored.
    pub(super) fn add(
        &mut self,
        who: &str,
        event: &Value,
        report: &mut dyn FnMut(Activity),
    ) -> Option<Fault> {
        let Event { kind, session, part, error } = Event::deserialize(event).ok()?;
        if session.is_some() && session != self.session {
            self.session.clone_from(&session);
            let id = session.unwrap_or_default();
            report(Activity::Agent(AgentSession { id, model: self.model.clone(), transcript: None }));
        }
        match kind.as_str() {
            "text" => {
                let TextPart { message, text } = TextPart::deserialize(part).ok()?;
                let start = if self.message.is_empty() { "" } else { "\n\n" };
                report(Activity::Text { text: format!("{start}{text}").into() });
                if message == self.message {
                    self.reply.push_str("\n\n");
                } else {
                    self.reply.clear();
                    self.message = message;
                }
                self.reply.push_str(&text);
            }
            "reasoning" => {
                let text = part["text"].as_str()?;
                report(Activity::Reasoning { text: text.into() });
            }
            "tool_use" => {
                self.has_acted = true;
                tool(ToolPart::deserialize(part).ok()?, report);
            }
            "step_finish" => {
                let StepPart { tokens, cost } = StepPart::deserialize(part).ok()?;
                let Tokens { input, output, reasoning, cache } = tokens;
                report(Activity::Used(Usage {
                    input_tokens: input + cache.read + cache.write,
                    cache_read_tokens: cache.read,
                    cache_write_tokens: cache.write,
                    output_tokens: output + reasoning,
                    // It counts models without a known price as free.
                    cost: (cost > 0.0).then_some(cost),
                }));
            }
            "error" => return Some(self.fault(who, error?)),
            _ => {}
        }
        None
    }

    fn fault(&self, who: &str, error: Error) -> Fault {
        let Error { name, data } = error;
        let message = data["message"].as_str().unwrap_or(&name);
        let status = data["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok());
        let kind = faults::classify(status, &format!("{name}: {message}"));
        let retry_after = data["responseHeaders"]["retry-after"].as_str();
        let retry_after = retry_after.and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
        let fault = Fault::new(who, status, message);
        Fault {
            failure: faults::failure_of(kind, who, status, message),
            retry_after: retry_after.or(fault.retry_after),
            can_repeat: !self.has_acted,
            ..fault
        }
    }
}

/// Reports a tool call, which is known when it has ended.
fn tool(part: ToolPart, report: &mut dyn FnMut(Activity)) {
    let ToolPart { tool, call, state: ToolState { status, input, error } } = part;
    // A tool that the session may not use does not exist for the model.
    let is_unavailable = tool == "invalid" || error.contains("unavailable tool");
    let tool = match input["tool"].as_str().filter(|_| tool == "invalid") {
        Some(wanted) => wanted.to_owned(),
        None => tool,
    };
    let is_denied = is_unavailable || status == "error" && is_denial(&error);
    let kind = kind(&tool);
    let text = |name: &str| input[name].as_str().map(SmolStr::from);
    let paths: Vec<SmolStr> = match kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Search => {
            text("filePath").or_else(|| text("path")).into_iter().collect()
        }
        _ => Vec::new(),
    };
    let subject = match kind {
        ToolKind::Execute => text("command"),
        ToolKind::Fetch => text("url").or_else(|| text("query")),
        ToolKind::Search => text("pattern"),
        _ => paths.first().cloned(),
    };
    let title = match (kind, subject) {
        (ToolKind::Execute, Some(command)) => command.to_string(),
        (_, Some(subject)) => format!("{tool} {subject}"),
        (_, None) => tool,
    };
    if is_denied {
        let reason = match is_unavailable {
            true => "the session may not use this tool".to_owned(),
            false => faults::reported(None, &error),
        };
        report(Activity::Denied(Denial { title: title.clone(), reason }));
    }
    let status = match status.as_str() {
        _ if is_denied => ToolStatus::Denied,
        "error" => ToolStatus::Failed,
        _ => ToolStatus::Completed,
    };
    report(Activity::Tool(ToolUse { id: call, kind, title: title.into(), paths, status }));
}

fn kind(tool: &str) -> ToolKind {
    match tool {
        "read" => ToolKind::Read,
        "write" | "edit" | "multiedit" | "patch" | "apply_patch" => ToolKind::Edit,
        "glob" | "grep" | "list" => ToolKind::Search,
        "bash" => ToolKind::Execute,
        "webfetch" | "websearch" | "codesearch" => ToolKind::Fetch,
        "todowrite" | "todoread" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

/// Whether a tool call failed because of a rule.
fn is_denial(error: &str) -> bool {
    ["rejected permission", "specified a rule which prevents"].iter().any(|part| error.contains(part))
}

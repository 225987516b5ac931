//! Turns the events of a session into activities and a reply.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prose_vm::activity::{Activity, AgentSession, Denial, ProviderRetry, ToolKind, ToolStatus, ToolUse};
use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;
use serde::Deserialize;
use serde_json::Value;
use smol_str::SmolStr;

use super::rules::{ANSWER, REPEATED_CALL, Rules};
use super::server::Incoming;
use super::spent::Spent;
use super::{NAME, tools};
use crate::faults;
use crate::gate::Fault;
use prose_backends::permissions::ToolRequest;

/// What a session has reported so far.
pub(super) struct Turn<'a> {
    session: SmolStr,
    folder: &'a Path,
    rules: &'a Rules,
    /// The messages of the model.
    messages: HashSet<SmolStr>,
    /// The last message of the model with text, and its parts.
    message: SmolStr,
    texts: Vec<(SmolStr, String)>,
    /// The parts that a fault of the provider has cut off.
    abandoned: HashSet<SmolStr>,
    /// The parts of messages with the reasoning of the model, and its length as far as it was reported.
    reasoning: HashMap<SmolStr, usize>,
    has_text: bool,
    tools: HashMap<SmolStr, Tool>,
    /// The steps whose usage was reported.
    steps: HashSet<SmolStr>,
    model: Option<SmolStr>,
    /// The answer in the form of a schema.
    answer: Option<Value>,
    has_acted: bool,
    /// Whether a call was rejected because of another one, which ends the turn.
    is_blocked: bool,
}

/// A tool call.
struct Tool {
    /// The session in which it is called.
    session: SmolStr,
    message: SmolStr,
    call: SmolStr,
    name: String,
    input: Value,
    /// Whether its input is complete.
    is_complete: bool,
    shown: Option<ToolUse>,
    /// The decision about it.
    is_allowed: Option<bool>,
}

/// What an event means for the session.
pub(super) enum Step {
    /// It goes on.
    Continue,
    /// A tool call asks for permission.
    Ask(Ask),
    /// It has ended.
    End(Result<String, Fault>),
}

/// A permission question.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Ask {
    pub(super) id: String,
    permission: String,
    tool: Option<AskingTool>,
}

#[derive(Debug, Clone, Deserialize)]
struct AskingTool {
    #[serde(rename = "messageID")]
    message: SmolStr,
    #[serde(rename = "callID")]
    call: SmolStr,
}

#[derive(Deserialize)]
struct MessageInfo {
    id: SmolStr,
    role: String,
    #[serde(rename = "modelID")]
    model: Option<SmolStr>,
    #[serde(rename = "providerID")]
    provider: Option<SmolStr>,
    structured: Option<Value>,
    error: Option<Error>,
}

#[derive(Deserialize)]
struct Part {
    id: SmolStr,
    #[serde(rename = "messageID")]
    message: SmolStr,
    #[serde(flatten)]
    content: PartContent,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum PartContent {
    Text {
        text: String,
    },
    Reasoning {
        text: String,
    },
    Tool {
        tool: String,
        #[serde(rename = "callID")]
        call: SmolStr,
        state: ToolState,
    },
    StepFinish(Spent),
    #[serde(other)]
    Other,
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
struct Delta {
    #[serde(rename = "partID")]
    part: SmolStr,
    delta: String,
}

#[derive(Deserialize)]
struct Error {
    name: String,
    #[serde(default)]
    data: Value,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Status {
    /// The provider failed; the time of the next attempt is in milliseconds.
    Retry { attempt: u32, message: String, next: u64 },
    #[serde(other)]
    Other,
}

impl<'a> Turn<'a> {
    /// `has_acted` if the session has used tools in a turn before.
    pub(super) fn new(
        session: SmolStr,
        model: Option<&str>,
        folder: &'a Path,
        rules: &'a Rules,
        has_acted: bool,
    ) -> Self {
        Self {
            session,
            folder,
            rules,
            messages: HashSet::new(),
            message: SmolStr::default(),
            texts: Vec::new(),
            reasoning: HashMap::new(),
            has_text: false,
            tools: HashMap::new(),
            abandoned: HashSet::new(),
            steps: HashSet::new(),
            model: model.map(Into::into),
            answer: None,
            has_acted,
            is_blocked: false,
        }
    }

    /// Whether a tool was called.
    pub(super) fn has_acted(&self) -> bool {
        self.has_acted
    }

    /// Whether a call was rejected because of another one since this was asked last.
    pub(super) fn take_blocked(&mut self) -> bool {
        std::mem::take(&mut self.is_blocked)
    }

    /// The session as reports name it.
    pub(super) fn agent(&self) -> AgentSession {
        AgentSession { id: self.session.clone(), model: self.model.clone(), transcript: None }
    }

    /// Adds an event. Events in an unknown form are ignored.
    pub(super) fn add(&mut self, event: Incoming, report: &mut dyn FnMut(Activity)) -> Step {
        let Incoming { session, kind, mut properties } = event;
        let is_own = session == self.session;
        match kind.as_str() {
            "message.updated" if is_own => {
                if let Ok(info) = MessageInfo::deserialize(properties["info"].take()) {
                    return self.message(info, report);
                }
            }
            "message.part.updated" => {
                if let Ok(part) = Part::deserialize(properties["part"].take()) {
                    return self.part(session, part, report);
                }
            }
            "message.part.delta" if is_own => {
                if let Ok(delta) = Delta::deserialize(properties) {
                    self.delta(delta, report);
                }
            }
            "permission.asked" => {
                if let Ok(ask) = Ask::deserialize(properties) {
                    self.has_acted = true;
                    return Step::Ask(ask);
                }
            }
            "session.status" if is_own => {
                if let Ok(status) = Status::deserialize(properties["status"].take()) {
                    return self.status(status, report);
                }
            }
            "session.error" if is_own => {
                if let Ok(error) = Error::deserialize(properties["error"].take()) {
                    return self.failed(error);
                }
            }
            "session.idle" if is_own => return Step::End(Ok(self.reply())),
            _ => {}
        }
        Step::Continue
    }

    /// The answer, or the text of the last message.
    fn reply(&mut self) -> String {
        if let Some(answer) = self.answer.take() {
            return answer.to_string();
        }
        let texts = self.texts.drain(..).map(|(_, text)| text).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n\n")
    }

    fn message(&mut self, info: MessageInfo, report: &mut dyn FnMut(Activity)) -> Step {
        let MessageInfo { id, role, model, provider, structured, error } = info;
        if role != "assistant" {
            return Step::Continue;
        }
        self.messages.insert(id);
        let model = model.zip(provider).map(|(model, provider)| format!("{provider}/{model}").into());
        if model.is_some() && model != self.model {
            self.model = model;
            report(Activity::Agent(self.agent()));
        }
        self.answer = structured.or(self.answer.take());
        error.map_or(Step::Continue, |error| self.failed(error))
    }

    fn part(&mut self, session: SmolStr, part: Part, report: &mut dyn FnMut(Activity)) -> Step {
        let Part { id, message, content } = part;
        let is_own = session == self.session && self.messages.contains(&message);
        match content {
            PartContent::Text { text } if is_own && !self.abandoned.contains(&id) => {
                let written = self.text(message, id);
                let before = std::mem::replace(written, text.clone());
                if let Some(more) = text.strip_prefix(before.as_str()).filter(|more| !more.is_empty()) {
                    self.report_text(more, !before.is_empty(), report);
                }
            }
            PartContent::Reasoning { text } if is_own => {
                let known = self.reasoning.entry(id).or_default();
                if let Some(more) = text.get(*known..).filter(|more| !more.is_empty()) {
                    report(Activity::Reasoning { text: more.into() });
                    *known = text.len();
                }
            }
            PartContent::Tool { tool, call, state } => {
                return self.tool(Tool::new(session, message, call, tool), id, state, report);
            }
            PartContent::StepFinish(spent) => {
                if self.steps.insert(id) {
                    report(Activity::Used(spent.usage()));
                }
            }
            PartContent::Text { .. } | PartContent::Reasoning { .. } | PartContent::Other => {}
        }
        Step::Continue
    }

    fn delta(&mut self, delta: Delta, report: &mut dyn FnMut(Activity)) {
        let Delta { part, delta } = delta;
        if delta.is_empty() {
            return;
        }
        if let Some(known) = self.reasoning.get_mut(&part) {
            *known += delta.len();
            report(Activity::Reasoning { text: delta.into() });
        } else if let Some((_, text)) = self.texts.iter_mut().find(|(known, _)| *known == part) {
            let is_continued = !text.is_empty();
            text.push_str(&delta);
            self.report_text(&delta, is_continued, report);
        }
    }

    /// The text of a part. Only the last message with text is kept.
    fn text(&mut self, message: SmolStr, part: SmolStr) -> &mut String {
        if message != self.message {
            self.texts.clear();
            self.message = message;
        }
        let at = self.texts.iter().position(|(known, _)| *known == part).unwrap_or_else(|| {
            self.texts.push((part, String::new()));
            self.texts.len() - 1
        });
        &mut self.texts[at].1
    }

    fn report_text(&mut self, more: &str, is_continued: bool, report: &mut dyn FnMut(Activity)) {
        let start = if self.has_text && !is_continued { "\n\n" } else { "" };
        self.has_text = true;
        report(Activity::Text { text: format!("{start}{more}").into() });
    }

    fn tool(&mut self, new: Tool, id: SmolStr, state: ToolState, report: &mut dyn FnMut(Activity)) -> Step {
        if new.name == ANSWER {
            return Step::Continue;
        }
        let is_own = new.session == self.session;
        self.has_acted = true;
        let ToolState { status, input, error } = state;
        let name = new.name.clone();
        let tool = self.tools.entry(id.clone()).or_insert(new);
        tool.name = name;
        tool.is_complete |= status != "pending";
        if tool.is_complete {
            tool.input = input;
        }
        // A tool that the session may not use does not exist for the model.
        let is_unavailable = tool.name == "invalid" || error.contains("unavailable tool");
        let (request, kind) = tool.request(self.folder, self.rules);
        let status = match status.as_str() {
            "pending" => ToolStatus::Pending,
            "running" => ToolStatus::Running,
            _ if is_unavailable || is_denial(&error) => ToolStatus::Denied,
            "error" => ToolStatus::Failed,
            _ => ToolStatus::Completed,
        };
        if status == ToolStatus::Pending {
            return Step::Continue;
        }
        self.is_blocked |= is_own && is_rejection_of_another(&error);
        // What was decided here is reported already.
        if status == ToolStatus::Denied && tool.is_allowed != Some(false) {
            let reason = match is_unavailable {
                true => "the session may not use this tool".to_owned(),
                false => faults::reported(None, &error),
            };
            report(Activity::Denied(Denial { title: request.title.clone(), reason }));
        }
        let paths = match kind {
            ToolKind::Read | ToolKind::Edit | ToolKind::Search => {
                request.paths.iter().map(Into::into).collect()
            }
            _ => Vec::new(),
        };
        let used = ToolUse { id, kind, title: request.title.into(), paths, status };
        if tool.shown.as_ref() != Some(&used) {
            report(Activity::Tool(used.clone()));
            tool.shown = Some(used);
        }
        if status == ToolStatus::Completed && tool.is_allowed.is_none() && self.rules.asks(&tool.name) {
            let message = format!(
                "{NAME} used the tool `{}` without asking, so the permissions of the session were not enforced; install a version that is known to work, such as 1.18.33",
                tool.name
            );
            return Step::End(Err(Fault::last(Failure::session(message))));
        }
        Step::Continue
    }

    fn status(&mut self, status: Status, report: &mut dyn FnMut(Activity)) -> Step {
        let Status::Retry { attempt, message, next } = status else { return Step::Continue };
        let delay = Duration::from_millis(next.saturating_sub(now()));
        let fault = Fault::new(NAME, None, &message);
        let kind = fault.failure.kind;
        let is_final = !faults::is_transient(kind) && kind != ErrorKind::Session;
        // All sessions wait for an overloaded provider. A session that has changed something cannot be repeated, so OpenCode waits itself.
        if is_final || kind == ErrorKind::RateLimit && !self.has_acted {
            return Step::End(Err(Fault { retry_after: Some(delay), ..fault }));
        }
        // What came of the message before the fault comes again as other parts.
        self.abandoned.extend(self.texts.drain(..).map(|(part, _)| part));
        report(Activity::ProviderRetry(ProviderRetry {
            attempt,
            status: fault.status,
            delay_ms: delay.as_millis() as u64,
            message: fault.reported,
        }));
        Step::Continue
    }

    fn failed(&mut self, error: Error) -> Step {
        let Error { name, data } = error;
        // What the model wrote instead is read as an answer.
        if name == "StructuredOutputError" && !self.texts.is_empty() {
            return Step::Continue;
        }
        let message = data["message"].as_str().unwrap_or(&name);
        // Some errors come with the calls that led to them.
        let message = message.split("\n    at ").next().unwrap_or(message);
        let status = data["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok());
        let kind = faults::classify(status, &format!("{name}: {message}"));
        let retry_after = data["responseHeaders"]["retry-after"].as_str();
        let retry_after = retry_after.and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
        let fault = Fault::new(NAME, status, message);
        Step::End(Err(Fault {
            failure: faults::failure_of(kind, NAME, status, message),
            retry_after: retry_after.or(fault.retry_after),
            ..fault
        }))
    }

    /// The tool call that asks a question; `None` while its input is not complete.
    pub(super) fn asking(&self, ask: &Ask) -> Option<Asking> {
        let Some(asking) = &ask.tool else {
            return Some(Asking {
                tool: None,
                session: self.session.clone(),
                decision: None,
                request: ask.request(),
            });
        };
        let found = self.tools.iter().find(|(_, it)| it.message == asking.message && it.call == asking.call);
        let (id, tool) = found.filter(|(_, tool)| tool.is_complete)?;
        let (request, decision) = match ask.permission.as_str() {
            REPEATED_CALL => (ask.request(), Some(false)),
            _ => (tool.request(self.folder, self.rules).0, tool.is_allowed),
        };
        Some(Asking { tool: Some(id.clone()), session: tool.session.clone(), decision, request })
    }

    /// Notes a decision about a tool call.
    pub(super) fn decided(&mut self, asking: &Asking, is_allowed: bool) {
        let tool = asking.tool.as_ref().and_then(|id| self.tools.get_mut(id));
        tool.into_iter().for_each(|tool| tool.is_allowed = Some(is_allowed));
    }

    /// Whether all calls of a session have ended, apart from those that were denied.
    pub(super) fn has_only_denied(&self, session: &str) -> bool {
        let is_at_work = |tool: &&Tool| {
            tool.session == session
                && tool.is_allowed != Some(false)
                && tool.shown.as_ref().is_none_or(|shown| shown.status == ToolStatus::Running)
        };
        !self.tools.values().any(|tool| is_at_work(&tool))
    }
}

/// A tool call that asks for permission.
pub(super) struct Asking {
    tool: Option<SmolStr>,
    pub(super) session: SmolStr,
    /// The decision about an earlier question of the same call.
    pub(super) decision: Option<bool>,
    pub(super) request: ToolRequest,
}

impl Ask {
    fn request(&self) -> ToolRequest {
        let title = match self.permission.as_str() {
            REPEATED_CALL => "repeat the same call",
            permission => permission,
        };
        ToolRequest::new(ToolKind::Other, title)
    }
}

impl Tool {
    fn new(session: SmolStr, message: SmolStr, call: SmolStr, name: String) -> Self {
        Self {
            session,
            message,
            call,
            name,
            input: Value::Null,
            is_complete: false,
            shown: None,
            is_allowed: None,
        }
    }

    /// What it does. A call of a tool that the session does not have is one of `invalid`.
    fn request(&self, folder: &Path, rules: &Rules) -> (ToolRequest, ToolKind) {
        let wanted = self.input["tool"].as_str().filter(|_| self.name == "invalid");
        let name = wanted.unwrap_or(&self.name);
        let mut request = tools::request(name, &self.input, folder);
        let kind = request.kind;
        if kind == ToolKind::Other {
            request = rules.mcp_tool(name).map_or(request, ToolRequest::mcp);
        }
        (request, kind)
    }
}

/// Whether a tool call failed because another one was rejected: only the one that is meant has a reason.
fn is_rejection_of_another(error: &str) -> bool {
    error.contains("rejected permission") && !error.contains("feedback")
}

/// Whether a tool call failed because of a rule.
fn is_denial(error: &str) -> bool {
    ["rejected permission", "specified a rule which prevents"].iter().any(|part| error.contains(part))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

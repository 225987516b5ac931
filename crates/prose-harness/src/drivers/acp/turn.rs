//! What an agent reports and requests between a prompt and the end of its turn.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use prose_acp::{
    CallStatus, Chunk, Content, OptionKind, PermissionOption, PermissionRequest, SessionNotification,
    ToolCall, Update, code, error, invalid_params, outcome, unknown_method,
};
use prose_files::Limit;
use prose_rights::{About, Enforcement};
use prose_vm::activity::{Activity, ProviderRetry, Reporter, ToolKind, ToolStatus, ToolUse};
use prose_vm::effect::{Failure, Permission, PermissionRule, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use super::agents::AcpAgent;
use super::protocol::{ReadFile, WriteFile};
use crate::command::quoted;
use crate::faults;
use crate::gate::Fault;
use crate::mcp::McpServer;
use prose_backends::permissions::{Decision, Folders, McpTool, ToolRequest, decide, permit};

/// The rules of a session.
pub(super) struct Rules<'a> {
    pub(super) agent: Option<&'a str>,
    pub(super) permissions: &'a [Permission],
    pub(super) folders: Folders,
    /// Whether they are those of a question, which changes nothing.
    pub(super) is_question: bool,
    /// The MCP servers of the agent.
    pub(super) servers: &'a [McpServer],
    /// The agent; `None` if nothing is known about it.
    pub(super) known: Option<&'static AcpAgent>,
}

impl Rules<'_> {
    /// Whether the agent has to ask before it uses a tool, as a rule restricts it that the agent is known to ask about.
    fn needs_question(&self, tool: &Tool) -> bool {
        let about = match tool.kind() {
            ToolKind::Read | ToolKind::Search => About::Read,
            ToolKind::Edit | ToolKind::Delete | ToolKind::Move => About::Write,
            ToolKind::Execute => About::Execute,
            ToolKind::Fetch => About::Network,
            ToolKind::Other if tool.mcp(self.servers).is_some() => About::Mcp,
            ToolKind::Think | ToolKind::Other => return false,
        };
        match about {
            About::Execute => self.holds(About::Execute) || self.holds(About::Write) && self.writes(tool),
            // What a question reads and fetches is not restricted by each agent.
            About::Read | About::Network if self.is_question => false,
            about => self.holds(about),
        }
    }

    /// Whether a rule restricts a subject, and the agent is known to ask about it. In a question, no agent may change anything.
    fn holds(&self, subject: About) -> bool {
        let is_held = |it: &&Permission| {
            self.known.is_some_and(|agent| Enforcement::holds(agent.name, &it.about, &it.rule))
        };
        let restricting = |it: &&Permission| it.rule != PermissionRule::Allow;
        match self.is_question {
            // Commands may read, and those in a sandbox write nothing.
            true if subject == About::Execute => false,
            true if subject == About::Write => self.known.is_none_or(|agent| !agent.has_sandbox),
            true => true,
            false => self.of(subject).filter(restricting).any(|it| is_held(&it)),
        }
    }

    fn of(&self, subject: About) -> impl Iterator<Item = &Permission> {
        self.permissions.iter().filter(move |it| About::of(&it.about) == Some(subject))
    }

    /// Whether a command is known to write what may not be written. Some agents take such commands for reading.
    fn writes(&self, tool: &Tool) -> bool {
        let execute = Permission { about: "execute".into(), rule: PermissionRule::Allow };
        let rules: Vec<Permission> = self.of(About::Write).cloned().chain([execute]).collect();
        let decision = decide(&rules, &tool.request(self), &self.folders);
        matches!(decision, Decision::Deny { .. } | Decision::Ask { is_written: true, .. })
    }
}

/// The messages of Claude Code itself, of which `claude-agent-acp` passes on those that are asked for.
const RAW_MESSAGE: &str = "_claude/sdkMessage";

/// An attempt of an agent itself to reach its provider.
struct Retry<'a> {
    status: Option<u16>,
    message: &'a str,
    attempt: u32,
    delay_ms: u64,
}

impl<'a> Retry<'a> {
    fn of_claude(message: &'a Value) -> Self {
        Self {
            status: status_of(&message["error_status"]),
            message: message["error"].as_str().unwrap_or_default(),
            attempt: message["attempt"].as_u64().and_then(|attempt| attempt.try_into().ok()).unwrap_or(1),
            delay_ms: message["retry_delay_ms"].as_f64().map_or(0, |delay| delay.max(0.0) as u64),
        }
    }

    fn of_codex(error: &'a Value) -> Self {
        let info = error["codexErrorInfo"].as_object().and_then(|info| info.values().next());
        let message = error["additionalDetails"].as_str().or(error["message"].as_str()).unwrap_or_default();
        Self {
            status: info.and_then(|info| status_of(&info["httpStatusCode"])),
            message,
            attempt: 1,
            delay_ms: 0,
        }
    }
}

fn status_of(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|status| status.try_into().ok())
}

/// Reports an attempt of an agent to reach its provider. Where further attempts are as futile, the session fails.
fn retried(who: &str, retry: &Retry<'_>, report: &mut dyn FnMut(Activity)) -> Result<(), Failure> {
    let fault = Fault::new(who, retry.status, &retry.message.replace('_', " "));
    if fault.failure.kind.stops_run() {
        return Err(fault.failure);
    }
    report(Activity::ProviderRetry(ProviderRetry {
        attempt: retry.attempt,
        status: fault.status,
        delay_ms: retry.delay_ms,
        message: fault.reported,
    }));
    Ok(())
}

/// The state of a turn.
#[derive(Default)]
pub(super) struct Turn {
    /// What the agent has written since its last tool call.
    reply: String,
    /// The message that the last part belongs to, and where it starts in the reply.
    message: Option<String>,
    message_start: usize,
    tools: HashMap<String, Tool>,
    /// The files that the agent has read or written through the client.
    files: HashSet<String>,
    /// The files that calls may write that were asked about, and that are written through the client then.
    allowed: HashSet<String>,
    /// Whether a call was denied.
    is_denied: bool,
    /// The cost of the session so far, in US dollars.
    cost: Option<f64>,
    /// Usage that came with parts of messages, and is reported.
    of_parts: Usage,
    /// Why the turn has failed, where the agent ends it like any other: `codex-acp` only reports the state of the session.
    fault: Option<String>,
}

/// A tool call.
#[derive(Debug, Clone, Default)]
struct Tool {
    kind: Option<ToolKind>,
    title: String,
    paths: Vec<String>,
    status: Option<ToolStatus>,
    /// What it was called with, in the words of the agent.
    input: Value,
    /// What a person is shown about it.
    content: Value,
    /// Whether it was decided here.
    is_decided: bool,
}

impl Tool {
    fn update(&mut self, call: ToolCall) {
        self.kind = call.kind.map(|name| kind(&name)).or(self.kind);
        self.status = call.status.map(status).or(self.status);
        self.title = call.title.unwrap_or(std::mem::take(&mut self.title));
        if let Some(locations) = call.locations.filter(|locations| !locations.is_empty()) {
            self.paths = locations.into_iter().map(|it| it.path).collect();
        }
        self.input = call.raw_input.unwrap_or(std::mem::take(&mut self.input));
        self.content = call.content.unwrap_or(std::mem::take(&mut self.content));
    }

    fn kind(&self) -> ToolKind {
        self.kind.unwrap_or(ToolKind::Other)
    }

    fn activity(&self, id: &str) -> ToolUse {
        ToolUse {
            id: id.into(),
            kind: self.kind(),
            title: self.title.as_str().into(),
            paths: self.paths.iter().map(Into::into).collect(),
            status: self.status.unwrap_or(ToolStatus::Pending),
        }
    }

    /// The tool of an MCP server that it is.
    fn mcp(&self, servers: &[McpServer]) -> Option<McpTool> {
        let servers = servers.iter().map(|server| server.name.as_str());
        (self.kind() == ToolKind::Other).then(|| McpTool::named(&self.title, servers))?
    }

    /// The call as the rules see it. Agents name the command, the files and the address in their input.
    fn request(&self, rules: &Rules<'_>) -> ToolRequest {
        let text =
            |names: &[&str]| names.iter().find_map(|name| self.input.get(name)?.as_str()).map(str::to_owned);
        let mut request = ToolRequest::new(self.kind(), self.title.as_str());
        request.mcp = self.mcp(rules.servers);
        request.paths = self.paths.clone();
        let named = text(&["file_path", "filePath", "path", "filepath", "notebook_path"]);
        request.paths.extend(named.filter(|path| !self.paths.contains(path)));
        if request.kind == ToolKind::Execute {
            // A command in parts is not a shell command, but it is understood as one.
            let parts = self.input.get("command").and_then(Value::as_array).map(|parts| {
                let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
                parts.join(" ")
            });
            let command = text(&["command", "cmd"]).or(parts).or_else(|| Some(self.title.clone()));
            let named = text(&["directory", "dir_path", "workdir", "cwd"]).map(Place::Folder);
            request.command = match named.unwrap_or_else(|| self.place()) {
                Place::Root => command,
                Place::Folder(folder) if Path::new(&folder) == rules.folders.root => command,
                Place::Folder(folder) => {
                    command.map(|command| format!("(cd {} && {command}\n)", quoted(&folder)))
                }
                Place::Unknown => None,
            };
            request.paths.clear();
        }
        if request.kind == ToolKind::Fetch {
            request.url = text(&["url", "uri"]);
        }
        request
    }
}

/// Where a command starts.
enum Place {
    Root,
    Folder(String),
    /// It cannot be told from the description.
    Unknown,
}

impl Tool {
    /// Where a command starts by its description: Gemini CLI writes `[in FOLDER]`.
    fn place(&self) -> Place {
        let texts = self.content.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut texts = texts.iter().filter_map(|part| part.pointer("/content/text")?.as_str());
        let Some(folder) = texts.find_map(|text| text.trim_start().strip_prefix("[in ")) else {
            return Place::Root;
        };
        match folder.split_once(']') {
            Some((folder, rest)) if !rest.contains(']') => Place::Folder(folder.to_owned()),
            _ => Place::Unknown,
        }
    }
}

fn kind(name: &str) -> ToolKind {
    match name {
        "read" => ToolKind::Read,
        "edit" => ToolKind::Edit,
        "delete" => ToolKind::Delete,
        "move" => ToolKind::Move,
        "search" => ToolKind::Search,
        "execute" => ToolKind::Execute,
        "fetch" => ToolKind::Fetch,
        "think" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

fn status(status: CallStatus) -> ToolStatus {
    match status {
        CallStatus::InProgress => ToolStatus::Running,
        CallStatus::Completed => ToolStatus::Completed,
        CallStatus::Failed => ToolStatus::Failed,
        CallStatus::Pending => ToolStatus::Pending,
    }
}

impl Turn {
    /// The tokens that were reported at the end of the turn, without those that came with parts of messages, and the cost of the session so far.
    pub(super) fn usage(&mut self, at_end: Option<Usage>) -> Option<Usage> {
        let of_parts = std::mem::take(&mut self.of_parts);
        let usage = at_end.map(|usage| usage.less(of_parts)).or(self.cost.map(|_| Usage::default()))?;
        Some(Usage { cost: self.cost, ..usage })
    }

    /// Whether a call was denied since this was asked last.
    pub(super) fn take_denied(&mut self) -> bool {
        std::mem::take(&mut self.is_denied)
    }

    /// What the agent wrote after its last tool call.
    pub(super) fn reply(&self) -> &str {
        &self.reply
    }

    /// The reply of a turn that has ended. Some agents end their turn like any other when their provider has failed.
    pub(super) fn into_reply(self, who: &str) -> Result<String, Failure> {
        match self.fault {
            Some(fault) => Err(faults::failure(who, None, &fault)),
            None => Ok(self.reply),
        }
    }

    /// Handles a notification.
    pub(super) fn notified(
        &mut self,
        who: &str,
        method: &str,
        params: &Value,
        rules: &Rules<'_>,
        report: &mut dyn FnMut(Activity),
    ) -> Result<(), Failure> {
        if method == RAW_MESSAGE {
            // What was written of a message is written again.
            self.reply.truncate(self.message_start);
            return retried(who, &Retry::of_claude(&params["message"]), report);
        }
        if method != "session/update" {
            return Ok(());
        }
        let of_codex = &params["update"]["_meta"]["codex"];
        if let Some(status) = of_codex["threadStatus"]["type"].as_str() {
            // What is wrong follows as a message.
            self.fault = (status == "systemError").then(String::new);
            return Ok(());
        }
        if let Some(error) = of_codex.get("error") {
            return retried(who, &Retry::of_codex(error), report);
        }
        // Updates of later versions are no errors.
        let Ok(SessionNotification { update, .. }) = SessionNotification::deserialize(params) else {
            return Ok(());
        };
        match update {
            Update::AgentMessageChunk(chunk) => {
                let warns = rules.known.is_some_and(|agent| agent.warns_in_messages);
                self.wrote(chunk, warns, report);
            }
            Update::AgentThoughtChunk(Chunk { content: Content::Text { text }, .. }) => {
                report(Activity::Reasoning { text: text.into() });
            }
            Update::ToolCall(call) => {
                self.reply.clear();
                self.message_start = 0;
                return self.called(call, rules, report);
            }
            Update::ToolCallChanged(call) => return self.called(call, rules, report),
            Update::Usage { cost } => {
                let cost = cost.filter(|cost| cost.currency == "USD");
                self.cost = cost.map(|cost| cost.amount).or(self.cost);
            }
            Update::AgentThoughtChunk(_)
            | Update::UserMessageChunk(_)
            | Update::Plan { .. }
            | Update::AvailableCommandsUpdate { .. }
            | Update::Other => {}
        }
        Ok(())
    }

    fn called(
        &mut self,
        call: ToolCall,
        rules: &Rules<'_>,
        report: &mut dyn FnMut(Activity),
    ) -> Result<(), Failure> {
        let id = call.tool_call_id.clone();
        let tool = self.tools.entry(id.clone()).or_default();
        let before = tool.status;
        tool.update(call);
        // A call that was denied is reported as failed.
        if before == Some(ToolStatus::Denied) {
            tool.status = before;
            return Ok(());
        }
        report(Activity::Tool(tool.activity(&id)));
        let is_done = tool.status == Some(ToolStatus::Completed) && before != tool.status;
        if is_done && !tool.is_decided && rules.needs_question(tool) {
            let paths = || tool.paths.iter().all(|path| self.files.contains(path));
            if tool.paths.is_empty() || !paths() {
                return Err(Failure::session(format!(
                    "`{}` was used without a question, so the permissions of the session were not enforced; remove what the configuration of the agent allows",
                    tool.title
                )));
            }
        }
        Ok(())
    }

    fn wrote(&mut self, chunk: Chunk, warns: bool, report: &mut dyn FnMut(Activity)) {
        // Messages of the agent's program to its user are not a part of the reply.
        let is_notice = chunk.is_notice();
        if let Some(usage) = chunk.meta.get("usage") {
            let tokens = |name: &str| usage[name].as_u64().unwrap_or_default();
            let usage = Usage {
                input_tokens: tokens("inputTokens"),
                cache_read_tokens: tokens("cachedReadTokens"),
                output_tokens: tokens("outputTokens"),
                ..Usage::default()
            };
            self.of_parts = self.of_parts.and(usage);
            report(Activity::Used(usage));
        }
        let Content::Text { text } = chunk.content else { return };
        let is_warning = || {
            let starts = ["Warning: ", "Config warning: "];
            chunk.message_id.is_none() && starts.iter().any(|start| text.starts_with(start))
        };
        if is_notice || text.is_empty() || warns && self.fault.is_none() && is_warning() {
            return;
        }
        if let Some(fault) = &mut self.fault {
            fault.push_str(&text);
            return;
        }
        if chunk.message_id != self.message {
            self.message_start = self.reply.len();
            if !self.reply.is_empty() {
                self.reply.push_str("\n\n");
            }
        }
        self.message = chunk.message_id;
        self.reply.push_str(&text);
        report(Activity::Text { text: text.into() });
    }

    /// Handles a request: its result, or the error to answer with.
    pub(super) async fn requested(
        &mut self,
        method: &str,
        params: &Value,
        rules: &Rules<'_>,
        reporter: &Reporter,
    ) -> Result<Result<Value, Value>, Failure> {
        if method == "session/request_permission" {
            return self.permission(params, rules, reporter).await;
        }
        if method == "fs/read_text_file" {
            let Ok(request) = ReadFile::deserialize(params) else {
                return Ok(Err(invalid_params(method)));
            };
            let path = request.path.to_string_lossy().into_owned();
            self.files.insert(path.clone());
            if !may(&ToolRequest::file(ToolKind::Read, path), rules, reporter).await? {
                return Ok(Err(denied("reading", &request.path)));
            }
            let (line, limit) = (request.line.unwrap_or(1).max(1) as usize, request.limit);
            return Ok(
                match prose_files::read_text(&rules.folders.root.join(&request.path), Limit::CONTEXT) {
                    Ok(text) if line == 1 && limit.is_none() => Ok(json!({ "content": text })),
                    Ok(text) => {
                        let lines = text.split_inclusive('\n').skip(line - 1);
                        let content: String =
                            lines.take(limit.map_or(usize::MAX, |limit| limit as usize)).collect();
                        Ok(json!({ "content": content }))
                    }
                    Err(error)
                        if error.is_missing()
                            && rules.known.is_some_and(|agent| agent.reads_before_writing) =>
                    {
                        Ok(json!({ "content": "" }))
                    }
                    Err(error) => Err(file_error(&request.path, &error.to_string(), error.is_missing())),
                },
            );
        }
        if method == "fs/write_text_file" {
            let Ok(request) = WriteFile::deserialize(params) else {
                return Ok(Err(invalid_params(method)));
            };
            let path = request.path.to_string_lossy().into_owned();
            self.files.insert(path.clone());
            let is_allowed = self.allowed.remove(&path)
                || may(&ToolRequest::file(ToolKind::Edit, path), rules, reporter).await?;
            if !is_allowed {
                return Ok(Err(denied("writing", &request.path)));
            }
            // The protocol wants absolute paths; others are those of the session's folder.
            let path = rules.folders.root.join(&request.path);
            let written = path.parent().map_or(Ok(()), fs::create_dir_all);
            return Ok(match written.and_then(|()| fs::write(&path, &request.content)) {
                Ok(()) => Ok(Value::Null),
                Err(error) => Err(file_error(&request.path, &format!(": {error}"), false)),
            });
        }
        Ok(Err(unknown_method(method)))
    }

    async fn permission(
        &mut self,
        params: &Value,
        rules: &Rules<'_>,
        reporter: &Reporter,
    ) -> Result<Result<Value, Value>, Failure> {
        let Ok(request) = PermissionRequest::deserialize(params) else {
            return Ok(Ok(outcome(None)));
        };
        if !request.options.is_empty() && !request.can_be_rejected() {
            // No permission, but a question that only a person can answer.
            return Ok(Ok(outcome(None)));
        }
        let id = request.tool_call.tool_call_id.clone();
        let tool = self.tools.entry(id.clone()).or_default();
        tool.update(request.tool_call);
        tool.is_decided = true;
        let asked = tool.request(rules);
        let is_allowed = may(&asked, rules, reporter).await?;
        if is_allowed && asked.kind == ToolKind::Edit {
            // The same is not asked twice.
            self.allowed.extend(asked.paths);
        }
        // An answer for once, since the rules are asked each time.
        let kinds = match is_allowed {
            true => [OptionKind::AllowOnce, OptionKind::AllowAlways],
            false => [OptionKind::RejectOnce, OptionKind::RejectAlways],
        };
        // Codex has two rejections, one of which ends the turn.
        let goes_on = |option: &&PermissionOption| option.kind == kinds[0] && option.option_id == "decline";
        let of_kind = |kind: &OptionKind| request.options.iter().find(|option| option.kind == *kind);
        let option = request.options.iter().find(goes_on).or_else(|| kinds.iter().find_map(of_kind));
        if !is_allowed {
            self.is_denied = true;
            tool.status = Some(ToolStatus::Denied);
            reporter.report(Activity::Tool(tool.activity(&id)));
        }
        Ok(Ok(outcome(option)))
    }
}

async fn may(tool: &ToolRequest, rules: &Rules<'_>, reporter: &Reporter) -> Result<bool, Failure> {
    if rules.is_question {
        // Nobody is asked what a question may do: it reads what it names, and nothing else.
        let reads = matches!(tool.kind, ToolKind::Read | ToolKind::Search);
        return Ok(reads && decide(rules.permissions, tool, &rules.folders) == Decision::Allow);
    }
    permit(reporter, rules.agent, rules.permissions, tool, &rules.folders).await
}

fn denied(what: &str, path: &Path) -> Value {
    error(DENIED, format!("{what} `{}` is not allowed in this session", path.display()))
}

/// The code of the error for a file that the rules of the session protect.
const DENIED: i64 = -32001;

fn file_error(path: &Path, reason: &str, is_absent: bool) -> Value {
    let code = if is_absent { code::RESOURCE_NOT_FOUND } else { code::INTERNAL_ERROR };
    error(code, format!("`{}` {reason}", path.display()))
}

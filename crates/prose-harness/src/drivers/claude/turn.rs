//! A process of Claude Code, and the turns of its session.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prose_vm::activity::{
    Activity, AgentSession, Denial, ProviderRetry, Reporter, ToolKind, ToolStatus, ToolUse,
};
use prose_vm::effect::{Failure, Permission, Usage};
use prose_vm::error::ErrorKind;
use serde::Deserialize;
use serde_json::{Value, json};
use smol_str::SmolStr;

use super::messages::{
    Block, Control, ControlRequest, Delta, FromModel, HookInput, Message, PermissionDenial, StreamEvent,
    Streamed, System, Tokens, TurnResult,
};
use super::{NAME, tools};
use crate::drivers::CONTINUE;
use crate::drivers::connection::{Connection, End};
use crate::faults;
use crate::gate::Fault;
use crate::supervisor::GRACE;
use prose_backends::permissions::{self, Decision, Folders, ToolRequest};

/// The hook by which a process tells of its session.
const SESSION_HOOK: &str = "session";
/// The hook by which every use of a tool becomes a question.
const TOOL_HOOK: &str = "tool";

/// How a process is started. Only sessions with the same start can have the same process.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Start {
    pub(super) arguments: Vec<String>,
    /// The folder in which it works.
    pub(super) folder: PathBuf,
    /// The end of the system prompt.
    pub(super) system: Option<String>,
    /// Whether it asks before each use of a tool.
    pub(super) asks: bool,
    /// The session that it continues with a copy of.
    pub(super) continues: Option<SmolStr>,
    /// The environment variables of its MCP servers.
    pub(super) variables: Vec<String>,
}

/// What a turn may do.
pub(super) struct Rights<'a> {
    pub(super) agent: Option<&'a str>,
    pub(super) permissions: &'a [Permission],
    /// The skills that the program names, which it may load.
    pub(super) skills: &'a [SmolStr],
    pub(super) folders: Folders,
}

/// A process of Claude Code.
pub(super) struct Conversation {
    /// Identifies it among those of this process.
    pub(super) number: u64,
    connection: Connection,
    pub(super) start: Start,
    session: Option<AgentSession>,
    /// The last prompt that it has replied to.
    answered: String,
    /// The folder of the project.
    root: PathBuf,
    /// The folder in which its commands run.
    folder: PathBuf,
    /// The usage in all turns.
    total: Usage,
    /// Whether it has used tools that may have changed something.
    has_acted: bool,
    is_idle: bool,
}

/// The state of a turn.
struct Turn<'a> {
    rights: &'a Rights<'a>,
    reporter: &'a Reporter,
    meter: Meter<'a>,
    /// The tools in use.
    tools: HashMap<SmolStr, ToolUse>,
    /// The uses of tools that were decided, and whether they were allowed.
    decided: HashMap<SmolStr, bool>,
    /// The messages whose text was reported while it was written.
    streamed: HashSet<SmolStr>,
    /// Whether text was reported, after which further messages start in a new paragraph.
    has_text: bool,
    is_new_message: bool,
}

impl Conversation {
    /// Introduces the client to a process.
    pub(super) fn start(connection: Connection, start: Start) -> Self {
        let root = start.folder.clone();
        let mut hooks = json!({ "UserPromptSubmit": [{ "hookCallbackIds": [SESSION_HOOK] }] });
        if start.asks {
            hooks["PreToolUse"] = json!([{ "hookCallbackIds": [TOOL_HOOK] }]);
        }
        let mut request = json!({ "subtype": "initialize", "hooks": hooks });
        if let Some(system) = &start.system {
            request["appendSystemPrompt"] = json!(system);
        }
        connection
            .send(&json!({ "type": "control_request", "request_id": "initialize", "request": request }));
        let total = Usage::default();
        let folder = root.clone();
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            connection,
            start,
            session: None,
            answered: String::new(),
            root,
            folder,
            total,
            has_acted: false,
            is_idle: true,
        }
    }

    /// Whether it waits for the next prompt.
    pub(super) fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Whether it has used tools that may have changed something.
    pub(super) fn has_acted(&self) -> bool {
        self.has_acted
    }

    /// Sends a prompt and follows the work until its reply. A session that `continues` has worked on the prompt already.
    pub(super) async fn turn(
        &mut self,
        prompt: &str,
        continues: bool,
        rights: &Rights<'_>,
        reporter: &Reporter,
    ) -> Result<String, Fault> {
        self.is_idle = false;
        // The session knows the prompt that it has answered.
        let addition = prompt.strip_prefix(&self.answered).map(str::trim_start);
        let sent = addition.filter(|addition| !self.answered.is_empty() && !addition.is_empty());
        // A prompt that starts with a slash would be a command of Claude Code itself.
        let sent = match sent.unwrap_or(prompt) {
            _ if continues => CONTINUE.to_owned(),
            sent if sent.starts_with('/') => format!("\n{sent}"),
            sent => sent.to_owned(),
        };
        self.answered.clear();
        self.connection.send(&json!({ "type": "user", "message": { "role": "user", "content": sent } }));
        if let Some(session) = &self.session {
            reporter.report(Activity::Agent(session.clone()));
        }
        let mut turn = Turn {
            rights,
            reporter,
            meter: Meter { reporter, reported: Usage::default(), pending: None },
            tools: HashMap::new(),
            decided: HashMap::new(),
            streamed: HashSet::new(),
            has_text: false,
            is_new_message: false,
        };
        loop {
            let message = match self.connection.receive().await {
                Ok(message) => message,
                Err(end) => return Err(self.ended(&end)),
            };
            match Message::deserialize(&message) {
                Ok(Message::System(system)) => self.system(system, reporter)?,
                Ok(Message::Assistant(message)) => self.assistant(message, &mut turn),
                Ok(Message::User(message)) => {
                    for block in message.message.content {
                        if let Block::ToolResult { tool_use_id, is_error } = block {
                            self.tool_result(&tool_use_id, is_error, &mut turn)?;
                        }
                    }
                }
                Ok(Message::StreamEvent(streamed)) => turn.streamed(streamed),
                Ok(Message::ControlRequest(request)) => self.answer(request, &mut turn).await?,
                Ok(Message::Result(result)) => {
                    let said = self.result(*result, turn)?;
                    prompt.clone_into(&mut self.answered);
                    return Ok(said);
                }
                Ok(Message::Other) => {}
                Err(_) => self.refuse(&message),
            }
        }
    }

    /// Ends the process, which has nothing to do any more: it may clean up, and what it has left running in the background continues.
    pub(super) async fn finish(mut self) {
        self.connection.close();
        let _ = tokio::time::timeout(GRACE, self.connection.exited()).await;
    }

    fn system(&mut self, system: System, reporter: &Reporter) -> Result<(), Fault> {
        match system {
            System::Init { session_id, model } => self.tell_session(reporter, |session| {
                session.id = session_id;
                session.model = model;
            }),
            System::ApiRetry { attempt, retry_delay_ms, error_status, error } => {
                let message = error.as_str().unwrap_or_default().replace('_', " ");
                let fault = Fault::new(NAME, error_status, &message);
                // Further attempts are as futile as this one, but Claude Code makes them for minutes.
                if fault.failure.kind.stops_run() {
                    return Err(Fault { can_repeat: false, ..fault });
                }
                reporter.report(Activity::ProviderRetry(ProviderRetry {
                    attempt,
                    status: error_status,
                    delay_ms: Duration::try_from_secs_f64(retry_delay_ms / 1000.0)
                        .map_or(0, |delay| delay.as_millis() as u64),
                    message: fault.reported,
                }));
            }
            System::Other => {}
        }
        Ok(())
    }

    /// Reports the session if something of it is new.
    fn tell_session(&mut self, reporter: &Reporter, change: impl FnOnce(&mut AgentSession)) {
        let mut session = self.session.clone().unwrap_or(AgentSession {
            id: SmolStr::default(),
            model: None,
            transcript: None,
        });
        change(&mut session);
        if self.session.as_ref() != Some(&session) {
            // The hook with the transcript comes before the id.
            if !session.id.is_empty() {
                reporter.report(Activity::Agent(session.clone()));
            }
            self.session = Some(session);
        }
    }

    fn assistant(&mut self, message: FromModel, turn: &mut Turn<'_>) {
        let FromModel { message, parent_tool_use_id } = message;
        let is_streamed = message.id.is_some_and(|id| turn.streamed.contains(&id));
        for block in message.content {
            match block {
                // Subagents answer the agent, not the program.
                Block::Text { text } if parent_tool_use_id.is_none() && !is_streamed => {
                    turn.is_new_message = true;
                    turn.text(&text);
                }
                Block::ToolUse { id, name, input } => {
                    let ToolRequest { kind, title, .. } = self.request(&name, &input);
                    let status = match self.start.asks {
                        true => ToolStatus::Pending,
                        false => ToolStatus::Running,
                    };
                    let paths = paths(&input);
                    self.has_acted |= !matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think);
                    let tool = ToolUse { id: id.clone(), kind, title: title.into(), paths, status };
                    turn.reporter.report(Activity::Tool(tool.clone()));
                    turn.tools.insert(id, tool);
                }
                _ => {}
            }
        }
    }

    fn request(&self, name: &str, input: &Value) -> ToolRequest {
        tools::request(name, input, &self.folder, &self.root)
    }

    fn tool_result(&self, id: &SmolStr, is_error: bool, turn: &mut Turn<'_>) -> Result<(), Fault> {
        let decided = turn.decided.get(id).copied();
        let status = match (decided, is_error) {
            (Some(false), _) => ToolStatus::Denied,
            (_, true) => ToolStatus::Failed,
            (_, false) => ToolStatus::Completed,
        };
        turn.status(id, status);
        let Some(tool) = turn.tools.remove(id) else { return Ok(()) };
        // Whatever lets a tool run without a question would let others run, too.
        if self.start.asks && decided.is_none() && !is_error && tool.kind != ToolKind::Think {
            let message = format!(
                "{NAME} has used a tool without asking, so its permissions cannot be enforced: {}; check its settings and version, or use another harness",
                tool.title
            );
            return Err(Fault::last(Failure::new(ErrorKind::Permission, message)));
        }
        Ok(())
    }

    /// Answers a question of the process.
    async fn answer(&mut self, request: ControlRequest, turn: &mut Turn<'_>) -> Result<(), Fault> {
        let ControlRequest { request_id, request } = request;
        let answer = match request {
            Control::HookCallback { callback_id, input } => self.hook(&callback_id, input, turn.reporter),
            Control::CanUseTool { tool_name, input, tool_use_id } => {
                let id = tool_use_id.unwrap_or_else(|| request_id.clone());
                let denied = self.decide(&tool_name, &input, turn).await.map_err(Fault::last)?;
                turn.decided.insert(id.clone(), denied.is_none());
                match denied {
                    None => {
                        turn.status(&id, ToolStatus::Running);
                        json!({ "behavior": "allow", "updatedInput": input })
                    }
                    Some(reason) => {
                        turn.status(&id, ToolStatus::Denied);
                        json!({ "behavior": "deny", "message": reason })
                    }
                }
            }
            Control::Other => {
                let error = "not supported";
                let response = json!({ "subtype": "error", "request_id": request_id, "error": error });
                self.connection.send(&json!({ "type": "control_response", "response": response }));
                return Ok(());
            }
        };
        let response = json!({ "subtype": "success", "request_id": request_id, "response": answer });
        self.connection.send(&json!({ "type": "control_response", "response": response }));
        Ok(())
    }

    fn hook(&mut self, hook: &str, input: HookInput, reporter: &Reporter) -> Value {
        if let Some(folder) = input.cwd {
            self.folder = folder;
        }
        match hook {
            TOOL_HOOK => json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "ask",
                "permissionDecisionReason": "the program's permissions decide",
            } }),
            _ => {
                let transcript = input.transcript_path;
                self.tell_session(reporter, |session| session.transcript = transcript);
                json!({})
            }
        }
    }

    /// Decides about the use of a tool. Returns the reason if it is denied.
    async fn decide(&self, name: &str, input: &Value, turn: &Turn<'_>) -> Result<Option<String>, Failure> {
        let Turn { rights, reporter, .. } = turn;
        let tool = self.request(name, input);
        if name == "Skill"
            && let Some(skill) = input["skill"].as_str()
            && rights.skills.iter().any(|named| named == skill)
        {
            return Ok(None);
        }
        if !self.start.asks && tool.mcp.is_none() {
            // Without rules Claude Code asks only for what nobody has allowed.
            let reason = match permissions::decide(&[], &tool, &rights.folders) {
                Decision::Deny { reason } => reason,
                _ => format!("no rule allows it; name it in `permissions:` to use `{name}`"),
            };
            reporter.report(Activity::Denied(Denial { title: tool.title, reason: reason.clone() }));
            return Ok(Some(reason));
        }
        let reason = match permissions::decide(rights.permissions, &tool, &rights.folders) {
            Decision::Deny { reason } => reason,
            Decision::Ask { rule, .. } => rule,
            Decision::Allow => String::new(),
        };
        let is_allowed =
            permissions::permit(reporter, rights.agent, rights.permissions, &tool, &rights.folders).await?;
        Ok((!is_allowed).then(|| format!("denied by the permissions of the program: {reason}")))
    }

    /// Answers a question that is not understood, so that the process does not wait for it.
    fn refuse(&self, message: &Value) {
        if message["type"] == "control_request" {
            let request = &message["request_id"];
            let response = json!({ "subtype": "error", "request_id": request, "error": "the request is not understood" });
            self.connection.send(&json!({ "type": "control_response", "response": response }));
        }
    }

    fn result(&mut self, result: TurnResult, mut turn: Turn<'_>) -> Result<String, Fault> {
        self.is_idle = true;
        let total = result.total(self.total);
        // What a continued session has used before is counted where it was used, and its first total may include it.
        match self.start.continues.is_some() && self.total == Usage::default() {
            true => turn.meter.finish_continued(result.of_turn()),
            false => turn.meter.finish(self.total, total),
        }
        self.total = total;
        for PermissionDenial { tool_name, tool_use_id, tool_input } in &result.permission_denials {
            // The others are reported when they are decided.
            if !turn.decided.contains_key(tool_use_id) {
                turn.status(tool_use_id, ToolStatus::Denied);
                let title = self.request(tool_name, tool_input).title;
                let reason = format!("the settings of {NAME} deny it");
                turn.reporter.report(Activity::Denied(Denial { title, reason }));
            }
        }
        if !result.is_error {
            return Ok(result.result.trim_end().to_owned());
        }
        let fault = Fault::new(NAME, result.api_error_status, &result.error());
        // It has already tried again for minutes, except when it is overloaded.
        let can_repeat = fault.failure.kind == ErrorKind::RateLimit;
        Err(Fault { can_repeat, ..fault })
    }

    /// The fault of a process that ended before its turn did.
    fn ended(&self, end: &End) -> Fault {
        let said = self.connection.said();
        let mut report = self.connection.ending(end);
        if said.contains("unknown option") {
            report.push_str("; update it with `claude update`");
        }
        let kind = match faults::classify(None, &said) {
            ErrorKind::Session => ErrorKind::AgentCrashed,
            kind => kind,
        };
        Fault { can_repeat: false, ..Fault::last(faults::failure_of(kind, NAME, None, &report)) }
    }
}

impl Turn<'_> {
    fn streamed(&mut self, streamed: Streamed) {
        let is_own = streamed.parent_tool_use_id.is_none();
        match streamed.event {
            StreamEvent::MessageStart { message } => {
                self.streamed.extend(message.id);
                self.meter.begin(message.usage);
                self.is_new_message = true;
            }
            StreamEvent::ContentBlockDelta { delta: Delta::Text { text } } if is_own => self.text(&text),
            StreamEvent::ContentBlockDelta { delta: Delta::Thinking { thinking } } if is_own => {
                self.reporter.report(Activity::Reasoning { text: thinking.into() });
            }
            StreamEvent::MessageDelta { usage } => self.meter.end(usage),
            StreamEvent::ContentBlockDelta { .. } | StreamEvent::Other => {}
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_new_message) && self.has_text {
            self.reporter.report(Activity::Text { text: "\n\n".into() });
        }
        self.has_text = true;
        self.reporter.report(Activity::Text { text: text.into() });
    }

    fn status(&mut self, id: &SmolStr, status: ToolStatus) {
        if let Some(tool) = self.tools.get_mut(id)
            && tool.status != status
        {
            tool.status = status;
            self.reporter.report(Activity::Tool(tool.clone()));
        }
    }
}

/// Reports usage after each message, and at the end what is missing. What was used by a message that was not finished counts, too.
struct Meter<'a> {
    reporter: &'a Reporter,
    reported: Usage,
    /// The usage of the message that is written.
    pending: Option<Tokens>,
}

impl Meter<'_> {
    fn begin(&mut self, tokens: Tokens) {
        self.flush();
        self.pending = Some(tokens);
    }

    fn end(&mut self, tokens: Tokens) {
        if let Some(pending) = &mut self.pending {
            *pending = tokens.or(*pending);
        }
        self.flush();
    }

    fn flush(&mut self) {
        if let Some(tokens) = self.pending.take() {
            self.report(tokens.usage());
        }
    }

    /// Reports the rest of what a turn has used.
    fn finish(&mut self, before: Usage, total: Usage) {
        // The total has it.
        self.pending = None;
        let missing = total.less(before).less(self.reported);
        let cost = total.cost.map(|cost| cost - before.cost.unwrap_or_default());
        self.report(Usage { cost, ..missing });
    }

    /// Reports the rest of what a turn has used without subagents, whose messages are reported as they come.
    fn finish_continued(&mut self, of_turn: Usage) {
        self.flush();
        self.report(of_turn.less(self.reported));
    }

    fn report(&mut self, usage: Usage) {
        if usage != Usage::default() {
            self.reported = self.reported.and(usage);
            self.reporter.report(Activity::Used(usage));
        }
    }
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The files that a tool concerns, as the agent names them.
fn paths(input: &Value) -> Vec<SmolStr> {
    ["file_path", "notebook_path", "path"]
        .iter()
        .filter_map(|field| input[*field].as_str().map(Into::into))
        .collect()
}

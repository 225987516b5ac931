//! Turns the notifications of a turn into activities and an outcome.

use std::collections::{HashMap, HashSet};

use prose_vm::activity::{Activity, ProviderRetry, ToolKind, ToolStatus, ToolUse};
use prose_vm::effect::{Failure, Usage};
use prose_vm::error::ErrorKind;
use serde::de::DeserializeOwned;
use serde_json::Value;
use smol_str::SmolStr;

use super::protocol::{
    ChangeKind, CommandAction, Delta, ErrorNotification, FileChange, Item, ItemNotification, Status,
    TokenUsageUpdated, Tokens, TurnCompleted, TurnError, TurnStatus, inner_command,
};
use crate::faults;

/// What a turn has reported so far.
#[derive(Default)]
pub(super) struct Turn {
    /// The last message.
    reply: String,
    /// The messages of which parts were reported.
    streamed: HashSet<SmolStr>,
    changes: HashMap<SmolStr, Vec<FileChange>>,
    /// The tools of MCP servers in use, with their servers.
    mcp_calls: HashMap<SmolStr, (String, String)>,
}

impl Turn {
    /// The changes of files that a call makes.
    pub(super) fn changes(&self, item: &str) -> Option<&[FileChange]> {
        self.changes.get(item).map(Vec::as_slice)
    }

    /// The tool that a question of an MCP server is about.
    pub(super) fn mcp_tool(&self, server: &str, message: &str) -> Option<&str> {
        let called: HashSet<&str> =
            self.mcp_calls.values().filter(|(of, _)| of == server).map(|(_, tool)| tool.as_str()).collect();
        let mut named = called.iter().filter(|tool| message.contains(&format!("\"{tool}\"")));
        match (called.len(), named.next(), named.next()) {
            (1, _, _) => called.into_iter().next(),
            (_, Some(tool), None) => Some(tool),
            _ => None,
        }
    }

    /// Adds a notification. Returns the outcome when the turn has ended or cannot succeed.
    pub(super) fn add(
        &mut self,
        who: &str,
        method: &str,
        params: &Value,
        report: &mut dyn FnMut(Activity),
    ) -> Option<Result<String, Failure>> {
        match method {
            "item/agentMessage/delta" => {
                let Delta { item_id, delta } = read(params)?;
                let start = self.message_start(item_id);
                report(Activity::Text { text: format!("{start}{delta}").into() });
            }
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                let Delta { delta, .. } = read(params)?;
                report(Activity::Reasoning { text: delta.into() });
            }
            "item/started" => self.item(read::<ItemNotification>(params)?.item, false, report),
            "item/completed" => self.item(read::<ItemNotification>(params)?.item, true, report),
            "error" => {
                let ErrorNotification { error, will_retry } = read(params)?;
                let fault = Fault::of(&error);
                if !will_retry || !faults::is_transient(fault.kind()) && fault.kind() != ErrorKind::Session {
                    return Some(Err(fault.failure(who)));
                }
                report(Activity::ProviderRetry(ProviderRetry {
                    attempt: fault.attempt,
                    status: fault.status,
                    delay_ms: 0,
                    message: faults::reported(fault.status, &fault.message),
                }));
            }
            "turn/completed" => {
                let TurnCompleted { turn } = read(params)?;
                return Some(match (turn.status, turn.error) {
                    (TurnStatus::Completed, None) => Ok(std::mem::take(&mut self.reply)),
                    (_, Some(error)) => Err(Fault::of(&error).failure(who)),
                    _ => Err(Failure::session(format!("{who} ended the session before its reply"))),
                });
            }
            _ => {}
        }
        None
    }

    /// The text before the next part of a message.
    fn message_start(&mut self, message: SmolStr) -> &'static str {
        let has_text = !self.streamed.is_empty();
        if self.streamed.insert(message) && has_text { "\n\n" } else { "" }
    }

    fn item(&mut self, item: Item, is_completed: bool, report: &mut dyn FnMut(Activity)) {
        let running = if is_completed { ToolStatus::Completed } else { ToolStatus::Running };
        let tool = match item {
            Item::AgentMessage { id, text } => {
                if is_completed {
                    if !self.streamed.contains(&id) && !text.is_empty() {
                        let start = self.message_start(id);
                        report(Activity::Text { text: format!("{start}{text}").into() });
                    }
                    self.reply = text;
                }
                return;
            }
            Item::CommandExecution { id, command, command_actions, status } => {
                let (kind, paths) = command_kind(&command_actions);
                ToolUse { id, kind, title: inner_command(&command).into(), paths, status: status.into() }
            }
            Item::FileChange { id, changes, status } => {
                let tool = ToolUse {
                    id: id.clone(),
                    kind: change_kind(&changes),
                    title: changes_title(&changes).into(),
                    paths: changed_paths(&changes).collect(),
                    status: status.into(),
                };
                self.changes.insert(id, changes);
                tool
            }
            Item::McpToolCall { id, server, tool, status } => {
                let title = format!("{server}/{tool}").into();
                match is_completed {
                    true => _ = self.mcp_calls.remove(&id),
                    false => _ = self.mcp_calls.insert(id.clone(), (server, tool)),
                }
                ToolUse { id, kind: ToolKind::Other, title, paths: Vec::new(), status: status.into() }
            }
            Item::WebSearch { id, query } => ToolUse {
                id,
                kind: ToolKind::Fetch,
                title: format!("search the web: {query}").into(),
                paths: Vec::new(),
                status: running,
            },
            Item::ImageView { id, path } => ToolUse {
                id,
                kind: ToolKind::Read,
                title: format!("view {path}").into(),
                paths: vec![path],
                status: running,
            },
            Item::Other => return,
        };
        report(Activity::Tool(tool));
    }
}

/// Counts what a thread uses, and those of the agents that it starts.
#[derive(Default)]
pub(super) struct Meter {
    /// The tokens of each thread.
    total: HashMap<SmolStr, Tokens>,
    /// Whether the request that has called the last tool is not counted yet.
    pub(super) is_behind: bool,
}

impl Meter {
    /// Adds a notification of the present turn, or of one before, which is counted already. Returns what was used since the last one.
    pub(super) fn add(&mut self, method: &str, params: &Value, is_earlier: bool) -> Option<Usage> {
        if method == "item/started" {
            self.is_behind = true;
        }
        if method != "thread/tokenUsage/updated" {
            return None;
        }
        let TokenUsageUpdated { thread_id, token_usage } = read(params)?;
        let before = self.total.insert(thread_id, token_usage.total);
        if is_earlier {
            return None;
        }
        self.is_behind = false;
        // A copied thread has used what its original did.
        let usage = match (before, token_usage.last) {
            (None, Some(last)) => Usage::from(last),
            (before, _) => Usage::from(token_usage.total).less(before.unwrap_or_default().into()),
        };
        Some(usage).filter(|usage| *usage != Usage::default())
    }
}

/// Reads a notification; `None` for one of an unknown form, which is ignored like unknown notifications.
fn read<T: DeserializeOwned>(params: &Value) -> Option<T> {
    T::deserialize(params).ok()
}

impl From<Status> for ToolStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::InProgress => ToolStatus::Running,
            Status::Completed => ToolStatus::Completed,
            Status::Failed => ToolStatus::Failed,
            Status::Declined => ToolStatus::Denied,
        }
    }
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        Usage {
            input_tokens: tokens.input_tokens,
            cache_read_tokens: tokens.cached_input_tokens,
            cache_write_tokens: tokens.cache_write_input_tokens,
            output_tokens: tokens.output_tokens,
            cost: None,
        }
    }
}

/// What a command does as a whole.
fn command_kind(actions: &[CommandAction]) -> (ToolKind, Vec<SmolStr>) {
    let paths = actions.iter().filter_map(|action| match action {
        CommandAction::Read { path } => Some(path.clone()),
        CommandAction::ListFiles { path } | CommandAction::Search { path } => path.clone(),
        CommandAction::Unknown => None,
    });
    let is_read = |action: &CommandAction| matches!(action, CommandAction::Read { .. });
    let kind = if actions.is_empty() || actions.contains(&CommandAction::Unknown) {
        ToolKind::Execute
    } else if actions.iter().all(is_read) {
        ToolKind::Read
    } else {
        ToolKind::Search
    };
    (kind, paths.collect())
}

/// The kind of tool call that makes changes.
pub(super) fn change_kind(changes: &[FileChange]) -> ToolKind {
    let all = |is: fn(&ChangeKind) -> bool| changes.iter().all(|change| is(&change.kind));
    match changes {
        [] => ToolKind::Edit,
        _ if all(|kind| *kind == ChangeKind::Delete) => ToolKind::Delete,
        _ if all(|kind| matches!(kind, ChangeKind::Update { move_path: Some(_) })) => ToolKind::Move,
        _ => ToolKind::Edit,
    }
}

/// All paths of changes: those of moved files twice.
pub(super) fn changed_paths(changes: &[FileChange]) -> impl Iterator<Item = SmolStr> {
    changes.iter().flat_map(|change| {
        let moved = match &change.kind {
            ChangeKind::Update { move_path } => move_path.clone(),
            ChangeKind::Add | ChangeKind::Delete => None,
        };
        std::iter::once(change.path.clone()).chain(moved)
    })
}

pub(super) fn changes_title(changes: &[FileChange]) -> String {
    let verb = match change_kind(changes) {
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        _ => "write",
    };
    let paths: Vec<_> = changed_paths(changes).collect();
    format!("{verb} {}", paths.join(", "))
}

/// An error of the provider or of Codex.
struct Fault {
    status: Option<u16>,
    message: String,
    /// What Codex itself calls it.
    named: Option<ErrorKind>,
    attempt: u32,
}

impl Fault {
    fn of(error: &TurnError) -> Self {
        let info = &error.codex_error_info;
        let status = info.as_object().and_then(|info| info.values().next()?.get("httpStatusCode")?.as_u64());
        // `Reconnecting... 2/5`
        let attempt = error.message.rsplit_once(' ').and_then(|(_, of)| of.split_once('/')?.0.parse().ok());
        let named = match info.as_str().unwrap_or_default() {
            "contextWindowExceeded" => Some(ErrorKind::ContextTooLong),
            "sessionBudgetExceeded" | "usageLimitExceeded" => Some(ErrorKind::Budget),
            "rateLimitExceeded" | "serverOverloaded" | "flexUnavailable" | "policyCapacityUnavailable" => {
                Some(ErrorKind::RateLimit)
            }
            "internalServerError" => Some(ErrorKind::Provider),
            "unauthorized" => Some(ErrorKind::Auth),
            "cyberPolicy" | "misalignmentPolicyViolation" | "inferenceHookDenied" => Some(ErrorKind::Refused),
            _ => None,
        };
        let message = error.additional_details.clone().unwrap_or_else(|| error.message.clone());
        let status = status.and_then(|status| u16::try_from(status).ok());
        Self {
            status: status.or_else(|| faults::quoted_status(&message)),
            message,
            named,
            attempt: attempt.unwrap_or(1),
        }
    }

    fn kind(&self) -> ErrorKind {
        self.named.unwrap_or_else(|| faults::classify(self.status, &self.message))
    }

    fn failure(&self, who: &str) -> Failure {
        faults::failure_of(self.kind(), who, self.status, &self.message)
    }
}

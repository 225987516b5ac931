//! What the backend of a session or of a condition does now.

use std::collections::BTreeSet;

use prose_vm::activity::{Activity, PermissionQuestion, ProviderRetry, ToolStatus, ToolUse};
use serde::Serialize;
use smol_str::SmolStr;

use crate::json::is_zero;
use crate::node::NodeId;
use crate::text::{counted, duration, first_line, last_line};

/// The most bytes of a text that are kept to find its last line.
const MAX_TAIL: usize = 600;
/// The maximum number of open tool calls that are kept.
const MAX_OPEN: usize = 16;

/// What the backend of a node reports while the node is open.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NodeActivity {
    /// The node.
    pub node: NodeId,
    /// The time of the last report; 0 before the first one.
    pub last: u64,
    /// The number of tool calls.
    pub calls: u32,
    /// The tool call that started last and is open; without one, the call that ended last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolUse>,
    /// The last line of the reply up to now, shortened.
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub text: SmolStr,
    /// Whether the model reasons.
    #[serde(rename = "reasoning", skip_serializing_if = "std::ops::Not::not")]
    pub is_reasoning: bool,
    /// The retry of the provider that is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// The permission questions without an answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<PermissionQuestion>,
    /// The time of the last report before it stalled.
    #[serde(rename = "stalledSince", skip_serializing_if = "Option::is_none")]
    pub stalled_since: Option<u64>,
    /// The number of denied tool calls.
    #[serde(skip_serializing_if = "is_zero")]
    pub denied: u32,
    #[serde(skip)]
    tail: String,
    #[serde(skip)]
    open: Vec<ToolUse>,
    #[serde(skip)]
    seen: BTreeSet<SmolStr>,
}

/// A retry after a failure of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Retry {
    /// The number of the retry, from 1; 0 for a request that waits because the provider turned another one away.
    pub attempt: u32,
    /// The HTTP status, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The time of the retry.
    pub until: u64,
    /// The failure in one line.
    pub message: SmolStr,
}

impl NodeActivity {
    pub(crate) fn new(node: NodeId) -> Self {
        Self { node, ..Self::default() }
    }

    pub(crate) fn add(&mut self, at: u64, activity: &Activity) {
        if let Activity::Stalled { silent_ms } = activity {
            self.stalled_since = Some(at.saturating_sub(*silent_ms));
            return;
        }
        (self.last, self.stalled_since) = (at, None);
        match activity {
            Activity::Text { text } => self.add_text(text),
            Activity::Tool(tool) => self.add_tool(tool),
            Activity::Asked(question) => self.questions.push(question.clone()),
            Activity::Answered { id, .. } => self.questions.retain(|question| question.id != *id),
            Activity::Denied(_) => self.denied += 1,
            Activity::Reasoning { .. }
            | Activity::ProviderRetry(_)
            | Activity::Used(_)
            | Activity::Agent(_)
            | Activity::Continued { .. }
            | Activity::Given(_)
            | Activity::Note { .. }
            | Activity::Stalled { .. } => {}
        }
        self.is_reasoning = matches!(activity, Activity::Reasoning { .. });
        self.retry = match activity {
            Activity::ProviderRetry(ProviderRetry { attempt, status, delay_ms, message }) => Some(Retry {
                attempt: *attempt,
                status: *status,
                until: at + delay_ms,
                message: first_line(message),
            }),
            _ => None,
        };
    }

    fn add_text(&mut self, text: &str) {
        self.tail += text;
        if self.tail.len() > MAX_TAIL {
            let start = self.tail.ceil_char_boundary(self.tail.len() - MAX_TAIL);
            self.tail.drain(..start);
        }
        self.text = last_line(&self.tail);
    }

    fn add_tool(&mut self, tool: &ToolUse) {
        if self.seen.insert(tool.id.clone()) {
            self.calls += 1;
        }
        self.open.retain(|open| open.id != tool.id);
        if matches!(tool.status, ToolStatus::Pending | ToolStatus::Running) {
            if self.open.len() == MAX_OPEN {
                self.open.remove(0);
            }
            self.open.push(tool.clone());
        }
        self.tool = Some(self.open.last().unwrap_or(tool).clone());
    }

    /// Whether a tool call is open.
    pub fn uses_tool(&self) -> bool {
        !self.open.is_empty()
    }

    /// What it does now, in a few words; empty before the first report.
    pub fn summary(&self, now: u64) -> String {
        if let Some(question) = self.questions.last() {
            return format!("waits for permission: {}", first_line(&question.title));
        }
        if let Some(since) = self.stalled_since {
            let doing = self.tool.as_ref().filter(|_| self.uses_tool());
            let doing = doing.map_or(String::new(), |tool| format!(" in {}", first_line(&tool.title)));
            return format!("no activity for {}{doing}", duration(now.saturating_sub(since)));
        }
        if let Some(retry) = &self.retry {
            return retry.summary(now);
        }
        match &self.tool {
            Some(tool) if self.uses_tool() => first_line(&tool.title).into(),
            _ if self.is_reasoning => "thinking".to_owned(),
            _ if !self.text.is_empty() => self.text.to_string(),
            Some(tool) => first_line(&tool.title).into(),
            None => String::new(),
        }
    }

    /// `3 tool calls`; empty without any.
    pub fn counted_calls(&self) -> String {
        match self.calls {
            0 => String::new(),
            calls => counted(calls as usize, "tool call", "tool calls"),
        }
    }
}

impl Retry {
    /// The failure and when it is tried again.
    pub fn summary(&self, now: u64) -> String {
        if self.attempt == 0 {
            return match self.until.saturating_sub(now) {
                0 => "waits for the provider".to_owned(),
                left => format!("waits for the provider for {}", duration(left)),
            };
        }
        let status = self.status.map_or(String::new(), |status| format!(" {status}"));
        match self.until.saturating_sub(now) {
            0 => format!("provider failed{status}, retrying"),
            left => format!("provider failed{status}, retrying in {}", duration(left)),
        }
    }
}

//! What sessions write while they are at work, and their replies.

use std::collections::{BTreeSet, VecDeque};

use prose_vm::activity::{Activity, ToolStatus};
use prose_vm::effect::{Outcome, RequestId};
use prose_vm::event::{Event, EventKind};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The most bytes that are kept of one session: its last ones.
const MAX_OUTPUT: usize = 64 << 10;

/// The most bytes that are kept of all sessions: those of the sessions that started last.
const MAX_OUTPUTS: usize = 8 << 20;

/// What sessions of a run have written.
#[derive(Debug, Default)]
pub struct Outputs {
    of: FxHashMap<RequestId, Output>,
    /// In the order in which something was first heard of them.
    order: VecDeque<RequestId>,
    size: usize,
}

/// What a session has written.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its text: what the agent writes, with a line for each tool call; once it has ended, its reply.
    pub text: String,
    /// Whether it is the reply, rather than what the agent writes on the way.
    pub is_reply: bool,
    /// The tool calls that have a line.
    calls: BTreeSet<SmolStr>,
}

impl Outputs {
    /// What a session has written, as far as it is kept.
    pub fn of(&self, request: RequestId) -> Option<&Output> {
        self.of.get(&request)
    }

    /// Adds an event.
    pub fn observe(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted(_) => *self = Self::default(),
            EventKind::SessionStarted { request, .. } => {
                self.change(*request, |output| *output = Output::default())
            }
            EventKind::Activity { request, activity } => self.change(*request, |output| output.add(activity)),
            EventKind::Effect { request, outcome: Outcome::Reply(reply), .. } => {
                let (text, _) = last_bytes(&reply.text);
                self.change(*request, |output| {
                    *output = Output { text: text.to_owned(), is_reply: true, ..Output::default() };
                });
            }
            EventKind::Effect { request, outcome: Outcome::Failed(failure), .. }
                if self.of.contains_key(request) =>
            {
                let line = format!("failed: {}", failure.message);
                self.change(*request, |output| output.line(&line));
            }
            _ => {}
        }
    }

    fn change(&mut self, request: RequestId, change: impl FnOnce(&mut Output)) {
        let output = self.of.entry(request).or_insert_with(|| {
            self.order.push_back(request);
            Output::default()
        });
        let before = output.text.len();
        change(output);
        self.size = self.size + output.text.len() - before;
        while self.size > MAX_OUTPUTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.size -= self.of.remove(&oldest).map_or(0, |output| output.text.len());
        }
    }
}

impl Output {
    fn add(&mut self, activity: &Activity) {
        match activity {
            Activity::Text { text } => {
                self.text += text;
                self.shorten();
            }
            Activity::Tool(tool) if tool.status == ToolStatus::Failed => {
                self.line(&format!("· {} (failed)", tool.title));
            }
            Activity::Tool(tool) if self.calls.insert(tool.id.clone()) => {
                self.line(&format!("· {}", tool.title))
            }
            Activity::Denied(denial) => self.line(&format!("· denied: {} ({})", denial.title, denial.reason)),
            Activity::ProviderRetry(retry) => self.line(&format!("· {}", retry.message)),
            Activity::Note { text } => self.line(&format!("· {text}")),
            _ => {}
        }
    }

    /// Adds a line of its own.
    fn line(&mut self, line: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text += line;
        self.text.push('\n');
        self.shorten();
    }

    /// Keeps the last bytes.
    fn shorten(&mut self) {
        let (_, start) = last_bytes(&self.text);
        self.text.drain(..start);
    }
}

/// The last bytes that are kept of a text, and where they begin.
fn last_bytes(text: &str) -> (&str, usize) {
    let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_OUTPUT));
    (&text[start..], start)
}

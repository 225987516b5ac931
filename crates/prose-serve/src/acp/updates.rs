//! What a client is shown of a run: the top-level statements as a plan, and the sessions as tool calls. Made of events, live or recorded.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_acp::{CallStatus, Chunk, Location, PlanEntry, PlanStatus, ToolCall, Update, call_text};
use prose_syntax::text::{beginning, one_line};
use prose_vm::effect::{Outcome, RequestId, SessionTask};
use prose_vm::event::{Event, EventKind, RunEnd, Status};
use prose_vm::place::Place;
use prose_vm::program_names::ProgramNames;
use serde_json::json;
use smol_str::SmolStr;

/// The longest reply or prompt in a tool call, in bytes. The files of the run have the rest.
pub(super) const MAX_TEXT: usize = 8_000;

/// The longest title of a tool call, in characters.
const MAX_TITLE: usize = 100;

/// The updates of a run.
#[derive(Default)]
pub(super) struct Shown(Mutex<State>);

#[derive(Default)]
struct State {
    run: SmolStr,
    /// The file of the program, where its lines are those of the file.
    file: Option<PathBuf>,
    /// The updates that were not sent yet.
    queue: Vec<Update>,
    plan: Vec<PlanEntry>,
    is_plan_changed: bool,
    /// The entries of open statements.
    statements: HashMap<Place, usize>,
    calls: HashMap<RequestId, Call>,
    conditions: HashMap<Place, Arc<str>>,
    warnings: Vec<String>,
    programs: ProgramNames,
    /// The number of the last event that was shown. A resumed run repeats the events before.
    last: u64,
}

/// A tool call.
struct Call {
    status: CallStatus,
    /// Whether the run stopped while it was at work.
    is_stopped: bool,
    reply: Option<Arc<str>>,
}

impl Shown {
    /// Shows a program whose statements wait, as given by [`prose_vm::program::Program::outline`].
    pub(super) fn of_program(outline: &[SmolStr], file: Option<PathBuf>) -> Self {
        let state = State {
            plan: outline.iter().map(|source| entry(source)).collect(),
            is_plan_changed: !outline.is_empty(),
            file,
            ..State::default()
        };
        Self(Mutex::new(state))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was not sent yet. Of a plan, only its last state is sent.
    pub(super) fn take(&self) -> Vec<Update> {
        let mut state = self.state();
        let mut updates = std::mem::take(&mut state.queue);
        if std::mem::take(&mut state.is_plan_changed) {
            updates.push(Update::Plan { entries: state.plan.clone() });
        }
        updates
    }

    /// Adds an update of another kind, after those of earlier events.
    pub(super) fn push(&self, update: Update) {
        self.state().queue.push(update);
    }

    /// The warnings of the run.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.state().warnings.clone()
    }

    /// The number of the last event.
    pub(super) fn last(&self) -> u64 {
        self.state().last
    }

    /// Adds an event.
    pub(super) fn event(&self, event: &Event) {
        self.state().event(event);
    }
}

impl State {
    fn event(&mut self, event: &Event) {
        self.programs.apply(event);
        let is_new = event.seq > self.last;
        match &event.kind {
            EventKind::RunStarted(head) => self.run.clone_from(&head.run),
            EventKind::StatementStarted { number: Some(number), source, .. } if is_of_program(event) => {
                self.statement_started(event, *number as usize - 1, source);
            }
            EventKind::StatementEnded { status, .. } => self.statement_ended(&event.place, *status),
            EventKind::SessionStarted { request, task } => self.session_started(event, *request, task),
            EventKind::Queued { request } => self.set_status(*request, CallStatus::Pending),
            EventKind::Begun { request } => self.set_status(*request, CallStatus::InProgress),
            EventKind::Effect { request, outcome: Outcome::Reply(reply), .. } => {
                if let Some(call) = self.calls.get_mut(request) {
                    call.reply = Some(Arc::clone(&reply.text));
                }
            }
            EventKind::SessionEnded { request, status, error } => {
                let reply = self.calls.get_mut(request).and_then(|call| call.reply.take());
                let (status, text) = match (status, error, reply) {
                    (Status::Complete | Status::Left, _, reply) => (CallStatus::Completed, reply),
                    (Status::Failed, error, _) => {
                        (CallStatus::Failed, error.as_ref().map(|error| error.message.as_str().into()))
                    }
                    (Status::Skipped, ..) => {
                        (CallStatus::Failed, Some("cancelled, as nothing waits for its result".into()))
                    }
                };
                self.session_ended(*request, status, text.as_deref());
            }
            EventKind::ConditionAsked { text, .. } => {
                self.conditions.insert(event.place.clone(), Arc::clone(text));
            }
            EventKind::ConditionJudged { met, reason, .. } => {
                let text = self.conditions.remove(&event.place);
                if let Some(text) = text.filter(|_| is_new) {
                    let verdict = if *met { "yes" } else { "no" };
                    self.considered(&text, verdict, reason);
                }
            }
            EventKind::Chosen { criterion, label, reason } if is_new => {
                self.considered(criterion, label, reason);
            }
            EventKind::Warning { message } if is_new => {
                let line = event.site.and_then(|site| self.programs.line(site));
                let line = line.map_or(String::new(), |line| format!("{line}: "));
                self.warnings.push(format!("{line}{}", one_line(message)));
            }
            EventKind::RunEnded(end) => self.ended(end),
            _ => {}
        }
        self.last = self.last.max(event.seq);
    }

    fn statement_started(&mut self, event: &Event, index: usize, source: &SmolStr) {
        // The text of the program may be unknown, or have changed since the run.
        while self.plan.len() <= index {
            self.plan.push(entry(source));
        }
        self.plan[index] = PlanEntry { status: PlanStatus::InProgress, ..entry(source) };
        self.statements.insert(event.place.clone(), index);
        self.is_plan_changed = true;
    }

    fn statement_ended(&mut self, place: &Place, status: Status) {
        let Some(index) = self.statements.remove(place) else { return };
        let Some(entry) = self.plan.get_mut(index) else { return };
        // The protocol has no status for these.
        match status {
            Status::Complete | Status::Left => {}
            Status::Failed => entry.content.push_str(" (failed)"),
            Status::Skipped => entry.content.push_str(" (cancelled)"),
        }
        entry.status = PlanStatus::Completed;
        self.is_plan_changed = true;
    }

    fn id(&self, request: RequestId) -> String {
        format!("{}/{}", self.run, request.0)
    }

    fn session_started(&mut self, event: &Event, request: RequestId, task: &SessionTask) {
        if let Some(call) = self.calls.get_mut(&request) {
            // A session that was at work when the run was stopped is asked again.
            if std::mem::take(&mut call.is_stopped) {
                self.set_status(request, CallStatus::InProgress);
            }
            return;
        }
        let call = Call { status: CallStatus::InProgress, is_stopped: false, reply: None };
        self.calls.insert(request, call);
        let agent = task.agent.as_ref().map_or(String::new(), |agent| format!("{agent}: "));
        let attempt = match task.attempt {
            0 => String::new(),
            attempt => format!(" (attempt {})", attempt + 1),
        };
        let location = event.site.and_then(|site| {
            let file = match self.programs.imported(site.program) {
                Some(imported) => Some(Path::new(&imported.from)).filter(|from| from.is_absolute()),
                None => self.file.as_deref(),
            };
            Some(vec![Location { path: file?.to_string_lossy().into_owned(), line: Some(site.line) }])
        });
        self.queue.push(Update::ToolCall(ToolCall {
            tool_call_id: self.id(request),
            title: Some(format!("{agent}{}{attempt}", beginning(&task.task, MAX_TITLE))),
            kind: Some("other".to_owned()),
            status: Some(CallStatus::InProgress),
            locations: location,
            raw_input: Some(json!({
                "agent": task.agent,
                "model": task.model,
                "prompt": bounded(&task.prompt, MAX_TEXT),
            })),
            content: None,
        }));
    }

    /// Changes the status of a tool call.
    fn set_status(&mut self, request: RequestId, status: CallStatus) {
        let Some(call) = self.calls.get_mut(&request).filter(|call| call.status != status) else { return };
        call.status = status;
        let id = self.id(request);
        self.queue.push(Update::ToolCallChanged(ToolCall {
            tool_call_id: id,
            status: Some(status),
            ..ToolCall::default()
        }));
    }

    /// Ends a tool call, with its reply or what kept it from one.
    fn session_ended(&mut self, request: RequestId, status: CallStatus, text: Option<&str>) {
        let has_ended = |call: &&mut Call| matches!(call.status, CallStatus::Completed | CallStatus::Failed);
        let Some(call) = self.calls.get_mut(&request).filter(|call| !has_ended(call)) else { return };
        call.status = status;
        let id = self.id(request);
        self.queue.push(Update::ToolCallChanged(ToolCall {
            tool_call_id: id,
            status: Some(status),
            content: text.map(|text| call_text(&bounded(text, MAX_TEXT))),
            ..ToolCall::default()
        }));
    }

    /// Shows a decision of a model.
    fn considered(&mut self, question: &str, answer: &str, reason: &str) {
        let reason = if reason.is_empty() { String::new() } else { format!(" ({})", one_line(reason)) };
        let question = beginning(question, MAX_TITLE);
        let text = bounded(&format!("{question}: {answer}{reason}\n\n"), MAX_TEXT);
        self.queue.push(Update::AgentThoughtChunk(Chunk::text(text)));
    }

    fn ended(&mut self, end: &RunEnd) {
        let is_open = |call: &Call| matches!(call.status, CallStatus::Pending | CallStatus::InProgress);
        let mut open: Vec<_> =
            self.calls.iter().filter(|(_, call)| is_open(call)).map(|(request, _)| *request).collect();
        open.sort();
        for request in open {
            self.session_ended(request, CallStatus::Failed, Some("the run was stopped"));
            if let Some(call) = self.calls.get_mut(&request) {
                call.is_stopped = true;
            }
        }
        if end.status.is_stopped() {
            for (_, index) in self.statements.drain() {
                if let Some(entry) = self.plan.get_mut(index) {
                    entry.status = PlanStatus::Pending;
                }
            }
            self.is_plan_changed = true;
        }
    }
}

fn is_of_program(event: &Event) -> bool {
    event.site.is_some_and(|site| site.program == 0)
}

fn entry(source: &str) -> PlanEntry {
    PlanEntry {
        content: beginning(source, MAX_TITLE),
        priority: "medium".to_owned(),
        status: PlanStatus::Pending,
    }
}

/// A text without its end, if it is too long.
pub(super) fn bounded(text: &str, max: usize) -> String {
    let shown = &text[..text.floor_char_boundary(max)];
    match text.len() - shown.len() {
        0 => shown.to_owned(),
        rest => format!("{shown}\n… ({rest} more bytes)"),
    }
}

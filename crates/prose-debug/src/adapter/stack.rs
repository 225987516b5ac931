//! Requests about what is seen at a stop: threads, frames, scopes, variables and sources.

use std::io::Write;

use prose_vm::effect::{BindingKind, Outcome, SessionTask};
use prose_vm::error::RuntimeError;
use prose_vm::event::EventKind;
use prose_vm::value::Value;
use serde_json::Value as Json;

use super::{Adapter, body, thread_id, thread_of};
use crate::breakpoints::About;
use crate::debuggee::{Debuggee, Reason};
use crate::filters::occasion;
use crate::timeline::{NodeId, NodeKind, RUN, Timeline, Variable};
use crate::values::{self, Row};

/// A frame for the client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// The call, the iteration, the branch or the program.
    pub(super) node: NodeId,
    /// The part that it is at.
    pub(super) part: NodeId,
    /// The innermost statement that it is at.
    statement: NodeId,
}

/// What a number stands for that the client got with a scope or a variable.
#[derive(Debug, Clone)]
pub(super) enum Handle {
    /// The variables of a frame.
    Locals(Frame),
    /// The inputs of its program.
    Inputs(Frame),
    /// The variables of its program, as a block sees them.
    Program(Frame),
    /// The session of its statement.
    Session(Frame),
    /// The run as a whole.
    Run,
    /// A value.
    Value(Value),
}

/// The frames and values that the client knows by number. Their numbers end with each stop, and are not used again.
#[derive(Debug, Default)]
pub(super) struct Handles {
    frames: Vec<Frame>,
    values: Vec<Handle>,
    first_frame: u64,
    first_value: u64,
}

impl Handles {
    /// The run stands somewhere else now.
    pub(super) fn clear(&mut self) {
        self.first_frame += self.frames.len() as u64;
        self.first_value += self.values.len() as u64;
        self.frames.clear();
        self.values.clear();
    }

    fn frame(&mut self, frame: Frame) -> u64 {
        self.frames.push(frame);
        self.first_frame + self.frames.len() as u64
    }

    fn value(&mut self, handle: Handle) -> u64 {
        self.values.push(handle);
        self.first_value + self.values.len() as u64
    }

    pub(super) fn find_frame(&self, id: u64) -> Result<Frame, String> {
        let nth = id.checked_sub(self.first_frame + 1);
        let frame = nth.and_then(|nth| self.frames.get(nth as usize)).copied();
        frame.ok_or_else(|| "the debugger stands somewhere else now, and has no such frame".to_owned())
    }

    pub(super) fn find(&self, id: u64) -> Result<Handle, String> {
        let nth = id.checked_sub(self.first_value + 1);
        let handle = nth.and_then(|nth| self.values.get(nth as usize)).cloned();
        handle.ok_or_else(|| "the debugger stands somewhere else now, and has no such value".to_owned())
    }

    /// Whether the rows of a number are variables of the program.
    pub(super) fn is_variable(&self, id: Option<u64>) -> bool {
        let Some(id) = id.filter(|id| *id > 0) else { return true };
        matches!(self.find(id), Ok(Handle::Locals(_) | Handle::Inputs(_) | Handle::Program(_)))
    }
}

/// The frames of a branch, the innermost first.
pub(super) fn frames(debuggee: &Debuggee, thread: NodeId) -> Vec<Frame> {
    let timeline = &debuggee.timeline;
    let mut frames = Vec::new();
    let mut at = debuggee.part_of(thread);
    let (mut part, mut statement) = (at, None);
    while let Some(here) = timeline.node(at) {
        if matches!(here.kind, NodeKind::Statement { .. }) {
            statement.get_or_insert(at);
        }
        if here.kind.is_frame() {
            frames.push(Frame { node: at, part, statement: statement.take().unwrap_or(at) });
            part = here.parent;
        }
        if at == RUN {
            break;
        }
        at = here.parent;
    }
    frames
}

/// A failure, or what another filter is for.
pub(super) struct Exception {
    /// Its kind.
    id: String,
    /// What it is, in a line.
    pub(super) text: String,
    /// The same with its kind.
    description: String,
}

/// The error that the debugger stands at.
pub(super) fn error_at(debuggee: &Debuggee) -> Option<std::sync::Arc<RuntimeError>> {
    match &debuggee.timeline.event(debuggee.cursor())?.kind {
        EventKind::Raised { error } | EventKind::Retrying { error, .. } => Some(error.clone()),
        EventKind::SessionEnded { error, .. } => error.clone(),
        EventKind::RunEnded(end) => end.error.clone(),
        _ => None,
    }
}

impl<W: Write> Adapter<W> {
    /// What the debugger has stopped at, if it is no place of the program.
    pub(super) fn exception(&self) -> Option<Exception> {
        let debuggee = self.debuggee();
        if let Some(error) = error_at(&debuggee) {
            let kind = serde_json::to_value(error.kind).ok();
            let id = kind.as_ref().and_then(Json::as_str).unwrap_or("error").to_owned();
            return Some(Exception { id, text: error.message.clone(), description: error.to_string() });
        }
        let Reason::Breakpoint { about: About::Exception(filter), .. } = self.stop.as_ref()?.reason else {
            return None;
        };
        let text = occasion(&debuggee.timeline, debuggee.cursor(), filter)?;
        Some(Exception { id: filter.id().to_owned(), description: text.clone(), text })
    }

    /// Takes up the programs that the run has shown.
    pub(super) fn learn_sources(&mut self) {
        let Some(root) = self.project.as_ref().map(|project| project.root.clone()) else { return };
        let shared = std::sync::Arc::clone(&self.shared);
        let debuggee = shared.lock();
        for (_, program) in debuggee.timeline.programs() {
            if self.sources.find(&program.from).is_none_or(|(_, known)| known.text.is_none()) {
                self.sources.add(&program.name, &program.from, program.text.as_ref(), &root);
            }
        }
    }

    /// A source and a line in it for the client.
    pub(super) fn place(&self, from: &str, line: u32) -> Option<(dapts::Source, u32)> {
        let (number, source) = self.sources.find(from)?;
        let line = (source.line_in_file(line) + self.lines_start).saturating_sub(1);
        Some((client_source(number, source), line))
    }

    pub(super) fn threads(&self) -> Result<Json, String> {
        let debuggee = self.debuggee();
        let timeline = &debuggee.timeline;
        let thread = |id: NodeId, name: String| dapts::Thread { id: thread_id(id), name };
        let mut threads = vec![thread(RUN, "main".to_owned())];
        let branches = timeline.branches_at(debuggee.cursor());
        threads.extend(branches.map(|branch| thread(branch, timeline.title(branch).to_string())));
        body(dapts::ThreadsResponse { threads })
    }

    pub(super) fn stack_trace(&mut self, arguments: dapts::StackTraceArguments) -> Result<Json, String> {
        let thread = thread_of(arguments.thread_id);
        let shared = std::sync::Arc::clone(&self.shared);
        let debuggee = shared.lock();
        let timeline = &debuggee.timeline;
        let is_branch =
            timeline.node(thread).is_some_and(|node| matches!(node.kind, NodeKind::Branch { .. }));
        if thread != RUN && !is_branch {
            return Err(format!("the run has no branch {}", arguments.thread_id));
        }
        let all = frames(&debuggee, thread);
        let total = all.len();
        let start = arguments.start_frame.unwrap_or_default() as usize;
        let levels =
            arguments.levels.filter(|levels| *levels > 0).map_or(usize::MAX, |levels| levels as usize);
        let error = error_at(&debuggee);
        let mut shown = Vec::new();
        for (nth, frame) in all.into_iter().enumerate().skip(start).take(levels) {
            let Some(node) = timeline.node(frame.node) else { continue };
            let site = timeline.node(frame.statement).and_then(|statement| statement.site);
            let failed = error.as_ref().filter(|error| nth == 0 && site.is_none() && error.line > 0);
            let line = failed.map(|error| error.line).or(site.map(|site| site.line));
            let program = site.map_or(node.program, |site| site.program);
            let from = timeline.program(program).map(|program| program.from.clone()).unwrap_or_default();
            let place = line.and_then(|line| self.place(&from, line));
            let (source, line) = place.map_or((None, 0), |(source, line)| (Some(source), line));
            shown.push(dapts::StackFrame {
                id: self.handles.frame(frame),
                name: timeline.title(frame.node).to_string(),
                source,
                line,
                column: self.lines_start,
                can_restart: Some(frame.node != RUN),
                end_line: None,
                end_column: None,
                instruction_pointer_reference: None,
                module_id: None,
                presentation_hint: None,
            });
        }
        body(dapts::StackTraceResponse { stack_frames: shown, total_frames: Some(total as u64) })
    }

    pub(super) fn scopes(&mut self, arguments: dapts::ScopesArguments) -> Result<Json, String> {
        let frame = self.handles.find_frame(arguments.frame_id)?;
        let shared = std::sync::Arc::clone(&self.shared);
        let debuggee = shared.lock();
        let (timeline, cursor) = (&debuggee.timeline, debuggee.cursor());
        let mut scopes = Vec::new();
        let mut add = |name: &str, handle: Handle, count: usize, expensive: bool| {
            scopes.push(dapts::Scope {
                name: name.to_owned(),
                variables_reference: self.handles.value(handle) as u32,
                named_variables: Some(count as u32),
                expensive,
                indexed_variables: None,
                line: None,
                column: None,
                end_line: None,
                end_column: None,
                source: None,
                presentation_hint: None,
            });
        };
        let variables = timeline.variables(frame.part, cursor);
        let inputs = variables.iter().filter(|variable| variable.kind == BindingKind::Input).count();
        if timeline.session_at(frame.part, cursor).is_some() {
            add("Session", Handle::Session(frame), session_rows(&debuggee, frame).len(), false);
        }
        add("Locals", Handle::Locals(frame), variables.len() - inputs, false);
        if inputs > 0 {
            add("Inputs", Handle::Inputs(frame), inputs, false);
        }
        let outer = outer_variables(timeline, frame, cursor).len();
        if outer > 0 {
            add("Program", Handle::Program(frame), outer, false);
        }
        add("Run", Handle::Run, run_rows(&debuggee).len(), false);
        body(dapts::ScopesResponse { scopes })
    }

    pub(super) fn variables(&mut self, arguments: dapts::VariablesArguments) -> Result<Json, String> {
        let handle = self.handles.find(u64::from(arguments.variables_reference))?;
        let start = arguments.start.unwrap_or_default() as usize;
        let count = arguments.count.filter(|count| *count > 0).map_or(usize::MAX, |count| count as usize);
        let rows = {
            let debuggee = self.debuggee();
            match &handle {
                Handle::Value(value) => values::rows(value, start, count),
                handle => rows_of(&debuggee, handle).into_iter().skip(start).take(count).collect(),
            }
        };
        let is_scope = !matches!(handle, Handle::Value(_));
        let rows = rows.into_iter().map(|row| self.variable(row, is_scope)).collect();
        body(dapts::VariablesResponse { variables: rows })
    }

    /// A row for the client, with a number if there is something in it.
    fn variable(&mut self, row: Row, is_variable: bool) -> dapts::Variable {
        let (named, indexed) = values::counts(&row.value);
        dapts::Variable {
            value: values::shown(&row.value),
            ty: Some(row.value.kind().to_owned()),
            variables_reference: self.reference(&row.value) as u32,
            named_variables: Some(named as u32).filter(|_| named > 0),
            indexed_variables: Some(indexed as u32).filter(|_| indexed > 0),
            evaluate_name: is_variable.then(|| row.name.clone()),
            name: row.name,
            declaration_location_reference: None,
            value_location_reference: None,
            memory_reference: None,
            presentation_hint: None,
        }
    }

    /// The number by which the client unfolds a value; 0 if nothing is in it.
    pub(super) fn reference(&mut self, value: &Value) -> u64 {
        match values::counts(value) {
            (0, 0) => 0,
            _ => self.handles.value(Handle::Value(value.clone())),
        }
    }

    pub(super) fn source(&self, arguments: dapts::SourceArguments) -> Result<Json, String> {
        let reference = arguments.source.and_then(|source| source.source_reference);
        let reference = reference.unwrap_or(arguments.source_reference) as usize;
        let source = self.sources.get(reference).ok_or("the run has no such program")?;
        let content = source.text.as_ref().ok_or("the text of the program is not known")?.to_string();
        body(dapts::SourceResponse { content, ..Default::default() })
    }

    pub(super) fn loaded_sources(&self) -> Result<Json, String> {
        let sources = self.sources.all().map(|(number, source)| client_source(number, source)).collect();
        body(dapts::LoadedSourcesResponse { sources })
    }

    pub(super) fn exception_info(&self) -> Result<Json, String> {
        let exception = self.exception().ok_or("the debugger does not stand at a failure")?;
        body(dapts::ExceptionInfoResponse {
            exception_id: exception.id,
            description: Some(exception.description),
            break_mode: dapts::ExceptionBreakMode::Always,
            details: None,
        })
    }
}

/// A program of the run for the client: its file, or its text where the file is another one now.
fn client_source(number: usize, source: &crate::sources::Source) -> dapts::Source {
    let file = source.path.as_ref().filter(|_| !source.is_changed);
    let name = match file.and_then(|path| path.file_name()) {
        Some(name) => name.to_string_lossy().into_owned(),
        None => source.name.to_string(),
    };
    dapts::Source {
        name: Some(name),
        path: file.map(|path| path.to_string_lossy().into_owned()),
        source_reference: (file.is_none() && source.text.is_some()).then_some(number as u32),
        origin: source.is_changed.then(|| "as the run executes it".to_owned()),
        ..Default::default()
    }
}

/// The variables of the program around a call.
fn outer_variables(timeline: &Timeline, frame: Frame, cursor: usize) -> Vec<Variable> {
    let root = timeline.root_of(frame.part);
    let mut at = frame.part;
    // Only a call hides them among those of its own.
    while at != root {
        let Some(node) = timeline.node(at) else { return Vec::new() };
        if matches!(node.kind, NodeKind::Call { .. }) {
            return timeline.variables(root, cursor);
        }
        at = node.parent;
    }
    Vec::new()
}

/// The rows of a scope.
fn rows_of(debuggee: &Debuggee, handle: &Handle) -> Vec<Row> {
    let (timeline, cursor) = (&debuggee.timeline, debuggee.cursor());
    let row = |variable: Variable| Row { name: variable.name.to_string(), value: variable.value };
    let kept = |frame: &Frame, inputs: bool| {
        let variables = timeline.variables(frame.part, cursor).into_iter();
        variables.filter(move |variable| (variable.kind == BindingKind::Input) == inputs).map(row).collect()
    };
    match handle {
        Handle::Locals(frame) => kept(frame, false),
        Handle::Inputs(frame) => kept(frame, true),
        Handle::Program(frame) => outer_variables(timeline, *frame, cursor).into_iter().map(row).collect(),
        Handle::Session(frame) => session_rows(debuggee, *frame),
        Handle::Run => run_rows(debuggee),
        Handle::Value(value) => values::rows(value, 0, usize::MAX),
    }
}

/// The session of a frame: what it asks, and what came of it.
fn session_rows(debuggee: &Debuggee, frame: Frame) -> Vec<Row> {
    let (timeline, cursor) = (&debuggee.timeline, debuggee.cursor());
    let Some(session) = timeline.session_at(frame.part, cursor).and_then(|id| timeline.node(id)) else {
        return Vec::new();
    };
    let Some(EventKind::SessionStarted { request, task }) =
        timeline.event(session.start).map(|event| &event.kind)
    else {
        return Vec::new();
    };
    let mut rows = task_rows(task);
    let mut add = |name: &str, value: Value| rows.push(Row { name: name.to_owned(), value });
    let outcome = timeline.outcome_of(*request, session.start, cursor);
    match outcome.map(|event| &event.kind) {
        Some(EventKind::Effect { outcome, work, .. }) => {
            match outcome {
                Outcome::Reply(reply) => add("reply", Value::Text(reply.text.clone())),
                Outcome::Failed(failure) => add("failure", Value::from(failure.message.as_str())),
                _ => {}
            }
            if let Some(by) = &work.given_by {
                add("given", Value::from(by.to_string().as_str()));
            }
            if let Some(usage) = work.usage {
                add("usage", Value::from(prose_view::usage_text(usage).as_str()));
            }
        }
        // At its start, the debugger holds it back.
        _ if session.start > cursor || session.start == cursor && debuggee.holds_next() => {
            add("status", Value::from("not asked yet"));
        }
        _ => add("status", Value::from("at work")),
    }
    rows
}

fn task_rows(task: &SessionTask) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |name: &str, value: Value| rows.push(Row { name: name.to_owned(), value });
    if let Some(agent) = &task.agent {
        add("agent", Value::from(agent.as_str()));
    }
    if let Some(model) = &task.model {
        add("model", Value::from(model.as_str()));
    }
    add("prompt", Value::Text(task.prompt.clone()));
    if let Some(system) = task.system_part() {
        add("system", Value::from(system.as_ref()));
    }
    if !task.context.is_empty() {
        let items = task.context.iter().map(|item| {
            let value = match (&item.text, &item.path) {
                (Some(text), _) => Value::Text(text.clone()),
                (None, Some(path)) => Value::File(path.clone()),
                (None, None) => Value::Null,
            };
            (item.name.clone(), value)
        });
        add("context", Value::object(items));
    }
    if !task.skills.is_empty() {
        add("skills", Value::array(task.skills.iter().map(|skill| Value::from(skill.as_str()))));
    }
    if task.attempt > 0 {
        add("attempt", Value::Number((task.attempt + 1).into()));
    }
    rows
}

/// The run up to the event at which the debugger stands.
fn run_rows(debuggee: &Debuggee) -> Vec<Row> {
    let (timeline, cursor) = (&debuggee.timeline, debuggee.cursor());
    let mut rows = Vec::new();
    let mut add = |name: &str, value: Value| rows.push(Row { name: name.to_owned(), value });
    if let Some(head) = timeline.head() {
        add("run", Value::from(head.run.as_str()));
        add("harness", Value::from(head.harness.as_str()));
    }
    let seq = timeline.event(cursor).map_or(0, |event| event.seq);
    let last = timeline.events().last().map_or(0, |event| event.seq);
    add("event", Value::from(format!("{seq} of {last}").as_str()));
    add("sessions", Value::Number(timeline.sessions_ended(cursor) as f64));
    let used = timeline.used(cursor);
    add("tokens", Value::Number((used.input_tokens + used.output_tokens) as f64));
    if let Some(cost) = used.cost {
        add("cost", Value::Number(cost));
    }
    rows
}

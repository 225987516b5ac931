//! Plays the part of the machine: emits the events of programs in the order in which they happen, and keeps the requests and what came of them.

pub(crate) mod more;
pub(crate) mod programs;

use std::collections::HashMap;
use std::sync::Arc;

use prose_narration::{Markers, Narrator};
use prose_vm::effect::*;
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::*;
use prose_vm::place::{Place, Site};
use prose_vm::store::{PendingRequests, Recording};
use prose_vm::value::Value;

/// What a run asked and was told, in the order of both.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Asked(Request),
    /// With the number of the event that a narration tells it with.
    Answered(RequestId, Outcome, u64),
    /// Since others had decided.
    Dropped(RequestId),
}

/// Where the play is.
#[derive(Debug, Default, Clone)]
pub(crate) struct Cursor {
    place: Place,
    pub(crate) nesting: u32,
    pub(crate) frame: u32,
}

/// A branch that has started, with its session.
pub(crate) struct Running {
    pub(crate) cursor: Cursor,
    pub(crate) request: RequestId,
    index: u32,
    name: String,
}

#[derive(Default)]
pub(crate) struct Play {
    pub(crate) events: Vec<Event>,
    pub(crate) steps: Vec<Step>,
    pub(crate) here: Cursor,
    statements: HashMap<String, u32>,
    /// How many iterations loops have had, by their places.
    iterations: HashMap<String, u32>,
    bindings: HashMap<RequestId, Binding>,
    requests: u64,
    anonymous: u32,
    frames: u32,
}

pub(crate) fn reply(text: &str) -> Outcome {
    Outcome::Reply(Reply { text: text.into(), ..Reply::default() })
}

pub(crate) fn failure(message: &str) -> Outcome {
    Outcome::Failed(Failure::session(message))
}

pub(crate) fn verdict(met: bool, reason: &str) -> Outcome {
    Outcome::Verdict(Verdict { met, reason: reason.into(), no_progress: false })
}

pub(crate) fn question(text: &str, labels: &[&str]) -> Question {
    let labels = labels.iter().map(|label| (*label).into()).collect();
    Question { text: text.into(), labels, context: Vec::new(), of_loop: None }
}

impl Play {
    pub(crate) fn new(state: StateMode, inputs: &[(&str, Value)]) -> Self {
        let mut play = Self::default();
        let inputs: Vec<_> = inputs.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
        play.emit(EventKind::RunStarted(Box::new(RunHead {
            version: JOURNAL_VERSION,
            run: "20260115-143052-a7b3c9".into(),
            program: "main.prose".into(),
            from: "main.prose".into(),
            sha256: "5e1f".into(),
            state,
            harness: "offline".into(),
            max_iterations: 1000,
            backoff_ms: 1000,
            backoff_cap_ms: 60_000,
            inputs,
            ..RunHead::default()
        })));
        play
    }

    pub(crate) fn define(&mut self, agents: &[(&str, &str)], blocks: &[(&str, &[&str])], statements: u32) {
        let agents = agents.iter().map(|(name, model)| DefinedAgent {
            name: (*name).into(),
            model: Some((*model).into()),
            memory: None,
        });
        let blocks = blocks.iter().map(|(name, params)| DefinedBlock {
            name: (*name).into(),
            params: params.iter().map(|param| (*param).into()).collect(),
        });
        self.emit(EventKind::Defined {
            program: 0,
            name: "main.prose".into(),
            agents: agents.collect(),
            blocks: blocks.collect(),
            statements,
        });
    }

    pub(crate) fn emit(&mut self, kind: EventKind) -> u64 {
        let seq = self.events.len() as u64 + 1;
        self.events.push(Event {
            seq,
            at: 0,
            paused: 0,
            place: self.here.place.clone(),
            site: None,
            frame: self.here.frame,
            nesting: self.here.nesting,
            kind,
        });
        seq
    }

    /// Does something one step further in, nested in what stands here.
    pub(crate) fn inside<T>(&mut self, step: &str, act: impl FnOnce(&mut Self) -> T) -> T {
        let back = self.here.clone();
        if !step.is_empty() {
            self.here.place = self.here.place.step(step);
        }
        self.here.nesting += 1;
        let result = act(self);
        self.here = back;
        result
    }

    pub(crate) fn start(&mut self, source: &str, kind: StatementKind) {
        let count = self.statements.entry(self.here.place.to_string()).or_default();
        let index = *count;
        *count += 1;
        let around = self.here.place.as_str().rsplit('/').next();
        let is_program = around.is_some_and(|it| it.is_empty() || it.starts_with('m'));
        let number = is_program.then_some(index + 1);
        self.here.place = self.here.place.step(format!("s{index}"));
        self.emit(EventKind::StatementStarted { number, source: source.into(), kind });
    }

    /// Starts the statement of a branch, which has the place of the branch.
    fn start_of_branch(&mut self, source: &str, kind: StatementKind) {
        self.emit(EventKind::StatementStarted { number: None, source: source.into(), kind });
    }

    pub(crate) fn end(&mut self) {
        self.emit(EventKind::StatementEnded { status: Status::Complete, error: None });
    }

    pub(crate) fn statement<T>(
        &mut self,
        source: &str,
        kind: StatementKind,
        act: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let back = self.here.clone();
        self.start(source, kind);
        let result = act(self);
        self.end();
        self.here = back;
        result
    }

    pub(crate) fn ask(&mut self, effect: Effect) -> RequestId {
        self.requests += 1;
        let id = RequestId(self.requests);
        let site = Site { program: 0, start: 0, end: 0, line: 1, last_line: 1 };
        self.steps.push(Step::Asked(Request {
            id,
            place: self.here.place.clone(),
            site,
            program: None,
            effect,
        }));
        id
    }

    /// Asks a subagent for something; `source` is the statement, from which the name that is bound is taken.
    pub(crate) fn ask_session(
        &mut self,
        source: &str,
        agent: Option<&str>,
        task: &str,
        context: &[&str],
    ) -> RequestId {
        self.ask_attempt(source, agent, task, context, 0)
    }

    pub(crate) fn ask_attempt(
        &mut self,
        source: &str,
        agent: Option<&str>,
        task: &str,
        context: &[&str],
        attempt: u32,
    ) -> RequestId {
        let (kind, name) = bound_by(source);
        let name = name.unwrap_or_else(|| {
            self.anonymous += 1;
            format!("anon_{:03}", self.anonymous)
        });
        let binding = Binding {
            path: format!("bindings/{name}.md").into(),
            name: name.into(),
            kind,
            frame: self.here.frame,
            source: source.into(),
        };
        let task = Arc::new(SessionTask {
            agent: agent.map(Into::into),
            task: task.into(),
            prompt: task.into(),
            system: None,
            model: agent.map(|_| "sonnet".into()),
            skills: Vec::new(),
            permissions: Vec::new(),
            timeout: None,
            attempt,
            retries: 0,
            context: context
                .iter()
                .map(|name| ContextItem {
                    name: (*name).into(),
                    path: None,
                    text: Some("…".into()),
                    digest: None,
                })
                .collect(),
            binding: binding.clone(),
            memory: None,
            mark: None,
            writes_result: false,
            folder: None,
            stopped: None,
        });
        let request = self.ask(Effect::Session(task.clone()));
        self.bindings.insert(request, binding);
        self.emit(EventKind::SessionStarted { request, task });
        request
    }

    fn effect(&mut self, request: RequestId, kind: &str, outcome: &Outcome) {
        self.emit(EventKind::Effect {
            request,
            effect: kind.into(),
            fingerprint: "".into(),
            outcome: outcome.clone(),
            began: None,
            work: Box::default(),
        });
    }

    pub(crate) fn answered(
        &mut self,
        request: RequestId,
        kind: &str,
        outcome: Outcome,
        act: impl FnOnce(&mut Self) -> u64,
    ) {
        self.effect(request, kind, &outcome);
        let told = act(self);
        self.steps.push(Step::Answered(request, outcome, told));
    }

    pub(crate) fn end_session(&mut self, request: RequestId, outcome: Outcome) {
        let error = match &outcome {
            Outcome::Failed(failure) => {
                Some(Arc::new(RuntimeError::new(failure.kind, failure.message.clone())))
            }
            _ => None,
        };
        let status = if error.is_some() { Status::Failed } else { Status::Complete };
        self.answered(request, "session", outcome, |play| {
            play.emit(EventKind::SessionEnded { request, status, error })
        });
    }

    /// Binds the name of a session's statement to its reply.
    pub(crate) fn bind_reply(&mut self, request: RequestId, text: &str) {
        let binding = self.bindings[&request].clone();
        self.emit(EventKind::Bound {
            mutable: binding.kind == BindingKind::Let,
            anonymous: binding.name.starts_with("anon_"),
            binding,
            value: Value::text(text),
            reply: Some(request),
            was: None,
        });
    }

    pub(crate) fn bind(&mut self, kind: BindingKind, name: &str, value: Value, was: Option<&str>) {
        self.emit(EventKind::Bound {
            binding: Binding {
                name: name.into(),
                kind,
                frame: self.here.frame,
                path: format!("bindings/{name}.md").into(),
                source: name.into(),
            },
            value,
            reply: None,
            was: was.map(Into::into),
            mutable: kind == BindingKind::Let,
            anonymous: false,
        });
    }

    /// A statement that is one session and ends well.
    pub(crate) fn session(
        &mut self,
        source: &str,
        agent: Option<&str>,
        task: &str,
        context: &[&str],
        text: &str,
    ) {
        self.statement(source, StatementKind::Session, |play| {
            let request = play.ask_session(source, agent, task, context);
            play.end_session(request, reply(text));
            play.bind_reply(request, text);
        });
    }

    pub(crate) fn failing_session(&mut self, source: &str, task: &str, message: &str) {
        let back = self.here.clone();
        self.start(source, StatementKind::Session);
        let request = self.ask_session(source, None, task, &[]);
        self.end_session(request, failure(message));
        let error = Arc::new(RuntimeError::new(ErrorKind::Session, message));
        self.emit(EventKind::StatementEnded { status: Status::Failed, error: Some(error) });
        self.here = back;
    }

    /// Starts a branch whose statement is a session.
    pub(crate) fn branch(
        &mut self,
        index: u32,
        name: &str,
        source: &str,
        task: &str,
        context: &[&str],
    ) -> Running {
        let back = self.here.clone();
        self.here.place = self.here.place.step(format!("b{index}"));
        self.here.nesting += 1;
        self.emit(EventKind::BranchStarted { index, name: name.into() });
        let kind = if source.contains(" = ") { StatementKind::Binding } else { StatementKind::Session };
        self.start_of_branch(source, kind);
        let request = self.ask_session(source, None, task, context);
        let cursor = std::mem::replace(&mut self.here, back);
        Running { cursor, request, index, name: name.into() }
    }

    /// Starts a branch of several statements; gives where they stand.
    pub(crate) fn open_branch(&mut self, index: u32, name: &str) -> Cursor {
        let back = self.here.clone();
        self.here.place = self.here.place.step(format!("b{index}"));
        self.here.nesting += 1;
        self.emit(EventKind::BranchStarted { index, name: name.into() });
        self.start_of_branch(&format!("{name} = do"), StatementKind::Do);
        self.here.nesting += 1;
        std::mem::replace(&mut self.here, back)
    }

    /// Starts an iteration of a `parallel for`; gives where its body stands.
    pub(crate) fn open_iteration(&mut self, index: u32) -> Cursor {
        let back = self.here.clone();
        self.here.place = self.here.place.step(format!("i{index}"));
        self.here.nesting += 1;
        self.emit(EventKind::BranchStarted { index, name: format!("iteration {}", index + 1).into() });
        self.here.nesting += 1;
        std::mem::replace(&mut self.here, back)
    }

    /// Starts a session as the next statement of a body.
    pub(crate) fn start_in(&mut self, body: &Cursor, source: &str) -> RequestId {
        let back = std::mem::replace(&mut self.here, body.clone());
        self.start(source, StatementKind::Session);
        let request = self.ask_session(source, None, "Look", &["item"]);
        self.here = back;
        request
    }

    /// Ends the session that a body has started last.
    pub(crate) fn end_in(&mut self, body: &Cursor, request: RequestId, text: &str) {
        let back = std::mem::replace(&mut self.here, body.clone());
        let last = self.statements[body.place.as_str()] - 1;
        self.here.place = self.here.place.step(format!("s{last}"));
        self.end_session(request, reply(text));
        self.end();
        self.here = back;
    }

    /// Tells of a retry, and waits before it.
    pub(crate) fn retry(&mut self, attempt: u32, retries: u32, message: &str) {
        let error = Arc::new(RuntimeError::new(ErrorKind::Session, message));
        let told = self.emit(EventKind::Retrying { attempt, retries, delay_ms: 1000, error });
        let pause = self.ask(Effect::Sleep(std::time::Duration::from_secs(1)));
        self.answered(pause, "sleep", Outcome::Slept, |_| told);
    }

    pub(crate) fn close_branch(&mut self, body: &Cursor, index: u32, name: &str) {
        let back = std::mem::replace(&mut self.here, body.clone());
        self.end();
        self.emit(EventKind::BranchEnded {
            index,
            name: name.into(),
            status: Status::Complete,
            value: Value::Null,
        });
        self.here = back;
    }

    pub(crate) fn end_branch(&mut self, running: Running, outcome: Outcome) {
        let back = std::mem::replace(&mut self.here, running.cursor);
        let text = match &outcome {
            Outcome::Reply(reply) => Some(reply.text.clone()),
            _ => None,
        };
        self.end_session(running.request, outcome);
        if let Some(text) = &text {
            self.bind_reply(running.request, text);
        }
        self.end();
        let status = if text.is_some() { Status::Complete } else { Status::Failed };
        self.emit(EventKind::BranchEnded {
            index: running.index,
            name: running.name.into(),
            status,
            value: text.map_or(Value::Null, Value::text),
        });
        self.here = back;
    }

    pub(crate) fn drop_branch(&mut self, running: Running) {
        let back = std::mem::replace(&mut self.here, running.cursor);
        self.steps.push(Step::Dropped(running.request));
        self.emit(EventKind::SessionEnded { request: running.request, status: Status::Skipped, error: None });
        self.emit(EventKind::StatementEnded { status: Status::Skipped, error: None });
        self.emit(EventKind::BranchEnded {
            index: running.index,
            name: running.name.into(),
            status: Status::Skipped,
            value: Value::Null,
        });
        self.here = back;
    }

    pub(crate) fn parallel(&mut self, names: &[&str], is_loop: bool) {
        self.emit(EventKind::ParallelStarted {
            branches: names.iter().map(|name| (*name).into()).collect(),
            strategy: "all".into(),
            policy: "fail-fast".into(),
            count: 1,
            is_loop,
        });
    }

    pub(crate) fn join(&mut self, bound: &[(&str, &str)]) {
        self.emit(EventKind::ParallelEnded {
            bound: bound.iter().map(|(name, text)| ((*name).into(), Value::text(*text))).collect(),
            failures: Vec::new(),
            status: Status::Complete,
        });
    }

    pub(crate) fn start_loop(&mut self, kind: LoopKind, header: &str, max: Option<u32>) {
        self.iterations.insert(self.here.place.to_string(), 0);
        self.emit(EventKind::LoopStarted { kind, header: header.into(), max });
    }

    /// Judges a condition. The first check of a loop is told by what follows on it.
    pub(crate) fn judge(&mut self, text: &str, of: ConditionOf, met: bool, reason: &str, is_silent: bool) {
        let step = match of {
            ConditionOf::Loop => format!("i{}", self.iterations[self.here.place.as_str()]),
            _ => "if0".to_owned(),
        };
        let back = self.here.clone();
        self.here.place = self.here.place.step(step).step("c5");
        let request = self.ask(Effect::Judge(Arc::new(question(text, &[]))));
        self.emit(EventKind::ConditionAsked { request: Some(request), text: text.into(), of });
        self.answered(request, "judge", verdict(met, reason), |play| {
            play.emit(EventKind::ConditionJudged { met, reason: reason.into(), of }) + u64::from(is_silent)
        });
        self.here = back;
    }

    pub(crate) fn choose(&mut self, criterion: &str, labels: &[&str], index: usize, reason: &str) {
        let question = question(criterion, labels);
        let request = self.ask(Effect::Choose(Arc::new(question)));
        let choice = Outcome::Choice(Choice { index, reason: reason.into() });
        self.answered(request, "choose", choice, |play| {
            play.emit(EventKind::Chosen {
                criterion: criterion.into(),
                label: labels[index].into(),
                reason: reason.into(),
            })
        });
    }

    pub(crate) fn input(&mut self, name: &str, prompt: &str, value: Value) {
        let input = InputRequest {
            name: Some(name.into()),
            keys: Vec::new(),
            prompt: prompt.into(),
            may_rephrase: false,
            optional: false,
        };
        let request = self.ask(Effect::Input(Arc::new(input)));
        self.emit(EventKind::InputAsked { request, name: Some(name.into()), prompt: prompt.into() });
        self.answered(request, "input", Outcome::Value(value.clone()), |play| {
            play.emit(EventKind::InputGiven { name: Some(name.into()), value })
        });
    }

    pub(crate) fn iterate(&mut self, number: u32, max: Option<u32>, act: impl FnOnce(&mut Self)) {
        self.emit(EventKind::IterationStarted { number, max });
        self.iterations.insert(self.here.place.to_string(), number);
        self.inside(&format!("i{}", number - 1), act);
    }

    pub(crate) fn end_loop(&mut self, why: LoopEnd, iterations: u32) {
        self.emit(EventKind::LoopEnded { why, iterations });
    }

    pub(crate) fn call(
        &mut self,
        block: &str,
        arguments: &[(&str, &str)],
        depth: u32,
        act: impl FnOnce(&mut Self),
    ) {
        self.frames += 1;
        let id = self.frames;
        self.emit(EventKind::FrameEntered {
            id,
            block: block.into(),
            depth,
            parent: self.here.frame,
            arguments: arguments
                .iter()
                .map(|(name, source)| ((*name).into(), (*source).into(), Value::text(*source)))
                .collect(),
        });
        self.inside(&format!("f{id}"), |play| {
            play.here.frame = id;
            act(play);
        });
        self.emit(EventKind::FrameLeft { id, block: block.into(), status: Status::Complete });
    }

    pub(crate) fn raise(&mut self, kind: ErrorKind, message: &str) -> Arc<RuntimeError> {
        let error = Arc::new(RuntimeError::new(kind, message));
        self.emit(EventKind::Raised { error: error.clone() });
        error
    }

    pub(crate) fn finish(&mut self) {
        self.emit(EventKind::RunEnded(RunEnd { ..RunEnd::default() }));
    }

    /// The narration.
    pub(crate) fn narrate(&self, markers: Markers) -> String {
        let mut narrator = Narrator::new(markers);
        self.events.iter().flat_map(|event| narrator.narrate(event)).map(|line| line + "\n").collect()
    }
}

/// The kind and the name of what a statement binds.
fn bound_by(source: &str) -> (BindingKind, Option<String>) {
    let Some((left, _)) = source.split_once(" = ") else { return (BindingKind::Let, None) };
    match left.split_once(' ') {
        Some(("const", name)) => (BindingKind::Const, Some(name.into())),
        Some(("output", name)) => (BindingKind::Output, Some(name.into())),
        Some((_, name)) => (BindingKind::Let, Some(name.into())),
        None => (BindingKind::Let, Some(left.into())),
    }
}

/// A narration with, for each line, the number of the event that it belongs to.
pub(crate) fn lines_with_events(play: &Play, markers: Markers) -> Vec<(String, u64)> {
    let mut narrator = Narrator::new(markers);
    let lines = |event: &Event| -> Vec<(String, u64)> {
        narrator.narrate(event).into_iter().map(|line| (line, event.seq)).collect()
    };
    play.events.iter().flat_map(lines).collect()
}

/// Goes through the steps of a play and has a recall answer; gives what came of the requests that it answered, in order, and the
/// requests that it did not answer, which get the answer that the play has. A run that is executed again does the same.
pub(crate) fn replay(play: &Play, recall: &mut dyn Recording) -> (Vec<(RequestId, Outcome)>, Vec<RequestId>) {
    let mut waiting = PendingRequests::new();
    let mut recalled: HashMap<RequestId, Outcome> = HashMap::new();
    let mut order = Vec::new();
    let mut asked_anew = Vec::new();
    for step in &play.steps {
        match step {
            Step::Asked(request) => {
                waiting.insert(request.id, request.clone());
            }
            Step::Dropped(id) => {
                waiting.remove(id);
            }
            Step::Answered(id, _, _) => {
                while !recalled.contains_key(id) {
                    let mut open = waiting.clone();
                    open.retain(|id, _| !recalled.contains_key(id));
                    let Some((found, outcome)) = recall.recall(&open) else { break };
                    assert!(open.contains_key(&found), "answers what waits");
                    order.push((found, outcome.clone()));
                    recalled.insert(found, outcome);
                }
                if !recalled.contains_key(id) {
                    asked_anew.push(*id);
                }
                waiting.remove(id);
            }
        }
    }
    (order, asked_anew)
}

/// The outcomes that events up to a number tell. The reason of the first check of a loop is not stated (D1).
pub(crate) fn told(play: &Play, told_by: u64) -> Vec<(RequestId, Outcome)> {
    let answered = play.steps.iter().filter_map(|step| match step {
        Step::Answered(id, outcome, told) => Some((*id, outcome.clone(), *told)),
        Step::Asked(_) | Step::Dropped(_) => None,
    });
    answered
        .filter(|(_, _, told)| *told <= told_by)
        .map(|(id, outcome, told)| match outcome {
            Outcome::Verdict(mut verdict)
                if matches!(play.events[told as usize - 1].kind, EventKind::IterationStarted { .. }) =>
            {
                verdict.reason.clear();
                (id, Outcome::Verdict(verdict))
            }
            outcome => (id, outcome),
        })
        .collect()
}

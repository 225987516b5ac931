//! From events to lines (R107, R108).
//!
//! Lines depend on nothing but the events. A run whose state is in-context is narrated with every result whole; a run that keeps its state
//! in files is narrated with the beginnings of long values.
//!
//! The narrator is no display of a run and has no view (`prose-view`) of it: a narration is the state of a run in-context, from which the run is
//! resumed. Its lines are appended once and never change, and they need whole values, which views leave out. So it keeps nothing but the wording of what is
//! open: which names a join has listed, how far lines are indented, which result was written last.

mod bindings;
mod calls;
mod conditions;
mod errors;
mod loops;
mod parallel;
mod program;
mod sessions;
mod statements;

pub(crate) use statements::without_binding;

use std::sync::Arc;

use prose_vm::effect::{Outcome, RequestId};
use prose_vm::event::{Event, EventKind, StateMode};
use prose_vm::place::Place;
use prose_vm::program::ProgramSize;
use rustc_hash::FxHashMap;

use crate::markers::{Marker, Markers};
use crate::text::Length;

use loops::Loop;
use parallel::{Branch, Parallel};
use sessions::Session;
use statements::Statement;

/// Narrates a run.
#[derive(Debug, Default)]
pub struct Narrator {
    markers: Markers,
    size: Option<ProgramSize>,
    length: Length,
    /// How many top-level statements the program has.
    statements: u32,
    /// The number of the last one that started.
    position: u32,
    /// What has started at a place and not ended, the innermost last: a branch and its statement have the same place.
    constructs: FxHashMap<String, Vec<Construct>>,
    started: FxHashMap<String, Statement>,
    sessions: FxHashMap<RequestId, Session>,
    /// What came of requests, until the event that it is narrated with.
    outcomes: FxHashMap<RequestId, Outcome>,
    /// The conditions that are judged, by their places.
    judging: FxHashMap<String, RequestId>,
    /// Where a program was called that has just ended.
    gave: Option<Place>,
    /// What was narrated of an effect that failed last, which becomes the message of an error.
    failed: Option<String>,
    /// The result of the session that ended last.
    replied: Option<Arc<str>>,
    frames: Vec<calls::Frame>,
    /// The imported programs that are running.
    imports: usize,
    /// Where the event happened that is narrated.
    place: Place,
    /// The branches that the last line was about, from the outermost one; empty outside of branches that are narrated at length.
    speaking: Vec<String>,
    /// The tasks that one line will name together: where it stands, and what it says.
    tasks: Option<(usize, Vec<String>)>,
    lines: Vec<String>,
    /// Whether a blank line would be the second one, or the first line of all.
    is_apart: bool,
}

/// A statement that others are inside of, as far as it decides how they are narrated.
#[derive(Debug)]
enum Construct {
    Parallel(Parallel),
    Branch(Branch),
    /// A stage of a pipeline that works on all of its items at once.
    Stage,
    Loop(Loop),
    Try(errors::Try),
}

impl Construct {
    fn as_parallel(&self) -> Option<&Parallel> {
        if let Self::Parallel(parallel) = self { Some(parallel) } else { None }
    }

    fn as_branch(&self) -> Option<&Branch> {
        if let Self::Branch(branch) = self { Some(branch) } else { None }
    }
}

impl Narrator {
    /// A narrator that has narrated nothing yet.
    pub fn new(markers: Markers) -> Self {
        Self { markers, is_apart: true, ..Self::default() }
    }

    /// Says how big the program is, so that one that is too big for a context is warned about (R106).
    pub fn with_size(mut self, size: ProgramSize) -> Self {
        self.size = Some(size);
        self
    }

    /// The lines for an event; often none.
    pub fn narrate(&mut self, event: &Event) -> Vec<String> {
        self.place = event.place.clone();
        if is_long(&event.kind) {
            self.narrate_at_length(&event.place);
        }
        self.take(event);
        std::mem::take(&mut self.lines)
    }

    /// The line that was held back because more could have been added to it. To be called when the program waits.
    pub fn flush(&mut self) -> Vec<String> {
        self.narrate_tasks();
        std::mem::take(&mut self.lines)
    }

    fn take(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted(head) => {
                self.length = match head.state {
                    StateMode::InContext => Length::Whole,
                    StateMode::Filesystem | StateMode::Sqlite | StateMode::Postgres => Length::Shortened,
                };
                self.run_started(head);
            }
            EventKind::Defined { program, agents, blocks, statements, .. } => {
                self.defined(event, *program, agents, blocks, *statements);
            }
            EventKind::Imported { path, from, inputs, outputs, alias } => {
                self.imported(event, path, from, inputs, outputs, alias);
            }
            EventKind::InputsReceived { inputs } => self.inputs_received(inputs),
            EventKind::InputAsked { name, prompt, .. } => self.input_asked(event, name.as_deref(), prompt),
            EventKind::InputGiven { name, value } => self.input_given(event, name.as_deref(), value),

            EventKind::StatementStarted { number, source, kind } => {
                self.statement_started(event, *number, source, *kind);
            }
            EventKind::StatementEnded { .. } => self.statement_ended(event),
            EventKind::SessionStarted { request, task } => self.session_started(event, *request, task),
            EventKind::SessionEnded { request, error, .. } => {
                self.session_ended(event, *request, error.as_deref());
            }
            EventKind::Retrying { attempt, retries, error, .. } => {
                self.retrying(event, *attempt, *retries, error);
            }

            EventKind::Bound { binding, value, reply, was, mutable, anonymous } => {
                let bound = bindings::Bound {
                    value,
                    is_reply: reply.is_some(),
                    was: was.as_deref(),
                    is_mutable: *mutable,
                    is_anonymous: *anonymous,
                };
                self.bound(event, binding, &bound);
            }
            EventKind::Resolved { name, frame } => self.resolved(event, name, *frame),
            EventKind::OutputGiven { name, value } => self.output_given(event, name.as_deref(), value),

            EventKind::ParallelStarted { branches, strategy, policy, count, is_loop } => {
                let strategy = parallel::strategy_words(strategy, policy, *count);
                self.parallel_started(event, branches, &strategy, *is_loop);
            }
            EventKind::BranchStarted { index, name } => self.branch_started(event, *index, name),
            EventKind::BranchEnded { status, .. } => self.branch_ended(event, *status),
            // Failures are narrated with the branches, and by a warning where nothing is thrown (R53).
            EventKind::ParallelEnded { bound, status, .. } => self.parallel_ended(event, bound, *status),

            EventKind::LoopStarted { kind, header, max } => self.loop_started(event, *kind, header, *max),
            EventKind::IterationStarted { number, max } => self.iteration_started(event, *number, *max),
            EventKind::ConditionAsked { request, text, of } => {
                self.condition_asked(event, *request, text, *of);
            }
            EventKind::ConditionJudged { met, reason, of } => self.condition_judged(event, *met, reason, *of),
            EventKind::LoopEnded { why, iterations } => self.loop_ended(event, *why, *iterations),

            EventKind::TryStarted => self.try_started(event),
            EventKind::Raised { error } => self.raised(event, error),
            EventKind::Caught { name, error } => self.caught(event, name.as_deref(), error),
            EventKind::FinallyStarted => self.finally_started(event),
            // Its parts are narrated when they start, and its end is that of its statement.
            EventKind::TryEnded { .. } => {}

            EventKind::Chosen { criterion, label, reason } => self.chosen(event, criterion, label, reason),

            EventKind::FrameEntered { id, block, depth, parent, arguments } => {
                self.frame_entered(event, (*id, block, *depth, *parent), arguments);
            }
            EventKind::FrameLeft { id, block, .. } => self.frame_left(*id, block),
            EventKind::ImportCalled { alias, inputs, .. } => self.import_called(event, alias, inputs),
            EventKind::ImportEnded { alias, outputs, error, .. } => {
                self.import_ended(event, alias, outputs, error.as_deref());
            }

            EventKind::PipelineStarted { stages, items } => self.pipeline_started(event, stages, *items),
            EventKind::StageStarted { operator, items } => self.stage_started(event, operator, *items),
            EventKind::StageEnded { operator, items } => self.stage_ended(event, operator, *items),

            EventKind::MemoryWritten { place, memory, segment, .. } => {
                self.memory_written(event, place, memory, *segment);
            }
            EventKind::Effect { request, effect, outcome, .. } => {
                self.effect(event, *request, effect, outcome);
            }
            EventKind::Warning { message } => self.warned(event, message),
            EventKind::VariableSet { name, by, .. } => self.warned(event, &by.variable_warning(name)),
            EventKind::Expense(_)
            | EventKind::Commanded { .. }
            | EventKind::QuestionsOpen { .. }
            | EventKind::Answered(_)
            | EventKind::Queued { .. }
            | EventKind::Begun { .. }
            | EventKind::Activity { .. }
            | EventKind::MemoryAwaited { .. }
            | EventKind::MemoryAcquired { .. } => {}
            EventKind::Resumed { .. } => self.resumed(),
            EventKind::RunEnded(end) => self.run_ended(end),
        }
    }

    /// Adds a line with a marker.
    fn put(&mut self, indent: usize, marker: Marker, text: impl AsRef<str>) {
        let marker = self.markers.write(marker);
        self.detail(indent, format!("{marker} {}", text.as_ref()));
    }

    /// Adds a line with a marker to those of the statement that an event belongs to.
    fn say(&mut self, event: &Event, marker: Marker, text: impl AsRef<str>) {
        self.put(self.indent_of_statement(event), marker, text);
    }

    /// Adds lines without markers.
    fn details(&mut self, indent: usize, lines: impl IntoIterator<Item = impl AsRef<str>>) {
        for line in lines {
            self.detail(indent, line);
        }
    }

    /// Adds a line without a marker, below one that has one.
    fn detail(&mut self, indent: usize, text: impl AsRef<str>) {
        self.narrate_tasks();
        self.narrate_branch();
        self.push(indent, text.as_ref());
    }

    /// Adds a line. Nothing in a value makes two of it, so that no value looks like an event.
    fn push(&mut self, indent: usize, text: &str) {
        let text =
            if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text.to_owned() };
        self.lines.push(format!("{}{text}", "   ".repeat(indent)));
        self.is_apart = false;
    }

    /// Sets what follows apart from what stands before.
    fn blank(&mut self) {
        if !self.is_apart {
            self.lines.push(String::new());
            self.is_apart = true;
        }
    }

    /// How far the lines of an event are indented. The bodies of a `try` are not (R108), and those of a branch that is narrated at length stand
    /// below its name.
    fn indent(&self, event: &Event) -> usize {
        let around = parents(event.place.as_str()).skip(1);
        let tries = around.filter(|place| {
            self.constructs_at(place).any(|construct| matches!(construct, Construct::Try(_)))
        });
        (event.nesting as usize + self.indent_below_names(&event.place)).saturating_sub(tries.count())
    }

    /// How far the lines are indented that belong to the innermost statement that has started at a place or around it.
    fn indent_of_statement(&self, event: &Event) -> usize {
        self.statement(&event.place).map_or_else(|| self.indent(event), |statement| statement.indent)
    }

    fn start(&mut self, place: &Place, construct: Construct) {
        self.constructs.entry(place.as_str().to_owned()).or_default().push(construct);
    }

    /// What has started at a place, the innermost first.
    fn constructs_at(&self, place: &str) -> impl Iterator<Item = &Construct> {
        self.constructs.get(place).into_iter().flatten().rev()
    }

    /// What has started at a place or around it, from the innermost on.
    fn around(&self, place: &str) -> impl Iterator<Item = &Construct> {
        parents(place).flat_map(move |place| self.constructs_at(place))
    }

    /// The innermost construct at a place or around it that `pick` takes.
    fn find_mut<T>(
        &mut self,
        place: &Place,
        pick: impl Fn(&mut Construct) -> Option<&mut T>,
    ) -> Option<&mut T> {
        let is_there = |place: &&str| {
            self.constructs.get_mut(*place).is_some_and(|all| all.iter_mut().any(|it| pick(it).is_some()))
        };
        let place = parents(place.as_str()).find(is_there)?;
        self.constructs.get_mut(place)?.iter_mut().rev().find_map(pick)
    }

    /// Takes off what a place has that `is_over` is said of.
    fn forget(&mut self, place: &Place, is_over: impl Fn(&Construct) -> bool) {
        if let Some(all) = self.constructs.get_mut(place.as_str()) {
            all.retain(|construct| !is_over(construct));
            if all.is_empty() {
                self.constructs.remove(place.as_str());
            }
        }
    }
}

/// Whether something is more than a session, so that a branch with it is narrated at length.
fn is_long(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::ParallelStarted { .. }
            | EventKind::LoopStarted { .. }
            | EventKind::ConditionAsked { .. }
            | EventKind::TryStarted
            | EventKind::Chosen { .. }
            | EventKind::FrameEntered { .. }
            | EventKind::ImportCalled { .. }
            | EventKind::PipelineStarted { .. }
    )
}

/// A place and those around it, from the innermost one.
fn parents(place: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(place), |place| {
        (!place.is_empty()).then(|| place.rfind('/').map_or("", |end| &place[..end]))
    })
}

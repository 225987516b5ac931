//! A run that is debugged: its events, the event at which the debugger stands, and how it moves.
//!
//! The debugger stands at an event of the run. A program computes without asking anyone between two outcomes, so the run itself may be ahead of the debugger
//! by what it computed; but no request starts that was made after the event at which the debugger stands. Stepping back only moves the debugger.

use std::collections::BTreeSet;

use prose_vm::effect::{Request, RequestId};
use prose_vm::event::{Event, EventKind};
use prose_vm::place::Place;
use rustc_hash::FxHashMap;

use crate::breakpoints::{About, Breakpoint, Breakpoints};
use crate::timeline::{NodeId, NodeKind, RUN, Timeline};

/// Why the debugger has stopped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reason {
    Entry,
    Step,
    Pause,
    Goto,
    /// Breakpoints with these numbers.
    Breakpoint {
        ids: Vec<u64>,
        about: About,
    },
    /// The start of the run, going back.
    Start,
    /// The last event of a recorded run, or the end of a live one.
    End,
}

/// A stop of the debugger.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stop {
    pub(crate) reason: Reason,
    pub(crate) thread: NodeId,
}

/// How far the debugger moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the next breakpoint.
    Continue,
    /// To the next statement of the branch that is not in a call made from here.
    Over,
    /// To what happens next in the branch: a statement, a condition, a prompt or a reply.
    In,
    /// Out of the call, the loop or the branch.
    Out,
    /// To the next session.
    Session,
    /// To an event that another execution had as well, by the number of events that the program has emitted up to it.
    To(usize),
}

#[derive(Debug, Clone, Copy)]
struct Motion {
    step: Step,
    thread: NodeId,
    depth: u32,
    /// What [`Step::Out`] leaves.
    leaves: NodeId,
    /// Whether it leads to the first statement.
    is_entry: bool,
}

/// What happened to a branch of `parallel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BranchChange {
    Started(NodeId),
    Ended(NodeId),
    /// The run is executed from its start again.
    NoneLeft,
}

/// A run that is debugged.
#[derive(Debug, Default)]
pub(crate) struct Debuggee {
    pub(crate) timeline: Timeline,
    pub(crate) breakpoints: Breakpoints,
    /// The event at which the debugger stands.
    cursor: usize,
    /// The last event at which it has stood.
    front: usize,
    /// The movement that has not come to its end.
    motion: Option<Motion>,
    /// How many events there were when requests were made.
    requested: FxHashMap<RequestId, usize>,
    /// The branches that are held while others continue.
    held: BTreeSet<NodeId>,
    /// Up to which event the messages of log points have been written.
    logged: usize,
    messages: Vec<String>,
    /// The branches that have started or ended since the client was notified.
    changed_branches: Vec<BranchChange>,
    /// Whether the owner of the session was notified of them.
    has_announced_branches: bool,
    /// Whether no events follow.
    is_over: bool,
    /// Whether no request starts, whenever it was made.
    is_paused: bool,
    /// Whether the requests start without the debugger.
    is_detached: bool,
}

impl Debuggee {
    /// Takes up the next event of the run.
    pub(crate) fn push(&mut self, event: Event) {
        if matches!(event.kind, EventKind::RunStarted(_)) {
            (self.cursor, self.front, self.logged) = (0, 0, 0);
            self.requested.clear();
            self.held.clear();
            self.changed_branches.push(BranchChange::NoneLeft);
        }
        let is_start = matches!(event.kind, EventKind::BranchStarted { .. });
        let is_end = matches!(event.kind, EventKind::BranchEnded { .. });
        self.timeline.push(event);
        if is_start || is_end {
            let branch = self.timeline.node_at(self.timeline.events().len() - 1);
            let change = if is_start { BranchChange::Started } else { BranchChange::Ended };
            self.changed_branches.push(change(branch));
        }
    }

    /// Whether the owner of the session is to be notified of branches that have started or ended while the debugger moves with the run.
    pub(crate) fn announces_branches(&mut self) -> bool {
        let is_new = self.is_running() && !self.changed_branches.is_empty() && !self.has_announced_branches;
        self.has_announced_branches |= is_new;
        is_new
    }

    /// The branches that have started or ended since the last call.
    pub(crate) fn take_changed_branches(&mut self) -> Vec<BranchChange> {
        self.has_announced_branches = false;
        std::mem::take(&mut self.changed_branches)
    }

    /// A request was made after the events so far.
    pub(crate) fn requested(&mut self, request: RequestId) {
        self.requested.insert(request, self.timeline.events().len());
    }

    /// Whether a request may start.
    pub(crate) fn may_start(&self, request: &Request) -> bool {
        if self.is_detached {
            return true;
        }
        let made = self.requested.get(&request.id).copied().unwrap_or_default();
        // What is requested immediately after the event at which the debugger has stopped comes after it, too.
        let until = self.cursor + usize::from(self.is_running());
        !self.is_paused && made <= until && !self.is_held(&request.place)
    }

    /// Whether what is requested immediately after the event at which the debugger stands has not started: the debugger holds it, or shows the past.
    pub(crate) fn holds_next(&self) -> bool {
        !self.is_running() && (self.is_over || !self.requested.is_empty())
    }

    /// No events follow.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    /// Whether no events follow.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// From now on, nothing is held.
    pub(crate) fn detach(&mut self) {
        self.is_detached = true;
        self.motion = None;
    }

    /// Whether the debugger moves with the run.
    pub(crate) fn is_running(&self) -> bool {
        self.motion.is_some()
    }

    /// The event at which the debugger stands.
    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// The branch of the event at which the debugger stands.
    pub(crate) fn thread(&self) -> NodeId {
        self.timeline.thread_at(self.cursor)
    }

    /// The messages of log points since the last call.
    pub(crate) fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// Replaces the breakpoints.
    pub(crate) fn set_breakpoints(&mut self, list: Vec<Breakpoint>) {
        self.breakpoints.set(list);
    }

    /// Stands at the first statement, as soon as there is one.
    pub(crate) fn start(&mut self, stops: bool) -> Option<Stop> {
        let step = if stops { Step::Over } else { Step::Continue };
        self.motion = Some(Motion { step, thread: RUN, depth: 0, leaves: RUN, is_entry: stops });
        self.advance()
    }

    /// Stands at an event of an execution that is repeated, as soon as that has come to it.
    pub(crate) fn start_at(&mut self, count: usize) {
        self.motion =
            Some(Motion { step: Step::To(count), thread: RUN, depth: 0, leaves: RUN, is_entry: false });
    }

    /// Whether the debugger stands before an event at which it has stood, so that what comes after it is the past.
    pub(crate) fn has_stepped_back(&self) -> bool {
        self.cursor < self.front
    }

    /// Moves on from where the debugger stands, in a branch.
    pub(crate) fn step(&mut self, step: Step, thread: NodeId) -> Option<Stop> {
        let depth = self.timeline.node(self.part_of(thread)).map_or(0, |part| part.depth);
        let leaves = self.frame_to_leave(thread);
        self.is_paused = false;
        self.motion = Some(Motion { step, thread, depth, leaves, is_entry: false });
        self.advance()
    }

    /// The construct that stepping out of leaves: the call, the whole loop around an iteration, or the branch.
    fn frame_to_leave(&self, thread: NodeId) -> NodeId {
        let mut node = self.part_of(thread);
        while let Some(here) = self.timeline.node(node) {
            match here.kind {
                NodeKind::Iteration { .. } => return here.parent,
                ref kind if kind.is_frame() => return node,
                _ => node = here.parent,
            }
        }
        RUN
    }

    /// The part of the run that a branch is at.
    pub(crate) fn part_of(&self, thread: NodeId) -> NodeId {
        if self.thread() == thread {
            self.timeline.node_at(self.cursor)
        } else {
            self.timeline.part_of_thread(thread, self.cursor)
        }
    }

    /// Continues the movement with the events that are there. Returns where it ends; nothing while it continues with the run.
    pub(crate) fn advance(&mut self) -> Option<Stop> {
        self.breakpoints.scan(&self.timeline);
        let count = self.timeline.events().len();
        while let Some(mut motion) = self.motion {
            if let Step::To(event) = motion.step
                && let Some(index) = self.timeline.at_count(event)
            {
                self.cursor = index;
                let stop = self.stop(Reason::Goto);
                self.logged = self.cursor + 1;
                return Some(stop);
            }
            let next = match motion.step {
                Step::To(_) => count,
                // Nothing but breakpoints can stop it.
                Step::Continue => self.breakpoints.next(self.cursor).unwrap_or(count),
                _ => self.cursor + 1,
            };
            if next >= count {
                self.cursor = count.saturating_sub(1);
                if !self.is_over {
                    return None;
                }
                return Some(self.stop(Reason::End));
            }
            self.cursor = next;
            let hits = self.breakpoints.at(next).cloned().unwrap_or_default();
            if next >= self.logged {
                self.logged = next + 1;
                self.messages.extend(hits.messages);
            }
            if !hits.stops.is_empty() {
                return Some(self.stop(Reason::Breakpoint { ids: hits.stops, about: hits.about }));
            }
            if motion.step != Step::Continue && self.is_reached(&mut motion, next) {
                return Some(self.stop(if motion.is_entry { Reason::Entry } else { Reason::Step }));
            }
            self.motion = Some(motion);
        }
        None
    }

    fn stop(&mut self, reason: Reason) -> Stop {
        self.motion = None;
        // What a person has set counts from the start of the statement on.
        self.cursor = self.timeline.after_changes(self.cursor);
        self.front = self.front.max(self.cursor);
        Stop { reason, thread: self.thread() }
    }

    /// Whether a movement ends at an event.
    fn is_reached(&self, motion: &mut Motion, index: usize) -> bool {
        let Some(event) = self.timeline.event(index) else { return false };
        let node = self.timeline.node_at(index);
        let is_statement = matches!(event.kind, EventKind::StatementStarted { .. });
        // A branch that has ended continues in the one around it.
        if matches!(event.kind, EventKind::BranchEnded { .. }) && node == motion.thread {
            motion.thread = self.timeline.thread_around(node);
        }
        let thread = self.timeline.thread_at(index);
        match motion.step {
            Step::Continue | Step::To(_) => false,
            Step::Session => matches!(event.kind, EventKind::SessionStarted { .. }),
            Step::Over => {
                is_statement && thread == motion.thread && self.timeline.depth_at(index) <= motion.depth
            }
            Step::In => is_notable(&event.kind) && self.timeline.is_within(thread, motion.thread),
            Step::Out => {
                is_statement && thread == motion.thread && !self.timeline.is_within(node, motion.leaves)
                    || motion.leaves == RUN && matches!(event.kind, EventKind::RunEnded(_))
            }
        }
    }

    /// Stands at the statement before, in a branch.
    pub(crate) fn step_back(&mut self, thread: NodeId) -> Stop {
        self.motion = None;
        let depth = self.timeline.node(self.part_of(thread)).map_or(0, |part| part.depth);
        let mut thread = thread;
        for index in (0..self.timeline.before_changes(self.cursor)).rev() {
            let Some(event) = self.timeline.event(index) else { continue };
            if matches!(event.kind, EventKind::BranchStarted { .. }) && self.timeline.node_at(index) == thread
            {
                thread = self.timeline.thread_around(thread);
            }
            let is_statement = matches!(event.kind, EventKind::StatementStarted { .. });
            if is_statement
                && self.timeline.thread_at(index) == thread
                && self.timeline.depth_at(index) <= depth
            {
                self.cursor = index;
                return self.stop(Reason::Step);
            }
        }
        self.rewind()
    }

    /// Stands at the breakpoint before, or at the start of the run.
    pub(crate) fn reverse(&mut self) -> Stop {
        self.breakpoints.scan(&self.timeline);
        match self.breakpoints.stop_before(self.timeline.before_changes(self.cursor)) {
            Some(index) => {
                self.cursor = index;
                let hits = self.breakpoints.at(index).cloned().unwrap_or_default();
                self.stop(Reason::Breakpoint { ids: hits.stops, about: hits.about })
            }
            None => self.rewind(),
        }
    }

    fn rewind(&mut self) -> Stop {
        let is_statement = |event: &Event| matches!(event.kind, EventKind::StatementStarted { .. });
        self.cursor = self.timeline.events().iter().position(is_statement).unwrap_or_default();
        self.stop(Reason::Start)
    }

    /// Stands at an event.
    pub(crate) fn go_to(&mut self, index: usize) -> Stop {
        self.cursor = index.min(self.timeline.events().len().saturating_sub(1));
        self.stop(Reason::Goto)
    }

    /// Stands where a recorded run failed, or at its end.
    pub(crate) fn go_to_failure(&mut self) -> Stop {
        let events = self.timeline.events();
        let error = events.last().and_then(|event| match &event.kind {
            EventKind::RunEnded(end) => end.error.as_ref(),
            _ => None,
        });
        let raised = |event: &Event| matches!(&event.kind, EventKind::Raised { error: raised } if Some(raised) == error);
        self.cursor = events.iter().rposition(raised).unwrap_or(events.len().saturating_sub(1));
        self.logged = self.cursor + 1;
        self.stop(Reason::Entry)
    }

    /// Stands at the first statement in a call, an iteration or a branch again.
    pub(crate) fn restart(&mut self, frame: NodeId) -> Option<Stop> {
        let start = self.timeline.node(frame)?.start;
        let mut events = self.timeline.events().iter().enumerate().skip(start);
        let first = events.find(|(index, event)| {
            matches!(event.kind, EventKind::StatementStarted { .. })
                && self.timeline.is_within(self.timeline.node_at(*index), frame)
        });
        let index = first.map(|(index, _)| index)?;
        Some(self.go_to(index))
    }

    /// Stops where the run is now.
    pub(crate) fn pause(&mut self) -> Stop {
        self.is_paused = true;
        // The command that pauses the run of another process belongs to no statement.
        self.cursor = self.timeline.last_of_program(self.cursor);
        self.stop(Reason::Pause)
    }

    /// Holds a branch while the others continue.
    pub(crate) fn hold(&mut self, thread: NodeId) {
        self.held.insert(thread);
    }

    /// Lets a branch continue, or all.
    pub(crate) fn release(&mut self, thread: Option<NodeId>) {
        match thread {
            Some(thread) => drop(self.held.remove(&thread)),
            None => self.held.clear(),
        }
    }

    /// Holds all branches except one, with those around and in it.
    pub(crate) fn hold_others(&mut self, thread: NodeId) {
        let timeline = &self.timeline;
        let is_other =
            |other: &NodeId| !timeline.is_within(*other, thread) && !timeline.is_within(thread, *other);
        self.held.extend(timeline.branches_at(self.cursor).filter(is_other));
    }

    /// Whether a branch is held while others continue.
    pub(crate) fn holds(&self, thread: NodeId) -> bool {
        self.held.iter().any(|held| self.timeline.is_within(thread, *held))
    }

    fn is_held(&self, place: &Place) -> bool {
        self.held.iter().filter(|held| self.timeline.is_open(**held, self.cursor)).any(|held| {
            let branch = self.timeline.node(*held).and_then(|node| self.timeline.event(node.start));
            branch.is_some_and(|branch| {
                let inside = place.as_str().strip_prefix(branch.place.as_str());
                inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        })
    }
}

/// Whether stepping in stops at an event.
fn is_notable(kind: &EventKind) -> bool {
    match kind {
        EventKind::StatementStarted { .. }
        | EventKind::SessionStarted { .. }
        | EventKind::SessionEnded { .. } => true,
        EventKind::ConditionAsked { request, .. } => request.is_some(),
        _ => false,
    }
}

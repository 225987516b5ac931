//! Breakpoints: which events of a run they match.
//!
//! What a breakpoint matches depends on the events alone and not on how one got there, so that hit counts are the same forwards and backwards.

use std::collections::BTreeMap;

use prose_vm::activity::Activity;
use prose_vm::effect::{Outcome, RequestId};
use prose_vm::error::ErrorKind;
use prose_vm::event::{ConditionOf, EventKind, RunStatus, Status};
use prose_vm::program::LocationKind;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::expression::{Expression, Template};
use crate::filters::Filter;
use crate::timeline::{NodeKind, Timeline};

/// What a breakpoint waits for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trigger {
    /// A place of a program.
    Line {
        /// What the program was read from, as the run has it.
        from: String,
        /// The first line of the place in the program.
        line: u32,
        kind: LocationKind,
    },
    /// A call of a block, or a session of an agent.
    Function(SmolStr),
    /// A variable gets a value.
    Variable(SmolStr),
    /// Any failure.
    Failure,
    /// A failure that nothing handles.
    Uncaught,
    /// A failed session is retried.
    Retry,
    /// An agent asks for permission, or is denied it.
    Permission,
    /// The run has used more than so many dollars.
    Cost(f64),
}

impl Trigger {
    /// What a stop is about, for display.
    fn about(&self) -> About {
        match self {
            Self::Line { .. } => About::Place,
            Self::Function(_) => About::Function,
            Self::Variable(_) => About::Variable,
            Self::Uncaught => About::Exception(Filter::Uncaught),
            Self::Failure => About::Exception(Filter::Failure),
            Self::Retry => About::Exception(Filter::Retry),
            Self::Permission => About::Exception(Filter::Permission),
            Self::Cost(_) => About::Exception(Filter::Cost),
        }
    }

    fn matches(&self, timeline: &Timeline, index: usize) -> bool {
        let Some(event) = timeline.event(index) else { return false };
        match self {
            Self::Line { from, line, kind } => {
                let is_here = |of: u32| {
                    event.site.is_some_and(|site| {
                        site.line == of && timeline.program(site.program).is_some_and(|at| at.from == *from)
                    })
                };
                match (&event.kind, kind) {
                    (EventKind::StatementStarted { .. }, LocationKind::Statement) => is_here(*line),
                    // A loop is at its line again whenever its condition is judged.
                    (EventKind::ConditionAsked { of: ConditionOf::Loop, .. }, LocationKind::Statement) => {
                        is_here(*line) && is_repeated(timeline, index)
                    }
                    (EventKind::SessionStarted { .. }, LocationKind::Session { of }) => is_here(*of),
                    (
                        EventKind::ConditionAsked { of: ConditionOf::If, .. },
                        LocationKind::Condition { of, nth },
                    ) => {
                        let step = format!("if{nth}");
                        is_here(*of) && event.place.as_str().split('/').rev().take(2).any(|part| part == step)
                    }
                    _ => false,
                }
            }
            Self::Function(name) => match &event.kind {
                EventKind::FrameEntered { block, .. } => block == name,
                EventKind::SessionStarted { task, .. } => task.agent.as_ref() == Some(name),
                EventKind::ImportCalled { alias, .. } => alias == name,
                _ => false,
            },
            Self::Variable(name) => {
                matches!(&event.kind, EventKind::Bound { binding, .. } if binding.name == *name)
            }
            Self::Failure => match &event.kind {
                // The error of a session that has just stopped is no other failure.
                EventKind::Raised { error } => {
                    let before = index.checked_sub(1).and_then(|before| timeline.event(before));
                    let ended = before.map(|before| &before.kind);
                    !matches!(ended, Some(EventKind::SessionEnded { error: Some(same), .. }) if same == error)
                }
                EventKind::SessionEnded { status, error, .. } => *status == Status::Failed && error.is_some(),
                _ => false,
            },
            Self::Uncaught => match &event.kind {
                EventKind::RunEnded(end) => end.status == RunStatus::Failed,
                _ => false,
            },
            Self::Retry => matches!(event.kind, EventKind::Retrying { .. }),
            Self::Permission => match &event.kind {
                EventKind::Activity { activity, .. } => {
                    matches!(activity, Activity::Asked(_) | Activity::Denied(_))
                }
                EventKind::Effect { request, outcome, work, .. } => {
                    let is_failure =
                        matches!(outcome, Outcome::Failed(failure) if failure.kind == ErrorKind::Permission);
                    let is_recorded = !work.denials.is_empty() || !work.questions.is_empty();
                    (is_failure || is_recorded) && !is_reported(timeline, index, *request)
                }
                _ => false,
            },
            Self::Cost(limit) => {
                let spent = |index| timeline.used(index).cost.unwrap_or_default();
                event.kind.usage().is_some()
                    && spent(index) > *limit
                    && index.checked_sub(1).is_none_or(|before| spent(before) <= *limit)
            }
        }
    }
}

/// Whether a request reported something before its outcome, which only a run that is executed has.
fn is_reported(timeline: &Timeline, index: usize, request: RequestId) -> bool {
    let before = timeline.events()[..index].iter().rev();
    let of_request = before.take_while(
        |event| !matches!(&event.kind, EventKind::SessionStarted { request: of, .. } if *of == request),
    );
    of_request
        .into_iter()
        .any(|event| matches!(&event.kind, EventKind::Activity { request: of, .. } if *of == request))
}

/// Whether the condition of a loop is judged again, after the first time.
fn is_repeated(timeline: &Timeline, index: usize) -> bool {
    let node = timeline.node(timeline.node_at(index));
    node.is_some_and(|node| {
        let is_iteration = |id: &u32| {
            timeline
                .node(*id)
                .is_some_and(|child| matches!(child.kind, NodeKind::Iteration { .. }) && child.start < index)
        };
        node.children.iter().any(is_iteration) || matches!(node.kind, NodeKind::Iteration { .. })
    })
}

/// How often a breakpoint has to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HitCondition {
    Equal(usize),
    Over(usize),
    AtLeast(usize),
    Under(usize),
    AtMost(usize),
    Every(usize),
}

impl HitCondition {
    /// Reads `3`, `> 3` or `% 2`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        type Make = fn(usize) -> HitCondition;
        const OPERATORS: [(&str, Make); 7] = [
            (">=", HitCondition::AtLeast),
            ("<=", HitCondition::AtMost),
            ("==", HitCondition::Equal),
            (">", HitCondition::Over),
            ("<", HitCondition::Under),
            ("=", HitCondition::Equal),
            ("%", HitCondition::Every),
        ];
        let text = text.trim();
        let operator = OPERATORS.iter().find_map(|(token, make)| Some((*make, text.strip_prefix(token)?)));
        let (make, number) = operator.unwrap_or((HitCondition::Equal, text));
        match number.trim().parse() {
            Ok(number) if number > 0 => Ok(make(number)),
            _ => Err(format!("`{text}` is not a hit count; write a number such as `3`, `> 3` or `% 2`")),
        }
    }

    fn holds(self, hits: usize) -> bool {
        match self {
            Self::Equal(count) => hits == count,
            Self::Over(count) => hits > count,
            Self::AtLeast(count) => hits >= count,
            Self::Under(count) => hits < count,
            Self::AtMost(count) => hits <= count,
            Self::Every(count) => hits.is_multiple_of(count),
        }
    }
}

/// A breakpoint.
#[derive(Debug, Clone)]
pub(crate) struct Breakpoint {
    /// The number by which the client knows it.
    pub(crate) id: u64,
    pub(crate) trigger: Trigger,
    pub(crate) condition: Option<Expression>,
    pub(crate) hit: Option<HitCondition>,
    /// The message that it writes instead of stopping.
    pub(crate) log: Option<Template>,
}

/// What a stop at breakpoints is about. Of several, the last one of these counts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    /// A place of a program.
    #[default]
    Place,
    /// A block or an agent.
    Function,
    /// A variable.
    Variable,
    /// What a filter is for.
    Exception(Filter),
}

/// What happens at an event.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Hits {
    /// The breakpoints that stop there.
    pub(crate) stops: Vec<u64>,
    /// What they are about.
    pub(crate) about: About,
    /// The messages that are written there.
    pub(crate) messages: Vec<String>,
}

/// The breakpoints of a session, with the events that they match.
#[derive(Debug, Default)]
pub(crate) struct Breakpoints {
    list: Vec<Breakpoint>,
    counts: Vec<usize>,
    /// How many events have been compared with them.
    scanned: usize,
    hits: BTreeMap<usize, Hits>,
}

impl Breakpoints {
    /// Replaces the breakpoints.
    pub(crate) fn set(&mut self, list: Vec<Breakpoint>) {
        *self = Self { counts: vec![0; list.len()], list, ..Self::default() };
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Compares the events that are new.
    pub(crate) fn scan(&mut self, timeline: &Timeline) {
        // A run that is repeated from its start has fewer events than before.
        if timeline.events().len() < self.scanned {
            let list = std::mem::take(&mut self.list);
            self.set(list);
        }
        if self.list.is_empty() {
            self.scanned = timeline.events().len();
            return;
        }
        for index in self.scanned..timeline.events().len() {
            for (nth, breakpoint) in self.list.iter().enumerate() {
                if !breakpoint.trigger.matches(timeline, index) {
                    continue;
                }
                let look_up = |name: &str| special(timeline, index, name);
                let holds = breakpoint.condition.as_ref().map_or(Ok(true), |asked| asked.holds(&look_up));
                if holds == Ok(false) {
                    continue;
                }
                self.counts[nth] += 1;
                if breakpoint.hit.is_some_and(|hit| !hit.holds(self.counts[nth])) {
                    continue;
                }
                let hits = self.hits.entry(index).or_default();
                match (&breakpoint.log, holds) {
                    (Some(message), _) => hits.messages.push(message.fill(&look_up)),
                    // A condition that cannot be worked out stops, rather than hide what the user looks for.
                    (None, Err(why)) => {
                        hits.stops.push(breakpoint.id);
                        hits.messages
                            .push(format!("the condition of the breakpoint cannot be evaluated: {why}"));
                    }
                    (None, Ok(_)) => hits.stops.push(breakpoint.id),
                }
                hits.about = hits.about.max(breakpoint.trigger.about());
            }
        }
        self.scanned = timeline.events().len();
    }

    /// What happens at an event.
    pub(crate) fn at(&self, index: usize) -> Option<&Hits> {
        self.hits.get(&index)
    }

    /// The next event after one at which something happens.
    pub(crate) fn next(&self, index: usize) -> Option<usize> {
        self.hits.range(index + 1..).next().map(|(index, _)| *index)
    }

    /// The last event before one at which a breakpoint stops.
    pub(crate) fn stop_before(&self, index: usize) -> Option<usize> {
        self.hits.range(..index).rev().find(|(_, hits)| !hits.stops.is_empty()).map(|(index, _)| *index)
    }
}

/// The value of a name at an event, as the part of the run sees it. `iteration`, `cost` and `sessions` are there unless the program has such names.
pub(crate) fn special(timeline: &Timeline, index: usize, name: &str) -> Option<Value> {
    let node = timeline.node_at(index);
    timeline.look_up(node, index, name).or_else(|| match name {
        "iteration" => {
            let mut at = node;
            loop {
                let here = timeline.node(at)?;
                match here.kind {
                    NodeKind::Iteration { number, .. } => return Some(Value::Number(number.into())),
                    NodeKind::Run => return None,
                    _ => at = here.parent,
                }
            }
        }
        "cost" => Some(Value::Number(timeline.used(index).cost.unwrap_or_default())),
        "sessions" => Some(Value::Number(timeline.sessions_ended(index) as f64)),
        _ => None,
    })
}

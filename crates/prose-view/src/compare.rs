//! Compares two runs: what each asked, aligned by place and by what was asked, and what came of it.
//!
//! A pure function of the events of both, for the command line and for editors.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use prose_vm::effect::{Outcome, RequestId, Usage};
use prose_vm::error::RuntimeError;
use prose_vm::event::{Event, EventKind, LoopEnd, RunEnd, RunStatus};
use prose_vm::place::{NamedLine, Place};
use serde::Serialize;
use smol_str::{SmolStr, format_smolstr};

use crate::view::View;

/// Something that a run did: a request with its outcome, or a decision of its program.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// What it is: a kind of effect such as `session`, or `loop`, `error` or `output`.
    pub kind: SmolStr,
    /// Its place.
    pub place: Place,
    /// Its line, from 1; 0 if unknown.
    pub line: u32,
    /// The name of the imported program that has the line; `None` for the program of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<SmolStr>,
    /// The number of its event.
    pub seq: u64,
    /// The agent of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<SmolStr>,
    /// What was asked: the task of a session with its context, a condition, a criterion, an input.
    pub asked: Arc<str>,
    /// A hash of everything that was asked; empty if it is no request.
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub fingerprint: SmolStr,
    /// What came of it: a reply, a verdict, the label of an option, the number of iterations, an error.
    pub result: Arc<str>,
    /// What it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How long it took, in milliseconds, on the clock of the view, if its start is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took: Option<u64>,
    /// Whether the outcome was taken from an earlier run or execution.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_reused: bool,
}

impl Step {
    /// The line, as messages name it; `None` if it is unknown.
    pub fn named_line(&self) -> Option<NamedLine> {
        NamedLine::new(self.program.clone(), self.line)
    }
}

/// A part of a step that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Difference {
    /// What was asked.
    Asked,
    /// What came of it.
    Result,
    /// The tokens or the cost.
    Usage,
    /// The place.
    Place,
}

/// A step of one run or of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The step of the first run; `None` if only the second one has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<Step>,
    /// The step of the second run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<Step>,
    /// What differs, if both have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<Difference>,
}

impl Pair {
    /// Whether what was asked or what came of it differs, or only one run has it.
    pub fn is_different(&self) -> bool {
        self.a.is_none()
            || self.b.is_none()
            || self.differs.iter().any(|part| matches!(part, Difference::Asked | Difference::Result))
    }
}

/// A run as a whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RunTotals {
    /// Its id.
    pub run: SmolStr,
    /// Its program.
    pub program: SmolStr,
    /// How it ended; `None` if it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<RunStatus>,
    /// The number of sessions, with failed attempts.
    pub sessions: u32,
    /// The number of conditions, choices, extractions and summaries.
    pub decisions: u32,
    /// What it used itself; what came from an earlier run is not in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How long it worked, in milliseconds: see [`Times::work`](crate::Times::work).
    pub took: u64,
}

/// Two runs next to each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The first run.
    pub a: RunTotals,
    /// The second run.
    pub b: RunTotals,
    /// The steps of both, in the order of the first run; those of the second alone stand where they happened.
    pub steps: Vec<Pair>,
}

impl Comparison {
    /// The steps that differ.
    pub fn differences(&self) -> impl Iterator<Item = &Pair> {
        self.steps.iter().filter(|pair| pair.is_different())
    }
}

/// Compares the events of two runs.
pub fn compare(a: impl IntoIterator<Item = Event>, b: impl IntoIterator<Item = Event>) -> Comparison {
    let (a, b) = (Steps::of(a), Steps::of(b));
    let partners = align(&a.steps, &b.steps);
    let mut taken = vec![false; b.steps.len()];
    partners.iter().flatten().for_each(|index| taken[*index] = true);
    let mut others: Vec<Option<Step>> = b.steps.into_iter().map(Some).collect();
    let mut pairs = Vec::new();
    // Steps of the second run alone come before the step of both that follows them.
    let mut next = 0;
    for (step, partner) in a.steps.into_iter().zip(partners) {
        let Some(index) = partner else {
            pairs.push(Pair { a: Some(step), b: None, differs: Vec::new() });
            continue;
        };
        while next < index {
            if !taken[next] {
                pairs.extend(others[next].take().map(only_second));
            }
            next += 1;
        }
        let other = others[index].take();
        let differs = other.as_ref().map_or_else(Vec::new, |other| differences(&step, other));
        pairs.push(Pair { a: Some(step), b: other, differs });
    }
    pairs.extend(others.into_iter().flatten().map(only_second));
    Comparison { a: a.totals, b: b.totals, steps: pairs }
}

fn only_second(step: Step) -> Pair {
    Pair { a: None, b: Some(step), differs: Vec::new() }
}

fn differences(a: &Step, b: &Step) -> Vec<Difference> {
    let is_asked_same = a.fingerprint == b.fingerprint && a.asked == b.asked;
    let found = [
        (!is_asked_same, Difference::Asked),
        (a.result != b.result, Difference::Result),
        (a.usage != b.usage, Difference::Usage),
        (a.place != b.place, Difference::Place),
    ];
    found.into_iter().filter(|(differs, _)| *differs).map(|(_, part)| part).collect()
}

/// For each step of the first run, the index of the one of the second: of the same kind at the same place if both asked the same there or neither occurs
/// elsewhere, else the next one that asked the same.
fn align(a: &[Step], b: &[Step]) -> Vec<Option<usize>> {
    let key = |step: &Step| format_smolstr!("{} {}", step.place, step.kind);
    let mut at_place: HashMap<SmolStr, usize> = HashMap::new();
    for (index, step) in b.iter().enumerate() {
        at_place.entry(key(step)).or_insert(index);
    }
    let mut partners: Vec<Option<usize>> = vec![None; a.len()];
    let mut taken = vec![false; b.len()];
    let same = |one: &Step, other: &Step| one.fingerprint == other.fingerprint && one.asked == other.asked;
    // The same question at the same place.
    for (index, step) in a.iter().enumerate() {
        if let Some(found) = at_place.get(&key(step))
            && same(step, &b[*found])
        {
            (partners[index], taken[*found]) = (Some(*found), true);
        }
    }
    // The same question elsewhere: lines were added or removed before it.
    let mut by_question: HashMap<Question<'_>, VecDeque<usize>> = HashMap::new();
    for (index, step) in b.iter().enumerate().filter(|(index, _)| !taken[*index]) {
        if let Some(question) = question(step) {
            by_question.entry(question).or_default().push_back(index);
        }
    }
    for (index, step) in a.iter().enumerate() {
        if partners[index].is_none()
            && let Some(question) = question(step)
            && let Some(found) = by_question.get_mut(&question).and_then(VecDeque::pop_front)
        {
            (partners[index], taken[found]) = (Some(found), true);
        }
    }
    // Another question at the same place.
    for (index, step) in a.iter().enumerate() {
        if partners[index].is_none()
            && let Some(found) = at_place.get(&key(step)).filter(|found| !taken[**found])
        {
            (partners[index], taken[*found]) = (Some(*found), true);
        }
    }
    partners
}

/// By what a step is found elsewhere: its kind, its fingerprint and what it asked, or its program and the name of its output.
type Question<'a> = (&'a SmolStr, &'a str, &'a str);

/// `None` for loops and errors, which ask nothing by which they could be told apart.
fn question(step: &Step) -> Option<Question<'_>> {
    match step.kind.as_str() {
        // Programs that import each other may have outputs of the same name.
        "output" => Some((&step.kind, step.program.as_deref().unwrap_or_default(), &step.asked)),
        _ if step.fingerprint.is_empty() => None,
        _ => Some((&step.kind, &step.fingerprint, &step.asked)),
    }
}

/// The steps of a run.
#[derive(Default)]
struct Steps {
    steps: Vec<Step>,
    totals: RunTotals,
    /// What is asked by pending requests, and since when.
    asked: BTreeMap<RequestId, (Arc<str>, Option<SmolStr>, u64)>,
    /// The error that was raised last, and where.
    raised: Option<(Arc<RuntimeError>, Place)>,
    /// The view of the run, which has the clock.
    view: View,
}

impl Steps {
    fn of(events: impl IntoIterator<Item = Event>) -> Self {
        let mut steps = Self::default();
        events.into_iter().for_each(|event| steps.add(event));
        steps
    }

    fn add(&mut self, event: Event) {
        // The node of a request is open until its outcome.
        let node = match &event.kind {
            EventKind::Effect { request, .. } => self.view.node_of(*request),
            _ => None,
        };
        self.view.apply(&event);
        let waited = node.and_then(|id| self.view.node(id)).map_or(0, |node| self.view.waited_by(node));
        let at = self.view.time(&event);
        let usage = event.kind.usage();
        let site = event.site;
        let program = site.and_then(|site| self.view.line(site)?.program);
        let step = |kind: &str, asked: Arc<str>, result: Arc<str>| Step {
            kind: kind.into(),
            place: event.place.clone(),
            line: site.map_or(0, |site| site.line),
            program: program.clone(),
            seq: event.seq,
            agent: None,
            asked,
            fingerprint: SmolStr::default(),
            result,
            usage: None,
            took: None,
            is_reused: false,
        };
        match event.kind.clone() {
            EventKind::RunStarted(head) => {
                (self.totals.run, self.totals.program) = (head.run.clone(), head.program.clone());
            }
            EventKind::SessionStarted { request, task } => {
                let mut asked = task.task.to_string();
                for item in &task.context {
                    let value = item.text.as_deref().or(item.digest.as_deref()).unwrap_or_default();
                    asked.push_str(&format!("\n[{}]\n{value}", item.name));
                }
                self.asked.insert(request, (asked.into(), task.agent.clone(), at));
            }
            EventKind::ConditionAsked { request: Some(request), text, .. } => {
                self.asked.insert(request, (text, None, at));
            }
            EventKind::InputAsked { request, prompt, .. } => {
                self.asked.insert(request, (prompt, None, at));
            }
            EventKind::Effect { request, effect, fingerprint, outcome, began, work } => {
                let (asked, agent, since) = self
                    .asked
                    .remove(&request)
                    .map_or_else(Default::default, |(asked, agent, at)| (asked, agent, Some(at)));
                let is_decision = matches!(effect.as_str(), "judge" | "choose" | "extract" | "summarise");
                self.totals.sessions += u32::from(effect == "session");
                self.totals.decisions += u32::from(is_decision);
                if !is_decision && !matches!(effect.as_str(), "session" | "input") {
                    return;
                }
                // The run may have waited after that.
                let idle = event.paused + self.view.waits.attended;
                let began = began.map(|at| at.saturating_sub(idle));
                let took = began.max(since).map(|since| at.saturating_sub(since).saturating_sub(waited));
                let result = result_of(&outcome);
                self.steps.push(Step {
                    agent,
                    fingerprint,
                    usage,
                    took,
                    is_reused: work.is_reused,
                    ..step(&effect, asked, result)
                });
            }
            EventKind::Chosen { criterion, label, .. } => {
                // The step of its request has the index of the option, and nothing of what was asked.
                let chosen = self.steps.iter_mut().rev().find(|step| {
                    step.kind == "choose" && is_below(step.place.as_str(), event.place.as_str())
                });
                if let Some(chosen) = chosen {
                    (chosen.asked, chosen.result) = (criterion, label.as_str().into());
                }
            }
            EventKind::LoopEnded { iterations, why } => {
                let why = reason(why);
                let result = match iterations {
                    1 => format!("1 iteration ({why})"),
                    _ => format!("{iterations} iterations ({why})"),
                };
                let place = loop_of(&event.place);
                self.steps.push(Step { place, ..step("loop", "".into(), result.into()) });
            }
            EventKind::Raised { error } => self.raised = Some((error, event.place.clone())),
            EventKind::Caught { error, .. } => {
                self.steps.push(step("error", "".into(), error.message.as_str().into()));
            }
            EventKind::OutputGiven { name, value } => {
                self.steps.push(step(
                    "output",
                    name.unwrap_or_default().as_str().into(),
                    value.to_string().into(),
                ));
            }
            EventKind::RunEnded(RunEnd { status, usage, error, .. }) => {
                self.totals.status = Some(status);
                self.totals.usage = usage;
                if let Some(error) = error {
                    // The end belongs to no statement, and the error to the one that raised it.
                    let raised = self.raised.take().filter(|(of, _)| *of == error);
                    let place = raised.map_or(Place::root(), |(_, place)| place);
                    let step = step("error", "".into(), error.message.as_str().into());
                    self.steps.push(Step { place, line: error.line, ..step });
                }
            }
            _ => {}
        }
        self.totals.took = self.view.times().work;
    }
}

/// The place of the loop that ended. A loop that failed ends inside of its last iteration.
fn loop_of(place: &Place) -> Place {
    let around = place.as_str().rsplit_once('/').filter(|(_, step)| {
        step.strip_prefix('i')
            .is_some_and(|nth| !nth.is_empty() && nth.bytes().all(|byte| byte.is_ascii_digit()))
    });
    around.map_or_else(|| place.clone(), |(around, _)| Place::root().step(around))
}

/// Why a loop ended, in a few words.
fn reason(why: LoopEnd) -> &'static str {
    match why {
        LoopEnd::Satisfied => "satisfied",
        LoopEnd::NoProgress => "no progress",
        LoopEnd::Max => "max",
        LoopEnd::Exhausted => "all done",
        LoopEnd::Left => "left",
        LoopEnd::Failed => "failed",
    }
}

fn is_below(place: &str, other: &str) -> bool {
    place.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What came of a request, as a text.
fn result_of(outcome: &Outcome) -> Arc<str> {
    match outcome {
        Outcome::Reply(reply) => Arc::clone(&reply.text),
        Outcome::Verdict(verdict) => {
            let met = if verdict.met { "yes" } else { "no" };
            match verdict.reason.is_empty() {
                true => met.into(),
                false => format!("{met}: {}", verdict.reason).into(),
            }
        }
        Outcome::Choice(choice) => format!("option {}", choice.index + 1).into(),
        Outcome::Value(value) => value.to_string().into(),
        Outcome::Failed(failure) => format!("failed: {}", failure.message).into(),
        Outcome::Memory(_) | Outcome::Tree(_) | Outcome::Slept => "".into(),
    }
}

//! What a desk holds.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use prose_syntax::text::one_line;
use prose_vm::activity::Approvals;
use prose_vm::choices;
use prose_vm::place::Place;
use prose_vm::questions::{
    AnswerSource, ApprovalAnswer, AskedInput, Attribution, OpenQuestion, QuestionId, QuestionKind,
    RecordedAnswer,
};
use prose_vm::runner::{self, Inputs};
use prose_vm::value::Value;
use smol_str::SmolStr;
use tokio::sync::{oneshot, watch};

use super::Questions;

/// A program that answers.
pub(super) type Program = (Arc<dyn Inputs>, Arc<dyn Approvals>);

pub(super) struct Shared {
    pub(super) state: std::sync::Mutex<State>,
    pub(super) changes: watch::Sender<u64>,
    pub(super) program: Option<Program>,
}

impl Shared {
    pub(super) fn new(state: State, program: Option<Program>) -> Self {
        Self { state: Mutex::new(state), changes: watch::Sender::new(0), program }
    }
}

/// The agents and rules that an answer covers.
pub(super) type Scope = (Option<SmolStr>, String);

/// What an answer for the whole run covers; `None` for an input.
pub(super) fn scope(kind: &QuestionKind) -> Option<Scope> {
    match kind {
        QuestionKind::Input { .. } => None,
        QuestionKind::Approval { agent, rule, .. } => Some((agent.clone(), rule.clone())),
        QuestionKind::Limit { rule } => Some((None, rule.clone())),
    }
}

pub(super) struct State {
    /// The inputs that came with the start of the run.
    pub(super) given: HashMap<SmolStr, Value>,
    /// Whether other inputs are generated.
    pub(super) generates: bool,
    /// The recorded answers that no question has used yet.
    pub(super) recorded: Vec<(Place, RecordedAnswer)>,
    /// What is allowed for the whole run.
    pub(super) allowed: BTreeMap<Scope, Attribution>,
    pub(super) open: BTreeMap<QuestionId, Open>,
    /// Which of them the run has recorded, so that they are shown; `None` if they belong to no run, and all are.
    pub(super) listed: Option<Vec<QuestionId>>,
    /// The answers that were taken and that no question has received yet.
    pub(super) on_its_way: BTreeMap<QuestionId, (Place, RecordedAnswer)>,
    pub(super) last: u64,
    /// The questions that were open before the run was resumed and that were not asked again yet.
    pub(super) earlier: Vec<OpenQuestion>,
    /// The number of those who can answer everything.
    pub(super) attending: usize,
    /// The number of those who can answer inputs only.
    pub(super) attending_inputs: usize,
    /// Whether the run stays a process if no one attends.
    pub(super) stays: bool,
    /// Whether no one answers any more.
    pub(super) is_abandoned: bool,
    /// Whether the run stops: no answer would reach it.
    pub(super) is_stopping: bool,
    pub(super) is_closed: bool,
    pub(super) clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// What is called with each question that a person is asked.
    pub(super) on_question: Option<Arc<OnQuestion>>,
}

type OnQuestion = dyn Fn(&OpenQuestion) + Send + Sync;

impl Default for State {
    fn default() -> Self {
        Self {
            given: HashMap::new(),
            generates: false,
            recorded: Vec::new(),
            allowed: BTreeMap::new(),
            open: BTreeMap::new(),
            listed: None,
            on_its_way: BTreeMap::new(),
            last: 0,
            earlier: Vec::new(),
            attending: 0,
            attending_inputs: 0,
            stays: false,
            is_abandoned: false,
            is_stopping: false,
            is_closed: false,
            clock: Arc::new(runner::now),
            on_question: None,
        }
    }
}

/// A question on the desk.
pub(super) struct Open {
    pub(super) question: OpenQuestion,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// An answer in its one form.
pub(super) struct Answer {
    pub(super) value: Value,
    pub(super) attribution: Attribution,
}

impl State {
    /// The number of those who can answer inputs only, or everything.
    pub(super) fn attending(&mut self, is_for_inputs: bool) -> &mut usize {
        if is_for_inputs { &mut self.attending_inputs } else { &mut self.attending }
    }

    /// Whether someone is there to answer an input, or another question.
    pub(super) fn is_attended(&self, is_input: bool) -> bool {
        self.attending > 0 || is_input && self.attending_inputs > 0
    }

    /// The questions without an answer, the oldest first.
    pub(super) fn questions(&self) -> Vec<OpenQuestion> {
        self.open.values().map(|open| open.question.clone()).collect()
    }

    /// Those of them that are shown.
    pub(super) fn shown(&self) -> impl Iterator<Item = &OpenQuestion> {
        let is_shown = |id: &QuestionId| self.listed.as_ref().is_none_or(|listed| listed.contains(id));
        self.open.iter().filter(move |(id, _)| is_shown(id)).map(|(_, open)| &open.question)
    }

    pub(super) fn put(
        &mut self,
        question: impl FnOnce(QuestionId, u64) -> OpenQuestion,
    ) -> (QuestionId, oneshot::Receiver<Answer>) {
        let question = question(QuestionId(0), (self.clock)());
        let id = self.number(&question);
        let (reply, answer) = oneshot::channel();
        let question = OpenQuestion { id, ..question };
        self.open.insert(id, Open { question, reply });
        (id, answer)
    }

    /// The number of a question. One that was asked before the run was resumed keeps its number, by which a person may be answering it.
    fn number(&mut self, question: &OpenQuestion) -> QuestionId {
        let is_same = |earlier: &OpenQuestion| {
            (&earlier.asked_at, &earlier.kind) == (&question.asked_at, &question.kind)
        };
        match self.earlier.iter().position(is_same) {
            Some(index) => self.earlier.remove(index).id,
            None => {
                self.last += 1;
                QuestionId(self.last)
            }
        }
    }

    pub(super) fn remember(&mut self, place: Place, answer: RecordedAnswer) {
        let said = ApprovalAnswer::of_word(&answer.answer.to_string());
        match scope(&answer.kind) {
            Some(scope) if said == Some(ApprovalAnswer::ForRun) => {
                self.allowed.insert(scope, answer.attribution);
            }
            _ => self.recorded.push((place, answer)),
        }
    }

    /// Allows what an answer covers for the whole run, also where it is being asked now.
    pub(super) fn allow_for_run(&mut self, covered: Scope, by: &Attribution) {
        let same: Vec<QuestionId> = self
            .open
            .iter()
            .filter(|(_, open)| scope(&open.question.kind).as_ref() == Some(&covered))
            .map(|(id, _)| *id)
            .collect();
        for open in same.into_iter().filter_map(|id| self.open.remove(&id)) {
            let value = Value::text(ApprovalAnswer::Once.word());
            let attribution = Attribution { from: AnswerSource::Rule, ..by.clone() };
            let _ = open.reply.send(Answer { value, attribution });
        }
        self.allowed.insert(covered, by.clone());
    }

    /// The recorded answer to a question at a place. Each is given once, in the order in which they were recorded. Limits are reached at other places
    /// when a run is resumed.
    pub(super) fn recall(&mut self, place: &Place, kind: &QuestionKind) -> Option<RecordedAnswer> {
        let is_limit = matches!(kind, QuestionKind::Limit { .. });
        let is_same =
            |(at, answer): &(Place, RecordedAnswer)| answer.kind == *kind && (is_limit || at == place);
        let index = self.recorded.iter().position(is_same)?;
        Some(self.recorded.remove(index).1)
    }

    /// The recorded answer to an input. One that was given before the program changed holds only if the question is the same; otherwise the error is a note
    /// for the person who is asked again.
    pub(super) fn recall_input(
        &mut self,
        place: &Place,
        kind: &QuestionKind,
        now: &AskedInput,
    ) -> Result<Option<RecordedAnswer>, String> {
        let mut result = Ok(None);
        while let Some(recorded) = self.recall(place, kind) {
            let answer = one_line(&recorded.answer.to_string());
            result = match &recorded.asked {
                Some(before) if before == now => return Ok(Some(recorded)),
                Some(before) => {
                    let before = one_line(&before.prompt);
                    Err(format!("the earlier answer `{answer}` was to another question: {before}"))
                }
                None if choices::value_among(&now.choices, &recorded.answer).is_some() => {
                    return Ok(Some(recorded));
                }
                None => Err(format!("the earlier answer `{answer}` is not offered any more")),
            };
        }
        result
    }
}

/// Takes a question off the desk that no one waits for any more, and its answer: it was received, or it is not needed.
pub(super) struct Closing<'a> {
    pub(super) desk: &'a Questions,
    pub(super) id: QuestionId,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let mut state = self.desk.lock();
        state.on_its_way.remove(&self.id);
        if state.open.remove(&self.id).is_some() {
            drop(state);
            self.desk.changed();
        }
    }
}

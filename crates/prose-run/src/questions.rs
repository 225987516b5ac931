//! The desk of a run: its open questions, and who answers them.
//!
//! A run puts its questions here: inputs, permissions of agents, and limits. A terminal, an editor, a client or another process answers them; the first
//! answer counts, and is recorded with who gave it and from where (decision 25). Where no one attends, the run waits (decision 24).

mod answer;
mod source;
mod state;
mod words;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use prose_vm::activity::{
    AnswerFuture, AnswerSource, Approvals, LIMIT_QUESTION, NoApprovals, PermissionAnswer, PermissionQuestion,
};
use prose_vm::choices;
use prose_vm::effect::{Failure, InputRequest, RequestId};
use prose_vm::harness::HarnessFuture;
use prose_vm::place::{Place, Site};
pub use prose_vm::questions::{
    ApprovalAnswer, AskedAt, AskedInput, Attribution, GivenInput, LastQuestions, OpenQuestion, QuestionId,
    QuestionKind, RecordedAnswer,
};
use prose_vm::runner::{Abandoned, Inputs, NoInputs};
use prose_vm::value::Value;
use smol_str::SmolStr;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

pub use self::answer::{AnswerError, resolve, resolve_value};
pub use self::source::{OwnQuestions, QuestionSource};
use self::state::{Answer, Closing, Shared, State};
pub use self::words::answer_command;

/// The open questions of a run. Clones are the same desk.
#[derive(Clone)]
pub struct Questions(Arc<Shared>);

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions").field("open", &self.open()).finish_non_exhaustive()
    }
}

impl Default for Questions {
    fn default() -> Self {
        Self::new(std::iter::empty())
    }
}

/// Someone who can answer. Dropped when they leave.
#[derive(Debug)]
pub struct Attendance {
    desk: Questions,
    /// Whether they answer inputs only.
    is_for_inputs: bool,
}

struct CloseDesk(Questions);

impl Drop for CloseDesk {
    fn drop(&mut self) {
        self.0.change(|state| state.is_closed = true);
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        self.desk.change(|state| *state.attending(self.is_for_inputs) -= 1);
    }
}

impl Questions {
    /// A desk with the inputs that came with the start of the run.
    pub fn new(given: impl IntoIterator<Item = (SmolStr, Value)>) -> Self {
        let given = given.into_iter().collect();
        Self(Arc::new(Shared::new(State { given, ..State::default() }, None)))
    }

    /// A desk whose questions a program answers, as in tests.
    pub fn answered_by(inputs: Arc<dyn Inputs>, approvals: Arc<dyn Approvals>) -> Self {
        Self(Arc::new(Shared::new(State::default(), Some((inputs, approvals)))))
    }

    /// A desk that answers nothing: required inputs are errors, and permissions are denied or stop the run.
    pub fn unanswered() -> Self {
        Self::answered_by(Arc::new(NoInputs), Arc::new(NoApprovals))
    }

    /// A desk that generates the inputs that are not given, for dry runs.
    pub fn generated(given: impl IntoIterator<Item = (SmolStr, Value)>) -> Self {
        let desk = Self::new(given);
        desk.lock().generates = true;
        desk
    }

    /// From now on, a run that only waits stays a process, even if no one attends (`run.when-waiting`).
    pub fn stay(&self) {
        self.change(|state| state.stays = true);
    }

    /// From now on, no one answers any more: the run stops as soon as it only waits, and its questions are answered and asked again later. Nothing is
    /// denied for that reason.
    pub fn abandon(&self) {
        self.change(|state| state.is_abandoned = true);
    }

    /// Shows questions from now on when the run has recorded them.
    pub(crate) fn show_recorded(&self) {
        self.lock().listed = Some(Vec::new());
    }

    /// Calls a function with each question that a person is asked, when the run starts to wait for it.
    pub(crate) fn on_question(&self, asked: impl Fn(&OpenQuestion) + Send + Sync + 'static) {
        self.lock().on_question = Some(Arc::new(asked));
    }

    /// Takes the time from a clock, in milliseconds since 1970-01-01 in UTC.
    pub(crate) fn use_clock(&self, clock: Arc<dyn Fn() -> u64 + Send + Sync>) {
        self.lock().clock = clock;
    }

    /// Answers that were recorded before the run was resumed, in their order. Each is used for the question that it was given for.
    pub(crate) fn remember(&self, answers: impl IntoIterator<Item = (Place, RecordedAnswer)>) {
        let mut state = self.lock();
        for (place, answer) in answers {
            state.remember(place, answer);
        }
    }

    /// The questions that were open when the run stopped. They keep their numbers.
    pub(crate) fn continue_numbers(&self, earlier: Vec<OpenQuestion>) {
        let mut state = self.lock();
        state.last = earlier.iter().map(|question| question.id.0).max().unwrap_or_default();
        state.earlier = earlier;
    }

    /// Someone is there to answer, until the attendance is dropped.
    pub fn attend(&self) -> Attendance {
        self.attend_to(false)
    }

    /// Someone is there who answers inputs and leaves permissions and limits to others, such as an agent that has started the run.
    pub fn attend_inputs(&self) -> Attendance {
        self.attend_to(true)
    }

    fn attend_to(&self, is_for_inputs: bool) -> Attendance {
        self.change(|state| *state.attending(is_for_inputs) += 1);
        Attendance { desk: self.clone(), is_for_inputs }
    }

    /// The questions without an answer that the run has recorded, the oldest first: who is shown one finds it in the files of the run, too.
    pub fn open(&self) -> Vec<OpenQuestion> {
        self.lock().shown().cloned().collect()
    }

    /// Whether the run stops, and takes no answer any more. Its questions can be answered once its process has ended.
    pub(crate) fn is_stopping(&self) -> bool {
        self.lock().is_stopping
    }

    /// Answers a question, or the only one that is open. An answer that the question does not offer is an error, and the question stays open.
    pub fn answer(&self, id: Option<QuestionId>, text: &str, by: Attribution) -> Result<(), AnswerError> {
        self.answer_with(id, &Value::text(text), by)
    }

    /// Answers a question with a value, such as a list for an input.
    pub fn answer_with(
        &self,
        id: Option<QuestionId>,
        value: &Value,
        by: Attribution,
    ) -> Result<(), AnswerError> {
        let mut state = self.lock();
        if state.is_stopping {
            return Err(AnswerError::Stopping);
        }
        let id = match (id, state.open.len()) {
            (_, 0) => return Err(AnswerError::None),
            (Some(id), _) => id,
            (None, 1) => *state.open.keys().next().ok_or(AnswerError::None)?,
            (None, _) => {
                let open = state.open.values().map(|open| open.question.clone());
                return Err(AnswerError::Several(open.collect()));
            }
        };
        let open = state.open.get(&id).ok_or(AnswerError::Unknown(id))?;
        let value = answer::resolve_value(&open.question, value)?;
        // The first answer counts.
        if let Some(open) = state.open.remove(&id) {
            let said = ApprovalAnswer::of_word(&value.to_string());
            if let (Some(ApprovalAnswer::ForRun), Some(scope)) = (said, state::scope(&open.question.kind)) {
                state.allow_for_run(scope, &by);
            }
            let place = open.question.asked_at.clone();
            let recorded = open.question.answered(value.clone(), by.clone());
            state.on_its_way.insert(id, (place, recorded));
            let _ = open.reply.send(Answer { value, attribution: by });
        }
        drop(state);
        self.changed();
        Ok(())
    }

    /// The number of changes of the desk: questions that are asked or answered, people who come or leave.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// The next open question after those that were seen; `None` once the run has ended. For a face that asks one question after the other.
    pub async fn next(&self, seen: &mut BTreeSet<QuestionId>) -> Option<OpenQuestion> {
        let mut changes = self.changes();
        loop {
            {
                let state = self.lock();
                if state.is_closed {
                    return None;
                }
                let new = state.shown().find(|open| !seen.contains(&open.id));
                if let Some(question) = new {
                    seen.insert(question.id);
                    return Some(question.clone());
                }
            }
            // The desk lives as long as this future.
            let _ = changes.changed().await;
        }
    }

    /// Completes when a question is not open any more.
    pub async fn settled(&self, id: QuestionId) {
        let mut changes = self.changes();
        while self.lock().open.contains_key(&id) {
            let _ = changes.changed().await;
        }
    }

    /// Completes when no question was open for so long: waiting for answers is no part of a timeout.
    pub async fn worked_for(&self, time: Duration) {
        let mut changes = self.changes();
        let mut left = time;
        loop {
            let is_waiting = !self.lock().open.is_empty();
            let started = Instant::now();
            tokio::select! {
                () = sleep(left), if !is_waiting => return,
                _ = changes.changed() => {}
            }
            if !is_waiting {
                left = left.saturating_sub(started.elapsed());
            }
        }
    }

    /// Closes the desk when it is dropped: the run has ended, and no one needs to ask any more.
    pub(crate) fn closing(&self) -> impl Drop + use<> {
        CloseDesk(self.clone())
    }

    /// Puts a question on the desk and waits for its answer. It is taken off when the future is dropped. `None` if it is `deniable` and no one attends.
    async fn ask(
        &self,
        question: impl FnOnce(QuestionId, u64) -> OpenQuestion,
        deniable: bool,
    ) -> Option<Answer> {
        let (id, is_input, mut answered, asked) = {
            let mut state = self.lock();
            let (id, answered) = state.put(question);
            let asked = state.open.get(&id).map(|open| open.question.clone());
            let is_input =
                matches!(asked.as_ref().map(|asked| &asked.kind), Some(QuestionKind::Input { .. }));
            let is_asked = !deniable || state.is_attended(is_input);
            let on_question = state.on_question.clone().filter(|_| is_asked);
            (id, is_input, answered, on_question.zip(asked))
        };
        if let Some((on_question, question)) = asked {
            on_question(&question);
        }
        let _closing = Closing { desk: self, id };
        self.changed();
        let mut changes = self.changes();
        loop {
            let is_denied = deniable && !self.lock().is_attended(is_input);
            tokio::select! {
                biased;
                // The sender stays on the desk until the question is answered.
                Ok(answer) = &mut answered => return Some(answer),
                () = std::future::ready(()), if is_denied => return None,
                _ = changes.changed() => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it is locked.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed();
    }

    fn changed(&self) {
        self.0.changes.send_modify(|changes| *changes += 1);
    }
}

/// A place for questions that are asked without one.
fn nowhere() -> AskedAt {
    let site = Site { program: 0, start: 0, end: 0, line: 0, last_line: 0 };
    AskedAt { request: RequestId(0), place: Place::root(), site, program: None }
}

fn line_of(at: &AskedAt) -> Option<u32> {
    Some(at.site.line).filter(|line| *line > 0)
}

impl Inputs for Questions {
    fn give<'a>(&'a self, input: &'a InputRequest) -> HarnessFuture<'a, Value> {
        Box::pin(async move { Ok(self.answer_input(&nowhere(), input).await?.value) })
    }

    fn answer<'a>(&'a self, at: &'a AskedAt, input: &'a InputRequest) -> HarnessFuture<'a, GivenInput> {
        Box::pin(self.answer_input(at, input))
    }

    fn abandoned(&self, questions: usize) -> Abandoned<'_> {
        Box::pin(async move {
            let mut changes = self.changes();
            loop {
                {
                    let mut state = self.lock();
                    let is_alone = state.is_abandoned || !state.is_attended(true) && !state.stays;
                    if is_alone && state.open.len() >= questions {
                        state.is_stopping = true;
                        return state.questions();
                    }
                }
                let _ = changes.changed().await;
            }
        })
    }

    fn close(&self) -> LastQuestions {
        let mut state = self.lock();
        state.is_stopping = true;
        let answered = std::mem::take(&mut state.on_its_way).into_values().collect();
        LastQuestions { open: state.questions(), answered }
    }

    fn open_instead(&self, known: &[QuestionId]) -> Option<Vec<OpenQuestion>> {
        let mut state = self.lock();
        let is_other = !state.open.keys().eq(known);
        let others = is_other.then(|| state.questions());
        let is_news = state.listed.as_deref().is_some_and(|listed| listed != known);
        if is_news {
            state.listed = Some(known.to_vec());
        }
        drop(state);
        if is_news {
            self.changed();
        }
        others
    }
}

impl Questions {
    async fn answer_input(&self, at: &AskedAt, input: &InputRequest) -> Result<GivenInput, Failure> {
        if let Some((inputs, _)) = &self.0.program {
            return inputs.answer(at, input).await;
        }
        let choices = choices::choices(&input.prompt);
        let kind = QuestionKind::Input { name: input.name.clone() };
        let mut note = None;
        {
            let mut state = self.lock();
            let given = input.keys.iter().find_map(|key| state.given.get(key));
            // A value that the prompt does not offer is asked for, rather than taken for one of the others.
            if let Some(value) = given.and_then(|value| choices::value_among(&choices, value)) {
                return Ok(GivenInput { value, attribution: None });
            }
            let prompt = input.prompt.to_string();
            match state.recall_input(&at.place, &kind, &AskedInput { prompt, choices: choices.clone() }) {
                Ok(Some(RecordedAnswer { answer, attribution, .. })) => {
                    return Ok(GivenInput { value: answer, attribution: Some(attribution) });
                }
                Ok(None) => {}
                Err(changed) => note = Some(changed),
            }
            if state.generates {
                let name = input.name.as_deref().unwrap_or("input");
                return Ok(GivenInput { value: Value::text(format!("[{name}]")), attribution: None });
            }
            if input.optional && !state.is_attended(true) {
                return Ok(GivenInput { value: Value::Null, attribution: None });
            }
        }
        let question = |id, since| OpenQuestion {
            id,
            kind,
            prompt: input.prompt.to_string(),
            choices,
            is_optional: input.optional,
            since,
            line: line_of(at),
            program: at.program.clone(),
            asked_at: at.place.clone(),
            key: input.keys.first().cloned(),
            may_rephrase: input.may_rephrase,
            note,
        };
        match self.ask(question, input.optional).await {
            Some(Answer { value, attribution }) => Ok(GivenInput { value, attribution: Some(attribution) }),
            None => Ok(GivenInput { value: Value::Null, attribution: None }),
        }
    }

    async fn answer_approval(&self, at: &AskedAt, question: &PermissionQuestion) -> PermissionAnswer {
        if let Some((_, approvals)) = &self.0.program {
            return approvals.ask_at(at, question).await;
        }
        let PermissionQuestion { agent, title, rule, is_deniable, .. } = question;
        let kind = match question.id.as_str() {
            LIMIT_QUESTION => QuestionKind::Limit { rule: rule.clone() },
            _ => QuestionKind::Approval { agent: agent.clone(), rule: rule.clone(), title: title.clone() },
        };
        let scope = state::scope(&kind);
        {
            let mut state = self.lock();
            if let Some(attribution) = scope.as_ref().and_then(|scope| state.allowed.get(scope)) {
                let by = attribution.by.clone();
                return PermissionAnswer::once(true, AnswerSource::Rule, by);
            }
            if let Some(recorded) = state.recall(&at.place, &kind) {
                let Attribution { by, from } = recorded.attribution;
                let said = ApprovalAnswer::of_word(&recorded.answer.to_string());
                let is_allowed = said.is_some_and(|said| said != ApprovalAnswer::Deny);
                return PermissionAnswer {
                    is_recorded: true,
                    ..PermissionAnswer::once(is_allowed, from, by)
                };
            }
        }
        let asked = |id, since| OpenQuestion {
            id,
            kind,
            prompt: approval_text(question),
            choices: answer::approval_choices(),
            is_optional: false,
            since,
            line: line_of(at),
            program: at.program.clone(),
            asked_at: at.place.clone(),
            key: None,
            may_rephrase: false,
            note: None,
        };
        let Some(Answer { value, attribution }) = self.ask(asked, *is_deniable).await else {
            return PermissionAnswer::of_no_one();
        };
        let said = ApprovalAnswer::of_word(&value.to_string()).unwrap_or(ApprovalAnswer::Deny);
        let is_for_run = said == ApprovalAnswer::ForRun;
        let Attribution { by, from } = attribution;
        PermissionAnswer { is_for_run, ..PermissionAnswer::once(said != ApprovalAnswer::Deny, from, by) }
    }
}

impl Approvals for Questions {
    fn ask<'a>(&'a self, question: &'a PermissionQuestion) -> AnswerFuture<'a> {
        Box::pin(async move { self.answer_approval(&nowhere(), question).await })
    }

    fn ask_at<'a>(&'a self, at: &'a AskedAt, question: &'a PermissionQuestion) -> AnswerFuture<'a> {
        Box::pin(self.answer_approval(at, question))
    }
}

/// A permission question for display, in one line.
fn approval_text(question: &PermissionQuestion) -> String {
    if question.id == LIMIT_QUESTION {
        return format!("{}?", question.title);
    }
    let who = match &question.agent {
        Some(agent) => format!("Agent `{agent}`"),
        None => "A session".to_owned(),
    };
    format!("{who} asks for permission: {} ({})", question.title, question.rule)
}

/// An answer of the user of this process.
pub fn user(from: AnswerSource) -> Attribution {
    let names = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let by = names.map(SmolStr::from).find(|name| !name.is_empty());
    Attribution { by: by.or_else(user_id), from }
}

/// The user by number, for a process that no login has given a name, as of `cron` or in a container.
#[cfg(unix)]
fn user_id() -> Option<SmolStr> {
    Some(format!("uid {}", rustix::process::getuid().as_raw()).into())
}

#[cfg(not(unix))]
fn user_id() -> Option<SmolStr> {
    None
}

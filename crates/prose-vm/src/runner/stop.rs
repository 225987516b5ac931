//! Stops a run before its program has ended: interrupted, or to wait for answers (decision 24).

use std::sync::Arc;

use futures_util::stream::FuturesUnordered;

use super::{Inputs, RunError, Runner};
use crate::effect::{Effect, Request};
use crate::error::{ErrorKind, RuntimeError};
use crate::event::{Event, EventKind, RunEnd, RunStatus};
use crate::questions::{LastQuestions, OpenQuestion, QuestionId};
use crate::value::Value;

impl Runner<'_> {
    pub(super) fn interrupt(&mut self, reason: String) -> Result<RunEnd, RunError> {
        let questions = self.host.inputs.close();
        self.stop(RunStatus::Interrupted, RuntimeError::new(ErrorKind::Other, reason), questions)
    }

    /// Stops a run for a reason of its own, after its agents have reported what they have used.
    pub(super) async fn interrupt_by(&mut self, kind: ErrorKind, reason: String) -> Result<RunEnd, RunError> {
        let questions = self.host.inputs.close();
        self.settle_work().await?;
        self.stop(RunStatus::Interrupted, RuntimeError::new(kind, reason), questions)
    }

    /// Stops a run that has nothing to do but to wait. The answers are given before it is resumed, or asked for then.
    pub(super) async fn stop_to_wait(&mut self, questions: Vec<OpenQuestion>) -> Result<RunEnd, RunError> {
        let last = self.host.inputs.close();
        let first = questions.first().map_or_else(String::new, OpenQuestion::summary);
        let reason = match questions.len() {
            1 => format!("the run waits for an answer: {first}"),
            count => format!("the run waits for {count} answers: {first}; …"),
        };
        // The line of an error is one of the program of the run.
        let first_of_run = questions.first().filter(|question| question.program.is_none());
        let line = first_of_run.and_then(|question| question.line).unwrap_or_default();
        let error = RuntimeError { line, ..RuntimeError::new(ErrorKind::Other, reason) };
        self.settle_work().await?;
        self.stop(RunStatus::Waiting, error, LastQuestions { open: questions, ..last })
    }

    /// Cancels all work, and waits until its agents have ended: some report only then what they have used.
    async fn settle_work(&mut self) -> Result<(), RunError> {
        self.cancel_all_work()?;
        if !self.cancelled.is_empty() {
            self.host.harness.settled().await;
            self.drain_reports(None)?;
        }
        Ok(())
    }

    /// Cancels all work, and counts what it has used as far as that is reported.
    fn cancel_all_work(&mut self) -> Result<(), RunError> {
        for (_, handle) in std::mem::take(&mut self.handles) {
            handle.abort();
        }
        // Dropping a future cancels its work: agents are killed.
        self.running = FuturesUnordered::new();
        self.question = None;
        self.drain_reports(None)?;
        for id in std::mem::take(&mut self.is_started).into_keys() {
            if let Some(request) = self.waiting.remove(&id) {
                self.settle_cancelled(&request)?;
            }
        }
        Ok(())
    }

    /// What the run asks can be answered before it is resumed.
    fn stop(
        &mut self,
        status: RunStatus,
        error: RuntimeError,
        questions: LastQuestions,
    ) -> Result<RunEnd, RunError> {
        self.cancel_all_work()?;
        // The client has a confirmation of these answers, and does not send them again.
        for (place, answer) in questions.answered {
            self.seq += 1;
            let event = Event { place, ..self.unrecorded_event(EventKind::Answered(answer)) };
            self.record(&event, true)?;
        }
        // Requests at work do not wait any more. A further attempt is made for a session that was asked before.
        let is_session =
            |request: &&Request| matches!(&request.effect, Effect::Session(task) if task.attempt == 0);
        let not_asked = self.waiting.values().filter(is_session).count();
        let end = RunEnd {
            status,
            outputs: Vec::new(),
            value: Value::Null,
            error: Some(Arc::new(error)),
            sessions: self.ended,
            usage: self.usage,
            failures: 0,
            not_asked: u32::try_from(not_asked).unwrap_or(u32::MAX),
            waiting: questions.open,
        };
        self.seq += 1;
        let event = self.unrecorded_event(EventKind::RunEnded(end.clone()));
        self.record(&event, true)?;
        self.host.store.commit()?;
        Ok(end)
    }

    /// Records which questions are open: they can be answered also after the process has ended in whatever way (decision 24).
    pub(super) fn record_questions(&mut self, questions: Vec<OpenQuestion>) -> Result<(), RunError> {
        self.asked = questions.iter().map(|question| question.id).collect();
        self.seq += 1;
        let event = self.unrecorded_event(EventKind::QuestionsOpen { questions });
        self.record(&event, true)
    }

    /// The number of open questions if nothing else is at work. A session whose agent waits for an answer is not at work.
    pub(super) fn questions_alone(&self) -> Option<usize> {
        // A paused run waits for the person who continues it.
        if self.is_short || self.commanded.is_paused {
            return None;
        }
        let mut questions = usize::from(self.question.is_some());
        for id in self.handles.keys() {
            let effect = &self.waiting.get(id)?.effect;
            let asked = match effect {
                Effect::Input(_) => 1,
                effect if effect.needs_agent() => self.worked.get(id)?.unanswered(),
                _ => 0,
            };
            if asked == 0 {
                return None;
            }
            questions += asked;
        }
        Some(questions).filter(|questions| *questions > 0)
    }
}

/// Completes when other questions are open than those that are known.
pub(super) fn asked(inputs: &dyn Inputs, known: &[QuestionId]) -> impl Future<Output = Vec<OpenQuestion>> {
    std::future::poll_fn(|_| match inputs.open_instead(known) {
        Some(questions) => std::task::Poll::Ready(questions),
        None => std::task::Poll::Pending,
    })
}

/// Completes when the only thing to do is to answer so many questions, and no one is there for that.
pub(super) async fn abandoned(inputs: &dyn Inputs, questions: Option<usize>) -> Vec<OpenQuestion> {
    match questions {
        Some(questions) => inputs.abandoned(questions).await,
        None => std::future::pending().await,
    }
}

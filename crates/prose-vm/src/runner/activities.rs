//! Handles the reports of backends about requests at work.

use super::{RunError, Runner};
use crate::activity::{Activity, LIMIT_QUESTION, PermissionAnswer, Work};
use crate::effect::{Effect, RequestId};
use crate::event::{Event, EventKind};
use crate::place::NamedLine;
use crate::questions::{ApprovalAnswer, Attribution, QuestionKind, RecordedAnswer};
use crate::value::Value;

impl Runner<'_> {
    /// Handles the reports that have arrived: what was reported before an outcome is recorded with it.
    pub(super) fn drain_reports(&mut self, of: Option<RequestId>) -> Result<(), RunError> {
        while let Some((request, activity)) = self.reports.arrived(of) {
            self.report_activity(request, activity)?;
        }
        Ok(())
    }

    pub(super) fn report_activity(&mut self, request: RequestId, activity: Activity) -> Result<(), RunError> {
        let Some(waiting) = self.waiting.get(&request) else {
            self.reports.end(request);
            return match activity {
                Activity::Used(usage) => self.used_late(request, usage),
                _ => Ok(()),
            };
        };
        let (place, site) = (waiting.place.clone(), waiting.site);
        let folder = match &waiting.effect {
            Effect::Session(task) => task.folder.clone(),
            _ => None,
        };
        let (agent, model) = (waiting.effect.agent().cloned(), waiting.effect.model().cloned());
        let (now, _) = self.now();
        let work = self.worked.entry(request).or_default();
        let before = work.unanswered();
        work.add(&activity, now);
        let is_waiting = work.unanswered() > 0;
        if (before > 0) != is_waiting && self.is_started.contains_key(&request) {
            match is_waiting {
                true => self.asking.insert(request),
                false => self.asking.remove(&request),
            };
        }
        if (before > 0) != is_waiting
            && let Some(capacity) = &self.host.limits.capacity
        {
            capacity.waits(request, is_waiting);
        }
        let answered = match &activity {
            Activity::Answered { id, answer } if answer.is_new() => recorded_answer(work, id, answer),
            _ => None,
        };
        let mut activity = activity;
        if let Activity::Used(usage) = &mut activity {
            let model = work.agent.as_ref().and_then(|agent| agent.model.as_deref()).or(model.as_deref());
            let accounts = &self.host.accounts;
            let mut total = work.usage.unwrap_or_default();
            usage.cost = match total.cost {
                // Of a part, only the agent knows the cost.
                Some(_) => accounts.cost_as_set(model, usage).or(usage.cost),
                None => accounts.cost_of(model, usage),
            };
            total.cost = accounts.cost_of(model, &total);
            let (before, now) = self.meter.report(request, agent.as_ref(), total);
            self.meter.set_day(self.host.accounts.spend(before, now));
            self.keep_at_work(request, 1, Some(total))?;
        }
        let warning = match &activity {
            Activity::Tool(tool) => {
                let folder = folder.as_deref();
                let program = self.programs.imported(site.program).map(|imported| imported.name.clone());
                let line = NamedLine { program, line: site.line };
                self.writers.add(tool, (request, &line, folder), |other| self.handles.contains_key(&other))
            }
            _ => None,
        };
        let kinds = [
            Some(EventKind::Activity { request, activity }),
            warning.map(|message| EventKind::Warning { message }),
        ];
        for kind in kinds.into_iter().flatten() {
            let event = Event { place: place.clone(), site: Some(site), ..self.unrecorded_event(kind) };
            (self.host.observer)(&event, true);
        }
        match answered {
            Some(answer) => {
                self.seq += 1;
                let event = self.unrecorded_event(EventKind::Answered(answer));
                self.record(&Event { place, site: Some(site), ..event }, true)
            }
            None => Ok(()),
        }
    }
}

/// What is recorded of the answer to a question of a request.
fn recorded_answer(work: &Work, question: &str, answer: &PermissionAnswer) -> Option<RecordedAnswer> {
    let asked = &work.questions.iter().rfind(|asked| asked.question.id == question)?.question;
    let rule = asked.rule.clone();
    let kind = match question {
        LIMIT_QUESTION => QuestionKind::Limit { rule },
        _ => QuestionKind::Approval { agent: asked.agent.clone(), rule, title: asked.title.clone() },
    };
    let said = match (answer.is_allowed, answer.is_for_run) {
        (true, true) => ApprovalAnswer::ForRun,
        (true, false) => ApprovalAnswer::Once,
        (false, _) => ApprovalAnswer::Deny,
    };
    let attribution = Attribution { by: answer.by.clone(), from: answer.from };
    Some(RecordedAnswer { kind, answer: Value::text(said.word()), attribution, asked: None })
}

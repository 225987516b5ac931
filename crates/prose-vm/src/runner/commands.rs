//! Performs the commands of a person: pause, continue, stop, skip, retry, set-limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::Runner;
use super::error::RunError;
use crate::activity::Work;
use crate::command::{Command, CommandError, RunStatusReport, SessionReport, ToRunner};
use crate::effect::{Effect, Outcome, Reply, Request, RequestId};
use crate::event::EventKind;
use crate::questions::Attribution;

/// What the commands of a person have left to do.
#[derive(Debug, Default)]
pub(super) struct Commanded {
    /// Whether no request starts.
    pub(super) is_paused: bool,
    /// The sessions that a person ends: with a reply, or without one to skip them.
    ended: BTreeMap<RequestId, (Option<Arc<str>>, Attribution)>,
    /// The prompts that a person has written for sessions.
    prompts: BTreeMap<RequestId, (Arc<str>, Attribution)>,
}

impl Commanded {
    /// The prompt that a person has written for a session.
    pub(super) fn prompt(&self, id: RequestId) -> Option<Arc<str>> {
        self.prompts.get(&id).map(|(prompt, _)| Arc::clone(prompt))
    }

    /// What the reply to a prompt that a person has written says about that.
    pub(super) fn prompt_warning(&self, id: RequestId) -> Option<String> {
        self.prompts.get(&id).map(|(_, by)| format!("the prompt was changed {by}"))
    }
}

impl Runner<'_> {
    /// Performs the commands that have arrived. Returns the reason if the run has to stop.
    pub(super) fn take_commands(&mut self) -> Result<Option<String>, RunError> {
        while let Some(sent) = self.host.commands.arrived() {
            if let Some(reason) = self.take_command(sent)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Performs a command. Returns the reason if the run has to stop.
    pub(super) fn take_command(&mut self, sent: ToRunner) -> Result<Option<String>, RunError> {
        let (command, by, answer) = match sent {
            ToRunner::Report(answer) => {
                // The sender may be gone.
                let _ = answer.send(self.status_report());
                return Ok(None);
            }
            ToRunner::Command { command, by, answer } => (command, by, answer),
        };
        let checked = self.check_command(&command);
        let stops = command == Command::Stop;
        if checked == Ok(true) {
            self.record_command(command.clone(), by.clone())?;
            self.apply_command(command, &by)?;
            // The person's word counts from now on, so it survives a loss of power.
            self.host.store.commit()?;
        }
        let _ = answer.send(checked.map(drop));
        Ok(stops.then(|| format!("stopped {by}")))
    }

    /// Whether a command changes anything.
    fn check_command(&self, command: &Command) -> Result<bool, CommandError> {
        let session = |id: &RequestId| {
            let effect = self.waiting.get(id).map(|request| &request.effect);
            matches!(effect, Some(Effect::Session(_))) && !self.commanded.ended.contains_key(id)
        };
        match command {
            Command::Pause => Ok(!self.commanded.is_paused),
            Command::Continue if !self.commanded.is_paused => Err(CommandError::NotPaused),
            Command::Continue | Command::Stop => Ok(true),
            Command::Skip { request }
            | Command::Retry { request }
            | Command::Reply { request, .. }
            | Command::Prompt { request, .. }
                if !session(request) =>
            {
                Err(CommandError::NoSession)
            }
            Command::Retry { request } if !self.is_started.contains_key(request) => {
                Err(CommandError::NotAtWork)
            }
            Command::Skip { .. } | Command::Retry { .. } | Command::Reply { .. } | Command::Prompt { .. } => {
                Ok(true)
            }
            Command::SetLimit { limit } if !limit.is_valid() => Err(CommandError::InvalidLimit),
            Command::SetLimit { .. } => Ok(true),
        }
    }

    fn record_command(&mut self, command: Command, by: Attribution) -> Result<(), RunError> {
        let about = match &command {
            Command::Skip { request }
            | Command::Retry { request }
            | Command::Reply { request, .. }
            | Command::Prompt { request, .. } => self.waiting.get(request),
            _ => None,
        };
        let about = about.map(|request| (request.place.clone(), request.site));
        self.seq += 1;
        let mut event = self.unrecorded_event(EventKind::Commanded { command, by });
        if let Some((place, site)) = about {
            (event.place, event.site) = (place, Some(site));
        }
        self.record(&event, true)
    }

    fn apply_command(&mut self, command: Command, by: &Attribution) -> Result<(), RunError> {
        match command {
            Command::Pause => self.commanded.is_paused = true,
            Command::Continue => self.commanded.is_paused = false,
            Command::Stop => {}
            Command::Skip { request } => self.end_by_hand(request, None, by)?,
            Command::Reply { request, text } => self.end_by_hand(request, Some(text), by)?,
            Command::Retry { request } => self.start_again(request)?,
            Command::Prompt { request, text } => {
                self.commanded.prompts.insert(request, (text, by.clone()));
                if self.is_started.contains_key(&request) {
                    self.start_again(request)?;
                }
            }
            Command::SetLimit { limit } => {
                self.meter.set_limit(limit);
                // A question about the limits before is answered by this.
                self.question = None;
            }
        }
        Ok(())
    }

    fn end_by_hand(
        &mut self,
        request: RequestId,
        reply: Option<Arc<str>>,
        by: &Attribution,
    ) -> Result<(), RunError> {
        self.cancel_work(request)?;
        self.agents_wanted.remove(&request);
        self.commanded.ended.insert(request, (reply, by.clone()));
        Ok(())
    }

    fn start_again(&mut self, request: RequestId) -> Result<(), RunError> {
        self.cancel_work(request)?;
        self.agents_wanted.insert(request);
        self.emit_unrecorded(EventKind::Queued { request });
        self.last_to_wait = self.last_to_wait.max(Some(request));
        Ok(())
    }

    /// Takes up a recorded command of an earlier execution. What a skipped or retried session came to is recorded as well, and a run that is resumed
    /// continues.
    pub(super) fn repeat_command(&mut self, command: &Command, by: &Attribution) {
        match command {
            Command::SetLimit { limit } => self.meter.repeat_limit(*limit),
            // The process ended before the result was recorded.
            Command::Skip { request } if self.waiting.contains_key(request) => {
                self.commanded.ended.insert(*request, (None, by.clone()));
            }
            Command::Reply { request, text } if self.waiting.contains_key(request) => {
                self.commanded.ended.insert(*request, (Some(Arc::clone(text)), by.clone()));
            }
            Command::Prompt { request, text } if self.waiting.contains_key(request) => {
                self.commanded.prompts.insert(*request, (Arc::clone(text), by.clone()));
            }
            _ => {}
        }
    }

    /// The outcome of a session that a person has ended.
    pub(super) fn commanded_outcome(&mut self) -> Option<(RequestId, Outcome)> {
        while let Some((id, (reply, by))) = self.commanded.ended.pop_first() {
            let Some(request) = self.waiting.get(&id) else { continue };
            self.agents_wanted.remove(&id);
            if let Some(text) = reply {
                let mark = match &request.effect {
                    Effect::Session(task) => task.memory.as_ref().and(task.mark.clone()),
                    _ => None,
                };
                let warnings = vec![by.reply_warning()];
                self.worked.insert(id, Work { given_by: Some(by), ..Work::default() });
                return Some((id, Outcome::Reply(Reply { text, mark, warnings, ..Reply::default() })));
            }
            let warning = format!("the session was skipped {by}, so its result is empty");
            let reply = Reply { is_skipped: true, warnings: vec![warning], ..Reply::default() };
            return Some((id, Outcome::Reply(reply)));
        }
        None
    }

    /// Cancels the work on a request that still waits for its outcome.
    fn cancel_work(&mut self, id: RequestId) -> Result<(), RunError> {
        let Some(handle) = self.handles.remove(&id) else { return Ok(()) };
        self.drain_reports(Some(id))?;
        handle.abort();
        self.release(id);
        if self.is_started.remove(&id).is_some()
            && let Some(request) = self.waiting.get(&id).cloned()
        {
            // Recorded also if nothing was reported: the attempt counts as a session, here and when the run is resumed.
            let expense = self.expense_of_cancelled(&request);
            self.emit_expense(request.place, Some(request.site), expense)?;
        }
        self.reports.end(id);
        self.began.remove(&id);
        self.asked_again.remove(&id);
        Ok(())
    }

    fn status_report(&self) -> RunStatusReport {
        RunStatusReport {
            is_paused: self.commanded.is_paused,
            sessions: self.waiting.values().filter_map(|request| self.session_report(request)).collect(),
            used: self.meter.used(),
            limits: self.meter.limits(),
        }
    }

    fn session_report(&self, request: &Request) -> Option<SessionReport> {
        let Effect::Session(task) = &request.effect else { return None };
        let task = Arc::clone(task);
        Some(SessionReport {
            request: request.id,
            line: request.site.line,
            program: request.program.clone(),
            agent: task.agent.clone(),
            name: task.binding.name.clone(),
            task: SmolStr::new(task.task.lines().next().unwrap_or_default()),
            is_at_work: self.is_started.contains_key(&request.id),
        })
    }
}

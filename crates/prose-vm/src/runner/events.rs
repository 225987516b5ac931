//! Emits events, and records those that belong to the run.

use smol_str::SmolStr;

use super::expenses::is_unrequested;
use super::recorded::is_same;
use super::{Divergence, RunError, Runner};
use crate::budget::Spent;
use crate::effect::Usage;
use crate::event::{Event, EventKind};
use crate::machine::NewEvent;
use crate::place::Place;

impl Runner<'_> {
    pub(super) fn emit(&mut self, event: NewEvent) -> Result<(), RunError> {
        self.emit_of(None, event)
    }

    /// Emits an event; `recalled` is the agent of a request whose outcome is recorded.
    pub(super) fn emit_of(
        &mut self,
        recalled: Option<Option<&SmolStr>>,
        event: NewEvent,
    ) -> Result<(), RunError> {
        if matches!(event.kind, EventKind::RunEnded(_)) {
            // What was reported late is part of the run.
            self.drain_reports(None)?;
        }
        let expected = loop {
            let expected = if self.replays { self.host.recall.expected(self.seq + 1) } else { None };
            match expected {
                Some(event) if is_unrequested(&event) => self.repeat_unrequested(&event)?,
                expected => break expected,
            }
        };
        self.seq += 1;
        let NewEvent { place, site, frame, nesting, kind } = event;
        let mut event = Event { seq: self.seq, at: 0, paused: 0, place, site, frame, nesting, kind };
        let is_new = expected.is_none();
        match expected {
            None => {
                (event.at, event.paused) = self.now();
                if let EventKind::RunEnded(end) = &mut event.kind {
                    end.usage = self.usage;
                }
            }
            Some(expected) => {
                self.is_resumed = true;
                self.clock.replay(&expected);
                (event.at, event.paused) = (expected.at, expected.paused);
                match (&mut event.kind, &expected.kind) {
                    (
                        EventKind::Effect { began, work, .. },
                        EventKind::Effect { began: began_before, work: work_before, .. },
                    ) => {
                        *began = *began_before;
                        work.clone_from(work_before);
                    }
                    (EventKind::RunEnded(end), EventKind::RunEnded(before)) => {
                        // Earlier versions count only the sessions that succeeded, and no handled failures.
                        (end.usage, end.sessions, end.failures) =
                            (before.usage, before.sessions, before.failures);
                    }
                    _ => {}
                }
                if !is_same(&event, &expected) {
                    let lines = [&expected, &event].map(|event| self.programs.line(event.site?));
                    return Err(RunError::Diverged(Box::new(Divergence { expected, found: event, lines })));
                }
            }
        }
        if let EventKind::Effect { effect, work, .. } = &event.kind
            && !work.is_reused
        {
            let usage = event.kind.usage();
            self.usage = Usage::sum([self.usage, usage]);
            if let Some(agent) = recalled {
                let used = usage.map_or_else(Spent::default, Spent::of);
                let session = if effect == "session" { Spent::SESSION } else { Spent::default() };
                self.meter.count(agent, session.and(used));
            }
        }
        self.own_sessions.happened(&event.kind);
        let starts = is_new && matches!(event.kind, EventKind::RunStarted(_));
        self.record(&event, is_new)?;
        if starts { self.carry_expenses() } else { Ok(()) }
    }

    /// Emits an event of this execution that is not part of the run: it is not recorded, and has the number of the previous event.
    pub(super) fn emit_unrecorded(&mut self, kind: EventKind) {
        let event = self.unrecorded_event(kind);
        (self.host.observer)(&event, true);
    }

    /// The current time, and the total time that the run was stopped before.
    pub(super) fn now(&mut self) -> (u64, u64) {
        ((self.host.clock)(), self.clock.paused(|| self.host.recall.stopped()))
    }

    pub(super) fn unrecorded_event(&mut self, kind: EventKind) -> Event {
        let (at, paused) = self.now();
        Event { seq: self.seq, at, paused, place: Place::root(), site: None, frame: 0, nesting: 0, kind }
    }

    pub(super) fn record(&mut self, event: &Event, is_new: bool) -> Result<(), RunError> {
        self.last = event.site.or(self.last);
        self.programs.apply(event);
        let recorded = self.host.store.record(event, is_new);
        if let (Err(_), EventKind::RunEnded(end)) = (&recorded, &event.kind)
            && !end.status.is_stopped()
        {
            // The result of a program is returned even if it cannot be recorded: its sessions were paid for.
            (self.host.observer)(event, is_new);
            let end = Box::new(end.clone());
            return recorded.map_err(|error| RunError::Unrecorded { end, error });
        }
        recorded?;
        self.host.recall.happened(event);
        (self.host.observer)(event, is_new);
        Ok(())
    }
}

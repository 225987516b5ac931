//! Persistent agents: where their memory lies, what goes in and what comes out (R42 to R49).

use std::sync::Arc;

use prose_syntax::text::beginning;
use smol_str::SmolStr;

use super::written_session::WrittenSession;
use super::{Cx, Exec};
use crate::effect::{Effect, Failure, MemoryPlace, MemoryScope, MemoryUse, Outcome, Reply, SessionTask};
use crate::error::ErrorKind;
use crate::event::EventKind;
use crate::frame;
use crate::machine::MemoryTurn;
use crate::names;
use crate::program::At;

/// How much of a reply stands for it in a memory and in the record of a session where the agent wrote none.
const MAX_EXCERPT: usize = 300;

impl Cx {
    /// Where an agent's memory lies; none if it is not persistent (R42).
    pub(super) fn memory_place(&self, agent: &SmolStr, at: At) -> Exec<Option<MemoryPlace>> {
        let grants = &self.run.world.settings.grants;
        let place = match self.program().memory_place(agent, at, &self.instance.folder, grants) {
            Ok(place) => place,
            Err(right) => return self.fail(ErrorKind::UnsafePath, self.not_granted(&right)),
        };
        if place.is_some() && !names::is_safe(agent) {
            return self.fail(ErrorKind::UnsafePath, names::unsafe_name("agent", agent));
        }
        Ok(place)
    }

    /// The path of a file of a memory, as agents are told it.
    pub(super) fn memory_file(&self, place: &MemoryPlace, file: &str) -> Arc<str> {
        match place.scope {
            MemoryScope::Execution => self.path_from_root(&format!("{}{file}", place.folder)),
            MemoryScope::Project | MemoryScope::Custom => format!("{}{file}", place.folder).into(),
            MemoryScope::User => format!("~/{}{file}", place.folder).into(),
        }
    }

    /// Looks up what the agent of a session remembers, and takes a number for the segment (R43, R45, R49).
    pub(super) async fn remember(
        &self,
        spoken: &WrittenSession<'_>,
    ) -> Exec<Option<(MemoryUse, MemoryTurn)>> {
        let Some((agent, at)) = &spoken.agent else { return Ok(None) };
        let place = match self.memory_place(agent, *at)? {
            Some(place) => place,
            None if spoken.resumes => {
                return self.fail(
                    ErrorKind::Other,
                    format!("agent `{agent}` has no memory to resume: give it `persist: true`, or use `session: {agent}`"),
                );
            }
            None => return Ok(None),
        };
        let asked = self.step("memory").request(Effect::Memory(place.clone()));
        let request = asked.id;
        let known = match asked.await {
            Outcome::Memory(memory) => memory,
            outcome => return self.unexpected(&outcome),
        };
        let turn = self.run.world.turn(request);
        let segment = {
            let mut segments = self.run.segments.borrow_mut();
            let last = segments.entry(Arc::clone(&place.folder)).or_default();
            *last = known.segments.max(*last) + 1;
            *last
        };
        match (&known.text, spoken.resumes) {
            (None, true) => self.warn(format!("No memory for agent '{agent}'; starting fresh")),
            (Some(_), false) if !self.run.told_fresh.borrow().contains(agent) => {
                self.run.told_fresh.borrow_mut().push(agent.clone());
                self.warn(format!("agent '{agent}' has a memory, and `session:` starts without it; `resume:` continues with it"));
            }
            _ => {}
        }
        let text = known.text.filter(|_| spoken.resumes);
        let memory = MemoryUse { place, resumes: spoken.resumes, segment, text, own_session: None };
        Ok(Some((memory, turn)))
    }

    /// Takes a reply, with the memory that is a part of it (R48).
    pub(super) fn taken(&self, mut reply: Reply, task: &SessionTask) -> Result<Reply, Failure> {
        for warning in &reply.warnings {
            self.warn(warning.clone());
        }
        if reply.is_skipped {
            // The agent keeps the memory that it has.
            return Ok(reply);
        }
        if let Some(memory) = task.memory.as_ref().filter(|_| !reply.wrote_memory) {
            let mark = reply.mark.as_deref();
            let (text, new, record) = parts_of_reply(&reply.text, memory, mark);
            if mark.is_some() && frame::split_at_line(&text, &frame::memory_line(None)).is_some() {
                self.warn(format!(
                    "a line `{}` of the reply has not the mark of the session, so it begins no memory",
                    frame::memory_line(None)
                ));
            }
            reply.text = text;
            self.emit(EventKind::MemoryWritten {
                place: memory.place.clone(),
                memory: new,
                segment: memory.segment,
                prompt: Arc::clone(&task.task),
                record,
            });
        }
        if reply.text.trim().is_empty() {
            return Err(Failure::session("the agent answered with nothing"));
        }
        Ok(reply)
    }
}

/// The result, the new memory and the record of the session in a reply. An agent that sent no memory keeps what it knew, with the beginning of
/// its reply: nothing it said is lost without trace.
fn parts_of_reply(
    reply: &Arc<str>,
    memory: &MemoryUse,
    mark: Option<&str>,
) -> (Arc<str>, Arc<str>, Arc<str>) {
    let agent = &memory.place.agent;
    let (result, rest) = match frame::split_at_line(reply, &frame::memory_line(mark)) {
        Some((result, rest)) => (Arc::from(result.trim_end()), Some(rest)),
        None => (Arc::clone(reply), None),
    };
    let (sent, record) =
        match rest.map(|rest| frame::split_at_line(rest, &frame::segment_line(mark)).unwrap_or((rest, ""))) {
            Some((memory, record)) => (Some(memory.trim()), record.trim()),
            None => (None, ""),
        };
    let head = format!("# Agent Memory: {agent}");
    let new = match sent.filter(|sent| !sent.is_empty()) {
        Some(sent) if sent.starts_with(&head) => format!("{sent}\n"),
        Some(sent) => format!("{head}\n\n{sent}\n"),
        None => {
            let known = memory.text.as_deref().map_or_else(
                || format!("{head}\n\n## Current Understanding\n\n## Decisions Made\n\n## Open Concerns\n"),
                str::to_owned,
            );
            let section =
                format!("## Segment {} Summary\n\n{}\n", memory.segment, beginning(&result, MAX_EXCERPT));
            format!("{}\n\n{section}", known.trim_end())
        }
    };
    let record = if record.is_empty() {
        format!("- Found: {}", beginning(&result, MAX_EXCERPT))
    } else {
        record.to_owned()
    };
    (result, new.into(), record.into())
}

//! The sessions of persistent agents in their own programs, which `resume:` continues while the memory is the one that they left.
//!
//! Everything comes from recorded events, so that a resumed run continues the same sessions. A later run starts from the memory: that is what an agent
//! keeps beyond a run (R42), and it is compacted (R48), while its own session grows.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::activity::Work;
use crate::effect::{MemoryPlace, Outcome, OwnSession, RequestId, SessionTask};
use crate::event::EventKind;
use crate::place::Place;
use crate::prompt;

/// The last session at each memory.
#[derive(Debug, Default)]
pub(super) struct OwnSessions {
    /// The memories of the sessions at work.
    started: FxHashMap<RequestId, MemoryPlace>,
    last: FxHashMap<MemoryPlace, LastSession>,
    /// The sessions that were ended while they waited for an answer, by place.
    stopped: FxHashMap<Place, Arc<OwnSession>>,
}

/// What a session is told that continues after an answer.
const CONTINUE: &str = "You were stopped while you waited for a permission. It is answered now: try again what you asked for, and complete the task.";

#[derive(Debug)]
struct LastSession {
    harness: SmolStr,
    id: SmolStr,
    /// The memory that it left, once it is written. An agent that writes the file itself leaves what is not recorded.
    memory: Option<Arc<str>>,
}

impl OwnSessions {
    /// Takes note of an event, whether it happens or is executed again.
    pub(super) fn happened(&mut self, kind: &EventKind) {
        match kind {
            EventKind::SessionStarted { request, task } => {
                self.started.extend(task.memory.as_ref().map(|memory| (*request, memory.place.clone())));
            }
            EventKind::Effect { request, outcome: Outcome::Reply(reply), .. } if reply.is_skipped => {
                self.started.remove(request);
            }
            // What an attempt that failed has left does not change the session before it.
            EventKind::Effect { request, outcome: Outcome::Reply(_), work, .. } => {
                let Some(place) = self.started.remove(request) else { return };
                match (&work.agent, &work.harness) {
                    (Some(agent), Some(harness)) => {
                        let (harness, id) = (harness.clone(), agent.id.clone());
                        self.last.insert(place, LastSession { harness, id, memory: None });
                    }
                    _ => _ = self.last.remove(&place),
                }
            }
            EventKind::Effect { request, .. } => _ = self.started.remove(request),
            EventKind::MemoryWritten { place, memory, .. } => {
                if let Some(last) = self.last.get_mut(place) {
                    last.memory = Some(Arc::clone(memory));
                }
            }
            _ => {}
        }
    }

    /// Takes note of a session without an outcome.
    pub(super) fn ended_early(&mut self, place: &Place, work: &Work) {
        match (&work.agent, &work.harness) {
            (Some(agent), Some(harness)) if work.unanswered() > 0 => {
                let (harness, id) = (harness.clone(), agent.id.clone());
                let own = OwnSession { harness, id, prompt: CONTINUE.into() };
                self.stopped.insert(place.clone(), Arc::new(own));
            }
            _ => _ = self.stopped.remove(place),
        }
    }

    /// The session at a place that was ended while it waited for an answer.
    pub(super) fn stopped_at(&self, place: &Place) -> Option<Arc<OwnSession>> {
        self.stopped.get(place).cloned()
    }

    /// The session that a task can continue: the last one at its memory, if that is still what it left.
    pub(super) fn continued_by(&self, task: &SessionTask) -> Option<Arc<OwnSession>> {
        let memory = task.memory.as_ref().filter(|memory| memory.resumes)?;
        let last = self.last.get(&memory.place)?;
        if last.memory.as_deref()?.trim() != memory.text.as_deref()?.trim() {
            return None;
        }
        let prompt = prompt::without_memory(task)?;
        Some(Arc::new(OwnSession { harness: last.harness.clone(), id: last.id.clone(), prompt }))
    }
}

//! The sessions of persistent agents in their own programs, which `resume:` continues while the memory is the one that they left.
//!
//! Everything comes from recorded events, so that a resumed run continues the same sessions. A later run starts from the memory: that is what an agent
//! keeps beyond a run (R42), and it is compacted (R48), while its own session grows.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::effect::{MemoryPlace, Outcome, OwnSession, RequestId, SessionTask};
use crate::event::EventKind;
use crate::prompt;

/// The last session at each memory.
#[derive(Debug, Default)]
pub(super) struct OwnSessions {
    /// The memories of the sessions at work.
    started: HashMap<RequestId, MemoryPlace>,
    last: HashMap<MemoryPlace, LastSession>,
}

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

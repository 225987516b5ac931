//! The sessions of agents that later sessions of a run continue.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use prose_vm::activity::{Activity, Reporter};
use prose_vm::effect::{OwnSession, SessionTask};
use smol_str::SmolStr;

/// The sessions that an agent does not have any more.
#[derive(Debug, Default)]
pub(super) struct GoneSessions(Mutex<HashSet<SmolStr>>);

impl GoneSessions {
    /// The session of this harness that a task continues, if the agent may still have it.
    pub(super) fn to_continue<'a>(&self, harness: &str, task: &'a SessionTask) -> Option<&'a OwnSession> {
        let left = || task.memory.as_ref()?.own_session.as_deref();
        let own = task.stopped.as_deref().or_else(left)?;
        let is_gone = || self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&own.id);
        (own.harness == harness && is_id(&own.id) && !is_gone()).then_some(own)
    }

    /// Notes that the agent has not the session: this session and all others start from the memory.
    pub(super) fn add(&self, own: &OwnSession, reporter: &Reporter) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(own.id.clone());
        let text = format!("session {} cannot be continued, so this one starts from the memory", own.id);
        reporter.report(Activity::Note { text });
    }
}

/// Whether a text is an id and nothing that an agent could read as an option or a path.
fn is_id(text: &str) -> bool {
    const MAX_LENGTH: usize = 128;
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
    !text.is_empty() && text.len() <= MAX_LENGTH && !text.starts_with('-') && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_no_options_and_no_paths() {
        assert!(is_id("0199c1de-53d1-7ad0-9aa4-5a3dd3a0b0c2") && is_id("ses_5a3dd3a0"));
        for text in ["", "--yes", "../x", "a b", "a\nb", "a=b"] {
            assert!(!is_id(text), "{text}");
        }
    }
}

//! Runs that another process executes, reached through their control channel.

use prose_run::control::Client;
use prose_vm::questions::OpenQuestion;

use crate::runs::Recorded;

/// A run that this server does not execute, as it stands.
pub(crate) struct Elsewhere {
    pub(crate) recorded: Recorded,
    /// Its open questions.
    pub(crate) open: Vec<OpenQuestion>,
    /// Whether a process executes it.
    pub(crate) is_executed: bool,
    /// Why that process cannot be asked.
    pub(crate) problem: Option<String>,
    /// How many sessions have started.
    pub(crate) sessions: u32,
}

impl Elsewhere {
    /// Asks the process of a run, if there is one.
    pub(crate) fn look(recorded: Recorded) -> Self {
        let is_executed = recorded.details.summary.status.is_executed();
        let open = recorded.waiting().to_vec();
        let mut found = Self { recorded, open, is_executed, problem: None, sessions: 0 };
        if is_executed {
            let client = Client::connect(&found.recorded.details.summary.folder);
            match client.and_then(|mut client| Ok((client.questions()?, client.status()?))) {
                Ok((open, status)) => (found.open, found.sessions) = (open, status.used.sessions),
                Err(error) => found.problem = Some(error.to_string()),
            }
        }
        found
    }
}

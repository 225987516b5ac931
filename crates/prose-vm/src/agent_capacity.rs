//! Limits parallel agents to the resources of the system.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The delays before a run tries again when no agent works, in milliseconds: about half a minute in total.
const PAUSES_MS: [u64; 7] = [250, 500, 1000, 2000, 4000, 8000, 16_000];

/// The available resources for agents.
#[derive(Debug, Default)]
pub(crate) struct AgentCapacity {
    /// The number of parallel agents when the resources ran out.
    most: Option<usize>,
    /// The number of delays since resources were last available.
    waits: usize,
    /// The end of the current delay.
    until: Option<Instant>,
    is_told: bool,
}

impl AgentCapacity {
    /// Whether the system has resources for another agent, in addition to so many.
    pub(crate) fn fits_after(&self, agents: usize) -> bool {
        self.until.is_none() && self.most.is_none_or(|most| agents < most)
    }

    /// The resources ran out with so many agents. Returns false if the run has waited long enough.
    pub(crate) fn shrinks_to(&mut self, agents: usize) -> bool {
        self.most = Some(agents.max(1));
        if agents > 0 {
            return true;
        }
        let Some(pause) = PAUSES_MS.get(self.waits) else { return false };
        self.waits += 1;
        self.until = Some(Instant::now() + Duration::from_millis(*pause));
        true
    }

    /// Resources were available for an agent.
    pub(crate) fn was_found(&mut self) {
        self.waits = 0;
    }

    /// The warning about it, once.
    pub(crate) fn warning(&mut self, reason: &str) -> Option<String> {
        let is_new = !std::mem::replace(&mut self.is_told, true);
        is_new.then(|| format!("{reason} The run continues with fewer parallel sessions"))
    }

    /// Completes at the end of the current delay; never without one.
    pub(crate) async fn opens(&mut self) {
        match self.until {
            Some(until) => {
                sleep_until(until).await;
                self.until = None;
            }
            None => std::future::pending().await,
        }
    }
}

//! How many agents the system has room for, as far as it has said so.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How long a run waits for room while none of its agents works, in milliseconds: about half a minute in all.
const PAUSES_MS: [u64; 7] = [250, 500, 1000, 2000, 4000, 8000, 16_000];

/// The room for agents.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// How many agents worked at the same time when there was no room for another one.
    most: Option<usize>,
    /// How often the run has waited since it last found room.
    waits: usize,
    /// Until when it waits.
    until: Option<Instant>,
    is_told: bool,
}

impl Room {
    /// How many agents may work now, out of those that the limits allow.
    pub(crate) fn at_most(&self, limit: usize) -> usize {
        match (self.until, self.most) {
            (Some(_), _) => 0,
            (None, Some(most)) => most.min(limit),
            (None, None) => limit,
        }
    }

    /// There was no room for another agent while so many worked. False if the run has waited for long enough.
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

    /// There was room for an agent.
    pub(crate) fn was_found(&mut self) {
        self.waits = 0;
    }

    /// What is told about it, once.
    pub(crate) fn warning(&mut self, reason: &str) -> Option<String> {
        let is_new = !std::mem::replace(&mut self.is_told, true);
        is_new.then(|| format!("{reason} The run goes on with fewer sessions at a time"))
    }

    /// Is ready when the run has waited for room; never where it does not wait.
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

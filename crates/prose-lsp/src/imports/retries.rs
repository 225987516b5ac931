//! Look-ups that failed for a reason that may pass: each is tried again a few times, after pauses that grow.

use std::collections::HashMap;
use std::time::Duration;

use prose_analysis::location::Remote;

/// Long enough not to ask a host at each edit, and short enough for a user who waits for the network.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// How much longer each pause is than the one before.
const GROWTH: u32 = 3;

/// After so many, about ten minutes, the user has to retry: by the action, by saving or by opening a program.
const MAX_RETRIES: u32 = 5;

/// The look-ups to try again.
#[derive(Debug, Default)]
pub(crate) struct Retries(HashMap<Remote, Retry>);

#[derive(Debug, Default)]
struct Retry {
    times: u32,
    is_waited_for: bool,
}

impl Retries {
    /// A look-up failed, and its host may require a pause. Returns how long to wait before the next one; none if
    /// one is waited for already, or if there were enough.
    pub(crate) fn failed(&mut self, remote: &Remote, at_least: Duration) -> Option<Duration> {
        let retry = self.0.entry(remote.clone()).or_default();
        if retry.is_waited_for || retry.times == MAX_RETRIES {
            return None;
        }
        let pause = FIRST_PAUSE * GROWTH.pow(retry.times);
        retry.times += 1;
        retry.is_waited_for = true;
        Some(pause.max(at_least))
    }

    /// A look-up succeeded, or failed for good.
    pub(crate) fn ended(&mut self, remote: &Remote) {
        self.0.remove(remote);
    }

    /// The wait for the next look-up is over. Whether it is still wanted.
    pub(crate) fn is_due(&mut self, remote: &Remote) -> bool {
        self.0.get_mut(remote).is_some_and(|retry| std::mem::take(&mut retry.is_waited_for))
    }
}

#[cfg(test)]
mod tests {
    use prose_analysis::location::Registry;
    use prose_registry::Reference;

    use super::*;

    fn remote() -> Remote {
        Remote { registry: Registry::default(), reference: Reference::parse("alice/research").unwrap() }
    }

    #[test]
    fn the_pauses_grow_and_end() {
        let mut retries = Retries::default();
        let mut pauses = Vec::new();
        while let Some(pause) = retries.failed(&remote(), Duration::ZERO) {
            pauses.push(pause.as_secs());
            assert!(retries.is_due(&remote()));
        }
        assert_eq!(pauses, [5, 15, 45, 135, 405]);
        assert_eq!(retries.failed(&remote(), Duration::ZERO), None);
    }

    #[test]
    fn a_host_that_wants_to_be_left_alone_is() {
        let hour = Duration::from_secs(3600);
        assert_eq!(Retries::default().failed(&remote(), hour), Some(hour));
    }

    #[test]
    fn what_is_waited_for_is_not_waited_for_twice() {
        let mut retries = Retries::default();
        assert!(retries.failed(&remote(), Duration::ZERO).is_some());
        assert_eq!(retries.failed(&remote(), Duration::ZERO), None);
        assert!(retries.is_due(&remote()));
        assert!(!retries.is_due(&remote()));
    }

    #[test]
    fn what_has_succeeded_meanwhile_is_not_looked_up_again() {
        let mut retries = Retries::default();
        assert!(retries.failed(&remote(), Duration::ZERO).is_some());
        retries.ended(&remote());
        assert!(!retries.is_due(&remote()));
    }
}

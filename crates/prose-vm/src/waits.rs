//! The time that requests wait for answers of the user, which is no part of their timeouts.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

/// The waits of a request. Most requests never wait and have no timeout, so the channel is made when it is needed.
#[derive(Debug, Default)]
pub(crate) struct Waits(OnceLock<watch::Sender<Waited>>);

#[derive(Debug, Default)]
struct Waited {
    /// The number of unanswered questions.
    open: usize,
    /// The time since when there is one.
    since: Option<Instant>,
    /// The total time of earlier waits.
    total: Duration,
}

/// A wait, which ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Wait(Arc<Waits>);

impl Waits {
    fn sender(&self) -> &watch::Sender<Waited> {
        self.0.get_or_init(watch::Sender::default)
    }

    /// Begins a wait. Waits at the same time count once.
    pub(crate) fn begin(self: &Arc<Self>) -> Wait {
        self.sender().send_modify(|waited| {
            waited.open += 1;
            waited.since.get_or_insert_with(Instant::now);
        });
        Wait(Arc::clone(self))
    }

    /// Completes when more than a limit has passed since a time, apart from waits.
    pub(crate) async fn exceeded(&self, since: Instant, limit: Duration) {
        let mut changes = self.sender().subscribe();
        loop {
            // The sender lives as long as this future.
            let Ok(waited) = changes.wait_for(|waited| waited.open == 0).await.map(|waited| waited.total)
            else {
                return;
            };
            let left = limit.saturating_add(waited).saturating_sub(since.elapsed());
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.0.sender().send_modify(|waited| {
            waited.open -= 1;
            if waited.open == 0
                && let Some(since) = waited.since.take()
            {
                waited.total += since.elapsed();
            }
        });
    }
}

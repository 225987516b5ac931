//! A process that all sessions of a run share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prose_vm::effect::Failure;
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::connection::Endings;

/// How long cancelled work may take to end before its process is stopped.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The same for work that waited for a person. Its agent is idle and ends it, however busy the machine is, and reports only then what it has used.
pub(super) const PATIENCE_AFTER_QUESTION: Duration = Duration::from_secs(60);

/// The task that reads what a process sends, and owns the process: dropping this stops it.
pub(super) struct Reader {
    task: Mutex<Option<JoinHandle<()>>>,
    /// The cancelled work that has not ended.
    pub(super) cancelled: Arc<Endings>,
    /// The work that waited for a person and has not ended.
    pub(super) rejected: Arc<Endings>,
}

impl Reader {
    /// Starts the task.
    pub(super) fn spawn(reading: impl Future<Output = ()> + Send + 'static, cancelled: Arc<Endings>) -> Self {
        Self { task: Mutex::new(Some(tokio::spawn(reading))), cancelled, rejected: Arc::default() }
    }

    /// Stops the process after the end of cancelled work, or at once.
    async fn stop(&self, at_once: bool) {
        if !at_once {
            // What does not end is stopped with the process.
            let _ = timeout(PATIENCE_AFTER_QUESTION, self.rejected.settled()).await;
            let _ = timeout(PATIENCE, self.cancelled.settled()).await;
        }
        if let Some(task) = self.take() {
            task.abort();
            let _ = task.await;
        }
    }

    fn take(&self) -> Option<JoinHandle<()>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.take().map(|task| task.abort());
    }
}

/// A process that sessions share.
pub(super) trait SharedProcess {
    /// The task that reads from it.
    fn reader(&self) -> &Reader;

    /// Whether it still runs.
    fn is_running(&self) -> bool;
}

/// The process that the sessions of a run share, as soon as the first one has started it.
pub(super) struct Shared<P>(AsyncMutex<Option<Arc<P>>>);

impl<P> Default for Shared<P> {
    fn default() -> Self {
        Self(AsyncMutex::default())
    }
}

impl<P: SharedProcess> Shared<P> {
    /// The process, which is started if there is none that runs and can be used.
    pub(super) async fn get(
        &self,
        is_usable: impl Fn(&P) -> bool,
        start: impl Future<Output = Result<P, Failure>>,
    ) -> Result<Arc<P>, Failure> {
        let mut current = self.0.lock().await;
        if let Some(running) = current.as_ref().filter(|process| process.is_running() && is_usable(process)) {
            return Ok(Arc::clone(running));
        }
        // One that is still used ends with its last session.
        let started = Arc::new(start.await?);
        Ok(Arc::clone(current.insert(started)))
    }

    /// Stops the process after the end of cancelled work, or at once if its endings are hurried, and waits for all that are being stopped.
    pub(super) async fn stop(&self, endings: &Endings) {
        let running = self.0.lock().await.take();
        if let Some(process) = running {
            process.reader().stop(endings.are_hurried()).await;
        }
        endings.settled().await;
    }
}

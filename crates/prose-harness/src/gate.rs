//! Waits when a provider is overloaded or limits the rate of requests: one gate for each provider and key.
//!
//! A session that is turned away closes the gate for all sessions of this process, and for those of other processes of the user by a file in the cache. Attempts
//! through the gate do not count as retries of the program. Lost connections and errors of the server are retried after a delay of their own and leave the gate
//! open.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prose_vm::activity::{Activity, ProviderRetry, Reporter};
use prose_vm::effect::Failure;
use prose_vm::error::ErrorKind;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::faults;

/// How long a session waits for its provider in total, unless the project sets another time.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// How long a session waits for a provider that cannot be connected to.
const PATIENCE_WITHOUT_CONNECTION: Duration = Duration::from_secs(30);

/// The first delay after a failure that names none; it doubles with each further one.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// The maximum delay after a failure that names none.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// The shortest closing that other processes are told of.
const MIN_SHARED: Duration = Duration::from_secs(1);

/// A failed attempt.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The failure of the session, if there is no further attempt.
    pub failure: Failure,
    /// The HTTP status, if known.
    pub status: Option<u16>,
    /// What the provider reported, in one line.
    pub reported: String,
    /// The delay that the provider asks for.
    pub retry_after: Option<Duration>,
    /// Whether the attempt can be made again: it had no effects, or the agent continues where it stopped.
    pub can_repeat: bool,
    /// Whether there was no connection at all.
    pub is_unconnected: bool,
}

impl Fault {
    /// A fault that a provider or agent reported.
    pub fn new(who: &str, status: Option<u16>, message: &str) -> Self {
        Self {
            failure: faults::failure(who, status, message),
            status: status.or_else(|| faults::quoted_status(message)),
            reported: faults::reported(status, message),
            retry_after: faults::delay_in(message),
            can_repeat: true,
            is_unconnected: false,
        }
    }

    /// A failure after which another attempt is made if waiting helps.
    pub fn repeatable(failure: Failure) -> Self {
        let reported = faults::cause(&failure).to_owned();
        let (status, retry_after) = (faults::quoted_status(&reported), faults::delay_in(&reported));
        Self { status, reported, retry_after, can_repeat: true, ..Self::last(failure) }
    }

    /// A failure after which no further attempt is made.
    pub fn last(failure: Failure) -> Self {
        let reported = failure.message.clone();
        Self { failure, status: None, reported, retry_after: None, can_repeat: false, is_unconnected: false }
    }
}

/// Where sessions wait for a provider.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    /// The file by which processes of the user share the gate.
    file: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct State {
    /// When the gate opens.
    opens: Option<Instant>,
    /// The number of closings since the last success.
    closings: u32,
    /// The last time in the file that was taken over.
    seen: Option<u64>,
}

impl Gate {
    /// The gate for a provider or agent and a key. `folder` is the folder of gates in the user's cache.
    pub fn of(provider: &str, key: Option<&str>, folder: Option<&Path>) -> Arc<Self> {
        type Gates = HashMap<(String, Option<PathBuf>), Weak<Gate>>;
        static GATES: LazyLock<Mutex<Gates>> = LazyLock::new(Mutex::default);
        let hash =
            Sha256::new().chain_update(provider).chain_update([0]).chain_update(key.unwrap_or_default());
        let name: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let file = folder.map(|folder| folder.join(&name));
        let mut gates = GATES.lock().unwrap_or_else(PoisonError::into_inner);
        gates.retain(|_, gate| gate.strong_count() > 0);
        let known = gates.entry((name, file.clone())).or_default();
        known.upgrade().unwrap_or_else(|| {
            let gate = Arc::new(Gate { file, ..Gate::default() });
            *known = Arc::downgrade(&gate);
            gate
        })
    }

    /// A reporter for an agent that retries by itself: where its provider turned it away, the gate is closed for the others, too.
    pub fn watch(self: &Arc<Self>, reporter: &Reporter) -> Reporter {
        let gate = Arc::clone(self);
        reporter.clone().watched_by(move |activity| {
            if let Activity::ProviderRetry(ProviderRetry { status, delay_ms, message, .. }) = activity
                && faults::classify(*status, message) == ErrorKind::RateLimit
            {
                gate.close(Some(Duration::from_millis(*delay_ms)));
            }
        })
    }

    /// Makes attempts until one succeeds, fails for good, or the time that a session waits is over. Each retry is reported.
    pub async fn attempts<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        patience: Duration,
        reporter: &Reporter,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, Failure> {
        let mut attempts = Attempts::new(self, patience, reporter);
        loop {
            attempts.begin().await;
            match attempt().await {
                Ok(done) => {
                    attempts.succeeded();
                    return Ok(done);
                }
                Err(fault) => attempts.failed(fault).await?,
            }
        }
    }

    /// Waits until the gate is open.
    async fn pass(&self) {
        while let Some(opens) = self.opens() {
            // Not all sessions that waited should come at once.
            let spread = opens.saturating_duration_since(Instant::now()).min(Duration::from_secs(5)) / 10;
            tokio::time::sleep_until(opens + spread.mul_f64(fastrand::f64())).await;
        }
    }

    /// When the gate opens; `None` if it is open.
    fn opens(&self) -> Option<Instant> {
        let now = Instant::now();
        let shared = self.file.as_deref().and_then(read_time);
        let mut state = self.state();
        if let Some(time) = shared.filter(|time| state.seen != Some(*time)) {
            state.seen = Some(time);
            let left = Duration::from_millis(time.saturating_sub(since_epoch()));
            state.opens = state.opens.max(Some(now + left));
        }
        state.opens.filter(|opens| *opens > now)
    }

    /// Closes the gate, and returns for how long.
    fn close(&self, retry_after: Option<Duration>) -> Duration {
        let now = Instant::now();
        let mut state = self.state();
        let left =
            state.opens.map(|opens| opens.saturating_duration_since(now)).filter(|left| !left.is_zero());
        let delay = match (retry_after, left) {
            (Some(delay), left) => delay.max(left.unwrap_or_default()),
            // Sessions that were turned away together count as one.
            (None, Some(left)) => return left,
            (None, None) => backoff(state.closings),
        };
        state.closings += u32::from(left.is_none());
        state.opens = Some(now + delay);
        if let Some(file) = self.file.as_deref().filter(|_| delay >= MIN_SHARED) {
            let time = since_epoch() + delay.as_millis() as u64;
            state.seen = Some(time);
            write_time(file, time);
        }
        delay
    }

    fn succeeded(&self) {
        self.state().closings = 0;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The attempts of a session.
#[derive(Debug)]
pub struct Attempts<'a> {
    gate: &'a Gate,
    patience: Duration,
    reporter: &'a Reporter,
    first_fault: Option<Instant>,
    failed: u32,
}

impl<'a> Attempts<'a> {
    /// The attempts of a session that waits for some time in total.
    pub fn new(gate: &'a Gate, patience: Duration, reporter: &'a Reporter) -> Self {
        Self { gate, patience, reporter, first_fault: None, failed: 0 }
    }

    /// Waits until the next attempt may begin. Reports the wait for a gate that another session has closed.
    pub async fn begin(&self) {
        if self.failed == 0
            && let Some(opens) = self.gate.opens()
        {
            let delay = opens.saturating_duration_since(Instant::now());
            self.reporter.report(Activity::ProviderRetry(ProviderRetry {
                attempt: 0,
                status: None,
                delay_ms: delay.as_millis() as u64,
                message: "the provider turned another session away".to_owned(),
            }));
        }
        self.gate.pass().await;
    }

    /// An attempt has succeeded.
    pub fn succeeded(&self) {
        self.gate.succeeded();
    }

    /// An attempt has failed. Reports the retry and waits if there is to be one.
    ///
    /// # Errors
    ///
    /// Returns the failure of the session if no further attempt is made.
    pub async fn failed(&mut self, fault: Fault) -> Result<(), Failure> {
        let kind = fault.failure.kind;
        if !fault.can_repeat || !faults::is_transient(kind) {
            return Err(fault.failure);
        }
        let now = Instant::now();
        let patience = match fault.is_unconnected {
            true => self.patience.min(PATIENCE_WITHOUT_CONNECTION),
            false => self.patience,
        };
        let deadline = *self.first_fault.get_or_insert(now) + patience;
        self.failed += 1;
        let delay = match kind {
            ErrorKind::RateLimit => self.gate.close(fault.retry_after),
            _ => fault.retry_after.unwrap_or_else(|| backoff(self.failed - 1)),
        };
        if now + delay > deadline {
            return Err(fault.failure);
        }
        self.reporter.report(Activity::ProviderRetry(ProviderRetry {
            attempt: self.failed,
            status: fault.status,
            delay_ms: delay.as_millis() as u64,
            message: fault.reported,
        }));
        if kind != ErrorKind::RateLimit {
            tokio::time::sleep(delay).await;
        }
        Ok(())
    }
}

/// The delay after a number of failures in a row.
fn backoff(failures: u32) -> Duration {
    let delay = FIRST_DELAY.saturating_mul(1 << failures.min(16)).min(MAX_DELAY);
    delay.mul_f64(0.5 + fastrand::f64() / 2.0)
}

fn since_epoch() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

fn read_time(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Writes the time at which a gate opens. The gate works without the file, so errors are ignored.
fn write_time(file: &Path, time: u64) {
    let Some(folder) = file.parent() else { return };
    let _ = fs::create_dir_all(folder);
    let new = file.with_extension(format!("{}.new", std::process::id()));
    if fs::write(&new, time.to_string()).is_ok() && fs::rename(&new, file).is_err() {
        let _ = fs::remove_file(&new);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use prose_vm::activity::NoApprovals;
    use prose_vm::effect::RequestId;

    use super::*;

    fn limited(retry_after: Option<u64>) -> Fault {
        Fault {
            retry_after: retry_after.map(Duration::from_secs),
            ..Fault::new("openai", Some(429), "Too many")
        }
    }

    /// Makes attempts, of which the first ones fail.
    async fn after(gate: &Gate, failures: &[Fault]) -> Result<u32, Failure> {
        let tried = AtomicU32::new(0);
        gate.attempts(PATIENCE, &Reporter::silent(), async || {
            let number = tried.fetch_add(1, Ordering::Relaxed);
            failures.get(number as usize).cloned().map_or(Ok(number), Err)
        })
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_is_turned_away_closes_the_gate_for_all() {
        let gate = Gate::default();
        let start = Instant::now();
        let turned_away = [limited(Some(30))];
        let (first, second) = tokio::join!(after(&gate, &turned_away), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let done = after(&gate, &[]).await;
            (done, start.elapsed())
        });
        assert_eq!(first, Ok(1));
        assert_eq!(second.0, Ok(0));
        assert!(second.1 >= Duration::from_secs(30) && second.1 < Duration::from_secs(31), "{:?}", second.1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_waits_for_the_gate_says_so() {
        let gate = Gate::default();
        let (sink, mut reports) = tokio::sync::mpsc::unbounded_channel();
        let reporter = Reporter::new(RequestId(1), sink, Arc::new(NoApprovals));
        Attempts::new(&gate, PATIENCE, &reporter).begin().await;
        assert!(reports.try_recv().is_err());
        gate.close(Some(Duration::from_secs(12)));
        Attempts::new(&gate, PATIENCE, &reporter).begin().await;
        let Ok((_, Activity::ProviderRetry(wait))) = reports.try_recv() else {
            panic!("nothing is reported")
        };
        assert_eq!((wait.attempt, wait.delay_ms), (0, 12_000));
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_retries_by_itself_closes_the_gate_for_the_others() {
        let gate = Arc::new(Gate::default());
        let reporter = gate.watch(&Reporter::silent());
        let retry = |status: u16| {
            let message = "retry".to_owned();
            Activity::ProviderRetry(ProviderRetry {
                attempt: 1,
                status: Some(status),
                delay_ms: 8_000,
                message,
            })
        };
        reporter.report(retry(500));
        assert!(gate.opens().is_none());
        let start = Instant::now();
        reporter.report(retry(429));
        assert_eq!(after(&gate, &[]).await, Ok(0));
        assert!(start.elapsed() >= Duration::from_secs(8), "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn delays_grow_up_to_a_minute_and_start_again_after_a_success() {
        let gate = Gate::default();
        let start = Instant::now();
        assert_eq!(after(&gate, &vec![limited(None); 8]).await, Ok(8));
        let elapsed = start.elapsed();
        // 1, 2, 4, 8, 16, 32, 60 and 60 seconds, each at least half.
        assert!(elapsed > Duration::from_secs(91) && elapsed < Duration::from_secs(200), "{elapsed:?}");
        let start = Instant::now();
        assert_eq!(after(&gate, &[limited(None)]).await, Ok(1));
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_has_an_end() {
        let gate = Gate::default();
        let start = Instant::now();
        let failure = after(&gate, &vec![limited(None); 1000]).await.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::RateLimit);
        assert!(start.elapsed() <= PATIENCE, "{:?}", start.elapsed());
        // A delay that is longer than a session waits is not waited for.
        let start = Instant::now();
        after(&Gate::default(), &[limited(Some(3600))]).await.unwrap_err();
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_connection_leaves_the_gate_open() {
        let gate = Gate::default();
        let lost = Fault::new("openai", None, "connection reset by peer");
        let faults = [lost.clone(), lost];
        let (first, second) = tokio::join!(after(&gate, &faults), async {
            let start = Instant::now();
            let done = after(&gate, &[]).await;
            (done, start.elapsed())
        });
        assert_eq!(first, Ok(2));
        assert_eq!(second, (Ok(0), Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn what_waiting_does_not_help_fails_at_once() {
        let gate = Gate::default();
        for (fault, kind) in [
            (Fault::new("openai", Some(401), "Unauthorized"), ErrorKind::Auth),
            (Fault::new("openai", Some(400), "wrong"), ErrorKind::Session),
            (Fault { can_repeat: false, ..limited(None) }, ErrorKind::RateLimit),
        ] {
            assert_eq!(after(&gate, &[fault]).await.unwrap_err().kind, kind);
        }
        assert!(gate.opens().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_that_cannot_be_connected_to_is_given_up_early() {
        let unconnected = Fault { is_unconnected: true, ..Fault::new("openai", None, "connection refused") };
        let start = Instant::now();
        let failure = after(&Gate::default(), &vec![unconnected; 100]).await.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::Provider);
        assert!(start.elapsed() <= PATIENCE_WITHOUT_CONNECTION, "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn processes_share_a_gate_by_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let ours = Gate { file: Some(folder.path().join("gates/one")), ..Gate::default() };
        let theirs = Gate { file: ours.file.clone(), ..Gate::default() };
        ours.close(Some(Duration::from_secs(20)));
        let left = theirs.opens().unwrap() - Instant::now();
        assert!(left > Duration::from_secs(10) && left <= Duration::from_secs(20), "{left:?}");
        // It counts once, whatever the clock of the system says then.
        tokio::time::sleep(Duration::from_secs(21)).await;
        assert!(theirs.opens().is_none());
    }

    #[test]
    fn a_provider_and_key_has_one_gate() {
        let one = Gate::of("openai", Some("a"), None);
        assert!(Arc::ptr_eq(&one, &Gate::of("openai", Some("a"), None)));
        assert!(!Arc::ptr_eq(&one, &Gate::of("openai", Some("b"), None)));
        assert!(!Arc::ptr_eq(&one, &Gate::of("anthropic", Some("a"), None)));
    }
}

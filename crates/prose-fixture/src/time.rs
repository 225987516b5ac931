//! Times of tests that compare the cost of two inputs.

use std::time::Duration;

/// The processor time that this thread needs for some work. Other work on the machine does not count, as it does for the time on the wall; on Windows, where
/// only that is known, it does.
pub fn processor_time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = now();
    let result = work();
    let time = now().saturating_sub(start);
    drop(result);
    time
}

#[cfg(unix)]
fn now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

#[cfg(not(unix))]
fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

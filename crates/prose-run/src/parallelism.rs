//! How many sessions are at work at the same time: as many as the setting, the free memory and the cores allow.

use std::collections::BTreeMap;
use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prose_harness::footprint::{Footprint, Load};
use prose_harness::registry::asks_model;
use prose_syntax::text::counted;
use prose_vm::effect::RequestId;
use prose_vm::runner::Capacity;
use smol_str::SmolStr;
use tokio::time::Instant;

use crate::memory;

/// The time after which the memory of a session is in use and no longer reserved.
const SETTLED_AFTER: Duration = Duration::from_secs(10);

/// How long a measurement counts.
const MEASURED_FOR: Duration = Duration::from_millis(200);

/// The memory that sessions leave to everything else.
const LEFT_MB: u64 = 256;

const MB: u64 = 1 << 20;

/// The resources of a machine.
#[derive(Clone)]
pub struct Machine {
    /// The free memory in bytes; `None` if it is not known.
    pub free_memory: Arc<dyn Fn() -> Option<u64> + Send + Sync>,
    /// The number of cores.
    pub cores: usize,
}

impl Machine {
    /// The machine on which this process runs.
    pub fn this() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { free_memory: Arc::new(memory::free), cores }
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free = (self.free_memory)();
        f.debug_struct("Machine").field("free_memory", &free).field("cores", &self.cores).finish()
    }
}

/// Shares out a machine among the sessions of a run.
#[derive(Debug)]
pub struct Parallelism {
    machine: Machine,
    /// `run.max-parallel`
    setting: Option<NonZeroU32>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    at_work: BTreeMap<RequestId, AtWork>,
    measured: Option<(Instant, Option<u64>)>,
}

#[derive(Debug)]
struct AtWork {
    harness: SmolStr,
    /// The memory that it will use.
    memory: u64,
    since: Instant,
    /// Whether it waits for a person, so that it needs no core.
    is_waiting: bool,
}

impl Parallelism {
    /// The sessions of a run on a machine, limited by `run.max-parallel` if it is set.
    pub fn new(machine: Machine, setting: Option<NonZeroU32>) -> Self {
        Self { machine, setting, state: Mutex::default() }
    }

    /// The number of sessions of a harness that can be at work now.
    fn at_most(&self, harness: &str) -> usize {
        let needs = Footprint::of(harness);
        let allowed = self.setting.map_or_else(
            || needs.max_parallel(self.machine.cores),
            |setting| usize::try_from(setting.get()).unwrap_or(usize::MAX),
        );
        let fitting = (self.machine.free_memory)().and_then(|free| {
            let usable = free.saturating_sub(LEFT_MB * MB + u64::from(needs.shared_mb) * MB);
            usable.checked_div(u64::from(needs.session_mb) * MB)
        });
        let fitting = fitting.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX));
        allowed.min(fitting).max(1)
    }

    /// What limits the sessions of a harness, in one line; `None` if it asks no model.
    pub fn describe(&self, harness: &str) -> Option<String> {
        if !asks_model(harness) {
            return None;
        }
        let needs = Footprint::of(harness);
        let count = self.at_most(harness);
        let sessions = counted(count, "session");
        let mut reasons = Vec::new();
        match (self.setting, needs.load) {
            (Some(_), _) => reasons.push("`max-parallel` is set".to_owned()),
            (None, Load::Processes) => reasons.push(counted(self.machine.cores, "core")),
            (None, _) => {}
        }
        if needs.session_mb > 0
            && let Some(free) = (self.machine.free_memory)()
        {
            reasons.push(format!("{} free, {harness} needs {} MB a session", size(free), needs.session_mb));
        }
        let reasons = reasons.join(", ");
        Some(match reasons.is_empty() {
            true => format!("up to {sessions} at a time"),
            false => format!("up to {sessions} at a time: {reasons}"),
        })
    }
}

/// An amount of memory in a few characters.
fn size(bytes: u64) -> String {
    match bytes >> 30 {
        0 => format!("{} MB", bytes >> 20),
        gigabytes @ 1..10 => format!("{gigabytes}.{} GB", ((bytes % (1 << 30)) * 10) >> 30),
        gigabytes => format!("{gigabytes} GB"),
    }
}

impl Capacity for Parallelism {
    fn begin(&self, request: RequestId, harness: &str) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { at_work, measured } = &mut *state;
        let needs = Footprint::of(harness);
        let is_same = |load: Load| move |it: &&AtWork| Footprint::of(&it.harness).load == load;
        if self.setting.is_none() && !at_work.is_empty() {
            let working = at_work.values().filter(|it| !it.is_waiting);
            let others = match needs.load {
                Load::Processes => working.filter(is_same(Load::Processes)).count(),
                Load::Requests | Load::Nothing => working.count(),
            };
            if others >= needs.max_parallel(self.machine.cores) {
                return false;
            }
        }
        let has_server = at_work.values().any(|it| it.harness == harness);
        let shared_mb = if has_server { 0 } else { needs.shared_mb };
        let memory = u64::from(needs.session_mb + shared_mb) * MB;
        let now = Instant::now();
        if memory > 0 && !at_work.is_empty() {
            let free = match *measured {
                Some((at, free)) if now < at + MEASURED_FOR => free,
                _ => measured.insert((now, (self.machine.free_memory)())).1,
            };
            // What was started a moment ago is not in use yet.
            let reserved: u64 = at_work
                .values()
                .filter(|it| now.duration_since(it.since) < SETTLED_AFTER)
                .map(|it| it.memory)
                .sum();
            if free.is_some_and(|free| free < reserved + memory + LEFT_MB * MB) {
                return false;
            }
        }
        at_work.insert(request, AtWork { harness: harness.into(), memory, since: now, is_waiting: false });
        true
    }

    fn waits(&self, request: RequestId, is_waiting: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at_work) = state.at_work.get_mut(&request) {
            at_work.is_waiting = is_waiting;
        }
    }

    fn end(&self, request: RequestId) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).at_work.remove(&request);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn parallelism(free_mb: &Arc<AtomicU64>, cores: usize, setting: Option<u32>) -> Parallelism {
        let free_mb = Arc::clone(free_mb);
        let free_memory = Arc::new(move || Some(free_mb.load(Ordering::SeqCst) * MB));
        Parallelism::new(Machine { free_memory, cores }, setting.and_then(NonZeroU32::new))
    }

    /// Starts as many of 100 sessions as there is room for.
    fn started(parallelism: &Parallelism, harness: &str, first: u64) -> usize {
        (first..first + 100).filter(|id| parallelism.begin(RequestId(*id), harness)).count()
    }

    fn described(free_mb: u64, cores: usize, setting: Option<u32>, harness: &str) -> String {
        parallelism(&Arc::new(AtomicU64::new(free_mb)), cores, setting).describe(harness).unwrap_or_default()
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_start_only_when_their_memory_is_free() {
        let free = Arc::new(AtomicU64::new(256 + 4 * 190));
        let parallelism = parallelism(&free, 16, None);
        assert_eq!(started(&parallelism, "claude", 0), 4);
        assert!(!parallelism.begin(RequestId(900), "claude"));

        // They use less than reserved, and what is free then counts.
        free.store(256 + 2 * 190, Ordering::SeqCst);
        tokio::time::advance(SETTLED_AFTER).await;
        assert_eq!(started(&parallelism, "claude", 100), 2);

        // Another program takes the memory: what ends is not replaced, but one session is always at work.
        free.store(100, Ordering::SeqCst);
        tokio::time::advance(SETTLED_AFTER).await;
        assert_eq!(started(&parallelism, "claude", 200), 0);
        (0..300).for_each(|id| parallelism.end(RequestId(id)));
        assert_eq!(started(&parallelism, "claude", 300), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn cores_limit_processes_and_a_setting_replaces_them() {
        let free = Arc::new(AtomicU64::new(64 << 10));
        assert_eq!(started(&parallelism(&free, 2, None), "claude", 0), 8);
        assert_eq!(started(&parallelism(&free, 2, Some(50)), "claude", 0), 100);
        assert_eq!(started(&parallelism(&free, 2, None), "provider", 0), 32);
        assert_eq!(started(&parallelism(&free, 64, None), "offline", 0), 8);
        let mixed = parallelism(&free, 2, None);
        assert_eq!((started(&mixed, "claude", 0), started(&mixed, "provider", 100)), (8, 24));
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_that_wait_for_a_person_need_no_core() {
        let free = Arc::new(AtomicU64::new(64 << 10));
        let parallelism = parallelism(&free, 2, None);
        assert_eq!(started(&parallelism, "claude", 0), 8);
        (0..3).for_each(|id| parallelism.waits(RequestId(id), true));
        assert_eq!(started(&parallelism, "claude", 100), 3);
        parallelism.waits(RequestId(0), false);
        parallelism.end(RequestId(100));
        assert_eq!(started(&parallelism, "claude", 200), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_of_one_server_share_its_memory() {
        let Footprint { session_mb, shared_mb, .. } = Footprint::of("codex");
        let free = Arc::new(AtomicU64::new(256 + u64::from(shared_mb + 5 * session_mb)));
        assert_eq!(started(&parallelism(&free, 16, None), "codex", 0), 5);
    }

    #[test]
    fn the_start_of_a_run_says_how_many() {
        assert_eq!(
            described(8 << 10, 16, None, "claude"),
            "up to 41 sessions at a time: 16 cores, 8.0 GB free, claude needs 190 MB a session"
        );
        assert_eq!(
            described(300, 1, None, "claude"),
            "up to 1 session at a time: 1 core, 300 MB free, claude needs 190 MB a session"
        );
        assert_eq!(
            described(64 << 10, 2, Some(3), "claude"),
            "up to 3 sessions at a time: `max-parallel` is set, 64 GB free, claude needs 190 MB a session"
        );
        assert_eq!(described(8 << 10, 2, None, "provider"), "up to 32 sessions at a time");
        assert_eq!(described(8 << 10, 2, None, "offline"), "");
    }
}

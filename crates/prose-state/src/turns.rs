//! Turns at the memories of agents: while a session of one run works with a memory, sessions of other runs wait for it (R48, R49).
//!
//! A memory is locked for a run, not for a session: sessions of one run may use it at the same time. The system takes a lock back when its process ends,
//! in whatever way. A request has one turn at most and needs no other one to come to its end, so that runs never wait for each other in a circle.

use std::fs::{File, TryLockError};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use prose_files::Folder;
use prose_vm::effect::RequestId;
use prose_vm::store::Turn;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::StateError;

/// The file that is locked where the system does not lock folders.
const LOCK_FILE: &str = ".lock";

/// How long a run waits that has to write what a session remembered before the run stopped. That session is over and has no turn.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long it waits between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// The memories that a run uses or waits for.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// By their folders.
    memories: FxHashMap<PathBuf, Used>,
    /// The memory of each request that has a turn or waits for one.
    of: FxHashMap<RequestId, PathBuf>,
}

/// A memory that a run uses or waits for.
#[derive(Debug)]
struct Used {
    lock: Lock,
    requests: FxHashSet<RequestId>,
}

#[derive(Debug)]
enum Lock {
    /// It lasts as long as the file is open.
    Held(#[allow(dead_code, reason = "kept open")] File),
    /// A thread waits for it.
    Awaited(Arc<Slot>),
}

impl Turns {
    /// Takes a turn at the memory in a folder, which exists, or says when to try again.
    pub(crate) fn take(&mut self, request: RequestId, folder: &Path) -> Result<Turn, StateError> {
        if !self.memories.contains_key(folder) {
            let lock = match try_lock(folder)? {
                Ok(lock) => Lock::Held(lock),
                Err(file) => Lock::Awaited(wait(file).map_err(StateError::io("wait for", folder))?),
            };
            let used = Used { lock, requests: FxHashSet::default() };
            self.memories.insert(folder.to_owned(), used);
        }
        let Some(used) = self.memories.get_mut(folder) else { return Ok(Turn::Taken) };
        if let Lock::Awaited(slot) = &used.lock {
            match slot.take() {
                None => {
                    let waiting = Waiting(Arc::clone(slot));
                    used.requests.insert(request);
                    self.of.insert(request, folder.to_owned());
                    return Ok(Turn::Waits(Box::pin(waiting)));
                }
                Some(Ok(lock)) => used.lock = Lock::Held(lock),
                Some(Err(error)) => {
                    self.memories.remove(folder);
                    return Err(StateError::io("lock", folder)(error));
                }
            }
        }
        used.requests.insert(request);
        self.of.insert(request, folder.to_owned());
        Ok(Turn::Taken)
    }

    /// Takes a turn if no other run has it. Returns whether it could.
    pub(crate) fn take_at_once(&mut self, request: RequestId, folder: &Path) -> Result<bool, StateError> {
        if !self.memories.contains_key(folder) {
            let Ok(lock) = try_lock(folder)? else { return Ok(false) };
            let used = Used { lock: Lock::Held(lock), requests: FxHashSet::default() };
            self.memories.insert(folder.to_owned(), used);
        }
        Ok(matches!(self.take(request, folder)?, Turn::Taken))
    }

    /// Gives a turn back, or waits for it no longer.
    pub(crate) fn end(&mut self, request: RequestId) {
        let Some(folder) = self.of.remove(&request) else { return };
        let Some(used) = self.memories.get_mut(&folder) else { return };
        used.requests.remove(&request);
        if used.requests.is_empty() {
            if let Lock::Awaited(slot) = &used.lock {
                slot.abandon();
            }
            self.memories.remove(&folder);
        }
    }

    /// A lock for writing to a memory now; none if the run has it already, or if another run does not give it back.
    pub(crate) fn for_writing(&self, folder: &Path) -> Result<Option<File>, StateError> {
        if matches!(self.memories.get(folder), Some(Used { lock: Lock::Held(_), .. })) {
            return Ok(None);
        }
        let start = Instant::now();
        loop {
            match try_lock(folder)? {
                Ok(lock) => return Ok(Some(lock)),
                Err(_) if start.elapsed() > TIMEOUT => return Ok(None),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        for used in self.memories.values() {
            if let Lock::Awaited(slot) = &used.lock {
                slot.abandon();
            }
        }
    }
}

/// Where a thread puts the lock that it has waited for.
#[derive(Debug, Default)]
struct Slot(Mutex<Waited>);

#[derive(Debug, Default)]
struct Waited {
    lock: Option<io::Result<File>>,
    is_over: bool,
    /// Whether no request waits for the lock any more.
    is_abandoned: bool,
    wakers: Vec<Waker>,
}

impl Slot {
    fn waited(&self) -> MutexGuard<'_, Waited> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<io::Result<File>> {
        self.waited().lock.take()
    }

    fn put(&self, lock: io::Result<File>) {
        let mut waited = self.waited();
        if !waited.is_abandoned {
            waited.lock = Some(lock);
        }
        waited.is_over = true;
        waited.wakers.drain(..).for_each(Waker::wake);
    }

    fn abandon(&self) {
        let mut waited = self.waited();
        waited.is_abandoned = true;
        waited.lock = None;
    }
}

/// Ends when the lock is there, or when it cannot be had.
struct Waiting(Arc<Slot>);

impl Future for Waiting {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut waited = self.0.waited();
        if waited.is_over {
            return Poll::Ready(());
        }
        waited.wakers.push(context.waker().clone());
        Poll::Pending
    }
}

/// Has a thread wait for a lock. One that no request waits for any more is released at once.
fn wait(file: File) -> io::Result<Arc<Slot>> {
    let slot = Arc::new(Slot::default());
    let there = Arc::clone(&slot);
    std::thread::Builder::new().name("prose-memory".to_owned()).spawn(move || {
        let locked = file.lock().map(|()| file);
        there.put(locked);
    })?;
    Ok(slot)
}

/// Locks the memory in a folder; the file to wait with if another run has locked it.
fn try_lock(folder: &Path) -> Result<Result<File, File>, StateError> {
    let locked = |file: File| match file.try_lock() {
        Ok(()) => Ok(Ok(file)),
        Err(TryLockError::WouldBlock) => Ok(Err(file)),
        Err(TryLockError::Error(error)) => Err(error),
    };
    // A folder that is locked itself has no file in it that people would wonder about.
    #[cfg(unix)]
    if let Ok(result) = File::open(folder).and_then(locked) {
        return Ok(result);
    }
    // Some file systems lock only files that can be written to, and some systems do not open folders.
    let path = folder.join(LOCK_FILE);
    let file = Folder::open(folder)?.lockable(LOCK_FILE)?;
    locked(file).map_err(StateError::io("lock", &path))
}

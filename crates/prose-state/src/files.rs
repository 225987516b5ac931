//! The `state.md` of the executions of a run, written when they have changed, though not more often than is worth it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::disk::Tree;
use crate::error::StateError;
use crate::executions::Executions;

/// How many times the duration of a write passes before the next one, so that writing takes a small share of the time however large the files are.
const PAUSE_PER_WRITE: u32 = 20;

/// The files of a run and what is known of its executions.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) tree: Tree,
    pub(crate) executions: Executions,
    /// When the next write may be; none before the first one.
    next: Option<Instant>,
    /// Whether a write waits for its time.
    waits: bool,
    closing: bool,
    error: Option<StateError>,
}

impl Files {
    /// Writes each `state.md` that is out of date.
    pub(crate) fn write(&mut self) -> Result<(), StateError> {
        let start = Instant::now();
        self.waits = false;
        let tree = &mut self.tree;
        self.executions.write(|path, text| tree.write(path, text.as_bytes()))?;
        let now = Instant::now();
        self.next = Some(now + (now - start) * PAUSE_PER_WRITE);
        Ok(())
    }
}

/// The files, and a thread that writes what had to wait.
#[derive(Debug)]
pub(crate) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    files: Mutex<Files>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Files> {
        // A panic would have been while an event was taken up; the files then show what came before.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    pub(crate) fn new(tree: Tree, executions: Executions) -> Self {
        let files = Files { tree, executions, next: None, waits: false, closing: false, error: None };
        Self { shared: Arc::new(Shared { files: Mutex::new(files), changed: Condvar::new() }), thread: None }
    }

    pub(crate) fn files(&self) -> MutexGuard<'_, Files> {
        self.shared.lock()
    }

    /// Writes what is out of date, now or as soon as it is worth it. Tells what went wrong with an earlier write.
    pub(crate) fn commit(&mut self) -> Result<(), StateError> {
        let mut files = self.shared.lock();
        if let Some(error) = files.error.take() {
            return Err(error);
        }
        if files.waits || !files.executions.is_dirty() {
            return Ok(());
        }
        if files.next.is_none_or(|next| next <= Instant::now()) {
            return files.write();
        }
        files.waits = true;
        self.shared.changed.notify_one();
        drop(files);
        if self.thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("prose-state".to_owned());
            // Without a thread, the next settling after the pause writes.
            self.thread = thread.spawn(move || write_later(&shared)).ok();
            if self.thread.is_none() {
                self.shared.lock().waits = false;
            }
        }
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // A run that was stopped shows how far it came. No caller is left for the error.
        let _ = self.shared.lock().write();
    }
}

fn write_later(shared: &Shared) {
    let mut files = shared.lock();
    while !files.closing {
        let now = Instant::now();
        let next = files.next.unwrap_or(now);
        if files.waits && next <= now {
            if let Err(error) = files.write() {
                files.error = Some(error);
            }
            continue;
        }
        let pause = if files.waits { next - now } else { Duration::MAX };
        files = match pause {
            Duration::MAX => shared.changed.wait(files).unwrap_or_else(PoisonError::into_inner),
            pause => shared.changed.wait_timeout(files, pause).unwrap_or_else(PoisonError::into_inner).0,
        };
    }
}

//! The bounded pool of threads that reads run in.
//!
//! Work goes to the thread that was the last to finish, and a new thread is started only when all are busy. So a client that asks
//! for one thing at a time has one thread, whose memory is used again and again; taking turns, each thread would keep as
//! much as its largest answer ever took.

use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::panics::guard;

type Job = Box<dyn FnOnce() + Send>;

/// A pool whose threads end when it is dropped and everything that was asked of it is done.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    limit: usize,
}

#[derive(Default)]
struct Shared(Mutex<State>);

#[derive(Default)]
struct State {
    threads: usize,
    /// The jobs that wait for a thread. No thread is idle while there are some.
    waiting: VecDeque<Job>,
    idle: Vec<Sender<Job>>,
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No job runs under the lock, so nothing panics there.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    /// A pool of at most `limit` threads.
    pub(crate) fn new(limit: usize) -> Self {
        Self { shared: Arc::default(), limit }
    }

    /// Does `job` as soon as a thread has time.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.lock();
        let job: Job = Box::new(job);
        match state.idle.pop() {
            // An idle thread waits on the other end.
            Some(thread) => drop(thread.send(job)),
            None => {
                state.waiting.push_back(job);
                if state.threads < self.limit && self.start_thread() {
                    state.threads += 1;
                }
                // On a system that gives no thread at all, being slow is better than never answering.
                if state.threads == 0
                    && let Some(job) = state.waiting.pop_back()
                {
                    drop(state);
                    let _ = guard("working", job);
                }
            }
        }
    }

    fn start_thread(&self) -> bool {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("read".to_owned()).spawn(move || work(&shared));
        if let Err(error) = &thread {
            tracing::error!("a thread could not be started: {error}");
        }
        thread.is_ok()
    }
}

fn work(shared: &Shared) {
    let (sender, receiver) = channel();
    loop {
        let mut state = shared.lock();
        let job = match state.waiting.pop_front() {
            Some(job) => job,
            None if state.closed => return,
            None => {
                state.idle.push(sender.clone());
                drop(state);
                match receiver.recv() {
                    Ok(job) => {
                        let _ = guard("working", job);
                        continue;
                    }
                    Err(_) => return,
                }
            }
        };
        drop(state);
        let _ = guard("working", job);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        for thread in state.idle.drain(..) {
            // Any job has the thread look around and find that there will be no more.
            let _ = thread.send(Box::new(|| {}));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::mpsc::Receiver;
    use std::thread::{ThreadId, current};
    use std::time::Duration;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn thread_of_next_job(pool: &Pool) -> ThreadId {
        let (sender, receiver) = channel();
        pool.run(move || sender.send(current().id()).unwrap());
        receiver.recv_timeout(PATIENCE).unwrap()
    }

    fn wait_until_idle(pool: &Pool, count: usize) {
        while pool.shared.lock().idle.len() < count {
            std::thread::yield_now();
        }
    }

    #[test]
    fn one_job_at_a_time_takes_one_thread() {
        let pool = Pool::new(4);
        let mut threads = HashSet::new();
        for _ in 0..50 {
            threads.insert(thread_of_next_job(&pool));
            wait_until_idle(&pool, 1);
        }
        assert_eq!(threads.len(), 1);
    }

    /// Starts `count` jobs that each report their start and then wait for the sender.
    fn hold(pool: &Pool, count: usize) -> (Receiver<()>, Vec<Sender<()>>) {
        let (running, runs) = channel();
        let holds = (0..count).map(|_| {
            let (release, released) = channel::<()>();
            let running = running.clone();
            pool.run(move || {
                running.send(()).unwrap();
                let _ = released.recv();
            });
            release
        });
        let holds = holds.collect();
        (runs, holds)
    }

    #[test]
    fn there_are_never_more_threads_than_allowed() {
        let pool = Pool::new(3);
        let (runs, mut holds) = hold(&pool, 5);
        for _ in 0..3 {
            runs.recv_timeout(PATIENCE).unwrap();
        }
        assert!(runs.recv_timeout(Duration::from_millis(100)).is_err(), "a fourth job runs");
        holds.clear();
        for _ in 0..2 {
            runs.recv_timeout(PATIENCE).unwrap();
        }
        assert_eq!(pool.shared.lock().threads, 3);
    }

    #[test]
    fn a_job_that_panics_costs_no_thread() {
        let pool = Pool::new(1);
        for _ in 0..3 {
            pool.run(|| panic!("this job always panics"));
        }
        thread_of_next_job(&pool);
    }

    #[test]
    fn what_was_asked_is_done_although_the_pool_is_dropped() {
        let pool = Pool::new(1);
        let (done, all_done) = channel();
        for number in 0..100 {
            let done = done.clone();
            pool.run(move || done.send(number).unwrap());
        }
        let shared = Arc::downgrade(&pool.shared);
        drop((pool, done));
        assert_eq!(all_done.iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        let since = std::time::Instant::now();
        while shared.strong_count() > 0 {
            assert!(since.elapsed() < PATIENCE, "the thread does not end");
            std::thread::yield_now();
        }
    }
}

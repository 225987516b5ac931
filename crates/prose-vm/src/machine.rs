//! A machine that executes a program, step by step between the answers of the world.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_executor::LocalPool;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use futures_util::task::LocalSpawnExt;

use crate::effect::{Effect, Outcome, Request, RequestId};
use crate::event::{RunEnd, What};
use crate::place::{Place, Site};
use crate::settings::Settings;

/// A machine that executes a program.
///
/// It runs until it can go no further without an answer ([`Machine::settle`]), says what happened and what it waits for, and goes on when it
/// is told an outcome ([`Machine::deliver`]). It knows no clock, no files and no network, and runs on one thread, so that the same answers in the
/// same order always give the same run.
pub struct Machine {
    pool: LocalPool,
    world: Rc<World>,
}

/// What a machine says, in the order in which it happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Something happened.
    Event(Happening),
    /// An answer is needed.
    Ask(Request),
    /// The answer to an earlier question is not needed any more: the work for it should stop (R52).
    Cancel(RequestId),
    /// The session is over that a memory was asked for: other runs may use the memory.
    EndTurn(RequestId),
}

/// An event before it has a number and a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// Where in the execution.
    pub place: Place,
    /// The part of the text it is about.
    pub site: Option<Site>,
    /// The execution id of the frame.
    pub frame: u32,
    /// How deep it is nested.
    pub nesting: u32,
    /// What happened.
    pub what: What,
}

impl Machine {
    /// A machine that executes what `run` makes of its world.
    pub(crate) fn start<R>(settings: Settings, run: impl FnOnce(Rc<World>) -> R) -> Self
    where
        R: Future<Output = RunEnd> + 'static,
    {
        let pool = LocalPool::new();
        let world = Rc::new(World {
            spawner: pool.spawner(),
            settings,
            said: RefCell::default(),
            waiting: RefCell::default(),
            paused: RefCell::default(),
            requests: Cell::new(0),
            nested: Cell::new(0),
            end: RefCell::default(),
        });
        let run = run(Rc::clone(&world));
        let end = Rc::clone(&world);
        let main = async move {
            let result = run.await;
            *end.end.borrow_mut() = Some(result);
        };
        // Spawning fails only when the pool is gone.
        _ = world.spawner.spawn_local(main);
        Self { pool, world }
    }

    /// Goes on as far as possible without an answer, and gives what was said since the last time. Where much is said without a question, it
    /// pauses in between ([`Machine::is_paused`]).
    pub fn settle(&mut self) -> Vec<Said> {
        let paused = self.world.paused.take();
        paused.into_iter().for_each(Waker::wake);
        self.pool.run_until_stalled();
        std::mem::take(&mut *self.world.said.borrow_mut())
    }

    /// Whether it can go on at once and only waits for the next call of [`Machine::settle`].
    pub fn is_paused(&self) -> bool {
        !self.world.paused.borrow().is_empty()
    }

    /// Tells what came of a request. Nothing happens if it is not needed any more.
    pub fn deliver(&mut self, request: RequestId, outcome: Outcome) {
        let mut waiting = self.world.waiting.borrow_mut();
        if let Some(slot) = waiting.get_mut(&request) {
            slot.outcome = Some(outcome);
            if let Some(waker) = slot.waker.take() {
                waker.wake();
            }
        }
    }

    /// How the program ended, once it has.
    pub fn end(&self) -> Option<RunEnd> {
        self.world.end.borrow().clone()
    }
}

/// How many futures may lie in one another. Each takes a few hundred bytes of stack in release builds, some kilobytes in debug builds.
const NESTED: u32 = 24;

/// How much may be said before a machine pauses.
const BREATH: usize = 4096;

/// What an interpreter shares with the machine around it.
pub(crate) struct World {
    spawner: futures_executor::LocalSpawner,
    pub(crate) settings: Settings,
    said: RefCell<Vec<Said>>,
    waiting: RefCell<BTreeMap<RequestId, Slot>>,
    /// Those that go on with the next settling.
    paused: RefCell<Vec<Waker>>,
    requests: Cell<u64>,
    /// How many futures lie around the one that is polled now.
    nested: Cell<u32>,
    end: RefCell<Option<RunEnd>>,
}

#[derive(Default)]
struct Slot {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
}

impl World {
    pub(crate) fn say(&self, happening: Happening) {
        self.said.borrow_mut().push(Said::Event(happening));
    }

    /// Pauses where much was said since the last settling, so that a program that asks for nothing can be stopped too.
    pub(crate) async fn breathe(&self) {
        if self.said.borrow().len() < BREATH {
            return;
        }
        let mut has_paused = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut has_paused, true) {
                return Poll::Ready(());
            }
            self.paused.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The number of the next request. To be used by [`World::ask`] at once.
    pub(crate) fn next_request(&self) -> RequestId {
        RequestId(self.requests.get() + 1)
    }

    /// Asks for an effect. The request is made now, not when the future is polled; dropping the future withdraws it.
    pub(crate) fn ask(self: &Rc<Self>, place: Place, site: Site, effect: Effect) -> Asked {
        let id = self.next_request();
        self.requests.set(id.0);
        self.waiting.borrow_mut().insert(id, Slot::default());
        self.said.borrow_mut().push(Said::Ask(Request { id, place, site, effect }));
        Asked { world: Rc::clone(self), id }
    }

    /// The turn that a request for a memory has when it is answered.
    pub(crate) fn turn(self: &Rc<Self>, request: RequestId) -> MemoryTurn {
        MemoryTurn { world: Rc::clone(self), request }
    }

    /// A future that may lie in itself. Where too many lie in one another, it becomes a task of its own.
    pub(crate) fn nest<T: 'static>(
        self: &Rc<Self>,
        future: impl Future<Output = T> + 'static,
    ) -> LocalBoxFuture<'static, T> {
        if self.nested.get() >= NESTED {
            return self.apart(future);
        }
        let world = Rc::clone(self);
        async move {
            let mut future = std::pin::pin!(future);
            std::future::poll_fn(|context| {
                let around = world.nested.get();
                world.nested.set(around + 1);
                let polled = future.as_mut().poll(context);
                world.nested.set(around);
                polled
            })
            .await
        }
        .boxed_local()
    }

    /// Runs a future as a task of its own, so that it does not lie on the stack of the one that waits for it. Dropping what is returned ends it.
    pub(crate) fn apart<T: 'static>(
        &self,
        future: impl Future<Output = T> + 'static,
    ) -> LocalBoxFuture<'static, T> {
        let (remote, handle) = future.remote_handle();
        // Spawning fails only when the pool is gone, and then nobody polls the handle either.
        _ = self.spawner.spawn_local(remote);
        handle.boxed_local()
    }
}

/// The turn of a session at the memory of its agent. Dropping it ends the turn.
pub(crate) struct MemoryTurn {
    world: Rc<World>,
    request: RequestId,
}

impl Drop for MemoryTurn {
    fn drop(&mut self) {
        self.world.said.borrow_mut().push(Said::EndTurn(self.request));
    }
}

/// The answer to a request, when it comes.
pub(crate) struct Asked {
    world: Rc<World>,
    pub(crate) id: RequestId,
}

impl Future for Asked {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut waiting = self.world.waiting.borrow_mut();
        let Some(slot) = waiting.get_mut(&self.id) else { return Poll::Pending };
        match slot.outcome.take() {
            Some(outcome) => {
                waiting.remove(&self.id);
                Poll::Ready(outcome)
            }
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.world.waiting.borrow_mut().remove(&self.id).is_some() {
            self.world.said.borrow_mut().push(Said::Cancel(self.id));
        }
    }
}

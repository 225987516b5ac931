//! The machine: executes a program step by step and requests effects from the runner.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_executor::LocalPool;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use futures_util::task::LocalSpawnExt;

use crate::effect::{Effect, Outcome, Permission, Request, RequestId};
use crate::event::{EventKind, RunEnd};
use crate::place::{Place, Site};
use crate::settings::Settings;
use smol_str::SmolStr;

/// Executes a program.
///
/// It runs until it is blocked on the outcomes of its requests ([`Machine::advance`]), returns its output, and continues when an outcome is delivered
/// ([`Machine::deliver`]). It uses no clock, no files and no network, and runs on one thread: the same outcomes in the same order always give the
/// same run.
pub struct Machine {
    pool: LocalPool,
    world: Rc<World>,
}

/// The output of a machine, in order.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "most outputs are events, and each is moved once")]
pub enum MachineOutput {
    /// An event.
    Event(NewEvent),
    /// A request for an effect.
    Request(Request),
    /// The outcome of an earlier request is not needed any more: the work for it must be cancelled (R52).
    Cancel(RequestId),
    /// The session that a memory was requested for has ended: other runs may use the memory.
    EndTurn(RequestId),
}

/// An event without a number and a time yet.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// The place in the execution.
    pub place: Place,
    /// The statement or part of it.
    pub site: Option<Site>,
    /// The execution id of the frame.
    pub frame: u32,
    /// The nesting depth.
    pub nesting: u32,
    /// The kind of event.
    pub kind: EventKind,
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
            output: RefCell::default(),
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
        // Spawning fails only when the pool has been dropped.
        _ = world.spawner.spawn_local(main);
        Self { pool, world }
    }

    /// Runs until it is blocked, and returns the output since the last call. It pauses after a lot of output without a request
    /// ([`Machine::is_paused`]).
    pub fn advance(&mut self) -> Vec<MachineOutput> {
        let mut output = Vec::new();
        self.advance_into(&mut output);
        output
    }

    /// The same, into the memory of earlier output.
    pub(crate) fn advance_into(&mut self, output: &mut Vec<MachineOutput>) {
        output.clear();
        // The memory for a lot of output is not kept for the whole run.
        output.shrink_to(MAX_BUFFERED_OUTPUT);
        let paused = self.world.paused.take();
        paused.into_iter().for_each(Waker::wake);
        self.pool.run_until_stalled();
        std::mem::swap(output, &mut *self.world.output.borrow_mut());
    }

    /// Whether it can continue without an outcome, with the next call of [`Machine::advance`].
    pub fn is_paused(&self) -> bool {
        !self.world.paused.borrow().is_empty()
    }

    /// Delivers the outcome of a request. Outcomes of cancelled requests are ignored.
    pub fn deliver(&mut self, request: RequestId, outcome: Outcome) {
        let mut waiting = self.world.waiting.borrow_mut();
        if let Some(slot) = waiting.get_mut(&request) {
            slot.outcome = Some(outcome);
            if let Some(waker) = slot.waker.take() {
                waker.wake();
            }
        }
    }

    /// The permissions of sessions without own rules.
    pub(crate) fn permissions(&self) -> Arc<[Permission]> {
        Arc::clone(&self.world.settings.permissions)
    }

    /// The result of the program once it has ended.
    pub fn end(&self) -> Option<RunEnd> {
        self.world.end.borrow().clone()
    }
}

/// The maximum nesting of futures. Each takes a few hundred bytes of stack in release builds and some kilobytes in debug builds.
const MAX_NESTED_FUTURES: u32 = 24;

/// The amount of output after which a machine pauses.
const MAX_BUFFERED_OUTPUT: usize = 4096;

/// The state that the interpreter shares with its machine.
pub(crate) struct World {
    spawner: futures_executor::LocalSpawner,
    pub(crate) settings: Settings,
    output: RefCell<Vec<MachineOutput>>,
    waiting: RefCell<BTreeMap<RequestId, Slot>>,
    /// The tasks that continue with the next call of [`Machine::advance`].
    paused: RefCell<Vec<Waker>>,
    requests: Cell<u64>,
    /// The nesting depth of the future that is polled now.
    nested: Cell<u32>,
    end: RefCell<Option<RunEnd>>,
}

#[derive(Default)]
struct Slot {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
}

impl World {
    pub(crate) fn emit(&self, happening: NewEvent) {
        self.output.borrow_mut().push(MachineOutput::Event(happening));
    }

    /// Pauses after a lot of output since the last call of [`Machine::advance`], so that a program without requests can be stopped too.
    pub(crate) async fn yield_now(&self) {
        if self.output.borrow().len() < MAX_BUFFERED_OUTPUT {
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

    /// The number of the next request. The caller must make that request immediately ([`World::request`]).
    pub(crate) fn next_request(&self) -> RequestId {
        RequestId(self.requests.get() + 1)
    }

    /// Requests an effect. The request is made immediately, not when the future is polled; dropping the future cancels it.
    pub(crate) fn request(
        self: &Rc<Self>,
        place: Place,
        (program, site): (Option<SmolStr>, Site),
        effect: Effect,
    ) -> PendingOutcome {
        let id = self.next_request();
        self.requests.set(id.0);
        self.waiting.borrow_mut().insert(id, Slot::default());
        self.output.borrow_mut().push(MachineOutput::Request(Request { id, place, site, program, effect }));
        PendingOutcome { world: Rc::clone(self), id }
    }

    /// The memory turn that starts when a request for a memory is answered.
    pub(crate) fn turn(self: &Rc<Self>, request: RequestId) -> MemoryTurn {
        MemoryTurn { world: Rc::clone(self), request }
    }

    /// Boxes a recursive future. Beyond [`MAX_NESTED_FUTURES`] it becomes a task of its own.
    pub(crate) fn nest<T: 'static>(
        self: &Rc<Self>,
        future: impl Future<Output = T> + 'static,
    ) -> NestedFuture<T> {
        let is_too_deep = self.nested.get() >= MAX_NESTED_FUTURES;
        let future = if is_too_deep { self.spawn(future) } else { future.boxed_local() };
        NestedFuture { world: Rc::clone(self), future }
    }

    /// Runs a future as a separate task, so that it does not use the stack of its caller. Dropping the returned future cancels it.
    pub(crate) fn spawn<T: 'static>(
        &self,
        future: impl Future<Output = T> + 'static,
    ) -> LocalBoxFuture<'static, T> {
        let (remote, handle) = future.remote_handle();
        // Spawning fails only when the pool has been dropped, and then the handle is not polled either.
        _ = self.spawner.spawn_local(remote);
        handle.boxed_local()
    }
}

/// A future that counts as nested in the one that polls it.
pub(crate) struct NestedFuture<T> {
    world: Rc<World>,
    future: LocalBoxFuture<'static, T>,
}

impl<T> Future for NestedFuture<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Self { world, future } = self.get_mut();
        let around = world.nested.get();
        world.nested.set(around + 1);
        let polled = future.as_mut().poll(context);
        world.nested.set(around);
        polled
    }
}

/// The exclusive use of an agent's memory by a session. Dropping it ends the turn.
pub(crate) struct MemoryTurn {
    world: Rc<World>,
    request: RequestId,
}

impl Drop for MemoryTurn {
    fn drop(&mut self) {
        self.world.output.borrow_mut().push(MachineOutput::EndTurn(self.request));
    }
}

/// The future outcome of a request.
pub(crate) struct PendingOutcome {
    world: Rc<World>,
    pub(crate) id: RequestId,
}

impl Future for PendingOutcome {
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

impl Drop for PendingOutcome {
    fn drop(&mut self) {
        if self.world.waiting.borrow_mut().remove(&self.id).is_some() {
            self.world.output.borrow_mut().push(MachineOutput::Cancel(self.id));
        }
    }
}

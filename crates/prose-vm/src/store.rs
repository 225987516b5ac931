//! The interface between a run and the store of its state.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use crate::activity::Work;
use crate::effect::{
    Binding, Failure, FileUse, Memory, MemoryPlace, MemoryUse, Outcome, Request, RequestId, Usage,
};
use crate::error::ErrorKind;
use crate::event::{Event, Expense};

/// Stores the state of a run. All calls come from one thread, in the order of the events.
pub trait Store {
    /// Records an event. `is_new` is false for events of a resumed run that are executed again up to where it stopped; they are not written again.
    ///
    /// An outcome ([`crate::event::EventKind::Effect`]) has been handed to the operating system when this returns, with everything before it: it
    /// survives if the process is killed. Other events follow from outcomes and may be buffered until [`Store::commit`].
    fn record(&mut self, event: &Event, is_new: bool) -> io::Result<()>;

    /// Whether outcomes of agents may be buffered until [`Store::commit`], since they are stored elsewhere until then. Several that are there at the same time
    /// are written together.
    fn gathers_outcomes(&self) -> bool {
        false
    }

    /// Writes buffered events. Called when the program is blocked, before work on its requests starts.
    fn commit(&mut self) -> io::Result<()>;

    /// A request to a model has started after the event with the number `after`, or has used something since: what the run has used for it if the process
    /// ends before an outcome or an [`Expense`] of it is recorded. The last such call for an attempt counts; one without requests reports that it was put off.
    ///
    /// It survives the end of the process after the next [`Store::commit`].
    fn at_work(&mut self, _after: u64, _expense: &Expense) -> io::Result<()> {
        Ok(())
    }

    /// Called before a session starts that may write the file of a binding: the file of an earlier session with the same name must not be read as its
    /// result.
    fn prepare(&mut self, _binding: &Binding) -> io::Result<()> {
        Ok(())
    }

    /// The value that an agent wrote to the file of a binding, without the head of R101 if it wrote one; `None` if there is no file (R31, decision 21).
    fn read_binding(&mut self, binding: &Binding) -> io::Result<Option<String>>;

    /// Takes the turn of a request at the memory of an agent, before the memory is read. Other runs wait while one run has its turn, so that each
    /// reads what the previous one wrote (R48, R49). Called again after the run has waited.
    fn take_turn(&mut self, _request: &Request, _place: &MemoryPlace) -> io::Result<Turn> {
        Ok(Turn::Taken)
    }

    /// Ends a turn: the session that the memory was requested for has ended, or the request was cancelled.
    fn end_turn(&mut self, _request: RequestId) {}

    /// The outcome of a request comes from an earlier execution, which may also have performed what follows from it.
    fn recalled(&mut self, _request: &Request) {}

    /// Reads the memory of an agent.
    fn read_memory(&mut self, place: &MemoryPlace) -> io::Result<Memory>;

    /// Reads a file that a program passes on (decision 12). A path that leads out of the folders that the run may read (decision 14), to a protected
    /// file, or to a file that the program has no right to (decision 19) is an [`ErrorKind::UnsafePath`].
    fn read_file(&mut self, file: &FileUse) -> Result<Arc<str>, Failure>;

    /// Checks a file that an agent is to read itself: fails as [`Store::read_file`] does, except for its size and encoding, which matter only if the
    /// content becomes part of a prompt.
    fn check_file(&mut self, file: &FileUse) -> Result<(), Failure>;

    /// Whether an agent has written its memory and its segment.
    fn has_written_memory(&mut self, memory: &MemoryUse) -> io::Result<bool>;
}

/// Whether a request has its turn at a memory.
pub enum Turn {
    /// The request has its turn.
    Taken,
    /// Another run has the turn. The future completes when it is worth trying again.
    Waits(Pin<Box<dyn Future<Output = ()> + Send>>),
}

/// The requests without an outcome, in the order in which they were made.
pub type PendingRequests = BTreeMap<RequestId, Request>;

/// The recorded outcomes of an earlier execution of the same run.
pub trait Recording {
    /// The outcome of one of the pending requests; if several are recorded, of the one that came first in the earlier execution. `None` if no outcome
    /// of a pending request is recorded.
    fn recall(&mut self, waiting: &PendingRequests) -> Option<(RequestId, Outcome)>;

    /// What the backend reported for the outcome that was returned last, if this execution does not read it from [`Recording::expected`].
    fn last_work(&mut self) -> Work {
        Work::default()
    }

    /// What earlier executions have used and no event of this execution repeats. Returned once: when the run starts from a new journal, or when it
    /// continues after its recorded events.
    fn expenses(&mut self) -> Vec<Expense> {
        Vec::new()
    }

    /// Whether later requests may have recorded outcomes although no pending one has. The runner then asks again whenever the program is blocked:
    /// after a change of the program, new requests lie between recorded ones.
    fn may_know_more(&self) -> bool {
        false
    }

    /// Whether the outcome of a pending request is recorded and will be returned later: an earlier outcome is lost and must be requested again first,
    /// so that the order stays the same.
    fn is_known(&self, request: RequestId) -> bool {
        let _ = request;
        false
    }

    /// Called for each event of this execution, before outcomes of requests after it are looked up. A recording without events uses it to follow the
    /// position of the program.
    fn happened(&mut self, event: &Event) {
        let _ = event;
    }

    /// When the earlier execution stopped, as the [`Event::at`] and [`Event::paused`] of an event that is not executed again. `None` if the last
    /// event that is executed again has these times.
    fn stopped(&self) -> Option<(u64, u64)> {
        None
    }

    /// The usage of the earlier executions, with that of cancelled requests, which no outcome has; `None` if it is not recorded.
    fn used(&self) -> Option<Usage> {
        None
    }

    /// Whether the working tree of a session that starts has the work of other sessions alone, which the program asked before it changed. From then on, no
    /// recorded outcome of a session in that tree is returned.
    fn abandons_tree(&mut self, request: &Request) -> bool {
        let _ = request;
        false
    }

    /// The event of that number in the earlier execution, if the event of this execution must be equal. A difference is an error: the program has
    /// changed, or something in it is not determined by the recorded outcomes.
    fn expected(&mut self, seq: u64) -> Option<Event> {
        let _ = seq;
        None
    }
}

/// The recording of a new run: it is empty.
pub struct NoRecording;

impl Recording for NoRecording {
    fn recall(&mut self, _: &PendingRequests) -> Option<(RequestId, Outcome)> {
        None
    }
}

/// A store without files, for dry runs of texts without a folder.
pub struct NoStore;

impl Store for NoStore {
    fn record(&mut self, _: &Event, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn read_binding(&mut self, _: &Binding) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn read_memory(&mut self, _: &MemoryPlace) -> io::Result<Memory> {
        Ok(Memory::default())
    }

    fn read_file(&mut self, _: &FileUse) -> Result<Arc<str>, Failure> {
        let message = "this run has no folder to read files from".to_owned();
        Err(Failure { kind: ErrorKind::Other, message })
    }

    fn check_file(&mut self, file: &FileUse) -> Result<(), Failure> {
        self.read_file(file).map(drop)
    }

    fn has_written_memory(&mut self, _: &MemoryUse) -> io::Result<bool> {
        Ok(false)
    }
}

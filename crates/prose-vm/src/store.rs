//! What a run needs of those who keep its state.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use crate::effect::{Binding, Failure, FileUse, Memory, MemoryPlace, MemoryUse, Outcome, Request, RequestId};
use crate::error::ErrorKind;
use crate::event::Event;

/// Keeps the state of a run. All calls come from one thread, in the order in which things happen.
pub trait Store {
    /// Takes up an event. `is_new` says whether it happens now; events of a run that is executed again up to where it stopped are
    /// taken up once more without being written once more.
    ///
    /// An outcome ([`crate::event::What::Effect`]) is on its way to the disk when this returns, with everything before it: it is not lost if the process is killed
    /// now. Other events follow from outcomes, and may wait until [`Store::settle`].
    fn record(&mut self, event: &Event, is_new: bool) -> io::Result<()>;

    /// Called when the program has gone as far as it can without an answer, before anybody works on what it asks for. Brings to the disk what may
    /// wait until then.
    fn settle(&mut self) -> io::Result<()>;

    /// Called before a session starts that may write to the file of a binding: one of an earlier session with the same name must not be taken for
    /// its result.
    fn prepare(&mut self, _binding: &Binding) -> io::Result<()> {
        Ok(())
    }

    /// Called before a session starts whose agent may write its memory itself: makes the folder that the agent is told to write to.
    fn prepare_memory(&mut self, _place: &MemoryPlace) -> io::Result<()> {
        Ok(())
    }

    /// What an agent has written to the file of a binding, without its head; none if there is no file (R31).
    fn read_binding(&mut self, binding: &Binding) -> io::Result<Option<String>>;

    /// Takes the turn of a request at the memory of an agent, before it is read. While one run has a turn, other runs wait, so that each reads what the one
    /// before has written (R48, R49). Asked again when the run has waited.
    fn take_turn(&mut self, _request: &Request, _place: &MemoryPlace) -> io::Result<Turn> {
        Ok(Turn::Taken)
    }

    /// The session is over that a request for a memory was made for, or the request is not needed any more.
    fn end_turn(&mut self, _request: RequestId) {}

    /// The outcome of a request is known from an earlier execution, which may also have done what follows from it.
    fn recalled(&mut self, _request: &Request) {}

    /// What an agent remembers.
    fn read_memory(&mut self, place: &MemoryPlace) -> io::Result<Memory>;

    /// The content of a file that a program passes on (decision 12). A path that leads out of the places that the run may read (decision 14), to a
    /// protected file, or to one that the program has no right to (decision 19) is an [`ErrorKind::UnsafePath`].
    fn read_file(&mut self, file: &FileUse) -> Result<Arc<str>, Failure>;

    /// Whether an agent can be told to read a file that a program passes on: fails as [`Store::read_file`] does, except for what only matters to
    /// who puts the content into a prompt, its size and whether it is text.
    fn check_file(&mut self, file: &FileUse) -> Result<(), Failure>;

    /// Whether an agent has written its memory and its segment.
    fn has_written_memory(&mut self, memory: &MemoryUse) -> io::Result<bool>;
}

/// Whether a request has its turn at a memory.
pub enum Turn {
    /// It has.
    Taken,
    /// Another run has it. The future ends when it is worth trying again.
    Waits(Pin<Box<dyn Future<Output = ()> + Send>>),
}

/// The requests that wait, in the order in which they were made.
pub type Waiting = BTreeMap<RequestId, Request>;

/// Remembers what came of the requests of an earlier execution of the same run.
pub trait Recall {
    /// Of the requests that wait: one whose outcome is known, and the outcome. Where several are known, the
    /// one that came first in the earlier execution. None when nothing more is known of any of them; it is not asked again then.
    fn recall(&mut self, waiting: &Waiting) -> Option<(RequestId, Outcome)>;

    /// Whether it may know of later requests although it knows of none that waits now. It is asked again at each settling then: after a change of the
    /// program, what is new stands between what is known.
    fn may_know_more(&self) -> bool {
        false
    }

    /// Whether the outcome of a request that waits is known and will be told later: one that came before it is lost, has to be asked for again, and comes
    /// first, so that the program goes the way it went.
    fn is_known(&self, request: RequestId) -> bool {
        let _ = request;
        false
    }

    /// Takes up an event of this execution, before anything is recalled that is asked for behind it. What keeps no events of the earlier
    /// execution follows by them where the program is.
    fn happened(&mut self, event: &Event) {
        let _ = event;
    }

    /// When the earlier execution stopped, as [`Event::at`] and [`Event::paused`] say of an event that is not executed again. None if the last
    /// event that is executed again says it.
    fn stopped(&self) -> Option<(u64, u64)> {
        None
    }

    /// The event of that number in the earlier execution, if an event of this execution has to be the same. An event that differs
    /// is an error: the program has changed, or something in it is not determined by what is recorded.
    fn expected(&mut self, seq: u64) -> Option<Event> {
        let _ = seq;
        None
    }
}

/// Remembers nothing: a run that starts.
pub struct Fresh;

impl Recall for Fresh {
    fn recall(&mut self, _: &Waiting) -> Option<(RequestId, Outcome)> {
        None
    }
}

/// Keeps nothing and knows nothing: a run that stands for itself.
pub struct NoStore;

impl Store for NoStore {
    fn record(&mut self, _: &Event, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn settle(&mut self) -> io::Result<()> {
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

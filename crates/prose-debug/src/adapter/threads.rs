//! Notifies the client of branches of `parallel` that start and end: they are its threads.

use std::collections::BTreeSet;
use std::io::{self, Write};

use dapts::event;

use super::{Adapter, thread_id};
use crate::debuggee::BranchChange;
use crate::timeline::NodeId;

impl<W: Write> Adapter<W> {
    /// Reports which branches have started and ended while the debugger moves with the run. One that has ended already is not news.
    pub(super) fn report_changed_branches(&mut self) -> io::Result<()> {
        let changes = {
            let mut debuggee = self.debuggee();
            // What has stopped meanwhile shows the branches of its own event.
            debuggee.is_running().then(|| debuggee.take_changed_branches())
        };
        let Some(changes) = changes else { return Ok(()) };
        let mut open = self.branches.clone();
        for change in changes {
            match change {
                BranchChange::Started(branch) => _ = open.insert(branch),
                BranchChange::Ended(branch) => _ = open.remove(&branch),
                BranchChange::NoneLeft => open.clear(),
            }
        }
        self.report_difference(open)
    }

    /// Reports the difference to the branches at the event at which the debugger stands, also after a step back.
    pub(super) fn report_branches(&mut self) -> io::Result<()> {
        let open = {
            let mut debuggee = self.debuggee();
            debuggee.take_changed_branches();
            debuggee.timeline.branches_at(debuggee.cursor()).collect()
        };
        self.report_difference(open)
    }

    fn report_difference(&mut self, open: BTreeSet<NodeId>) -> io::Result<()> {
        let before = std::mem::replace(&mut self.branches, open.clone());
        let ended = before.difference(&open).map(|branch| (*branch, dapts::ThreadEventReason::Exited));
        let started = open.difference(&before).map(|branch| (*branch, dapts::ThreadEventReason::Started));
        for (branch, reason) in ended.chain(started) {
            let thread_id = thread_id(branch);
            self.emit::<event::Thread>(dapts::ThreadEvent { reason, thread_id })?;
        }
        Ok(())
    }
}

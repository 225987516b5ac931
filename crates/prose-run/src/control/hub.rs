//! The events of a run, kept for its watchers.
//!
//! The thread that executes the run only adds each event to a queue of limited size. The thread of the channel writes them as lines, once for all watchers
//! and many at a time. A watcher that does not keep up with what is kept is told so and continues with the oldest lines that are left.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prose_vm::activity::Activity;
use prose_vm::effect::Outcome;
use prose_vm::event::{Event, EventKind};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::protocol::write_event;

/// How many events are kept, for watchers that attach: more than a journal holds back before it writes them.
const MAX_EVENTS: usize = 4096;

/// How many bytes of texts they hold at most.
const MAX_TEXT: usize = 8 << 20;

/// How many bytes of lines are kept for watchers that read slowly.
const MAX_LINES: usize = 8 << 20;

/// The shortest time between two writes. Each one wakes all watchers, which then read many events at a time.
const PACE: Duration = Duration::from_millis(40);

/// The events of a run.
#[derive(Default)]
pub(super) struct Hub {
    state: Mutex<State>,
    /// There are events to write, or the run has ended.
    arrived: Notify,
    /// Changes when there are new lines.
    published: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    /// The last events. They are counted from 0 in the order in which they happened, which is finer than their numbers in the run.
    events: VecDeque<Arc<Event>>,
    /// The count of the first one that is kept.
    first: u64,
    /// The bytes of their texts.
    text: usize,
    /// The number of the last event that is not kept any more.
    journal: u64,
    /// The number of the last event.
    last: u64,
    watchers: usize,
    /// The lines that are written, the oldest first.
    chunks: VecDeque<Arc<Chunk>>,
    /// The bytes of the lines.
    lines: usize,
    /// The count of the first event without lines.
    written: u64,
    /// Whether the thread of the channel has been woken and has not looked since.
    is_woken: bool,
    has_ended: bool,
    /// Whether all lines are written after the end.
    is_finished: bool,
}

/// Lines of events that follow each other.
pub(super) struct Chunk {
    /// The count of the first event, and of the one after the last.
    from: u64,
    to: u64,
    /// The number of the last event.
    last: u64,
    pub(super) lines: Vec<u8>,
}

/// The place of a watcher among the events.
pub(super) struct Attachment {
    hub: Arc<Hub>,
    /// The count of the next event to send.
    next: u64,
    /// The number of the last event sent.
    last: u64,
    /// Events up to this number are in the journal only.
    pub(super) journal: u64,
    /// The number of the last event before the watcher attached.
    pub(super) before: u64,
}

/// What there is to send to a watcher.
pub(super) enum Next {
    Lines(Arc<Chunk>),
    /// Events after that number are left out.
    Lagged(u64),
    /// Nothing now.
    Nothing,
    /// Nothing any more.
    Finished,
}

impl Hub {
    /// Adds an event.
    pub(super) fn add(&self, event: &Event) {
        let mut state = self.lock();
        state.text += weight(event);
        state.last = event.seq;
        state.events.push_back(Arc::new(event.clone()));
        while state.events.len() > MAX_EVENTS || (state.text > MAX_TEXT && state.events.len() > 1) {
            let Some(oldest) = state.events.pop_front() else { break };
            state.text -= weight(&oldest);
            state.first += 1;
            state.journal = oldest.seq;
        }
        let wakes = state.watchers > 0 && !std::mem::replace(&mut state.is_woken, true);
        drop(state);
        if wakes {
            self.arrived.notify_one();
        }
    }

    /// The run has ended.
    pub(super) fn end(&self) {
        self.lock().has_ended = true;
        self.arrived.notify_one();
    }

    /// Writes lines until the run has ended.
    pub(super) async fn write(&self) {
        let mut next = Instant::now();
        loop {
            self.arrived.notified().await;
            if !self.lock().has_ended {
                tokio::select! {
                    () = tokio::time::sleep_until(next) => {}
                    // Events do not notify again before they are written, only the end of the run does.
                    () = self.arrived.notified() => {}
                }
            }
            next = Instant::now() + PACE;
            let has_ended = self.write_new();
            if has_ended {
                self.lock().is_finished = true;
            }
            self.published.send_replace(());
            if has_ended {
                return;
            }
        }
    }

    /// Writes the lines of new events. Returns whether the run has ended and all lines are written.
    fn write_new(&self) -> bool {
        let mut state = self.lock();
        state.is_woken = false;
        let has_ended = state.has_ended;
        let end = state.end();
        let from = state.written.max(state.first);
        state.written = end;
        if state.watchers == 0 || from == end {
            return has_ended;
        }
        let new = state.since(from);
        drop(state);
        let (lines, last) = (lines_of(&new), new.last().map_or(0, |event| event.seq));
        let mut state = self.lock();
        state.lines += lines.len();
        state.chunks.push_back(Arc::new(Chunk { from, to: end, last, lines }));
        while state.lines > MAX_LINES && state.chunks.len() > 1 {
            let Some(oldest) = state.chunks.pop_front() else { break };
            state.lines -= oldest.lines.len();
        }
        has_ended
    }

    /// Adds a watcher. Returns its place and the lines of the events that are kept.
    pub(super) fn attach(self: &Arc<Self>) -> (Attachment, Vec<u8>) {
        let mut state = self.lock();
        if state.watchers == 0 {
            // No lines were needed before.
            state.chunks.clear();
            state.lines = 0;
            state.written = state.end();
        }
        state.watchers += 1;
        let next = state.written.max(state.first);
        let mut kept = state.since(state.first);
        kept.truncate((next - state.first) as usize);
        let attachment = Attachment {
            hub: Arc::clone(self),
            next,
            last: kept.last().map_or(state.journal, |event| event.seq),
            journal: state.journal,
            before: state.last,
        };
        drop(state);
        (attachment, lines_of(&kept))
    }

    /// Changes when there are new lines.
    pub(super) fn published(&self) -> watch::Receiver<()> {
        self.published.subscribe()
    }

    /// Whether the run has ended and all lines are written.
    pub(super) fn is_finished(&self) -> bool {
        self.lock().is_finished
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The count of the next event.
    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// The events from a count on, which is that of one that is kept.
    fn since(&self, count: u64) -> Vec<Arc<Event>> {
        self.events.range((count - self.first) as usize..).cloned().collect()
    }
}

impl Attachment {
    /// What there is to send.
    pub(super) fn next(&mut self) -> Next {
        let state = self.hub.lock();
        let at = state.chunks.partition_point(|chunk| chunk.to <= self.next);
        match state.chunks.get(at) {
            Some(chunk) if chunk.from > self.next => {
                self.next = chunk.from;
                Next::Lagged(self.last)
            }
            Some(chunk) => {
                (self.next, self.last) = (chunk.to, chunk.last);
                Next::Lines(Arc::clone(chunk))
            }
            None if state.is_finished => Next::Finished,
            None => Next::Nothing,
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.hub.lock().watchers -= 1;
    }
}

fn lines_of(events: &[Arc<Event>]) -> Vec<u8> {
    let mut lines = Vec::new();
    for event in events {
        write_event(&mut lines, event);
    }
    lines
}

/// The bytes of the texts that an event keeps alive.
fn weight(event: &Event) -> usize {
    match &event.kind {
        EventKind::Effect { outcome: Outcome::Reply(reply), .. } => reply.text.len(),
        EventKind::SessionStarted { task, .. } => task.prompt.len(),
        EventKind::MemoryWritten { memory, record, .. } => memory.len() + record.len(),
        EventKind::Activity { activity: Activity::Text { text } | Activity::Reasoning { text }, .. } => {
            text.len()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use prose_vm::place::Place;

    use super::*;

    fn add(hub: &Hub, seq: u64, message: &str) {
        let kind = EventKind::Warning { message: message.to_owned() };
        let place = Place::root();
        hub.add(&Event { seq, at: 0, paused: 0, place, site: None, frame: 0, nesting: 0, kind });
    }

    /// What a watcher would receive now: the numbers of events, and where some are left out.
    fn received(attachment: &mut Attachment) -> Vec<String> {
        let mut received = Vec::new();
        loop {
            match attachment.next() {
                Next::Lines(chunk) => {
                    let lines = String::from_utf8(chunk.lines.clone()).unwrap();
                    let first =
                        serde_json::from_str::<serde_json::Value>(lines.lines().next().unwrap()).unwrap();
                    received.push(format!("{} to {}", first["event"]["seq"], chunk.last));
                }
                Next::Lagged(after) => received.push(format!("lagged after {after}")),
                Next::Nothing => return received,
                Next::Finished => {
                    received.push("finished".to_owned());
                    return received;
                }
            }
        }
    }

    #[test]
    fn a_watcher_receives_what_is_kept_and_then_what_happens() {
        let hub = Arc::new(Hub::default());
        (1..=3).for_each(|seq| add(&hub, seq, ""));
        let (mut attachment, before) = hub.attach();
        assert_eq!((attachment.journal, attachment.before), (0, 3));
        assert_eq!(String::from_utf8(before).unwrap().lines().count(), 3);
        assert!(received(&mut attachment).is_empty());
        (4..=5).for_each(|seq| add(&hub, seq, ""));
        assert!(!hub.write_new());
        assert_eq!(received(&mut attachment), ["4 to 5"]);
    }

    #[test]
    fn what_is_too_old_is_in_the_journal_only() {
        let hub = Arc::new(Hub::default());
        let all = MAX_EVENTS as u64 + 10;
        (1..=all).for_each(|seq| add(&hub, seq, ""));
        let (attachment, before) = hub.attach();
        assert_eq!((attachment.journal, attachment.before), (10, all));
        assert_eq!(String::from_utf8(before).unwrap().lines().count(), MAX_EVENTS);
    }

    #[test]
    fn a_watcher_that_does_not_keep_up_is_told_so() {
        let hub = Arc::new(Hub::default());
        let (mut slow, _) = hub.attach();
        let (mut quick, _) = hub.attach();
        let long = "x".repeat(MAX_LINES / 4);
        for seq in 1..=10 {
            add(&hub, seq, &long);
            hub.write_new();
            assert_eq!(received(&mut quick), [format!("{seq} to {seq}")]);
        }
        assert_eq!(received(&mut slow)[..2], ["lagged after 0", "8 to 8"]);
        // So is one that the events themselves have left behind.
        (11..=11 + MAX_EVENTS as u64).for_each(|seq| add(&hub, seq, ""));
        hub.write_new();
        assert_eq!(received(&mut quick), ["lagged after 10", &format!("12 to {}", 11 + MAX_EVENTS)]);
    }

    #[test]
    fn nothing_is_written_without_watchers() {
        let hub = Arc::new(Hub::default());
        let (attachment, _) = hub.attach();
        drop(attachment);
        add(&hub, 1, "");
        hub.write_new();
        assert!(hub.lock().chunks.is_empty());
        let (mut attachment, before) = hub.attach();
        assert_eq!(String::from_utf8(before).unwrap().lines().count(), 1);
        assert!(received(&mut attachment).is_empty());
    }
}

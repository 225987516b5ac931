//! Receives what backends report: merges the parts of texts, and notices requests that report nothing any more.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use smol_str::SmolStr;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep_until};

use crate::activity::{Activity, Approvals, Reporter, ToolUse};
use crate::effect::RequestId;
use crate::questions::AskedAt;
use crate::secrets::Secrets;

/// How long the parts of a text are merged into one report, so that observers are not flooded.
const MERGE_TIME: Duration = Duration::from_millis(100);

/// The length of a merged text in bytes after which it is reported immediately.
const MAX_MERGED: usize = 8 * 1024;

/// The reports of all requests at work.
pub(crate) struct Reports {
    sender: UnboundedSender<(RequestId, Activity)>,
    receiver: UnboundedReceiver<(RequestId, Activity)>,
    secrets: Arc<Secrets>,
    /// The time without a report after which a request is reported as stalled.
    stalled_after: Option<Duration>,
    ready: VecDeque<(RequestId, Activity)>,
    requests: BTreeMap<RequestId, Reported>,
    /// A time before which no text has to be reported and no request is stalled.
    wake: Option<Instant>,
}

/// What is known about a request that has reported something.
struct Reported {
    text: Option<PendingText>,
    /// The last report about each tool call, since agents repeat them.
    tools: BTreeMap<SmolStr, ToolUse>,
    /// The number of unanswered permission questions: a request that waits for an answer is not stalled.
    questions: usize,
    /// The time of the last report, or until which the provider asked to wait.
    last: Instant,
    is_stalled: bool,
}

/// Parts of a text that are not reported yet.
struct PendingText {
    is_reasoning: bool,
    text: String,
    /// The time to report it; `None` if the end of the text may be the beginning of a secret and waits for the next part.
    due: Option<Instant>,
}

impl Reports {
    pub(crate) fn new(secrets: Arc<Secrets>, stalled_after: Option<Duration>) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self {
            sender,
            receiver,
            secrets,
            stalled_after,
            ready: VecDeque::new(),
            requests: BTreeMap::new(),
            wake: None,
        }
    }

    /// The reporter of a request.
    pub(crate) fn reporter(&self, at: AskedAt, approvals: Arc<dyn Approvals>) -> Reporter {
        Reporter::of_run(at, self.sender.clone(), approvals, Arc::clone(&self.secrets))
    }

    /// Waits for the next report. Nothing is lost if the future is dropped.
    pub(crate) async fn next(&mut self) -> (RequestId, Activity) {
        loop {
            if let Some(report) = self.ready.pop_front() {
                return report;
            }
            let wake = self.wake;
            let woken = async {
                match wake {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                // There is always a sender.
                Some((request, activity)) = self.receiver.recv() => self.take(request, activity),
                () = woken => self.look(),
            }
        }
    }

    /// The next report of those that have arrived, with all of the text of a request whose outcome is known, or of all requests.
    pub(crate) fn arrived(&mut self, of: Option<RequestId>) -> Option<(RequestId, Activity)> {
        if self.ready.is_empty() {
            while let Ok((request, activity)) = self.receiver.try_recv() {
                self.take(request, activity);
            }
            match of {
                Some(request) => self.flush(request, true),
                None => self
                    .requests
                    .keys()
                    .copied()
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|id| self.flush(id, true)),
            }
        }
        self.ready.pop_front()
    }

    /// Removes a request that has ended. Returns the number of its tool calls.
    pub(crate) fn end(&mut self, request: RequestId) -> u32 {
        self.requests.remove(&request).map_or(0, |reported| reported.tools.len() as u32)
    }

    fn take(&mut self, request: RequestId, activity: Activity) {
        let now = Instant::now();
        let reported = self.requests.entry(request).or_insert_with(|| Reported {
            text: None,
            tools: BTreeMap::new(),
            questions: 0,
            last: now,
            is_stalled: false,
        });
        (reported.last, reported.is_stalled) = (now, false);
        let part = match &activity {
            Activity::Text { text } => Some((false, text)),
            Activity::Reasoning { text } => Some((true, text)),
            _ => None,
        };
        if let Some((is_reasoning, part)) = part {
            let is_other = reported.text.as_ref().is_some_and(|pending| pending.is_reasoning != is_reasoning);
            if is_other {
                self.flush(request, true);
            }
            self.merge(request, is_reasoning, part, now);
        } else {
            match &activity {
                Activity::Tool(tool)
                    if reported.tools.insert(tool.id.clone(), tool.clone()).as_ref() == Some(tool) =>
                {
                    return self.wake_for_stall(now);
                }
                Activity::Asked(_) => reported.questions += 1,
                Activity::Answered { .. } => reported.questions = reported.questions.saturating_sub(1),
                Activity::ProviderRetry(retry) => reported.last = now + Duration::from_millis(retry.delay_ms),
                _ => {}
            }
            // What was said before comes first.
            self.flush(request, true);
            self.ready.push_back((request, activity));
        }
        self.wake_for_stall(now);
    }

    fn merge(&mut self, request: RequestId, is_reasoning: bool, part: &str, now: Instant) {
        let Some(reported) = self.requests.get_mut(&request) else { return };
        let pending =
            reported.text.get_or_insert_with(|| PendingText { is_reasoning, text: String::new(), due: None });
        pending.text += part;
        let due = *pending.due.get_or_insert(now + MERGE_TIME);
        if pending.text.len() > MAX_MERGED {
            self.flush(request, false);
        } else {
            self.wake_at(due);
        }
    }

    /// Reports the pending text of a request; all of it if what comes next is no part of it.
    fn flush(&mut self, request: RequestId, is_final: bool) {
        let Some(reported) = self.requests.get_mut(&request) else { return };
        let Some(PendingText { is_reasoning, text, .. }) = reported.text.take() else { return };
        let text = match self.secrets.mask(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        };
        let end = if is_final { text.len() } else { self.secrets.known_end(&text) };
        if end < text.len() {
            reported.text = Some(PendingText { is_reasoning, text: text[end..].to_owned(), due: None });
        }
        if end > 0 {
            let text = Arc::from(&text[..end]);
            let activity = if is_reasoning { Activity::Reasoning { text } } else { Activity::Text { text } };
            self.ready.push_back((request, activity));
        }
    }

    fn wake_at(&mut self, at: Instant) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }

    fn wake_for_stall(&mut self, now: Instant) {
        if let Some(after) = self.stalled_after {
            self.wake_at(now + after);
        }
    }

    /// Reports what is due, and finds out when to look again.
    fn look(&mut self) {
        let now = Instant::now();
        self.wake = None;
        for request in self.requests.keys().copied().collect::<Vec<_>>() {
            let Some(reported) = self.requests.get_mut(&request) else { continue };
            if let Some(after) =
                self.stalled_after.filter(|_| !reported.is_stalled && reported.questions == 0)
            {
                let stalls_at = reported.last + after;
                if stalls_at <= now {
                    reported.is_stalled = true;
                    let silent_ms = after.as_millis() as u64;
                    self.ready.push_back((request, Activity::Stalled { silent_ms }));
                } else {
                    self.wake = Some(self.wake.map_or(stalls_at, |wake| wake.min(stalls_at)));
                }
            }
            match reported.text.as_ref().and_then(|pending| pending.due) {
                Some(due) if due <= now => self.flush(request, false),
                Some(due) => self.wake = Some(self.wake.map_or(due, |wake| wake.min(due))),
                None => {}
            }
        }
    }
}

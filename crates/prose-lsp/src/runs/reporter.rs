//! Reports runs to the client.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use prose_view::Delta;
use prose_vm::activity::Activity;
use prose_vm::event::{Event, EventKind};
use serde::Serialize;
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::protocol::notification::Notification;
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::runs::registry::{Runs, Ticket, progress_token};
use crate::runs::trace::progress;

/// How long events are gathered into one notification, so that clients are not flooded.
const BATCH_TIME: Duration = Duration::from_millis(16);

/// The same for what agents report while they work, which is much and changes little.
const ACTIVITY_BATCH_TIME: Duration = Duration::from_millis(200);

/// The interval between progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Reports one run to the client.
pub(super) struct Reporter<'a> {
    pub(super) runs: &'a Runs,
    pub(super) ticket: Ticket,
    pub(super) id: SmolStr,
    pub(super) uri: DocumentUri,
    pub(super) session: &'a Session,
    /// What the run may use, in a few words.
    pub(super) limits: Option<String>,
    /// Whether another process executes it, which shows its progress itself.
    pub(super) is_elsewhere: bool,
}

/// The notification of what changed in a run.
#[derive(Serialize)]
struct ChangedView<'a> {
    run: &'a str,
    uri: &'a str,
    /// What the run may use, at its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<&'a str>,
    view: Delta<'a>,
}

impl Reporter<'_> {
    /// Reports the start of a run.
    pub(super) fn begin(&self, title: &str) {
        if self.shows_progress() {
            let params = json!({ "token": progress_token(&self.id) });
            let create = Notification::request("window/workDoneProgress/create", &params);
            let begin = self.progress(
                &json!({ "kind": "begin", "title": title, "cancellable": true, "message": self.limits }),
            );
            self.runs.send_to_client(vec![create, begin]);
        }
        self.refresh_lenses();
        self.refresh_hints();
    }

    /// Reports events until there are no more.
    pub(super) fn report(&self, events: &Receiver<Event>) {
        let mut shown = Instant::now();
        let mut is_stale = false;
        loop {
            let first = if is_stale {
                events.recv_timeout(PROGRESS_INTERVAL.saturating_sub(shown.elapsed()))
            } else {
                events.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match first {
                Ok(first) => {
                    self.take(gathered(first, events));
                    is_stale = true;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if is_stale && shown.elapsed() >= PROGRESS_INTERVAL {
                self.show();
                shown = Instant::now();
                is_stale = false;
            }
        }
    }

    fn take(&self, mut events: Vec<Event>) {
        if let Some(mut run) = self.runs.runs.get_mut(&self.ticket) {
            let before = run.view.revision();
            events.iter().for_each(|event| run.view.apply(event));
            // A client that gets the last event must not find the run continuing.
            run.is_over |= events.iter().any(|event| matches!(event.kind, EventKind::RunEnded(_)));
            if self.session.receives_views {
                let delta = run.view.since(before).in_document(run.first_line);
                let limits = self.limits.as_deref().filter(|_| delta.is_whole());
                let changed = ChangedView { run: &self.id, uri: &self.uri, limits, view: delta };
                self.runs.send_to_client(vec![Notification::new("prose/runView", &changed)]);
            }
            // The client counts the lines of the document.
            let sites = events.iter_mut().filter_map(|event| event.site.as_mut());
            for site in sites.filter(|site| site.program == 0) {
                site.line += run.first_line;
                site.last_line += run.first_line;
            }
        }
        if self.session.receives_run_events {
            let params = json!({ "run": self.id, "uri": &*self.uri, "events": events });
            self.runs.send_to_client(vec![Notification::new("prose/runEvent", &params)]);
        }
    }

    fn show(&self) {
        let progress = self.runs.runs.get(&self.ticket).map(|run| progress(&run.view));
        if let Some(message) = progress.filter(|_| self.shows_progress()) {
            self.runs.send_to_client(vec![self.progress(&json!({ "kind": "report", "message": message }))]);
        }
        self.refresh_hints();
    }

    /// Reports the end of a run.
    pub(super) fn end(&self, message: &str) {
        if self.shows_progress() {
            self.runs.send_to_client(vec![self.progress(&json!({ "kind": "end", "message": message }))]);
        }
        self.refresh_hints();
        self.refresh_lenses();
    }

    /// Reports that the process of the run has died.
    pub(super) fn interrupt(&self) {
        let Some(mut run) = self.runs.runs.get_mut(&self.ticket) else { return };
        let before = run.view.revision();
        run.view.interrupt();
        if self.session.receives_views {
            let delta = run.view.since(before).in_document(run.first_line);
            let changed = ChangedView { run: &self.id, uri: &self.uri, limits: None, view: delta };
            self.runs.send_to_client(vec![Notification::new("prose/runView", &changed)]);
        }
    }

    fn shows_progress(&self) -> bool {
        self.session.shows_progress && !self.is_elsewhere
    }

    fn progress(&self, value: &Value) -> Notification {
        let params = json!({ "token": progress_token(&self.id), "value": value });
        Notification::new("$/progress", &params)
    }

    fn refresh_hints(&self) {
        if self.session.refreshes_hints {
            self.refresh("workspace/inlayHint/refresh");
        }
    }

    fn refresh_lenses(&self) {
        if self.session.refreshes_lenses {
            self.refresh("workspace/codeLens/refresh");
        }
    }

    fn refresh(&self, method: &'static str) {
        self.runs.send_to_client(vec![Notification::request(method, &())]);
    }
}

/// An event and those that come soon after it. Reports of agents wait longer, unless something else happens.
fn gathered(first: Event, events: &Receiver<Event>) -> Vec<Event> {
    let is_activity = |event: &Event| matches!(event.kind, EventKind::Activity { .. });
    let since = Instant::now();
    let mut until = since + if is_activity(&first) { ACTIVITY_BATCH_TIME } else { BATCH_TIME };
    let mut gathered = vec![first];
    while let Ok(event) = events.recv_timeout(until.saturating_duration_since(Instant::now())) {
        if !is_activity(&event) {
            until = until.min(Instant::now().max(since) + BATCH_TIME);
        }
        gathered.push(event);
        // A stream that never pauses is reported as well.
        if Instant::now() >= until {
            break;
        }
    }
    merge_texts(gathered)
}

/// The events with each run of parts of the same text as one part.
fn merge_texts(events: Vec<Event>) -> Vec<Event> {
    let mut merged: Vec<Event> = Vec::with_capacity(events.len());
    for event in events {
        if let EventKind::Activity { request, activity: Activity::Text { text } } = &event.kind
            && let Some(EventKind::Activity { request: before, activity: Activity::Text { text: start } }) =
                merged.last_mut().map(|event| &mut event.kind)
            && before == request
        {
            *start = format!("{start}{text}").into();
            continue;
        }
        merged.push(event);
    }
    merged
}

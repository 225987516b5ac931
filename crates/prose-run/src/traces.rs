//! Traces and metrics of runs, for which the environment asks.

use std::sync::{Arc, OnceLock};

use prose_harness::traced::Traced;
use prose_telemetry::{Origin, OriginKind, RunStart, RunTrace, SessionSpans};
use prose_vm::harness::Harness;
use prose_vm::settings::Settings;
use smol_str::SmolStr;

use crate::redaction::Redaction;
use crate::request::{RunRequest, Start};
use crate::state::Opened;

/// What the traces of a run need to know before it starts.
pub(crate) struct Traces {
    run: SmolStr,
    is_resumed: bool,
    parent: Option<SmolStr>,
    origin: Option<(SmolStr, Option<SmolStr>, OriginKind)>,
    provider: String,
    redaction: Redaction,
    /// The spans of its sessions, once it has started.
    spans: Arc<OnceLock<SessionSpans>>,
}

impl Traces {
    /// Notes in the settings of a new run in which span it starts. Returns `None` if nothing is sent, and for what asks no agent: dry runs, and runs whose
    /// answers are those of a test.
    pub(crate) fn new(request: &RunRequest, opened: &Opened, settings: &mut Settings) -> Option<Self> {
        // Also that of the run whose answers a new one takes.
        let origin = match &request.start {
            Start::From(from) => {
                let kind = if from.is_replay { OriginKind::Replay } else { OriginKind::Fork };
                let head = &from.recorded.head;
                Some((head.run.clone(), head.traceparent.clone(), kind))
            }
            _ => None,
        };
        let is_resumed = matches!(request.start, Start::Resume { .. } | Start::Transcript(_));
        if request.start == Start::Dry || request.stand_in.is_some() || !prose_telemetry::is_on() {
            return None;
        }
        if !is_resumed {
            let of_process = || prose_telemetry::parent().map(SmolStr::from);
            settings.traceparent = request.traceparent.clone().or_else(of_process);
        }
        Some(Self {
            run: opened.run.clone(),
            is_resumed,
            parent: settings.traceparent.clone(),
            origin,
            provider: request.config.provider.name.as_str().to_owned(),
            redaction: Redaction::of_run(&request.config, &request.routes.servers),
            spans: Arc::default(),
        })
    }

    /// The same harness, whose programs learn in which span they work.
    pub(crate) fn harness(&self, harness: Arc<dyn Harness>) -> Arc<dyn Harness> {
        let spans = Arc::clone(&self.spans);
        Arc::new(Traced::new(harness, Arc::new(move |request| spans.get()?.traceparent(request))))
    }

    /// The observer of an execution that starts; `None` if the environment asks for none.
    pub(crate) fn start(self, at: u64) -> Option<RunTrace> {
        let redaction = self.redaction;
        let trace = RunTrace::start(RunStart {
            run: &self.run,
            at,
            is_resumed: self.is_resumed,
            parent: self.parent.as_deref(),
            origin: self.origin.as_ref().map(|(run, parent, kind)| Origin {
                run,
                parent: parent.as_deref(),
                kind: *kind,
            }),
            provider: Some(&self.provider),
            redact: Box::new(move |text| redaction.of_text(text)),
        })?;
        // It is started once.
        let _ = self.spans.set(trace.session_spans());
        Some(trace)
    }
}

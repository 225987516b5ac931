//! The metrics of runs.

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter, UpDownCounter};
use prose_vm::effect::Usage;

use crate::table::{key, metric};

/// The instruments, which all runs of a process share.
#[derive(Debug, Clone)]
pub(crate) struct Instruments {
    tokens: Histogram<u64>,
    duration: Histogram<f64>,
    invocation: Histogram<f64>,
    cost: Counter<f64>,
    sessions: UpDownCounter<i64>,
    runs: UpDownCounter<i64>,
    retries: Counter<u64>,
    waits: Histogram<f64>,
}

/// The limits of the buckets that the conventions recommend for tokens.
const TOKENS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// Those that they recommend for requests.
const REQUESTS: &[f64] =
    &[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// Agents work for minutes, and runs for hours.
const INVOCATIONS: &[f64] = &[
    0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 14400.0, 28800.0,
];

/// What a session does at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionState {
    Queued,
    Working,
}

impl Instruments {
    pub(crate) fn new(meter: &Meter) -> Self {
        let seconds = |name: &'static str, boundaries: &[f64]| {
            meter.f64_histogram(name).with_unit("s").with_boundaries(boundaries.to_vec()).build()
        };
        let tokens = meter.u64_histogram(metric::TOKENS).with_unit("{token}");
        Self {
            tokens: tokens.with_boundaries(TOKENS.to_vec()).build(),
            duration: seconds(metric::DURATION, REQUESTS),
            invocation: seconds(metric::INVOCATION, INVOCATIONS),
            cost: meter.f64_counter(metric::COSTS).with_unit("{USD}").build(),
            sessions: meter.i64_up_down_counter(metric::ACTIVE).with_unit("{session}").build(),
            runs: meter.i64_up_down_counter(metric::RUNS).with_unit("{run}").build(),
            retries: meter.u64_counter(metric::RETRIES).with_unit("{retry}").build(),
            waits: seconds(metric::WAITS, INVOCATIONS),
        }
    }

    /// What a request used.
    pub(crate) fn used(&self, usage: Usage, attributes: &[KeyValue]) {
        for (kind, tokens) in [("input", usage.input_tokens), ("output", usage.output_tokens)] {
            let mut attributes = attributes.to_vec();
            attributes.push(KeyValue::new(key::TOKEN_TYPE, kind));
            self.tokens.record(tokens, &attributes);
        }
        if let Some(cost) = usage.cost.filter(|cost| *cost > 0.0) {
            self.cost.add(cost, attributes);
        }
    }

    /// A request has ended that took a time in milliseconds.
    pub(crate) fn requested(&self, ms: u64, attributes: &[KeyValue]) {
        self.duration.record(seconds(ms), attributes);
    }

    /// A session or an execution of a run has ended.
    pub(crate) fn invoked(&self, ms: u64, attributes: &[KeyValue]) {
        self.invocation.record(seconds(ms), attributes);
    }

    /// A wait has ended.
    pub(crate) fn waited(&self, kind: &'static str, ms: u64) {
        self.waits.record(seconds(ms), &[KeyValue::new(key::WAIT, kind)]);
    }

    /// An attempt is retried.
    pub(crate) fn retried(&self) {
        self.retries.add(1, &[]);
    }

    /// An execution of a run starts or ends.
    pub(crate) fn runs(&self, change: i64) {
        self.runs.add(change, &[]);
    }

    /// A session changes what it does.
    pub(crate) fn session(&self, before: Option<SessionState>, now: Option<SessionState>) {
        for (state, change) in [(before, -1), (now, 1)] {
            let Some(state) = state.filter(|_| before != now) else { continue };
            let name = match state {
                SessionState::Queued => "queued",
                SessionState::Working => "working",
            };
            self.sessions.add(change, &[KeyValue::new(key::STATE, name)]);
        }
    }
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

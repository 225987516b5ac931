//! The environment variables that switch traces and metrics on.

use std::time::Duration;

use opentelemetry::trace::TraceId;

use crate::ids::Parent;

/// What the environment asks for. Of the transport, only what decides about it: addresses, headers, timeouts and certificates are read where it is made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variables {
    pub(crate) traces: Option<Target>,
    pub(crate) metrics: Option<Target>,
    pub(crate) sampler: Sampler,
    /// Whether prompts, replies and messages of errors are sent.
    pub(crate) has_content: bool,
    /// The longest text of an attribute, in characters.
    pub(crate) max_text: usize,
    pub(crate) max_queue: usize,
    pub(crate) max_batch: usize,
    /// The time between two batches of spans.
    pub(crate) schedule_delay: Duration,
    /// The time between two reports of metrics.
    pub(crate) metric_interval: Duration,
    /// What is said of values that are not understood.
    pub(crate) problems: Vec<String>,
}

/// Where a signal goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    pub(crate) protocol: Protocol,
    /// The address, for messages.
    pub(crate) address: String,
    /// A file with certificates, in PEM.
    pub(crate) certificate: Option<String>,
}

/// The transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http,
    Grpc,
}

/// Which traces are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sampler {
    is_parent_based: bool,
    /// The part of the traces, from 0 to 1.
    ratio: f64,
}

impl Sampler {
    /// Whether a trace is sent.
    pub(crate) fn samples(self, trace: TraceId, parent: Option<Parent>) -> bool {
        match parent.filter(|_| self.is_parent_based) {
            Some(parent) => parent.is_sampled,
            None if self.ratio >= 1.0 => true,
            // As other SDKs decide, so that the services of a trace agree: by the last eight bytes, without the highest bit.
            None => {
                let mut last = [0; 8];
                last.copy_from_slice(&trace.to_bytes()[8..]);
                ((u64::from_be_bytes(last) >> 1) as f64) < self.ratio * (1u64 << 63) as f64
            }
        }
    }
}

/// The default of the longest text, so that a batch stays small enough for collectors.
const MAX_TEXT: usize = 16_384;

/// The default of the spans that wait for being sent. Programs without models are faster than the network.
const MAX_QUEUE: usize = 16_384;

const MAX_BATCH: usize = 512;

/// The default of the milliseconds between two batches of spans.
const SCHEDULE_DELAY: usize = 5_000;

/// The default of the milliseconds between two reports of metrics.
const METRIC_INTERVAL: usize = 60_000;

impl Variables {
    /// Reads an environment; `None` if neither traces nor metrics are switched on.
    pub(crate) fn read(variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        // An empty value is the same as none.
        let get = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|v| !v.is_empty());
        if get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return None;
        }
        let mut problems = Vec::new();
        let traces = target("TRACES", &get, &mut problems);
        let metrics = target("METRICS", &get, &mut problems);
        if traces.is_none() && metrics.is_none() && problems.is_empty() {
            return None;
        }
        let sampler = sampler(&get, &mut problems);
        let captured = get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        let has_content = captured.is_some_and(|value| {
            ["true", "1", "span_only", "span_and_event"].contains(&value.to_ascii_lowercase().as_str())
        });
        let mut number = |names: &[&str], default: usize| {
            let set = names.iter().find_map(|name| Some((*name, get(name)?)));
            let Some((name, value)) = set else { return default };
            value.parse().ok().filter(|number| *number > 0).unwrap_or_else(|| {
                problems.push(format!("`{name}` is not a number above 0: `{value}`"));
                default
            })
        };
        let max_text = number(
            &["OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"],
            MAX_TEXT,
        );
        let max_queue = number(&["OTEL_BSP_MAX_QUEUE_SIZE"], MAX_QUEUE);
        let max_batch = number(&["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"], MAX_BATCH).min(max_queue);
        // With 0, a thread would do nothing else.
        let mut delay = |name, default| Duration::from_millis(number(&[name], default) as u64);
        let schedule_delay = delay("OTEL_BSP_SCHEDULE_DELAY", SCHEDULE_DELAY);
        let metric_interval = delay("OTEL_METRIC_EXPORT_INTERVAL", METRIC_INTERVAL);
        Some(Self {
            traces,
            metrics,
            sampler,
            has_content,
            max_text,
            max_queue,
            max_batch,
            schedule_delay,
            metric_interval,
            problems,
        })
    }
}

/// Where a signal goes; `None` if it is not sent.
fn target(signal: &str, get: &dyn Fn(&str) -> Option<String>, problems: &mut Vec<String>) -> Option<Target> {
    let of_signal = |name: &str| {
        get(&format!("OTEL_EXPORTER_OTLP_{signal}_{name}"))
            .or_else(|| get(&format!("OTEL_EXPORTER_OTLP_{name}")))
    };
    let endpoint = of_signal("ENDPOINT");
    let exporter = format!("OTEL_{signal}_EXPORTER");
    match get(&exporter).as_deref() {
        Some("otlp") => {}
        Some("none") => return None,
        None if endpoint.is_some() => {}
        None => return None,
        Some(other) => {
            problems.push(format!("`{exporter}` is `{other}`; `otlp` and `none` are supported"));
            return None;
        }
    }
    let protocol = match of_signal("PROTOCOL").map(|value| value.to_ascii_lowercase()).as_deref() {
        None | Some("http/protobuf") => Protocol::Http,
        Some("grpc") => Protocol::Grpc,
        Some(other) => {
            problems.push(format!(
                "`OTEL_EXPORTER_OTLP_PROTOCOL` is `{other}`; `http/protobuf` and `grpc` are supported"
            ));
            return None;
        }
    };
    let default = match protocol {
        Protocol::Http => "http://localhost:4318",
        Protocol::Grpc => "http://localhost:4317",
    };
    let address = without_password(endpoint.as_deref().unwrap_or(default));
    Some(Target { protocol, address, certificate: of_signal("CERTIFICATE") })
}

/// An address without the part that may have a password.
fn without_password(address: &str) -> String {
    match (address.split_once("://"), address.rfind('@')) {
        (Some((scheme, _)), Some(at)) => format!("{scheme}://{}", &address[at + 1..]),
        _ => address.to_owned(),
    }
}

fn sampler(get: &dyn Fn(&str) -> Option<String>, problems: &mut Vec<String>) -> Sampler {
    let name = get("OTEL_TRACES_SAMPLER").unwrap_or_else(|| "parentbased_always_on".to_owned());
    let (is_parent_based, kind) = match name.strip_prefix("parentbased_") {
        Some(kind) => (true, kind),
        None => (false, name.as_str()),
    };
    let ratio = match kind {
        "always_on" => 1.0,
        "always_off" => 0.0,
        "traceidratio" => {
            let ratio = get("OTEL_TRACES_SAMPLER_ARG");
            let ratio = ratio.map_or(Ok(1.0), |ratio| ratio.parse().map_err(|_| ratio));
            match ratio {
                Ok(ratio) if (0.0..=1.0).contains(&ratio) => ratio,
                Ok(_) | Err(_) => {
                    problems.push("`OTEL_TRACES_SAMPLER_ARG` is not a number from 0 to 1".to_owned());
                    1.0
                }
            }
        }
        _ => {
            problems.push(format!("`OTEL_TRACES_SAMPLER` is `{name}`, which is not supported"));
            1.0
        }
    };
    Sampler { is_parent_based, ratio }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(environment: &[(&str, &str)], expect: Expect) {
        let get = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let target = |target: &Option<Target>| match target {
            Some(Target { protocol, address, .. }) => format!("{protocol:?} {address}"),
            None => "off".to_owned(),
        };
        let found = match Variables::read(&get) {
            None => "nothing".to_owned(),
            Some(read) => {
                let mut lines =
                    vec![format!("traces: {}; metrics: {}", target(&read.traces), target(&read.metrics))];
                lines.extend(read.has_content.then(|| "with content".to_owned()));
                lines.extend(read.problems);
                lines.join("\n")
            }
        };
        expect.assert_eq(&found);
    }

    #[test]
    fn nothing_is_sent_unless_it_is_asked_for() {
        check(&[], expect!["nothing"]);
        check(&[("OTEL_SERVICE_NAME", "nightly"), ("TRACEPARENT", "00-1-2-01")], expect!["nothing"]);
        check(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "  ")], expect!["nothing"]);
        check(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], expect!["nothing"]);
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        check(&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")], expect!["nothing"]);
        check(
            &[endpoint, ("OTEL_TRACES_EXPORTER", "none"), ("OTEL_METRICS_EXPORTER", "none")],
            expect!["nothing"],
        );
    }

    #[test]
    fn endpoints_and_exporters_switch_signals_on() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        check(
            &[endpoint],
            expect![[r#"traces: Http http://127.0.0.1:4318; metrics: Http http://127.0.0.1:4318"#]],
        );
        check(
            &[endpoint, ("OTEL_METRICS_EXPORTER", "none")],
            expect![[r#"traces: Http http://127.0.0.1:4318; metrics: off"#]],
        );
        check(
            &[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://ada:secret@collector/v1/traces")],
            expect![[r#"traces: Http https://collector/v1/traces; metrics: off"#]],
        );
        check(
            &[("OTEL_TRACES_EXPORTER", "otlp"), ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc")],
            expect![[r#"traces: Grpc http://localhost:4317; metrics: off"#]],
        );
    }

    #[test]
    fn content_is_sent_only_if_it_is_asked_for() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:1");
        let content = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
        check(&[endpoint, (content, "false")], expect!["traces: Http http://h:1; metrics: Http http://h:1"]);
        check(
            &[endpoint, (content, "event_only")],
            expect!["traces: Http http://h:1; metrics: Http http://h:1"],
        );
        for on in ["true", "SPAN_ONLY"] {
            check(
                &[endpoint, (content, on)],
                expect![[r#"
                    traces: Http http://h:1; metrics: Http http://h:1
                    with content"#]],
            );
        }
    }

    #[test]
    fn values_that_are_not_understood_are_named() {
        check(
            &[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:1"),
                ("OTEL_TRACES_EXPORTER", "zipkin"),
                ("OTEL_TRACES_SAMPLER", "jaeger_remote"),
                ("OTEL_BSP_MAX_QUEUE_SIZE", "many"),
                ("OTEL_BSP_SCHEDULE_DELAY", "0"),
                ("OTEL_METRIC_EXPORT_INTERVAL", "-1"),
            ],
            expect![[r#"
                traces: off; metrics: Http http://h:1
                `OTEL_TRACES_EXPORTER` is `zipkin`; `otlp` and `none` are supported
                `OTEL_TRACES_SAMPLER` is `jaeger_remote`, which is not supported
                `OTEL_BSP_MAX_QUEUE_SIZE` is not a number above 0: `many`
                `OTEL_BSP_SCHEDULE_DELAY` is not a number above 0: `0`
                `OTEL_METRIC_EXPORT_INTERVAL` is not a number above 0: `-1`"#]],
        );
        check(
            &[
                ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://h:1"),
                ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
            ],
            expect![[r#"
                traces: off; metrics: off
                `OTEL_EXPORTER_OTLP_PROTOCOL` is `http/json`; `http/protobuf` and `grpc` are supported"#]],
        );
    }

    #[test]
    fn a_trace_is_sent_or_not_as_its_parent_and_its_id_say() {
        let sampler = |name: &str, argument: &str| {
            let get = |asked: &str| {
                Some(if asked == "OTEL_TRACES_SAMPLER" { name.to_owned() } else { argument.to_owned() })
            };
            sampler(&get, &mut Vec::new())
        };
        let trace = |last: u8| TraceId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, last, 0, 0, 0, 0, 0, 0, 1]);
        let parent = Parent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
        assert!(sampler("parentbased_always_on", "").samples(trace(9), None));
        assert!(!sampler("parentbased_always_on", "").samples(trace(9), parent));
        assert!(sampler("always_on", "").samples(trace(9), parent));
        assert!(!sampler("always_off", "").samples(trace(0), None));
        assert!(sampler("traceidratio", "0.25").samples(trace(0x3f), None));
        assert!(!sampler("traceidratio", "0.25").samples(trace(0x41), None));
    }
}

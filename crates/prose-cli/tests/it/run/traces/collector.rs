//! A collector on the loopback interface that keeps what it receives over HTTP.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// What a collector answers.
#[derive(Clone, Copy)]
pub(in crate::run) enum Answer {
    Status(u16),
    Nothing,
}

pub(in crate::run) struct Collector {
    pub(in crate::run) endpoint: String,
    pub(in crate::run) address: SocketAddr,
    received: Arc<Mutex<Received>>,
}

#[derive(Default)]
struct Received {
    requests: usize,
    spans: Vec<Span>,
    metrics: Vec<ExportMetricsServiceRequest>,
    resource: Vec<KeyValue>,
    headers: Vec<String>,
}

impl Collector {
    pub(in crate::run) fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let received = Arc::new(Mutex::new(Received::default()));
        let kept = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                thread::spawn(move || serve(stream, answer, &kept));
            }
        });
        Self { endpoint: format!("http://{address}"), address, received }
    }

    pub(in crate::run) fn requests(&self) -> usize {
        self.received.lock().unwrap().requests
    }

    pub(in crate::run) fn headers(&self) -> Vec<String> {
        self.received.lock().unwrap().headers.clone()
    }

    /// The spans since the last call.
    pub(in crate::run) fn spans(&self) -> Trace {
        Trace(std::mem::take(&mut self.received.lock().unwrap().spans))
    }

    /// Waits until a span with this name was received. That of a run comes last.
    pub(in crate::run) fn wait_for_span(&self, name: &str) {
        let start = Instant::now();
        while !self.received.lock().unwrap().spans.iter().any(|span| span.name == name) {
            assert!(start.elapsed() < Duration::from_secs(20), "no span {name}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until so many spans were received.
    pub(in crate::run) fn wait_for_spans(&self, count: usize) {
        let start = Instant::now();
        while self.received.lock().unwrap().spans.len() < count {
            assert!(start.elapsed() < Duration::from_secs(20), "no {count} spans");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The attributes of the resource.
    pub(in crate::run) fn resource(&self) -> String {
        shown(&self.received.lock().unwrap().resource, &|key| !key.starts_with("telemetry.sdk"))
    }

    /// The metrics, without their times and durations.
    pub(in crate::run) fn metrics(&self) -> String {
        let mut lines = Vec::new();
        for request in &self.received.lock().unwrap().metrics {
            let scopes = request.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
            for metric in scopes.flat_map(|scope| &scope.metrics) {
                let name = &metric.name;
                let mut line = |attributes: &[KeyValue], value: String| {
                    lines.push(format!("{name}{}: {value}", shown(attributes, &|_| true)));
                };
                match &metric.data {
                    Some(Data::Histogram(histogram)) => {
                        for point in &histogram.data_points {
                            let sum = point.sum.filter(|_| metric.unit != "s");
                            let sum = sum.map_or(String::new(), |sum| format!(", {sum} in total"));
                            line(&point.attributes, format!("{}{sum}", point.count));
                        }
                    }
                    Some(Data::Sum(sum)) => {
                        for point in &sum.data_points {
                            let value = match point.value {
                                Some(Number::AsInt(value)) => value.to_string(),
                                Some(Number::AsDouble(value)) => value.to_string(),
                                None => String::new(),
                            };
                            line(&point.attributes, value);
                        }
                    }
                    _ => {}
                }
            }
        }
        lines.sort();
        lines.into_iter().map(|line| line + "\n").collect()
    }
}

fn serve(stream: TcpStream, answer: Answer, received: &Mutex<Received>) {
    let mut reader = BufReader::new(stream.try_clone().expect("it can be cloned"));
    let mut stream = stream;
    loop {
        let mut path = String::new();
        if reader.read_line(&mut path).unwrap_or(0) == 0 {
            return;
        }
        let mut length = 0;
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().expect("a length");
            }
            headers.push(line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        // A real collector in between compresses what it passes on.
        if headers.iter().any(|header| header == "content-encoding: gzip") {
            let mut text = Vec::new();
            flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut text).expect("it is compressed");
            body = text;
        }
        let mut kept = received.lock().unwrap();
        kept.requests += 1;
        kept.headers = headers;
        if path.starts_with("POST /v1/traces ") {
            let request = ExportTraceServiceRequest::decode(&body[..]).expect("a request for spans");
            for resource in request.resource_spans {
                kept.resource = resource.resource.map(|resource| resource.attributes).unwrap_or_default();
                kept.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
            }
        } else if path.starts_with("POST /v1/metrics ") {
            let request = ExportMetricsServiceRequest::decode(&body[..]).expect("a request for metrics");
            kept.metrics.push(request);
        } else {
            panic!("{path}");
        }
        drop(kept);
        match answer {
            Answer::Status(status) => {
                write!(stream, "HTTP/1.1 {status} answer\r\ncontent-length: 0\r\n\r\n").ok();
            }
            Answer::Nothing => thread::sleep(Duration::from_secs(60)),
        }
    }
}

/// Spans of one or more traces.
pub(in crate::run) struct Trace(pub(in crate::run) Vec<Span>);

impl Trace {
    /// The span with a name.
    #[track_caller]
    pub(in crate::run) fn named(&self, name: &str) -> &Span {
        let mut named = self.0.iter().filter(|span| span.name == name);
        let span = named.next().unwrap_or_else(|| panic!("no span `{name}` in:\n{}", self.tree(&[])));
        assert_eq!(named.next(), None, "`{name}` is there twice");
        span
    }

    /// The names of all spans that start so, sorted.
    pub(in crate::run) fn names(&self, start: &str) -> Vec<&str> {
        let mut names: Vec<&str> = self.0.iter().map(|span| span.name.as_str()).collect();
        names.retain(|name| name.starts_with(start));
        names.sort_unstable();
        names
    }

    /// The spans below one another, in the order of their start, with these attributes.
    pub(in crate::run) fn tree(&self, keys: &[&str]) -> String {
        let mut below: BTreeMap<&[u8], Vec<&Span>> = BTreeMap::new();
        for span in &self.0 {
            let is_known = self.0.iter().any(|other| other.span_id == span.parent_span_id);
            let parent: &[u8] = if is_known { &span.parent_span_id } else { &[] };
            below.entry(parent).or_default().push(span);
        }
        let mut tree = String::new();
        add(&mut tree, &below, &[], 0, keys);
        assert_eq!(tree.lines().count(), self.0.len(), "spans have the same ids or are their own parents");
        tree
    }
}

fn add(tree: &mut String, below: &BTreeMap<&[u8], Vec<&Span>>, parent: &[u8], depth: usize, keys: &[&str]) {
    let mut spans = below.get(parent).cloned().unwrap_or_default();
    let line = |span: &Span| attribute(span, "code.line.number").map(|line| format!("{line:>5}"));
    // A condition and the iteration after it often start in the same millisecond.
    spans.sort_by_key(|span| {
        (span.start_time_unix_nano, line(span), span.end_time_unix_nano, attribute(span, "prose.place"))
    });
    for span in spans {
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano, "{span:?}");
        let status = span.status.as_ref().map_or(0, |status| status.code);
        let status = if status == 2 { " ✗" } else { "" };
        let attributes = shown(&span.attributes, &|key| keys.contains(&key));
        tree.push_str(&format!("{:1$}{2}{status}{attributes}\n", "", depth * 2, span.name));
        add(tree, below, &span.span_id, depth + 1, keys);
    }
}

/// The value of an attribute.
pub(in crate::run) fn attribute(span: &Span, key: &str) -> Option<String> {
    span.attributes.iter().find(|attribute| attribute.key == key).map(value)
}

fn value(attribute: &KeyValue) -> String {
    match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        Some(Value::BoolValue(is)) => is.to_string(),
        other => format!("{other:?}"),
    }
}

fn shown(attributes: &[KeyValue], is_shown: &dyn Fn(&str) -> bool) -> String {
    let mut shown: Vec<String> = attributes
        .iter()
        .filter(|attribute| is_shown(&attribute.key))
        .map(|attribute| format!("{}={}", attribute.key, value(attribute)))
        .collect();
    shown.sort();
    if shown.is_empty() { String::new() } else { format!(" {{{}}}", shown.join(", ")) }
}

//! Sends spans and metrics, on threads of its own: a run only puts finished spans into a queue, and drops them if that is full.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry::metrics::MeterProvider;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::tonic_types::transport::{Certificate, ClientTlsConfig};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithHttpConfig, WithTonicConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider, Temporality};
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanProcessor};
use prose_registry::{EXTRA_CA, tls_config_with};
use tokio::runtime::Handle;

use crate::metrics::Instruments;
use crate::variables::{Protocol, Target, Variables};

/// How long a process waits at its end until what is left is sent.
pub const MAX_FLUSH: Duration = Duration::from_secs(2);

/// The size of the texts of a batch, about, above which it is divided: collectors reject messages above 4 MiB.
const MAX_BATCH_BYTES: usize = 2 << 20;

/// The reason where there was no answer.
const AWAY: &str = "cannot connect, or no answer";

/// The same with TLS.
const AWAY_OR_UNTRUSTED: &str = "cannot connect, no answer, or its certificate is not trusted";

/// The reason where no request has failed.
const SLOW: &str = "the collector is too slow";

/// What all runs of a process send their spans and metrics through.
#[derive(Debug)]
pub(crate) struct Pipeline {
    spans: Option<BatchSpanProcessor>,
    meters: Option<SdkMeterProvider>,
    pub(crate) instruments: Option<Instruments>,
    pub(crate) scope: InstrumentationScope,
    health: Arc<Health>,
    /// The address that spans are sent to; empty without spans.
    spans_address: String,
    /// The same of metrics.
    meters_address: String,
    problems: Vec<String>,
}

/// What became of the spans.
#[derive(Debug, Default)]
struct Health {
    taken: AtomicU64,
    sent: AtomicU64,
    /// The last error; `None` while everything that was tried succeeded.
    error: Mutex<Option<String>>,
}

impl Health {
    fn note(&self, result: &OTelSdkResult) {
        if let Err(error) = result {
            let error = Some(reason(&error.to_string()));
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = error;
        }
    }

    /// Notes an error unless there is one that says more.
    fn note_first(&self, result: &OTelSdkResult) {
        if self.error().is_none() {
            match result {
                Err(OTelSdkError::Timeout(_)) => {
                    self.note(&Err(OTelSdkError::InternalFailure(SLOW.to_owned())))
                }
                result => self.note(result),
            }
        }
    }

    fn error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The first line of an error, without what the libraries put around it.
fn reason(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    let line = line.strip_prefix("Operation failed: ").unwrap_or(line);
    let line = line.strip_prefix("HTTP export failed: ").unwrap_or(line);
    let line = line.strip_prefix("HTTP export failed with ").unwrap_or(line);
    let line = line.split_once(" gRPC code: ").map_or(line, |(_, line)| line);
    match line {
        "network error" => AWAY.to_owned(),
        line if line.contains("connect error") => AWAY.to_owned(),
        line => line.chars().take(200).collect(),
    }
}

impl Pipeline {
    /// Starts the threads. What cannot be sent is a problem of the pipeline.
    pub(crate) fn start(variables: &Variables) -> Self {
        let health = Arc::new(Health::default());
        let mut problems = variables.problems.clone();
        let resource = resource();
        let scope = InstrumentationScope::builder("prose").with_version(env!("CARGO_PKG_VERSION")).build();
        let mut pipeline = Self {
            spans: None,
            meters: None,
            instruments: None,
            scope: scope.clone(),
            health: Arc::clone(&health),
            spans_address: address(variables.traces.as_ref()),
            meters_address: address(variables.metrics.as_ref()),
            problems: Vec::new(),
        };
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(problem) => {
                pipeline.problems = vec![problem];
                return pipeline;
            }
        };
        if let Some(target) = &variables.traces {
            match span_exporter(target, &runtime) {
                Ok(exporter) => {
                    let watched = Watched { exporter, runtime: runtime.clone(), health: Arc::clone(&health) };
                    let config = BatchConfigBuilder::default()
                        .with_max_queue_size(variables.max_queue)
                        .with_max_export_batch_size(variables.max_batch)
                        .with_scheduled_delay(variables.schedule_delay)
                        .build();
                    let mut spans = BatchSpanProcessor::new(watched, config);
                    spans.set_resource(&resource);
                    pipeline.spans = Some(spans);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if let Some(target) = &variables.metrics {
            match metric_exporter(target, &runtime) {
                Ok(exporter) => {
                    let watched = Watched { exporter, runtime, health };
                    let reader =
                        PeriodicReader::builder(watched).with_interval(variables.metric_interval).build();
                    let meters =
                        SdkMeterProvider::builder().with_resource(resource).with_reader(reader).build();
                    pipeline.instruments = Some(Instruments::new(&meters.meter_with_scope(scope)));
                    pipeline.meters = Some(meters);
                }
                Err(problem) => problems.push(problem),
            }
        }
        pipeline.problems = problems;
        pipeline
    }

    /// Whether spans are sent.
    pub(crate) fn has_spans(&self) -> bool {
        self.spans.is_some()
    }

    /// Takes a finished span, without waiting.
    pub(crate) fn take(&self, span: SpanData) {
        if let Some(spans) = &self.spans {
            self.health.taken.fetch_add(1, Ordering::Relaxed);
            spans.on_end(span);
        }
    }

    /// Sends what is left, for [`MAX_FLUSH`] at most. Returns what went wrong since the start, in one sentence.
    pub(crate) fn finish(&self) -> Option<String> {
        let until = Instant::now() + MAX_FLUSH;
        let (done, meters_done) = mpsc::channel::<()>();
        if let Some(meters) = self.meters.clone() {
            // The SDK does not limit this by itself. A thread that still waits ends with the process.
            let shutdown = move || drop((meters.shutdown(), done));
            let started = thread::Builder::new().name("telemetry end".to_owned()).spawn(shutdown);
            let failed = |error: std::io::Error| OTelSdkError::InternalFailure(error.to_string());
            self.health.note(&started.map(drop).map_err(failed));
        } else {
            drop(done);
        }
        if let Some(spans) = &self.spans {
            let timely = spans.shutdown_with_timeout(MAX_FLUSH);
            self.health.note_first(&timely);
        }
        let rest = until.saturating_duration_since(Instant::now());
        if let Err(RecvTimeoutError::Timeout) = meters_done.recv_timeout(rest) {
            self.health.note_first(&Err(OTelSdkError::Timeout(MAX_FLUSH)));
        }
        if let Some(problem) = self.problems.first() {
            return Some(format!("traces and metrics are incomplete: {problem}"));
        }
        let taken = self.health.taken.load(Ordering::Relaxed);
        let lost = taken.saturating_sub(self.health.sent.load(Ordering::Relaxed));
        let error = self.health.error();
        if lost == 0 && error.is_none() {
            return None;
        }
        let (what, address) = match lost {
            0 => ("metrics were".to_owned(), &self.meters_address),
            lost if lost == taken => ("traces were".to_owned(), &self.spans_address),
            lost => (format!("{lost} of {taken} spans were"), &self.spans_address),
        };
        let reason = match error {
            // The library keeps the reason to itself.
            Some(error) if error == AWAY && address.starts_with("https://") => AWAY_OR_UNTRUSTED.to_owned(),
            Some(error) => error,
            None => SLOW.to_owned(),
        };
        Some(format!("{what} not sent to {address}: {reason}"))
    }
}

/// The address of a signal, for the message.
fn address(target: Option<&Target>) -> String {
    target.map(|target| target.address.clone()).unwrap_or_default()
}

/// What the spans and metrics of this process are about. Its instance tells the metrics of several workers apart.
fn resource() -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let mut builder = Resource::builder();
    let is_named = std::env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty())
        || std::env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|attributes| {
            attributes.split(',').any(|part| part.trim().starts_with("service.name="))
        });
    if !is_named {
        builder = builder.with_service_name("prose");
    }
    let started = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let instance = format!("{}-{}", std::process::id(), started.as_nanos());
    builder.with_attributes([version, KeyValue::new("service.instance.id", instance)]).build()
}

/// A runtime for the connections, on a thread that ends with the process.
fn runtime() -> Result<Handle, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let handle = runtime.handle().clone();
    let started = thread::Builder::new()
        .name("telemetry".to_owned())
        .spawn(move || runtime.block_on(std::future::pending::<()>()));
    started.map(|_| handle).map_err(|error| error.to_string())
}

fn span_exporter(target: &Target, runtime: &Handle) -> Result<SpanExporter, String> {
    // Channels are made in a runtime, though they connect later.
    let _entered = runtime.enter();
    let built = match target.protocol {
        Protocol::Http => SpanExporter::builder().with_http().with_http_client(client(target)?).build(),
        Protocol::Grpc => SpanExporter::builder().with_tonic().with_tls_config(tls(target)?).build(),
    };
    built.map_err(|error| error.to_string())
}

fn metric_exporter(target: &Target, runtime: &Handle) -> Result<MetricExporter, String> {
    let _entered = runtime.enter();
    let built = match target.protocol {
        Protocol::Http => MetricExporter::builder().with_http().with_http_client(client(target)?).build(),
        Protocol::Grpc => MetricExporter::builder().with_tonic().with_tls_config(tls(target)?).build(),
    };
    built.map_err(|error| error.to_string())
}

/// The file of certificates that are trusted in addition, with the variable that names it.
fn extra_ca(target: &Target) -> Option<(&'static str, PathBuf)> {
    match &target.certificate {
        Some(path) => Some(("OTEL_EXPORTER_OTLP_CERTIFICATE", path.into())),
        None => std::env::var_os(EXTRA_CA).map(|path| (EXTRA_CA, path.into())),
    }
}

/// A client with the trusted certificates of all others.
fn client(target: &Target) -> Result<reqwest::Client, String> {
    let extra = extra_ca(target);
    let tls = tls_config_with(extra.as_ref().map(|(variable, path)| (*variable, path.as_path())))?;
    // Redirects would pass the headers with keys on.
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .build();
    client.map_err(|error| error.to_string())
}

/// The same for gRPC.
fn tls(target: &Target) -> Result<ClientTlsConfig, String> {
    let mut config = ClientTlsConfig::new().with_enabled_roots();
    if let Some((_, path)) = extra_ca(target) {
        let unreadable = |error| format!("cannot read the certificates in {}: {error}", path.display());
        let pem = fs::read(&path).map_err(unreadable)?;
        config = config.ca_certificate(Certificate::from_pem(pem));
    }
    Ok(config)
}

/// An exporter whose requests run where connections can be used, and whose results are noted.
#[derive(Debug)]
struct Watched<E> {
    exporter: E,
    runtime: Handle,
    health: Arc<Health>,
}

impl opentelemetry_sdk::trace::SpanExporter for Watched<SpanExporter> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let mut last = Ok(());
        for part in divided(batch) {
            let count = part.len() as u64;
            // The thread of the processor is none of a runtime.
            let result = self.runtime.block_on(self.exporter.export(part));
            self.health.note(&result);
            match result {
                Ok(()) => drop(self.health.sent.fetch_add(count, Ordering::Relaxed)),
                Err(error) => last = Err(error),
            }
        }
        last
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl PushMetricExporter for Watched<MetricExporter> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let result = self.runtime.block_on(self.exporter.export(metrics));
        self.health.note(&result);
        result
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}

/// A batch in parts that collectors accept.
fn divided(batch: Vec<SpanData>) -> Vec<Vec<SpanData>> {
    let (mut parts, mut part, mut bytes) = (Vec::new(), Vec::with_capacity(batch.len()), 0);
    for span in batch {
        let size = size(&span);
        if bytes + size > MAX_BATCH_BYTES && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
            bytes = 0;
        }
        bytes += size;
        part.push(span);
    }
    parts.push(part);
    parts
}

/// The size of a span, about.
fn size(span: &SpanData) -> usize {
    let text = |attribute: &KeyValue| match &attribute.value {
        opentelemetry::Value::String(text) => text.as_str().len(),
        _ => 8,
    };
    200 + span
        .attributes
        .iter()
        .map(|attribute| attribute.key.as_str().len() + text(attribute))
        .sum::<usize>()
}

//! What a worker tells Prometheus: what it does, and what there is to do on its server.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use prose_vm::effect::Usage;
use tokio_postgres::Row;

/// The labels of a metric with their values.
type Labels = Vec<(&'static str, String)>;

/// A gauge in seconds.
type Seconds = Gauge<f64, AtomicU64>;

/// The metrics of a worker.
pub(crate) struct Metrics {
    registry: Registry,
    connected: Gauge,
    slots: Gauge,
    at_work: Family<Labels, Gauge>,
    performed: Family<Labels, Counter>,
    tokens: Family<Labels, Counter>,
    cost: Family<Labels, Counter<f64, AtomicU64>>,
    leads: Gauge,
    ended: Family<Labels, Counter>,
    queue: Family<Labels, Gauge>,
    oldest: Family<Labels, Seconds>,
    runs: Family<Labels, Gauge>,
}

fn class(class: &str) -> Labels {
    vec![("class", class.to_owned())]
}

impl Metrics {
    pub(crate) fn new(slots: usize) -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("prose"),
            connected: Gauge::default(),
            slots: Gauge::default(),
            at_work: Family::default(),
            performed: Family::default(),
            tokens: Family::default(),
            cost: Family::default(),
            leads: Gauge::default(),
            ended: Family::default(),
            queue: Family::default(),
            oldest: Family::default(),
            runs: Family::default(),
        };
        metrics.slots.set(slots as i64);
        let registry = &mut metrics.registry;
        registry.register(
            "worker_connected",
            "Whether the worker can reach its server",
            metrics.connected.clone(),
        );
        registry.register(
            "worker_slots",
            "How many requests the worker performs at the same time at most",
            metrics.slots.clone(),
        );
        registry.register(
            "worker_requests_at_work",
            "Requests that the worker performs now",
            metrics.at_work.clone(),
        );
        registry.register(
            "worker_requests",
            "Requests that the worker has performed, by their outcome",
            metrics.performed.clone(),
        );
        registry.register("worker_tokens", "Tokens that they have used", metrics.tokens.clone());
        registry.register(
            "worker_cost_dollars",
            "What they have cost in US dollars, as far as prices are known",
            metrics.cost.clone(),
        );
        registry.register("worker_runs_led", "Runs that the worker leads now", metrics.leads.clone());
        registry.register(
            "worker_runs",
            "Runs that have ended where the worker led them",
            metrics.ended.clone(),
        );
        registry.register(
            "cluster_requests",
            "Requests on the server: those that wait, and those at work on all workers",
            metrics.queue.clone(),
        );
        registry.register(
            "cluster_oldest_request_seconds",
            "For how long the oldest waiting request has waited",
            metrics.oldest.clone(),
        );
        registry.register(
            "cluster_runs",
            "Runs on the server that have not ended: those with a leader, and those that wait for one",
            metrics.runs.clone(),
        );
        metrics
    }

    pub(crate) fn is_connected(&self, is_connected: bool) {
        self.connected.set(is_connected.into());
    }

    /// How much the worker does now: the classes of the requests that it performs, and how many runs it leads.
    pub(crate) fn present<'c>(&self, at_work: impl Iterator<Item = &'c str>, leads: usize) {
        self.leads.set(leads as i64);
        let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
        at_work.for_each(|class| *counts.entry(class).or_default() += 1);
        self.at_work.clear();
        counts.into_iter().for_each(|(name, count)| _ = self.at_work.get_or_create(&class(name)).set(count));
    }

    /// A request has ended.
    pub(crate) fn performed(&self, name: &str, has_failed: bool, used: Option<Usage>) {
        let outcome = if has_failed { "failed" } else { "done" };
        let labels = vec![("class", name.to_owned()), ("outcome", outcome.to_owned())];
        self.performed.get_or_create(&labels).inc();
        let Some(usage) = used else { return };
        for (direction, count) in [("input", usage.input_tokens), ("output", usage.output_tokens)] {
            let labels = vec![("class", name.to_owned()), ("direction", direction.to_owned())];
            self.tokens.get_or_create(&labels).inc_by(count);
        }
        self.cost.get_or_create(&class(name)).inc_by(usage.cost.unwrap_or_default());
    }

    /// A run has ended where it was led here.
    pub(crate) fn ended(&self, status: &str) {
        self.ended.get_or_create(&vec![("status", status.to_owned())]).inc();
    }

    /// What the server has, as [`QUEUE`] and [`RUNS`] tell it.
    pub(crate) fn server(&self, queue: &[Row], runs: &[Row]) {
        self.queue.clear();
        self.oldest.clear();
        for row in queue {
            let (name, free, at_work, oldest): (&str, i64, i64, f64) =
                (row.get(0), row.get(1), row.get(2), row.get(3));
            for (state, count) in [("waiting", free), ("at-work", at_work)] {
                let labels = vec![("class", name.to_owned()), ("state", state.to_owned())];
                self.queue.get_or_create(&labels).set(count);
            }
            self.oldest.get_or_create(&class(name)).set(oldest);
        }
        for row in runs {
            for (state, count) in [("led", row.get(0)), ("waiting", row.get(1))] {
                self.runs.get_or_create(&vec![("state", state.to_owned())]).set(count);
            }
        }
    }

    /// The text for Prometheus.
    fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a text does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// Answers requests for `/metrics` until the process ends.
pub(crate) async fn serve(listener: TcpListener, metrics: Arc<Metrics>) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        // Such as when the process has too many open files.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        let metrics = Arc::clone(&metrics);
        let service = service_fn(move |request: Request<Incoming>| {
            let response = respond(&request, &metrics);
            async move { Ok::<_, Infallible>(response) }
        });
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service);
            // Who asks may leave before the answer is there.
            let _ = connection.await;
        });
    }
}

fn respond(request: &Request<Incoming>, metrics: &Metrics) -> Response<Full<Bytes>> {
    let is_known = request.uri().path() == "/metrics";
    let text = if is_known { metrics.text() } else { "the metrics are at /metrics\n".to_owned() };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    let kind = match is_known {
        true => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        false => {
            *response.status_mut() = StatusCode::NOT_FOUND;
            "text/plain; charset=utf-8"
        }
    };
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_text_has_what_was_done() {
        let metrics = Metrics::new(8);
        metrics.is_connected(true);
        let usage = Usage { input_tokens: 100, output_tokens: 7, cost: Some(0.25), ..Usage::default() };
        metrics.performed("claude", false, Some(usage));
        metrics.performed("claude", true, None);
        metrics.present(["claude", "claude"].into_iter(), 1);
        metrics.ended("completed");
        let text = metrics.text();
        let mut samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        samples.sort_unstable();
        expect![[r#"
            prose_worker_connected 1
            prose_worker_cost_dollars_total{class="claude"} 0.25
            prose_worker_requests_at_work{class="claude"} 2
            prose_worker_requests_total{class="claude",outcome="done"} 1
            prose_worker_requests_total{class="claude",outcome="failed"} 1
            prose_worker_runs_led 1
            prose_worker_runs_total{status="completed"} 1
            prose_worker_slots 8
            prose_worker_tokens_total{class="claude",direction="input"} 100
            prose_worker_tokens_total{class="claude",direction="output"} 7"#]]
        .assert_eq(&samples.join("\n"));
    }
}

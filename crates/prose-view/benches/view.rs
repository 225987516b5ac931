//! What it costs to fold the events of a run, to go back to an earlier one, and to know what changed.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use prose_view::{History, View};
use prose_vm::event::Event;
use serde_json::{Value, json};

/// As in the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A run with a `parallel for` of so many sessions, 64 of which are open at the same time.
fn events(sessions: u64) -> Vec<Event> {
    let mut events = Vec::new();
    let mut push = |place: String, what: Value| {
        let mut event = what;
        event["seq"] = json!(events.len() + 1);
        event["at"] = json!(events.len());
        event["place"] = json!(place);
        event["site"] = json!({ "start": 0, "end": 90, "line": 1, "last_line": 2 });
        events.push(serde_json::from_value(event).expect("an event of this crate's own making"));
    };
    push(
        String::new(),
        json!({
            "event": "run-started", "version": 2, "run": "20260115-143052-a7b3c9", "program": "many.prose", "from": "/p/many.prose",
            "sha256": "", "imports": [], "state": "filesystem", "harness": "offline", "seed": 0, "context_by_reference": true,
            "agents_write": false, "max_iterations": 100, "backoff_ms": 1, "backoff_cap_ms": 1, "inputs": []
        }),
    );
    push(
        "s0".to_owned(),
        json!({ "event": "parallel-started", "branches": [], "strategy": "all", "policy": "fail-fast", "count": 1, "is_loop": true }),
    );
    for index in 0..sessions + 64 {
        if index < sessions {
            let (branch, place) = (format!("s0/i{index}"), format!("s0/i{index}/1"));
            let name = format!("iteration {}", index + 1);
            push(branch, json!({ "event": "branch-started", "index": index, "name": name }));
            push(
                place.clone(),
                json!({ "event": "statement-started", "number": null, "source": "session \"Read {item}\"", "kind": "session" }),
            );
            let binding = json!({ "name": format!("anon_{index}"), "kind": "let", "path": "bindings/a.md", "source": "" });
            let task = json!({ "task": "Read the chapter and say what is new in it", "prompt": "Read.", "agent": "reader", "binding": binding });
            push(place, json!({ "event": "session-started", "request": index, "task": task }));
        }
        if let Some(index) = index.checked_sub(64) {
            let (branch, place) = (format!("s0/i{index}"), format!("s0/i{index}/1"));
            let usage = json!({ "input_tokens": 900, "output_tokens": 80, "cost": 0.01 });
            let outcome = json!({ "reply": { "text": "Nothing is new.", "usage": usage } });
            push(
                place.clone(),
                json!({ "event": "effect", "request": index, "effect": "session", "fingerprint": "", "outcome": outcome }),
            );
            push(
                place.clone(),
                json!({ "event": "session-ended", "request": index, "status": "complete", "error": null }),
            );
            push(place, json!({ "event": "statement-ended", "status": "complete", "error": null }));
            let name = format!("iteration {}", index + 1);
            push(
                branch,
                json!({ "event": "branch-ended", "index": index, "name": name, "status": "complete", "value": null }),
            );
        }
    }
    events
}

fn view(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("view");
    group.sample_size(10);
    for sessions in [1_000, 100_000] {
        let events = events(sessions);
        group.throughput(Throughput::Elements(sessions));
        group.bench_with_input(BenchmarkId::new("fold", sessions), &events, |bencher, events| {
            bencher.iter_with_large_drop(|| View::of(events));
        });
        group.throughput(Throughput::Elements(1));
        let mut history = History::default();
        events.iter().cloned().for_each(|event| history.push(event));
        // One session from its start to its end, in the middle of the run.
        let middle = history.view().seq() / 2;
        group.bench_function(BenchmarkId::new("delta", sessions), |bencher| {
            let view = history.at(middle);
            let before = view.revision() - 7;
            bencher.iter(|| black_box(serde_json::to_string(&view.since(before)).map(|text| text.len())));
        });
        group.bench_function(BenchmarkId::new("an event and its delta", sessions), |bencher| {
            let before = history.at(middle).into_owned();
            let next = &history.events()[middle as usize];
            bencher.iter_batched_ref(
                || before.clone(),
                |view| {
                    view.apply(next);
                    black_box(view.since(view.revision() - 1).nodes().count())
                },
                criterion::BatchSize::SmallInput,
            );
        });
        group.bench_function(BenchmarkId::new("going back", sessions), |bencher| {
            bencher.iter(|| black_box(history.at(middle).revision()));
        });
    }
    group.finish();
}

criterion_group!(benches, view);
criterion_main!(benches);

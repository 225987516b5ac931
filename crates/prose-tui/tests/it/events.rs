//! Events for tests.

use prose_vm::event::Event;
use serde_json::{Value, json};

/// A real run, with a `parallel`, a loop, a retry, a block, a pipeline and a `try`.
pub(crate) fn recorded() -> Vec<Event> {
    let text = include_str!("../../../../editors/vscode/test/recorded/review.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Events with numbers from 1 after the start of a run, one per second.
pub(crate) fn run(events: Vec<(&str, Value)>) -> Vec<Event> {
    let start = json!({
        "event": "run-started", "version": 2, "run": "20260115-143052-a7b3c9", "program": "tides.prose", "from": "/p/tides.prose",
        "sha256": "", "imports": [], "state": "filesystem", "harness": "claude", "seed": 0, "context_by_reference": true,
        "agents_write": false, "max_iterations": 100, "backoff_ms": 1, "backoff_cap_ms": 1, "inputs": []
    });
    let events = std::iter::once(("", start)).chain(events).enumerate();
    let event = |(index, (place, mut event)): (usize, (&str, Value))| {
        event["seq"] = json!(index + 1);
        event["at"] = json!(1000 * index);
        event["place"] = json!(place);
        if event["event"] != "run-started" && event["event"] != "run-ended" {
            event["site"] = json!({ "start": 0, "end": 9, "line": index, "last_line": index });
        }
        serde_json::from_value(event).unwrap()
    };
    events.map(event).collect()
}

pub(crate) fn session(request: u64, agent: &str, task: &str) -> Value {
    let binding = json!({ "name": "a", "kind": "let", "path": "bindings/a.md", "source": "" });
    let task =
        json!({ "agent": agent, "task": task, "prompt": format!("{task}\nBe brief."), "binding": binding });
    json!({ "event": "session-started", "request": request, "task": task })
}

pub(crate) fn activity(request: u64, mut what: Value) -> Value {
    what["event"] = json!("activity");
    what["request"] = json!(request);
    what
}

pub(crate) fn text(request: u64, text: &str) -> Value {
    activity(request, json!({ "activity": "text", "text": text }))
}

pub(crate) fn tool(request: u64, id: &str, title: &str, status: &str) -> Value {
    activity(
        request,
        json!({ "activity": "tool", "id": id, "kind": "execute", "title": title, "status": status }),
    )
}

pub(crate) fn replied(request: u64, text: &str) -> Value {
    let usage = json!({ "input_tokens": 900, "output_tokens": 300, "cost": 0.05 });
    json!({ "event": "effect", "request": request, "effect": "session", "fingerprint": "", "outcome": { "reply": { "text": text, "usage": usage } } })
}

pub(crate) fn ended(request: u64, status: &str) -> Value {
    let error = json!({ "kind": "other", "message": "the provider is away\nfor long" });
    let error = if status == "failed" { error } else { Value::Null };
    json!({ "event": "session-ended", "request": request, "status": status, "error": error })
}

pub(crate) fn parallel(branches: &[&str]) -> Value {
    json!({ "event": "parallel-started", "branches": branches, "strategy": "all", "policy": "fail-fast", "count": 0, "is_loop": false })
}

pub(crate) fn branch(index: u32, name: &str) -> Value {
    json!({ "event": "branch-started", "index": index, "name": name })
}

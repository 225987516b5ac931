//! Events for tests.

use prose_view::{NodeId, View};
use prose_vm::event::Event;
use serde_json::{Value, json};

/// A real run, with a `parallel`, a loop, a retry, a block, a pipeline and a `try`.
pub(crate) fn recorded() -> Vec<Event> {
    let text = include_str!("../../../../editors/vscode/test/recorded/review.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// An event at a time and a place, in line 1 of the program.
pub(crate) fn event(seq: u64, place: &str, what: Value) -> Event {
    let mut event = what;
    event["seq"] = json!(seq);
    event["at"] = event.get("at").cloned().unwrap_or(json!(seq));
    event["place"] = json!(place);
    let is_of_run = matches!(event["event"].as_str(), Some("run-started" | "run-ended" | "resumed"));
    if !is_of_run && event.get("site").is_none() {
        event["site"] = json!({ "start": 0, "end": 9, "line": 1, "last_line": 1 });
    }
    serde_json::from_value(event).unwrap()
}

/// Events with numbers from 1 after the start of a run.
pub(crate) fn run(events: Vec<(&str, Value)>) -> Vec<Event> {
    let start = json!({
        "event": "run-started", "version": 2, "run": "20260115-143052-a7b3c9", "program": "race.prose", "from": "/p/race.prose",
        "sha256": "", "imports": [], "state": "filesystem", "harness": "offline", "seed": 0, "context_by_reference": true,
        "agents_write": false, "max_iterations": 100, "backoff_ms": 1, "backoff_cap_ms": 1, "inputs": []
    });
    let events = std::iter::once(("", start)).chain(events);
    events.enumerate().map(|(index, (place, what))| event(index as u64 + 1, place, what)).collect()
}

pub(crate) fn session(request: u64, task: &str) -> Value {
    let binding = json!({ "name": "a", "kind": "let", "path": "bindings/a.md", "source": "" });
    json!({ "event": "session-started", "request": request, "task": { "task": task, "prompt": task, "binding": binding } })
}

pub(crate) fn ended(request: u64, status: &str) -> Value {
    json!({ "event": "session-ended", "request": request, "status": status, "error": null })
}

pub(crate) fn statement() -> Value {
    json!({ "event": "statement-started", "number": null, "source": "session \"x\"", "kind": "session" })
}

pub(crate) fn replied(request: u64, usage: Value) -> Value {
    json!({ "event": "effect", "request": request, "effect": "session", "fingerprint": "", "outcome": { "reply": { "text": "Done.\nAll of it.", "usage": usage } } })
}

pub(crate) fn run_ended(status: &str) -> Value {
    let error = json!({ "kind": "other", "message": "stopped in the editor" });
    let error = if status == "completed" { Value::Null } else { error };
    json!({ "event": "run-ended", "status": status, "outputs": [], "value": null, "error": error, "sessions": 1 })
}

/// The tree as lines, without times.
pub(crate) fn outline(view: &View) -> String {
    fn visit(view: &View, id: NodeId, depth: usize, lines: &mut String) {
        let node = view.node(id).unwrap();
        let attempts = node.session().map_or(0, |session| session.attempts.len());
        let tries = if attempts > 1 { format!(", {attempts} attempts") } else { String::new() };
        let is_told = node.session().is_none() && !node.note.is_empty();
        let note = if is_told { format!(" -> {}", node.note) } else { String::new() };
        let status = format!("{:?}", node.status).to_lowercase();
        let indent = "  ".repeat(depth);
        *lines += &format!("{indent}{} {}: {status}{tries}{note}\n", node.kind.name(), node.label);
        let mut children: Vec<_> = view.children(id).map(|(id, _)| id).collect();
        children.reverse();
        children.into_iter().for_each(|child| visit(view, child, depth + 1, lines));
    }
    let mut lines = String::new();
    if view.root().is_some() {
        visit(view, NodeId::ROOT, 0, &mut lines);
    }
    lines
}

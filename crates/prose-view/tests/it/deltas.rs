//! What changes between two events.

use std::collections::BTreeMap;

use expect_test::{expect, expect_file};
use prose_view::{History, View};
use serde_json::{Value, json};

use crate::events::{ended, recorded, replied, run, session};

/// The nodes of a client that takes up deltas.
fn take(nodes: &mut BTreeMap<u64, Value>, delta: &Value) {
    if delta["whole"] == json!(true) {
        nodes.clear();
    }
    for node in delta["nodes"].as_array().unwrap() {
        nodes.insert(node["id"].as_u64().unwrap(), node.clone());
    }
}

#[test]
fn deltas_add_up_to_the_whole_view() {
    let events = recorded();
    for step in [1, 7, 40] {
        let mut view = View::default();
        let mut nodes = BTreeMap::new();
        // As if the run were resumed in between, which tells it from its start again.
        for events in [&events[..30], &events[..]].iter().flat_map(|events| events.chunks(step)) {
            let before = view.revision();
            events.iter().for_each(|event| view.apply(event));
            take(&mut nodes, &json!(view.since(before)));
        }
        let mut whole = BTreeMap::new();
        take(&mut whole, &json!(View::of(&events).since(0)));
        assert_eq!(nodes, whole);
    }
}

#[test]
fn a_delta_between_any_two_events_leads_from_one_view_to_the_other() {
    let mut history = History::default();
    recorded().into_iter().for_each(|event| history.push(event));
    let last = history.view().seq();
    for (from, to) in [(1, 2), (3, 40), (40, 41), (17, last), (last, last)] {
        let (mut nodes, mut there) = (BTreeMap::new(), BTreeMap::new());
        take(&mut nodes, &json!(history.at(from).since(0)));
        take(&mut nodes, &json!(history.delta(from, to)));
        take(&mut there, &json!(history.at(to).since(0)));
        assert_eq!(nodes, there, "from {from} to {to}");
    }
}

#[test]
fn a_delta_holds_what_changed_and_no_more() {
    let usage = json!({ "input_tokens": 6, "output_tokens": 1 });
    let events = run(vec![
        ("s1", session(1, "x")),
        ("s1", ended(1, "complete")),
        ("s2", session(2, "y")),
        ("s2", replied(2, usage)),
    ]);
    let mut view = View::of(&events[..4]);
    let before = view.revision();
    view.apply(&events[4]);
    let delta = view.since(before).in_document(10);
    expect![[r#"
        {
          "whole": false,
          "revision": 5,
          "seq": 5,
          "now": 5,
          "paused": 0,
          "ended": 1,
          "harness": "offline",
          "nodes": [
            {
              "id": 0,
              "kind": "run",
              "label": "race.prose",
              "place": "",
              "status": "running",
              "from": 1,
              "usage": {
                "input_tokens": 6,
                "output_tokens": 1
              },
              "sessions": {
                "total": 2,
                "running": 1,
                "waiting": 0,
                "complete": 1,
                "failed": 0
              }
            },
            {
              "id": 2,
              "kind": "session",
              "parent": 0,
              "label": "y",
              "place": "s2",
              "status": "running",
              "from": 4,
              "note": "Done.",
              "site": {
                "start": 0,
                "end": 9,
                "line": 11,
                "last_line": 11
              },
              "usage": {
                "input_tokens": 6,
                "output_tokens": 1
              },
              "sessions": {
                "total": 1,
                "running": 1,
                "waiting": 0,
                "complete": 0,
                "failed": 0
              },
              "name": "a",
              "file": "bindings/a.md",
              "retries": 0,
              "attempts": [
                {
                  "request": 2,
                  "from": 4,
                  "status": "running",
                  "usage": {
                    "input_tokens": 6,
                    "output_tokens": 1
                  }
                }
              ]
            }
          ],
          "statements": [],
          "entries": [],
          "agents": [
            {
              "name": "(no agent)",
              "agent": null,
              "requests": 2,
              "usage": {
                "input_tokens": 6,
                "output_tokens": 1
              }
            }
          ]
        }
    "#]]
    .assert_eq(&format!("{}\n", serde_json::to_string_pretty(&delta).unwrap()));
}

#[test]
fn entries_of_the_log_are_new_once() {
    let mut view = View::default();
    let mut kinds = Vec::new();
    for event in recorded() {
        let before = view.revision();
        view.apply(&event);
        let delta = json!(view.since(before));
        kinds.extend(delta["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].clone()));
    }
    assert_eq!(kinds.len(), view.entries().count());
    assert_eq!((&kinds[0], &kinds[kinds.len() - 1]), (&json!("started"), &json!("ended")));
}

#[test]
fn the_recorded_deltas_of_the_editor_are_those_of_the_recorded_events() {
    let mut view = View::default();
    let mut deltas = String::new();
    for event in recorded() {
        let before = view.revision();
        view.apply(&event);
        deltas += &format!("{}\n", serde_json::to_string(&view.since(before)).unwrap());
    }
    expect_file!["../../../../editors/vscode/test/recorded/review.deltas.jsonl"].assert_eq(&deltas);
}

#[test]
fn long_texts_are_not_part_of_a_view() {
    let long = "x".repeat(5000);
    let error = json!({ "kind": "session", "message": long });
    let mut failed = ended(1, "failed");
    failed["error"] = error;
    let view = View::of(&run(vec![("s1", session(1, &long)), ("s1", failed)]));
    let node = json!(view.since(0))["nodes"][1].clone();
    assert!(node.to_string().len() < 1500, "{node}");
    assert!(
        node["label"].as_str().unwrap().ends_with("x…") && node["error"].as_str().unwrap().ends_with("x…")
    );
}

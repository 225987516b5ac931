//! Random programs: the debugger shows the same at an event, whichever way it comes there.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::json;

use crate::client::{Client, World};
use crate::programs::{count_of_programs, program};

/// What is seen at a stop, the number of its event, and whether that is the last one.
fn view_and_end(client: &mut Client) -> (u64, String, bool) {
    let stopped = client.event("stopped");
    let thread = stopped["threadId"].as_u64().unwrap();
    let is_end = stopped["description"] == "At the end of the run";
    let mut view = String::new();
    let threads = client.ok("threads", json!({}));
    for at in threads["threads"].as_array().unwrap() {
        let stack = client.stack(at["id"].as_u64().unwrap());
        view += &format!("{}: {stack}\n", at["name"]);
    }
    let scopes = client.scopes(thread);
    for (scope, reference) in scopes {
        view += &format!("{scope}\n{}\n", client.rows(&reference));
    }
    let event = view.lines().find_map(|line| line.strip_prefix("event = ")).unwrap();
    let event = event.split(' ').next().unwrap().parse().unwrap();
    (event, view, is_end)
}

fn view(client: &mut Client) -> (u64, String) {
    let (event, view, _) = view_and_end(client);
    (event, view)
}

fn check(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let text = program(&mut random);
    let world = World::new(&text, "");
    let mut client = world.launch_with(json!({ "harness": "offline", "script": null }), &[]);
    client.event("terminated");
    client.disconnect();
    let before = std::fs::read(world.last().path).unwrap();
    let mut client = world.look_at_last(json!({ "stopOnEntry": true }), &[]);
    let mut seen = BTreeMap::new();
    let (first, at_first) = view(&mut client);
    seen.insert(first, at_first);
    loop {
        client.ok("stepIn", json!({ "threadId": 1 }));
        let (event, at_event, is_end) = view_and_end(&mut client);
        let before = seen.insert(event, at_event);
        assert_eq!(before, None, "seed {seed}: it was at event {event} before\n{text}");
        if is_end {
            break;
        }
    }
    let events: Vec<u64> = seen.keys().copied().collect();
    for _ in 0..5 {
        let from = events[random.usize(..events.len())];
        client.ok("goto", json!({ "threadId": 1, "targetId": from - 1 }));
        let (event, at_event) = view(&mut client);
        assert_eq!((event, &at_event), (from, &seen[&from]), "seed {seed}, event {from}\n{text}");
        client.ok("stepBack", json!({ "threadId": 1 }));
        let (mut event, mut at_event) = view(&mut client);
        assert!(event < from || from == first, "seed {seed}, back from event {from} to {event}\n{text}");
        loop {
            assert_eq!(seen.get(&event), Some(&at_event), "seed {seed}, event {event}\n{text}");
            if event >= from {
                break;
            }
            client.ok("stepIn", json!({ "threadId": 1 }));
            (event, at_event) = view(&mut client);
        }
        assert_eq!(event, from, "seed {seed}, forward again\n{text}");
    }
    client.disconnect();
    assert_eq!(std::fs::read(world.last().path).unwrap(), before, "seed {seed}: the run was only read");
}

#[test]
fn stepping_back_and_forward_in_generated_programs_shows_the_same() {
    (0..count_of_programs(6)).for_each(check);
}

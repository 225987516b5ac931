//! Breakpoints of all kinds.

use expect_test::expect;
use serde_json::{Value as Json, json};

use crate::client::{Client, World, check, line, source};

const PROGRAM: &str = r#"agent writer:
  prompt: "You write."
let topic = "tides"
block review(text):
  session "Review {text}"
for word, i in ["low", "high", "ebb"]:
  let found = session: writer
    prompt: "Find {word}"
    retry: 1
if topic == "storms":
  session "Warn"
elif **it is calm**:
  do review(found)
try:
  session "Check"
catch as error:
  session "Handle {error.message}"
session "End"
"#;

const ANSWERS: &str = r#"
[[session]]
pattern = "Find low"
times = 1
fail = "connection lost"
[[session]]
pattern = "Find"
reply = "a word"
[[session]]
pattern = "Check"
fail = "it is wrong"
[[session]]
reply = "done"
[[condition]]
met = true
"#;

/// The stops of a run, up to its end or to eight of them.
fn stops(world: &World, breakpoints: &[Json], set: impl FnOnce(&mut Client)) -> Vec<String> {
    world.run();
    let mut client = world.client();
    client.ok("initialize", json!({ "adapterID": "prose" }));
    client.ok("attach", json!({ "run": world.last().head.run, "stopOnEntry": false }));
    client.event("initialized");
    let path = source(&world.path("main.prose"));
    client.ok("setBreakpoints", json!({ "source": path, "breakpoints": breakpoints }));
    set(&mut client);
    client.ok("configurationDone", json!({}));
    let mut seen = vec![client.stop()];
    while seen.len() < 8 && !seen.last().unwrap().starts_with("step") {
        seen.push(client.go("continue"));
    }
    let console = client.disconnect();
    seen.push(console);
    seen
}

#[test]
fn lines_stand_for_statements_sessions_and_conditions() {
    let world = World::new(PROGRAM, ANSWERS);
    let mut client = world.launch(&[]);
    let path = source(&world.path("main.prose"));
    let lines: Vec<Json> = (1..=20).map(line).collect();
    let set = client.ok("setBreakpoints", json!({ "source": path, "breakpoints": lines }));
    let seen: Vec<String> = set["breakpoints"]
        .as_array()
        .unwrap()
        .iter()
        .zip(1..)
        .map(|(set, asked)| {
            format!("{asked} -> {}{}", set["line"], set["message"].as_str().unwrap_or_default())
        })
        .collect();
    check(
        &seen,
        expect![[r#"
        1 -> 3
        2 -> 3
        3 -> 3
        4 -> 5
        5 -> 5
        6 -> 6
        7 -> 7
        8 -> 8
        9 -> 9
        10 -> 10
        11 -> 11
        12 -> 12
        13 -> 13
        14 -> 14
        15 -> 15
        16 -> 17
        17 -> 17
        18 -> 18
        19 -> nullno statement is at this line or after it
        20 -> nullno statement is at this line or after it"#]],
    );
    let locations = client.ok("breakpointLocations", json!({ "source": path, "line": 6, "endLine": 13 }));
    let lines = locations["breakpoints"].as_array().unwrap().iter().map(|at| at["line"].to_string());
    expect!["6 7 10 11 12 13"].assert_eq(&lines.collect::<Vec<_>>().join(" "));
    client.disconnect();
}

#[test]
fn a_breakpoint_in_a_session_stops_before_its_prompt_is_sent() {
    let world = World::new(PROGRAM, ANSWERS);
    check(
        &stops(&world, &[line(8), line(12)], |_| {}),
        expect![[r#"
        breakpoint: iteration 1 of 3 main.prose:7 < main.prose main.prose:6
        breakpoint: iteration 1 of 3 main.prose:7 < main.prose main.prose:6
        breakpoint: iteration 2 of 3 main.prose:7 < main.prose main.prose:6
        breakpoint: iteration 3 of 3 main.prose:7 < main.prose main.prose:6
        breakpoint: main.prose main.prose:10
        step: main.prose ?:0
    "#]],
    );
}

#[test]
fn conditions_hit_counts_and_log_messages_select_executions() {
    let world = World::new(PROGRAM, ANSWERS);
    let breakpoints = [
        json!({ "line": 7, "condition": "word == \"high\"" }),
        json!({ "line": 7, "hitCondition": "3" }),
        json!({ "line": 7, "logMessage": "{i}: {word}, iteration {iteration}" }),
        json!({ "line": 18, "condition": "missing > 1" }),
    ];
    check(
        &stops(&world, &breakpoints, |_| {}),
        expect![[r#"
        breakpoint: iteration 2 of 3 main.prose:7 < main.prose main.prose:6
        breakpoint: iteration 3 of 3 main.prose:7 < main.prose main.prose:6
        breakpoint: main.prose main.prose:18
        step: main.prose ?:0
        0: low, iteration 1
        1: high, iteration 2
        2: ebb, iteration 3
        the condition of the breakpoint cannot be evaluated: `missing` has no value at this point of the run
    "#]],
    );
}

#[test]
fn blocks_agents_and_variables_have_breakpoints() {
    let world = World::new(PROGRAM, ANSWERS);
    let seen = stops(&world, &[], |client| {
        let names = [json!({ "name": "review" }), json!({ "name": "writer", "hitCondition": "> 3" })];
        client.ok("setFunctionBreakpoints", json!({ "breakpoints": names }));
        let info = client.ok("dataBreakpointInfo", json!({ "name": "topic" }));
        assert_eq!(info["dataId"], "topic");
        client.ok("setDataBreakpoints", json!({ "breakpoints": [{ "dataId": "topic" }] }));
    });
    check(
        &seen,
        expect![[r#"
        data breakpoint: main.prose main.prose:3
        function breakpoint: iteration 3 of 3 main.prose:7 < main.prose main.prose:6
        function breakpoint: block review main.prose:13 < main.prose main.prose:13
        step: main.prose ?:0
    "#]],
    );
}

#[test]
fn failures_have_filters() {
    let world = World::new(PROGRAM, ANSWERS);
    let seen = stops(&world, &[], |client| {
        client.ok("setExceptionBreakpoints", json!({ "filters": ["failure", "retry"] }));
    });
    check(
        &seen,
        expect![[r#"
            exception (connection lost): iteration 1 of 3 main.prose:7 < main.prose main.prose:6
            exception (connection lost): iteration 1 of 3 main.prose:7 < main.prose main.prose:6
            exception (it is wrong): main.prose main.prose:15
            step: main.prose ?:0
        "#]],
    );
    let uncaught = World::new("session \"Check\"\n", ANSWERS);
    let seen = stops(&uncaught, &[], |client| {
        client.ok("setExceptionBreakpoints", json!({ "filters": ["uncaught"] }));
    });
    check(
        &seen,
        expect![[r#"
        exception (it is wrong): main.prose main.prose:1
        step: main.prose main.prose:1
    "#]],
    );
}

/// A denied call, and sessions that cost something.
const DENIED: &str = r#"
[[session]]
label = "Push"
reply = "done without it"
activity = [{ denied = "git push", reason = "execute: deny" }]
[[session]]
reply = "done"
activity = [{ used = { input = 100, output = 10, cost = 0.4 } }]
"#;

#[test]
fn denied_permissions_have_a_filter() {
    let program = "session \"Plan\"\nsession \"Push\"\nsession \"End\"\n";
    let world = World::new(program, DENIED);
    let title = "Stopped at a permission";
    let text = "an agent was denied a permission: git push (execute: deny)";
    check_filter(&world, json!({ "filters": ["permission"] }), title, text);
}

#[test]
fn a_cost_has_a_filter() {
    let program = "session \"Plan\"\nsession \"Write\"\nsession \"End\"\n";
    let world = World::new(program, DENIED);
    let options = json!([{ "filterId": "cost", "condition": "$0.50" }]);
    let filters = json!({ "filters": [], "filterOptions": options });
    check_filter(&world, filters, "Stopped over a cost", "the run has cost $0.80");
}

/// Filters that stop at the second line, in the recorded run and in one that is executed.
#[track_caller]
fn check_filter(world: &World, filters: Json, title: &str, text: &str) {
    let recorded = stops(world, &[], |client| {
        client.ok("setExceptionBreakpoints", filters.clone());
    });
    let stop = format!("exception ({text}): main.prose main.prose:2");
    assert_eq!(recorded, [stop.as_str(), "step: main.prose ?:0", ""].map(str::to_owned));
    // While the run is executed, it is reported at once, and once.
    assert_eq!(live_stops(world, filters, title, text), [stop.as_str(), "terminated"].map(str::to_owned));
}

/// The stops of a run that is executed, with filters for failures.
fn live_stops(world: &World, filters: Json, title: &str, text: &str) -> Vec<String> {
    let mut client = world.client();
    client.ok("initialize", json!({ "adapterID": "prose" }));
    client.ok("launch", json!({ "program": "main.prose", "script": "answers.toml" }));
    client.event("initialized");
    client.ok("setExceptionBreakpoints", filters);
    client.ok("configurationDone", json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["description"], title);
    let info = client.ok("exceptionInfo", json!({ "threadId": 1 }));
    assert_eq!(info["description"], text);
    let reason = stopped["reason"].as_str().unwrap();
    let stack = client.stack(stopped["threadId"].as_u64().unwrap());
    let mut seen = vec![format!("{reason} ({}): {stack}", stopped["text"].as_str().unwrap())];
    client.ok("continue", json!({ "threadId": 1 }));
    seen.push(client.either("stopped", "terminated"));
    client.disconnect();
    seen
}

#[test]
fn a_live_run_stops_at_an_uncaught_failure() {
    let world = World::new("session \"Check\"\n", ANSWERS);
    let mut client = world.client();
    client.ok("initialize", json!({ "adapterID": "prose" }));
    client.ok("launch", json!({ "program": "main.prose", "script": "answers.toml" }));
    client.event("initialized");
    client.ok("setExceptionBreakpoints", json!({ "filters": ["uncaught"] }));
    client.ok("configurationDone", json!({}));
    let mut seen = vec![client.stop()];
    seen.push(client.go("stepBack"));
    check(
        &seen,
        expect![[r#"
        exception (it is wrong): main.prose main.prose:1
        step: main.prose main.prose:1"#]],
    );
    client.ok("continue", json!({ "threadId": 1 }));
    seen = vec![client.stop()];
    check(&seen, expect!["exception (it is wrong): main.prose main.prose:1"]);
    client.ok("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.disconnect();
}

#[test]
fn breakpoints_that_cannot_be_say_why() {
    let world = World::new(PROGRAM, ANSWERS);
    world.write("other.prose", "session \"Another\"\n");
    let mut client = world.launch(&[]);
    let mut seen = Vec::new();
    let mut why = |set: Json| {
        let set = &set["breakpoints"][0];
        seen.push(format!("{} {}", set["verified"], set["message"].as_str().unwrap_or_default()));
    };
    for (name, breakpoint) in [
        ("main.prose", json!({ "line": 7, "condition": "word is low" })),
        ("main.prose", json!({ "line": 7, "hitCondition": "often" })),
        ("main.prose", json!({ "line": 99 })),
        ("other.prose", json!({ "line": 1 })),
        ("missing.prose", json!({ "line": 1 })),
    ] {
        let path = source(&world.path(name));
        why(client.ok("setBreakpoints", json!({ "source": path, "breakpoints": [breakpoint] })));
    }
    why(client.ok("setFunctionBreakpoints", json!({ "breakpoints": [{ "name": "reveiw" }] })));
    let options = json!([{ "filterId": "cost", "condition": "much" }]);
    why(client.ok("setExceptionBreakpoints", json!({ "filters": [], "filterOptions": options })));
    check(
        &seen,
        expect![[r#"
        false unexpected `is low`; a condition compares names and values, such as `topic == "tides"`, `draft contains "error"` or `iteration > 2`
        false `often` is not a hit count; write a number such as `3`, `> 3` or `% 2`
        false no statement is at this line or after it
        false `other.prose` is not a program of this run
        false `missing.prose` does not exist
        false the program has no block and no agent `reveiw`; did you mean `review`?
        false a cost is a number of dollars, such as `1.50`"#]],
    );
    client.disconnect();
}

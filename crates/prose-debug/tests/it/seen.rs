//! What is seen at a stop: values, expressions, imports and documents.

use expect_test::expect;
use serde_json::json;

use crate::client::{World, check, line, source};

#[test]
fn values_unfold_in_pages() {
    let world = World::new(
        "let list = [\"a\", \"b\", \"c\"]\nlet plan = session \"Plan\"\nsession \"End\"\n",
        "[[session]]\npattern = \"Plan\"\nreply = '''{\"steps\": [\"read\", \"write\"], \"text\": \"one\\ntwo\\nthree\"}'''\n[[session]]\nreply = \"done\"\n",
    );
    let mut client = world.launch(&[line(3)]);
    client.stop();
    let locals = client.scope("Locals");
    let rows = client.ok("variables", json!({ "variablesReference": locals }));
    let mut seen = vec![client.rows(&locals)];
    let (list, plan) = (&rows["variables"][0], &rows["variables"][1]);
    assert_eq!(list["indexedVariables"], 3);
    let page = json!({ "variablesReference": list["variablesReference"], "start": 1, "count": 1 });
    seen.push(client.ok("variables", page)["variables"][0]["value"].as_str().unwrap().to_owned());
    let inside = client.ok("variables", json!({ "variablesReference": plan["variablesReference"] }));
    seen.push(client.rows(&plan["variablesReference"]));
    seen.push(client.rows(&inside["variables"][1]["variablesReference"]));
    check(
        &seen,
        expect![[r#"
        list = 3 items
        plan = {"steps": ["read", "write"], "text": "one\ntwo\nthree"}
        b
        steps = 2 items
        text = one ⏎ two ⏎ three
        [0] = one
        [1] = two
        [2] = three"#]],
    );
    // Numbers of an earlier stop are not taken for others.
    client.ok("stepBack", json!({ "threadId": 1 }));
    client.stop();
    let stale = client.refused("variables", json!({ "variablesReference": locals }));
    expect!["the debugger stands somewhere else now, and has no such value"].assert_eq(&stale);
    client.disconnect();
}

#[test]
fn expressions_are_evaluated_and_completed() {
    let world = World::new(
        "let topic = \"tides\"\nlet plan = { steps: [\"read\", \"write\"], size: 2 }\nrepeat 2 as nth:\n  session \"Do {nth}\"\n",
        "[[session]]\nreply = \"done\"\n",
    );
    let mut client = world.launch(&[json!({ "line": 4, "hitCondition": "2" })]);
    let mut seen = vec![client.stop()];
    for expression in [
        "topic",
        "plan.steps[1]",
        "nth",
        "iteration",
        "plan.size == 2 and topic contains \"id\"",
        "wind",
        "topic +",
    ] {
        seen.push(format!("{expression}: {}", client.evaluate(expression)));
    }
    for text in ["to", "plan.", ":re"] {
        let column = text.len() + 1;
        let targets = client.ok("completions", json!({ "text": text, "column": column }));
        let labels: Vec<&str> = targets["targets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|target| target["label"].as_str().unwrap())
            .collect();
        seen.push(format!("{text}| {}", labels.join(" ")));
    }
    check(
        &seen,
        expect![[r#"
            breakpoint: iteration 2 of 2 main.prose:4 < main.prose main.prose:3
            topic: tides
            plan.steps[1]: write
            nth: 1
            iteration: 2
            plan.size == 2 and topic contains "id": true
            wind: `wind` has no value at this point of the run
            topic +: unexpected `+`; a condition compares names and values, such as `topic == "tides"`, `draft contains "error"` or `iteration > 2`
            to| nth topic plan
            plan.| steps size
            :re| :reply :prompt :skip :retry :fork :answer :session :help"#]],
    );
    client.disconnect();
}

#[test]
fn imported_programs_are_frames_with_their_own_breakpoints() {
    let world = World::new(
        "use \"./part.prose\" as part\nlet found = part(topic: \"tides\")\nsession \"End {found}\"\n",
        "[[session]]\nreply = \"done\"\n",
    );
    world.write(
        "part.prose",
        "input topic: \"What about?\"\nlet words = session \"Find {topic}\"\noutput words = words\n",
    );
    let mut client = world.client();
    client.ok("initialize", json!({ "adapterID": "prose" }));
    client.ok("launch", json!({ "program": "main.prose", "script": "answers.toml" }));
    client.event("initialized");
    let part = source(&world.path("part.prose"));
    let set = client.ok("setBreakpoints", json!({ "source": part, "breakpoints": [line(2)] }));
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    client.ok("configurationDone", json!({}));
    let mut seen = vec![client.stop()];
    let inputs = client.scope("Inputs");
    seen.push(client.rows(&inputs));
    seen.push(client.go("stepOut"));
    check(
        &seen,
        expect![[r#"
        breakpoint: program part part.prose:2 < main.prose main.prose:2
        topic = tides
        step: main.prose main.prose:3"#]],
    );
    client.disconnect();
}

#[test]
fn programs_in_documents_have_the_lines_of_the_document() {
    let world = World::new("", "[[session]]\nreply = \"done\"\n");
    world.write(
        "notes.md",
        "# Notes\n\n```prose\nlet topic = \"tides\"\n\nsession \"Draft {topic}\"\n```\n\nMore.\n\n```prose\nsession \"Other\"\n```\n",
    );
    let mut client = world.client();
    client.ok("initialize", json!({ "adapterID": "prose" }));
    client.ok("launch", json!({ "program": "notes.md#1", "script": "answers.toml" }));
    client.event("initialized");
    let document = source(&world.path("notes.md"));
    let set = client.ok("setBreakpoints", json!({ "source": document, "breakpoints": [line(5)] }));
    assert_eq!(
        (&set["breakpoints"][0]["verified"], &set["breakpoints"][0]["line"]),
        (&json!(true), &json!(6))
    );
    client.ok("configurationDone", json!({}));
    expect!["breakpoint: notes.md#1 notes.md:6"].assert_eq(&client.stop());
    client.disconnect();
}

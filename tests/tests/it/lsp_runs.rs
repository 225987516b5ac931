//! Programs that are run from an editor, over the wire.

mod activities;
mod approvals;
mod commands;
mod elsewhere;
mod forks;
mod inputs;
mod parts;
mod refused;
mod resumed;
mod shown;
#[cfg(unix)]
mod trust;
mod unsaved;

use std::time::{Duration, Instant};

use expect_test::Expect;
use prose_tests::lsp::{PATIENCE, range};
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

/// What a client says that can show all there is.
fn able() -> Value {
    json!({
        "window": { "workDoneProgress": true },
        "workspace": { "inlayHint": { "refreshSupport": true }, "codeLens": { "refreshSupport": true } },
        "textDocument": { "codeLens": {} },
        "experimental": { "proseInput": true, "proseRunEvents": true },
    })
}

/// A client that hears events and nothing else.
fn hearing() -> Value {
    json!({ "experimental": { "proseRunEvents": true } })
}

/// Answers a request of the server.
fn answer(workspace: &mut Workspace, question: &Value, result: Value) {
    let message = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    workspace.client.send_bytes(&prose_tests::lsp::frame(&message));
}

/// Runs a command of a program that has to be taken; gives its result.
#[track_caller]
fn command(workspace: &mut Workspace, command: &str, name: &str, others: Value) -> Value {
    let mut argument = others;
    argument["uri"] = json!(workspace.uri(name));
    let answer = workspace.execute(command, argument);
    assert_eq!(answer.get("error"), None, "{command} failed");
    answer["result"].clone()
}

/// The message with which a command is refused.
#[track_caller]
fn refusal(workspace: &mut Workspace, command: &str, name: &str, others: Value) -> String {
    let mut argument = others;
    argument["uri"] = json!(workspace.uri(name));
    let answer = workspace.execute(command, argument);
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{command} was taken: {answer}")).to_owned()
}

/// Starts a program; gives the id of the run.
#[track_caller]
fn run(workspace: &mut Workspace, name: &str, others: Value) -> String {
    let result = command(workspace, "prose.run", name, others);
    result["run"].as_str().unwrap().to_owned()
}

/// The first event of a run for which something holds, among those that were not waited for yet.
#[track_caller]
fn event(workspace: &mut Workspace, run: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let events = |message: &Value| -> Vec<Value> {
        let is_ours = message["method"] == "prose/runEvent" && message["params"]["run"] == run;
        let events = message["params"]["events"].as_array().filter(|_| is_ours);
        events.cloned().unwrap_or_default()
    };
    let message = workspace.client.wait_for(|message| events(message).iter().any(&wanted));
    // The others in the piece may be waited for next.
    workspace.client.put_back(message.clone());
    events(&message).into_iter().find(&wanted).unwrap()
}

#[track_caller]
fn ended(workspace: &mut Workspace, run: &str) -> Value {
    event(workspace, run, |event| event["event"] == "run-ended")
}

/// The names of events that were told of a run, in their order.
fn told(workspace: &mut Workspace) -> Vec<Value> {
    let messages = workspace.client.take_all();
    let told = messages.iter().filter(|message| message["method"] == "prose/runEvent");
    told.flat_map(|message| message["params"]["events"].as_array().unwrap().clone()).collect()
}

#[track_caller]
fn message(workspace: &mut Workspace) -> String {
    let message = workspace.client.wait_for_method("window/showMessage");
    message["params"]["message"].as_str().unwrap().to_owned()
}

/// The lenses of a program: line, title and command. Times are left out.
#[track_caller]
fn lenses(workspace: &mut Workspace, name: &str) -> String {
    let uri = workspace.uri(name);
    let lenses = workspace.client.result("textDocument/codeLens", &uri);
    let line = |lens: &Value| {
        let title = without_date(&without_times(lens["command"]["title"].as_str().unwrap()));
        format!(
            "{}: {title} {}\n",
            lens["range"]["start"]["line"],
            lens["command"]["command"].as_str().unwrap()
        )
    };
    // The others are resolved when they are visible.
    lenses.as_array().unwrap().iter().filter(|lens| lens.get("command").is_some()).map(line).collect()
}

/// The argument of the first lens with a title.
#[track_caller]
fn lens_argument(workspace: &mut Workspace, name: &str, title: &str) -> Value {
    let uri = workspace.uri(name);
    let lenses = workspace.client.result("textDocument/codeLens", &uri);
    let lens = lenses.as_array().unwrap().iter().find(|lens| lens["command"]["title"] == title);
    lens.unwrap_or_else(|| panic!("no lens {title:?} in {lenses}"))["command"]["arguments"][0].clone()
}

/// The hints of a program: line, column and text. Times are left out.
#[track_caller]
fn hints(workspace: &mut Workspace, name: &str) -> String {
    let params = json!({ "textDocument": { "uri": workspace.uri(name) }, "range": range((0, 0), (1000, 0)) });
    let answer = workspace.client.request("textDocument/inlayHint", params);
    let hints = answer["result"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let line = |hint: &Value| {
        let place = &hint["position"];
        let label = without_times(hint["label"].as_str().unwrap());
        format!("{}:{} {label}\n", place["line"], place["character"])
    };
    hints.map(line).collect()
}

/// `2026-01-15 14:30 UTC: Tides` becomes `DATE: Tides`.
fn without_date(title: &str) -> String {
    title.split_once(" UTC: ").map_or(title.to_owned(), |(_, value)| format!("DATE: {value}"))
}

/// `✓ 12 ms  done` becomes `✓ …  done`.
fn without_times(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for index in (1..words.len()).rev() {
        let unit = words[index].trim_end_matches(',');
        if ["ms", "s", "m"].contains(&unit)
            && words[index - 1].starts_with(|char: char| char.is_ascii_digit())
        {
            let comma = if words[index].ends_with(',') { "…," } else { "…" };
            words[index - 1] = comma;
            words.remove(index);
        }
    }
    words.join(" ")
}

#[track_caller]
fn check(found: &str, expected: Expect) {
    expected.assert_eq(found);
}

/// Waits until something holds that the server does not tell of.
#[track_caller]
fn eventually(mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < PATIENCE, "it never holds");
        std::thread::sleep(Duration::from_millis(10));
    }
}

const TIDES: &str = r#"# What the moon does
agent writer:
  prompt: "You write."

let draft = session: writer
  prompt: "Write about tides"

repeat 2:
  session "Polish {draft}"

output result = draft
"#;

const ANSWERS: &str = r#"
[[session]]
agent = "writer"
reply = "Tides come and go.\nSo they do."

[[session]]
reply = "Polished."
"#;

const STEPS: &str = "session \"one\"\nsession \"two\"\nsession \"three\"\n";

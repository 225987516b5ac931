//! The memory that the server needs for programs which nobody has opened.

#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use prose_tests::lsp::range;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

const PROGRAMS: usize = 300;
const PATIENCE: Duration = Duration::from_secs(60);

fn name(number: usize) -> String {
    format!("flows/program{number:03}.prose")
}

/// A program that imports the next one of three, so that each three import each other in a circle.
fn program(number: usize) -> String {
    let next = number / 3 * 3 + (number + 1) % 3;
    let mut text = format!("use \"./program{next:03}.prose\" as next\n\ninput topic: \"What\"\n\n");
    for part in 0..12 {
        text.push_str(&format!(
            r#"agent reviewer{part}:
  model: sonnet
  prompt: """
    You review text {number} and {part}.
    Be short, and name the file and the line.
  """

let review{part} = session: reviewer{part}
  prompt: "Review part {part} of {{topic}}"

if **the review {{review{part}}} found a mistake**:
  session "Mend it as {{review{part}}} says"
else:
  session "Note that part {part} is fine"
"#
        ));
    }
    text.push_str("output found = next(topic: topic)\n");
    text
}

/// The kilobytes that the server holds.
fn resident(workspace: &Workspace) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", workspace.client.process_id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn wait_until_at_most(workspace: &Workspace, limit: usize, when: &str) {
    let since = Instant::now();
    while resident(workspace) > limit {
        assert!(since.elapsed() < PATIENCE, "{when}: {} KiB, more than {limit}", resident(workspace));
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn reports(answer: &Value) -> usize {
    answer["result"]["items"].as_array().unwrap_or_else(|| panic!("{answer}")).len()
}

#[test]
fn programs_that_nobody_has_opened_need_little_more_than_their_texts() {
    let pulling = json!({ "textDocument": { "diagnostic": {} } });
    let poll = json!({ "previousResultIds": [] });
    let empty = {
        let mut workspace = Workspace::with(pulling.clone(), &[("flows/program.prose", "session \"Go\"\n")]);
        workspace.client.request("workspace/diagnostic", poll.clone());
        workspace.client.request("workspace/symbol", json!({ "query": "x" }));
        resident(&workspace)
    };
    let files: Vec<(String, String)> = (0..PROGRAMS).map(|number| (name(number), program(number))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let kilobytes = files.iter().map(|(_, text)| text.len()).sum::<usize>() / 1024;
    let mut workspace = Workspace::with(pulling, &files);
    let answer = workspace.client.request("workspace/diagnostic", poll.clone());
    assert_eq!(reports(&answer), PROGRAMS, "each is part of a circle");
    // Trees and what is found out about them take forty times the texts.
    let limit = empty + 20 * kilobytes;
    let held = resident(&workspace);
    assert!(held <= limit, "{held} KiB, more than {limit}: {empty} and 20 times {kilobytes}");

    let found = workspace.client.request("workspace/symbol", json!({ "query": "reviewer11" }));
    assert_eq!(found["result"].as_array().unwrap().len(), PROGRAMS);
    wait_until_at_most(&workspace, limit, "after symbols were looked for");

    // An edit of an open program reaches those that are not open, and they are released again.
    workspace.open_saved(&name(0));
    let waiting = workspace.client.send_request("workspace/diagnostic", poll);
    let uri = workspace.uri(&name(0));
    workspace.client.change(&uri, 2, json!([{ "range": range((2, 6), (2, 11)), "text": "other" }]));
    let answer = workspace.client.answer(&json!(waiting));
    let of_importer = |answer: &Value| {
        let reports = answer["result"]["items"].as_array().unwrap().iter();
        let of = |report: &&Value| report["uri"].as_str().unwrap().ends_with(&name(2));
        prose_tests::workspace::codes(&reports.clone().find(of).unwrap()["items"])
    };
    assert_eq!(of_importer(&answer), ["E138", "E027"]);
}

#[test]
fn programs_that_are_not_checked_are_loaded_when_something_is_looked_for_in_them() {
    let settings = json!({ "check": { "workspace": false } });
    let files = [
        ("main.prose", "use \"./found.prose\" as found\n\noutput x = found()\n"),
        ("found.prose", "output y = session \"Go\"\n"),
        ("other.prose", "use \"./found.prose\" as found\n\nagent helper:\n  prompt: \"Help\"\n"),
    ];
    let mut workspace = Workspace::with_settings(json!({}), settings, &files);
    workspace.open_saved("main.prose");
    assert_eq!(workspace.pulled("main.prose"), <[&str; 0]>::default());
    let known = |workspace: &mut Workspace| {
        workspace.client.ask("prose/status", Value::Null)["knownPrograms"].as_u64().unwrap()
    };
    assert_eq!(known(&mut workspace), 2, "the open one, and the one that it imports");
    let found = workspace.client.ask("workspace/symbol", json!({ "query": "helper" }));
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!(known(&mut workspace), 3);
}

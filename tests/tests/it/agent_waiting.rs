//! Runs with the real agents that ask for a permission, which is answered when no process executes the run any more.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Output;

use prose_tests::agents::{AgentProject, USAGE, calls_tool, occurrences, replies};
use prose_tests::drivers::{Driver, age, each_agent, output};
use prose_tests::rules::Wanted;
use prose_tests::tools::AgentModel;
use serde_json::{Value, json};

const PROGRAM: &str = r#"
agent clerk:
  permissions:
    write: prompt
output said = session: clerk
  prompt: "Make the file"
"#;

const WAITED: &str = "You were stopped while you waited for a permission";

/// What the model calls and replies in the first execution, and in the one after the answer.
fn fixtures(model: &AgentModel, root: &Path) -> Vec<Value> {
    let (tool, arguments) = (model.call)(Wanted::Write(root.join("made").display().to_string()));
    // Some agents end their turn when a call is denied, and are told to continue.
    let denied = replies("The permissions of this session do not allow that", "Forty-two waves came in.");
    let after = calls_tool("You were stopped", tool, arguments.clone(), "Forty-two waves came in.");
    let before = calls_tool("Make the file", tool, arguments, "Forty-two waves came in.");
    // For what an agent asks besides, such as for a title.
    let other = json!({ "match": {}, "response": { "content": "Waves" } });
    after.into_iter().chain(before).chain([denied, other]).collect()
}

/// What agents ask a model besides their work, which is not counted: a title of the session, or a suggestion for the next prompt.
const BESIDES: &[&str] =
    &["naming a coding session", "SUGGESTION MODE", "Managed memory has TWO directories"];

/// The agents that report nothing of a turn that is cancelled, so that its request is not counted.
const SILENT: &[&str] = &["gemini"];

/// The result of a part of a test.
fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// The start of the last message of a request, for messages of this test.
fn end_of(request: &Value) -> String {
    let messages = request["body"]["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    messages.last().map(|message| message.to_string().chars().take(300).collect()).unwrap_or_default()
}

/// A session of an agent that asks whether it may write a file, and gets an answer after its run has stopped.
fn waits(driver: &Driver, model: &AgentModel, answer: &str) -> Result<(), String> {
    let project = AgentProject::new(|root| fixtures(model, root));
    let (root, address) = (project.root(), project.provider.address.clone());
    let is_work = |request: &Value| {
        let text = request.to_string();
        BESIDES.iter().all(|besides| !text.contains(besides))
    };
    let asked = || project.provider.requests(model.requests).into_iter().filter(is_work).collect::<Vec<_>>();
    let shown = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();

    let run = output(&mut driver.run(&project, &address, "none", PROGRAM));
    let asks = run.status.code() == Some(5) && shown(&run).contains("Agent `clerk` asks for permission: ");
    expect(asks && !root.join("made").exists(), || format!("{}: {}", run.status, shown(&run)))?;
    // An agent that waits and is ended asks nothing more.
    let before = asked().len();
    expect(before == 1, || {
        format!("the model was asked {before} times: {:#?}", asked().iter().map(end_of).collect::<Vec<_>>())
    })?;
    age(&project.home());

    let mut answering = driver.prose(&project, &address, "none");
    let answered = output(answering.args(["runs", "answer", "2", answer]));
    let said = String::from_utf8_lossy(&answered.stdout).into_owned();
    expect(said == "said: Forty-two waves came in.\n", || format!("{said}{}", shown(&answered)))?;
    let is_allowed = answer == "once";
    expect(root.join("made").exists() == is_allowed, || "the file is not as it was answered".to_owned())?;

    // The agent's own session continues: the model receives what was said before, and not a new task. The server keeps no request that is too long.
    let events = project.events();
    let continues = |event: &&Value| event["work"]["continues"].is_string();
    expect(events.iter().any(|event| continues(&event)), || "the session has begun anew".to_owned())?;
    if let Some(last) = asked().last().unwrap()["body"]["messages"].as_array() {
        let told = last.iter().filter(|message| message["role"] == "user" || message["role"] == "assistant");
        let told: Vec<String> = told.map(|message| message["content"].to_string()).collect();
        let counts = ["Make the file", WAITED].map(|text| occurrences(&told, text));
        expect(counts == [1, 1], || {
            format!("{counts:?}: {:#?}", asked().iter().map(end_of).collect::<Vec<_>>())
        })?;
    }

    // What was said is recorded, and the session that was ended counts: each request once.
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
    let answers: Vec<_> =
        of("answered").iter().map(|event| (event["answer"].clone(), event["from"].clone())).collect();
    expect(answers == [(json!(answer), json!("command-line"))], || format!("{answers:?}"))?;
    let expenses: Vec<_> = of("expense").iter().map(|event| event["requests"].clone()).collect();
    expect(expenses.contains(&json!(1)), || format!("{expenses:?}"))?;
    let used = |tokens: &str| -> u64 {
        let of_work = ["expense", "effect"].iter().flat_map(|name| of(name));
        of_work.filter_map(|event| event["work"]["usage"][tokens].as_u64()).sum()
    };
    let (used, requests) = ([used("input_tokens"), used("output_tokens")], asked().len() as u64);
    let requests = requests - u64::from(SILENT.contains(&driver.name));
    expect(used == [requests * USAGE.input, requests * USAGE.output], || {
        format!(
            "{used:?} tokens of {requests} requests: {:#?}",
            asked().iter().map(end_of).collect::<Vec<_>>()
        )
    })
}

#[test]
#[ignore = "needs npm"]
fn a_session_that_waited_for_a_permission_is_continued_after_the_answer() {
    each_agent(|driver, model| {
        for answer in ["once", "deny"] {
            waits(driver, model, answer).unwrap_or_else(|why| panic!("{}, {answer}: {why}", driver.title));
        }
    });
}

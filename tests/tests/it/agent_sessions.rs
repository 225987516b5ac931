//! Sessions with every agent: what they report, how they are cancelled, crash and wait for their provider, and that their prompts are only text.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use prose_tests::agents::{
    AgentProject, Reports, USAGE, calls_tool, recorded, replies, replies_slowly, reply, task, until,
};
use prose_tests::drivers::{Driver, each_agent, execute};
use prose_tests::fault_proxy::{Fault, FaultProxy};
use prose_tests::rules::Wanted;
use prose_tests::tools::AgentModel;
use prose_vm::activity::{Activity, Reporter, ToolKind, ToolStatus};
use prose_vm::effect::{Permission, PermissionRule, SessionTask, Usage};
use prose_vm::error::ErrorKind;
use prose_vm::harness::Harness;
use serde_json::{Value, json};

/// What an agent asks besides its work, such as for a title.
fn besides() -> Value {
    json!({ "match": {}, "response": { "content": "Tides" } })
}

fn write(rule: PermissionRule) -> Vec<Permission> {
    vec![Permission { about: "write".into(), rule }]
}

/// The session of a task, which has to end with a reply.
async fn said(harness: &dyn Harness, task: SessionTask, reporter: &Reporter) -> String {
    let said = reply(harness, task, reporter).await;
    said.unwrap_or_else(|failure| panic!("{}", failure.message)).text.to_string()
}

/// One harness for a session that writes its result, one that is cancelled, one that goes on, one whose agent crashes, and one after it.
async fn work(driver: &Driver, model: &AgentModel) {
    let project = AgentProject::new(|root| {
        let binding = prose_tests::agents::binding(root).display().to_string();
        let (tool, arguments) = (model.call)(Wanted::Write(binding));
        let mut fixtures = calls_tool("Write about tides", tool, arguments, "It is written.").to_vec();
        fixtures.push(replies_slowly("Count the waves"));
        fixtures.push(replies("Look into tides", "Tides come and go."));
        fixtures.push(besides());
        fixtures
    });
    let harness = driver.harness(&project, &project.provider.address);
    let asked_about = |text: &str| {
        let requests = project.provider.requests(model.requests);
        // The server does not keep the text of a long request.
        let is_long = |request: &&Value| request["body"]["__aimock_truncated"] == true;
        requests.iter().filter(|request| is_long(request) || request.to_string().contains(text)).count()
    };

    // Its text, its tool, its usage to the token and its id are reported.
    let (reporter, mut reports) = Reports::new(None);
    let writing = SessionTask {
        permissions: write(PermissionRule::Allow),
        writes_result: true,
        ..task("Write about tides")
    };
    assert_eq!(said(&*harness, writing, &reporter).await, "It is written.");
    assert_eq!(fs::read_to_string(project.binding()).unwrap().trim(), "x");
    let reports = reports.take();
    let text: String = reports
        .iter()
        .filter_map(|it| match it {
            Activity::Text { text } => Some(&**text),
            _ => None,
        })
        .collect();
    assert!(text.ends_with("It is written."), "{text:?}");
    let is_written = |it: &Activity| matches!(it, Activity::Tool(tool) if matches!(tool.kind, ToolKind::Edit | ToolKind::Execute) && tool.status == ToolStatus::Completed);
    assert!(reports.iter().any(is_written), "{reports:?}");
    let work = recorded(&reports);
    let expected =
        Usage { input_tokens: 2 * USAGE.input, output_tokens: 2 * USAGE.output, ..Usage::default() };
    assert_eq!(work.usage.map(|used| Usage { cost: None, ..used }), Some(expected));
    assert!(work.agent.is_some_and(|agent| !agent.id.is_empty()));

    // With fewer tools, requests are shorter.
    let slow = || SessionTask { permissions: write(PermissionRule::Deny), ..task("Count the waves") };
    let quick = || SessionTask { permissions: write(PermissionRule::Deny), ..task("Look into tides") };
    let silent = Reporter::silent();
    tokio::select! {
        reply = reply(&*harness, slow(), &silent) => panic!("{reply:?}"),
        () = until(|| asked_about("Count the waves") > 0) => {}
    }
    assert_eq!(said(&*harness, quick(), &silent).await, "Tides come and go.");

    let before = asked_about("Count the waves");
    let (crashed, ()) = tokio::join!(reply(&*harness, slow(), &silent), async {
        until(|| asked_about("Count the waves") > before).await;
        let processes = project.processes().into_iter().map(|process| process.to_string());
        // Some may have ended with others.
        let _ = Command::new("kill").arg("-9").args(processes).output();
    });
    let failure = crashed.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::AgentCrashed, "{}", failure.message);
    assert_eq!(said(&*harness, quick(), &silent).await, "Tides come and go.");

    harness.settled().await;
    until(|| project.processes().is_empty()).await;
}

#[test]
#[ignore = "needs npm"]
fn sessions_report_their_work_are_cancelled_and_crash() {
    each_agent(|driver, model| execute(work(driver, model)));
}

/// A provider turns an agent away after its first tool call, once or until the agent gives up, and the session continues without a second call.
async fn waits(driver: &Driver, model: &AgentModel) {
    let project = AgentProject::new(|root| {
        let (tool, arguments) = (model.call)(Wanted::Write(root.join("tides.md").display().to_string()));
        let mut fixtures = calls_tool("Look into tides", tool, arguments, "done").to_vec();
        // Some continue with a prompt of its own.
        fixtures.insert(0, replies("Continue where you stopped", "done"));
        fixtures.push(besides());
        fixtures
    });
    let proxy = FaultProxy::start(&project.provider.address, |number| {
        (number == 2).then_some(Fault::RetryAfter(429, 1))
    });
    let harness = driver.harness(&project, &proxy.address());
    let (reporter, mut reports) = Reports::new(None);
    let task = SessionTask { permissions: write(PermissionRule::Allow), ..task("Look into tides") };
    assert_eq!(said(&*harness, task, &reporter).await, "done");
    harness.settled().await;

    let reports = reports.take();
    let of = |select: fn(&Activity) -> Option<String>| -> BTreeSet<String> {
        reports.iter().filter_map(select).collect()
    };
    let tools = of(|it| match it {
        Activity::Tool(tool) if tool.status == ToolStatus::Completed => Some(tool.id.to_string()),
        _ => None,
    });
    assert_eq!(tools.len(), 1, "{reports:#?}");
    let sessions = of(|it| match it {
        Activity::Agent(session) => Some(session.id.to_string()),
        _ => None,
    });
    assert_eq!(sessions.len(), 1, "{reports:#?}");
}

#[test]
#[ignore = "needs npm"]
fn sessions_that_have_used_a_tool_wait_for_their_provider_and_continue() {
    each_agent(|driver, model| execute(waits(driver, model)));
}

/// Prompts that begin with the name of a command of an agent, or that name a file in a way that it would read by itself.
const PROMPTS: &[(&str, &[&str])] = &[
    ("claude", &["/compact waves", "Look at waves in @secret.md"]),
    ("codex", &["/status waves"]),
    ("opencode", &["/compact waves"]),
    ("claude-agent-acp", &["/compact waves", "Look at waves in @secret.md"]),
    ("codex-acp", &["/status waves", "  /logout waves"]),
    ("gemini", &["/memory waves"]),
    ("opencode-acp", &["/compact waves"]),
    ("qwen", &["/init waves"]),
];

async fn are_only_text(driver: &Driver, model: &AgentModel) {
    let (_, prompts) = PROMPTS.iter().find(|(title, _)| *title == driver.title).unwrap();
    let project = AgentProject::new(|_| vec![replies("waves", "done"), besides()]);
    fs::write(project.root().join("secret.md"), "the treasure is buried").unwrap();
    let harness = driver.harness(&project, &project.provider.address);
    for prompt in *prompts {
        let deny = Permission { about: "read".into(), rule: PermissionRule::Deny };
        let task = SessionTask { permissions: vec![deny], ..task(prompt) };
        assert_eq!(said(&*harness, task, &Reporter::silent()).await, "done", "{prompt}");
    }
    harness.settled().await;
    let asked = json!(project.provider.requests(model.requests)).to_string();
    for prompt in *prompts {
        assert!(asked.contains(prompt), "{prompt}");
    }
    assert!(!asked.contains("the treasure is buried"));
}

#[test]
#[ignore = "needs npm"]
fn values_are_no_commands_of_an_agent_and_name_no_files() {
    each_agent(|driver, model| execute(are_only_text(driver, model)));
}

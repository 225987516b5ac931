//! A real agent of the Agent Client Protocol as harness, with a server on this machine in the place of its provider.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use prose_harness::decide::PromptedDecisions;
use prose_harness::drivers::AgentProgram;
use prose_harness::drivers::acp::{AGENTS, Acp};
use prose_tests::agents::{AgentProject, opencode_program, question, request, task};
use prose_vm::activity::{Activity, NoApprovals, Reporter, ToolStatus};
use prose_vm::effect::{Effect, Failure, Permission, PermissionRule, Reply, RequestId, SessionTask};
use prose_vm::harness::{Harness, RunFolders};
use serde_json::{Value, json};
use tokio::sync::mpsc;

#[tokio::test]
#[ignore = "needs npm"]
async fn opencode_replies_with_usage_and_uses_a_tool_that_is_allowed() {
    let project = AgentProject::new(fixtures);
    let (reply, reports) = session(&project, vec![rule("write", PermissionRule::Allow)]).await;

    assert_eq!(&*reply.unwrap().text, "It is written.");
    assert_eq!(fs::read_to_string(project.root().join("tides.md")).unwrap(), "Tides come and go.\n");
    let is_done = |it: &Activity| matches!(it, Activity::Tool(tool) if tool.status == ToolStatus::Completed);
    assert!(reports.iter().any(is_done), "{reports:?}");
    assert!(reports.iter().any(|it| matches!(it, Activity::Used(_))), "{reports:?}");
    assert!(matches!(&reports[0], Activity::Agent(agent) if agent.model.is_some()), "{reports:?}");
}

#[tokio::test]
#[ignore = "needs npm"]
async fn opencode_is_kept_to_the_rules() {
    for rule in [
        rule("write", PermissionRule::Deny),
        rule("write", PermissionRule::Patterns(Vec::new())),
        rule("write", PermissionRule::Patterns(vec!["docs/".into()])),
    ] {
        let project = AgentProject::new(fixtures);
        let shown = format!("{rule:?}");
        let (reply, reports) = session(&project, vec![rule]).await;
        let denials = reports.iter().filter(|it| matches!(it, Activity::Denied(_))).count();
        assert_eq!(denials, 1, "{shown}: {reply:?} {reports:?}");
        assert!(!project.root().join("tides.md").exists(), "{shown}");
    }
}

#[tokio::test]
#[ignore = "needs npm"]
async fn decision_13_a_judge_of_opencode_changes_nothing() {
    let project = AgentProject::new(fixtures);
    let question = question("write about tides");
    let asked = request(Effect::Judge(Arc::clone(&question)));
    let verdict = opencode(&project).judge(&asked, &question, &Reporter::silent()).await;
    assert!(!project.root().join("tides.md").exists(), "{verdict:?}");
    assert!(verdict.unwrap().met);
}

/// The model writes a file when it is asked to write about tides.
fn fixtures(root: &Path) -> Vec<Value> {
    let write = json!({
        "name": "write",
        "arguments": { "filePath": root.join("tides.md"), "content": "Tides come and go.\n" },
    });
    vec![
        json!({
            "match": { "userMessage": "write about tides", "hasToolResult": false },
            "response": { "toolCalls": [write] },
        }),
        json!({
            "match": { "userMessage": "Is this condition met", "hasToolResult": true },
            "response": { "content": "VERDICT: yes\nREASON: it is so" },
        }),
        json!({ "match": { "hasToolResult": true }, "response": { "content": "It is written." } }),
        // For the request of a title.
        json!({ "match": {}, "response": { "content": "Tides" } }),
    ]
}

fn rule(about: &str, rule: PermissionRule) -> Permission {
    Permission { about: about.into(), rule }
}

async fn session(
    project: &AgentProject,
    permissions: Vec<Permission>,
) -> (Result<Reply, Failure>, Vec<Activity>) {
    let task = Arc::new(SessionTask { permissions, ..task("write about tides") });
    let (sender, mut reports) = mpsc::unbounded_channel();
    let reporter = Reporter::new(RequestId(1), sender, Arc::new(NoApprovals));
    let harness = opencode(project);
    let reply = harness.session(&request(Effect::Session(Arc::clone(&task))), &task, &reporter).await;
    harness.settled().await;
    let mut activities = Vec::new();
    while let Ok((_, activity)) = reports.try_recv() {
        activities.push(activity);
    }
    (reply, activities)
}

/// OpenCode with a home folder and a provider of its own, and nothing of the person who runs the tests.
fn opencode(project: &AgentProject) -> PromptedDecisions<Acp> {
    let settings = json!({
        "provider": { "anthropic": { "options": {
            "baseURL": format!("{}/v1", project.provider.address), "apiKey": "none",
        } } },
        "model": "anthropic/claude-sonnet-4-5",
        "autoupdate": false,
    });
    let folder = project.home().join(".config/opencode");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("opencode.json"), settings.to_string()).unwrap();
    let agent = AGENTS.iter().find(|agent| agent.name == "opencode-acp").unwrap();
    let program = AgentProgram {
        program: "env".into(),
        arguments: vec![
            format!("HOME={}", project.home().display()),
            "OPENCODE_DISABLE_MODELS_FETCH=1".into(),
            opencode_program().display().to_string(),
            "acp".into(),
        ],
        variables: Vec::new(),
        unknown_models: Vec::new(),
        install: agent.install,
    };
    let root = project.root();
    let folders = RunFolders { run: Some(root.join(".prose/runs/r")), root };
    PromptedDecisions(Acp::new(agent.name, program, Some(agent), folders))
}

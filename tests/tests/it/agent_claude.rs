//! The real Claude Code as harness, with a server on this machine in the place of its provider.

#![cfg(unix)]

use std::fs;
use std::sync::Arc;

use prose_harness::command::{Agent, Argument, CommandSettings};
use prose_harness::registry::{HarnessSettings, harness};
use prose_tests::agents::{AgentProject, WRITTEN, binding, packages, question, request, task};
use prose_vm::activity::Reporter;
use prose_vm::effect::{Effect, Permission, PermissionRule, Reply, SessionTask};
use prose_vm::harness::{Harness, RunFolders};
use serde_json::{Value, json};

/// What the agent is told about its output (R30, decision 21).
const OUTPUT: &str =
    "Write the result, nothing else, to `.prose/runs/r/bindings/research.md`, then reply `done`.";

#[tokio::test]
#[ignore = "needs npm"]
async fn r030_claude_writes_the_binding_file() {
    let project = Project::new("Look into tides");
    let reply = project.session(task(&format!("Look into tides\n\n{OUTPUT}"))).await;

    assert_eq!(&*reply.text, "done");
    assert_eq!(reply.warnings, Vec::<String>::new());
    assert!(reply.usage.is_some());
    assert_eq!(fs::read_to_string(project.project.binding()).unwrap(), WRITTEN);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn r024_r026_the_model_and_the_system_part_reach_the_provider() {
    let project = Project::new("Look into tides");
    let task = SessionTask {
        system: Some("You are an oceanographer.".into()),
        model: Some("opus".into()),
        // With all its tools, a request is longer than what the server keeps of it.
        permissions: vec![Permission { about: "write".into(), rule: PermissionRule::Deny }],
        ..task("Look into tides")
    };
    project.session(task).await;

    let asked = project.requests();
    let body = &asked.last().unwrap()["body"];
    assert!(body["model"].as_str().unwrap().contains("opus"), "{}", body["model"]);
    assert_eq!(body["messages"][0]["role"], "system");
    assert!(body["messages"][0].to_string().contains("You are an oceanographer."));
}

#[tokio::test]
#[ignore = "needs npm"]
async fn decision_13_claude_cannot_write_where_that_is_denied() {
    let project = Project::new("Look into tides");
    let deny = Permission { about: "write".into(), rule: PermissionRule::Deny };
    assert!(project.harness().enforces(&deny.about, &deny.rule));
    let reply = project.session(SessionTask { permissions: vec![deny], ..task("Look into tides") }).await;

    assert_eq!(&*reply.text, "done", "the model claims so");
    assert!(!project.project.binding().exists());
    let asked = project.requests();
    let tools = asked.last().unwrap()["body"]["tools"].as_array().unwrap();
    let mut tools: Vec<_> = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    tools.sort_unstable();
    assert_eq!(tools, ["Glob", "Grep", "Read", "WebFetch", "WebSearch"]);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn r064_claude_judges_a_condition() {
    let project = Project::new("no session in this test");
    let question = question("the tide is out");
    let verdict = project
        .harness()
        .judge(&request(Effect::Judge(question.clone())), &question, &Reporter::silent())
        .await
        .unwrap();
    assert!(verdict.met);
    assert_eq!(verdict.reason, "the sand is dry");
}

/// A project in which Claude Code works.
struct Project {
    project: AgentProject,
}

impl Project {
    /// The provider has the agent write the binding when it is asked about `task`.
    fn new(task: &str) -> Self {
        let project = AgentProject::new(|root| {
            let arguments = json!({ "file_path": binding(root), "content": WRITTEN });
            let write = json!({ "name": "Write", "arguments": arguments });
            let verdict = "VERDICT: yes\nREASON: the sand is dry";
            vec![
                json!({
                    "match": { "userMessage": task, "hasToolResult": false },
                    "response": { "toolCalls": [write] },
                }),
                json!({
                    "match": { "userMessage": task, "hasToolResult": true },
                    "response": { "content": "done" },
                }),
                json!({ "match": { "userMessage": "the tide is out" }, "response": { "content": verdict } }),
            ]
        });
        Self { project }
    }

    /// The requests of the agent to the provider.
    fn requests(&self) -> Vec<Value> {
        self.project.provider.requests("/v1/messages")
    }

    /// Claude Code, as its preset starts it, but with a home folder and a provider of its own.
    fn harness(&self) -> Arc<dyn Harness> {
        let preset = Agent::Claude.settings();
        let mut arguments = vec![
            format!("HOME={}", self.project.home().display()),
            format!("ANTHROPIC_BASE_URL={}", self.project.provider.address),
            "ANTHROPIC_API_KEY=none".to_owned(),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1".to_owned(),
            "node".to_owned(),
        ];
        let wrapper = packages().join("node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs");
        arguments.push(wrapper.display().to_string());
        let arguments = arguments.into_iter().map(Argument::One).chain(preset.arguments).collect();
        // Nothing of the person who runs the tests.
        let own = CommandSettings { program: "env".to_owned(), arguments, variables: Vec::new(), ..preset };
        let root = self.project.root();
        let mut settings = HarnessSettings::new(RunFolders { run: Some(root.join(".prose/runs/r")), root });
        settings.commands.insert("claude".to_owned(), own);
        harness("claude", &settings).unwrap()
    }

    async fn session(&self, task: SessionTask) -> Reply {
        let task = Arc::new(task);
        let reply =
            self.harness().session(&request(Effect::Session(task.clone())), &task, &Reporter::silent()).await;
        reply.unwrap_or_else(|failure| panic!("{}", failure.message))
    }
}

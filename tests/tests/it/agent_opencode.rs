//! The real OpenCode as harness, with a server on this machine in the place of its provider.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use prose_harness::decide::{PromptedDecisions, Sessions};
use prose_harness::drivers::opencode::OpenCode;
use prose_harness::drivers::{AgentHost, AgentProgram, KnownAgent};
use prose_tests::agents::{
    AgentProject, Reports, USAGE, WRITTEN, binding, calls_tool, calls_tools, is_running, opencode_program,
    recorded, replies, reply, request, task,
};
use prose_vm::activity::{Activity, Reporter, ToolKind, ToolStatus};
use prose_vm::effect::{Effect, Failure, Permission, PermissionRule, Reply, SessionTask, Usage};
use prose_vm::harness::{Harness, RunFolders};
use serde_json::{Value, json};

#[tokio::test]
#[ignore = "needs npm"]
async fn r030_opencode_writes_the_binding_file() {
    let project = Project::new(|root| {
        let arguments = json!({ "filePath": binding(root), "content": WRITTEN });
        calls_tool("Look into tides", "write", arguments, "done").into()
    });
    let (reply, reports) =
        project.session(SessionTask { writes_result: true, ..task("Look into tides") }).await;

    assert_eq!(&*reply.unwrap().text, "done");
    assert_eq!(fs::read_to_string(project.project.binding()).unwrap(), WRITTEN);
    let path = project.project.binding().to_string_lossy().into_owned();
    let tools: Vec<_> = reports
        .iter()
        .filter_map(|activity| match activity {
            Activity::Tool(tool) => {
                Some((tool.kind, tool.title.to_string(), tool.paths.clone(), tool.status))
            }
            _ => None,
        })
        .collect();
    let title = format!("write {path}");
    let used = |status| (ToolKind::Edit, title.clone(), vec![path.as_str().into()], status);
    assert_eq!(tools, [used(ToolStatus::Running), used(ToolStatus::Completed)]);
    let work = recorded(&reports);
    let usage = Usage { input_tokens: 2 * USAGE.input, output_tokens: 2 * USAGE.output, ..Usage::default() };
    assert_eq!(work.usage, Some(usage), "no other request is made, such as for a title");
    assert_eq!(project.requests().len(), 2);
    assert!(work.agent.unwrap().id.starts_with("ses_"));
}

#[tokio::test]
#[ignore = "needs npm"]
async fn r024_r026_the_model_and_the_system_part_reach_the_provider() {
    let project = Project::new(|_| vec![replies("Look into tides", "done")]);
    let task = SessionTask {
        system: Some("You are an oceanographer.".into()),
        model: Some("mock/other".into()),
        ..task("Look into tides")
    };
    project.session(task).await.0.unwrap();

    let asked = project.requests();
    let body = &asked.last().unwrap()["body"];
    assert_eq!(body["model"], "other");
    assert!(body["messages"].to_string().contains("You are an oceanographer."));
}

#[tokio::test]
#[ignore = "needs npm"]
async fn a_denied_call_leaves_the_other_calls_of_the_model_alone() {
    let project = Project::new(|root| {
        let command = |command: &str| ("bash", json!({ "command": command, "description": "run it" }));
        let write = |name: &str| ("write", json!({ "filePath": root.join(name), "content": "x" }));
        let tools =
            [write("denied"), command("sleep 1; touch slow"), write("docs/made"), command("touch quick")];
        calls_tools("Look into tides", &tools, "done").into()
    });
    let rule = |about: &str, rule| Permission { about: about.into(), rule };
    let permissions = vec![
        rule("write", PermissionRule::Patterns(vec!["docs/".into(), "slow".into(), "quick".into()])),
        rule("execute", PermissionRule::Allow),
    ];
    let (reply, reports) = project.session(SessionTask { permissions, ..task("Look into tides") }).await;
    assert_eq!(&*reply.unwrap().text, "done", "the session goes on after a denial");
    assert_eq!(recorded(&reports).denials.len(), 1);
    let made = ["denied", "slow", "docs/made", "quick"].map(|name| project.path(name).exists());
    assert_eq!(made, [false, true, true, true]);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn a_cancelled_session_stops_and_leaves_the_others_alone() {
    let project = Project::new(|_| {
        let [calls, _] = calls_tool(
            "Wait for the tide",
            "bash",
            json!({ "command": "echo $$ > waiting; exec sleep 600", "description": "wait" }),
            "",
        );
        vec![calls, replies("Look into tides", "done")]
    });
    let opencode = PromptedDecisions::new(project.opencode());
    let allowed = Permission { about: "bash".into(), rule: PermissionRule::Allow };
    let slow = SessionTask { permissions: vec![allowed], ..task("Wait for the tide") };
    let silent = Reporter::silent();
    let waiting = || fs::read_to_string(project.path("waiting")).ok()?.trim().parse::<i32>().ok();
    let process = tokio::select! {
        reply = reply(&opencode, slow, &silent) => panic!("{reply:?}"),
        process = until(waiting) => process,
    };
    until(|| (!is_running(process)).then_some(())).await;
    let other = reply(&opencode, task("Look into tides"), &silent).await;
    assert_eq!(&*other.unwrap().text, "done");
    opencode.settled().await;
    assert_eq!(project.project.started().len(), 1);
    assert!(!is_running(project.project.started()[0]));
}

/// The requests to the provider.
const REQUESTS: &str = "/v1/chat/completions";

/// Waits until there is something.
async fn until<T>(there_is: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = there_is() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(300), "it does not come");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A project in which OpenCode works.
struct Project {
    project: AgentProject,
}

impl Project {
    fn new(fixtures: impl FnOnce(&Path) -> Vec<Value>) -> Self {
        Self { project: AgentProject::new(fixtures) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.root().join(name)
    }

    /// The requests of the agent to the provider.
    fn requests(&self) -> Vec<Value> {
        self.project.provider.requests(REQUESTS)
    }

    /// A program `opencode` with a home folder and a provider of its own.
    fn wrapper(&self) -> PathBuf {
        let address = &self.project.provider.address;
        let limit = json!({ "context": 100_000, "output": 8_000 });
        let config = json!({
            "autoupdate": false,
            "model": "mock/tides",
            "small_model": "mock/tides",
            "provider": { "mock": {
                "npm": "@ai-sdk/openai-compatible",
                "options": { "baseURL": format!("{address}/v1"), "apiKey": "none" },
                "models": { "tides": { "limit": limit }, "other": { "limit": limit } },
            } },
        });
        let folder = self.project.home().join(".config/opencode");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("opencode.json"), config.to_string()).unwrap();
        let program = opencode_program();
        let command = format!("OPENCODE_DISABLE_MODELS_FETCH=1 exec {}", program.display());
        self.project.program("opencode", &command)
    }

    fn opencode(&self) -> OpenCode {
        let program = AgentProgram {
            program: self.wrapper().to_string_lossy().into_owned(),
            arguments: Vec::new(),
            // Nothing of the user who runs the tests.
            variables: Vec::new(),
            ..AgentProgram::of(KnownAgent::OPENCODE, &[], &[])
        };
        let root = self.project.root();
        let gates = root.join(".prose/gates");
        let folders = RunFolders { run: Some(root.join(".prose/runs/r")), root };
        OpenCode::new(AgentHost::new("opencode", program, folders).sharing_gates(Some(&gates)))
    }

    async fn session(&self, task: SessionTask) -> (Result<Reply, Failure>, Vec<Activity>) {
        let (reporter, mut reports) = Reports::new(None);
        let opencode = self.opencode();
        let task = Arc::new(task);
        let reply = opencode.session(&request(Effect::Session(task.clone())), &task, &reporter).await;
        opencode.settled().await;
        (reply, reports.take())
    }
}

//! The real OpenCode as harness, with a server on this machine in the place of its provider.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use prose_harness::command::Agent;
use prose_harness::decide::{PromptedDecisions, Sessions};
use prose_harness::drivers::AgentProgram;
use prose_harness::drivers::opencode::OpenCode;
use prose_tests::agents::{
    AgentProject, Reports, USAGE, WRITTEN, binding, calls_tool, calls_tools, is_running, kill,
    opencode_program, question, recorded, replies, replies_slowly, request, task, wait_until,
};
use prose_tests::fault_proxy::{Fault, FaultProxy};
use prose_vm::activity::{Activity, Reporter, ToolKind, ToolStatus};
use prose_vm::effect::{ContextItem, Effect, Failure, Permission, PermissionRule, Reply, SessionTask, Usage};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{Harness, RunFolders};
use serde_json::{Value, json};

#[tokio::test]
#[ignore = "needs npm"]
async fn r030_opencode_writes_the_binding_file() {
    let project = Project::new(|root| {
        let arguments = json!({ "filePath": binding(root), "content": WRITTEN });
        calls_tool("Look into tides", "write", arguments, "done").into()
    });
    let (reply, reports) = project.session(task("Look into tides")).await;

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
    assert_eq!(tools, [(ToolKind::Edit, title, vec![path.into()], ToolStatus::Completed)]);
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
async fn a_judge_changes_nothing_whatever_the_project_allows() {
    let project = Project::new(|root| {
        let allow = json!({ "*": "allow", "bash": "allow", "edit": "allow" });
        let config = json!({ "permission": allow, "agent": { "build": { "permission": allow } } });
        fs::write(root.join("opencode.json"), config.to_string()).unwrap();
        let answer = "VERDICT: yes\nREASON: the sand is dry";
        let tools = [
            ("write", json!({ "filePath": root.join("made"), "content": "x" })),
            ("bash", json!({ "command": "touch made", "description": "make it" })),
        ];
        calls_tools("the tide is out", &tools, answer).into()
    });
    let question = question("the tide is out");
    let (harness, reporter) = (PromptedDecisions(project.opencode()), Reporter::silent());
    let asked = request(Effect::Judge(question.clone()));
    let verdict = harness.judge(&asked, &question, &reporter).await.unwrap();
    assert!(verdict.met);
    assert_eq!(verdict.reason, "the sand is dry");
    assert_eq!(project.requests().len(), 2, "the model has called the tools");
    assert!(!project.path("made").exists());
}

/// The effects of tool calls that a session with these permissions has: the written files and the files and pages that were read.
async fn effects(permissions: &[(&str, PermissionRule)]) -> Vec<String> {
    let project = Project::new(|root| {
        fs::write(root.join("notes.md"), "seen notes\n").unwrap();
        fs::create_dir_all(root.join("docs")).unwrap();
        fs::write(root.join("context.md"), "seen context\n").unwrap();
        symlink("../notes.md", root.join("docs/link.md")).unwrap();
        let outside = root.join("../outside");
        let command = |command: &str| ("bash", json!({ "command": command, "description": "run it" }));
        let write = |path: &Path| ("write", json!({ "filePath": path, "content": "x" }));
        let read = |path: &str| ("read", json!({ "filePath": root.join(path) }));
        let tools = [
            write(&root.join("written")),
            write(&root.join("docs/../written-up")),
            write(&outside),
            command("touch touched; cat notes.md > copied"),
            read("docs/link.md"),
            read("docs/../notes.md"),
            read("context.md"),
            ("webfetch", json!({ "url": "http://127.0.0.1:9/", "format": "text" })),
        ];
        calls_tools("Look into tides", &tools, "done").into()
    });
    let permissions = permissions.iter();
    let permissions: Vec<_> =
        permissions.map(|(about, rule)| Permission { about: (*about).into(), rule: rule.clone() }).collect();
    let opencode = project.opencode();
    for permission in &permissions {
        assert!(Sessions::enforces(&opencode, &permission.about, &permission.rule), "{permission:?}");
    }
    let context = vec![ContextItem {
        name: "context".into(),
        path: Some("context.md".into()),
        text: None,
        digest: None,
    }];
    let (reply, reports) =
        project.session(SessionTask { permissions, context, ..task("Look into tides") }).await;
    reply.unwrap();
    let mut effects = Vec::new();
    for file in ["written", "written-up", "../outside", "touched", "copied"] {
        if project.path(file).exists() {
            effects.push(file.to_owned());
        }
    }
    let messages = project.requests().pop().unwrap()["body"]["messages"].to_string();
    effects.extend(
        ["seen notes", "seen context"].map(str::to_owned).into_iter().filter(|it| messages.contains(it)),
    );
    // The page cannot be reached; the attempt counts.
    let fetched = |it: &Activity| matches!(it, Activity::Tool(tool) if tool.kind == ToolKind::Fetch && tool.status == ToolStatus::Failed);
    effects.extend(reports.iter().any(fetched).then(|| "fetched".to_owned()));
    let denied = recorded(&reports).denials.len();
    assert!(denied > 0, "what was denied is reported");
    effects
}

#[tokio::test]
#[ignore = "needs npm"]
async fn sessions_use_only_the_tools_that_their_permissions_allow() {
    use PermissionRule::{Allow, Deny};

    let all = ["written", "written-up", "touched", "copied", "seen notes", "seen context", "fetched"];
    assert_eq!(effects(&[("bash", Allow)]).await, all);
    let without_commands = ["written", "written-up", "seen notes", "seen context", "fetched"];
    assert_eq!(effects(&[]).await, without_commands);
    assert_eq!(effects(&[("execute", Deny)]).await, without_commands);
    assert_eq!(effects(&[("write", Deny), ("bash", Allow)]).await, ["seen notes", "seen context", "fetched"]);
    assert_eq!(
        effects(&[("network", Deny), ("bash", Allow)]).await,
        ["written", "written-up", "seen notes", "seen context"]
    );
    assert_eq!(
        effects(&[("read", Deny), ("write", PermissionRule::Patterns(Vec::new()))]).await,
        ["seen context", "fetched"]
    );
}

#[tokio::test]
#[ignore = "needs npm"]
async fn a_cancelled_session_ends_its_process() {
    let project = Project::new(|_| vec![replies_slowly("Count the waves")]);
    let opencode = project.opencode();
    let slow = Arc::new(task("Count the waves"));
    let asked = request(Effect::Session(slow.clone()));
    let reporter = Reporter::silent();
    tokio::select! {
        reply = opencode.session(&asked, &slow, &reporter) => panic!("{reply:?}"),
        () = project.model_is_asked() => {}
    }
    opencode.settled().await;
    assert!(!is_running(project.project.started()[0]));
}

#[tokio::test]
#[ignore = "needs npm"]
async fn a_crash_ends_the_session() {
    let project = Project::new(|_| vec![replies_slowly("Count the waves")]);
    let opencode = project.opencode();
    let slow = Arc::new(task("Count the waves"));
    let asked = request(Effect::Session(slow.clone()));
    let reporter = Reporter::silent();
    let (reply, ()) = tokio::join!(opencode.session(&asked, &slow, &reporter), async {
        project.model_is_asked().await;
        kill(project.project.started()[0]);
    });
    assert_eq!(reply.unwrap_err().kind, ErrorKind::AgentCrashed);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn rejected_credentials_stop_the_session_at_once() {
    let project = Project::behind(|_| Some(Fault::Status(401)), |_| vec![replies("Look into tides", "done")]);
    let failure = project.session(task("Look into tides")).await.0.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::Auth, "{}", failure.message);
    assert!(failure.message.contains("sign in with `opencode auth login`"), "{}", failure.message);
    assert_eq!(project.proxy.as_ref().unwrap().asked().len(), 1);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn a_session_waits_for_a_provider_that_limits_the_rate() {
    let project = Project::behind(
        |number| (number == 1).then_some(Fault::RetryAfter(429, 1)),
        |_| vec![replies("Look into tides", "done")],
    );
    let (reply, _) = project.session(task("Look into tides")).await;
    assert_eq!(&*reply.unwrap().text, "done");
    assert_eq!(project.proxy.as_ref().unwrap().asked().len(), 2);
}

#[test]
#[ignore = "needs npm"]
fn opencode_ends_when_prose_is_killed() {
    let project = Project::new(|_| vec![replies_slowly("Count the waves")]);
    let process = project.project.kill_prose(&project.wrapper(), "/v1/chat/completions");
    wait_until("opencode has ended", || !is_running(process));
}

/// A project in which OpenCode works.
struct Project {
    project: AgentProject,
    proxy: Option<FaultProxy>,
}

impl Project {
    fn new(fixtures: impl FnOnce(&Path) -> Vec<Value>) -> Self {
        Self { project: AgentProject::new(fixtures), proxy: None }
    }

    /// The same with faults of the provider, by the number of the request.
    fn behind(
        plan: impl Fn(usize) -> Option<Fault> + Send + Sync + 'static,
        fixtures: impl FnOnce(&Path) -> Vec<Value>,
    ) -> Self {
        let project = AgentProject::new(fixtures);
        let proxy = FaultProxy::start(&project.provider.address, plan);
        Self { project, proxy: Some(proxy) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.root().join(name)
    }

    /// The requests of the agent to the provider.
    fn requests(&self) -> Vec<Value> {
        self.project.provider.requests("/v1/chat/completions")
    }

    async fn model_is_asked(&self) {
        let start = Instant::now();
        while self.requests().is_empty() {
            assert!(start.elapsed() < Duration::from_secs(90), "the model is not asked");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// A program `opencode` with a home folder and a provider of its own.
    fn wrapper(&self) -> PathBuf {
        let provider = &self.project.provider.address;
        let address = self.proxy.as_ref().map_or_else(|| provider.clone(), FaultProxy::address);
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
            unknown_models: Agent::OpenCode.settings().unknown_models,
            install: Agent::OpenCode.install(),
        };
        let root = self.project.root();
        OpenCode::new(program, RunFolders { run: Some(root.join(".prose/runs/r")), root })
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

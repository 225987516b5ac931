//! The real Codex as harness, with a server on this machine in the place of its provider.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use prose_harness::decide::{PromptedDecisions, Sessions};
use prose_harness::drivers::codex::Codex;
use prose_harness::drivers::{AgentHost, AgentProgram, KnownAgent};
use prose_tests::agents::{
    AgentProject, Reports, USAGE, WRITTEN, binding, calls_tool, is_running, judge, occurrences, packages,
    recorded, replies, replies_of_captain, replies_slowly, request, task,
};
use prose_tests::fault_proxy::{Fault, FaultProxy};
use prose_vm::activity::{Activity, Reporter, ToolKind, ToolStatus};
use prose_vm::effect::{Effect, Failure, Permission, PermissionRule, Reply, SessionTask, Usage, Verdict};
use prose_vm::harness::{Harness, RunFolders};
use serde_json::{Value, json};

#[tokio::test]
#[ignore = "needs npm"]
async fn r030_codex_writes_the_binding_file() {
    let project = Project::new(|root| patches("Look into tides", &binding(root).to_string_lossy(), WRITTEN));
    let (reply, reports) =
        project.session(SessionTask { writes_result: true, ..task("Look into tides") }, None).await;

    assert_eq!(&*reply.unwrap().text, "done");
    assert_eq!(fs::read_to_string(project.project.binding()).unwrap(), WRITTEN);
    let path = project.project.binding().to_string_lossy().into_owned();
    let tools: Vec<_> = reports
        .iter()
        .filter_map(|activity| match activity {
            Activity::Tool(tool) => Some((tool.kind, &*tool.title, &tool.paths[..], tool.status)),
            _ => None,
        })
        .collect();
    let title = format!("write {path}");
    let paths = [path.into()];
    assert_eq!(
        tools,
        [
            (ToolKind::Edit, &*title, &paths[..], ToolStatus::Running),
            (ToolKind::Edit, &*title, &paths[..], ToolStatus::Completed)
        ]
    );
    let text: String = reports
        .iter()
        .filter_map(|it| match it {
            Activity::Text { text } => Some(&**text),
            _ => None,
        })
        .collect();
    assert_eq!(text, "done");
}

#[tokio::test]
#[ignore = "needs npm"]
async fn the_usage_is_what_the_provider_reports() {
    let project = Project::new(|_| commands("Look into tides", "cat notes.md"));
    let (reply, reports) = project.session(task("Look into tides"), None).await;

    reply.unwrap();
    let work = recorded(&reports);
    let usage = Usage { input_tokens: 2 * USAGE.input, output_tokens: 2 * USAGE.output, ..Usage::default() };
    assert_eq!(work.usage, Some(usage));
    let agent = work.agent.unwrap();
    assert_eq!(agent.id.len(), 36, "{}", agent.id);
    assert!(agent.model.is_some());
}

#[tokio::test]
#[ignore = "needs npm"]
async fn r024_r026_the_model_and_the_system_part_reach_the_provider() {
    let project = Project::new(|_| vec![replies("Look into tides", "done")]);
    let task = SessionTask {
        system: Some("You are an oceanographer.".into()),
        model: Some("gpt-tides".into()),
        ..task("Look into tides")
    };
    project.session(task, None).await.0.unwrap();

    let asked = project.requests();
    let body = &asked.last().unwrap()["body"];
    assert_eq!(body["model"], "gpt-tides");
    assert!(body["messages"].to_string().contains("You are an oceanographer."));
}

#[tokio::test]
#[ignore = "needs npm"]
async fn r064_codex_judges_a_condition_in_the_form_of_a_schema() {
    let project =
        Project::new(|_| vec![replies("the tide is out", r#"{"answer":"yes","reason":"the sand is dry"}"#)]);
    let verdict = project.judge("the tide is out").await;
    assert!(verdict.met);
    assert_eq!(verdict.reason, "the sand is dry");
}

#[tokio::test]
#[ignore = "needs npm"]
async fn a_judge_sends_little_besides_its_question() {
    let answer = r#"{"answer":"yes","reason":"the sand is dry"}"#;
    let project = Project::new(|_| vec![replies("the tide is out", answer)]);
    let harness = PromptedDecisions { sessions: project.codex(), model: Some("gpt-5.5".into()) };
    assert!(judge(&harness, "the tide is out").await.met);
    harness.settled().await;
    let body = &project.requests()[0]["body"];
    let sent = format!("{}{}", body["messages"], body["tools"]);
    assert!(sent.len() < 4_000, "{} bytes: {sent}", sent.len());
}

#[tokio::test]
#[ignore = "needs npm"]
async fn a_command_that_a_pattern_allows_does_not_leave_the_sandbox() {
    // Codex runs what was accepted outside of its sandbox after it has failed in it.
    let project = Project::new(|_| commands("Look into tides", "python3 -c 'open(\"made\", \"w\")'"));
    let patterns = PermissionRule::Patterns(vec!["python3*".to_owned()]);
    let permissions = [("write", PermissionRule::Deny), ("execute", patterns)];
    project.session(with(&permissions), None).await.0.unwrap();
    assert!(!project.path("made").exists());
}

#[tokio::test]
#[ignore = "needs npm"]
async fn sessions_share_a_server_and_a_cancelled_one_leaves_it_running() {
    let project =
        Project::new(|_| vec![replies_slowly("Count the waves"), replies("Look into tides", "done")]);
    let codex = project.codex();
    let (reporter, mut reports) = Reports::new(None);
    let slow = Arc::new(task("Count the waves"));
    let asked = request(Effect::Session(slow.clone()));
    tokio::select! {
        reply = codex.session(&asked, &slow, &reporter) => panic!("{reply:?}"),
        _ = reports.until(|it| matches!(it, Activity::Text { .. })) => {}
    }

    let quick = Arc::new(task("Look into tides"));
    let asked = request(Effect::Session(quick.clone()));
    let sessions = (0..8).map(|_| {
        let reporter = Reporter::silent();
        let (codex, asked, quick) = (&codex, &asked, &quick);
        async move { codex.session(asked, quick, &reporter).await.unwrap().text }
    });
    for text in futures_util::future::join_all(sessions).await {
        assert_eq!(&*text, "done");
    }
    assert_eq!(project.project.started().len(), 1, "one server for all");
    codex.settled().await;
    assert!(!is_running(project.project.started()[0]), "a run leaves no server behind");
}

#[tokio::test]
#[ignore = "needs npm"]
async fn attempts_to_reach_the_provider_are_reported() {
    let project = Project::behind(
        |number| (number == 1).then_some(Fault::Status(429)),
        |_| vec![replies("Look into tides", "done")],
    );
    let (reply, reports) = project.session(task("Look into tides"), None).await;
    assert_eq!(&*reply.unwrap().text, "done");
    let retries = reports.iter().filter(|it| matches!(it, Activity::ProviderRetry(_))).count();
    assert_eq!(retries, 1, "{reports:#?}");
}

#[test]
#[ignore = "needs npm"]
fn r043_without_its_own_session_a_resumed_agent_starts_from_its_memory() {
    let project = Project::new(|_| replies_of_captain());
    let (told, log, tokens) =
        project.resume_captain(|home| fs::remove_dir_all(home.join(".codex/sessions")).unwrap());
    assert_eq!(occurrences(&told, "Plan the voyage"), 0, "{told:#?}");
    assert_eq!(occurrences(&told, "## Agent Memory: captain"), 1, "{told:#?}");
    assert_eq!(occurrences(&told, "We sail at dawn"), 1, "the memory has it: {told:#?}");
    assert!(log.contains("cannot be continued, so this one starts from the memory"), "{log}");
    assert_eq!(tokens, [USAGE.input, USAGE.input]);
}

/// A project in which Codex works.
struct Project {
    project: AgentProject,
    proxy: Option<FaultProxy>,
}

impl Project {
    fn new(fixtures: impl FnOnce(&std::path::Path) -> Vec<Value>) -> Self {
        let project = AgentProject::new(|root| {
            fs::write(root.join("notes.md"), "seen in notes\n").unwrap();
            fs::create_dir(root.join("docs")).unwrap();
            fs::create_dir(root.join("secrets")).unwrap();
            fs::write(root.join("secrets/key"), "seen in secrets\n").unwrap();
            symlink("../secrets", root.join("docs/link")).unwrap();
            symlink("docs", root.join("link")).unwrap();
            fixtures(root)
        });
        Self { project, proxy: None }
    }

    /// The same with faults of the provider, by the number of the request.
    fn behind(
        plan: impl Fn(usize) -> Option<Fault> + Send + Sync + 'static,
        fixtures: impl FnOnce(&std::path::Path) -> Vec<Value>,
    ) -> Self {
        let project = Self::new(fixtures);
        let proxy = FaultProxy::start(&project.project.provider.address, plan);
        Self { proxy: Some(proxy), ..project }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.root().join(name)
    }

    /// The requests of the agent to the provider.
    fn requests(&self) -> Vec<Value> {
        self.project.provider.requests("/v1/responses")
    }

    /// A program `codex` with a home folder and a provider of its own.
    fn wrapper(&self) -> PathBuf {
        let provider = &self.project.provider.address;
        let address = self.proxy.as_ref().map_or_else(|| provider.clone(), FaultProxy::address);
        let provider = format!(
            r#"model_providers.mock={{name="mock",base_url="{address}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}}"#
        );
        let codex = packages().join("node_modules/@openai/codex/bin/codex.js");
        let command = format!(
            "OPENAI_API_KEY=none exec node {} -c 'model_provider=\"mock\"' -c '{provider}'",
            codex.display()
        );
        self.project.program("codex", &command)
    }

    fn resume_captain(&self, between: impl FnOnce(&std::path::Path)) -> (Vec<String>, String, Vec<u64>) {
        let folder = self.wrapper().parent().unwrap().to_owned();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let prose = |arguments: &[&str]| {
            let mut command = std::process::Command::new(prose_tests::prose_binary());
            command.args(arguments).current_dir(self.project.root());
            command.env("PATH", &path).env("HOME", self.project.home());
            command
        };
        self.project.resume_captain(&prose, "/v1/responses", "codex", between)
    }

    fn codex(&self) -> Codex {
        let program = AgentProgram {
            program: self.wrapper().to_string_lossy().into_owned(),
            arguments: Vec::new(),
            // Nothing of the user who runs the tests.
            variables: Vec::new(),
            ..AgentProgram::of(KnownAgent::CODEX, &[], &[])
        };
        let root = self.project.root();
        let gates = root.join(".prose/gates");
        let folders = RunFolders { run: Some(root.join(".prose/runs/r")), root };
        Codex::new(AgentHost::new("codex", program, folders).sharing_gates(Some(&gates)))
    }

    async fn judge(&self, condition: &str) -> Verdict {
        let harness = PromptedDecisions::new(self.codex());
        let verdict = judge(&harness, condition).await;
        harness.settled().await;
        verdict
    }

    async fn session(
        &self,
        task: SessionTask,
        answer: Option<bool>,
    ) -> (Result<Reply, Failure>, Vec<Activity>) {
        let (reporter, mut reports) = Reports::new(answer);
        let codex = self.codex();
        for permission in &task.permissions {
            assert!(Sessions::enforces(&codex, &permission.about, &permission.rule), "{permission:?}");
        }
        let task = Arc::new(task);
        let reply = codex.session(&request(Effect::Session(task.clone())), &task, &reporter).await;
        codex.settled().await;
        (reply, reports.take())
    }
}

fn with(permissions: &[(&str, PermissionRule)]) -> SessionTask {
    let permissions = permissions.iter();
    let permissions =
        permissions.map(|(about, rule)| Permission { about: (*about).into(), rule: rule.clone() }).collect();
    SessionTask { permissions, ..task("Look into tides") }
}

/// The model runs a command and replies `done`.
fn commands(task: &str, command: &str) -> Vec<Value> {
    calls_tool(task, "exec_command", json!({ "cmd": command }), "done").into()
}

/// The model creates a file and replies `done`.
fn patches(task: &str, path: &str, text: &str) -> Vec<Value> {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    commands(
        task,
        &format!("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\nEOF\n"),
    )
}

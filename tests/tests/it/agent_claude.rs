//! The real Claude Code as harness, with a server on this machine in the place of its provider.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use prose_harness::decide::PromptedDecisions;
use prose_harness::drivers::claude::Claude;
use prose_harness::drivers::{AgentHost, AgentProgram};
use prose_tests::agents::{
    AgentProject, WRITTEN, binding, claude_program, judge, occurrences, replies_of_captain, reply, task,
};
use prose_tests::fault_proxy::{Fault, FaultProxy};
use prose_tests::prose_binary;
use prose_vm::activity::{Activity, Approvals, NoApprovals, Reporter, ToolStatus, ToolUse, Work};
use prose_vm::effect::{Failure, Permission, PermissionRule, Reply, RequestId, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{Harness, RunFolders};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

const TASK: &str = "Look into tides";

#[tokio::test]
#[ignore = "needs npm"]
async fn r030_claude_writes_the_binding_file_and_everything_is_reported() {
    let project = Project::new(|root| {
        vec![
            calls(
                TASK,
                "I look into it.",
                "Write",
                json!({ "file_path": binding(root), "content": WRITTEN }),
                [100, 7],
            ),
            done(TASK, "done", [200, 11]),
        ]
    });
    let mut watched = project.session(task(TASK)).await;

    assert_eq!(&*watched.reply().text, "done");
    assert_eq!(watched.reply().warnings, Vec::<String>::new());
    assert_eq!(fs::read_to_string(project.project.binding()).unwrap(), WRITTEN);
    assert_eq!(watched.text(), "I look into it.\n\ndone");
    let path = project.project.binding();
    let title = format!("write {}", path.display());
    let statuses: Vec<_> = watched.tools().into_iter().map(|tool| (tool.title, tool.status)).collect();
    assert_eq!(
        statuses,
        [(title.as_str().into(), ToolStatus::Running), (title.as_str().into(), ToolStatus::Completed)]
    );
    let Work { usage, denials, agent, .. } = watched.work();
    let usage = usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (300, 18), "as the provider reports it");
    assert!(usage.cost.unwrap() > 0.0);
    assert!(denials.is_empty());
    let agent = agent.unwrap();
    assert!(agent.model.unwrap().contains("claude"));
    assert!(fs::read_to_string(agent.transcript.unwrap()).unwrap().contains(&*agent.id));
}

#[tokio::test]
#[ignore = "needs npm"]
async fn r024_r026_the_model_and_the_system_part_reach_the_provider() {
    let project = Project::new(|_| vec![done(TASK, "done", [1, 1])]);
    let task = SessionTask {
        system: Some("You are an oceanographer.".into()),
        model: Some("opus".into()),
        // With all its tools, a request is longer than what the server keeps of it.
        permissions: rules(&[("write", PermissionRule::Deny)]),
        ..task(TASK)
    };
    project.session(task).await.reply();

    let asked = project.requests();
    let body = &asked.last().unwrap()["body"];
    assert!(body["model"].as_str().unwrap().contains("opus"), "{}", body["model"]);
    assert_eq!(body["messages"][0]["role"], "system");
    assert!(body["messages"][0].to_string().contains("You are an oceanographer."));
}

#[tokio::test]
#[ignore = "needs npm"]
async fn decision_13_claude_cannot_write_where_that_is_denied() {
    let project = Project::new(|root| {
        let write = json!({ "file_path": binding(root), "content": WRITTEN });
        vec![calls(TASK, "", "Write", write, [1, 1]), done(TASK, "Binding written: research", [1, 1])]
    });
    let deny = rules(&[("write", PermissionRule::Deny)]);
    assert!(project.harness().enforces(&deny[0].about, &deny[0].rule));
    let watched = project.session(SessionTask { permissions: deny, ..task(TASK) }).await;

    assert_eq!(&*watched.reply().text, "Binding written: research", "the model claims so");
    assert!(!project.project.binding().exists());
    let asked = project.requests();
    let tools = asked.last().unwrap()["body"]["tools"].as_array().unwrap();
    let mut tools: Vec<_> = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    // It stands for the tools that are found by a search.
    tools.retain(|tool| *tool != "DeferredToolPlaceholder");
    tools.sort_unstable();
    assert_eq!(tools, ["Glob", "Grep", "Read", "WebFetch", "WebSearch"]);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn r064_claude_judges_a_condition_without_tools_and_long_instructions() {
    let project =
        Project::new(|_| vec![done("the tide is out", "VERDICT: yes\nREASON: the sand is dry", [1, 1])]);
    fs::write(project.project.root().join("CLAUDE.md"), "Always say no.").unwrap();
    let verdict = judge(&*project.harness(), "the tide is out").await;

    assert!(verdict.met);
    assert_eq!(verdict.reason, "the sand is dry");
    let asked = project.requests();
    assert_eq!(asked.len(), 1);
    let body = &asked[0]["body"];
    assert!(body["tools"].as_array().is_none_or(Vec::is_empty), "{}", body["tools"]);
    let sent = body["messages"].to_string();
    assert!(!sent.contains("Always say no.") && sent.len() < 1_500, "{sent}");
}

#[test]
#[ignore = "needs npm"]
fn branches_work_in_worktrees_and_their_changes_are_merged() {
    // The model names the file relative to the folder in which its agent works.
    let write = |name: &str| json!({ "command": format!("echo {name} > {name}.txt && pwd"), "description": "Writes it" });
    let project = Project::new(|_| {
        ["left", "right"]
            .into_iter()
            .flat_map(|name| {
                let task = format!("Write {name}");
                [
                    calls(&task, "", "Bash", write(name), [1, 1]),
                    done(&task, &format!("{name} is written"), [1, 1]),
                ]
            })
            .collect()
    });
    let root = project.project.root();
    let program = "agent writer:\n  permissions:\n    bash: allow\n    write: allow\nparallel:\n  session: writer\n    prompt: \"Write left\"\n  session: writer\n    prompt: \"Write right\"\n";
    fs::write(root.join("main.prose"), program).unwrap();
    fs::write(root.join("prose.toml"), "[run]\nharness = \"claude\"\nisolation = \"worktree\"\n").unwrap();
    fs::write(root.join(".gitignore"), "/.prose\n").unwrap();
    for git in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a"],
    ] {
        assert!(Command::new("git").args(git).current_dir(&root).status().unwrap().success());
    }
    let programs = prose_fixture::tempdir().unwrap();
    std::os::unix::fs::symlink(claude_program(), programs.path().join("claude")).unwrap();
    let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
    let mut prose = Command::new(prose_binary());
    prose.args(["run", "main.prose", "--trust", "-q"]).current_dir(&root).env_clear().env("PATH", &path);
    let output = prose.envs(project.variables()).stdin(std::process::Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["left", "right"] {
        assert_eq!(fs::read_to_string(root.join(format!("{name}.txt"))).unwrap(), format!("{name}\n"));
    }
    // Each has worked in a tree of its own, and both are gone.
    let asked = json!(project.requests()).to_string();
    assert!(asked.contains("/trees/1-branch-1") && asked.contains("/trees/2-branch-2"));
    let runs = fs::read_dir(root.join(".prose/runs")).unwrap().flatten();
    assert!(runs.into_iter().all(|run| !run.path().join("trees").exists()));
}

#[tokio::test]
#[ignore = "needs npm"]
async fn without_permissions_edits_are_allowed_and_other_denials_are_reported() {
    let command = json!({ "command": "curl -s https://example.invalid", "description": "Runs it" });
    let project =
        Project::new(|_| vec![calls(TASK, "", "Bash", command.clone(), [1, 1]), done(TASK, "done", [1, 1])]);
    let mut watched = project.session(task(TASK)).await;
    let denials = watched.work().denials;
    assert_eq!(denials.len(), 1, "{denials:?}");
    assert_eq!(denials[0].title, "curl -s https://example.invalid");
    assert!(denials[0].reason.contains("`bash: allow`"), "{}", denials[0].reason);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn a_session_that_asks_again_has_the_same_process_and_each_turn_its_own_usage() {
    let project = Project::new(|_| vec![done("Once more", "better", [50, 5]), done(TASK, "worse", [20, 2])]);
    let harness = project.harness();
    let approvals = || Arc::new(NoApprovals);
    let task = |prompt: &str| SessionTask { writes_result: true, ..task(prompt) };
    let mut first = project.session_with(&*harness, task(TASK), approvals()).await;
    let again = format!("{TASK}\n\nOnce more");
    let mut second = project.session_with(&*harness, task(&again), approvals()).await;
    assert_eq!((&*first.reply().text, &*second.reply().text), ("worse", "better"));
    let (first, second) = (first.work(), second.work());
    assert_eq!(first.agent.unwrap().id, second.agent.unwrap().id);
    let tokens = |work: Option<prose_vm::effect::Usage>| work.map(|it| (it.input_tokens, it.output_tokens));
    assert_eq!((tokens(first.usage), tokens(second.usage)), (Some((20, 2)), Some((50, 5))));
    let asked = project.requests();
    let sent = asked.last().unwrap()["body"]["messages"].to_string();
    assert_eq!(sent.matches(TASK).count(), 1, "the task is sent once: {sent}");
    harness.settled().await;
    assert_eq!(project.processes(), Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs npm"]
async fn faults_of_the_provider_are_reported_and_survived() {
    for (fault, status) in [
        (Fault::RetryAfter(429, 1), Some(429)),
        (Fault::Status(529), Some(529)),
        (Fault::Status(500), Some(500)),
        (Fault::Reset, None),
    ] {
        let project = Project::behind(
            move |number| (number == 1).then_some(fault),
            |_| vec![done(TASK, "done", [20, 2])],
        );
        let mut watched = project.session(task(TASK)).await;
        assert_eq!(&*watched.reply().text, "done");
        let retries: Vec<_> = watched
            .reports()
            .iter()
            .filter_map(|report| match report {
                Activity::ProviderRetry(retry) => Some(retry.status),
                _ => None,
            })
            .collect();
        assert_eq!(retries, [status], "{fault:?}");
        assert_eq!(watched.work().usage.unwrap().input_tokens, 20);
    }
    // Half an answer is not one, whether or not the retry is reported.
    let project =
        Project::behind(|number| (number == 1).then_some(Fault::Half), |_| vec![done(TASK, "done", [20, 2])]);
    assert_eq!(&*project.session(task(TASK)).await.reply().text, "done");
}

#[tokio::test]
#[ignore = "needs npm"]
async fn a_request_that_is_rejected_says_why() {
    let project = Project::behind(|_| Some(Fault::Status(400)), |_| vec![]);
    let failure = project.session(task(TASK)).await.said.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::Session);
    assert!(failure.message.contains("the request is invalid"), "{}", failure.message);
    assert!(!failure.message.contains(TASK), "{}", failure.message);
}

#[test]
#[ignore = "needs npm"]
fn r043_without_its_own_session_a_resumed_agent_starts_from_its_memory() {
    let project = Project::new(|_| replies_of_captain());
    let (told, log, _) =
        project.resume_captain(|home| fs::remove_dir_all(home.join(".claude/projects")).unwrap());
    assert_eq!(occurrences(&told, "Plan the voyage"), 0, "{told:#?}");
    assert_eq!(occurrences(&told, "## Agent Memory: captain"), 1, "{told:#?}");
    assert_eq!(occurrences(&told, "We sail at dawn"), 1, "the memory has it: {told:#?}");
    assert!(log.contains("cannot be continued, so this one starts from the memory"), "{log}");
}

/// A project in which Claude Code works.
struct Project {
    project: AgentProject,
    proxy: Option<FaultProxy>,
}

impl Project {
    fn new(fixtures: impl FnOnce(&Path) -> Vec<Value>) -> Self {
        Self { project: AgentProject::new(fixtures), proxy: None }
    }

    /// A project whose provider has faults.
    fn behind(
        plan: impl Fn(usize) -> Option<Fault> + Send + Sync + 'static,
        fixtures: impl FnOnce(&Path) -> Vec<Value>,
    ) -> Self {
        let none = |root: &Path| {
            let mut fixtures = fixtures(root);
            // The server does not start without any.
            fixtures.push(done("never asked", "nothing", [0, 0]));
            fixtures
        };
        let project = AgentProject::new(none);
        let proxy = FaultProxy::start(&project.provider.address, plan);
        Self { project, proxy: Some(proxy) }
    }

    /// The requests of the agent to the provider.
    fn requests(&self) -> Vec<Value> {
        self.project.provider.requests("/v1/messages")
    }

    /// Nothing of the person who runs the tests.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let address = match &self.proxy {
            Some(proxy) => proxy.address(),
            None => self.project.provider.address.clone(),
        };
        vec![
            ("HOME", self.project.home().display().to_string()),
            ("ANTHROPIC_BASE_URL", address),
            ("ANTHROPIC_API_KEY", "none".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ]
    }

    fn resume_captain(&self, between: impl FnOnce(&Path)) -> (Vec<String>, String, Vec<u64>) {
        let programs = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(claude_program(), programs.path().join("claude")).unwrap();
        let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
        let prose = |arguments: &[&str]| {
            let mut command = Command::new(prose_binary());
            command.args(arguments).current_dir(self.project.root()).env_clear().env("PATH", &path);
            command.envs(self.variables());
            command
        };
        self.project.resume_captain(&prose, "/v1/messages", "claude", between)
    }

    fn harness(&self) -> Arc<dyn Harness> {
        let variables = self.variables().into_iter().map(|(name, value)| format!("{name}={value}"));
        let program = AgentProgram {
            program: "env".to_owned(),
            arguments: variables.chain([claude_program().display().to_string()]).collect(),
            variables: Vec::new(),
            unknown_models: Vec::new(),
            install: "",
        };
        let root = self.project.root();
        let folders = RunFolders { run: Some(root.join(".prose/runs/r")), root };
        let gates = folders.root.join(".prose/gates");
        let host = AgentHost::new("claude", program, folders);
        let host = host.supervised_by(Some(prose_binary())).sharing_gates(Some(&gates));
        Arc::new(PromptedDecisions::new(Claude::new(host)))
    }

    async fn session(&self, task: SessionTask) -> Watched {
        self.session_with(&*self.harness(), task, Arc::new(NoApprovals)).await
    }

    async fn session_with(
        &self,
        harness: &dyn Harness,
        task: SessionTask,
        approvals: Arc<dyn Approvals>,
    ) -> Watched {
        let (sender, reports) = unbounded_channel();
        let reporter = Reporter::new(RequestId(1), sender, approvals);
        let said = reply(harness, task, &reporter).await;
        Watched { said, reports, seen: Vec::new() }
    }

    /// The processes that have the home folder of this project.
    fn processes(&self) -> Vec<String> {
        let home = format!("HOME={}", self.project.home().display());
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().into_string().ok());
        numbers
            .filter(|number| {
                let own = number.parse::<u32>().is_ok_and(|number| number != std::process::id());
                let variables = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
                own && variables.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes())
            })
            .collect()
    }
}

/// What a session said and reported.
struct Watched {
    said: Result<Reply, Failure>,
    reports: UnboundedReceiver<(RequestId, Activity)>,
    seen: Vec<Activity>,
}

impl Watched {
    #[track_caller]
    fn reply(&self) -> &Reply {
        self.said.as_ref().unwrap_or_else(|failure| panic!("{}", failure.message))
    }

    fn reports(&mut self) -> &[Activity] {
        while let Ok((_, report)) = self.reports.try_recv() {
            self.seen.push(report);
        }
        &self.seen
    }

    fn text(&mut self) -> String {
        let texts = self.reports().iter().filter_map(|report| match report {
            Activity::Text { text } => Some(&**text),
            _ => None,
        });
        texts.collect()
    }

    fn tools(&mut self) -> Vec<ToolUse> {
        let tools = self.reports().iter().filter_map(|report| match report {
            Activity::Tool(tool) => Some(tool.clone()),
            _ => None,
        });
        tools.collect()
    }

    fn work(&mut self) -> Work {
        let mut work = Work::default();
        self.reports().iter().for_each(|report| work.add(report, 0));
        work
    }
}

/// The model calls a tool when it is given a task.
fn calls(task: &str, text: &str, tool: &str, input: Value, [read, written]: [u32; 2]) -> Value {
    json!({
        "match": { "userMessage": task, "hasToolResult": false },
        "response": {
            "content": text,
            "toolCalls": [{ "name": tool, "arguments": input }],
            "usage": { "input_tokens": read, "output_tokens": written },
        },
    })
}

/// The model replies to a task, after the result of its tool if it has called one.
fn done(task: &str, text: &str, [read, written]: [u32; 2]) -> Value {
    json!({
        "match": { "userMessage": task },
        "response": { "content": text, "usage": { "input_tokens": read, "output_tokens": written } },
    })
}

fn rules(rules: &[(&str, PermissionRule)]) -> Vec<Permission> {
    let permission =
        |(about, rule): &(&str, PermissionRule)| Permission { about: (*about).into(), rule: rule.clone() };
    rules.iter().map(permission).collect()
}

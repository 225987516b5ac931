//! The real Codex as harness, with a server on this machine in the place of its provider.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use expect_test::expect;
use prose_harness::decide::{PromptedDecisions, Sessions};
use prose_harness::drivers::codex::Codex;
use prose_harness::drivers::{AgentHost, AgentProgram, KnownAgent};
use prose_tests::agents::{
    AgentProject, Reports, USAGE, WRITTEN, binding, calls_tool, is_running, judge, kill, occurrences,
    packages, recorded, replies, replies_of_captain, replies_slowly, request, task, wait_until,
};
use prose_tests::fault_proxy::{Fault, FaultProxy};
use prose_tests::rules::{self, Wanted};
use prose_vm::activity::{Activity, Reporter, ToolKind, ToolStatus};
use prose_vm::effect::{Effect, Failure, Permission, PermissionRule, Reply, SessionTask, Usage, Verdict};
use prose_vm::error::ErrorKind;
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
async fn a_judge_changes_nothing() {
    for command in [
        "echo x > made",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: made\n+x\n*** End Patch\nEOF\n",
    ] {
        let answer = r#"{"answer":"yes","reason":"the sand is dry"}"#;
        let project = Project::new(|_| {
            calls_tool("the tide is out", "exec_command", json!({ "cmd": command }), answer).into()
        });
        assert!(project.judge("the tide is out").await.met);
        assert_eq!(project.requests().len(), 2, "the model has called the tool");
        assert!(!project.path("made").exists(), "{command}");
    }
}

/// Whether a command of the agent has an effect: it makes the file `made`, or its output has the text `seen`.
async fn runs(permissions: &[(&str, PermissionRule)], command: &str, answer: Option<bool>) -> bool {
    let project = Project::new(|_| commands("Look into tides", command));
    let (reply, reports) = project.session(with(permissions), answer).await;
    reply.unwrap();
    let made = project.path("made").exists();
    let messages = project.requests().pop().unwrap()["body"]["messages"].take();
    let output = messages.as_array().unwrap().iter().find(|message| message["role"] == "tool").unwrap();
    let seen = output["content"].as_str().unwrap().contains("seen in");
    let was_denied = !recorded(&reports).denials.is_empty();
    assert!(!(was_denied && (made || seen)), "`{command}` was denied and has an effect");
    made || seen
}

fn allow() -> PermissionRule {
    PermissionRule::Allow
}

fn deny() -> PermissionRule {
    PermissionRule::Deny
}

fn patterns(patterns: &[&str]) -> PermissionRule {
    PermissionRule::Patterns(patterns.iter().map(|&pattern| pattern.to_owned()).collect())
}

#[tokio::test]
#[ignore = "needs npm"]
async fn denied_commands_do_not_run_but_files_are_read() {
    for permissions in [vec![], vec![("bash", deny())], vec![("execute", patterns(&[]))]] {
        for command in
            ["touch made", "cat notes.md && touch made", "sh -c 'touch made'", "cat notes.md > made"]
        {
            assert!(!runs(&permissions, command, None).await, "{command} with {permissions:?}");
        }
        assert!(runs(&permissions, "cat notes.md", None).await, "with {permissions:?}");
    }
    assert!(runs(&[("bash", allow())], "touch made", None).await);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn patterns_allow_the_commands_that_they_cover() {
    let rules = [("execute", patterns(&["git status*", "touch made"]))];
    assert!(runs(&rules, "touch made", None).await);
    for command in ["touch made other", "git status; rm notes.md; cp secrets/key made", "touch $(echo made)"]
    {
        assert!(!runs(&rules, command, None).await, "{command}");
    }
}

#[tokio::test]
#[ignore = "needs npm"]
async fn nothing_is_written_where_that_is_denied() {
    for rules in [
        vec![("write", deny()), ("bash", allow())],
        vec![("write", patterns(&[])), ("bash", allow())],
        // Codex runs what was accepted outside of its sandbox after it has failed in it.
        vec![("write", deny()), ("execute", patterns(&["touch*", "sh*", "python3*"]))],
    ] {
        for command in [
            "touch made",
            "touch \"$PWD/made\"",
            "touch docs/../made",
            "touch link/../made",
            "sh -c 'echo x > made'",
            "python3 -c 'open(\"made\", \"w\")'",
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: made\n+x\n*** End Patch\nEOF\n",
        ] {
            assert!(!runs(&rules, command, None).await, "{command} with {rules:?}");
        }
    }
}

#[tokio::test]
#[ignore = "needs npm"]
async fn only_files_that_patterns_cover_are_written() {
    let rules = [("write", patterns(&["docs/**"])), ("bash", allow())];
    let writes = async |path: &str| {
        let project = Project::new(|_| patches("Look into tides", path, "x\n"));
        let (reply, reports) = project.session(with(&rules), None).await;
        reply.unwrap();
        let is_written =
            ["docs/new.md", "secrets/new.md", "new.md"].iter().any(|it| project.path(it).exists());
        assert_eq!(is_written, recorded(&reports).denials.is_empty(), "{path}");
        is_written
    };
    assert!(writes("docs/new.md").await);
    for path in ["new.md", "docs/../new.md", "secrets/new.md", "docs/link/new.md"] {
        assert!(!writes(path).await, "{path}");
    }
}

#[tokio::test]
#[ignore = "needs npm"]
async fn only_files_that_patterns_cover_are_read() {
    let rules = [("read", patterns(&["*.md"])), ("bash", allow())];
    assert!(runs(&rules, "cat notes.md", None).await);
    for command in [
        "cat secrets/key",
        "cat notes.md secrets/key",
        "cat ./docs/../secrets/key",
        "cat docs/link/key",
        "cat \"$PWD/secrets/key\"",
        "(cd secrets && cat key)",
        "head < secrets/key",
        "python3 -c 'print(open(\"secrets/key\").read())'",
    ] {
        assert!(!runs(&rules, command, None).await, "{command}");
    }
}

#[tokio::test]
#[ignore = "needs npm"]
async fn commands_have_no_network_where_that_is_denied() {
    for rules in [vec![("network", deny()), ("bash", allow())], vec![("bash", allow())]] {
        let project = Project::new(|_| vec![]);
        let url = format!("{}/v1/models", project.project.provider.address);
        drop(project);
        assert!(!runs(&rules, &format!("curl -sS -o made {url}"), None).await, "{rules:?}");
    }
}

#[tokio::test]
#[ignore = "needs npm"]
async fn the_user_is_asked_where_a_rule_says_so() {
    let rules = [("bash", PermissionRule::Prompt)];
    assert!(runs(&rules, "touch made", Some(true)).await);
    assert!(!runs(&rules, "touch made", Some(false)).await);

    let project = Project::new(|_| commands("Look into tides", "touch made"));
    let failure = project.session(with(&rules), None).await.0.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::ApprovalNeeded, "{}", failure.message);
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
async fn a_crash_ends_the_session_and_the_next_one_starts_another_server() {
    let project =
        Project::new(|_| vec![replies_slowly("Count the waves"), replies("Look into tides", "done")]);
    let codex = project.codex();
    let (reporter, mut reports) = Reports::new(None);
    let slow = Arc::new(task("Count the waves"));
    let asked = request(Effect::Session(slow.clone()));
    let (reply, ()) = tokio::join!(codex.session(&asked, &slow, &reporter), async {
        reports.until(|it| matches!(it, Activity::Text { .. })).await;
        kill(project.project.started()[0]);
    });
    assert_eq!(reply.unwrap_err().kind, ErrorKind::AgentCrashed);

    let quick = Arc::new(task("Look into tides"));
    let reply = codex.session(&request(Effect::Session(quick.clone())), &quick, &reporter).await;
    assert_eq!(&*reply.unwrap().text, "done");
    assert_eq!(project.project.started().len(), 2);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn rejected_credentials_stop_the_session_at_once() {
    let project = Project::behind(|_| Some(Fault::Status(401)), |_| vec![replies("Look into tides", "done")]);
    let (reply, _) = project.session(task("Look into tides"), None).await;
    let failure = reply.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::Auth);
    assert!(failure.message.contains("sign in with `codex login`"), "{}", failure.message);
    let asked = project.proxy.as_ref().unwrap().asked().len();
    assert!(asked <= 2, "it was asked {asked} times");
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

#[tokio::test]
#[ignore = "needs npm"]
async fn a_session_that_has_used_a_tool_continues_after_the_provider_turned_it_away() {
    let project = Project::behind(
        |number| (number == 2).then_some(Fault::Status(429)),
        |_| {
            let mut fixtures = commands("Look into tides", "echo x >> made");
            fixtures.insert(0, replies("Continue where you stopped", "done"));
            fixtures
        },
    );
    let (reply, reports) = project.session(with(&[("bash", allow())]), None).await;
    assert_eq!(&*reply.unwrap().text, "done");
    assert_eq!(fs::read_to_string(project.path("made")).unwrap(), "x\n", "the tool is used once");
    let retries = reports.iter().filter(|it| matches!(it, Activity::ProviderRetry(_))).count();
    assert!(retries > 0, "{reports:#?}");
    assert_eq!(recorded(&reports).usage.unwrap().input_tokens, 2 * USAGE.input);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn network_rules_hold_whatever_the_model_tries() {
    let cases = rules::NETWORK_COMMANDS;
    let project = Project::new(|root| {
        fs::remove_dir_all(root.join("docs")).unwrap();
        rules::fixtures(root, cases, |wanted| match wanted {
            Wanted::Run(command) => ("exec_command", json!({ "cmd": command })),
            other => panic!("{other:?} is no command"),
        })
    });
    let codex = PromptedDecisions::new(project.codex());
    let outcomes = rules::outcomes(&codex, &project.project, "/v1/responses", None, cases).await;
    codex.settled().await;
    expect![[r#"
        network: allow | curl -sS -o made {url} | done
        network: deny | curl -sS -o made {url} | not done
        network: deny | sh -c 'curl -sS -o made {url}' | not done
        network: deny | echo tides && curl -sS -o made {url} | not done
        network: https://example.com/* | curl -sS -o made {url} | denied
        network: prompt, allowed | curl -sS -o made {url} | not done
        network: prompt, denied | curl -sS -o made {url} | denied
        network: prompt | curl -sS -o made {url} | denied
    "#]]
    .assert_eq(&outcomes);
}

#[test]
#[ignore = "needs npm"]
fn codex_ends_when_prose_is_killed() {
    let project = Project::new(|_| vec![replies_slowly("Count the waves")]);
    let server = project.project.kill_prose(&project.wrapper(), "/v1/responses");
    wait_until("codex has ended", || !is_running(server));
}

#[test]
#[ignore = "needs npm"]
fn r043_a_resumed_agent_continues_its_own_session() {
    let project = Project::new(|_| replies_of_captain());
    let (told, log, tokens) = project.resume_captain(|_| {});
    assert_eq!(occurrences(&told, "Plan the voyage"), 1, "{told:#?}");
    assert_eq!(occurrences(&told, "We sail at dawn"), 1, "{told:#?}");
    assert_eq!(occurrences(&told, "## Agent Memory: captain"), 0, "{told:#?}");
    assert!(log.contains("continues session"), "{log}");
    // What the first session has used is not counted again.
    assert_eq!(tokens, [USAGE.input, USAGE.input]);
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

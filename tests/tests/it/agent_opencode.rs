//! The real OpenCode as harness, with a server on this machine in the place of its provider.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use expect_test::expect;
use prose_harness::decide::{PromptedDecisions, Sessions};
use prose_harness::drivers::opencode::OpenCode;
use prose_harness::drivers::{AgentHost, AgentProgram, KnownAgent};
use prose_tests::agents::{
    AgentProject, Reports, USAGE, WRITTEN, binding, calls_tool, calls_tools, is_running, judge, kill,
    opencode_program, recorded, replies, replies_slowly, reply, request, task, wait_until,
};
use prose_tests::fault_proxy::{Fault, FaultProxy};
use prose_tests::rules::{self, Wanted};
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
async fn a_judge_changes_nothing_whatever_the_project_allows() {
    let project = Project::new(|root| {
        let allow = json!({ "*": "allow", "bash": "allow", "edit": "allow" });
        let config = json!({ "permission": allow, "agent": { "build": { "permission": allow } } });
        fs::write(root.join("opencode.json"), config.to_string()).unwrap();
        let tools = [
            ("write", json!({ "filePath": root.join("made"), "content": "x" })),
            ("bash", json!({ "command": "touch made", "description": "make it" })),
            ("read", json!({ "filePath": root.join("opencode.json") })),
        ];
        let [calls, _] = calls_tools("the tide is out", &tools, "");
        let answer = json!({ "answer": "yes", "reason": "the sand is dry" });
        let answers = json!({
            "match": { "userMessage": "the tide is out", "hasToolResult": true },
            "response": { "toolCalls": [{ "name": "StructuredOutput", "arguments": answer }] },
        });
        vec![calls, answers]
    });
    let verdict = judge(&PromptedDecisions::new(project.opencode()), "the tide is out").await;
    assert!(verdict.met);
    assert_eq!(verdict.reason, "the sand is dry");
    let asked = project.requests();
    assert_eq!(asked.len(), 2, "the model has called the tools");
    let tools = asked[0]["body"]["tools"].as_array().unwrap();
    let tools: Vec<_> = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["StructuredOutput"], "it can use no tool");
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
        // Where several calls are denied at once, the turn ends, and the session goes on with a prompt that says so.
        let goes_on = replies("The permissions of this session do not allow that", "done");
        calls_tools("Look into tides", &tools, "done").into_iter().chain([goes_on]).collect()
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
        ["written", "written-up", "touched", "copied", "seen notes", "seen context"]
    );
    assert_eq!(
        effects(&[("read", Deny), ("write", PermissionRule::Patterns(Vec::new()))]).await,
        ["seen context", "fetched"]
    );
}

#[tokio::test]
#[ignore = "needs npm"]
async fn the_rules_of_permissions_hold_whatever_the_model_tries() {
    let cases = [
        rules::WRITES,
        rules::READS,
        rules::COMMANDS,
        rules::WRITING_COMMANDS,
        rules::PAGES,
        rules::NETWORK_COMMANDS,
    ]
    .concat();
    let project = Project::new(|root| {
        rules::fixtures(root, &cases, |wanted| match wanted {
            Wanted::Write(path) => ("write", json!({ "filePath": path, "content": "x" })),
            Wanted::Read(path) => ("read", json!({ "filePath": path })),
            Wanted::Run(command) => ("bash", json!({ "command": command, "description": "run it" })),
            Wanted::Fetch(url) => ("webfetch", json!({ "url": url, "format": "text" })),
        })
    });
    let opencode = PromptedDecisions::new(project.opencode());
    let outcomes = rules::outcomes(&opencode, &project.project, REQUESTS, None, &cases).await;
    opencode.settled().await;
    expect![[r#"
        write: allow | write docs/made | done
        write: deny | write docs/made | denied
        write: docs/ | write docs/made | done
        write: docs/ | write made | denied
        write: docs/ | write docs/../made | denied
        write: docs/ | write docs/link/made | denied
        write: docs/ | write ../made | denied
        write: prompt, allowed | write docs/made | done
        write: prompt, denied | write docs/made | denied
        write: prompt | write docs/made | stopped
        read: allow | read docs/seen | done
        read: deny | read docs/seen | denied
        read: docs/ | read docs/seen | done
        read: docs/ | read seen | denied
        read: docs/ | read docs/../seen | denied
        read: docs/ | read docs/link/seen | denied
        read: docs/ | read ../seen | denied
        read: prompt, allowed | read docs/seen | done
        read: prompt, denied | read docs/seen | denied
        read: prompt | read docs/seen | stopped
        execute: allow | touch made | done
        execute: deny | touch made | denied
        execute: touch * | touch made | done
        execute: echo * | touch made | denied
        execute: echo * | echo tides; touch made | denied
        execute: echo * | echo $(touch made) | denied
        execute: sort * | sort --output=made /dev/null | denied
        execute: prompt, allowed | touch made | done
        execute: prompt, denied | touch made | denied
        execute: prompt | touch made | stopped
        execute: deny | cat docs/seen | denied
        execute: cat * | cat docs/seen | done
        read: docs/ | cat docs/seen | done
        read: docs/ | cat docs/link/seen | denied
        write: docs/ | echo tides > made | denied
        network: allow | fetch http://127.0.0.1:9/docs/ | done
        network: deny | fetch http://127.0.0.1:9/docs/ | denied
        network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9/docs/ | done
        network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9/ | denied
        network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9/docs/../ | denied
        network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9@localhost:9/docs/ | denied
        network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9.example.com/docs/ | denied
        network: prompt, allowed | fetch http://127.0.0.1:9/docs/ | done
        network: prompt, denied | fetch http://127.0.0.1:9/docs/ | denied
        network: prompt | fetch http://127.0.0.1:9/docs/ | stopped
        network: allow | curl -sS -o made {url} | done
        network: deny | curl -sS -o made {url} | denied
        network: deny | sh -c 'curl -sS -o made {url}' | denied
        network: deny | echo tides && curl -sS -o made {url} | denied
        network: https://example.com/* | curl -sS -o made {url} | denied
        network: prompt, allowed | curl -sS -o made {url} | done
        network: prompt, denied | curl -sS -o made {url} | denied
        network: prompt | curl -sS -o made {url} | denied
    "#]]
    .assert_eq(&outcomes);
    assert_eq!(project.project.started().len(), 1, "all sessions have one server");
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

#[tokio::test]
#[ignore = "needs npm"]
async fn a_session_that_has_used_a_tool_continues_after_the_provider_turned_it_away() {
    let project = Project::behind(
        |number| (number == 2).then_some(Fault::Status(429)),
        |_| {
            let run = json!({ "command": "echo x >> made", "description": "make it" });
            calls_tool("Look into tides", "bash", run, "done").into()
        },
    );
    let permissions = vec![Permission { about: "bash".into(), rule: PermissionRule::Allow }];
    let (reply, reports) = project.session(SessionTask { permissions, ..task("Look into tides") }).await;
    assert_eq!(&*reply.unwrap().text, "done");
    assert_eq!(fs::read_to_string(project.path("made")).unwrap(), "x\n", "the tool is used once");
    assert!(reports.iter().any(|it| matches!(it, Activity::ProviderRetry(_))), "{reports:#?}");
}

#[test]
#[ignore = "needs npm"]
fn opencode_ends_when_prose_is_killed() {
    let project = Project::new(|_| vec![replies_slowly("Count the waves")]);
    let process = project.project.kill_prose(&project.wrapper(), REQUESTS);
    wait_until("opencode has ended", || !is_running(process));
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
        assert!(start.elapsed() < Duration::from_secs(90), "it does not come");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
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
        self.project.provider.requests(REQUESTS)
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

//! A real agent of the Agent Client Protocol as harness, with a server on this machine in the place of its provider.

#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use prose_harness::decide::PromptedDecisions;
use prose_harness::drivers::acp::{AGENTS, Acp};
use prose_harness::drivers::{AgentHost, AgentProgram};
use prose_tests::agents::{
    AgentProject, Reports, USAGE, calls_tool, recorded, replies, replies_slowly, reply, task,
};
use prose_tests::drivers::Driver;
use prose_tests::fault_proxy::{Fault, FaultProxy};
use prose_tests::rules::{self, Case, Wanted};
use prose_tests::tools::{self, AgentModel};
use prose_vm::activity::{Activity, Reporter, ToolKind, ToolStatus};
use prose_vm::effect::{Permission, PermissionRule, SessionTask, Usage};
use prose_vm::error::ErrorKind;
use prose_vm::harness::{Harness, RunFolders};
use serde_json::json;

/// An agent as a harness.
struct Agent {
    name: &'static str,
    /// The agent as its model sees it.
    model: AgentModel,
    /// The requests about a task that are not for its work, such as for a title, which are not reported and may come at any time.
    besides: u64,
}

const CLAUDE: Agent = Agent { name: "claude-agent-acp", model: tools::CLAUDE, besides: 1 };

const CODEX: Agent = Agent { name: "codex-acp", model: tools::CODEX_ACP, besides: 0 };

const GEMINI: Agent = Agent { name: "gemini", model: tools::GEMINI, besides: 0 };

const QWEN: Agent = Agent { name: "qwen", model: tools::QWEN, besides: 1 };

const OPENCODE: Agent = Agent { name: "opencode-acp", model: tools::OPENCODE_ACP, besides: 0 };

impl Agent {
    /// The agent as a harness in a project with a provider, and with nothing of the person who runs the tests.
    fn harness(&self, project: &AgentProject, provider: &str) -> PromptedDecisions<Acp> {
        let program = Driver::named(self.name).install(project, provider);
        let agent = AGENTS.iter().find(|agent| agent.name == self.name).unwrap();
        let program = AgentProgram {
            program: program.display().to_string(),
            arguments: agent.arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            variables: Vec::new(),
            unknown_models: Vec::new(),
            install: agent.install,
        };
        let root = project.root();
        let folders = RunFolders { run: Some(root.join(".prose/runs/r")), root };
        // Other tests do not wait for its provider.
        let host = AgentHost::new(agent.name, program, folders)
            .sharing_gates(Some(&project.root().join(".prose/gates")));
        PromptedDecisions::new(Acp::new(host, Some(agent)))
    }

    /// One process for all of these: a reply, a tool that writes, usage, the rules that the agent holds, a session that is cancelled, one that goes on, and
    /// one whose process crashes.
    async fn check(&self, cases: &[Case], usage: Usage, outcomes: Expect) {
        let project = AgentProject::new(|root| {
            let mut fixtures = rules::fixtures(root, cases, self.model.call);
            let (tool, arguments) =
                (self.model.call)(Wanted::Write(root.join("tides.md").display().to_string()));
            fixtures.extend(calls_tool("Write about tides", tool, arguments, "It is written."));
            fixtures.push(replies_slowly("Count the waves"));
            fixtures.push(replies("Look into tides", "Tides come and go."));
            // For what an agent asks besides, such as for a title.
            fixtures.push(json!({ "match": {}, "response": { "content": "Tides" } }));
            fixtures
        });
        let harness = self.harness(&project, &project.provider.address);
        let write = Permission { about: "write".into(), rule: PermissionRule::Allow };
        let written = SessionTask { permissions: vec![write], ..task("Write about tides") };
        let (reporter, mut reports) = Reports::new(None);
        assert_eq!(&*reply(&harness, written, &reporter).await.unwrap().text, "It is written.");
        assert!(project.root().join("tides.md").exists());
        let reports = reports.take();
        let is_written = |it: &Activity| matches!(it, Activity::Tool(tool) if matches!(tool.kind, ToolKind::Edit | ToolKind::Execute) && tool.status == ToolStatus::Completed);
        assert!(reports.iter().any(is_written), "{reports:?}");
        let work = recorded(&reports);
        assert_eq!(work.usage.map(|used| Usage { cost: None, ..used }), Some(usage));
        let asked = project.provider.requests(self.model.requests);
        let asked = asked.iter().filter(|request| request.to_string().contains("Write about tides")).count();
        // What an agent asks besides may come later.
        let for_work = usage.input_tokens / USAGE.input;
        assert!((for_work..=for_work + self.besides).contains(&(asked as u64)), "{asked} requests");
        assert!(work.agent.is_some());

        let shown = rules::outcomes(&harness, &project, self.model.requests, None, cases).await;
        outcomes.assert_eq(&shown);

        let asked = || {
            project
                .provider
                .requests(self.model.requests)
                .iter()
                .any(|it| it.to_string().contains("Count the waves"))
        };
        let silent = Reporter::silent();
        tokio::select! {
            reply = reply(&harness, task("Count the waves"), &silent) => panic!("{reply:?}"),
            () = until(asked) => {}
        }
        let other = reply(&harness, task("Look into tides"), &silent).await;
        assert_eq!(&*other.unwrap().text, "Tides come and go.");
        let count = || project.provider.requests(self.model.requests).len();
        let before = count();
        let (reply, ()) = tokio::join!(reply(&harness, task("Count the waves"), &silent), async {
            until(|| count() > before).await;
            let processes = project.processes().into_iter().map(|process| process.to_string());
            // Some may have ended with others.
            let _ = Command::new("kill").arg("-9").args(processes).output();
        });
        assert_eq!(reply.unwrap_err().kind, ErrorKind::AgentCrashed);
        harness.settled().await;
        until(|| project.processes().is_empty()).await;
    }
}

/// Waits until something has happened.
async fn until(happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(120), "it does not happen");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The usage of a number of requests.
fn used(requests: u64) -> Usage {
    Usage { input_tokens: requests * USAGE.input, output_tokens: requests * USAGE.output, ..Usage::default() }
}

#[tokio::test]
#[ignore = "needs npm"]
async fn claude_agent_acp_asks_before_it_reads_writes_and_runs_anything() {
    let cases = [
        rules::WRITES,
        rules::READS,
        rules::COMMANDS,
        rules::WRITING_COMMANDS,
        rules::PAGES,
        rules::NETWORK_COMMANDS,
    ]
    .concat();
    CLAUDE
        .check(
            &cases,
            used(2),
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
                network: allow | fetch http://127.0.0.1:9/docs/ | not done
                network: deny | fetch http://127.0.0.1:9/docs/ | denied
                network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9/docs/ | not done
                network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9/ | denied
                network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9/docs/../ | denied
                network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9@localhost:9/docs/ | denied
                network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9.example.com/docs/ | not done
                network: prompt, allowed | fetch http://127.0.0.1:9/docs/ | not done
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
            "#]],
        )
        .await;
}

#[tokio::test]
#[ignore = "needs npm"]
async fn codex_acp_asks_before_it_writes_and_has_no_network() {
    let denied = rules::NETWORK_COMMANDS.iter().filter(|(_, rule, ..)| *rule == "deny");
    let cases: Vec<Case> = rules::WRITES.iter().chain(denied).copied().collect();
    CODEX
        .check(
            &cases,
            used(2),
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
                network: deny | curl -sS -o made {url} | not done
                network: deny | sh -c 'curl -sS -o made {url}' | not done
                network: deny | echo tides && curl -sS -o made {url} | not done
            "#]],
        )
        .await;
}

#[tokio::test]
#[ignore = "needs npm"]
async fn gemini_asks_before_it_writes() {
    let cases = [rules::WRITES, rules::WRITING_COMMANDS].concat();
    GEMINI
        .check(
            &cases,
            used(2),
            expect![[r#"
        write: allow | write docs/made | done
        write: deny | write docs/made | denied
        write: docs/ | write docs/made | done
        write: docs/ | write made | denied
        write: docs/ | write docs/../made | denied
        write: docs/ | write docs/link/made | denied
        write: docs/ | write ../made | not done
        write: prompt, allowed | write docs/made | done
        write: prompt, denied | write docs/made | denied
        write: prompt | write docs/made | stopped
        write: docs/ | echo tides > made | denied
    "#]],
        )
        .await;
}

#[tokio::test]
#[ignore = "needs npm"]
async fn qwen_asks_before_it_writes() {
    let cases = [rules::WRITES, rules::WRITING_COMMANDS].concat();
    QWEN.check(
        &cases,
        used(2),
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
        write: docs/ | echo tides > made | denied
    "#]],
    )
    .await;
}

#[tokio::test]
#[ignore = "needs npm"]
async fn opencode_asks_before_it_writes_runs_and_fetches_anything() {
    let cases =
        [rules::WRITES, rules::COMMANDS, rules::WRITING_COMMANDS, rules::PAGES, rules::NETWORK_COMMANDS]
            .concat();
    // A rule about reading is none that it holds.
    let cases: Vec<Case> = cases.into_iter().filter(|(about, ..)| *about != "read").collect();
    OPENCODE
        .check(
            &cases,
            used(2),
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
    "#]],
        )
        .await;
}

/// A provider turns an agent away after its first tool call, once or until the agent gives up, and the session continues without a second call.
async fn waits(agent: &Agent) {
    let project = AgentProject::new(|root| {
        let (tool, arguments) =
            (agent.model.call)(Wanted::Write(root.join("tides.md").display().to_string()));
        let mut fixtures = calls_tool("Look into tides", tool, arguments, "done").to_vec();
        // For what an agent asks besides, such as for a title.
        fixtures.push(json!({ "match": {}, "response": { "content": "Tides" } }));
        fixtures
    });
    let proxy = FaultProxy::start(&project.provider.address, |number| {
        (number == 2).then_some(Fault::RetryAfter(429, 1))
    });
    let harness = agent.harness(&project, &proxy.address());
    let write = Permission { about: "write".into(), rule: PermissionRule::Allow };
    let (reporter, mut reports) = Reports::new(None);
    let said =
        reply(&harness, SessionTask { permissions: vec![write], ..task("Look into tides") }, &reporter);
    let said = said.await.unwrap_or_else(|failure| panic!("{}: {}", agent.name, failure.message));
    harness.settled().await;

    assert_eq!(&*said.text, "done", "{}", agent.name);
    let reports = reports.take();
    let tools: BTreeSet<_> = reports
        .iter()
        .filter_map(|it| match it {
            Activity::Tool(tool) if tool.status == ToolStatus::Completed => Some(tool.id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(tools.len(), 1, "{}: {reports:#?}", agent.name);
    let sessions: BTreeSet<_> = reports
        .iter()
        .filter_map(|it| match it {
            Activity::Agent(session) => Some(session.id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(sessions.len(), 1, "{}: {reports:#?}", agent.name);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn sessions_that_have_used_a_tool_wait_for_their_provider_and_continue() {
    for agent in [CLAUDE, CODEX, GEMINI, OPENCODE, QWEN] {
        waits(&agent).await;
    }
}

/// A prompt that begins with the name of a command of the agent.
async fn is_no_command(agent: &Agent, prompt: &str) {
    let project = AgentProject::new(|_| vec![replies("waves", "done")]);
    let harness = agent.harness(&project, &project.provider.address);
    let said = reply(&harness, task(prompt), &Reporter::silent()).await;
    harness.settled().await;
    assert_eq!(said.map(|said| said.text.to_string()), Ok("done".to_owned()), "{}: {prompt}", agent.name);
    let asked = project.provider.requests(agent.model.requests);
    assert!(asked.iter().any(|request| request.to_string().contains(prompt)), "{}: {prompt}", agent.name);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn values_are_no_commands_of_an_agent() {
    is_no_command(&CLAUDE, "/compact waves").await;
    is_no_command(&CODEX, "/status waves").await;
    is_no_command(&CODEX, "  /logout waves").await;
    is_no_command(&GEMINI, "/memory waves").await;
    is_no_command(&OPENCODE, "/compact waves").await;
    is_no_command(&QWEN, "/init waves").await;
}

#[tokio::test]
#[ignore = "needs npm"]
async fn values_name_no_files() {
    let project = AgentProject::new(|_| vec![replies("secret.md", "done")]);
    fs::write(project.root().join("secret.md"), "the treasure is buried").unwrap();
    let harness = CLAUDE.harness(&project, &project.provider.address);
    let deny = Permission { about: "read".into(), rule: PermissionRule::Deny };
    let asking = SessionTask { permissions: vec![deny], ..task("Look at @secret.md") };
    assert_eq!(&*reply(&harness, asking, &Reporter::silent()).await.unwrap().text, "done");
    harness.settled().await;
    let asked = project.provider.requests(CLAUDE.model.requests);
    assert!(!asked.is_empty() && !json!(asked).to_string().contains("the treasure is buried"));
}

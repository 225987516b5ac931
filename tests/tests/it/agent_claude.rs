//! The real Claude Code as harness, with a server on this machine in the place of its provider.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use prose_harness::command::{Agent, Argument, CommandSettings};
use prose_harness::registry::{HarnessSettings, harness};
use prose_tests::repository;
use prose_vm::activity::Reporter;
use prose_vm::effect::{
    Binding, BindingKind, Effect, Permission, PermissionRule, Question, Request, RequestId, SessionTask,
};
use prose_vm::harness::{Harness, RunFolders};
use prose_vm::place::{Place, Site};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What the agent is told about its output (R30).
const OUTPUT: &str =
    "When you complete this task, write your output to:\n  .prose/runs/r/bindings/research.md";

const WRITTEN: &str = "# research\n\nkind: let\n\n---\n\nTides come and go.\n";

#[tokio::test]
#[ignore = "needs npm"]
async fn r030_claude_writes_the_binding_file() {
    let project = Project::new("Look into tides");
    let reply = project.session(task(&format!("Look into tides\n\n{OUTPUT}"))).await;

    assert_eq!(&*reply.text, "Binding written: research");
    assert_eq!(reply.warnings, Vec::<String>::new());
    assert!(reply.usage.is_some());
    assert_eq!(fs::read_to_string(project.binding()).unwrap(), WRITTEN);
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

    let asked = project.provider.requests();
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

    assert_eq!(&*reply.text, "Binding written: research", "the model claims so");
    assert!(!project.binding().exists());
    let asked = project.provider.requests();
    let tools = asked.last().unwrap()["body"]["tools"].as_array().unwrap();
    let mut tools: Vec<_> = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    tools.sort_unstable();
    assert_eq!(tools, ["Glob", "Grep", "Read", "WebFetch", "WebSearch"]);
}

#[tokio::test]
#[ignore = "needs npm"]
async fn r064_claude_judges_a_condition() {
    let project = Project::new("no session in this test");
    let question = Arc::new(Question {
        text: "the tide is out".into(),
        labels: Vec::new(),
        context: Vec::new(),
        of_loop: None,
    });
    let verdict = project
        .harness()
        .judge(&request(Effect::Judge(question.clone())), &question, &Reporter::silent())
        .await
        .unwrap();
    assert!(verdict.met);
    assert_eq!(verdict.reason, "the sand is dry");
}

/// A project in which an agent works, and the provider that the agent asks.
struct Project {
    folder: TempDir,
    provider: Provider,
}

impl Project {
    /// The provider has the agent write the binding when it is asked about `task`.
    fn new(task: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("project/.prose/runs/r/bindings")).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        let binding = folder.path().join("project/.prose/runs/r/bindings/research.md");
        let write = json!({ "name": "Write", "arguments": { "file_path": binding, "content": WRITTEN } });
        let verdict = "VERDICT: yes\nREASON: the sand is dry";
        let fixtures = json!({ "fixtures": [
            {
                "match": { "userMessage": task, "hasToolResult": false },
                "response": { "toolCalls": [write] },
            },
            {
                "match": { "userMessage": task, "hasToolResult": true },
                "response": { "content": "Binding written: research" },
            },
            { "match": { "userMessage": "the tide is out" }, "response": { "content": verdict } },
        ] });
        let file = folder.path().join("fixtures.json");
        fs::write(&file, fixtures.to_string()).unwrap();
        let provider = Provider::start(&file);
        Self { folder, provider }
    }

    fn binding(&self) -> PathBuf {
        self.folder.path().join("project/.prose/runs/r/bindings/research.md")
    }

    /// Claude Code, as its preset starts it, but with a home folder and a provider of its own.
    fn harness(&self) -> Arc<dyn Harness> {
        let preset = Agent::Claude.settings();
        let home = self.folder.path().join("home");
        let mut arguments = vec![
            format!("HOME={}", home.display()),
            format!("ANTHROPIC_BASE_URL={}", self.provider.address),
            "ANTHROPIC_API_KEY=none".to_owned(),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1".to_owned(),
            "node".to_owned(),
        ];
        let wrapper = packages().join("node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs");
        arguments.push(wrapper.display().to_string());
        let arguments = arguments.into_iter().map(Argument::One).chain(preset.arguments).collect();
        // Nothing of the person who runs the tests.
        let own = CommandSettings { program: "env".to_owned(), arguments, variables: Vec::new(), ..preset };
        let root = self.folder.path().join("project");
        let mut settings = HarnessSettings::new(RunFolders { run: Some(root.join(".prose/runs/r")), root });
        settings.commands.insert("claude".to_owned(), own);
        harness("claude", &settings).unwrap()
    }

    async fn session(&self, task: SessionTask) -> prose_vm::effect::Reply {
        let task = Arc::new(task);
        let reply =
            self.harness().session(&request(Effect::Session(task.clone())), &task, &Reporter::silent()).await;
        reply.unwrap_or_else(|failure| panic!("{}", failure.message))
    }
}

fn task(prompt: &str) -> SessionTask {
    SessionTask {
        agent: None,
        task: prompt.into(),
        prompt: prompt.into(),
        system: None,
        model: None,
        skills: Vec::new(),
        permissions: Vec::new(),
        timeout: None,
        attempt: 0,
        retries: 0,
        context: Vec::new(),
        binding: Binding {
            name: "research".into(),
            kind: BindingKind::Let,
            frame: 0,
            path: "bindings/research.md".into(),
            source: "let research = session \"Look into tides\"".into(),
        },
        memory: None,
        mark: None,
    }
}

fn request(effect: Effect) -> Request {
    let site = Site { program: 0, start: 0, end: 0, line: 1, last_line: 1 };
    Request { id: RequestId(1), place: Place::root().step("s0"), site, effect }
}

/// A server that plays the provider of an agent. It ends with the test.
struct Provider {
    server: Child,
    address: String,
}

impl Provider {
    fn start(fixtures: &Path) -> Self {
        let mut server = Command::new("node")
            .arg(packages().join("node_modules/@copilotkit/aimock/dist/cli.js"))
            .args(["--port", "0", "--host", "127.0.0.1", "--fixtures"])
            .arg(fixtures)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        let address = loop {
            let start = said.len();
            assert_ne!(output.read_line(&mut said).unwrap(), 0, "the server has ended: {said}");
            if let Some((_, address)) = said[start..].split_once("listening on ") {
                break address.trim().to_owned();
            }
        };
        // It would wait for somebody to read what it says of each request.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Self { server, address }
    }

    /// What it has been asked by the agent.
    fn requests(&self) -> Vec<Value> {
        let mut stream = TcpStream::connect(self.address.trim_start_matches("http://")).unwrap();
        stream.write_all(b"GET /__aimock/journal HTTP/1.0\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let mut requests: Vec<Value> = serde_json::from_str(body).unwrap();
        requests
            .retain(|request| request["path"].as_str().is_some_and(|path| path.starts_with("/v1/messages")));
        requests
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The folder with the packages of `tests/agents`, installed by whichever test comes first.
fn packages() -> PathBuf {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents");
    let lock_file = fs::read(repository().join("tests/agents/package-lock.json")).unwrap();
    let installed = folder.join("installed");
    if fs::read(&installed).ok().as_deref() != Some(&lock_file) {
        fs::create_dir_all(&folder).unwrap();
        for file in ["package.json", "package-lock.json", ".npmrc"] {
            fs::copy(repository().join("tests/agents").join(file), folder.join(file)).unwrap();
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&folder);
        let output = npm.output().unwrap_or_else(|error| panic!("npm does not start: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::write(&installed, lock_file).unwrap();
    }
    folder
}

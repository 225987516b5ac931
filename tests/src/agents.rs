//! Real agents and a server on this machine in the place of their providers.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prose_vm::activity::{
    Activity, AnswerFuture, AnswerSource, Approvals, PermissionAnswer, PermissionQuestion, Reporter, Work,
};
use prose_vm::effect::{
    Binding, BindingKind, Effect, Failure, Outcome, Question, Reply, Request, RequestId, SessionTask, Verdict,
};
use prose_vm::harness::Harness;
use prose_vm::place::{Place, Site};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::repository;

/// The content of the binding file of [`task`], as a model in a test writes it.
pub const WRITTEN: &str = "# research\n\nkind: let\n\n---\n\nTides come and go.\n";

/// A project in which an agent works, a home folder without anything of the user, and the provider that the agent asks.
#[derive(Debug)]
pub struct AgentProject {
    folder: TempDir,
    /// The server in the place of the agent's provider.
    pub provider: Provider,
}

impl AgentProject {
    /// A project whose provider answers with the fixtures of aimock. The fixtures may depend on the folder of the project.
    pub fn new(fixtures: impl FnOnce(&Path) -> Vec<Value>) -> Self {
        let folder = prose_fixture::tempdir().expect("a temporary folder can be created");
        let root = folder.path().join("project");
        for created in [root.join(".prose/runs/r/bindings"), folder.path().join("home")] {
            fs::create_dir_all(created).expect("the folder is new");
        }
        let file = folder.path().join("fixtures.json");
        fs::write(&file, json!({ "fixtures": fixtures(&root) }).to_string()).expect("the folder is new");
        let provider = Provider::start(&file);
        Self { folder, provider }
    }

    /// The folder in which the agent works.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The home folder of the agent.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A program that starts the agent with the home folder and without anything else of the user, and notes each start. `command` is in the language of `sh`.
    #[cfg(unix)]
    pub fn program(&self, name: &str, command: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;

        let home = self.home();
        let program = home.join("bin").join(name);
        fs::create_dir_all(home.join("bin")).expect("the folder is writable");
        let home = home.display();
        let script = format!("#!/bin/sh\necho $$ >> {home}/started\nexport HOME={home}\n{command} \"$@\"\n");
        fs::write(&program, script).expect("the folder is writable");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("the file is there");
        program
    }

    /// The processes of the programs that were started, in this order.
    pub fn started(&self) -> Vec<i32> {
        let started = fs::read_to_string(self.home().join("started")).unwrap_or_default();
        started.lines().map(|line| line.parse().expect("lines are numbers")).collect()
    }

    /// The running processes that have the home folder of this project.
    #[cfg(target_os = "linux")]
    pub fn processes(&self) -> Vec<i32> {
        let home = format!("HOME={}", self.home().display());
        let entries = fs::read_dir("/proc").expect("it can be read").flatten();
        let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_of_project = |process: &i32| {
            // The variables of a process that has ended are empty.
            let variables = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            variables.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes())
        };
        processes.filter(is_of_project).collect()
    }

    /// The binding file of [`task`].
    pub fn binding(&self) -> PathBuf {
        binding(&self.root())
    }
}

/// A program whose agent continues with what it knows.
const CAPTAIN: &str = r#"
agent captain:
  persist: true
  prompt: "You are the captain."
  permissions:
    write: deny
session: captain
  prompt: "Plan the voyage"
resume: captain
  prompt: "Set the course"
"#;

/// The answers of the model to the sessions of [`AgentProject::resume_captain`].
pub fn replies_of_captain() -> Vec<Value> {
    vec![replies("Set the course", "Forty degrees"), replies("Plan the voyage", "We sail at dawn")]
}

impl AgentProject {
    /// Runs a program in which an agent is resumed, and stops it between its two sessions, where `between` happens. Returns what the model was told in
    /// the second one, without the system part, the log of that session, and the input tokens of both sessions.
    #[cfg(unix)]
    pub fn resume_captain(
        &self,
        prose: &dyn Fn(&[&str]) -> Command,
        requests: &str,
        harness: &str,
        between: impl FnOnce(&Path),
    ) -> (Vec<String>, String, Vec<u64>) {
        fs::write(self.root().join("main.prose"), CAPTAIN).expect("it is writable");
        let run = |arguments: &[&str], status| {
            let output = prose(arguments).stdin(Stdio::null()).output().expect("prose is built");
            assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run(&["run", "main.prose", "--trust", "--harness", harness, "--max-sessions", "1"], 3);
        between(&self.home());
        run(&["resume", "--max-sessions", "9"], 0);

        let asked = self
            .provider
            .requests(requests)
            .into_iter()
            .map(|mut request| request["body"]["messages"].take());
        let is_asked = |text: &str| text.contains("Set the course");
        let asked: Vec<Value> = asked.filter(|messages| is_asked(&messages.to_string())).collect();
        let [messages] = &asked[..] else { panic!("the model was asked {} times", asked.len()) };
        let messages = messages.as_array().expect("they are a list").iter();
        let told = messages.filter(|message| matches!(message["role"].as_str(), Some("user" | "assistant")));
        let told = told.map(|message| message["content"].to_string()).collect();
        let mut runs = fs::read_dir(self.root().join(".prose/runs")).expect("there are runs").flatten();
        let log = runs.find_map(|run| {
            fs::read_dir(run.path().join("agents")).ok()?.flatten().find_map(|file| {
                let text = fs::read_to_string(file.path()).ok()?;
                text.contains("Forty degrees").then_some(text)
            })
        });
        let events = self.events();
        let tokens = events.iter().filter_map(|event| event["work"]["usage"]["input_tokens"].as_u64());
        (told, log.expect("there is a log of the session"), tokens.collect())
    }

    /// The events of the run of this project.
    pub fn events(&self) -> Vec<Value> {
        let mut runs = fs::read_dir(self.root().join(".prose/runs")).expect("there are runs").flatten();
        let journal = runs.find_map(|run| fs::read_to_string(run.path().join("journal.jsonl")).ok());
        let journal = journal.expect("there is a journal");
        journal.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// How often a text occurs in texts.
pub fn occurrences(texts: &[String], text: &str) -> usize {
    texts.iter().map(|other| other.matches(text).count()).sum()
}

/// The binding file of [`task`] in a project.
pub fn binding(root: &Path) -> PathBuf {
    root.join(".prose/runs/r/bindings/research.md")
}

/// Whether a process runs.
pub fn is_running(process: i32) -> bool {
    // A process that has ended and that nobody has waited for is not running.
    let state = Command::new("ps").args(["-o", "stat=", "-p", &process.to_string()]).output();
    let state = state.expect("ps is installed").stdout;
    !state.trim_ascii().is_empty() && !state.starts_with(b"Z")
}

/// The fixture for a model that replies slowly when it is asked about `task`.
pub fn replies_slowly(task: &str) -> Value {
    json!({ "match": { "userMessage": task }, "response": { "content": "wave ".repeat(500) }, "latency": 200 })
}

/// The fixtures for a model that calls a tool when it is asked about `task`, and then replies.
pub fn calls_tool(task: &str, tool: &str, arguments: Value, reply: &str) -> [Value; 2] {
    calls_tools(task, &[(tool, arguments)], reply)
}

/// The fixtures for a model that calls several tools at once when it is asked about `task`, and then replies.
pub fn calls_tools(task: &str, tools: &[(&str, Value)], reply: &str) -> [Value; 2] {
    let calls = tools.iter().map(|(name, arguments)| json!({ "name": name, "arguments": arguments }));
    let calls: Vec<_> = calls.collect();
    [
        json!({
            "match": { "userMessage": task, "hasToolResult": false },
            "response": { "toolCalls": calls, "usage": USAGE.to_json() },
        }),
        json!({
            "match": { "userMessage": task, "hasToolResult": true },
            "response": { "content": reply, "usage": USAGE.to_json() },
        }),
    ]
}

/// The fixture for a model that replies when it is asked about `task`.
pub fn replies(task: &str, reply: &str) -> Value {
    json!({ "match": { "userMessage": task }, "response": { "content": reply, "usage": USAGE.to_json() } })
}

/// The tokens that the provider reports for each of these answers.
pub const USAGE: MockUsage = MockUsage { input: 1_000, output: 20 };

/// The tokens that the provider reports for an answer.
#[derive(Debug, Clone, Copy)]
pub struct MockUsage {
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
}

impl MockUsage {
    fn to_json(self) -> Value {
        let Self { input, output } = self;
        json!({
            "input_tokens": input,
            "prompt_tokens": input,
            "output_tokens": output,
            "completion_tokens": output,
            "total_tokens": input + output,
        })
    }
}

/// What a harness reports for a request.
#[derive(Debug)]
pub struct Reports(UnboundedReceiver<(RequestId, Activity)>);

impl Reports {
    /// A reporter and its reports. `answer` is that of the user to all questions; `None`: no one is there.
    pub fn new(answer: Option<bool>) -> (Reporter, Self) {
        let (sink, reports) = mpsc::unbounded_channel();
        (Reporter::new(RequestId(1), sink, Arc::new(User(answer))), Self(reports))
    }

    /// What was reported since the last call.
    pub fn take(&mut self) -> Vec<Activity> {
        std::iter::from_fn(|| self.0.try_recv().ok()).map(|(_, activity)| activity).collect()
    }

    /// Waits for a report.
    pub async fn until(&mut self, is: impl Fn(&Activity) -> bool) -> Activity {
        loop {
            let (_, activity) = self.0.recv().await.expect("the request is at work");
            if is(&activity) {
                return activity;
            }
        }
    }
}

/// What is recorded of reports.
pub fn recorded(reports: &[Activity]) -> Work {
    let mut work = Work::default();
    reports.iter().for_each(|activity| work.add(activity, 0));
    work
}

struct User(Option<bool>);

impl Approvals for User {
    fn ask<'a>(&'a self, _: &'a PermissionQuestion) -> AnswerFuture<'a> {
        let answer = |is_allowed| PermissionAnswer::once(is_allowed, AnswerSource::Terminal, None);
        Box::pin(std::future::ready(self.0.map_or_else(PermissionAnswer::of_no_one, answer)))
    }
}

/// Waits until something has happened.
pub fn wait_until(what: &str, happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(600), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The same in the midst of other work.
pub async fn until(happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(600), "it does not happen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A session that is bound to `research`.
pub fn task(prompt: &str) -> SessionTask {
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
        writes_result: false,
        folder: None,
        stopped: None,
    }
}

/// The reply of a harness to a session.
pub async fn reply(harness: &dyn Harness, task: SessionTask, reporter: &Reporter) -> Result<Reply, Failure> {
    match harness.perform(&request(Effect::Session(Arc::new(task))), reporter).await? {
        Outcome::Reply(reply) => Ok(reply),
        other => panic!("a session has {other:?}"),
    }
}

/// The verdict of a harness on a condition without context.
pub async fn judge(harness: &dyn Harness, condition: &str) -> Verdict {
    let question =
        Question { text: condition.into(), labels: Vec::new(), context: Vec::new(), of_loop: None };
    match harness.perform(&request(Effect::Judge(Arc::new(question))), &Reporter::silent()).await {
        Ok(Outcome::Verdict(verdict)) => verdict,
        other => panic!("{}: {other:?}", harness.name()),
    }
}

/// A request at the start of a program.
pub fn request(effect: Effect) -> Request {
    let site = Site { program: 0, start: 0, end: 0, line: 1, last_line: 1 };
    Request { id: RequestId(1), place: Place::root().step("s0"), site, program: None, effect }
}

/// A server in the place of an agent's provider. It ends with the test.
#[derive(Debug)]
pub struct Provider {
    server: Child,
    /// Its address, with `http://`.
    pub address: String,
}

impl Provider {
    /// Starts a server with the fixtures in a file.
    pub fn start(fixtures: &Path) -> Self {
        let mut server = Command::new("node")
            .arg(packages().join("node_modules/@copilotkit/aimock/dist/cli.js"))
            .args(["--port", "0", "--host", "127.0.0.1", "--fixtures"])
            .arg(fixtures)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node is installed");
        let mut said = String::new();
        let mut output = BufReader::new(server.stdout.take().expect("it is piped"));
        let address = loop {
            let start = said.len();
            let read = output.read_line(&mut said).expect("its output is text");
            assert_ne!(read, 0, "the server has exited: {said}");
            if let Some((_, address)) = said[start..].split_once("listening on ") {
                break address.trim().to_owned();
            }
        };
        // It blocks when its output is not read.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Self { server, address }
    }

    /// The requests of the agent to paths that start with `path`, such as `/v1/messages`.
    pub fn requests(&self, path: &str) -> Vec<Value> {
        let address = self.address.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("the server runs");
        stream
            .write_all(b"GET /__aimock/journal HTTP/1.0\r\nConnection: close\r\n\r\n")
            .expect("the server runs");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server runs");
        let (_, body) = answer.split_once("\r\n\r\n").expect("the answer is HTTP");
        let mut requests: Vec<Value> = serde_json::from_str(body).expect("the journal is JSON");
        requests.retain(|request| request["path"].as_str().is_some_and(|found| found.starts_with(path)));
        requests
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The folder with the packages of `tests/agents`. The first test that needs them installs them.
pub fn packages() -> PathBuf {
    installed("agents")
}

/// The folder with the packages of `tests/acp-agents`. The first test that needs them installs them.
pub fn acp_packages() -> PathBuf {
    installed("acp-agents")
}

fn installed(name: &str) -> PathBuf {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let test = std::env::current_exe().expect("a running test has a path");
    let target = test.ancestors().nth(3).expect("tests are in `target/<profile>/deps`");
    let folder = target.join("tmp").join(name);
    let packages = repository().join("tests").join(name);
    let lock_file = fs::read(packages.join("package-lock.json")).expect("it is in the repository");
    let installed = folder.join("installed");
    if fs::read(&installed).ok().as_deref() != Some(&lock_file) {
        fs::create_dir_all(&folder).expect("the target folder is writable");
        for file in ["package.json", "package-lock.json", ".npmrc"] {
            fs::copy(packages.join(file), folder.join(file)).expect("it is in the repository");
        }
        let mut npm = Command::new("npm");
        // `npm ci` rejects the lock file, which lists no packages for systems that the registry has none for.
        npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]);
        npm.current_dir(&folder);
        let output = npm.output().unwrap_or_else(|error| panic!("npm does not start: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::write(&installed, lock_file).expect("the target folder is writable");
    }
    folder
}

/// The program of Claude Code for this system.
pub fn claude_program() -> PathBuf {
    let folder = packages().join("node_modules/@anthropic-ai");
    let native = |entry: fs::DirEntry| {
        let program = entry.path().join("claude");
        program.is_file().then_some(program)
    };
    let found = fs::read_dir(folder).expect("the packages are installed").flatten().find_map(native);
    found.expect("npm installs the program for this system")
}

/// The program of OpenCode for this system. The package itself has it only after a script that is not run.
pub fn opencode_program() -> PathBuf {
    let packages = fs::read_dir(packages().join("node_modules")).expect("the packages are installed");
    let is_opencode = |package: &PathBuf| {
        package.file_name().is_some_and(|name| name.to_string_lossy().starts_with("opencode-"))
    };
    let packages = packages.map(|package| package.expect("the folder can be read").path());
    let programs = packages.filter(is_opencode).map(|package| package.join("bin/opencode"));
    // That for older processors comes last.
    programs.filter(|program| program.is_file()).max().expect("there is one for this system")
}

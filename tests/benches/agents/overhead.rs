//! The time of a session over that of a bare call of the same server, in one run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use prose_tests::agents::AgentProject;
use prose_tests::drivers::Driver;
use serde_json::{Value, json};

use crate::bare::{Http, Lines};
use crate::median;
use crate::mock::{Mock, command, project, run, time};

const ROUNDS: usize = 5;

pub(crate) fn measure() {
    println!("| a session | bare call | with `prose` | over it |");
    println!("|---|--:|--:|--:|");
    let providers = [
        ("provider, Anthropic", "/v1/messages"),
        ("provider, OpenAI", "/v1/chat/completions"),
        ("provider, Gemini", "/v1beta/models/m:streamGenerateContent?alt=sse"),
    ];
    for (title, path) in providers {
        compare(title, 200, |mock, _, calls| {
            let body = mock.asked().last().unwrap().body.clone();
            let mut http = Http::connect(mock.url());
            http.post(path, &body);
            timed(calls, || _ = http.post(path, &body))
        });
    }
    compare("codex", 20, |mock, project, calls| {
        let sent = Sent::by_prose(mock, project);
        let mut codex = Lines::start(agent(project, "codex").args(&sent.arguments), false);
        codex.call("initialize", sent.params("initialize"));
        codex.send(json!({ "method": "initialized" }));
        let (thread_params, turn_params) = (sent.params("thread/start"), sent.params("turn/start"));
        let mut session = || {
            let thread = codex.call("thread/start", thread_params.clone());
            let mut turn = turn_params.clone();
            turn["threadId"] = thread["thread"]["id"].clone();
            codex.call("turn/start", turn);
            codex.until(|message| message["method"] == "turn/completed");
        };
        session();
        timed(calls, session)
    });
    compare("opencode-acp", 10, |_, project, calls| {
        let mut agent = Lines::start(agent(project, "opencode").arg("acp"), true);
        agent.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        let mut session = || {
            let new = agent.call("session/new", json!({ "cwd": project.root(), "mcpServers": [] }));
            let prompt = json!([{ "type": "text", "text": "Count the waves" }]);
            agent.call("session/prompt", json!({ "sessionId": new["sessionId"], "prompt": prompt }));
        };
        session();
        timed(calls, session)
    });
}

/// What `prose` sends to Codex for one session. A bare call sends the same: the settings of a thread have a cost in Codex itself.
struct Sent {
    arguments: Vec<String>,
    messages: Vec<Value>,
}

impl Sent {
    fn by_prose(mock: &Mock, project: &AgentProject) -> Self {
        let mut command = command(Driver::named("codex"), project, mock, "session \"Count the waves\"\n");
        let bin = project.home().join("bin");
        let (codex, real) = (bin.join("codex"), bin.join("codex-itself"));
        fs::rename(&codex, &real).unwrap();
        let (arguments, messages) = (bin.join("arguments"), bin.join("messages"));
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" > {}\ntee {} | {} \"$@\"\n",
            arguments.display(),
            messages.display(),
            real.display()
        );
        fs::write(&codex, script).unwrap();
        fs::set_permissions(&codex, fs::Permissions::from_mode(0o755)).unwrap();
        time(&mut command);
        fs::rename(&real, &codex).unwrap();
        let messages = fs::read_to_string(messages).unwrap();
        Self {
            arguments: fs::read_to_string(arguments).unwrap().lines().map(str::to_owned).collect(),
            messages: messages.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        }
    }

    fn params(&self, method: &str) -> Value {
        let message = self.messages.iter().find(|message| message["method"] == method);
        message.unwrap_or_else(|| panic!("`{method}` is sent"))["params"].clone()
    }
}

/// Compares sessions with bare calls, which a function makes and times, in turn.
fn compare(title: &str, sessions: usize, bare: impl Fn(&Mock, &AgentProject, usize) -> f64) {
    let driver = Driver::named(title);
    let (mock, project) = (Mock::answering("Tides come and go.", Duration::ZERO), project());
    let program = |sessions: usize| format!("repeat {sessions}:\n  session \"Count the waves\"\n");
    run(driver, &project, &mock, &program(1), &[]);
    let (mut bares, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bares.push(bare(&mock, &project, sessions) / sessions as f64 * 1000.0);
        // The start of `prose` and of the agent is in both.
        let few = run(driver, &project, &mock, &program(1), &[]);
        let all = run(driver, &project, &mock, &program(sessions + 1), &[]);
        ours.push((all - few) / sessions as f64 * 1000.0);
    }
    let over = median(bares.iter().zip(&ours).map(|(bare, ours)| ours - bare).collect());
    println!("| {title} | {:.2} ms | {:.2} ms | {over:.2} ms |", median(bares), median(ours));
}

fn timed(times: usize, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..times).for_each(|_| call());
    start.elapsed().as_secs_f64()
}

/// The agent of a project as `prose` starts it.
fn agent(project: &AgentProject, name: &str) -> Command {
    let mut command = Command::new(project.home().join("bin").join(name));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("OPENAI_API_KEY", "none");
    command.env("HOME", project.home()).current_dir(project.root());
    command
}

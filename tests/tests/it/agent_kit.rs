//! The kits for coding agents, with the real agents and a server on this machine in the place of their providers: an agent writes a wrong program, receives the
//! diagnostics, repairs the program, runs it, and answers its question.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use prose_tests::agents::AgentProject;
use prose_tests::drivers::Driver;
use prose_tests::namespaces::NamespaceProxy;
use prose_tests::{prose_binary, repository};
use serde_json::{Value, json};

const WRONG: &str = r#"let facts = sesion "List facts"
input topic: "What is it about?"
output article = session "Write about {topic}"
  context: facts
"#;

/// What the model says at the end.
const LAST: &str = "The article is written.";

#[test]
#[ignore = "needs npm"]
fn claude_uses_the_kit() {
    let session = Session::new(&CLAUDE);
    session.init();
    let transcript = session.work();
    let hooks = hooks(&transcript);
    assert_eq!(hooks.len(), 2, "{transcript}");
    assert!(hooks[0].contains("tides.prose:1:13: error[E107]: unknown keyword `sesion`"), "{hooks:?}");
    assert_eq!(hooks[1], "", "the repaired program is clean");
    assert_commands(&transcript);
}

#[test]
#[ignore = "needs npm"]
fn claude_uses_the_plugin() {
    let session = Session::new(&PLUGIN);
    let transcript = session.work();
    let hooks = hooks(&transcript);
    assert_eq!(hooks.len(), 2, "{transcript}");
    assert!(hooks[0].contains("tides.prose:1:13: error[E107]: unknown keyword `sesion`"), "{hooks:?}");
    assert_eq!(hooks[1], "", "the repaired program is clean");
    assert_commands(&transcript);
}

/// With the server of the plugin, Claude Code has a tool that asks language servers.
#[test]
#[ignore = "needs npm"]
fn claude_asks_the_language_server_of_the_plugin() {
    let session = Session::with(&PLUGIN, |root| {
        let file = root.join("tides.prose");
        let (write, program) =
            (PLUGIN.write)(&file, "agent writer:\n  model: opus\n\nsession: writer\n  prompt: \"Tides\"\n");
        let place = json!({ "operation": "goToDefinition", "filePath": file, "line": 4, "character": 12 });
        vec![(write.to_owned(), program), ("LSP".to_owned(), place)]
    });
    let output = session.agent().args((PLUGIN.arguments)()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let results = session.results();
    let [_, definition] = &results[..] else { panic!("{results:#?}") };
    assert!(definition.contains("tides.prose:1:7"), "{definition}");
}

#[test]
#[ignore = "needs npm"]
fn codex_uses_the_kit() {
    let session = Session::new(&CODEX);
    session.init();
    session.work();
    session.assert_skill_is_listed();
}

#[test]
#[ignore = "needs npm"]
fn gemini_uses_the_kit() {
    let session = Session::new(&GEMINI);
    session.init();
    session.work();
    session.assert_written_is_checked();
    session.assert_skill_is_listed();
}

#[test]
#[ignore = "needs npm"]
fn gemini_uses_the_extension() {
    let session = Session::new(&GEMINI);
    let extension = repository().join("editors/agents/gemini-cli");
    let mut install = session.agent();
    install.args(["extensions", "install", "--consent"]).arg(extension);
    let output = install.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    session.work();
    session.assert_written_is_checked();
    session.assert_skill_is_listed();
}

#[test]
#[ignore = "needs npm"]
fn opencode_uses_the_kit() {
    let session = Session::new(&OPENCODE);
    session.init();
    session.work();
    session.assert_written_is_checked();
    session.assert_skill_is_listed();
}

/// A skill is in the context of every conversation that uses it.
#[test]
fn a_skill_takes_less_than_4_000_tokens() {
    // Tokenizers make about one token of four bytes of English, and more of code.
    const MIN_BYTES_OF_A_TOKEN: usize = 2;
    for kit in ["claude-code", "gemini-cli"] {
        let path = repository().join("editors/agents").join(kit).join("skills/openprose/SKILL.md");
        let skill = fs::read_to_string(&path).unwrap();
        assert!(skill.len() / MIN_BYTES_OF_A_TOKEN < 4_000, "{}: {} bytes", path.display(), skill.len());
    }
}

/// A coding agent with its kit.
struct Agent {
    /// Its name for `prose init`.
    name: &'static str,
    /// The path of the requests to its provider.
    requests: &'static str,
    arguments: fn() -> Vec<String>,
    /// Its name for a tool of the server.
    tool: fn(&str) -> String,
    /// The call that writes a file.
    write: fn(&Path, &str) -> (&'static str, Value),
    /// The call that replaces a part of a line.
    replace: fn(&Path, &str, &str) -> (&'static str, Value),
}

const CLAUDE: Agent = Agent {
    name: "claude",
    requests: "/v1/messages",
    arguments: || {
        let mut arguments = claude_arguments("mcp__prose");
        // A user is asked once about the servers of a project.
        arguments.extend(["--settings", r#"{"enableAllProjectMcpServers":true}"#].map(str::to_owned));
        arguments
    },
    tool: |name| format!("mcp__prose__{name}"),
    write: |path, text| ("Write", json!({ "file_path": path, "content": text })),
    replace: |path, old, new| ("Edit", json!({ "file_path": path, "old_string": old, "new_string": new })),
};

const PLUGIN: Agent = Agent {
    arguments: || {
        let mut arguments = claude_arguments("mcp__plugin_openprose_prose");
        let plugin = repository().join("editors/agents/claude-code");
        arguments.extend(["--plugin-dir".to_owned(), plugin.display().to_string()]);
        arguments
    },
    tool: |name| format!("mcp__plugin_openprose_prose__{name}"),
    ..CLAUDE
};

fn claude_arguments(server: &str) -> Vec<String> {
    let tools = format!("Write,Edit,LSP,{server}");
    let arguments = [
        "-p",
        TASK,
        "--output-format",
        "stream-json",
        "--verbose",
        "--include-hook-events",
        "--allowedTools",
    ];
    arguments.into_iter().map(str::to_owned).chain([tools]).collect()
}

const CODEX: Agent = Agent {
    name: "codex",
    requests: "/v1/responses",
    arguments: || {
        let arguments = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", TASK];
        arguments.map(str::to_owned).into()
    },
    tool: |name| format!("mcp__prose__{name}"),
    write: |path, text| {
        let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
        patch(&format!("*** Add File: {}\n{lines}", path.display()))
    },
    replace: |path, old, new| {
        let line = WRONG.lines().find(|line| line.contains(old)).unwrap();
        patch(&format!("*** Update File: {}\n@@\n-{line}\n+{}\n", path.display(), line.replace(old, new)))
    },
};

fn patch(changes: &str) -> (&'static str, Value) {
    let command = format!("apply_patch <<'EOF'\n*** Begin Patch\n{changes}*** End Patch\nEOF\n");
    ("exec_command", json!({ "cmd": command }))
}

const GEMINI: Agent = Agent {
    name: "gemini",
    requests: "/v1beta/models",
    arguments: || ["-p", TASK, "--approval-mode", "yolo"].map(str::to_owned).into(),
    tool: |name| format!("mcp_prose_{name}"),
    write: |path, text| ("write_file", json!({ "file_path": path, "content": text })),
    replace: |path, old, new| {
        let instruction = "Correct the keyword";
        (
            "replace",
            json!({ "file_path": path, "old_string": old, "new_string": new, "instruction": instruction }),
        )
    },
};

const OPENCODE: Agent = Agent {
    name: "opencode",
    requests: "/v1/chat/completions",
    // With a title, no model is asked for one.
    arguments: || ["run", "--title", "Tides", TASK].map(str::to_owned).into(),
    tool: |name| format!("prose_{name}"),
    write: |path, text| ("write", json!({ "filePath": path, "content": text })),
    replace: |path, old, new| ("edit", json!({ "filePath": path, "oldString": old, "newString": new })),
};

const TASK: &str = "Write a program about tides, and run it";

/// A project in which an agent works.
struct Session {
    agent: &'static Agent,
    project: AgentProject,
    proxy: Option<NamespaceProxy>,
}

impl Session {
    /// An agent whose model writes a wrong program, checks, repairs and runs it, and answers its question.
    fn new(agent: &'static Agent) -> Self {
        Self::with(agent, |root| {
            let file = root.join("tides.prose");
            let tool = |name: &str, input: Value| ((agent.tool)(name), input);
            let own = |(name, input): (&str, Value)| (name.to_owned(), input);
            vec![
                own((agent.write)(&file, WRONG)),
                tool("check", json!({ "path": "tides.prose" })),
                own((agent.replace)(&file, "sesion", "session")),
                tool("check", json!({ "path": "tides.prose" })),
                tool("run", json!({ "path": "tides.prose" })),
                // Ids of runs start with the year.
                tool("answer", json!({ "run": "2", "value": "tides" })),
            ]
        })
    }

    /// An agent whose model calls tools, one after the other.
    fn with(agent: &'static Agent, calls: impl FnOnce(&Path) -> Vec<(String, Value)>) -> Self {
        let project = AgentProject::new(|root| {
            let calls = calls(root);
            // Without a turn of its own, the last call would be repeated.
            let last = json!({ "match": { "turnIndex": calls.len() }, "response": { "content": LAST } });
            let calls = calls.into_iter().enumerate().map(|(turn, (name, input))| {
                let call = json!({ "id": format!("call_{turn}"), "name": name, "arguments": input });
                json!({ "match": { "turnIndex": turn }, "response": { "toolCalls": [call] } })
            });
            calls.chain([last]).collect()
        });
        project.program("prose", &prose_binary().display().to_string());
        let proxy = (agent.name == "codex").then(|| NamespaceProxy::start(&project.provider.address));
        fs::write(project.root().join("prose.toml"), "[mcp]\nrun = true\n").unwrap();
        let session = Self { agent, project, proxy };
        session.prose(&["trust"]);
        session
    }

    /// Installs the kit as a user does.
    fn init(&self) {
        self.prose(&["init", "--agents", self.agent.name]);
    }

    fn prose(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(self.project.home().join("bin/prose"));
        command.args(arguments).current_dir(self.project.root()).env_clear();
        command.env("HOME", self.project.home()).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The command that starts the agent.
    fn agent(&self) -> Command {
        let address = self.proxy.as_ref().map_or(&self.project.provider.address, |proxy| &proxy.address);
        let mut command = Driver::named(self.agent.name).agent(&self.project, address, "none");
        // A user is asked once whether the folder is trusted.
        command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
        if self.agent.name == "codex" {
            // It reads the settings of trusted projects only, and asks about that at a terminal.
            let settings = self.project.home().join(".codex/config.toml");
            let trust = format!("[projects.{:?}]\ntrust_level = \"trusted\"\n", self.project.root());
            fs::write(&settings, fs::read_to_string(&settings).unwrap() + &trust).unwrap();
        }
        command
    }

    /// Lets the agent work. Returns its output.
    fn work(&self) -> String {
        let output = self.agent().args((self.agent.arguments)()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let transcript = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{transcript}\n{stderr}");
        assert!(transcript.contains(LAST), "{transcript}\n{stderr}");

        let results = self.results();
        let [_, wrong, _, repaired, waiting, completed] = &results[..] else { panic!("{results:#?}") };
        assert!(wrong.contains("E107") && wrong.contains("unknown keyword `sesion`"), "{wrong}");
        assert!(repaired.contains("no errors") || repaired.contains("\"errors\":0"), "{repaired}");
        assert!(waiting.contains("waiting") && waiting.contains("What is it about?"), "{waiting}");
        assert!(completed.contains("completed") && completed.contains("article"), "{completed}");
        assert_eq!(run_id(waiting), run_id(completed), "it is the same run");
        let program = fs::read_to_string(self.project.root().join("tides.prose")).unwrap();
        assert_eq!(program, WRONG.replace("sesion", "session"));
        let runs = self.prose(&["runs", "list"]);
        assert!(runs.contains(&run_id(completed)) && runs.contains("completed"), "{runs}");
        transcript
    }

    /// What the tools returned to the model, in order.
    fn results(&self) -> Vec<String> {
        let requests = self.project.provider.requests(self.agent.requests);
        let messages = requests.last().expect("the model was asked")["body"]["messages"].clone();
        let messages = messages.as_array().expect("they are a list").clone();
        let results = messages.into_iter().filter(|message| message["role"] == "tool");
        results
            .map(|message| match &message["content"] {
                Value::String(text) => text.clone(),
                content => content.to_string(),
            })
            .collect()
    }

    /// The mistakes of a file are in the result of the call that writes it.
    fn assert_written_is_checked(&self) {
        let written = &self.results()[0];
        assert!(written.contains("unknown keyword `sesion`"), "{written}");
    }

    /// The agent tells the model that there is a skill.
    fn assert_skill_is_listed(&self) {
        let asked = json!(self.project.provider.requests(self.agent.requests)).to_string();
        assert!(asked.contains("Write, repair, check and run OpenProse programs"), "{asked}");
    }
}

/// The id of the run that a result names.
fn run_id(result: &str) -> String {
    let is_id = |word: &&str| word.len() == 22 && word.starts_with("20") && word.matches('-').count() == 2;
    let mut words = result.split(|character: char| !character.is_ascii_alphanumeric() && character != '-');
    words.find(is_id).unwrap_or_else(|| panic!("no run: {result}")).to_owned()
}

/// What the hooks of Claude Code reported after each edit.
fn hooks(transcript: &str) -> Vec<String> {
    let messages = transcript.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    messages
        .filter(|message| message["subtype"] == "hook_response" && message["hook_event"] == "PostToolUse")
        .map(|message| message["stderr"].as_str().unwrap().to_owned())
        .collect()
}

/// The commands of the kit are offered under the same names as project and as plugin.
fn assert_commands(transcript: &str) {
    let start: Value = serde_json::from_str(transcript.lines().next().unwrap()).unwrap();
    let commands = start["slash_commands"].to_string();
    for name in ["openprose:check", "openprose:estimate", "openprose:run"] {
        assert!(commands.contains(&format!("\"{name}\"")), "{commands}");
    }
}

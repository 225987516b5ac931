//! MCP servers and skills of a project, which reach the real agents.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prose_tests::agents::{
    AgentProject, acp_packages, calls_tool, claude_program, opencode_program, packages,
};
use prose_tests::namespaces::NamespaceProxy;
use prose_tests::prose_binary;
use serde_json::{Value, json};

const PROGRAM: &str = "agent writer:\n  prompt: \"You look things up.\"\n\nlet found = session: writer\n  prompt: \"Look into tides\"\noutput found = found\n";

/// A key that may be nowhere but at the server.
const TOKEN: &str = "token-8c1f2ab7";

#[test]
#[ignore = "needs npm"]
fn claude_uses_a_tool_of_a_server() {
    let project = Project::new(&CLAUDE, "mcp__tracker__search", "mcp = [\"tracker\"]");
    project.uses_the_tool();
}

#[test]
#[ignore = "needs npm"]
fn codex_uses_a_tool_of_a_server() {
    let project = Project::new(&CODEX, "mcp__tracker__search", "mcp = [\"tracker\"]");
    project.uses_the_tool();
}

#[test]
#[ignore = "needs npm"]
fn opencode_uses_a_tool_of_a_server() {
    let project = Project::new(&OPENCODE, "tracker_search", "mcp = [\"tracker/search\"]");
    project.uses_the_tool();
}

#[test]
#[ignore = "needs npm"]
fn claude_agent_acp_uses_a_tool_of_a_server() {
    let project = Project::new(&CLAUDE_ACP, "mcp__tracker__search", "mcp = [\"tracker\"]");
    project.uses_the_tool();
}

#[test]
#[ignore = "needs npm"]
fn a_server_is_of_no_use_to_other_agents_in_the_same_process() {
    let agents = [
        (&OPENCODE, "tracker_search"),
        (&CLAUDE_ACP, "mcp__tracker__search"),
        (&CODEX, "mcp__tracker__search"),
    ];
    for (agent, tool) in agents {
        let project = Project::new(agent, tool, "mcp = \"allow\"\nexecute = \"allow\"");
        let other = "agent reader:\n  prompt: \"You read.\"\n\nlet read = session: reader\n  prompt: \"Listen to the waves\"\noutput read = read\n";
        fs::write(project.agents.root().join("main.prose"), format!("{PROGRAM}{other}")).unwrap();
        let (output, calls) = project.run();
        assert_eq!(calls, ["search tides"], "{}: {}", agent.name, text(&output));
        let asked = json!(project.agents.provider.requests(agent.requests)).to_string();
        assert!(asked.contains("Listen to the waves"), "{}: {asked}", agent.name);
    }
}

#[test]
#[ignore = "needs npm"]
fn a_continued_session_has_the_servers_of_its_agent() {
    for agent in [&CLAUDE, &CODEX] {
        let project = Project::new(agent, "mcp__tracker__search", "mcp = [\"tracker\"]");
        let program =
            PROGRAM.replace("  prompt: \"You look", "  persist: true\n  prompt: \"You look").replace(
                "let found = session:",
                "session: writer\n  prompt: \"Plan the voyage\"\nlet found = resume:",
            );
        fs::write(project.agents.root().join("main.prose"), program).unwrap();
        project.uses_the_tool();
        let runs = project.agents.root().join(".prose/runs");
        // There are files besides the run.
        let runs = fs::read_dir(runs).unwrap().flatten();
        let logs = runs.filter_map(|run| fs::read_dir(run.path().join("agents")).ok()).flatten().flatten();
        let mut logs = logs.filter_map(|file| fs::read_to_string(file.path()).ok());
        assert!(logs.any(|log| log.contains("continues session")), "{}", agent.name);
    }
}

#[test]
#[ignore = "needs npm"]
fn values_of_variables_are_in_no_file_that_an_agent_keeps() {
    for agent in [&CLAUDE, &CODEX, &OPENCODE, &CLAUDE_ACP] {
        let project = Project::new(agent, "never called", "mcp = [\"tracker\"]");
        let program = PROGRAM.replace("Look into tides", "Plan the voyage");
        let program = program.replace("  prompt: \"You look", "  persist: true\n  prompt: \"You look");
        fs::write(project.agents.root().join("main.prose"), program).unwrap();
        let (output, _) = project.run();
        assert!(output.status.success(), "{}", text(&output));
        assert!(project.notes.exists(), "{} starts the server", agent.name);
        assert_no_token(project.agents.home());
        assert_no_token(project.agents.root());
    }
}

#[test]
#[ignore = "needs npm"]
fn a_server_that_does_not_start_is_an_error() {
    let project = Project::new(&OPENCODE, "tracker_search", "mcp = [\"tracker\"]");
    let settings = fs::read_to_string(project.agents.root().join("prose.toml")).unwrap();
    let settings = settings.replace(env!("CARGO_BIN_EXE_mcp-server-for-tests"), "false");
    fs::write(project.agents.root().join("prose.toml"), settings).unwrap();
    let (output, _) = project.run();
    assert!(!output.status.success());
    let expected = "MCP server `tracker` did not start";
    assert!(text(&output).contains(expected), "{}", text(&output));
}

#[test]
#[ignore = "needs npm"]
fn claude_asks_about_a_tool_that_no_rule_allows() {
    let project = Project::new(&CLAUDE, "mcp__tracker__delete", "mcp = [\"tracker/search\"]");
    project.is_denied("`mcp: [\"tracker/search\"]` does not cover `tracker/delete`");
    let project = Project::new(&CLAUDE, "mcp__tracker__delete", "");
    project.is_denied("no rule for `mcp`; write `mcp: [\"tracker\"]`");
}

#[test]
#[ignore = "needs npm"]
fn codex_asks_about_a_tool_that_no_rule_allows() {
    let project = Project::new(&CODEX, "mcp__tracker__delete", "mcp = [\"tracker/search\"]");
    project.is_denied("`mcp: [\"tracker/search\"]` does not cover `tracker/delete`");
    let project = Project::new(&CODEX, "mcp__tracker__delete", "");
    project.is_denied("no rule for `mcp`; write `mcp: [\"tracker\"]`");
}

#[test]
#[ignore = "needs npm"]
fn opencode_asks_about_a_tool_that_no_rule_allows() {
    let project = Project::new(&OPENCODE, "tracker_delete", "mcp = [\"tracker/search\"]");
    project.is_denied("`mcp: [\"tracker/search\"]` does not cover `tracker/delete`");
    // Also where tools without a known effect are available.
    let project = Project::new(&OPENCODE, "tracker_delete", "execute = \"allow\"");
    project.is_denied("no rule for `mcp`; write `mcp: [\"tracker\"]`");
}

#[test]
#[ignore = "needs npm"]
fn claude_agent_acp_asks_about_a_tool_that_no_rule_allows() {
    let project = Project::new(&CLAUDE_ACP, "mcp__tracker__delete", "mcp = [\"tracker/search\"]");
    // What the user allows is asked as well.
    let allowed = json!({ "permissions": { "allow": ["mcp__tracker"] } });
    fs::create_dir_all(project.agents.home().join(".claude")).unwrap();
    fs::write(project.agents.home().join(".claude/settings.json"), allowed.to_string()).unwrap();
    project.is_denied("`mcp: [\"tracker/search\"]` does not cover `tracker/delete`");
}

#[test]
#[ignore = "needs npm"]
fn servers_of_the_user_are_not_started_besides_those_of_the_agent() {
    for agent in [&CLAUDE, &CODEX] {
        let project = Project::new(agent, "mcp__tracker__search", "mcp = [\"tracker\"]");
        let notes = project.agents.home().join("mine.txt");
        let server = env!("CARGO_BIN_EXE_mcp-server-for-tests");
        let of_claude = json!({ "mcpServers": { "mine": { "command": server, "args": [notes] } } });
        fs::write(project.agents.home().join(".claude.json"), of_claude.to_string()).unwrap();
        fs::create_dir_all(project.agents.home().join(".codex")).unwrap();
        let of_codex = format!("[mcp_servers.mine]\ncommand = {server:?}\nargs = [{notes:?}]\n");
        fs::write(project.agents.home().join(".codex/config.toml"), of_codex).unwrap();
        project.uses_the_tool();
        assert!(!notes.exists(), "{}", agent.name);
    }
}

#[test]
#[ignore = "needs npm"]
fn skills_reach_the_model() {
    for agent in [&CLAUDE, &CODEX] {
        let project = Project::new(agent, "mcp__tracker__search", "mcp = [\"tracker\"]");
        let root = project.agents.root();
        let description = "Describes how tides are tabulated at the harbour";
        for (folder, name) in [(agent.skills, "tide-tables"), ("skills", "by-path")] {
            let folder = root.join(folder).join(name);
            fs::create_dir_all(&folder).unwrap();
            let text = format!("---\nname: {name}\ndescription: {description}\n---\n\nUse metres.\n");
            fs::write(folder.join("SKILL.md"), text).unwrap();
        }
        let program = PROGRAM.replace(
            "  prompt: \"You look things up.\"",
            "  prompt: \"You look things up.\"\n  skills: [\"tide-tables\", \"./skills/by-path\"]",
        );
        fs::write(root.join("main.prose"), program).unwrap();
        let (output, _) = project.run();
        assert!(output.status.success(), "{}", text(&output));
        let asked = json!(project.agents.provider.requests(agent.requests)).to_string();
        assert!(asked.contains("Skills to load: tide-tables, "), "{asked}");
        let file = root.join("skills/by-path/SKILL.md");
        assert!(asked.contains(file.to_str().unwrap()), "{asked}");
        // The tools of Claude Code, one of which lists them, are not in what the server keeps of requests.
        assert!(agent.name == "claude" || asked.contains(description), "{} lists its skills", agent.name);
    }
}

#[test]
#[ignore = "needs npm"]
fn what_is_missing_is_an_error_before_the_first_session() {
    let project = Project::new(&CLAUDE, "mcp__tracker__search", "mcp = [\"tracker\"]");
    let root = project.agents.root();
    let settings = fs::read_to_string(root.join("prose.toml")).unwrap();
    let settings = settings.replace("TRACKER_TOKEN", "NO_SUCH_TOKEN");
    fs::write(root.join("prose.toml"), settings).unwrap();
    for arguments in [&["--dry-run"][..], &[]] {
        let output = project.prose(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        let expected = "MCP server `tracker`: the environment variable `NO_SUCH_TOKEN` is not set";
        assert!(text(&output).contains(expected), "{}", text(&output));
    }
    assert_eq!(project.agents.provider.requests(CLAUDE.requests), Vec::<Value>::new());
}

/// An agent under test.
struct Agent {
    name: &'static str,
    /// The folder of its skills in a project.
    skills: &'static str,
    /// The path of its requests.
    requests: &'static str,
    /// The command that starts it for a provider, in the language of `sh`.
    command: fn(provider: &str) -> String,
}

const CLAUDE: Agent = Agent {
    name: "claude",
    skills: ".claude/skills",
    requests: "/v1/messages",
    command: |provider| {
        let program = claude_program();
        format!(
            "ANTHROPIC_BASE_URL={provider} ANTHROPIC_API_KEY=none CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 exec {}",
            program.display()
        )
    },
};

const CLAUDE_ACP: Agent = Agent {
    name: "claude-agent-acp",
    skills: ".claude/skills",
    requests: "/v1/messages",
    command: |provider| {
        let script = "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js";
        // As root, it works only where it is told that it is in a sandbox.
        format!(
            "export IS_SANDBOX=1 ANTHROPIC_BASE_URL={provider} ANTHROPIC_API_KEY=none CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\nexport CLAUDE_CODE_EXECUTABLE={}\nexec node {}",
            claude_program().display(),
            acp_packages().join(script).display()
        )
    },
};

const OPENCODE: Agent = Agent {
    name: "opencode",
    skills: ".opencode/skills",
    requests: "/v1/chat/completions",
    command: |provider| {
        let config = json!({
            "autoupdate": false,
            "model": "mock/tides",
            "small_model": "mock/tides",
            "provider": { "mock": {
                "npm": "@ai-sdk/openai-compatible",
                "options": { "baseURL": format!("{provider}/v1"), "apiKey": "none" },
                "models": { "tides": { "limit": { "context": 100_000, "output": 8_000 } } },
            } },
        });
        let program = opencode_program();
        format!(
            "mkdir -p $HOME/.config/opencode; echo '{config}' > $HOME/.config/opencode/opencode.json\nOPENCODE_DISABLE_MODELS_FETCH=1 exec {}",
            program.display()
        )
    },
};

const CODEX: Agent = Agent {
    name: "codex",
    skills: ".agents/skills",
    requests: "/v1/responses",
    command: |provider| {
        let codex = packages().join("node_modules/@openai/codex/bin/codex.js");
        let provider = format!(
            r#"model_providers.mock={{name="mock",base_url="{provider}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}}"#
        );
        format!(
            "OPENAI_API_KEY=none exec node {} -c 'model=\"tides\"' -c 'model_provider=\"mock\"' -c '{provider}'",
            codex.display()
        )
    },
};

/// A project whose agent `writer` has the server `tracker`.
struct Project {
    agent: &'static Agent,
    agents: AgentProject,
    /// What the server notes.
    notes: PathBuf,
    _proxy: Option<NamespaceProxy>,
}

impl Project {
    /// The model calls a tool, and the project has a rule about it.
    fn new(agent: &'static Agent, tool: &str, rule: &str) -> Self {
        let agents = AgentProject::new(|_| {
            let calls =
                |of: &str, prompt: &str| calls_tool(prompt, tool, json!({ "query": of }), "It is looked up.");
            let other = calls("waves", "Listen to the waves");
            // For what an agent asks besides, such as for a title.
            let rest = json!({ "match": {}, "response": { "content": "Tides" } });
            calls("tides", "Look into tides").into_iter().chain(other).chain([rest]).collect()
        });
        let proxy = (agent.name == "codex").then(|| NamespaceProxy::start(&agents.provider.address));
        let address = proxy.as_ref().map_or(&agents.provider.address, |proxy| &proxy.address).clone();
        let program = agents.program(agent.name, &(agent.command)(&address));
        assert!(program.is_file());
        let notes = agents.root().with_file_name("tracker.txt");
        let server = env!("CARGO_BIN_EXE_mcp-server-for-tests");
        let settings = format!(
            "[run]\nharness = {:?}\n[run.permissions]\n{rule}\n[agents.writer]\nmcp = [\"tracker\"]\n[mcp.servers.tracker]\ncommand = {server:?}\nargs = \
             [{notes:?}]\nenvironment = [\"TRACKER_TOKEN\"]\n",
            agent.name
        );
        fs::write(agents.root().join("prose.toml"), settings).unwrap();
        fs::write(agents.root().join("main.prose"), PROGRAM).unwrap();
        Self { agent, agents, notes, _proxy: proxy }
    }

    fn prose(&self, arguments: &[&str]) -> Output {
        let home = self.agents.home();
        let path = std::env::var("PATH").unwrap();
        Command::new(prose_binary())
            .args(["run", "main.prose", "--trust"])
            .args(arguments)
            .current_dir(self.agents.root())
            .env_clear()
            .env("PATH", format!("{}:{path}", home.join("bin").display()))
            .env("HOME", &home)
            .env("TRACKER_TOKEN", TOKEN)
            .output()
            .unwrap()
    }

    /// Runs the program. Returns the calls that the server has received, too.
    fn run(&self) -> (Output, Vec<String>) {
        let output = self.prose(&[]);
        let notes = fs::read_to_string(&self.notes).unwrap_or_default();
        let calls = notes.lines().filter(|line| *line != "started").map(str::to_owned).collect();
        (output, calls)
    }

    #[track_caller]
    fn uses_the_tool(&self) {
        let (output, calls) = self.run();
        assert!(output.status.success(), "{}", text(&output));
        assert_eq!(calls, ["search tides"], "{}", text(&output));
        let asked = json!(self.agents.provider.requests(self.agent.requests)).to_string();
        let answer = format!("The tracker has 17 issues about tides for {TOKEN}.");
        assert!(asked.contains(&answer), "the answer reaches the model: {asked}");
        assert_no_token(self.agents.root());
    }

    #[track_caller]
    fn is_denied(&self, reason: &str) {
        let (output, calls) = self.run();
        assert!(output.status.success(), "{}", text(&output));
        assert_eq!(calls, Vec::<String>::new());
        let reported = text(&output).replace("\\\"", "\"");
        assert!(reported.contains(reason), "{reported}");
        assert_no_token(self.agents.root());
    }
}

/// The value of the variable is in no file in a folder.
#[track_caller]
fn assert_no_token(folder: PathBuf) {
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(path),
                false => assert!(!has_token(&path), "{}", path.display()),
            }
        }
    }
}

fn has_token(file: &Path) -> bool {
    let bytes = fs::read(file).unwrap_or_default();
    bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes())
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout))
}

//! The known agents of the Agent Client Protocol.

use prose_vm::effect::Failure;
use serde_json::{Value, json};

use super::codex;
use crate::drivers::KnownAgent;
use crate::drivers::connection::Program;
use crate::drivers::program::SIZES;
use crate::mcp::McpServer;

/// A known agent.
#[derive(Debug)]
pub struct AcpAgent {
    /// The name of the harness.
    pub name: &'static str,
    /// One line for lists of harnesses.
    pub description: &'static str,
    /// The program.
    pub program: &'static str,
    /// Its arguments.
    pub arguments: &'static [&'static str],
    /// The environment variables that it receives; a trailing `*` is a wildcard.
    pub variables: &'static [&'static str],
    /// The command that installs it.
    pub install: &'static str,
    /// The model of sessions that name none, as far as it is known.
    default_model: Option<&'static str>,
    /// Whether it reads and writes files through the client, so that rules of paths are held there.
    pub uses_files_of_client: bool,
    /// Whether it reads a file before it writes it, and fails if it does not exist.
    pub(super) reads_before_writing: bool,
    /// The variable and the values by which it asks before it acts, and by which it does not act at all.
    settings: Option<(&'static str, &'static str, &'static str)>,
    /// What depends on the rest of its process.
    adjust: Option<Adjust>,
    /// Whether it is an HTTP server on this machine too, which has the usage of all requests; with the protocol, it reports that of the last one only.
    pub(super) is_server_of_opencode: bool,
    /// What only this agent understands of the parameters of a new session.
    meta: Option<fn(&SessionNeeds<'_>) -> Value>,
}

/// Changes a process that is going to be started.
type Adjust = fn(&mut Program) -> Result<(), Failure>;

/// What a session of the protocol is for.
pub(super) struct SessionNeeds<'a> {
    /// The end of the system prompt.
    pub(super) system: Option<&'a str>,
    /// Whether it answers a question, and changes nothing.
    pub(super) is_question: bool,
    /// Whether it may read the files that its question names.
    pub(super) reads: bool,
    /// Its MCP servers.
    pub(super) servers: &'a [McpServer],
}

impl AcpAgent {
    /// What is known of its program.
    pub const fn known(&self) -> KnownAgent {
        let Self { program, install, variables, default_model, .. } = *self;
        // Only the agents of one provider have models for the sizes.
        let unknown_models = if default_model.is_some() { &[] } else { SIZES };
        KnownAgent { program, install, variables, sign_in_status: None, unknown_models, default_model }
    }

    /// What only this agent understands of the parameters of a new session.
    pub(super) fn meta(&self, needs: &SessionNeeds<'_>) -> Option<Value> {
        Some(self.meta?(needs))
    }

    /// Whether sessions and questions need processes of their own.
    pub(super) fn has_process_for_questions(&self) -> bool {
        self.settings.is_some_and(|(_, asks, denies)| asks != denies)
    }

    /// Adds the environment variables that make it ask before it acts; with `denies_all`, those that keep it from using tools.
    pub(super) fn configure(&self, program: &mut Program, denies_all: bool) -> Result<(), Failure> {
        if let Some((variable, asks, denies)) = self.settings {
            program.variables.push((variable.to_owned(), if denies_all { denies } else { asks }.to_owned()));
        }
        self.adjust.map_or(Ok(()), |adjust| adjust(program))
    }
}

/// The tools of Claude Code that it asks about, which it would use without a question otherwise, or if the user has allowed them.
const ASKED_OF_CLAUDE: &[&str] = &[
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Skill",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// The system prompt of questions, in place of the one for work on a project.
const QUESTION_SYSTEM: &str = "You answer one question, in the form that it asks for.";

/// What `claude-agent-acp` takes of the options of Claude Code.
fn claude_options(needs: &SessionNeeds<'_>) -> Value {
    // Nobody reads a suggestion for the next prompt, and each one costs a request.
    let mut options = json!({ "promptSuggestions": false, "strictMcpConfig": true });
    let mut meta = json!({});
    if needs.is_question {
        options["tools"] = json!(if needs.reads { &["Read"] as &[&str] } else { &[] });
        options["persistSession"] = false.into();
        meta["systemPrompt"] = QUESTION_SYSTEM.into();
    } else {
        let of_servers = needs.servers.iter().map(|server| format!("mcp__{}", server.name));
        let asked: Vec<_> = ASKED_OF_CLAUDE.iter().map(|tool| (*tool).to_owned()).chain(of_servers).collect();
        options["settings"] = json!({ "permissions": { "ask": asked } });
        if let Some(system) = needs.system {
            meta["systemPrompt"] = json!({ "append": system });
        }
    }
    // It says nothing itself about a rejected key until Claude Code gives up, after minutes.
    let raw = json!([{ "type": "system", "subtype": "api_retry" }]);
    meta["claudeCode"] = json!({ "options": options, "emitRawSDKMessages": raw });
    meta
}

/// A file that a value names with `@` is not read without a question.
fn without_mentions(program: &mut Program) -> Result<(), Failure> {
    program.variables.push(("CLAUDE_CODE_DISABLE_FILE_MENTIONS".to_owned(), "1".to_owned()));
    Ok(())
}

/// An agent that does nothing but what the protocol says.
const PLAIN: AcpAgent = AcpAgent {
    name: "",
    description: "",
    program: "",
    arguments: &[],
    variables: &[],
    install: "",
    default_model: None,
    uses_files_of_client: false,
    reads_before_writing: false,
    settings: None,
    adjust: None,
    is_server_of_opencode: false,
    meta: None,
};

/// All known agents.
pub const AGENTS: &[AcpAgent] = &[
    AcpAgent {
        name: "claude-agent-acp",
        description: "starts Claude Code as an agent of the Agent Client Protocol",
        program: "claude-agent-acp",
        variables: &["ANTHROPIC_*", "CLAUDE_*", "API_TIMEOUT_MS"],
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        default_model: Some("sonnet"),
        // It repeats rejected requests for minutes otherwise, without a report.
        settings: Some(("CLAUDE_CODE_MAX_RETRIES", "3", "3")),
        adjust: Some(without_mentions),
        meta: Some(claude_options),
        ..PLAIN
    },
    AcpAgent {
        name: "codex-acp",
        description: "starts Codex as an agent of the Agent Client Protocol",
        program: "codex-acp",
        variables: &["OPENAI_*", "CODEX_*"],
        install: "npm install -g @agentclientprotocol/codex-acp",
        adjust: Some(codex::configure),
        ..PLAIN
    },
    AcpAgent {
        name: "gemini",
        description: "starts Gemini CLI, `gemini --acp`",
        program: "gemini",
        arguments: &["--acp"],
        variables: &["GEMINI_*", "GOOGLE_*"],
        install: "npm install -g @google/gemini-cli",
        uses_files_of_client: true,
        reads_before_writing: true,
        ..PLAIN
    },
    AcpAgent {
        name: "opencode-acp",
        description: "starts OpenCode as an agent of the Agent Client Protocol, `opencode acp`",
        program: "opencode",
        arguments: &["acp"],
        variables: &["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*"],
        install: "npm install -g opencode-ai",
        is_server_of_opencode: true,
        settings: Some((
            "OPENCODE_CONFIG_CONTENT",
            // Nobody reads the titles of sessions, and each one costs a request.
            r#"{"agent":{"title":{"disable":true}},"permission":{"edit":"ask","bash":"ask","webfetch":"ask","websearch":"ask","codesearch":"ask","external_directory":"ask","task":"deny"}}"#,
            r#"{"agent":{"title":{"disable":true}},"permission":"deny"}"#,
        )),
        ..PLAIN
    },
    AcpAgent {
        name: "qwen",
        description: "starts Qwen Code, `qwen --acp`",
        program: "qwen",
        arguments: &["--acp"],
        variables: &["QWEN_*", "OPENAI_*", "DASHSCOPE_*"],
        install: "npm install -g @qwen-code/qwen-code",
        uses_files_of_client: true,
        ..PLAIN
    },
];

//! The known agents of the Agent Client Protocol.

use std::io::Write;

use prose_vm::effect::Failure;
use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempPath};

use super::codex;
use crate::drivers::KnownAgent;
use crate::drivers::connection::Program;
use crate::drivers::opencode;
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
    /// Whether sessions and questions need processes of their own, as it is told at its start what they may do.
    pub(super) has_process_for_questions: bool,
    /// Whether its commands run in a sandbox, in which those of a question can write nothing.
    pub(super) has_sandbox: bool,
    /// Whether warnings to its user come as messages without an id, which those of its model have.
    pub(super) warns_in_messages: bool,
    /// What else its process needs.
    pub(super) adjust: Adjust,
    /// Whether it is an HTTP server on this machine too, which has the usage of all requests; with the protocol, it reports that of the last one only.
    pub(super) is_server_of_opencode: bool,
    /// What only this agent understands of the parameters of a new session.
    meta: Option<fn(&SessionNeeds<'_>) -> Value>,
}

/// What a process of an agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Sessions of programs, in which it asks before it acts.
    Sessions,
    /// Questions, such as whether a condition is true, in which it changes nothing.
    Questions,
}

/// Changes a process that is going to be started. Returns a file that the process reads while it runs.
type Adjust = fn(&mut Program, Purpose) -> Result<Option<TempPath>, Failure>;

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

fn adjust_claude(program: &mut Program, _: Purpose) -> Result<Option<TempPath>, Failure> {
    let variables = [
        // It repeats rejected requests for minutes otherwise, without a report.
        ("CLAUDE_CODE_MAX_RETRIES", "3"),
        // A file that a value names with `@` is not read without a question.
        ("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1"),
    ];
    program.variables.extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Ok(None)
}

fn adjust_codex(program: &mut Program, _: Purpose) -> Result<Option<TempPath>, Failure> {
    codex::configure(program).map(|()| None)
}

/// What Gemini CLI may do in questions. It takes commands such as `uniq` for reading, which can write.
const POLICY_OF_QUESTIONS: &str = r#"
[[rule]]
toolName = "*"
decision = "deny"
priority = 998

[[rule]]
toolName = "read_file"
decision = "allow"
priority = 999
"#;

fn adjust_gemini(program: &mut Program, purpose: Purpose) -> Result<Option<TempPath>, Failure> {
    if purpose == Purpose::Sessions {
        return Ok(None);
    }
    let written = NamedTempFile::with_suffix(".toml").and_then(|mut file| {
        file.write_all(POLICY_OF_QUESTIONS.as_bytes())?;
        Ok(file.into_temp_path())
    });
    let policy = written.map_err(|error| {
        Failure::session(format!("the rules for questions to `gemini` cannot be written: {error}"))
    })?;
    program.arguments.push(format!("--admin-policy={}", policy.display()));
    Ok(Some(policy))
}

fn adjust_opencode(program: &mut Program, purpose: Purpose) -> Result<Option<TempPath>, Failure> {
    opencode::extend_config(&mut program.variables, |config| {
        // Nobody reads the titles of sessions, and each one costs a request.
        config["agent"]["title"] = json!({ "disable": true });
        config["permission"] = match purpose {
            Purpose::Sessions => json!({
                "edit": "ask",
                "bash": "ask",
                "webfetch": "ask",
                "websearch": "ask",
                "codesearch": "ask",
                "external_directory": "ask",
                "task": "deny",
            }),
            Purpose::Questions => json!({ "*": "deny", "read": "ask" }),
        };
        if purpose == Purpose::Questions {
            // The project may allow more to agents whose names it knows.
            let name = opencode::agent_name("question");
            config["agent"][&name] = json!({
                "mode": "primary",
                "prompt": opencode::OF_QUESTION,
                "permission": config["permission"],
            });
            config["default_agent"] = name.into();
        }
    })?;
    Ok(None)
}

/// The tools of Qwen Code that questions do not have: all but the one that reads a file.
const NOT_FOR_QUESTIONS_OF_QWEN: &[&str] = &[
    "agent",
    "create_sub_session",
    "cron_create",
    "cron_delete",
    "edit",
    "exec",
    "glob",
    "grep_search",
    "list_directory",
    "lsp",
    "monitor",
    "notebook_edit",
    "run_shell_command",
    "save_memory",
    "skill",
    "todo_write",
    "web_fetch",
    "web_search",
    "workflow",
    "write_file",
];

fn adjust_qwen(program: &mut Program, purpose: Purpose) -> Result<Option<TempPath>, Failure> {
    if purpose == Purpose::Questions {
        let without = NOT_FOR_QUESTIONS_OF_QWEN.iter().map(|tool| format!("--exclude-tools={tool}"));
        program.arguments.extend(without);
        // Servers of the user with other names do not start.
        program.arguments.push("--allowed-mcp-server-names=none".to_owned());
    }
    Ok(None)
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
    has_process_for_questions: false,
    has_sandbox: false,
    warns_in_messages: false,
    adjust: |_, _| Ok(None),
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
        adjust: adjust_claude,
        meta: Some(claude_options),
        ..PLAIN
    },
    AcpAgent {
        name: "codex-acp",
        description: "starts Codex as an agent of the Agent Client Protocol",
        program: "codex-acp",
        variables: &["OPENAI_*", "CODEX_*"],
        install: "npm install -g @agentclientprotocol/codex-acp",
        has_sandbox: true,
        warns_in_messages: true,
        adjust: adjust_codex,
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
        has_process_for_questions: true,
        adjust: adjust_gemini,
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
        has_process_for_questions: true,
        adjust: adjust_opencode,
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
        has_process_for_questions: true,
        adjust: adjust_qwen,
        ..PLAIN
    },
];

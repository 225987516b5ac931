//! The known agents of the Agent Client Protocol.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_files::Limit;
use prose_vm::effect::Failure;
use serde_json::{Value, json};
use tempfile::Builder;

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

/// Changes a process that is going to be started.
type Adjust = fn(&mut Program, Purpose) -> Result<(), Failure>;

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

fn adjust_claude(program: &mut Program, _: Purpose) -> Result<(), Failure> {
    let variables = [
        // It repeats rejected requests for minutes otherwise, without a report.
        ("CLAUDE_CODE_MAX_RETRIES", "3"),
        // A file that a value names with `@` is not read without a question.
        ("CLAUDE_CODE_DISABLE_FILE_MENTIONS", "1"),
    ];
    program.variables.extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Ok(())
}

fn adjust_codex(program: &mut Program, _: Purpose) -> Result<(), Failure> {
    codex::configure(program)
}

/// What Gemini CLI asks about in sessions. Without a pattern, it would not ask about commands that it takes for reading, such as `uniq`, which can write.
/// Other agents that it starts would use their tools without a question.
const POLICY_OF_SESSIONS: &str = r#"
[[rule]]
toolName = "run_shell_command"
argsPattern = "."
decision = "ask_user"
priority = 999

[[rule]]
toolName = "invoke_agent"
decision = "deny"
priority = 999
"#;

/// What Gemini CLI may do in questions.
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

fn adjust_gemini(program: &mut Program, purpose: Purpose) -> Result<(), Failure> {
    let policy = match purpose {
        Purpose::Sessions => POLICY_OF_SESSIONS,
        Purpose::Questions => POLICY_OF_QUESTIONS,
    };
    let policy = rules_file(program, ".toml", policy)?;
    program.arguments.push(format!("--admin-policy={}", policy.display()));
    Ok(())
}

/// Writes a file with rules for an agent, which it reads while it runs.
fn rules_file(program: &mut Program, suffix: &str, text: &str) -> Result<PathBuf, Failure> {
    let file = Builder::new().prefix("prose-rules-").suffix(suffix).tempfile();
    let written = file.and_then(|file| {
        fs::write(file.path(), text)?;
        Ok(file.into_temp_path())
    });
    let file = written.map_err(|error| {
        Failure::session(format!("the rules for `{}` cannot be written: {error}", program.program))
    })?;
    let path = file.to_path_buf();
    program.files.push(Arc::new(file));
    Ok(path)
}

fn adjust_opencode(program: &mut Program, purpose: Purpose) -> Result<(), Failure> {
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
    })
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

/// The variable with the path of settings that come before those of the user and the project. Their rules are added to those.
const DEFAULTS_OF_QWEN: &str = "QWEN_CODE_SYSTEM_DEFAULTS_PATH";

/// The settings of Qwen Code for sessions: it asks about every command. Otherwise it would not ask about those that it takes for reading, or that the user allows.
fn ask_about_commands(program: &mut Program) -> Result<(), Failure> {
    let own = defaults_of_qwen(&program.variables);
    let cannot_extend = |why: String| {
        Failure::session(format!(
            "the settings of Qwen Code in `{}` cannot be extended: {why}",
            own.display()
        ))
    };
    let mut settings: Value = match prose_files::read_text(&own, Limit::SETTINGS) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| {
            cannot_extend(format!("they are not JSON: {error}; remove comments and trailing commas"))
        })?,
        Err(error) if error.is_missing() => json!({}),
        Err(error) => return Err(cannot_extend(error.to_string())),
    };
    if !settings.is_object() {
        return Err(cannot_extend("they must be an object".to_owned()));
    }
    if !settings["permissions"].is_object() {
        settings["permissions"] = json!({});
    }
    match settings["permissions"]["ask"].as_array_mut() {
        Some(rules) => rules.push("Bash".into()),
        None => settings["permissions"]["ask"] = json!(["Bash"]),
    }
    let file = rules_file(program, ".json", &settings.to_string())?;
    program.variables.retain(|(name, _)| name != DEFAULTS_OF_QWEN);
    program.variables.push((DEFAULTS_OF_QWEN.to_owned(), file.display().to_string()));
    Ok(())
}

/// The file with the default settings of Qwen Code on this system.
fn defaults_of_qwen(variables: &[(String, String)]) -> PathBuf {
    let value = |wanted: &str| {
        let found = variables.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| Path::new(value)).filter(|value| !value.as_os_str().is_empty())
    };
    let folder = match std::env::consts::OS {
        "macos" => "/Library/Application Support/QwenCode",
        "windows" => r"C:\ProgramData\qwen-code",
        _ => "/etc/qwen-code",
    };
    let of_settings = || value("QWEN_CODE_SYSTEM_SETTINGS_PATH")?.parent();
    value(DEFAULTS_OF_QWEN).map_or_else(
        || of_settings().unwrap_or(Path::new(folder)).join("system-defaults.json"),
        Path::to_owned,
    )
}

fn adjust_qwen(program: &mut Program, purpose: Purpose) -> Result<(), Failure> {
    if purpose == Purpose::Sessions {
        return ask_about_commands(program);
    }
    let without = NOT_FOR_QUESTIONS_OF_QWEN.iter().map(|tool| format!("--exclude-tools={tool}"));
    program.arguments.extend(without);
    // Servers of the user with other names do not start.
    program.arguments.push("--allowed-mcp-server-names=none".to_owned());
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
    has_process_for_questions: false,
    has_sandbox: false,
    warns_in_messages: false,
    adjust: |_, _| Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings of Qwen Code for a session, with a file of default settings.
    fn settings_of_qwen(defaults: &str) -> Result<Value, Failure> {
        let folder = prose_fixture::tempdir().unwrap();
        fs::write(folder.path().join("system-defaults.json"), defaults).unwrap();
        let settings = folder.path().join("settings.json").display().to_string();
        let mut program = Program {
            program: "qwen".to_owned(),
            arguments: Vec::new(),
            folder: folder.path().to_owned(),
            variables: vec![("QWEN_CODE_SYSTEM_SETTINGS_PATH".to_owned(), settings)],
            files: Vec::new(),
        };
        adjust_qwen(&mut program, Purpose::Sessions)?;
        let (name, file) = program.variables.last().unwrap();
        assert_eq!(name, DEFAULTS_OF_QWEN);
        Ok(serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap())
    }

    #[test]
    fn qwen_asks_about_commands_besides_what_the_system_says() {
        assert_eq!(settings_of_qwen("{}").unwrap(), json!({ "permissions": { "ask": ["Bash"] } }));
        let of_system = r#"{ "ui": 1, "permissions": { "deny": ["Edit"], "ask": ["Read"] } }"#;
        let expected = json!({ "ui": 1, "permissions": { "deny": ["Edit"], "ask": ["Read", "Bash"] } });
        assert_eq!(settings_of_qwen(of_system).unwrap(), expected);
        for unreadable in ["// none", "[]"] {
            let message = settings_of_qwen(unreadable).unwrap_err().message;
            assert!(message.contains("cannot be extended"), "{message}");
        }
    }
}

//! The known agents of the Agent Client Protocol.

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
    /// Whether it reads and writes files through the client, so that rules of paths are held there.
    pub uses_files_of_client: bool,
    /// The variable and the values by which it asks before it acts, and by which it does not act at all.
    settings: Option<(&'static str, &'static str, &'static str)>,
}

impl AcpAgent {
    /// The environment variables that make it ask; with `denies_all`, that keep it from using tools.
    pub(super) fn settings(&self, denies_all: bool) -> Option<(String, String)> {
        let (variable, asks, denies) = self.settings?;
        Some((variable.to_owned(), if denies_all { denies } else { asks }.to_owned()))
    }
}

/// All known agents.
pub const AGENTS: &[AcpAgent] = &[
    AcpAgent {
        name: "claude-agent-acp",
        description: "starts Claude Code as an agent of the Agent Client Protocol",
        program: "claude-agent-acp",
        arguments: &[],
        variables: &["ANTHROPIC_*", "CLAUDE_*", "API_TIMEOUT_MS"],
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        uses_files_of_client: false,
        settings: None,
    },
    AcpAgent {
        name: "codex-acp",
        description: "starts Codex as an agent of the Agent Client Protocol",
        program: "codex-acp",
        arguments: &[],
        variables: &["OPENAI_*", "CODEX_*"],
        install: "npm install -g @agentclientprotocol/codex-acp",
        uses_files_of_client: false,
        settings: None,
    },
    AcpAgent {
        name: "gemini",
        description: "starts Gemini CLI, `gemini --acp`",
        program: "gemini",
        arguments: &["--acp"],
        variables: &["GEMINI_*", "GOOGLE_*"],
        install: "npm install -g @google/gemini-cli",
        uses_files_of_client: true,
        settings: None,
    },
    AcpAgent {
        name: "opencode-acp",
        description: "starts OpenCode as an agent of the Agent Client Protocol, `opencode acp`",
        program: "opencode",
        arguments: &["acp"],
        variables: &["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*"],
        install: "npm install -g opencode-ai",
        uses_files_of_client: false,
        settings: Some((
            "OPENCODE_CONFIG_CONTENT",
            r#"{"permission":{"edit":"ask","bash":"ask","webfetch":"ask","websearch":"ask","external_directory":"ask","task":"deny"}}"#,
            r#"{"permission":"deny"}"#,
        )),
    },
    AcpAgent {
        name: "qwen",
        description: "starts Qwen Code, `qwen --acp`",
        program: "qwen",
        arguments: &["--acp"],
        variables: &["QWEN_*", "OPENAI_*", "DASHSCOPE_*"],
        install: "npm install -g @qwen-code/qwen-code",
        uses_files_of_client: true,
        settings: None,
    },
];

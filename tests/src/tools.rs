//! How the models of real agents use their tools, so that a server in the place of a provider can call them.

use serde_json::{Value, json};

use crate::agents::calls_tool;
use crate::rules::{Call, Wanted};

/// An agent as its model sees it.
#[derive(Debug, Clone, Copy)]
pub struct AgentModel {
    /// The start of the paths by which the agent asks its provider.
    pub requests: &'static str,
    /// The call of a tool that does something.
    pub call: fn(Wanted) -> Call,
    /// Whether it has a tool that fetches pages.
    pub fetches: bool,
    /// How the model answers a question of `prose`.
    pub answers: Answers,
}

/// How a model answers a question of `prose`, such as whether a condition is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// In lines, such as `VERDICT: yes`.
    InLines,
    /// As an object of a schema.
    AsObject,
    /// By a call of a tool whose arguments are an object of a schema.
    ByTool,
}

impl AgentModel {
    /// The fixtures for a model that calls a tool when it is asked about `question`, and then answers it.
    pub fn calls_and_answers(
        &self,
        question: &str,
        wanted: Wanted,
        lines: &str,
        object: &Value,
    ) -> [Value; 2] {
        let (tool, arguments) = (self.call)(wanted);
        let text = match self.answers {
            Answers::InLines => lines.to_owned(),
            Answers::AsObject | Answers::ByTool => object.to_string(),
        };
        let [calls, mut answers] = calls_tool(question, tool, arguments, &text);
        if self.answers == Answers::ByTool {
            answers["response"] =
                json!({ "toolCalls": [{ "name": "StructuredOutput", "arguments": object }] });
        }
        [calls, answers]
    }
}

/// Claude Code, also below `claude-agent-acp`.
pub const CLAUDE: AgentModel = AgentModel {
    requests: "/v1/messages",
    fetches: true,
    answers: Answers::InLines,
    call: |wanted| match wanted {
        Wanted::Write(path) => ("Write", json!({ "file_path": path, "content": "x" })),
        Wanted::Read(path) => ("Read", json!({ "file_path": path })),
        Wanted::Run(command) => ("Bash", json!({ "command": command, "description": "run it" })),
        Wanted::Fetch(url) => ("WebFetch", json!({ "url": url, "prompt": "What is there?" })),
    },
};

/// Codex.
pub const CODEX: AgentModel = AgentModel { answers: Answers::AsObject, ..CODEX_ACP };

/// Codex below `codex-acp`.
pub const CODEX_ACP: AgentModel = AgentModel {
    requests: "/v1/responses",
    fetches: false,
    answers: Answers::InLines,
    call: |wanted| {
        let command = match wanted {
            Wanted::Write(path) => {
                format!(
                    "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\nEOF\n"
                )
            }
            Wanted::Read(path) => format!("cat {path}"),
            Wanted::Run(command) => command,
            Wanted::Fetch(url) => format!("curl -sS {url}"),
        };
        ("exec_command", json!({ "cmd": command }))
    },
};

/// OpenCode with the harness `opencode`.
pub const OPENCODE: AgentModel = AgentModel { answers: Answers::ByTool, ..OPENCODE_ACP };

/// OpenCode with the harness `opencode-acp`.
pub const OPENCODE_ACP: AgentModel = AgentModel {
    requests: "/v1/chat/completions",
    fetches: true,
    answers: Answers::InLines,
    call: |wanted| match wanted {
        Wanted::Write(path) => ("write", json!({ "filePath": path, "content": "x" })),
        Wanted::Read(path) => ("read", json!({ "filePath": path })),
        Wanted::Run(command) => ("bash", json!({ "command": command, "description": "run it" })),
        Wanted::Fetch(url) => ("webfetch", json!({ "url": url, "format": "text" })),
    },
};

/// Gemini CLI.
pub const GEMINI: AgentModel = AgentModel { requests: "/v1beta/models", ..QWEN };

/// Qwen Code.
pub const QWEN: AgentModel = AgentModel {
    requests: "/v1/chat/completions",
    fetches: true,
    answers: Answers::InLines,
    call: of_gemini,
};

fn of_gemini(wanted: Wanted) -> Call {
    match wanted {
        Wanted::Write(path) => ("write_file", json!({ "file_path": path, "content": "x" })),
        Wanted::Read(path) => ("read_file", json!({ "file_path": path })),
        Wanted::Run(command) => ("run_shell_command", json!({ "command": command, "description": "run it" })),
        Wanted::Fetch(url) => ("web_fetch", json!({ "url": url, "prompt": format!("What is at {url}?") })),
    }
}

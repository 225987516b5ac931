//! The messages of `codex app-server` that the driver uses.

use serde::Deserialize;
use smol_str::SmolStr;

/// What a thread works on or has written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Item {
    AgentMessage {
        id: SmolStr,
        #[serde(default)]
        text: String,
    },
    CommandExecution {
        id: SmolStr,
        command: String,
        #[serde(default)]
        command_actions: Vec<CommandAction>,
        status: Status,
    },
    FileChange {
        id: SmolStr,
        changes: Vec<FileChange>,
        status: Status,
    },
    McpToolCall {
        id: SmolStr,
        server: String,
        tool: String,
        status: Status,
    },
    WebSearch {
        id: SmolStr,
        #[serde(default)]
        query: String,
    },
    ImageView {
        id: SmolStr,
        path: SmolStr,
    },
    #[serde(other)]
    Other,
}

/// What a command does, as far as Codex understands it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum CommandAction {
    Read {
        path: SmolStr,
    },
    ListFiles {
        path: Option<SmolStr>,
    },
    Search {
        path: Option<SmolStr>,
    },
    #[serde(other)]
    Unknown,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct FileChange {
    pub(super) path: SmolStr,
    pub(super) kind: ChangeKind,
}

/// The kind of a change.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum ChangeKind {
    Add,
    Delete,
    Update { move_path: Option<SmolStr> },
}

/// The status of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Status {
    InProgress,
    Completed,
    Failed,
    Declined,
}

/// `item/started` and `item/completed`
#[derive(Deserialize)]
pub(super) struct ItemNotification {
    pub(super) item: Item,
}

/// `item/agentMessage/delta` and those of reasoning
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Delta {
    pub(super) item_id: SmolStr,
    pub(super) delta: String,
}

/// `thread/tokenUsage/updated`
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenUsageUpdated {
    pub(super) thread_id: SmolStr,
    pub(super) token_usage: TokenUsage,
}

#[derive(Deserialize)]
pub(super) struct TokenUsage {
    pub(super) total: Tokens,
    /// Those of the last request to the provider.
    pub(super) last: Option<Tokens>,
}

/// Tokens of a thread. The input includes what was read from and written to a cache.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Tokens {
    pub(super) input_tokens: u64,
    pub(super) cached_input_tokens: u64,
    pub(super) cache_write_input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// `error`
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorNotification {
    pub(super) error: TurnError,
    pub(super) will_retry: bool,
}

/// The error of a turn or of an attempt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnError {
    pub(super) message: String,
    /// A name, or an object with a name and the HTTP status.
    #[serde(default)]
    pub(super) codex_error_info: serde_json::Value,
    pub(super) additional_details: Option<String>,
}

/// `turn/completed`
#[derive(Deserialize)]
pub(super) struct TurnCompleted {
    pub(super) turn: Turn,
}

#[derive(Deserialize)]
pub(super) struct Turn {
    pub(super) status: TurnStatus,
    pub(super) error: Option<TurnError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum TurnStatus {
    Completed,
    Interrupted,
    Failed,
    InProgress,
}

/// The result of `thread/start`.
#[derive(Deserialize)]
pub(super) struct ThreadStarted {
    pub(super) thread: Thread,
    pub(super) model: SmolStr,
}

#[derive(Deserialize)]
pub(super) struct Thread {
    pub(super) id: SmolStr,
    pub(super) path: Option<std::path::PathBuf>,
}

/// `item/commandExecution/requestApproval`
#[derive(Deserialize)]
pub(super) struct CommandApproval {
    pub(super) command: Option<String>,
    pub(super) cwd: Option<String>,
}

/// `item/fileChange/requestApproval`
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileChangeApproval {
    pub(super) item_id: SmolStr,
}

/// `mcpServer/elicitation/request`
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Elicitation {
    pub(super) server_name: String,
    #[serde(default)]
    pub(super) message: String,
}

/// The command in `/bin/bash -lc 'command'`; commands in other forms as they are.
pub(super) fn inner_command(command: &str) -> String {
    const SHELLS: &[&str] = &["bash", "zsh", "sh", "dash"];
    match shlex::split(command).as_deref() {
        Some([shell, flag, inner])
            if ["-lc", "-c"].contains(&flag.as_str())
                && SHELLS.contains(&shell.rsplit('/').next().unwrap_or_default()) =>
        {
            inner.clone()
        }
        _ => command.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_shell_is_unwrapped() {
        assert_eq!(inner_command("/bin/bash -lc 'cat a && echo b > c'"), "cat a && echo b > c");
        assert_eq!(inner_command(r#"/usr/bin/zsh -lc "echo 'a'""#), "echo 'a'");
        assert_eq!(inner_command("bash -lc cat a"), "bash -lc cat a", "`a` is an argument of the shell");
        assert_eq!(inner_command("/bin/bash -lc 'a' > b"), "/bin/bash -lc 'a' > b");
        assert_eq!(inner_command("python -c 'print(1)'"), "python -c 'print(1)'");
        assert_eq!(inner_command("bash -lc 'unclosed"), "bash -lc 'unclosed");
    }
}

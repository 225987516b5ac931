//! The arguments of `prose init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// Set up a project: settings, a first program, and kits for coding agents
///
/// Writes `prose.toml`, `main.prose` with its tests, and entries for `.gitignore`. Existing files are never overwritten; entries are added to
/// settings files of agents, and everything else in them stays. Running it again changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the project is set up; files that existed are unchanged or have additional entries
  1  an entry must be added by hand; the output shows it
  2  wrong usage, or a file that could not be read or written

Examples:
  prose init                          in the current folder
  prose init tides                    in the folder `tides`, which is created
  prose init --agents                 also for the coding agents on this machine
  prose init --agents claude codex    also for these coding agents
  prose init --agents --dry-run       show what would be written")]
pub(crate) struct InitArgs {
    /// The folder of the project; it is created if it does not exist
    #[arg(value_name = "FOLDER", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) kits: KitArgs,
}

/// Set up a project in a new folder
///
/// The same as `prose init`, but the folder must not exist or must be empty.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the project is set up
  2  wrong usage, a folder that is not empty, or a file that could not be read or written

Examples:
  prose new tides
  prose new tides --agents claude     also for a coding agent")]
pub(crate) struct NewArgs {
    /// The folder of the project
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) kits: KitArgs,
}

/// What `prose init` and `prose new` write.
#[derive(Debug, Args)]
pub(crate) struct KitArgs {
    /// Also install the kits for these coding agents; without names, for those on this machine
    ///
    /// A kit lets an agent check, estimate and run programs, and teaches it the language. Without this option, you are asked at a terminal.
    #[arg(long, value_enum, value_name = "NAME", num_args = 0.., value_delimiter = ',')]
    pub(crate) agents: Option<Vec<AgentName>>,

    /// List what would be written, without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A coding agent with a kit, by the name of its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentName {
    /// Claude Code
    #[value(alias = "claude-code")]
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    #[value(alias = "gemini-cli")]
    Gemini,
    /// OpenCode
    #[value(name = "opencode")]
    OpenCode,
}

impl AgentName {
    pub(crate) const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::OpenCode];

    /// The name of the product.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::OpenCode => "OpenCode",
        }
    }

    /// The program, which is searched in `PATH`.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
        }
    }
}

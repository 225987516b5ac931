//! The arguments of `prose mcp`, `prose acp` and `prose dap`.

use std::path::PathBuf;

use clap::Args;

/// Serve agents by the Model Context Protocol on standard input and output
///
/// Agents can check, format, describe and estimate the programs of a project, read about the language, and, where the setting `mcp.run` of the project allows
/// it, run them. No tool writes a file of the project.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the client closed the connection, or a signal ended the server
  2  the server could not be started, or the connection broke

Example, for the settings of a client:
  { \"mcpServers\": { \"prose\": { \"command\": \"prose\", \"args\": [\"mcp\"] } } }")]
pub(crate) struct McpArgs {
    /// The folder of the project; programs outside of it are refused
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// Fetch nothing; use cached copies of imported programs, however old
    #[arg(long)]
    pub(crate) offline: bool,
}

/// Serve programs to editors by the Agent Client Protocol on standard input and output
///
/// An editor such as Zed, JetBrains or Neovim starts it as an agent. A prompt names a program and gives its inputs; the statements are shown as a plan and the
/// sessions as tool calls. The programs run under the settings, the limits and the trust of the project.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the client closed the connection, or a signal ended the server
  2  the server could not be started, or the connection broke

Example, for the settings of Zed:
  { \"agent_servers\": { \"OpenProse\": { \"type\": \"custom\", \"command\": \"prose\", \"args\": [\"acp\"] } } }")]
pub(crate) struct AcpArgs {
    /// The program that every session runs; without it, a prompt starts with the name of one
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: Option<String>,

    /// The folder of the project; programs outside of it are refused
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// Fetch nothing; use cached copies of imported programs, however old
    #[arg(long)]
    pub(crate) offline: bool,
}

/// Debug programs and runs by the Debug Adapter Protocol on standard input and output
///
/// An editor starts it as a debug adapter. `launch` with `program` starts a program and stops at breakpoints; with `run` it shows a run that `prose runs` lists,
/// step by step and backwards, and asks nothing. The programs run under the settings, the limits and the trust of their project.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  the client has disconnected
  2  the debugger could not be started, or the connection broke

Example, for Neovim with nvim-dap:
  require('dap').adapters.prose = { type = 'executable', command = 'prose', args = { 'dap' } }")]
pub(crate) struct DapArgs {
    /// Wait for one client on this port of the loopback address instead; 0 chooses a free port
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// Trust the projects of the programs, for an editor whose user has trusted the workspace
    #[arg(long)]
    pub(crate) trust: bool,

    /// The folder that relative paths start from, if the client names none
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
}

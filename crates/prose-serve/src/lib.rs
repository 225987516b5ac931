//! Servers that offer programs: [`mcp`] to agents, by the Model Context Protocol, and [`acp`] to editors, by the Agent Client Protocol.
//!
//! Both serve one folder under the settings and the trust of its project: a client can change neither the harness nor the limits nor the permissions
//! of a run, and reads nothing outside of the folder.

pub mod acp;
mod elsewhere;
mod folder;
pub mod mcp;
mod report;
mod runnable;
mod runs;

use std::path::PathBuf;

use prose_run::UserTrust;

/// What a server serves.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of the project. Programs outside of it are refused.
    pub folder: PathBuf,
    /// Whether to fetch nothing.
    pub offline: bool,
    /// What the user trusts.
    pub trust: UserTrust,
}

//! `prose cluster grant` and `revoke`: what users may do on a server.

use std::io;

use prose_state::{Role, grant};

use super::server::server_named;
use super::worker::refused;
use crate::cli::cluster::{ServerArgs, UserRole};
use crate::status::Status;
use crate::terminal::Terminal;

impl From<UserRole> for Role {
    fn from(role: UserRole) -> Self {
        match role {
            UserRole::Coordinator => Self::Coordinator,
            UserRole::Worker => Self::Worker,
            UserRole::Reader => Self::Reader,
        }
    }
}

/// Gives a role to a user, or takes all rights from the user.
pub(super) fn grant_role(
    role: Option<UserRole>,
    user: &str,
    args: &ServerArgs,
    terminal: &Terminal,
) -> io::Result<Status> {
    let granted = server_named(args).and_then(|server| grant(&server, role.map(Role::from), user));
    match granted {
        Ok(()) => Ok(Status::Clean),
        Err(error) => refused(terminal, &error.to_string()),
    }
}

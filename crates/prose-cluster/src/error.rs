//! Why something cannot be done with a cluster.

use std::error::Error as _;
use std::fmt;
use std::io;

use prose_state::{Server, StateError};

use crate::bundle::BundleError;

/// An error of a cluster.
#[derive(Debug)]
pub enum ClusterError {
    /// The server cannot be used, or has no such run.
    State(StateError),
    /// The server refuses a statement: its name, and what it says.
    Statement(String, tokio_postgres::Error),
    /// The run cannot be bundled.
    Bundle(BundleError),
    /// The system reports an error.
    Io(io::Error),
}

impl ClusterError {
    /// What a server says to a statement.
    pub(crate) fn of(server: &Server) -> impl Fn(tokio_postgres::Error) -> Self {
        let server = server.to_string();
        move |error| Self::Statement(server.clone(), error)
    }
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(error) => error.fmt(f),
            Self::Statement(server, error) => {
                write!(f, "the PostgreSQL server `{server}`: {error}")?;
                error.source().map_or(Ok(()), |source| write!(f, ": {source}"))
            }
            Self::Bundle(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ClusterError {}

impl From<StateError> for ClusterError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl From<BundleError> for ClusterError {
    fn from(error: BundleError) -> Self {
        Self::Bundle(error)
    }
}

impl From<io::Error> for ClusterError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

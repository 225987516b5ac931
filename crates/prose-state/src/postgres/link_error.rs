//! Why something could not be done with a server, and what that means for a connection.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::error::SqlState;

/// Why something could not be done with a server.
#[derive(Debug)]
pub(crate) enum LinkError {
    /// What the server says, or why it cannot be reached.
    Server(tokio_postgres::Error),
    /// The server is of no use for another reason.
    Refused(String),
    /// It could not be used a moment ago, and why.
    Unreachable(Arc<LinkError>),
    /// It has not answered for so long.
    Silent(Duration),
    /// The server could not be reached for so long that the run is given up.
    Lost(Duration, String),
    /// The process was asked to end while it waited for the server.
    Interrupted,
}

impl LinkError {
    /// The code of an error of the server.
    pub(crate) fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Server(error) => error.code(),
            Self::Unreachable(error) => error.code(),
            Self::Refused(_) | Self::Silent(_) | Self::Lost(..) | Self::Interrupted => None,
        }
    }

    /// The same as an error of input and output.
    pub(crate) fn into_io(self) -> io::Error {
        let kind = match &self {
            Self::Interrupted => io::ErrorKind::Interrupted,
            _ if self.code() == Some(&SqlState::DISK_FULL) => io::ErrorKind::StorageFull,
            _ if self.code() == Some(&SqlState::UNDEFINED_TABLE) => io::ErrorKind::InvalidData,
            error if error.is_lost() => io::ErrorKind::NotConnected,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, self.to_string())
    }
}

impl From<tokio_postgres::Error> for LinkError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(error) => f.write_str(&plain(error)),
            Self::Refused(why) => f.write_str(why),
            Self::Unreachable(error) => error.fmt(f),
            Self::Silent(time) => write!(f, "it does not answer within {} seconds", time.as_secs()),
            Self::Lost(time, why) => {
                write!(f, "the connection was lost {} seconds ago: {why}", time.as_secs())
            }
            Self::Interrupted => f.write_str("the run was interrupted while it waited for the server"),
        }
    }
}

/// What the server says, or what the reason is: the library itself only says what it was doing.
pub(crate) fn plain(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return error.message().to_owned();
    }
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

impl LinkError {
    /// Whether there is no connection, or none that is of any use, so that another one may do.
    pub(crate) fn is_lost(&self) -> bool {
        const SERVER: [SqlState; 9] = [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::CONNECTION_FAILURE,
            SqlState::CONNECTION_EXCEPTION,
            SqlState::TOO_MANY_CONNECTIONS,
            SqlState::IDLE_SESSION_TIMEOUT,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
            // Another server has taken its place.
            SqlState::READ_ONLY_SQL_TRANSACTION,
        ];
        match self {
            Self::Server(error) => match error.code() {
                Some(code) => SERVER.contains(code),
                None => is_about_network(error),
            },
            Self::Unreachable(error) => error.is_lost(),
            Self::Silent(_) => true,
            Self::Refused(_) | Self::Lost(..) | Self::Interrupted => false,
        }
    }
}

/// Whether the system could not reach the server, or a connection has ended, rather than that both could not agree.
pub(crate) fn is_about_network(error: &tokio_postgres::Error) -> bool {
    let source = std::error::Error::source(error);
    let of_system = source.and_then(|source| source.downcast_ref::<io::Error>());
    // A certificate that is refused is so the next time.
    error.is_closed()
        || of_system.is_some_and(|error| error.get_ref().is_none_or(|inner| !inner.is::<rustls::Error>()))
}

/// Whether the two could not agree on an encrypted connection, such as on a certificate.
pub(crate) fn is_about_tls(error: &tokio_postgres::Error) -> bool {
    let source = std::error::Error::source(error);
    source
        .and_then(|source| source.downcast_ref::<io::Error>())
        .is_some_and(|error| error.get_ref().is_some_and(|error| error.is::<rustls::Error>()))
}

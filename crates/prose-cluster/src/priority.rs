//! How urgent a run is.

use prose_state::{Server, protocol};

use crate::connection::execute;
use crate::error::ClusterError;

/// The priority of a run. A session of a lower priority starts only if no free one of a higher priority has the same harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Priority {
    /// When nothing else is to be done.
    Low,
    /// Without a flag.
    #[default]
    Normal,
    /// Before all else.
    High,
}

impl Priority {
    /// All, from the lowest.
    pub const ALL: [Self; 3] = [Self::Low, Self::Normal, Self::High];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }

    /// As it stands in the tables.
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::Low => -1,
            Self::Normal => 0,
            Self::High => 1,
        }
    }
}

/// Gives a run that has not ended another priority. Returns whether there is such a run.
pub fn prioritize(server: &Server, run: &str, priority: Priority) -> Result<bool, ClusterError> {
    let rows = execute(server, protocol::PRIORITIZE, &[&run, &priority.number()], Some("effect"))?;
    Ok(!rows.is_empty())
}

//! A session statement and its agent, as far as they are written.

use prose_analysis::model::Property;
use smol_str::SmolStr;

use crate::program::{At, property};

/// A session statement and its agent, as far as they are written.
pub(super) struct WrittenSession<'a> {
    pub(super) agent: Option<(SmolStr, At)>,
    pub(super) resumes: bool,
    pub(super) own: &'a [Property],
    pub(super) of_agent: &'a [Property],
}

impl WrittenSession<'_> {
    /// The property of that name: the session's own, else the agent's (R27), with the statement it stands in.
    pub(super) fn property(&self, at: At, name: &str) -> Option<(At, &Property)> {
        let own = property(self.own, name).map(|property| (at, property));
        own.or_else(|| {
            let (_, agent) = self.agent.as_ref()?;
            property(self.of_agent, name).map(|property| (*agent, property))
        })
    }
}

//! What each agent of a run has used.

use prose_vm::effect::Usage;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use smol_str::SmolStr;

use crate::json::optional;

/// Who has made requests to a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentKey {
    /// The sessions of an agent of the program, or those without an agent.
    Session(Option<SmolStr>),
    /// Conditions, choices, extractions and summaries.
    Decisions,
}

/// What the requests of an agent have used, with failed and cancelled ones.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTotal {
    /// The agent.
    pub key: AgentKey,
    /// The number of requests: attempts of sessions, or decisions.
    pub requests: u32,
    /// Their usage, if any was reported.
    pub usage: Option<Usage>,
}

impl AgentTotal {
    pub(crate) fn new(key: &AgentKey) -> Self {
        Self { key: key.clone(), requests: 0, usage: None }
    }

    /// The name for lists.
    pub fn name(&self) -> &str {
        match &self.key {
            AgentKey::Session(Some(agent)) => agent,
            AgentKey::Session(None) => "(no agent)",
            AgentKey::Decisions => "(decisions)",
        }
    }
}

impl Serialize for AgentTotal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name())?;
        match &self.key {
            AgentKey::Session(agent) => map.serialize_entry("agent", agent)?,
            AgentKey::Decisions => map.serialize_entry("decisions", &true)?,
        }
        map.serialize_entry("requests", &self.requests)?;
        optional(&mut map, "usage", &self.usage)?;
        map.end()
    }
}

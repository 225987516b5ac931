//! What a session of each harness needs of the machine.

/// What sessions of a harness need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// The memory of each session in MB.
    pub session_mb: u32,
    /// The memory in MB of the server that all its sessions share.
    pub shared_mb: u32,
    /// What its sessions are to the cores of the machine.
    pub load: Load,
}

/// What sessions are to the cores of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// Each session has a process of its own or runs commands.
    Processes,
    /// Sessions wait for a server elsewhere.
    Requests,
    /// Sessions ask no model. How many there are does not depend on the machine, so that runs are the same everywhere.
    Nothing,
}

/// The number of sessions at the same time that a core allows. Agents wait for their provider most of the time, and take about a second of a core to start.
const SESSIONS_PER_CORE: usize = 4;

/// The number of parallel requests that providers accept from most accounts.
const MAX_REQUESTS: usize = 32;

/// The number of sessions at the same time where no model is asked.
const MAX_WITHOUT_MODEL: usize = 8;

/// Programs that are not known are taken for agents of a common size.
const UNKNOWN: Footprint = process(200);

/// The peak of the resident memory of a session with one tool call, without what processes share. That of `claude` was measured on Linux with the version in
/// `tests/agents/package.json` and rounded up; the others are estimates.
const FOOTPRINTS: &[(&str, Footprint)] = &[
    ("offline", Footprint { session_mb: 0, shared_mb: 0, load: Load::Nothing }),
    ("script", Footprint { session_mb: 0, shared_mb: 0, load: Load::Nothing }),
    ("claude", process(190)),
    ("codex", Footprint { session_mb: 8, shared_mb: 80, load: Load::Processes }),
    ("opencode", Footprint { session_mb: 12, shared_mb: 450, load: Load::Processes }),
    ("claude-agent-acp", process(280)),
    ("codex-acp", process(120)),
    ("gemini", process(200)),
    ("opencode-acp", process(300)),
    ("qwen", process(200)),
    ("acp", UNKNOWN),
    ("command", UNKNOWN),
    ("provider", Footprint { session_mb: 0, shared_mb: 0, load: Load::Requests }),
];

const fn process(session_mb: u32) -> Footprint {
    Footprint { session_mb, shared_mb: 0, load: Load::Processes }
}

impl Footprint {
    /// The needs of a harness.
    pub fn of(harness: &str) -> Self {
        FOOTPRINTS.iter().find(|(name, _)| *name == harness).map_or(UNKNOWN, |(_, footprint)| *footprint)
    }

    /// The maximum number of sessions at the same time on a machine with so many cores, unless the user sets it.
    pub fn max_parallel(self, cores: usize) -> usize {
        match self.load {
            Load::Processes => cores.max(1) * SESSIONS_PER_CORE,
            Load::Requests => MAX_REQUESTS,
            Load::Nothing => MAX_WITHOUT_MODEL,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::HARNESSES;

    #[test]
    fn the_table_has_every_harness() {
        let known: Vec<_> = FOOTPRINTS.iter().map(|(name, _)| *name).collect();
        for info in HARNESSES {
            assert!(known.contains(&info.name), "{}", info.name);
        }
        assert_eq!(known.len(), HARNESSES.len());
    }
}

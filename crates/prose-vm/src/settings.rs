//! What a run may be told besides its program.

use std::sync::Arc;

use prose_rights::Grants;
use smol_str::SmolStr;

use crate::event::{JOURNAL_VERSION, RunHead, ScriptFile, StateMode};
use crate::value::Value;

/// How a program is run. Two runs with the same settings, program and outcomes are the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The id of the run (R96).
    pub run: SmolStr,
    /// What the program was called and read from when the run was started; none in a run that starts.
    pub origin: Option<(SmolStr, String)>,
    /// The form of the journal, which a run keeps to its end.
    pub journal_version: u32,
    /// The state system.
    pub state: StateMode,
    /// The name of the harness.
    pub harness: SmolStr,
    /// The file that the harness takes its answers from.
    pub script: Option<Box<ScriptFile>>,
    /// What decides what the offline harness answers.
    pub seed: u64,
    /// The inputs that the caller gives (R88).
    pub inputs: Vec<(SmolStr, Value)>,
    /// Whether agents read files, so that context is passed by reference (decision 12).
    pub context_by_reference: bool,
    /// Whether agents write the files of bindings and memories themselves (decision 11).
    pub agents_write: bool,
    /// How often a loop without a limit of its own is repeated (R61, `run.max-iterations`).
    pub max_iterations: u32,
    /// The pause of `backoff: linear`, and the first one of `exponential`, in milliseconds (R78).
    pub backoff_ms: u64,
    /// The longest pause of `backoff: exponential`, in milliseconds.
    pub backoff_cap_ms: u64,
    /// What programs that were fetched may do (decision 19). No part of what a run was started with: a person may grant more, or take it back.
    pub grants: Arc<Grants>,
}

impl Settings {
    /// How often a block may be nested in calls that does not say so itself (R84).
    pub const MAX_DEPTH: u32 = 100;

    /// The settings of a run that nobody has said anything about.
    pub fn new(run: impl Into<SmolStr>) -> Self {
        Self {
            run: run.into(),
            origin: None,
            journal_version: JOURNAL_VERSION,
            state: StateMode::Filesystem,
            harness: "offline".into(),
            script: None,
            seed: 0,
            inputs: Vec::new(),
            context_by_reference: false,
            agents_write: false,
            max_iterations: 1000,
            backoff_ms: 1000,
            backoff_cap_ms: 60_000,
            grants: Arc::default(),
        }
    }

    /// The settings that a run was started with.
    pub fn of(head: &RunHead) -> Self {
        Self {
            run: head.run.clone(),
            origin: Some((head.program.clone(), head.from.clone())),
            journal_version: head.version,
            state: head.state,
            harness: head.harness.clone(),
            script: head.script.clone(),
            seed: head.seed,
            inputs: head.inputs.clone(),
            context_by_reference: head.context_by_reference,
            agents_write: head.agents_write,
            max_iterations: head.max_iterations,
            backoff_ms: head.backoff_ms,
            backoff_cap_ms: head.backoff_cap_ms,
            grants: Arc::default(),
        }
    }
}

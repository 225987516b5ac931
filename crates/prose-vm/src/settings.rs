//! The settings of a run.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use prose_rights::Grants;
use smol_str::SmolStr;

use crate::budget::Maximum;
use crate::earlier::{ChangedVariable, EarlierRun, VariableSetBefore};
use crate::effect::Permission;
use crate::event::{JOURNAL_VERSION, RecordedRoute, RunHead, ScriptFile, StateMode};
use crate::part::RunPart;
use crate::value::Value;

/// The settings of a run. The same settings, program and outcomes give the same run.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The id of the run (R96).
    pub run: SmolStr,
    /// The name and the source of the program when the run was started; `None` in a new run.
    pub origin: Option<(SmolStr, String)>,
    /// The version of the journal format, which does not change during a run.
    pub journal_version: u32,
    /// The backend for the state.
    pub state: StateMode,
    /// The name of the harness.
    pub harness: SmolStr,
    /// The agents and decisions with another harness.
    pub routes: Vec<RecordedRoute>,
    /// The script of the harness.
    pub script: Option<Box<ScriptFile>>,
    /// The seed of the offline harness.
    pub seed: u64,
    /// The limits of the run that were given by flags.
    pub caps: Vec<Maximum>,
    /// The time in milliseconds after which each execution of the run stops.
    pub timeout_ms: Option<u64>,
    /// The inputs from the caller (R88).
    pub inputs: Vec<(SmolStr, Value)>,
    /// Whether context is passed by reference (decision 12).
    pub context_by_reference: bool,
    /// Whether agents write the files of bindings and memories themselves (decision 11).
    pub agents_write: bool,
    /// Whether branches that may change files work in trees of their own (`run.isolation`).
    pub isolates: bool,
    /// The maximum number of iterations of a loop without its own limit (R61, `run.max-iterations`).
    pub max_iterations: u32,
    /// The delay of `backoff: linear`, and the first one of `exponential`, in milliseconds (R78).
    pub backoff_ms: u64,
    /// The maximum delay of `backoff: exponential`, in milliseconds.
    pub backoff_cap_ms: u64,
    /// The earlier run whose outcomes are taken.
    pub earlier: Option<Box<EarlierRun>>,
    /// The variables that a person set in the run before its program changed.
    pub set_before: Vec<VariableSetBefore>,
    /// The part of the program that is executed; `None` for the whole program.
    pub part: Option<Box<RunPart>>,
    /// The span of a trace that the run was started in.
    pub traceparent: Option<SmolStr>,
    /// The variables that a person has set in this run, as its journal records them in events of their own.
    pub changed: Vec<ChangedVariable>,
    /// The rights of fetched programs (decision 19). Not recorded: a user may grant or revoke rights before a run is resumed.
    pub grants: Arc<Grants>,
    /// The absolute path of the folder that contains `.prose`, for the paths in prompts. Not recorded: a project may be moved before a run is resumed.
    pub root: Option<Arc<str>>,
    /// The home folder, for the same.
    pub home: Option<Arc<str>>,
    /// The permissions of sessions for subjects about which neither they nor their agents have a rule (`run.permissions`). Not recorded, like the
    /// rights.
    pub permissions: Arc<[Permission]>,
}

impl Settings {
    /// The maximum call depth of a block without its own limit (R84).
    pub const MAX_DEPTH: u32 = 100;

    /// The default settings of a run.
    pub fn new(run: impl Into<SmolStr>) -> Self {
        Self {
            run: run.into(),
            origin: None,
            journal_version: JOURNAL_VERSION,
            state: StateMode::Filesystem,
            harness: "offline".into(),
            routes: Vec::new(),
            script: None,
            seed: 0,
            caps: Vec::new(),
            timeout_ms: None,
            inputs: Vec::new(),
            context_by_reference: false,
            agents_write: false,
            isolates: false,
            max_iterations: 1000,
            backoff_ms: 1000,
            backoff_cap_ms: 60_000,
            earlier: None,
            set_before: Vec::new(),
            part: None,
            traceparent: None,
            changed: Vec::new(),
            grants: Arc::default(),
            root: None,
            home: None,
            permissions: Arc::default(),
        }
    }

    /// The recorded settings of a run.
    pub fn of(head: &RunHead) -> Self {
        Self {
            origin: Some((head.program.clone(), head.from.clone())),
            journal_version: head.version,
            state: head.state,
            harness: head.harness.clone(),
            routes: head.routes.clone(),
            script: head.script.clone(),
            seed: head.seed,
            caps: head.caps.clone(),
            timeout_ms: head.timeout_ms,
            inputs: head.inputs.clone(),
            context_by_reference: head.context_by_reference,
            agents_write: head.agents_write,
            isolates: head.isolates,
            max_iterations: head.max_iterations,
            backoff_ms: head.backoff_ms,
            backoff_cap_ms: head.backoff_cap_ms,
            earlier: head.earlier.clone(),
            set_before: head.set_before.clone(),
            part: head.part.clone(),
            traceparent: head.traceparent.clone(),
            ..Self::new(head.run.clone())
        }
    }

    /// The variables that a person changes, in the order in which they are set.
    pub(crate) fn changed_variables(&self) -> impl Iterator<Item = &ChangedVariable> {
        let of_fork = self.earlier.iter().flat_map(|earlier| &earlier.variables);
        of_fork.chain(self.set_before.iter().map(|set| &set.changed)).chain(&self.changed)
    }

    /// The route of an agent, or of decisions.
    fn route(&self, agent: Option<&str>) -> Option<&RecordedRoute> {
        self.routes.iter().find(|route| route.agent.as_deref() == agent)
    }

    /// The skills of an agent, if they are not those in the program.
    pub(crate) fn agent_skills(&self, agent: Option<&str>) -> Option<&[SmolStr]> {
        agent.and_then(|agent| self.route(Some(agent))?.skills.as_deref())
    }

    /// Whether context is passed to the sessions of an agent by reference.
    pub fn agent_reads(&self, agent: Option<&str>) -> bool {
        let route = agent.and_then(|agent| self.route(Some(agent)));
        route.map_or(self.context_by_reference, |route| route.context_by_reference)
    }

    /// Whether an agent writes the files of bindings and memories itself.
    pub fn agent_writes(&self, agent: Option<&str>) -> bool {
        let route = agent.and_then(|agent| self.route(Some(agent)));
        route.map_or(self.agents_write, |route| route.agents_write)
    }

    /// Whether branches in which an agent may change files work in trees of their own.
    pub(crate) fn agent_isolates(&self, agent: Option<&str>) -> bool {
        let route = agent.and_then(|agent| self.route(Some(agent)));
        route.map_or(self.isolates, |route| route.isolates)
    }

    /// Whether branches of any agent do.
    pub(crate) fn isolates_any(&self) -> bool {
        self.isolates || self.routes.iter().any(|route| route.isolates)
    }

    /// Whether the evidence of decisions is passed by reference.
    pub fn judge_reads(&self) -> bool {
        self.route(None).map_or(self.context_by_reference, |route| route.context_by_reference)
    }

    /// A path as agents are told it: absolute, if the folders are known.
    pub(crate) fn absolute<'a>(&self, path: &'a str) -> Cow<'a, str> {
        let (folder, below) = match path.strip_prefix("~/") {
            Some(below) => (&self.home, below),
            None => (&self.root, path),
        };
        match folder {
            // On Windows, too, agents and their tools accept slashes.
            Some(folder) if !Path::new(path).is_absolute() => {
                format!("{}/{below}", folder.trim_end_matches(['/', '\\'])).into()
            }
            _ => path.into(),
        }
    }
}

//! A run to start or to resume, as a face asks for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prose_config::{AgentConfigs, Config, McpServerConfigs, ModelAliases, RunConfig, RunStore};
use prose_narration::transcript::Recovered;
use prose_project::trust::{TrustSubject, UserTrust};
use prose_rights::Grants;
use prose_state::folder::Project;
use prose_state::replay::RecordedRun;
use prose_vm::earlier::ChangedVariable;
use prose_vm::event::StateMode;
use prose_vm::harness::Harness;
use prose_vm::part::RunPart;
use prose_vm::place::Place;
use prose_vm::program::Program;
use prose_vm::questions::Attribution;
use prose_vm::runner::Limits;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::money::Money;

/// Makes another harness of the one that a run would ask.
pub type Dispatch = Arc<dyn Fn(Arc<dyn Harness>) -> Arc<dyn Harness> + Send + Sync>;

/// A run to start or to resume.
#[derive(Clone)]
pub struct RunRequest {
    /// The program. It has no errors (decision 15).
    pub program: Arc<Program>,
    /// The folder that stores the runs.
    pub project: Project,
    /// Whether the run starts or is resumed.
    pub start: Start,
    /// The id of a new run that has files, as [`run_id`] makes it; `None` for one of the time at which it starts. It is not used if another run
    /// has it.
    ///
    /// [`run_id`]: prose_state::folder::run_id
    pub id: Option<SmolStr>,
    /// The backend for the state of a new run.
    pub state: StateMode,
    /// The harness; `None` for that of the resumed run or of the project's settings.
    pub harness: Option<String>,
    /// The script for the harness `script`; `None` for that of the resumed run.
    pub script: Option<PathBuf>,
    /// What answers a new run instead of a harness by name: the answers of a test. Such a run writes no files, and the memories of its agents start empty
    /// and end with it.
    pub stand_in: Option<Arc<dyn Harness>>,
    /// Puts something between the run and its harness, such as what lets other machines perform requests.
    pub dispatch: Option<Dispatch>,
    /// The model of all sessions, instead of those in the program.
    pub model: Option<String>,
    /// The seed of the offline harness in a new run.
    pub seed: u64,
    /// The delay of each reply of the offline harness.
    pub delay: Duration,
    /// The inputs of a new run.
    pub inputs: Vec<(SmolStr, Value)>,
    /// The part of the program that a new run or a dry run executes; `None` for the whole program.
    pub part: Option<RunPart>,
    /// The settings of the project.
    pub config: RunConfig,
    /// The agents with a backend of their own, and the names of models.
    pub routes: Routes,
    /// The rights of fetched programs (decision 19).
    pub grants: Grants,
    /// The limits of the run. Those of `money` are added to its budget; those of parallel sessions follow from the settings and the machine.
    pub limits: Limits,
    /// The limits of flags and settings, and the prices.
    pub money: Money,
    /// The time after which the execution stops; `None` for that of the resumed run.
    pub timeout: Option<Duration>,
    /// What the user must trust before a program is started.
    pub subject: TrustSubject,
    /// What the user trusts.
    pub trust: UserTrust,
    /// The span of a trace that a new run starts in, instead of that of this process.
    pub traceparent: Option<SmolStr>,
    /// Whether the user named the program, instead of the journal of a resumed run.
    pub names_program: bool,
}

impl RunRequest {
    /// The time limit of an execution in milliseconds.
    pub(crate) fn timeout_ms(&self) -> Option<u64> {
        self.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
    }

    /// A run of a program with the settings of its project, of which the caller changes what its arguments say.
    pub fn new(
        program: Arc<Program>,
        project: Project,
        start: Start,
        config: &Config,
        trust: UserTrust,
    ) -> Self {
        Self {
            program,
            subject: TrustSubject::new(&project.root, config),
            trust,
            names_program: true,
            project,
            state: start.state(&config.run),
            start,
            id: None,
            harness: None,
            script: None,
            stand_in: None,
            dispatch: None,
            model: None,
            seed: 0,
            delay: Duration::ZERO,
            inputs: Vec::new(),
            part: None,
            limits: Limits { stalled_after: config.run.stalled_after.duration(), ..Limits::default() },
            money: Money::of(config),
            timeout: None,
            traceparent: None,
            config: config.run.clone(),
            routes: Routes::of(config),
            grants: config.grants(),
        }
    }
}

/// Which agents have a backend or tools of their own, and which ids names of models stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Routes {
    /// The agents.
    pub agents: AgentConfigs,
    /// The names of models.
    pub models: ModelAliases,
    /// The MCP servers.
    pub servers: McpServerConfigs,
}

impl Routes {
    /// Those of a project.
    pub fn of(config: &Config) -> Self {
        Self {
            agents: config.agents.clone(),
            models: config.models.clone(),
            servers: config.mcp.servers.clone(),
        }
    }
}

/// Whether a run starts or is resumed.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// A new run.
    New,
    /// A new run that only produces its prompts: it writes no files, and the offline harness replies instead of agents.
    Dry,
    /// Resumes a run from its files.
    Resume {
        /// Its id.
        run: SmolStr,
        /// Whether the program may have changed: recorded results that still match are reused (decision 10).
        accept_changes: bool,
    },
    /// Resumes a run from its narration alone.
    Transcript(Box<Recovered>),
    /// A new run with the answers of an earlier one: a replay or a fork.
    From(Box<FromRun>),
}

impl Start {
    /// The backend for the state of a new run: that of the settings, or that of the run whose answers it takes, whose prompts depend on it.
    fn state(&self, config: &RunConfig) -> StateMode {
        match (self, config.state) {
            (Start::From(from), _) => from.recorded.head.state,
            (_, RunStore::Filesystem) => StateMode::Filesystem,
            (_, RunStore::Sqlite) => StateMode::Sqlite,
            (_, RunStore::Postgres) => StateMode::Postgres,
        }
    }

    /// Whether nothing is asked and nothing is started: no agent, no process and no connection.
    pub(crate) fn is_replay(&self) -> bool {
        matches!(self, Start::From(from) if !from.is_live)
    }
}

/// The earlier run whose answers a new run takes.
#[derive(Debug, Clone, PartialEq)]
pub struct FromRun {
    /// The earlier run. It is only read.
    pub recorded: RecordedRun,
    /// The number of its event before which answers are taken; `None` for all.
    pub before: Option<u64>,
    /// Whether the harness is asked what is not recorded. Otherwise the run stops there.
    pub is_live: bool,
    /// Whether it is a replay rather than a fork.
    pub is_replay: bool,
    /// The variables that get other values.
    pub variables: Vec<ChangedVariable>,
    /// The replies of sessions that are replaced, by place.
    pub replies: Vec<(Place, Arc<str>)>,
    /// Who changes them.
    pub by: Option<Attribution>,
    /// The number of lines before the program in its document, in which messages count lines; 0 where they count those of the program.
    pub first_line: u32,
}

impl FromRun {
    /// All answers of a run, and nothing else.
    pub fn replay(recorded: RecordedRun) -> Self {
        Self {
            recorded,
            before: None,
            is_live: false,
            is_replay: true,
            variables: Vec::new(),
            replies: Vec::new(),
            by: None,
            first_line: 0,
        }
    }
}

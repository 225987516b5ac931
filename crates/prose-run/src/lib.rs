//! Starts and resumes runs: connects the machine, a store for the state and a harness.
//!
//! [`prepare`] creates or opens the files of a run and reports what it found; [`PreparedRun::execute`] executes it on the calling thread.

mod changes;
pub mod control;
mod departure;
mod describe;
mod dry_run;
mod earlier;
mod error;
mod estimate;
mod execution;
mod fork;
mod fork_plan;
mod fork_point;
mod installed;
mod limited_agents;
mod line_map;
mod memory;
mod money;
mod moved;
mod notify;
mod origin;
mod outline;
mod parallelism;
mod part;
mod permissions;
mod preview;
mod program_check;
mod project;
pub mod questions;
mod redaction;
mod rehearsal;
mod request;
mod rights;
mod run_settings;
mod seal;
mod state;
mod tools;
mod traces;
mod trees;

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use prose_config::{Isolation, WhenWaiting};
use prose_harness::offline::Offline;
use prose_harness::one_model::OneModel;
pub use prose_harness::registry::asks_model;
use prose_harness::registry::{HarnessSettings, harness, has_tools, used_harnesses};
use prose_harness::replay::NotRecorded;
pub use prose_narration::Markers;
use prose_narration::ProgramSize;
pub use prose_narration::transcript::{Recovered, read as read_narration};
pub use prose_project::UserFiles;
pub use prose_project::trust::{TrustError, TrustSubject, UserTrust};
pub use prose_rights::{Grants, Right};
pub use prose_state::folder::Project;
use prose_state::replay::RecordedRun;
use prose_vm::budget::Budget;
use prose_vm::command::{Command, CommandSender, Commands};
use prose_vm::effect::Request;
use prose_vm::event::{Event, RunEnd, RunHead};
use prose_vm::gate::Gate;
use prose_vm::harness::Harness;
use prose_vm::machine::Machine;
use prose_vm::place::Place;
use prose_vm::questions::{AnswerSource, OpenQuestion, RecordedAnswer};
use prose_vm::runner::{self, Limits, Trees};
use prose_vm::secrets::Secrets;
use prose_vm::settings::Settings;

use crate::departure::Departure;
pub use crate::describe::describe;
pub use crate::dry_run::{DryRun, DryRunPrompt};
pub use crate::earlier::{NearestRequest, asked_text, nearest_request, recorded_run};
pub use crate::error::{RunFailure, Unconfirmed, Untrusted};
pub use crate::estimate::{EstimateRequest, History, MAX_RUNS, RunEstimate, estimate_block, estimate_run};
pub use crate::fork::{Fork, ForkError, ForkRequest, plan_fork};
pub use crate::fork_plan::{ForkPlan, describe_fork};
pub use crate::fork_point::Point;
pub use crate::installed::missing_program;
pub use crate::line_map::LineMap;
pub use crate::money::{Caps, Money, flag_that_raises, how_to_continue};
use crate::money::{RunAccounts, limits_set_later};
pub use crate::notify::{Notification, Notifier};
use crate::origin::Origin;
pub use crate::origin::{check_trust, harness_of, is_confirmed};
pub use crate::parallelism::{Machine as MachineResources, Parallelism};
pub use crate::permissions::{Unenforced, UnenforcedRule};
pub use crate::preview::{Preview, PreviewPrompt, PreviewValue, ValueOrigin, preview};
pub use crate::project::{TemporaryProject, keep_run, project_at};
use crate::questions::user;
pub use crate::questions::{ApprovalAnswer, Questions};
pub use crate::redaction::Redaction;
use crate::rehearsal::{QuestionPrompts, Rehearsal};
pub use crate::request::{Dispatch, FromRun, Routes, RunRequest, Start};
pub use crate::rights::MissingRights;
use crate::run_settings::{absolute, settings};
use crate::state::{AnyRecording, StoreKind};
pub use crate::tools::{MissingTools, all_servers};
use crate::traces::Traces;
use crate::trees::GitTrees;
pub use crate::trees::{changed_in_git, forget_trees, git_in, written_by_git};

/// Receives each line of a narration.
pub type NarrationSink<'a> = &'a mut dyn FnMut(&str);

/// The callbacks of a run.
pub struct RunHooks<'a> {
    /// The desk of its open questions: inputs, permissions of agents, and limits.
    pub questions: Questions,
    /// Receives every event; the second argument is false for recorded events that are executed again.
    pub observer: &'a mut dyn FnMut(&Event, bool),
    /// Interrupts the run when it completes, with a reason for the user.
    pub interrupted: Pin<Box<dyn Future<Output = String> + 'a>>,
    /// The form of the narration and its receiver. Required for runs whose state is their narration.
    pub narration: Option<(Markers, NarrationSink<'a>)>,
}

/// A run that can be executed.
pub struct PreparedRun {
    machine: Machine,
    sender: CommandSender,
    commands: Commands,
    store: StoreKind,
    recall: AnyRecording,
    harness: Arc<dyn Harness>,
    limits: Limits,
    /// The limits of its use that hold when it is executed, for display: those of `limits` are the ones of its start, since what it has recorded of later
    /// ones is repeated.
    present_limits: Budget,
    /// The time after which this execution stops.
    timeout: Option<Duration>,
    accounts: Arc<RunAccounts>,
    parallelism: Arc<Parallelism>,
    size: ProgramSize,
    settings: Settings,
    secrets: Arc<Secrets>,
    trees: Option<Arc<GitTrees>>,
    /// Stands for the working trees of a replay.
    recorded_trees: Option<Arc<dyn Trees>>,
    notifier: Notifier,
    /// Whether branches that may change files work in trees of their own.
    pub isolates: bool,
    /// The folder of the run, if it has one.
    pub folder: Option<PathBuf>,
    /// Notes for the user, such as that the journal was damaged.
    pub notes: Vec<String>,
    /// The rights of each fetched program in this run, for display.
    pub rights: Vec<String>,
    question_prompts: QuestionPrompts,
    /// The time in milliseconds since 1970-01-01 in UTC.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Holds its requests back, if it is debugged.
    pub gate: Option<Arc<dyn Gate>>,
    /// Whether it stays a process when it only waits (`run.when-waiting`).
    stays: bool,
    /// The answers that were given before it was resumed.
    answers: Vec<(Place, RecordedAnswer)>,
    /// The questions that were open before it was resumed.
    asked: Vec<OpenQuestion>,
    /// The request that stops a replay.
    not_recorded: Option<NotRecorded>,
    /// Where it takes another way than the redacted run whose answers it has.
    departure: Option<Departure>,
    /// Sends traces and metrics, if the environment asks for them.
    traces: Option<Traces>,
}

/// The result of an execution of a run.
#[derive(Debug)]
pub struct FinishedRun {
    /// The final status of the run.
    pub end: RunEnd,
    /// The error if the end could not be recorded.
    pub unrecorded: Option<io::Error>,
    /// The number of replies reused from an earlier execution.
    pub reused: u32,
    /// The number of replies from agents in this execution.
    pub ran: u32,
    /// The request that the recorded run of a replay does not have.
    pub not_recorded: Option<Request>,
}

/// Creates or opens the files and the harness of a run.
pub fn prepare(mut request: RunRequest) -> Result<PreparedRun, RunFailure> {
    let program = Arc::clone(&request.program);
    let granted = request.grants.clone();
    // Rights in the settings of an untrusted project are not granted (decision 18).
    if request.grants.has_settings() && request.trust.check(&request.subject).is_err() {
        request.grants = request.grants.without_settings();
    }
    let missing = program.missing_rights(&request.grants);
    if !missing.is_empty() && !request.start.is_replay() {
        let would_be_missing = program.missing_rights(&granted);
        let untrusted = (would_be_missing != missing).then(|| request.subject.folder.clone());
        let missing = MissingRights::new(would_be_missing, &granted, untrusted);
        return Err(RunFailure::NotGranted(Box::new(missing)));
    }
    request.project.allowed_files =
        request.config.allow_files.iter().map(|path| path.as_str().to_owned()).collect();
    for (name, value) in &mut request.inputs {
        *value = program.input_value(name, value).map_err(RunFailure::Input)?;
    }
    let request = request;
    if request.start != Start::Dry {
        program
            .named_memories(&request.grants)
            .iter()
            .try_for_each(|place| request.project.check_memory(place))?;
    }
    let origin = origin::origin(&request)?;
    origin::check_trust_for(&request, &origin.harness)?;
    let opened = state::open(&request, &origin)?;
    let recorded = match &request.start {
        Start::From(from) => Some(&from.recorded.head),
        _ => opened.head.as_ref(),
    };
    let seed = recorded.map_or(request.seed, |head| head.seed);
    if let Start::From(from) = &request.start
        && !from.is_live
    {
        let from = from.clone();
        return Ok(earlier::prepare_replay(request, opened, &from));
    }
    let made = harness_for(&request, &origin, seed, opened.folder.clone());
    let is_trusted = request.trust.check(&request.subject).is_ok();
    let (permissions, note) = permissions::of_project(&request.config.permissions, is_trusted);
    let (notifier, note_on_notify) =
        Notifier::new(&request, &opened.run, opened.folder.as_deref(), is_trusted);
    let made = made.and_then(|harness| match request.limits.allow_unenforced_permissions {
        true => Ok(harness),
        false => permissions::check(&program, &permissions, harness.as_ref())
            .map_err(RunFailure::Unenforced)
            .and_then(|()| {
                let root = &request.project.root;
                tools::check(&program, &request.routes, harness.as_ref(), root)
                    .map_err(RunFailure::MissingTools)
            })
            .map(|()| harness),
    });
    // What is checked above is what performs requests in the end.
    let made = made.map(|harness| match &request.dispatch {
        Some(dispatch) => dispatch(harness),
        None => harness,
    });
    let isolates = isolates(&request, opened.head.as_ref(), &origin.harness);
    let made = made.and_then(|harness| {
        let trees = match (isolates, &opened.folder) {
            (false, _) => None,
            (true, Some(run)) => {
                Some(GitTrees::new(&request.project.root, run).map_err(RunFailure::Isolation)?)
            }
            (true, None) if request.start == Start::Dry => {
                trees::check(&request.project.root).map_err(RunFailure::Isolation)?;
                None
            }
            (true, None) => return Err(RunFailure::Isolation(NEEDS_FILES.to_owned())),
        };
        Ok((harness, trees))
    });
    let (harness, trees) = match made {
        Ok((harness, trees)) => (harness, trees.map(Arc::new)),
        Err(failure) => {
            if matches!(request.start, Start::New | Start::From(_)) && opened.folder.is_some() {
                let run = opened.run.clone();
                // The lock ends when the files are closed.
                drop(opened);
                // A run that never started is not listed. The reason for the failure matters more than a folder that cannot be removed.
                let _ = request.project.remove_run(&run);
            }
            return Err(failure);
        }
    };
    // A dry run shows the prompts for the project itself.
    let has_trees = trees.is_some();
    let mut settings = settings(&request, &origin, &opened, harness.as_ref(), has_trees)?;
    let traces = Traces::new(&request, &opened, &mut settings);
    settings.grants = Arc::new(request.grants);
    settings.root = absolute(&request.project.root);
    settings.home = request.project.home.as_deref().and_then(absolute);
    settings.permissions = permissions;
    let rights = rights::describe(&program, &settings.grants);
    // The prompts of a dry run are those for its harness, which is not called.
    let question_prompts = QuestionPrompts::default();
    let harness: Arc<dyn Harness> = match request.start {
        Start::Dry => Arc::new(Rehearsal {
            replies: Offline::new(seed),
            of: harness,
            prompts: question_prompts.clone(),
        }),
        _ => harness,
    };
    // The programs of other machines are not started by this process.
    let harness = match traces.as_ref().filter(|_| request.dispatch.is_none()) {
        Some(traces) => traces.harness(harness),
        None => harness,
    };
    let size = program.size();
    let unlimited = match request.start {
        Start::Dry => Vec::new(),
        _ => limited_agents::notes(&request.money, &program, &request.project.root),
    };
    let asks_model = request.start != Start::Dry && asks_model(&origin.harness);
    let mut limits = request.limits;
    limits.budget.limits.extend(request.money.budget(&settings.caps, asks_model).limits);
    let mut present_limits = limits.budget.clone();
    let setting = request.config.max_parallel;
    limits.max_parallel = setting.map_or(usize::MAX, |count| count.get() as usize);
    let parallelism = Arc::new(Parallelism::new(MachineResources::this(), setting));
    // What other machines perform takes nothing of this one.
    if request.start != Start::Dry && request.dispatch.is_none() {
        limits.capacity.get_or_insert_with(|| Arc::clone(&parallelism) as _);
    }
    let (sender, commands) = Commands::channel();
    if let Start::Resume { accept_changes, .. } = request.start {
        // A new journal starts with the limits that held.
        let folder = opened.folder.as_deref().filter(|_| asks_model && !accept_changes);
        if let Some(Ok(recorded)) = folder.map(RecordedRun::in_folder) {
            limits_set_later(&recorded).for_each(|limit| present_limits.set(limit));
        }
        // A limit that the run is resumed with is the person's word from then on, also when it is resumed without one.
        for limit in request.money.caps.maxima() {
            present_limits.set(limit);
            let from = request.money.caps_from.unwrap_or(AnswerSource::CommandLine);
            sender.queue(Command::SetLimit { limit }, user(from));
        }
    }
    let accounts = Arc::new(RunAccounts::new(&request.money, asks_model, request.trust.files.clone()));
    Ok(PreparedRun {
        machine: Machine::new(program, settings.clone()),
        sender,
        commands,
        store: opened.store,
        recall: opened.recall,
        harness,
        limits,
        present_limits,
        timeout: request.timeout.or(settings.timeout_ms.map(Duration::from_millis)),
        accounts,
        parallelism,
        size,
        settings,
        secrets: Arc::new(secrets()),
        trees,
        recorded_trees: None,
        notifier,
        isolates,
        folder: opened.folder,
        notes: opened.notes.into_iter().chain(note).chain(note_on_notify).chain(unlimited).collect(),
        rights,
        question_prompts,
        clock: Arc::new(runner::now),
        gate: None,
        stays: request.config.when_waiting == WhenWaiting::Stay,
        answers: opened.answers,
        asked: opened.asked,
        not_recorded: None,
        departure: opened.departure,
        traces,
    })
}

/// The harness of a request with an origin.
fn harness_for(
    request: &RunRequest,
    origin: &Origin,
    seed: u64,
    folder: Option<PathBuf>,
) -> Result<Arc<dyn Harness>, RunFailure> {
    let made = match &request.stand_in {
        Some(stand_in) => Ok(Arc::clone(stand_in)),
        None => harness(
            &origin.harness,
            &HarnessSettings {
                seed,
                // Messages show a script as the user has just named it.
                script: (request.script.clone())
                    .or_else(|| origin.script.as_ref().map(|script| PathBuf::from(&script.path))),
                ..origin::harness_settings(request, folder)
            },
        ),
    };
    made.map(|made| match &request.model {
        Some(model) => Arc::new(OneModel::new(made, model)) as Arc<dyn Harness>,
        None => made,
    })
    .map_err(RunFailure::Harness)
}

/// The harness that a new run would ask, for who performs requests of a run that another process executes. `folder` is what stands for the folder of the run.
pub fn backend(request: &RunRequest, folder: PathBuf) -> Result<Arc<dyn Harness>, RunFailure> {
    let origin = origin::origin(request)?;
    origin::check_trust_for(request, &origin.harness)?;
    harness_for(request, &origin, request.seed, Some(folder))
}

/// What is said of a run with working trees.
pub const ISOLATION: &str =
    "parallel branches that may change files work in a git worktree each, and their changes are merged";

/// Why a run without files has no working trees.
const NEEDS_FILES: &str = "`run.isolation = \"worktree\"` needs a run that keeps its state in files; run it without `--in-context`, or set `isolation = \"none\"` in `[run]` in `prose.toml`";

/// Whether branches that may change files work in trees of their own. A resumed run keeps what it was started with.
fn isolates(request: &RunRequest, head: Option<&RunHead>, harness: &str) -> bool {
    let is_wanted = match head {
        Some(head) => head.isolates || head.routes.iter().any(|route| route.isolates),
        None => request.config.isolation == Isolation::Worktree,
    };
    let used = used_harnesses(harness, &origin::harness_settings(request, None)).into_iter().any(has_tools);
    is_wanted && used && request.program.has_branches()
}

impl PreparedRun {
    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.settings.run
    }

    /// What the run may use, and how long it may take, in a few words; `None` if nothing limits it.
    pub fn limits(&self) -> Option<String> {
        let use_of_model = money::describe(&self.present_limits, self.harness());
        let use_of_model = use_of_model.filter(|_| asks_model(self.harness()));
        let time = self.timeout.map(|time| format!("stops after {time:?} (`--timeout`)"));
        let limits: Vec<String> = use_of_model.into_iter().chain(time).collect();
        (!limits.is_empty()).then(|| limits.join("; "))
    }

    /// How many sessions are at work at the same time, and why, in a few words; `None` if no model is asked.
    pub fn parallelism(&self) -> Option<String> {
        self.limits.capacity.as_ref().and_then(|_| self.parallelism.describe(self.harness()))
    }

    /// The name of the harness.
    pub fn harness(&self) -> &str {
        self.harness.name()
    }

    /// Sends commands to the run when it is executed.
    pub fn commands(&self) -> CommandSender {
        self.sender.clone()
    }

    /// From now on, somebody is told in a sentence where the run waits for its database, and that it continues. It is called from another thread.
    pub fn tell(&self, notice: impl Fn(&str) + Send + Sync + 'static) {
        if let StoreKind::Files(store) = &self.store {
            store.tell(prose_state::Notice::new(notice));
        }
    }

    /// Whether its process waits for answers when no one is there to give them (`run.when-waiting`).
    pub fn stays(&self) -> bool {
        self.stays
    }

    /// Notifies of this run, while it is executed and afterwards.
    pub fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }
}

/// The values of the environment that agents must not report: keys that they may have received.
pub fn secrets() -> Secrets {
    let variables = std::env::vars_os();
    Secrets::of_variables(
        variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )
}

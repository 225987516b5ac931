//! Starts and resumes runs: connects the machine, a store for the state and a harness.
//!
//! [`prepare`] creates or opens the files of a run and reports what it found; [`PreparedRun::execute`] executes it on the calling thread.

mod changes;
pub mod control;
mod dry_run;
mod earlier;
mod error;
mod estimate;
mod fork;
mod fork_plan;
mod installed;
mod memory;
mod money;
mod notify;
mod origin;
mod parallelism;
mod permissions;
mod program_check;
mod project;
pub mod questions;
mod redaction;
mod rehearsal;
mod request;
mod rights;
mod seal;
mod state;
mod tools;
mod trees;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use prose_config::{Isolation, WhenWaiting};
use prose_harness::offline::Offline;
use prose_harness::one_model::OneModel;
pub use prose_harness::registry::asks_model;
use prose_harness::registry::{HarnessSettings, harness, has_tools, used_harnesses};
use prose_harness::replay::NotRecorded;
pub use prose_narration::Markers;
use prose_narration::Narrator;
use prose_narration::ProgramSize;
pub use prose_narration::transcript::{Recovered, read as read_narration};
pub use prose_project::UserFiles;
pub use prose_project::trust::{TrustError, TrustSubject, UserTrust};
pub use prose_rights::{Grants, Right};
use prose_state::agent_log::AgentLogs;
pub use prose_state::folder::Project;
use prose_vm::activity::Work;
use prose_vm::command::{CommandSender, Commands};
use prose_vm::effect::{Effect, Outcome, Request, RequestId, Usage};
use prose_vm::event::{Event, EventKind, Expense, RecordedRoute, RunEnd, RunHead, RunStatus, StateMode};
use prose_vm::gate::Gate;
use prose_vm::harness::{Capabilities, Harness};
use prose_vm::machine::Machine;
use prose_vm::place::Place;
use prose_vm::questions::{OpenQuestion, RecordedAnswer};
use prose_vm::runner::{self, Host, Limits, NoTrees, RunError, Trees};
use prose_vm::secrets::Secrets;
use prose_vm::settings::Settings;
use prose_vm::store::Recording;

pub use crate::dry_run::{DryRun, DryRunPrompt};
pub use crate::earlier::{NearestRequest, asked_text, nearest_request, recorded_run};
pub use crate::error::{RunFailure, Unconfirmed, Untrusted};
pub use crate::estimate::{EstimateRequest, History, MAX_RUNS, RunEstimate, estimate_run};
pub use crate::fork::{Fork, ForkError, ForkRequest, Point, plan_fork};
pub use crate::fork_plan::{ForkPlan, describe_fork};
pub use crate::installed::missing_program;
use crate::money::RunAccounts;
pub use crate::money::{Caps, Money};
pub use crate::notify::{Notification, Notifier};
use crate::origin::Origin;
pub use crate::origin::{check_trust, harness_of, is_confirmed};
pub use crate::parallelism::{Machine as MachineResources, Parallelism};
pub use crate::permissions::{Unenforced, UnenforcedRule};
pub use crate::project::{TemporaryProject, keep_run, project_at};
pub use crate::questions::{ApprovalAnswer, Questions};
pub use crate::redaction::Redaction;
use crate::rehearsal::{QuestionPrompts, Rehearsal};
pub use crate::request::{FromRun, Routes, RunRequest, Start};
pub use crate::rights::MissingRights;
use crate::state::{AnyRecording, StoreKind};
pub use crate::tools::{MissingTools, all_servers};
use crate::trees::GitTrees;
pub use crate::trees::{changed_in_git, forget_trees};

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
    let made = match &request.stand_in {
        Some(stand_in) => Ok(Arc::clone(stand_in)),
        None => harness(
            &origin.harness,
            &HarnessSettings {
                seed,
                // Messages show a script as the user has just named it.
                script: (request.script.clone())
                    .or_else(|| origin.script.as_ref().map(|script| PathBuf::from(&script.path))),
                ..origin::harness_settings(&request, opened.folder.clone())
            },
        ),
    }
    .map(|made| match &request.model {
        Some(model) => Arc::new(OneModel::new(made, model)) as Arc<dyn Harness>,
        None => made,
    })
    .map_err(RunFailure::Harness);
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
    let size = program.size();
    let asks_model = request.start != Start::Dry && asks_model(&origin.harness);
    let mut limits = request.limits;
    limits.budget.limits.extend(request.money.budget(asks_model).limits);
    let setting = request.config.max_parallel;
    limits.max_parallel = setting.map_or(usize::MAX, |count| count.get() as usize);
    let parallelism = Arc::new(Parallelism::new(MachineResources::this(), setting));
    if request.start != Start::Dry {
        limits.capacity.get_or_insert_with(|| Arc::clone(&parallelism) as _);
    }
    let (sender, commands) = Commands::channel();
    let accounts = Arc::new(RunAccounts::new(&request.money, asks_model, request.trust.files.clone()));
    Ok(PreparedRun {
        machine: Machine::new(program, settings.clone()),
        sender,
        commands,
        store: opened.store,
        recall: opened.recall,
        harness,
        limits,
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
        notes: opened.notes.into_iter().chain(note).chain(note_on_notify).collect(),
        rights,
        question_prompts,
        clock: Arc::new(runner::now),
        gate: None,
        stays: request.config.when_waiting == WhenWaiting::Stay,
        answers: opened.answers,
        asked: opened.asked,
        not_recorded: None,
    })
}

/// What is said of a run with working trees.
pub const ISOLATION: &str =
    "parallel branches that may change files work in a git worktree each, and their changes are merged";

/// Why a run without files has no working trees.
const NEEDS_FILES: &str = "`run.isolation = \"worktree\"` needs a run that keeps its state in files; run it without `--in-context`, or set `isolation = \"none\"` in `[run]` in `prose.toml`";

/// Whether branches that may change files work in trees of their own. A resumed run goes on as it was started.
fn isolates(request: &RunRequest, head: Option<&RunHead>, harness: &str) -> bool {
    let is_wanted = match head {
        Some(head) => head.isolates || head.routes.iter().any(|route| route.isolates),
        None => request.config.isolation == Isolation::Worktree,
    };
    let used = used_harnesses(harness, &origin::harness_settings(request, None)).into_iter().any(has_tools);
    is_wanted && used && request.program.has_branches()
}

/// A folder as it stands in prompts; `None` if it is not text.
fn absolute(folder: &Path) -> Option<Arc<str>> {
    std::path::absolute(folder).ok()?.to_str().map(Arc::from)
}

/// The settings of a run; a resumed run keeps its own, since the same settings give the same run.
fn settings(
    request: &RunRequest,
    origin: &Origin,
    opened: &state::Opened,
    harness: &dyn Harness,
    isolates: bool,
) -> Result<Settings, RunFailure> {
    let capabilities = harness.capabilities();
    let has_files = match request.start {
        Start::Dry => request.state == StateMode::Filesystem,
        _ => opened.folder.is_some(),
    };
    let mut settings = match (&opened.head, &request.start) {
        (Some(head), _) => Settings { changed: opened.changed.clone(), ..Settings::of(head) },
        (None, Start::From(from)) => from.settings(opened, request),
        (None, _) => Settings {
            state: request.state,
            seed: request.seed,
            inputs: opened.inputs.clone().unwrap_or_else(|| request.inputs.clone()),
            max_iterations: request.config.max_iterations.get(),
            backoff_ms: u64::from(request.config.backoff_ms.get()),
            backoff_cap_ms: u64::from(request.config.backoff_cap_ms.get()),
            ..Settings::new(opened.run.clone())
        },
    };
    let keeps_prompts = matches!(request.start, Start::Resume { accept_changes: false, .. });
    if let Some(head) = opened.head.as_ref().filter(|_| keeps_prompts) {
        // Agents that cannot do what the prompts of the run require would fail at each of them.
        let recorded = Settings::of(head);
        let is_unable = |agent: Option<&str>| {
            let able = harness.of_agent(agent).unwrap_or(harness).capabilities();
            recorded.agent_reads(agent) && !able.reads_files
                || recorded.agent_writes(agent) && !able.writes_files
        };
        let mut agents = request
            .routes
            .agents
            .keys()
            .map(String::as_str)
            .chain(head.routes.iter().filter_map(|route| route.agent.as_deref()));
        let judge = harness.of_decisions().unwrap_or(harness);
        if is_unable(None)
            || agents.any(|agent| is_unable(Some(agent)))
            || recorded.judge_reads() && !judge.capabilities().reads_files
        {
            return Err(RunFailure::OtherHarness {
                run: head.run.to_string(),
                before: head.harness.to_string(),
                now: harness.name().to_owned(),
            });
        }
    } else {
        settings.harness = harness.name().into();
        settings.routes = routes(request, harness, has_files, isolates);
        settings.script = origin.script.clone().map(Box::new);
        settings.context_by_reference = capabilities.reads_files && has_files;
        settings.agents_write = capabilities.writes_files && has_files;
        settings.isolates = isolates && has_tools(harness.name());
    }
    Ok(settings)
}

/// The agents and decisions with another harness than the program.
fn routes(
    request: &RunRequest,
    harness: &dyn Harness,
    has_files: bool,
    isolates: bool,
) -> Vec<RecordedRoute> {
    let route = |agent: Option<&str>, other: &dyn Harness| {
        let Capabilities { reads_files, writes_files } = other.capabilities();
        RecordedRoute {
            agent: agent.map(Into::into),
            harness: other.name().into(),
            context_by_reference: reads_files && has_files,
            agents_write: writes_files && has_files,
            isolates: isolates && has_tools(other.name()),
            skills: agent.and_then(|agent| {
                let skills = request.routes.agents.get(agent)?.skills.as_ref()?;
                Some(skills.iter().map(|skill| skill.as_str().into()).collect())
            }),
        }
    };
    let agents = request.routes.agents.keys().map(String::as_str);
    let agents = agents.map(|agent| route(Some(agent), harness.of_agent(Some(agent)).unwrap_or(harness)));
    let judge = harness.of_decisions().map(|judge| route(None, judge));
    agents.chain(judge).filter(|route| route.harness != harness.name() || route.skills.is_some()).collect()
}

impl PreparedRun {
    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.settings.run
    }

    /// What the run may use, in a few words; `None` if nothing limits it.
    pub fn limits(&self) -> Option<String> {
        money::describe(&self.limits.budget, self.harness()).filter(|_| asks_model(self.harness()))
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

    /// Whether its process waits for answers that nobody is there to give (`run.when-waiting`).
    pub fn stays(&self) -> bool {
        self.stays
    }

    /// Notifies of this run, while it is executed and afterwards.
    pub fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }

    /// Runs the program to its end, or until it is interrupted, on this thread.
    pub fn execute(mut self, hooks: RunHooks<'_>) -> Result<FinishedRun, RunFailure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(RunFailure::Runtime)?;
        let RunHooks { questions, observer, interrupted, narration } = hooks;
        let _closing = questions.closing();
        questions.use_clock(Arc::clone(&self.clock));
        questions.show_recorded();
        questions.remember(std::mem::take(&mut self.answers));
        questions.continue_numbers(std::mem::take(&mut self.asked));
        let notifier = self.notifier.clone();
        questions.on_question(move |question| notifier.notify(Notification::Waiting(question)));
        if self.stays {
            questions.stay();
        }
        let mut narration = narration.map(|(markers, sink)| {
            let narrator = Narrator::new(markers).with_size(self.size);
            (narrator, sink)
        });
        let mut logs = self.folder.as_deref().map(AgentLogs::new);
        let (sender, commands) = (self.sender, self.commands);
        let desk = questions.clone();
        let channel = self
            .folder
            .as_deref()
            .filter(|_| self.not_recorded.is_none())
            .and_then(|folder| control::Server::start_or_note(folder, &self.settings.run, sender, desk));
        let mut answers = 0;
        let mut observe = |event: &Event, is_new: bool| {
            if let EventKind::Effect { effect, .. } = &event.kind
                && !Effect::KINDS_WITHOUT_AGENT.contains(&effect.as_str())
            {
                answers += 1;
            }
            if let Some(logs) = &mut logs {
                logs.observe(event);
            }
            if let Some(channel) = &channel {
                channel.observe(event);
            }
            if let Some((narrator, sink)) = &mut narration {
                let lines = narrator.narrate(event);
                lines.iter().for_each(|line| sink(line));
            }
            observer(event, is_new);
        };
        let mut recall = Counted { recall: self.recall.as_recording(), answers: 0 };
        let harness = Arc::clone(&self.harness);
        let host = Host {
            harness: self.harness,
            trees: match (&self.trees, &self.recorded_trees) {
                (Some(trees), _) => Arc::clone(trees) as Arc<dyn Trees>,
                (None, Some(replay)) => Arc::clone(replay),
                (None, None) => Arc::new(NoTrees),
            },
            store: self.store.as_store(),
            recall: &mut recall,
            inputs: Arc::new(questions.clone()),
            approvals: Arc::new(questions.clone()),
            commands,
            observer: &mut observe,
            interrupted,
            gate: self.gate,
            limits: self.limits,
            accounts: self.accounts,
            secrets: self.secrets,
            clock: &*self.clock,
        };
        let end = runtime.block_on(async {
            let end = runner::run(self.machine, host).await;
            harness.settled().await;
            if let Some(trees) = &self.trees {
                trees.settled().await;
            }
            end
        });
        // A thread that reads a line from the terminal cannot be cancelled, and its result is not needed any more.
        runtime.shutdown_background();
        // Who waits for the end through the channel finds the run released.
        drop(self.store);
        drop(channel);
        let (end, unrecorded) = match end {
            Ok(end) => (end, None),
            Err(RunError::Unrecorded { end, error }) => (*end, Some(error)),
            Err(error) => {
                self.notifier.notify(Notification::Stopped(&error.to_string()));
                return Err(RunFailure::Run(error));
            }
        };
        if end.status != RunStatus::Waiting {
            self.notifier.notify(Notification::Ended(&end));
        }
        let reused = recall.answers;
        let not_recorded = self.not_recorded.and_then(|missing| missing.take());
        if let Some((mut narrator, sink)) = narration {
            narrator.flush().iter().for_each(|line| sink(line));
        }
        Ok(FinishedRun { end, unrecorded, reused, ran: answers - reused, not_recorded })
    }
}

/// The values of the environment that agents must not report: keys that they may have received.
fn secrets() -> Secrets {
    let variables = std::env::vars_os();
    Secrets::of_variables(
        variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )
}

/// Counts the reused results of agents.
struct Counted<'a> {
    recall: &'a mut dyn Recording,
    answers: u32,
}

impl Recording for Counted<'_> {
    fn recall(&mut self, waiting: &BTreeMap<RequestId, Request>) -> Option<(RequestId, Outcome)> {
        let recalled = self.recall.recall(waiting)?;
        let request = waiting.get(&recalled.0);
        self.answers += u32::from(request.is_some_and(|request| request.effect.needs_agent()));
        Some(recalled)
    }

    fn last_work(&mut self) -> Work {
        self.recall.last_work()
    }

    fn expenses(&mut self) -> Vec<Expense> {
        self.recall.expenses()
    }

    fn may_know_more(&self) -> bool {
        self.recall.may_know_more()
    }

    fn is_known(&self, request: RequestId) -> bool {
        self.recall.is_known(request)
    }

    fn happened(&mut self, event: &Event) {
        self.recall.happened(event);
    }

    fn stopped(&self) -> Option<(u64, u64)> {
        self.recall.stopped()
    }

    fn used(&self) -> Option<Usage> {
        self.recall.used()
    }

    fn abandons_tree(&mut self, request: &Request) -> bool {
        self.recall.abandons_tree(request)
    }

    fn expected(&mut self, seq: u64) -> Option<Event> {
        self.recall.expected(seq)
    }
}

//! Starts and resumes runs: brings the machine, a state system and a harness together.
//!
//! [`prepare`] makes or opens what a run needs and says what it found; [`Prepared::execute`] runs it to its end on the thread that calls it.

mod changes;
mod error;
mod origin;
mod program_check;
mod rights;
mod seal;
mod state;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use prose_config::RunConfig;
use prose_harness::offline::Offline;
use prose_harness::registry::{HarnessSettings, harness};
pub use prose_narration::Markers;
use prose_narration::Narrator;
use prose_narration::ProgramSize;
pub use prose_narration::transcript::{Recovered, read as read_narration};
pub use prose_project::UserFiles;
pub use prose_project::trust::{Doubt, Person, Subject};
pub use prose_rights::{Grants, Right};
pub use prose_state::folder::Project;
use prose_vm::effect::{Effect, Outcome, Request, RequestId};
use prose_vm::event::{Event, RunEnd, StateMode, What};
use prose_vm::harness::Harness;
use prose_vm::machine::Machine;
use prose_vm::program::Program;
use prose_vm::runner::{self, Host, Inputs, Limits, RunError};
use prose_vm::settings::Settings;
use prose_vm::store::Recall;
use prose_vm::value::Value;
use smol_str::SmolStr;

pub use crate::error::{RunFailure, Unconfirmed, Untrusted};
use crate::origin::Origin;
pub use crate::origin::{check_trust, is_confirmed};
pub use crate::rights::MissingRights;
use crate::state::{Remembered, StoreKind};

/// What is to be run, and how.
pub struct Order {
    /// The program. It has no errors (decision 15).
    pub program: Arc<Program>,
    /// Where the run keeps its files.
    pub project: Project,
    /// Whether it starts or goes on.
    pub start: Start,
    /// The state system of a run that starts.
    pub state: StateMode,
    /// The harness; none is the one that a resumed run had, or the one that the project's settings name.
    pub harness: Option<String>,
    /// The file with answers for the harness `script`; none is the one that a resumed run had.
    pub script: Option<PathBuf>,
    /// What decides what the offline harness answers, in a run that starts.
    pub seed: u64,
    /// How long the offline harness takes for each answer.
    pub delay: Duration,
    /// The inputs of a run that starts.
    pub inputs: Vec<(SmolStr, Value)>,
    /// The settings of the project.
    pub config: RunConfig,
    /// What programs that were fetched may do (decision 19).
    pub grants: Grants,
    /// What the run may not exceed.
    pub limits: Limits,
    /// What a person has to trust before a program is started.
    pub subject: Subject,
    /// What the person has said.
    pub person: Person,
    /// Whether the person has named the program, and not the journal of a run that goes on.
    pub names_program: bool,
}

/// Whether a run starts or goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// A new run.
    New,
    /// A new run that leaves nothing behind and asks nobody: the prompts are wanted that the harness would get. The offline harness answers.
    Dry,
    /// A run that has files goes on.
    Resume {
        /// Its id.
        run: SmolStr,
        /// Whether the program may have changed: what still matches is kept then (decision 10).
        accept_changes: bool,
    },
    /// A run goes on that left nothing but its narration.
    Transcript(Box<Recovered>),
}

/// Is told a line of a narration.
pub type Hear<'a> = &'a mut dyn FnMut(&str);

/// What surrounds a run while it is executed.
pub struct Around<'a> {
    /// Who is asked for inputs.
    pub inputs: Arc<dyn Inputs>,
    /// Is told every event; the second argument says whether it happens now, and not once more.
    pub observer: &'a mut dyn FnMut(&Event, bool),
    /// Ends the run when it is ready, with a reason for the person.
    pub interrupted: Pin<Box<dyn Future<Output = String> + 'a>>,
    /// How the run is narrated, and who hears it. Runs whose state is their narration need it.
    pub narration: Option<(Markers, Hear<'a>)>,
}

/// A run that can be executed.
pub struct Prepared {
    machine: Machine,
    store: StoreKind,
    recall: Remembered,
    harness: Arc<dyn Harness>,
    limits: Limits,
    size: ProgramSize,
    settings: Settings,
    /// The folder of the run, if it has one.
    pub folder: Option<PathBuf>,
    /// What the person should know, such as that the journal was damaged.
    pub notes: Vec<String>,
    /// What fetched programs may do in this run, in words for a person, each with its name.
    pub rights: Vec<String>,
}

/// What became of a run.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub end: RunEnd,
    /// Why that is not kept, if it is not.
    pub unrecorded: Option<io::Error>,
    /// How many answers of agents an earlier execution had given.
    pub reused: u32,
    /// How many agents have given in this execution.
    pub ran: u32,
}

/// Makes or opens what a run needs.
pub fn prepare(mut order: Order) -> Result<Prepared, RunFailure> {
    let program = Arc::clone(&order.program);
    let granted = order.grants.clone();
    // What the settings of a project grant that nobody has trusted is granted by nobody (decision 18).
    if order.grants.has_settings() && order.person.check(&order.subject).is_err() {
        order.grants = order.grants.without_settings();
    }
    let missing = program.missing_rights(&order.grants);
    if !missing.is_empty() {
        let would_be_missing = program.missing_rights(&granted);
        let untrusted = (would_be_missing != missing).then(|| order.subject.folder.clone());
        let missing = MissingRights::new(would_be_missing, &granted, untrusted);
        return Err(RunFailure::NotGranted(Box::new(missing)));
    }
    order.project.allowed_files =
        order.config.allow_files.iter().map(|path| path.as_str().to_owned()).collect();
    let order = order;
    if order.start != Start::Dry {
        program
            .named_memories(&order.grants)
            .iter()
            .try_for_each(|place| order.project.check_memory(place))?;
    }
    let origin = origin::origin(&order)?;
    origin::check_trust_for(&order, &origin.harness)?;
    let opened = state::open(&order, &origin)?;
    let seed = opened.head.as_ref().map_or(order.seed, |head| head.seed);
    let made = harness(
        &origin.harness,
        &HarnessSettings {
            seed,
            // What a person has just named is called in messages as they have named it.
            script: (order.script.clone())
                .or_else(|| origin.script.as_ref().map(|script| PathBuf::from(&script.path))),
            ..origin::harness_settings(&order, opened.folder.clone())
        },
    )
    .map_err(RunFailure::Harness);
    let harness = match made {
        Ok(harness) => harness,
        Err(failure) => {
            if order.start == Start::New && opened.folder.is_some() {
                let run = opened.run.clone();
                // Its lock ends with what holds its files.
                drop(opened);
                // A run that never started is nothing to list or to resume. What cannot be removed says less than the reason.
                let _ = order.project.remove_run(&run);
            }
            return Err(failure);
        }
    };
    let mut settings = settings(&order, &origin, &opened, harness.as_ref())?;
    settings.grants = Arc::new(order.grants);
    let rights = rights::told(&program, &settings.grants);
    // The prompts of a dry run are those for its harness, which nobody asks.
    let harness: Arc<dyn Harness> = match order.start {
        Start::Dry => Arc::new(Offline::new(seed)),
        _ => harness,
    };
    let size = program.extent();
    Ok(Prepared {
        machine: Machine::new(program, settings.clone()),
        store: opened.store,
        recall: opened.recall,
        harness,
        limits: order.limits,
        size,
        settings,
        folder: opened.folder,
        notes: opened.notes,
        rights,
    })
}

/// The settings of a run: those it was started with if it goes on, since the same settings give the same run.
fn settings(
    order: &Order,
    origin: &Origin,
    opened: &state::Opened,
    harness: &dyn Harness,
) -> Result<Settings, RunFailure> {
    let capabilities = harness.capabilities();
    let has_files = match order.start {
        Start::Dry => order.state == StateMode::Filesystem,
        _ => opened.folder.is_some(),
    };
    let mut settings = match &opened.head {
        Some(head) => Settings::of(head),
        None => Settings {
            state: order.state,
            seed: order.seed,
            inputs: opened.inputs.clone().unwrap_or_else(|| order.inputs.clone()),
            max_iterations: order.config.max_iterations.get(),
            backoff_ms: u64::from(order.config.backoff_ms.get()),
            backoff_cap_ms: u64::from(order.config.backoff_cap_ms.get()),
            ..Settings::new(opened.run.clone())
        },
    };
    let keeps_prompts = matches!(order.start, Start::Resume { accept_changes: false, .. });
    if let Some(head) = opened.head.as_ref().filter(|_| keeps_prompts) {
        // Agents that cannot do what the prompts of the run tell them to do would fail at each of them.
        if head.context_by_reference && !capabilities.reads_files
            || head.agents_write && !capabilities.writes_files
        {
            return Err(RunFailure::OtherHarness {
                run: head.run.to_string(),
                before: head.harness.to_string(),
                now: harness.name().to_owned(),
            });
        }
    } else {
        settings.harness = harness.name().into();
        settings.script = origin.script.clone().map(Box::new);
        settings.context_by_reference = capabilities.reads_files && has_files;
        settings.agents_write = capabilities.writes_files && has_files;
    }
    Ok(settings)
}

impl Prepared {
    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.settings.run
    }

    /// The name of the harness.
    pub fn harness(&self) -> &str {
        self.harness.name()
    }

    /// Runs the program to its end, or until it is interrupted, on this thread.
    pub fn execute(mut self, around: Around<'_>) -> Result<Finished, RunFailure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(RunFailure::Runtime)?;
        let Around { inputs, observer, interrupted, narration } = around;
        let mut narration = narration.map(|(markers, hear)| {
            let narrator = Narrator::new(markers).with_size(self.size);
            (narrator, hear)
        });
        let mut answers = 0;
        let mut tell = |event: &Event, is_new: bool| {
            if let What::Effect { effect, .. } = &event.what
                && !Effect::KINDS_WITHOUT_AGENT.contains(&effect.as_str())
            {
                answers += 1;
            }
            if let Some((narrator, hear)) = &mut narration {
                let lines = narrator.narrate(event);
                lines.iter().for_each(|line| hear(line));
            }
            observer(event, is_new);
        };
        let mut recall = Counted { recall: self.recall.as_recall(), answers: 0 };
        let harness = Arc::clone(&self.harness);
        let host = Host {
            harness: self.harness,
            store: self.store.as_store(),
            recall: &mut recall,
            inputs,
            observer: &mut tell,
            interrupted,
            limits: self.limits,
            clock: &runner::now,
        };
        let end = runtime.block_on(async {
            let end = runner::run(self.machine, host).await;
            harness.settled().await;
            end
        });
        // Who reads a line from a person cannot be called back, and nobody waits for that line any more.
        runtime.shutdown_background();
        let (end, unrecorded) = match end {
            Ok(end) => (end, None),
            Err(RunError::Unrecorded { end, error }) => (*end, Some(error)),
            Err(error) => return Err(RunFailure::Run(error)),
        };
        let reused = recall.answers;
        if let Some((mut narrator, hear)) = narration {
            narrator.settle().iter().for_each(|line| hear(line));
        }
        Ok(Finished { end, unrecorded, reused, ran: answers - reused })
    }
}

/// Counts the answers of agents that an earlier execution has given.
struct Counted<'a> {
    recall: &'a mut dyn Recall,
    answers: u32,
}

impl Recall for Counted<'_> {
    fn recall(&mut self, waiting: &BTreeMap<RequestId, Request>) -> Option<(RequestId, Outcome)> {
        let recalled = self.recall.recall(waiting)?;
        let request = waiting.get(&recalled.0);
        self.answers += u32::from(request.is_some_and(|request| request.effect.needs_agent()));
        Some(recalled)
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

    fn expected(&mut self, seq: u64) -> Option<Event> {
        self.recall.expected(seq)
    }
}

//! Runs with the answers of an earlier run: replays, which ask nothing, and forks, which ask what comes after a point.

mod nearest;

use std::path::Path;
use std::sync::Arc;

use prose_harness::replay::Replay;
use prose_state::filesystem::ReplayMode;
use prose_state::folder::Project;
use prose_state::replay::{RecordedRun, ReplayedRecording, Taken};
use prose_state::{StateError, portable};
use prose_vm::budget::Budget;
use prose_vm::command::Commands;
use prose_vm::earlier::{ChangedVariable, EarlierRun};
use prose_vm::event::RunHead;
use prose_vm::harness::{Capabilities, Harness};
use prose_vm::machine::Machine;
use prose_vm::program::Program;
use prose_vm::runner::{self, Trees};
use prose_vm::settings::Settings;
use prose_vm::value::Value;
use smol_str::SmolStr;

pub use self::nearest::{NearestRequest, asked_text, nearest_request};
use crate::error::RunFailure;
use crate::money::RunAccounts;
use crate::parallelism::{Machine as MachineResources, Parallelism};
use crate::rehearsal::QuestionPrompts;
use crate::state::{AnyRecording, Opened};
use crate::{FromRun, Notifier, PreparedRun, RunRequest, absolute, rights, secrets};

/// The recorded run that a name stands for: a file of `prose runs export`, or any part of the id of a run of a project.
pub fn recorded_run(project: &Project, name: &str) -> Result<RecordedRun, StateError> {
    let path = Path::new(name);
    let is_file =
        path.is_file() || path.extension().is_some_and(|extension| extension == portable::EXTENSION);
    match is_file {
        true => portable::open(path),
        false => RecordedRun::in_folder(&project.existing_run(&project.find_run(name)?)?),
    }
}

/// The recorded answers, what the user should know of them, and the variables that a person has set in the recorded run.
type OpenedRecording = (AnyRecording, Vec<String>, Vec<ChangedVariable>);

impl FromRun {
    /// How the store of the new run behaves.
    pub(crate) fn mode(&self) -> ReplayMode {
        if self.is_live { ReplayMode::Live } else { ReplayMode::Offline }
    }

    /// The recorded answers for a request of a run.
    pub(crate) fn open(&self, request: &RunRequest) -> Result<OpenedRecording, RunFailure> {
        let head = &self.recorded.head;
        let taken = Taken {
            before: self.before,
            is_same_program: is_same_program(head, &request.program)
                && inputs(head, &request.inputs) == head.inputs,
            has_own_trees: self.is_live,
            replies: self.replies.clone(),
            by: self.by.clone(),
        };
        let mut recording = ReplayedRecording::open(&self.recorded, taken)?;
        let changed = recording.changed_variables()?;
        let mut notes = Vec::new();
        if let Some(damage) = recording.damage() {
            notes.push(format!("{damage}; the answers before it are used"));
        }
        if self.recorded.is_redacted && head.sha256 != request.program.sha256 {
            notes.push(format!(
                "texts of run {} are redacted and the program differs, so that few answers may match",
                head.run
            ));
        }
        Ok((AnyRecording::Replayed(Box::new(recording)), notes, changed))
    }

    /// The settings of the new run, as those of the recorded one, by which its prompts were made.
    pub(crate) fn settings(&self, opened: &Opened, request: &RunRequest) -> Settings {
        let head = &self.recorded.head;
        let earlier = head.earlier.iter().flat_map(|earlier| &earlier.variables).chain(&opened.changed);
        Settings {
            run: opened.run.clone(),
            origin: None,
            state: opened.state,
            caps: request.money.caps.over(&head.caps),
            inputs: inputs(head, &request.inputs),
            earlier: Some(Box::new(EarlierRun {
                run: head.run.clone(),
                before: self.before,
                is_live: self.is_live,
                // What a person changed in the earlier run is a part of it.
                variables: earlier.chain(&self.variables).cloned().collect(),
                replies: self.replies.iter().map(|(place, _)| place.clone()).collect(),
                by: self.by.clone(),
            })),
            ..Settings::of(head)
        }
    }
}

/// A replay: nothing of the settings that start or restrict agents matters, since none is asked.
pub(crate) fn prepare_replay(request: RunRequest, opened: Opened, from: &FromRun) -> PreparedRun {
    let head = &from.recorded.head;
    let capabilities =
        Capabilities { reads_files: head.context_by_reference, writes_files: head.agents_write };
    let replay = Arc::new(Replay::new(head.run.as_str(), capabilities));
    let mut settings = from.settings(&opened, &request);
    settings.harness = replay.name().into();
    settings.script = None;
    settings.root = absolute(&request.project.root);
    settings.home = request.project.home.as_deref().and_then(absolute);
    let program = Arc::clone(&request.program);
    let rights = rights::describe(&program, &request.grants);
    settings.grants = Arc::new(request.grants);
    let mut limits = request.limits;
    limits.max_parallel = usize::MAX;
    limits.budget = Budget::default();
    let setting = request.config.max_parallel;
    let accounts = Arc::new(RunAccounts::new(&request.money, false, request.trust.files.clone()));
    let (sender, commands) = Commands::channel();
    PreparedRun {
        sender,
        commands,
        size: program.size(),
        machine: Machine::new(program, settings.clone()),
        store: opened.store,
        recall: opened.recall,
        not_recorded: Some(replay.not_recorded()),
        recorded_trees: Some(Arc::clone(&replay) as Arc<dyn Trees>),
        harness: replay,
        limits,
        accounts,
        parallelism: Arc::new(Parallelism::new(MachineResources::this(), setting)),
        settings,
        secrets: Arc::new(secrets()),
        trees: None,
        notifier: Notifier::default(),
        isolates: false,
        folder: opened.folder,
        notes: opened.notes,
        rights,
        question_prompts: QuestionPrompts::default(),
        clock: Arc::new(runner::now),
        gate: None,
        stays: true,
        answers: Vec::new(),
        asked: Vec::new(),
    }
}

/// Whether a program with its imports is the one that a run was started with.
pub(crate) fn is_same_program(head: &RunHead, program: &Program) -> bool {
    head.sha256 == program.sha256 && head.imports == program.imported()
}

/// The inputs of the recorded run, replaced by those that are given now.
fn inputs(head: &RunHead, given: &[(SmolStr, Value)]) -> Vec<(SmolStr, Value)> {
    let mut inputs = head.inputs.clone();
    for (name, value) in given {
        match inputs.iter_mut().find(|(known, _)| known == name) {
            Some(input) => input.1 = value.clone(),
            None => inputs.push((name.clone(), value.clone())),
        }
    }
    inputs
}

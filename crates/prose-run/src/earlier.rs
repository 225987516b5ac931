//! Runs with the answers of an earlier run: replays, which ask nothing, and forks, which ask what comes after a point.

mod nearest;

use std::path::Path;
use std::sync::Arc;

use prose_harness::replay::Replay;
use prose_state::filesystem::ReplayMode;
use prose_state::folder::Project;
use prose_state::replay::{ChangedReply, RecordedRun, ReplayedRecording, Taken};
use prose_state::{StateError, portable};
use prose_vm::budget::{Budget, Maximum};
use prose_vm::command::Commands;
use prose_vm::earlier::{ChangedVariable, EarlierRun};
use prose_vm::event::RunHead;
use prose_vm::harness::{Capabilities, Harness};
use prose_vm::machine::Machine;
use prose_vm::place::Place;
use prose_vm::program::Program;
use prose_vm::questions::RecordedAnswer;
use prose_vm::runner::{self, Trees};
use prose_vm::settings::Settings;
use prose_vm::value::Value;
use smol_str::SmolStr;

pub use self::nearest::{NearestRequest, asked_text, nearest_request};
use crate::departure::Departure;
use crate::error::RunFailure;
use crate::fork::ForkError;
use crate::money::{RunAccounts, given_limits};
use crate::moved::{MovedPlaces, is_same_program};
use crate::parallelism::{Machine as MachineResources, Parallelism};
use crate::rehearsal::QuestionPrompts;
use crate::state::{AnyRecording, Opened, OpenedRecording};
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

impl FromRun {
    /// The limits of the earlier run that hold for this one. A replay uses nothing.
    fn limits(&self) -> Vec<Maximum> {
        if self.is_live { given_limits(&self.recorded) } else { self.recorded.head.caps.clone() }
    }

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
            replies: Vec::new(),
            by: self.by.clone(),
        };
        let mut recording = ReplayedRecording::open(&self.recorded, taken)?;
        // What a person changed in the earlier run is a part of it.
        let earlier: Vec<_> =
            head.changed_variables().cloned().chain(recording.changed_variables()?).collect();
        let answers = recording.answered_inputs()?;
        let places =
            earlier.iter().map(|changed| &changed.place).chain(answers.iter().map(|(place, _)| place));
        let moved = MovedPlaces::new(&self.recorded, &request.program, self.places().chain(places))?;
        let changes = self.changes_at(&moved)?;
        let replies = changes.replies.iter().map(|changed| changed.place.clone()).collect();
        recording.change_replies(changes.replies);
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
        let mut variables = Vec::new();
        for changed in earlier {
            match moved.find(&changed.place) {
                Some(place) => variables.push(ChangedVariable { place, ..changed }),
                None => notes.push(format!(
                    "`{}` is not set as in run {}: {}",
                    changed.name,
                    head.run,
                    moved.gone(&changed.place, self.first_line)
                )),
            }
        }
        variables.extend(changes.variables);
        let answers = self.answers_for(&request.program, answers, &moved);
        let recording = AnyRecording::Replayed(Box::new(recording));
        // An edited program goes its own way anyway.
        let departure = match is_same_program(head, &request.program) {
            true => Departure::of(self)?,
            false => None,
        };
        Ok(OpenedRecording { recording, notes, variables, replies, answers, departure })
    }

    /// What a person changes, at the places of a program. A change whose statement is gone from an edited program is refused: at another statement it would
    /// mean something else.
    pub(crate) fn changes(&self, program: &Program) -> Result<Changes, ForkError> {
        self.changes_at(&MovedPlaces::new(&self.recorded, program, self.places())?)
    }

    /// The places of what a person changes, in the recorded run.
    fn places(&self) -> impl Iterator<Item = &Place> {
        let variables = self.variables.iter().map(|changed| &changed.place);
        variables.chain(self.replies.iter().map(|(place, _)| place))
    }

    fn changes_at(&self, moved: &MovedPlaces<'_>) -> Result<Changes, ForkError> {
        let find = |place: &Place, refusal: &str| {
            moved.find(place).ok_or_else(|| {
                ForkError::Request(format!("{refusal}: {}", moved.gone(place, self.first_line)))
            })
        };
        let variables = self.variables.iter().map(|changed| {
            let place = find(&changed.place, &format!("`{}` cannot be set", changed.name))?;
            Ok(ChangedVariable { place, ..changed.clone() })
        });
        let replies = self.replies.iter().map(|(recorded, text)| {
            let place =
                find(recorded, &format!("the reply of the session at {recorded} cannot be replaced"))?;
            Ok(ChangedReply { recorded: recorded.clone(), place, text: Arc::clone(text) })
        });
        Ok(Changes {
            variables: variables.collect::<Result<_, ForkError>>()?,
            replies: replies.collect::<Result<_, ForkError>>()?,
        })
    }

    /// Those answers to inputs that hold for a program, at its places.
    fn answers_for(
        &self,
        program: &Program,
        answers: Vec<(Place, RecordedAnswer)>,
        moved: &MovedPlaces<'_>,
    ) -> Vec<(Place, RecordedAnswer)> {
        if is_same_program(&self.recorded.head, program) {
            return answers;
        }
        // An edited program may ask something else, which a replay must not wait for.
        if !self.is_live {
            return Vec::new();
        }
        let found =
            answers.into_iter().filter_map(|(place, answer)| Some((moved.find_by_number(&place)?, answer)));
        found.collect()
    }

    /// The settings of the new run, as those of the recorded one, by which its prompts were made.
    pub(crate) fn settings(&self, opened: &Opened, request: &RunRequest) -> Settings {
        let head = &self.recorded.head;
        Settings {
            run: opened.run.clone(),
            origin: None,
            state: opened.state,
            caps: request.money.caps.over(&self.limits()),
            timeout_ms: request.timeout_ms().or(head.timeout_ms.filter(|_| self.is_live)),
            inputs: inputs(head, &request.inputs),
            traceparent: None,
            earlier: Some(Box::new(EarlierRun {
                run: head.run.clone(),
                before: self.before,
                is_live: self.is_live,
                is_replay: self.is_replay,
                variables: opened.changed.clone(),
                replies: opened.replies.clone(),
                by: self.by.clone(),
            })),
            ..Settings::of(head)
        }
    }
}

/// What a person changes in a new run, by its places.
pub(crate) struct Changes {
    pub(crate) variables: Vec<ChangedVariable>,
    pub(crate) replies: Vec<ChangedReply>,
}

/// A replay: nothing of the settings that start or restrict agents matters, since none is asked.
pub(crate) fn prepare_replay(request: RunRequest, opened: Opened, from: &FromRun) -> PreparedRun {
    let head = &from.recorded.head;
    let capabilities =
        Capabilities { reads_files: head.context_by_reference, writes_files: head.agents_write };
    let answered = opened.answers.iter().map(|(place, _)| place.clone());
    let replay = Arc::new(Replay::new(head.run.as_str(), capabilities).with_answered(answered));
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
        present_limits: Budget::default(),
        timeout: request.timeout,
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
        answers: opened.answers,
        asked: Vec::new(),
        departure: opened.departure,
        // It asks nobody.
        traces: None,
    }
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

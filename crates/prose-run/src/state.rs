//! The backends for the state of runs with one interface.

use std::path::PathBuf;
use std::time::SystemTime;

use prose_narration::transcript::TranscriptRecording;
use prose_state::StateError;
use prose_state::filesystem::{self, FilesystemStore, Resume};
use prose_state::folder::run_id;
use prose_state::in_context::InContextStore;
use prose_state::replay::{RecordedRun, ReplayedRecording};
use prose_syntax::text::counted;
use prose_vm::earlier::{ChangedVariable, VariableSetBefore};
use prose_vm::event::{EventKind, RunHead, StateMode};
use prose_vm::place::Place;
use prose_vm::program::Program;
use prose_vm::questions::{OpenQuestion, RecordedAnswer};
use prose_vm::store::{NoRecording, NoStore, Recording, Store};
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::departure::Departure;
use crate::error::RunFailure;
use crate::money::given_limits;
use crate::moved::MovedPlaces;
use crate::origin::Origin;
use crate::seal::sealer;
use crate::{RunRequest, Start};

/// The opened state of a run.
pub(crate) struct Opened {
    pub(crate) run: SmolStr,
    pub(crate) folder: Option<PathBuf>,
    /// Where the state is.
    pub(crate) state: StateMode,
    /// The head of a resumed run.
    pub(crate) head: Option<RunHead>,
    /// The recorded inputs of a resumed run, if its head is lost.
    pub(crate) inputs: Option<Vec<(SmolStr, Value)>>,
    pub(crate) store: StoreKind,
    pub(crate) recall: AnyRecording,
    pub(crate) notes: Vec<String>,
    /// The answers that its journals have.
    pub(crate) answers: Vec<(Place, RecordedAnswer)>,
    /// The questions that were open when it stopped.
    pub(crate) asked: Vec<OpenQuestion>,
    /// The variables that a person has set in it, or in the earlier run whose answers it takes.
    pub(crate) changed: Vec<ChangedVariable>,
    /// The places of the sessions whose replies a person changes in a fork.
    pub(crate) replies: Vec<Place>,
    /// Where it takes another way than the redacted run whose answers it has.
    pub(crate) departure: Option<Departure>,
}

/// The recorded answers, and what a person has changed in the recorded run and changes in the new one, as the program has it.
pub(crate) struct OpenedRecording {
    pub(crate) recording: AnyRecording,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
    /// The variables that get other values, in the order in which they do.
    pub(crate) variables: Vec<ChangedVariable>,
    /// The places of the sessions whose replies a person changes.
    pub(crate) replies: Vec<Place>,
    /// The answers to inputs that a person gave while the recorded run was stopped.
    pub(crate) answers: Vec<(Place, RecordedAnswer)>,
    /// Where the new run takes another way, if texts of the recorded one are redacted.
    pub(crate) departure: Option<Departure>,
}

impl OpenedRecording {
    /// That of a run from scratch.
    pub(crate) fn nothing() -> Self {
        let recording = AnyRecording::NoRecording(NoRecording);
        Self {
            recording,
            notes: Vec::new(),
            variables: Vec::new(),
            replies: Vec::new(),
            answers: Vec::new(),
            departure: None,
        }
    }
}

/// The backend for the state.
pub(crate) enum StoreKind {
    Files(Box<FilesystemStore>),
    InContext(Box<InContextStore>),
    Nothing(NoStore),
}

impl StoreKind {
    pub(crate) fn as_store(&mut self) -> &mut dyn Store {
        match self {
            StoreKind::Files(store) => store.as_mut(),
            StoreKind::InContext(store) => store.as_mut(),
            StoreKind::Nothing(store) => store,
        }
    }
}

/// The recording of an earlier execution.
pub(crate) enum AnyRecording {
    NoRecording(NoRecording),
    Files(filesystem::Remembered),
    Replayed(Box<ReplayedRecording>),
    Transcript(Box<TranscriptRecording>),
}

impl AnyRecording {
    pub(crate) fn as_recording(&mut self) -> &mut dyn Recording {
        match self {
            AnyRecording::NoRecording(recall) => recall,
            AnyRecording::Files(recall) => recall,
            AnyRecording::Replayed(recall) => recall.as_mut(),
            AnyRecording::Transcript(recall) => recall.as_mut(),
        }
    }
}

/// Opens the state for a request.
pub(crate) fn open(request: &RunRequest, origin: &Origin) -> Result<Opened, RunFailure> {
    let memories = || StoreKind::InContext(Box::new(InContextStore::new(&request.project)));
    let without_files = |store, recall, notes| {
        let run = run_id(SystemTime::now());
        Opened {
            run,
            folder: None,
            state: request.state,
            head: None,
            inputs: None,
            store,
            recall,
            notes,
            answers: Vec::new(),
            asked: Vec::new(),
            changed: Vec::new(),
            replies: Vec::new(),
            departure: None,
        }
    };
    let fresh = || AnyRecording::NoRecording(NoRecording);
    match &request.start {
        Start::Dry => {
            // A text that was never saved has no folder and no memories.
            let store = match request.project.root.as_os_str().is_empty() {
                true => StoreKind::Nothing(NoStore),
                false => StoreKind::InContext(Box::new(InContextStore::dry(&request.project))),
            };
            Ok(without_files(store, fresh(), Vec::new()))
        }
        Start::New if request.stand_in.is_some() => {
            let store = StoreKind::InContext(Box::new(InContextStore::alone(&request.project)));
            Ok(without_files(store, fresh(), Vec::new()))
        }
        Start::New if request.state == StateMode::InContext => {
            Ok(without_files(memories(), fresh(), Vec::new()))
        }
        Start::New | Start::From(_) => {
            // What is wrong with the earlier run is found before there is a folder.
            let earlier = match &request.start {
                Start::From(from) => Some(from.open(request)?),
                _ => None,
            };
            let mut store = FilesystemStore::create_as(
                request.id.as_deref(),
                &request.project,
                &request.program.text,
                SystemTime::now(),
                request.state,
            )?;
            if let Start::From(from) = &request.start {
                store.replays(from.mode());
            }
            let sealer = sealer(request);
            let OpenedRecording { recording: recall, mut notes, variables, replies, answers, departure } =
                earlier.unwrap_or_else(OpenedRecording::nothing);
            notes.extend(sealer.as_ref().err().cloned());
            sealer.into_iter().for_each(|sealer| store.seal_with(sealer));
            Ok(Opened {
                run: store.run().into(),
                folder: Some(store.folder().to_owned()),
                state: request.state,
                head: None,
                inputs: None,
                store: StoreKind::Files(store.into()),
                recall,
                notes,
                answers,
                asked: Vec::new(),
                changed: variables,
                replies,
                departure,
            })
        }
        Start::Transcript(recovered) => {
            let (doubtful, known): (Vec<_>, Vec<_>) =
                recovered.findings().partition(|finding| finding.doubt.is_some());
            let mut notes: Vec<String> = doubtful
                .into_iter()
                .map(|finding| {
                    let doubt = finding.doubt.unwrap_or_default();
                    let what = match finding.has_ended {
                        true => "it is requested again only if the program resumes it",
                        false => "it is requested again",
                    };
                    format!("line {} of the narration, {}: {doubt}; {what}", finding.line, finding.about)
                })
                .collect();
            let were = if known.len() == 1 { "was" } else { "were" };
            notes.push(format!("{} {were} recovered from the narration", counted(known.len(), "result")));
            let recall = AnyRecording::Transcript(Box::new(recovered.as_ref().clone().into_recording()));
            Ok(without_files(memories(), recall, notes))
        }
        Start::Resume { run, accept_changes } => resume(request, origin, run, *accept_changes),
    }
}

fn resume(
    request: &RunRequest,
    origin: &Origin,
    run: &SmolStr,
    accept_changes: bool,
) -> Result<Opened, RunFailure> {
    // A run in the layout of earlier versions is moved to `.prose/runs` (R105).
    let run = &request.project.adopt_run(run)?;
    let details = request.project.show_run(run)?;
    let mut notes = origin.notes.clone();
    let mut head = details.head;
    // Of a journal that cannot be read, the store says what is the matter.
    if let Some(head) = head.as_mut().filter(|_| accept_changes)
        && let Ok(recorded) = RecordedRun::in_folder(&details.summary.folder)
    {
        // The new journal starts with the limits that hold then.
        head.caps = request.money.caps.over(&given_limits(&recorded));
        notes.extend(move_changes(head, &recorded, &request.program)?);
    }
    let how = if accept_changes { Resume::AcceptChanges } else { Resume::Exact };
    let mut resumed = FilesystemStore::resume(&request.project, run, &request.program.text, how)?;
    // Without a statement there is no confirmation.
    if origin.is_confirmed || request.names_program {
        sealer(request).into_iter().for_each(|sealer| resumed.store.seal_with(sealer));
    }
    notes.extend(resumed.notes);
    Ok(Opened {
        run: run.clone(),
        folder: Some(resumed.store.folder().to_owned()),
        state: resumed.store.state(),
        head,
        inputs: resumed.inputs,
        store: StoreKind::Files(resumed.store.into()),
        recall: AnyRecording::Files(resumed.recall),
        notes,
        answers: request.project.answers(run)?,
        asked: details.summary.waiting,
        changed: resumed.variables,
        replies: Vec::new(),
        departure: None,
    })
}

/// Moves what a person has changed in a run to the places that its statements have in an edited program. Returns what is not changed any more, since its
/// statement is gone.
fn move_changes(
    head: &mut RunHead,
    recorded: &RecordedRun,
    program: &Program,
) -> Result<Vec<String>, StateError> {
    let mut set = head.set_before.clone();
    for event in recorded.events()? {
        let Ok(event) = event else { break };
        if let EventKind::VariableSet { name, value, by } = event.kind {
            let changed = ChangedVariable { place: event.place, name, value };
            set.push(VariableSetBefore { changed, by });
        }
    }
    let of_fork = head
        .earlier
        .iter()
        .flat_map(|earlier| earlier.variables.iter().map(|changed| &changed.place).chain(&earlier.replies));
    let places = of_fork.chain(set.iter().map(|set| &set.changed.place));
    let moved = MovedPlaces::new(recorded, program, places)?;
    let mut notes = Vec::new();
    let mut moves = |changed: &mut ChangedVariable| match moved.find(&changed.place) {
        Some(place) => {
            changed.place = place;
            true
        }
        None => {
            notes.push(format!("`{}` is not set any more: {}", changed.name, moved.gone(&changed.place, 0)));
            false
        }
    };
    if let Some(earlier) = &mut head.earlier {
        earlier.variables.retain_mut(&mut moves);
    }
    set.retain_mut(|set| moves(&mut set.changed));
    if let Some(earlier) = &mut head.earlier {
        // The replies themselves are recorded outcomes, which are found by what was asked.
        earlier.replies = earlier.replies.iter().filter_map(|place| moved.find(place)).collect();
    }
    head.set_before = set;
    Ok(notes)
}

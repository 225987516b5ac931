//! The state systems behind one interface.

use std::path::PathBuf;
use std::time::SystemTime;

use prose_narration::transcript::TranscriptRecall;
use prose_state::filesystem::{self, FilesystemStore, Resume};
use prose_state::folder::run_id;
use prose_state::in_context::InContextStore;
use prose_vm::event::{RunHead, StateMode};
use prose_vm::store::{Fresh, NoStore, Recall, Store};
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::error::RunFailure;
use crate::origin::Origin;
use crate::seal::sealer;
use crate::{Order, Start};

/// What has been opened for a run.
pub(crate) struct Opened {
    pub(crate) run: SmolStr,
    pub(crate) folder: Option<PathBuf>,
    /// What the run was started with, if it goes on.
    pub(crate) head: Option<RunHead>,
    /// The inputs that it was started with, where that is lost.
    pub(crate) inputs: Option<Vec<(SmolStr, Value)>>,
    pub(crate) store: StoreKind,
    pub(crate) recall: Remembered,
    pub(crate) notes: Vec<String>,
}

/// Who keeps the state.
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

/// What is known of an earlier execution.
pub(crate) enum Remembered {
    Fresh(Fresh),
    Files(filesystem::Remembered),
    Transcript(Box<TranscriptRecall>),
}

impl Remembered {
    pub(crate) fn as_recall(&mut self) -> &mut dyn Recall {
        match self {
            Remembered::Fresh(recall) => recall,
            Remembered::Files(recall) => recall,
            Remembered::Transcript(recall) => recall.as_mut(),
        }
    }
}

/// Opens what an order needs.
pub(crate) fn open(order: &Order, origin: &Origin) -> Result<Opened, RunFailure> {
    let memories = || StoreKind::InContext(Box::new(InContextStore::new(&order.project)));
    let without_files = |store, recall, notes| {
        let run = run_id(SystemTime::now());
        Opened { run, folder: None, head: None, inputs: None, store, recall, notes }
    };
    let fresh = || Remembered::Fresh(Fresh);
    match &order.start {
        Start::Dry => {
            // A text that was never saved lies in no folder, and nothing belongs to it.
            let store = match order.project.root.as_os_str().is_empty() {
                true => StoreKind::Nothing(NoStore),
                false => StoreKind::InContext(Box::new(InContextStore::dry(&order.project))),
            };
            Ok(without_files(store, fresh(), Vec::new()))
        }
        Start::New if order.state == StateMode::InContext => {
            Ok(without_files(memories(), fresh(), Vec::new()))
        }
        Start::New => {
            let mut store = FilesystemStore::create(&order.project, &order.program.text, SystemTime::now())?;
            let sealer = sealer(order);
            let notes = sealer.as_ref().err().cloned().into_iter().collect();
            sealer.into_iter().for_each(|sealer| store.seal_with(sealer));
            Ok(Opened {
                run: store.run().into(),
                folder: Some(store.folder().to_owned()),
                head: None,
                inputs: None,
                store: StoreKind::Files(store.into()),
                recall: fresh(),
                notes,
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
                        true => "it is asked for only where the program goes on with it",
                        false => "it is asked again",
                    };
                    format!("line {} of the narration, {}: {doubt}; {what}", finding.line, finding.about)
                })
                .collect();
            notes.push(match known.len() {
                1 => "1 result is recovered from the narration".to_owned(),
                known => format!("{known} results are recovered from the narration"),
            });
            let recall = Remembered::Transcript(Box::new(recovered.as_ref().clone().into_recall()));
            Ok(without_files(memories(), recall, notes))
        }
        Start::Resume { run, accept_changes } => resume(order, origin, run, *accept_changes),
    }
}

fn resume(order: &Order, origin: &Origin, run: &SmolStr, accept_changes: bool) -> Result<Opened, RunFailure> {
    // A run of the layout before `.prose/runs` goes on in the present one (R105).
    let run = &order.project.adopt_run(run)?;
    let details = order.project.show_run(run)?;
    let how = if accept_changes { Resume::AcceptChanges } else { Resume::Exact };
    let mut resumed = FilesystemStore::resume(&order.project, run, &order.program.text, how)?;
    // What nobody has said is confirmed by nobody.
    if origin.is_confirmed || order.names_program {
        sealer(order).into_iter().for_each(|sealer| resumed.store.seal_with(sealer));
    }
    let mut notes = origin.notes.clone();
    notes.extend(resumed.notes);
    Ok(Opened {
        run: run.clone(),
        folder: Some(resumed.store.folder().to_owned()),
        head: details.head,
        inputs: resumed.inputs,
        store: StoreKind::Files(resumed.store.into()),
        recall: Remembered::Files(resumed.recall),
        notes,
    })
}

//! Leads a run: executes its program on a thread of its own, until the run has ended or another process leads it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use prose_run::{Project, Questions, RunFailure, RunHooks, Start, prepare};
use prose_state::journal::journal_of;
use prose_state::reader::read_last;
use prose_state::replay::RecordedRun;
use prose_state::{Lead, Server, StateError};
use prose_vm::command::Command;
use prose_vm::event::{EventKind, RunEnd, StateMode};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use crate::bundle::Bundle;
use crate::effects::{Ask, Effects};

/// How long a run rests whose state cannot be used.
const BEFORE_NEXT_LEADER: Duration = Duration::from_secs(1);

/// A run that this process has the lease of.
pub(crate) struct Taken {
    pub(crate) run: Arc<str>,
    pub(crate) lead: Lead,
    pub(crate) bundle: String,
    /// Whether an earlier leader has recorded something.
    pub(crate) is_begun: bool,
    /// Whether it was resumed after its end.
    pub(crate) is_again: bool,
}

/// How the reason starts by which a run stops here that goes on elsewhere.
pub(crate) const GIVEN_BACK: &str = "given back to the other workers: ";

/// How a run ended here.
pub(crate) enum Led {
    /// It has an end, which is recorded.
    Ended(Box<RunEnd>),
    /// It was stopped while it went on, such as since the lease is over.
    Left,
    /// Its state could not be used here and now, such as that of a server that is just being started, and why. Another leader may be able to.
    Unusable(String),
    /// It cannot be executed, and why.
    Refused(String),
}

impl Taken {
    /// The folder that it is executed in, in the folder of the process.
    pub(crate) fn root(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}", self.run, self.lead.epoch))
    }

    /// Executes the run in a folder, which is removed afterwards.
    pub(crate) fn execute(
        &self,
        root: &Path,
        server: &Server,
        asks: &UnboundedSender<Ask>,
        stop: oneshot::Receiver<String>,
    ) -> Led {
        let led = self.prepare_and_execute(root, server, asks, stop);
        if matches!(led, Led::Unusable(_)) {
            // The next leader tries at once.
            std::thread::sleep(BEFORE_NEXT_LEADER);
        }
        // What is left of a folder that cannot be removed is of no use to anyone, and harms nobody.
        let _ = std::fs::remove_dir_all(root);
        led
    }

    /// The end that an earlier leader has recorded, and could not tell any more. That by which it has given the run back is none, nor is one that was resumed.
    fn recorded_end(&self, folder: &Path) -> Result<Option<RunEnd>, StateError> {
        if self.is_again {
            return Ok(None);
        }
        let last = read_last(&journal_of(folder))?;
        Ok(last
            .and_then(|event| match event.kind {
                EventKind::RunEnded(end) => Some(end),
                _ => None,
            })
            .filter(|end| end.error.as_ref().is_none_or(|error| !error.message.starts_with(GIVEN_BACK))))
    }

    fn prepare_and_execute(
        &self,
        root: &Path,
        server: &Server,
        asks: &UnboundedSender<Ask>,
        stop: oneshot::Receiver<String>,
    ) -> Led {
        let refused = |error: &dyn std::fmt::Display| Led::Refused(error.to_string());
        let made = Bundle::read(&self.bundle).and_then(|bundle| bundle.unpack(root).map(|()| bundle));
        let bundle = match made {
            Ok(bundle) => bundle,
            Err(error) => return refused(&error),
        };
        let _stored = server.stores(root, Some(self.lead.clone()));
        let start = match (&bundle.fork, self.is_begun) {
            (_, true) => Start::Resume { run: (*self.run).into(), accept_changes: false },
            (None, false) => Start::New,
            (Some(fork), false) => {
                let recorded = server
                    .make_folder(&Project::new(root), &fork.run)
                    .and_then(|folder| RecordedRun::in_folder(&folder));
                match recorded {
                    Ok(recorded) => fork.start(recorded),
                    Err(error) if error.is_unreachable() => return Led::Unusable(error.to_string()),
                    Err(error) => return refused(&format!("it is a fork of {}: {error}", fork.run)),
                }
            }
        };
        let mut request = match bundle.request(root, start) {
            Ok(request) => request,
            Err(error) => return refused(&error),
        };
        if self.is_begun {
            match server
                .make_folder(&request.project, &self.run)
                .and_then(|folder| self.recorded_end(&folder))
            {
                Ok(None) => {}
                Ok(Some(end)) => return Led::Ended(Box::new(end)),
                Err(error) => return Led::Unusable(error.to_string()),
            }
        }
        if let Some(raised) = bundle.raised.filter(|raised| raised.epoch == self.lead.epoch) {
            request.money.caps = raised.caps;
        }
        request.id = Some((*self.run).into());
        request.state = StateMode::Postgres;
        let commanded = asks;
        let (run, epoch, asks) = (Arc::clone(&self.run), self.lead.epoch, asks.clone());
        request.dispatch = Some(Arc::new(move |harness| {
            Arc::new(Effects::new(harness, Arc::clone(&run), epoch, asks.clone()))
        }));
        let prepared = match prepare(request) {
            Ok(prepared) => prepared,
            Err(RunFailure::State(error)) => return Led::Unusable(error.to_string()),
            Err(failure) => return refused(&failure),
        };
        let hooks = RunHooks {
            questions: Questions::new(Vec::new()),
            observer: &mut |event, is_new| {
                if let EventKind::Commanded { command, .. } = &event.kind
                    && let is_paused = matches!(command, Command::Pause)
                    && (is_paused || matches!(command, Command::Continue))
                    && is_new
                {
                    let run = Arc::clone(&self.run);
                    // Without a receiver, the process ends.
                    let _ = commanded.send(Ask::Hold { run, epoch: self.lead.epoch, is_paused });
                }
            },
            interrupted: Box::pin(async {
                match stop.await {
                    Ok(reason) => reason,
                    Err(_) => std::future::pending().await,
                }
            }),
            narration: None,
        };
        match prepared.execute(hooks) {
            Ok(finished) if finished.unrecorded.is_none() => Led::Ended(Box::new(finished.end)),
            Ok(_) | Err(RunFailure::Run(_)) => Led::Left,
            Err(RunFailure::State(error)) => Led::Unusable(error.to_string()),
            Err(failure) => refused(&failure),
        }
    }
}

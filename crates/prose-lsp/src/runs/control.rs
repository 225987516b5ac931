//! Commands to live runs, whichever process executes them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_run::control::{Client, ControlError};
use prose_vm::activity::AnswerSource;
use prose_vm::command::Command;

use crate::protocol::answer::{Answer, refuse, send};
use crate::protocol::json::json;
use crate::protocol::uri::DocumentUri;
use crate::runs::registry::Runs;
use crate::runs::requests::{RunArguments, RunCommandKind};

/// Stops, pauses or continues one run, or all live runs of programs; or skips or retries a session of one.
pub(crate) fn control(
    runs: &Arc<Runs>,
    what: RunCommandKind,
    uris: Option<&[DocumentUri]>,
    given: &RunArguments,
    answer: Answer,
) {
    let id = given.run.as_ref();
    let command = match (what, given.request) {
        (RunCommandKind::Pause, _) => Command::Pause,
        (RunCommandKind::Continue, _) => Command::Continue,
        (RunCommandKind::Skip, Some(request)) => Command::Skip { request },
        (RunCommandKind::Retry, Some(request)) => Command::Retry { request },
        _ => Command::Stop,
    };
    // A run of this server is stopped by the server, which knows why it shows no message about that.
    let is_stop = command == Command::Stop;
    let folders = runs.live_folders(uris, id, is_stop.then_some(false));
    if is_stop {
        let stopped = runs.cancel(uris, id);
        if folders.is_empty() {
            return send(answer, stopped.map(|()| json(&())));
        }
    } else if folders.is_empty() {
        return refuse(answer, "no such run is executed now".to_owned());
    }
    // The owner does not wait for other processes.
    let told = std::thread::Builder::new().name("run-control".to_owned()).spawn(move || {
        match tell(&folders, &command) {
            Ok(()) => send(answer, Ok(json(&()))),
            Err(error) => refuse(answer, error.to_string()),
        }
    });
    if let Err(error) = told {
        // The answer was dropped with the thread, and the client gets an error.
        tracing::error!("a thread could not be started: {error}");
    }
}

/// Gives the runs in some folders a command. The error is the first one.
fn tell(folders: &[PathBuf], command: &Command) -> Result<(), ControlError> {
    let by = prose_run::questions::user(AnswerSource::Editor);
    let one = |folder: &Path| Client::connect(folder)?.command(command.clone(), &by);
    let told: Vec<Result<(), ControlError>> = folders.iter().map(|folder| one(folder)).collect();
    told.into_iter().collect()
}

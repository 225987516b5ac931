//! Runs that other processes execute: their control channels report what happens, so that nobody has to poll their files.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use prose_files::{Limit, read_text};
use prose_run::control::{Client, ControlError, ElsewhereQuestions, Watcher};
use prose_state::runs::RunSummary;
use prose_view::View;
use prose_vm::event::{Event, EventKind};
use prose_vm::questions::AnswerSource;

use crate::protocol::session::Session;
use crate::protocol::uri::{DocumentUri, uri_of_path};
use crate::runs::questions::EditorUser;
use crate::runs::registry::{Run, Runs, Ticket};
use crate::runs::reporter::Reporter;

/// How many runs of other processes are followed at the same time.
const MAX_FOLLOWED: usize = 32;

/// How long the process of a run that has ended may take to release its files.
const RELEASE_TIME: Duration = Duration::from_secs(5);

/// Follows the runs of a list that other processes execute and that are not followed yet.
pub(super) fn follow(runs: &Arc<Runs>, list: &[RunSummary], session: &Arc<Session>) {
    for summary in list {
        let process = summary.status.process();
        let is_elsewhere = process.is_some_and(|process| process != Some(std::process::id()));
        if !is_elsewhere || runs.is_shown(&summary.id) || runs.followed() >= MAX_FOLLOWED {
            continue;
        }
        let Some(uri) = uri_of(summary) else { continue };
        let run = Run {
            uri,
            id: Some(summary.id.clone()),
            text: read_text(&summary.folder.join("program.prose"), Limit::PROGRAM).unwrap_or_default().into(),
            first_line: 0,
            view: View::default(),
            folder: Some(summary.folder.clone()),
            stop: None,
            is_over: false,
        };
        let ticket = runs.next_ticket();
        runs.runs.insert(ticket, run);
        let (this, session) = (Arc::clone(runs), Arc::clone(session));
        let started = std::thread::Builder::new().name("run-watcher".to_owned()).spawn(move || {
            if watch(&this, ticket, &session).is_err() {
                // The next list tries again.
                this.runs.remove(&ticket);
            }
        });
        if started.is_err() {
            runs.runs.remove(&ticket);
        }
    }
}

/// The program of a run, if it is a file.
fn uri_of(summary: &RunSummary) -> Option<DocumentUri> {
    let from = Path::new(summary.from.as_deref()?);
    uri_of_path(from).filter(|_| from.is_absolute() && from.is_file())
}

/// Reports a run until it ends.
fn watch(runs: &Runs, ticket: Ticket, session: &Session) -> Result<(), ControlError> {
    let Some((id, uri, folder)) = runs
        .runs
        .get(&ticket)
        .and_then(|run| Some((run.id.clone()?, Arc::clone(&run.uri), run.folder.clone()?)))
    else {
        return Ok(());
    };
    let mut watcher = Client::connect(&folder)?.attach(0)?;
    runs.has_files(ticket, &uri, &id);
    let user = EditorUser {
        client: runs.client_requests.clone(),
        asks_inputs: session.asks_inputs,
        run: id.clone(),
        program: uri.rsplit('/').next().unwrap_or(&uri).into(),
    };
    let (questions, closer) = ElsewhereQuestions::follow(&folder, AnswerSource::Editor)?;
    let reporter =
        Reporter { runs, ticket, id, uri: Arc::clone(&uri), session, limits: None, is_elsewhere: true };
    reporter.begin("");
    let (events, reported) = channel();
    let ended = std::thread::scope(|scope| {
        let reporting = std::thread::Builder::new().name("run-reporter".to_owned());
        let this = &reporter;
        reporting.spawn_scoped(scope, move || this.report(&reported))?;
        let asking = std::thread::Builder::new().name("run-questions".to_owned());
        asking.spawn_scoped(scope, move || user.show_all(&questions))?;
        let ended = forward(&mut watcher, |event| {
            // The receiver lives as long as there are events.
            let _ = events.send(event);
        });
        drop(events);
        closer.close();
        ended
    });
    if let Some(mut run) = runs.runs.get_mut(&ticket) {
        run.is_over = true;
    }
    if !matches!(ended, Ok(true)) {
        // Its process has died, so that no event tells the end.
        reporter.interrupt();
    }
    reporter.end("");
    runs.changed(uri);
    Ok(())
}

/// Passes events on. Returns whether the last one was the end of the run.
fn forward(watcher: &mut Watcher, mut send: impl FnMut(Event)) -> Result<bool, ControlError> {
    while let Some(watched) = watcher.next_event()? {
        if matches!(watched.event.kind, EventKind::RunEnded(_)) {
            // A client that learns of the end may resume the run at once.
            watcher.wait_for_release(RELEASE_TIME);
        }
        send(watched.event);
    }
    Ok(watcher.has_ended())
}

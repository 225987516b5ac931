//! Starting runs, each on a thread of its own.

use std::sync::Arc;

use prose_view::View;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::panics::guard;
use crate::runs::execution;
use crate::runs::execution::Launch;
use crate::runs::registry::{Run, Runs, Stop, Ticket};
use crate::runs::reporter::Reporter;

/// Starts a run on a thread of its own. The answer comes when its files are there, or at the end of a dry run.
pub(crate) fn launch(runs: &Arc<Runs>, launch: Launch) {
    let ticket = runs.next_ticket();
    let (stop, stopped) = tokio::sync::mpsc::unbounded_channel();
    let run = Run {
        uri: Arc::clone(&launch.uri),
        id: None,
        text: Arc::clone(&launch.text),
        first_line: u32::try_from(launch.first_line).unwrap_or(u32::MAX),
        view: View::default(),
        folder: None,
        stop: Some(stop),
        is_over: false,
    };
    runs.runs.insert(ticket, run);
    runs.under_way.begin();
    let this = Arc::clone(runs);
    let started = std::thread::Builder::new().name("run".to_owned()).spawn(move || {
        execute(&this, ticket, launch, stopped);
    });
    if let Err(error) = started {
        // The answer was dropped with the thread, and the client gets an error.
        tracing::error!("a run cannot be started: {error}");
        runs.runs.remove(&ticket);
        runs.under_way.end();
    }
}

fn execute(runs: &Arc<Runs>, ticket: Ticket, launch: Launch, stopped: UnboundedReceiver<Stop>) {
    let (uri, session) = (Arc::clone(&launch.uri), Arc::clone(&launch.session));
    let panicked = guard("running a program", || execution::execute(runs, ticket, launch, stopped)).err();
    let id = runs.runs.get_mut(&ticket).and_then(|mut run| {
        run.is_over = true;
        run.view.interrupt();
        run.id.clone()
    });
    match id {
        Some(id) => {
            if let Some(panicked) = panicked {
                let uri = Arc::clone(&uri);
                let reporter =
                    Reporter { runs, ticket, id, uri, session: &session, limits: None, is_elsewhere: false };
                reporter.end(&panicked.to_string());
            }
            runs.changed(uri);
        }
        None => drop(runs.runs.remove(&ticket)),
    }
    runs.under_way.end();
}

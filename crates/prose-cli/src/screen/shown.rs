//! A run of the project in a window that is open already.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use prose_run::Project;
use prose_run::control::{Client, ControlError, ElsewhereQuestions};
use prose_state::journal::journal_of;
use prose_state::reader::JournalReader;
use prose_tui::{Palette, RunScreen};
use prose_vm::questions::AnswerSource;

use super::source::Elsewhere;
use super::window::{self, Window};
use super::{Closed, FRAME, Followed, Host, in_window};
use crate::keyboard;
use crate::run::interrupt::Interrupter;

/// Shows a run, while it is executed or after it has ended, until the user leaves it. Returns why it cannot be shown.
pub(crate) fn show_run(
    project: &Project,
    run: &str,
    window: &mut Option<Window>,
    is_over: &AtomicBool,
    interrupter: &Interrupter,
    palette: Palette,
) -> Result<(), String> {
    let folder = project.existing_run(run).map_err(|error| error.to_string())?;
    let failed = |error: ControlError| format!("run {run}: {error}");
    let followed = Followed::new(true);
    let questions = match Client::connect(&folder) {
        Ok(client) => {
            let mut watcher = client.attach(0).map_err(failed)?;
            let (questions, closer) =
                ElsewhereQuestions::attend(&folder, AnswerSource::CommandLine).map_err(failed)?;
            let follower = followed.clone();
            let following = move || {
                while let Ok(Some(watched)) = watcher.next_event() {
                    follower.lock().apply(&watched.event);
                }
            };
            let thread = thread::Builder::new().name("watcher".to_owned()).spawn(following);
            thread.map_err(|error| format!("cannot start a thread: {error}"))?;
            Some((questions, closer))
        }
        Err(ControlError::NotRunning) => {
            let journal = JournalReader::open(&journal_of(&folder)).map_err(|error| error.to_string())?;
            let mut moment = followed.lock();
            // What cannot be read any more is the end of the last line.
            journal.map_while(Result::ok).for_each(|event| moment.apply(&event));
            moment.view.interrupt();
            moment.stand_still();
            None
        }
        Err(error) => return Err(failed(error)),
    };
    let source = Elsewhere { questions, folder, is_read_only: false, interrupter: interrupter.clone() };
    let host = Host {
        followed,
        source: Arc::new(source),
        limits: String::new(),
        interrupter: interrupter.clone(),
        palette,
    };
    let mut screen = RunScreen::new(palette);
    loop {
        let opened = Window::opened(window).map_err(|error| error.to_string())?;
        match in_window(&host, &mut screen, opened, is_over) {
            Closed::Suspended => {
                *window = None;
                window::suspend();
            }
            Closed::Background => {
                *window = None;
                while !keyboard::is_foreground() {
                    thread::sleep(FRAME);
                }
            }
            Closed::Over | Closed::Left | Closed::Failed => return Ok(()),
        }
    }
}

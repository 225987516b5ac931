//! `prose top`: the runs of a project on a screen.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

use prose_run::Project;
use prose_state::StateError;
use prose_state::runs::{RunState, RunSummary};
use prose_tui::ratatui::crossterm::event::{self, Event as Pressed};
use prose_tui::{Top, TopAction, TopRun};
use prose_view::{duration, usage_text};
use prose_vm::command::Command;
use prose_vm::questions::AnswerSource;

use crate::cli::top::TopArgs;
use crate::cluster::server::mirror;
use crate::command_error::CommandError;
use crate::keyboard;
use crate::run::interrupt::Interrupts;
use crate::run::project::present_project;
use crate::screen::shown::show_run;
use crate::screen::window::{self, Window};
use crate::screen::{self, FRAME, send, spawn};
use crate::status::Status;
use crate::terminal::{Terminal, counted, first_line};

/// How often the runs are read again.
const LOOK: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &TopArgs, terminal: &Terminal) -> io::Result<Status> {
    CommandError::status(list(args, terminal), terminal)
}

fn list(args: &TopArgs, terminal: &Terminal) -> Result<(), CommandError> {
    if !screen::fits(false) {
        let message = "`prose top` needs a terminal; `prose runs list` prints the runs";
        return Err(CommandError::Message(message.to_owned()));
    }
    let mirror = args.on.as_deref().map(|on| mirror(on, None)).transpose();
    let mirror = mirror.map_err(|error| CommandError::Message(error.to_string()))?;
    let project = mirror.as_ref().map_or_else(present_project, |mirror| mirror.project.clone());
    let interrupts = Interrupts::listen();
    let interrupter = interrupts.interrupter();
    let is_over = Arc::<AtomicBool>::default();
    let over = Arc::clone(&is_over);
    interrupts.tell_first(move || over.store(true, Ordering::Release));
    let palette = screen::palette(terminal);
    let folder = match &args.on {
        Some(_) => "the cluster".to_owned(),
        None => project.root.display().to_string(),
    };
    let mut top = Top::new(palette, &folder);
    let mut window = None;
    let (news, done) = mpsc::channel::<Result<String, String>>();
    let reader = Reader::start(&project)?;
    top.update(reader.first()?.iter().map(row).collect());
    while !is_over.load(Ordering::Acquire) {
        for runs in reader.runs.try_iter() {
            top.update(runs?.iter().map(row).collect());
        }
        if !keyboard::is_foreground() {
            window = None;
            thread::sleep(FRAME);
            continue;
        }
        for outcome in done.try_iter() {
            match outcome {
                Ok(message) => top.say(&message),
                Err(problem) => top.report(&problem),
            }
            reader.read_again();
        }
        Window::opened(&mut window)?.draw(|frame| top.draw(frame))?;
        if !window::is_pressed(FRAME)? {
            continue;
        }
        let Pressed::Key(key) = event::read()? else { continue };
        match top.key(key) {
            None => {}
            Some(TopAction::Leave) => break,
            Some(TopAction::Suspend) => {
                window = None;
                window::suspend();
            }
            Some(TopAction::Show(run)) => {
                if let Err(problem) = show_run(&project, &run, &mut window, &is_over, &interrupter, palette) {
                    top.report(&problem);
                }
                reader.read_again();
            }
            Some(TopAction::Pause(run)) => command(&project, &run, &news, Command::Pause, "paused"),
            Some(TopAction::Continue(run)) => command(&project, &run, &news, Command::Continue, "continued"),
            Some(TopAction::Stop(run)) => command(&project, &run, &news, Command::Stop, "stopping"),
        }
    }
    Ok(())
}

/// Reads the runs on a thread of its own, so that keys have an effect while the runs of a large project are read.
struct Reader {
    runs: Receiver<Result<Vec<RunSummary>, StateError>>,
    again: SyncSender<()>,
}

impl Reader {
    fn start(project: &Project) -> Result<Self, CommandError> {
        // The reader waits until its last list was taken.
        let (found, runs) = mpsc::sync_channel(0);
        let (again, asked) = mpsc::sync_channel(1);
        let project = project.clone();
        let reading = move || {
            while found.send(project.list_runs()).is_ok() {
                if asked.recv_timeout(LOOK) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
            }
        };
        let started = thread::Builder::new().name("runs".to_owned()).spawn(reading);
        started.map_err(|error| CommandError::Message(format!("cannot start a thread: {error}")))?;
        Ok(Self { runs, again })
    }

    /// Waits for the first list.
    fn first(&self) -> Result<Vec<RunSummary>, CommandError> {
        let runs = self.runs.recv().map_err(|error| CommandError::Message(error.to_string()))?;
        Ok(runs?)
    }

    /// Reads the runs at once and not only after a while.
    fn read_again(&self) {
        // It has been told before.
        let _ = self.again.try_send(());
    }
}

/// Gives a run a command.
fn command(
    project: &Project,
    run: &str,
    news: &mpsc::Sender<Result<String, String>>,
    command: Command,
    done: &'static str,
) {
    let (folder, run) = (project.existing_run(run), run.to_owned());
    spawn(news, move || {
        let folder = folder.map_err(|error| error.to_string())?;
        let sent = send(&folder, command, AnswerSource::CommandLine);
        sent.map(|()| format!("{done} {run}")).map_err(|error| format!("run {run}: {error}"))
    });
}

/// A run in the list.
fn row(run: &RunSummary) -> TopRun {
    let about = match (run.waiting.first(), &run.error) {
        (Some(question), _) => question.summary(),
        (None, Some(error)) => error.clone(),
        (None, None) => String::new(),
    };
    TopRun {
        id: run.id.clone(),
        program: run.title().unwrap_or_else(|| "?".into()).to_string(),
        status: run.status.name(),
        is_executed: run.status.is_executed(),
        is_paused: matches!(run.status, RunState::Paused(_)),
        needs_attention: matches!(
            run.status,
            RunState::Asking(_) | RunState::Waiting | RunState::Failed | RunState::CompletedWithFailures
        ),
        took: run.work().map_or(String::new(), duration),
        sessions: run.sessions.map_or(String::new(), |count| counted(count as usize, "session")),
        usage: run.usage.map_or(String::new(), usage_text),
        about: first_line(&about),
    }
}

//! `prose runs attach`: follows a run that another process executes, and answers its questions.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread;

use prose_run::Project;
use prose_run::control::{Client, Closer, ControlError, ElsewhereQuestions, Watched, Watcher};
use prose_vm::event::{EventKind, RunEnd, RunStatus};
use prose_vm::questions::AnswerSource;

use crate::command_error::CommandError;
use crate::keyboard::can_ask;
use crate::run::interrupt::Interrupts;
use crate::run::progress::{Bars, Progress};
use crate::run::terminal_questions::ask_all;
use crate::run::waiting;
use crate::runs::control::connect;
use crate::screen::{self, Elsewhere, Followed, Host, ScreenThread};
use crate::status::Status;
use crate::terminal::{ERROR, Terminal, WARNING, one_line};

/// How a run is followed.
pub(super) struct Attach<'a> {
    pub(super) run: Option<&'a str>,
    pub(super) is_read_only: bool,
    pub(super) is_json: bool,
    pub(super) is_plain: bool,
}

pub(super) fn attach(
    project: &Project,
    args: &Attach<'_>,
    terminal: &Terminal,
) -> Result<Status, CommandError> {
    let mut client = connect(project, args.run)?;
    let run = client.run().to_owned();
    let process = client.process();
    let folder = project.existing_run(&run)?;
    let failed = |error| CommandError::Message(format!("run {run}: {error}"));
    let is_paused = client.status().map_err(failed)?.is_paused;
    let mut watcher = client.attach(0).map_err(failed)?;
    let has_screen = !args.is_json && screen::fits(args.is_plain);
    let asks = !args.is_json && !args.is_read_only && can_ask();
    let questions = match asks {
        true => Some(ElsewhereQuestions::attend(&folder, AnswerSource::CommandLine)),
        false if has_screen => Some(ElsewhereQuestions::follow(&folder, AnswerSource::CommandLine)),
        false => None,
    };
    let questions = questions.transpose().map_err(failed)?;
    let progress = Progress::new(args.is_json, terminal);
    // The run continues when this process is interrupted; only the terminal has to be restored.
    let interrupter = Interrupts::listen().interrupter();
    if !args.is_json {
        writeln!(terminal.stderr(), "Attached to run {run} of process {process}; Ctrl-C leaves it running.")?;
        if is_paused {
            writeln!(terminal.stderr(), "The run is paused; continue it with `prose runs continue {run}`.")?;
        }
    }
    if questions.is_none() && !args.is_json {
        progress.write_questions_of(&run);
        // A run that has just ended asks nothing any more.
        let open = Client::connect(&folder).and_then(|mut client| client.questions());
        progress.asked(&open.unwrap_or_default());
    }
    let followed = Followed::new(has_screen);
    let run_elsewhere = Elsewhere { folder, questions, interrupter, is_read_only: args.is_read_only };
    let screen = show_or_ask(run_elsewhere, has_screen, &followed, &progress, terminal)?;
    let end = follow(&mut watcher, &progress, args.is_json, &followed);
    screen.into_iter().for_each(ScreenThread::finish);
    progress.finish();
    let end = end.map_err(|error| match error {
        CommandError::Message(error) => CommandError::Message(format!("run {run}: {error}")),
        error => error,
    })?;
    let mut stderr = terminal.stderr();
    match end {
        Some(RunEnd { status: RunStatus::Completed, .. }) => {
            if !args.is_json {
                writeln!(stderr, "Run {run} has completed; `prose runs show {run}` prints its results.")?;
            }
            Ok(Status::Clean)
        }
        Some(RunEnd { status: RunStatus::Failed, error, .. }) => {
            let error = error.map_or(String::new(), |error| error.to_string());
            writeln!(stderr, "{ERROR}error{ERROR:#}: the program failed: {}", one_line(&error))?;
            Ok(Status::ErrorsFound)
        }
        Some(end) if end.status == RunStatus::Waiting => {
            waiting::write(&run, &end, true, terminal)?;
            Ok(Status::Trouble)
        }
        Some(RunEnd { error, .. }) => {
            let error = error.map_or(String::new(), |error| error.to_string());
            writeln!(
                stderr,
                "{WARNING}stopped{WARNING:#}: {}; resume it with `prose resume {run}`",
                one_line(&error)
            )?;
            Ok(Status::Trouble)
        }
        None => Err(CommandError::Message(format!(
            "the process of run {run} has ended without ending the run; resume it with `prose resume {run}`"
        ))),
    }
}

/// Starts the screen of a run that is followed, or what asks its questions in lines.
pub(crate) fn show_or_ask(
    run: Elsewhere,
    has_screen: bool,
    followed: &Followed,
    progress: &Progress,
    terminal: &Terminal,
) -> io::Result<Option<ScreenThread>> {
    if has_screen {
        let host = Host {
            followed: followed.clone(),
            interrupter: run.interrupter.clone(),
            source: Arc::new(run),
            limits: String::new(),
            palette: screen::palette(terminal),
        };
        return Ok(Some(screen::start(host, progress.bars())));
    }
    if let Some((questions, closer)) = run.questions {
        ask(questions, closer, progress.bars())?;
    }
    Ok(None)
}

/// Shows events until there are no more. Returns the end of the run, unless its process has died.
pub(crate) fn follow(
    watcher: &mut Watcher,
    progress: &Progress,
    is_json: bool,
    followed: &Followed,
) -> Result<Option<RunEnd>, CommandError> {
    let failed = |error: ControlError| CommandError::Message(error.to_string());
    while let Some(Watched { event, is_live }) = watcher.next_event().map_err(failed)? {
        if is_json {
            let mut out = crate::terminal::raw_stdout();
            serde_json::to_writer(&mut out, &event).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        let mut moment = followed.lock();
        progress.show(&moment.view, &event, is_live);
        moment.apply(&event);
        progress.report(&moment.view, &event);
        if !watcher.is_behind() {
            // The next event may be far away.
            progress.show_open(&moment.view);
        }
        drop(moment);
        if let EventKind::RunEnded(end) = event.kind {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

/// Asks the questions of the run at this terminal until it ends. The run waits for the answers as long as this process attends it.
fn ask(questions: ElsewhereQuestions, closer: Closer, bars: Bars) -> io::Result<()> {
    let asking = move || {
        ask_all(questions, &bars);
        // A user who has closed standard input answers no more.
        closer.close();
    };
    // The thread ends with the process, since the reading of a line cannot be cancelled.
    thread::Builder::new().name("questions".to_owned()).spawn(asking).map(drop)
}

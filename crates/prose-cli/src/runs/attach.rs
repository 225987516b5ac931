//! `prose runs attach`: follows a run that another process executes, and answers its questions.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use prose_run::Project;
use prose_run::control::{Client, Watched, Watcher};
use prose_view::View;
use prose_vm::activity::Activity;
use prose_vm::choices;
use prose_vm::event::{EventKind, RunEnd, RunStatus};

use crate::command_error::CommandError;
use crate::run::interrupt::Interrupts;
use crate::run::progress::{Bars, Progress};
use crate::run::waiting;
use crate::runs::control::{connect, person};
use crate::status::Status;
use crate::terminal::{ERROR, Terminal, WARNING, one_line};

/// How a run is followed.
pub(super) struct Attach<'a> {
    pub(super) run: Option<&'a str>,
    pub(super) is_read_only: bool,
    pub(super) is_json: bool,
}

pub(super) fn attach(
    project: &Project,
    args: &Attach<'_>,
    terminal: &Terminal,
) -> Result<Status, CommandError> {
    let client = connect(project, args.run)?;
    let run = client.run().to_owned();
    let process = client.process();
    let folder = project.existing_run(&run)?;
    let failed = |error| CommandError::Message(format!("run {run}: {error}"));
    let mut watcher = client.attach(0).map_err(failed)?;
    // The run continues when this process is interrupted; only the terminal has to be restored.
    drop(Interrupts::listen());
    let progress = Progress::new(args.is_json, terminal);
    if !args.is_json {
        writeln!(terminal.stderr(), "Attached to run {run} of process {process}; Ctrl-C leaves it running.")?;
    }
    let asks = !args.is_json && !args.is_read_only && io::stdin().is_terminal();
    let questions = asks.then(|| Questions::start(folder, progress.bars()));
    let end = follow(&mut watcher, &progress, questions.as_ref(), args.is_json);
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

/// Shows events until there are no more. Returns the end of the run, unless its process has died.
fn follow(
    watcher: &mut Watcher,
    progress: &Progress<'_>,
    questions: Option<&Questions>,
    is_json: bool,
) -> Result<Option<RunEnd>, CommandError> {
    let mut view = View::default();
    let failed = |error: prose_run::control::ControlError| CommandError::Message(error.to_string());
    while let Some(Watched { event, is_live }) = watcher.next_event().map_err(failed)? {
        if is_json {
            let mut out = crate::terminal::raw_stdout();
            serde_json::to_writer(&mut out, &event).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        progress.show(&view, &event, is_live);
        view.apply(&event);
        progress.report(&view, &event);
        let is_question = matches!(
            &event.kind,
            EventKind::InputAsked { .. } | EventKind::Activity { activity: Activity::Asked(_), .. }
        );
        if let Some(questions) = questions.filter(|_| is_question) {
            questions.look();
        }
        if let EventKind::RunEnded(end) = event.kind {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

/// Asks the person at the terminal what the run waits for, one question after the other.
struct Questions(Sender<()>);

impl Questions {
    fn start(folder: PathBuf, bars: Bars) -> Self {
        let (asked, looks) = channel();
        // The thread ends with the process: nobody can end the reading of a line.
        let _ =
            thread::Builder::new().name("questions".to_owned()).spawn(move || answer(&folder, &bars, &looks));
        // Questions may wait already.
        let _ = asked.send(());
        Self(asked)
    }

    /// There may be a new question.
    fn look(&self) {
        // Without the thread, others answer.
        let _ = self.0.send(());
    }
}

fn answer(folder: &std::path::Path, bars: &Bars, looks: &Receiver<()>) {
    let mut seen = BTreeSet::new();
    while looks.recv().is_ok() {
        let Ok(mut client) = Client::connect(folder) else { return };
        let Ok(questions) = client.questions() else { return };
        for question in questions.into_iter().filter(|question| seen.insert(question.id)) {
            let choices = match choices::listed(&question.choices) {
                choices if choices.is_empty() => choices,
                choices => format!(" {choices}"),
            };
            loop {
                let line = format!("{}{}: ", one_line(&question.prompt), one_line(&choices));
                let hidden = bars.hide();
                let asked = ask(&line);
                drop(hidden);
                let Ok(Some(text)) = asked else { return };
                // Another connection, since that of the question may have ended meanwhile.
                let Ok(mut client) = Client::connect(folder) else { return };
                match client.answer(Some(question.id), &text, &person()) {
                    Ok(()) => break,
                    Err(error) => {
                        _ = writeln!(io::stderr(), "{}", one_line(&error.to_string()));
                        let is_open = client
                            .questions()
                            .is_ok_and(|open| open.iter().any(|open| open.id == question.id));
                        if !is_open {
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// Asks until a line is not empty; `None` once standard input is closed.
fn ask(question: &str) -> io::Result<Option<String>> {
    loop {
        let mut stderr = io::stderr().lock();
        stderr.write_all(question.as_bytes())?;
        stderr.flush()?;
        drop(stderr);
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            // The line of the question was not ended.
            writeln!(io::stderr())?;
            return Ok(None);
        }
        let line = line.trim();
        if !line.is_empty() {
            return Ok(Some(line.to_owned()));
        }
    }
}

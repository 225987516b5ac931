//! Executes a run, and shows how it goes.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use prose_project::files::shown;
use prose_run::control::{Client, START_TIME};
use prose_run::{PreparedRun, Questions, RunFailure, RunHooks, RunRequest, Start};
use prose_state::StateError;
use prose_vm::event::{Event, EventKind, StateMode};
use prose_vm::value::Value;
use smol_str::SmolStr;

use super::end::{EndReport, how_to_resume, status_of, warn_of, write_outputs};
use super::ended::{Ended, refuse};
use super::failures::Failures;
use super::interrupt::Interrupts;
use super::printed::{self, Output};
use super::progress::Progress;
use super::recorded::{self, Recorder};
use super::terminal_questions::TerminalQuestions;
use crate::cli::run::{Narration, RunnerArgs};
use crate::keyboard;
use crate::screen::{self, Followed, Here, Host, ScreenThread};
use crate::terminal::{ERROR, HELP, Terminal};
use crate::trust::{self, AgentPlace};

/// Runs a program with all that shows how it goes.
pub(crate) fn execute(
    request: RunRequest,
    args: &RunnerArgs,
    narrates: Option<Narration>,
    given: Vec<(SmolStr, Value)>,
    interrupts: &mut Interrupts,
    terminal: &Terminal,
) -> io::Result<Ended> {
    let mut ended = None;
    let reported = execute_and_report(request, args, narrates, given, interrupts, terminal, &mut ended);
    // A run whose terminal was closed has ended as it has, though no one can read how.
    reported.or_else(|error| ended.ok_or(error))
}

/// The same; `status` is that of the run as soon as it has ended.
fn execute_and_report(
    request: RunRequest,
    args: &RunnerArgs,
    narrates: Option<Narration>,
    given: Vec<(SmolStr, Value)>,
    interrupts: &mut Interrupts,
    terminal: &Terminal,
    status: &mut Option<Ended>,
) -> io::Result<Ended> {
    let is_kept = request.state != StateMode::InContext;
    let (continues, from) = match &request.start {
        Start::From(from) => (false, Some(from.as_ref().clone())),
        start => (*start != Start::New, None),
    };
    let program = shown(Path::new(&request.program.from)).to_string_lossy().into_owned();
    let is_strict = args.strict_exit || request.config.strict_exit;
    if let Some(Err(message)) = args.record_script.as_deref().map(|path| recorded::check(path, args.force)) {
        return refuse(terminal, &message);
    }
    let refusal = args.output.as_ref().and_then(|name| match &request.part {
        Some(part) => request.program.refusal_of_output_of_part(name, part),
        None => request.program.refusal_of_output(name),
    });
    if let Some(message) = refusal {
        return refuse(terminal, &message);
    }
    let prepared = match prepare(request, args, terminal)? {
        Ok(prepared) => prepared,
        Err(ended) => return Ok(ended),
    };
    let narrates = args.narrate.or(narrates);
    let progress = Progress::new(args.quiet || narrates.is_some(), terminal);
    progress.start(&prepared);
    let run: SmolStr = prepared.run().into();
    let folder = prepared.folder.clone();
    let bars = progress.bars();
    prepared.tell(move |sentence| {
        // What cannot be written does not keep the run from waiting.
        bars.around(|out| drop(writeln!(out, "warning: {sentence}")));
    });
    let notifier = prepared.notifier();
    let questions = Questions::new(given);
    let screen_folder = folder
        .clone()
        .filter(|_| narrates.is_none() && !args.json && !args.quiet && screen::fits(args.plain));
    let followed = Followed::new(screen_folder.is_some());
    let face = match screen_folder {
        Some(folder) => {
            let host = Host {
                followed: followed.clone(),
                source: Arc::new(Here::new(questions.clone(), folder)),
                limits: prepared.limits().unwrap_or_default(),
                interrupter: interrupts.interrupter(),
                palette: screen::palette(terminal),
            };
            Face::Screen(screen::start(host, progress.bars()))
        }
        None => Face::Lines(TerminalQuestions::ask(&questions, progress.bars())),
    };
    if prepared.stays() && !keyboard::can_ask() {
        progress.write_questions_of(&run);
    }
    let mut recorder = args.record_script.as_deref().map(Recorder::new);
    let output = Output::default();
    let mut failed = Failures::default();
    let mut observer = |event: &Event, is_new: bool| {
        let mut moment = followed.lock();
        // What is narrated need not be said twice.
        if narrates.is_none() || !matches!(event.kind, EventKind::Warning { .. }) {
            progress.show(&moment.view, event, is_new);
        }
        moment.apply(event);
        failed.observe(event, &moment.view);
        progress.report(&moment.view, event);
        drop(moment);
        if let Some(recorder) = &mut recorder {
            recorder.record(event);
        }
        if args.json && is_new {
            output.write(|| write_json(event));
        }
    };
    let bars = progress.bars();
    let mut hear = |line: &str| {
        bars.around(|_| output.write(|| writeln!(terminal.stdout(), "{}", printed::shown(line))));
    };
    let interrupted = async {
        let unheard = async {
            match is_kept {
                true => std::future::pending().await,
                // Nothing is left of such a run but what is heard of it.
                false => output.failed().await,
            }
        };
        tokio::select! {
            reason = interrupts.interrupted(std::future::pending()) => reason,
            reason = unheard => format!("cannot write its narration: {reason}"),
        }
    };
    let hooks = RunHooks {
        questions: questions.clone(),
        observer: &mut observer,
        interrupted: Box::pin(interrupted),
        narration: narrates.map(|narration| (narration.into(), &mut hear as &mut dyn FnMut(&str))),
    };
    let finished = prepared.execute(hooks);
    face.finish();
    progress.finish();
    if let Some(recorder) = recorder {
        recorder.write(terminal)?;
    }
    let finished = match finished {
        Ok(finished) => finished,
        Err(failure) => {
            let refused = refuse(terminal, &failure.to_string())?;
            let ended = if failure.is_interrupted() { Ended::Interrupted } else { refused };
            how_to_resume(&run, is_kept, None, terminal)?;
            warn_of(&notifier, terminal)?;
            return Ok(ended);
        }
    };
    let end = &finished.end;
    let ended = status_of(end, is_strict);
    *status = Some(if finished.unrecorded.is_some() { Ended::Unrecorded } else { ended });
    if !args.json && narrates.is_none() {
        output.write(|| write_outputs(end, args.output.as_ref(), terminal));
    }
    let report = EndReport {
        run: &run,
        program: &program,
        folder: folder.as_deref(),
        from: from.as_ref(),
        continues,
        is_kept,
        is_quiet: args.quiet,
        failed: &failed,
    };
    let ended = report.write(&finished, ended, &followed.lock().view, terminal)?;
    warn_of(&notifier, terminal)?;
    match output.into_error() {
        Some(error) => {
            let mut stderr = terminal.stderr();
            writeln!(stderr, "{ERROR}error{ERROR:#}: cannot write the output: {error}")?;
            if is_kept {
                writeln!(stderr, "{HELP}help{HELP:#}: run `prose runs show {run}` for the results")?;
            }
            Ok(Ended::Refused)
        }
        None => Ok(ended),
    }
}

/// What a run is shown by at the terminal, and asks with.
enum Face {
    Screen(ScreenThread),
    Lines(TerminalQuestions),
}

impl Face {
    fn finish(self) {
        match self {
            Face::Screen(screen) => screen.finish(),
            Face::Lines(questions) => questions.finish(),
        }
    }
}

/// Asks for the trust that a run needs, and prepares it. If it does not run here, returns how the command ends.
fn prepare(
    mut request: RunRequest,
    args: &RunnerArgs,
    terminal: &Terminal,
) -> io::Result<Result<PreparedRun, Ended>> {
    let answered = match &request.start {
        Start::Resume { run, .. } if args.has_answered => request.project.run(run).ok(),
        _ => None,
    };
    match trust::check(&mut request, AgentPlace::Here, args.trust, terminal)? {
        Ok(true) => {}
        Ok(false) => return Ok(Err(Ended::Refused)),
        Err(failure) => return refused_or_continued(&failure, answered.as_deref(), terminal).map(Err),
    }
    match prose_run::prepare(request) {
        Ok(prepared) => Ok(Ok(prepared)),
        Err(failure) => refused_or_continued(&failure, answered.as_deref(), terminal).map(Err),
    }
}

/// Reports why a run is not executed. In a run that was just answered, in this folder, the process that was quicker has read the answer.
fn refused_or_continued(
    failure: &RunFailure,
    answered: Option<&Path>,
    terminal: &Terminal,
) -> io::Result<Ended> {
    let Some(folder) = answered else { return refuse(terminal, &failure.to_string()) };
    let mut stderr = terminal.stderr();
    match failure {
        RunFailure::State(StateError::Locked { run, .. }) => {
            let by = Client::connect_within(folder, START_TIME)
                .map_or("another process".to_owned(), |client| format!("process {}", client.process()));
            writeln!(stderr, "{by} continues run {run}")?;
        }
        RunFailure::Over { .. } | RunFailure::State(StateError::Ended { .. }) => {
            writeln!(stderr, "another process has continued the run to its end")?;
        }
        failure => return refuse(terminal, &failure.to_string()),
    }
    Ok(Ended::Completed)
}

fn write_json(event: &Event) -> io::Result<()> {
    let mut out = crate::terminal::raw_stdout();
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

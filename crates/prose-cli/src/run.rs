//! `prose run` and `prose resume`.

mod given;
mod interrupt;
mod load;
mod progress;
mod recorded;
mod terminal_inputs;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use prose_run::{Around, Markers, Order, Project, RunFailure, Start};
use prose_vm::event::{Event, RunEnd, RunStatus, StateMode, What};
use prose_vm::runner::Limits;
use prose_vm::value::Value;
use smol_str::SmolStr;

use self::given::GivenInputs;
use self::load::{Loaded, load};
use self::progress::Progress;
use self::recorded::Recorder;
use crate::cli::run::{Narration, ResumeArgs, RunArgs, RunnerArgs, State};
use crate::imports::{How, LockUse};
use crate::terminal::{ERROR, HELP, Terminal, WARNING, one_line};

/// How a run ends, as the exit status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Completed = 0,
    Failed = 1,
    Refused = 2,
    Interrupted = 3,
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        Self::from(ended as u8)
    }
}

impl From<Narration> for Markers {
    fn from(narration: Narration) -> Self {
        match narration {
            Narration::Brackets => Markers::Brackets,
            Narration::Emoji => Markers::Emoji,
        }
    }
}

/// `prose run`
pub(crate) fn run(args: &RunArgs, terminal: &Terminal) -> io::Result<Ended> {
    let Some(loaded) = load(&args.program, &how(&args.runner), terminal)? else { return Ok(Ended::Refused) };
    let inputs = match given::read(&args.inputs, args.input_file.as_deref(), &loaded.program) {
        Ok(inputs) => inputs,
        Err(message) => return refuse(terminal, &message),
    };
    let is_in_context = args.in_context || args.state == State::InContext;
    let start = if args.dry_run { Start::Dry } else { Start::New };
    let order = Order {
        state: if is_in_context { StateMode::InContext } else { StateMode::Filesystem },
        seed: args.seed,
        inputs,
        ..order(&args.runner, &loaded, start)
    };
    if args.dry_run {
        return dry_run(order, args, terminal);
    }
    // What is there instead of a state system that is missing is a rule of the language (R4).
    match args.state {
        State::Sqlite => writeln!(
            terminal.stderr(),
            "{WARNING}warning{WARNING:#}: this `prose` has no state system `sqlite`; the run keeps its state in files below `.prose/runs`, as with `--state filesystem`"
        )?,
        State::Postgres => {
            return refuse(
                terminal,
                "this `prose` has no state system `postgres`, and nothing else can be seen by others in the same way. To keep the state in files below `.prose/runs`, use `--state filesystem`",
            );
        }
        State::Filesystem | State::InContext => {}
    }
    let narrates = is_in_context.then_some(Narration::Brackets);
    execute(order, &args.runner, narrates, GivenInputs::default(), terminal)
}

/// `prose resume`
pub(crate) fn resume(args: &ResumeArgs, terminal: &Terminal) -> io::Result<Ended> {
    if let Some(path) = &args.transcript {
        return resume_transcript(path, args, terminal);
    }
    let project = project(None);
    let run = match &args.run {
        Some(start) => project.find_run(start),
        None => project.last_run().and_then(|run| match run {
            Some(run) => Ok(run.id),
            None => project.find_run(""),
        }),
    };
    let run = match run {
        Ok(run) => run,
        Err(error) => return refuse(terminal, &error.to_string()),
    };
    let details = match project.show_run(&run) {
        Ok(details) => details,
        Err(error) => return refuse(terminal, &error.to_string()),
    };
    // A run of another machine says only what its program is called; the copy in its folder is the program then.
    let copy = details.summary.folder.join(prose_state::folder::PROGRAM_FILE);
    let program = details.head.as_ref().map_or_else(|| copy.clone(), |head| PathBuf::from(&head.from));
    let program = if program.exists() || program.to_string_lossy().contains("://") { program } else { copy };
    let program = program.to_string_lossy().into_owned();
    let Some(loaded) = load(&program, &how(&args.runner), terminal)? else { return Ok(Ended::Refused) };
    let start = Start::Resume { run, accept_changes: args.accept_changes };
    let order = Order { project, ..order(&args.runner, &loaded, start) };
    let given = GivenInputs::new(&args.inputs);
    execute(order, &args.runner, None, given, terminal)
}

fn resume_transcript(path: &Path, args: &ResumeArgs, terminal: &Terminal) -> io::Result<Ended> {
    let read =
        if path == Path::new("-") { io::read_to_string(io::stdin()) } else { std::fs::read_to_string(path) };
    let text = match read {
        Ok(text) => text,
        Err(error) => {
            let message = format!("the narration `{}` cannot be read: {error}", path.display());
            return refuse(terminal, &message);
        }
    };
    let narrated = prose_run::narrated(&text);
    if narrated.is_complete {
        return refuse(
            terminal,
            "the narration tells of a program that has come to its end; there is nothing left to do",
        );
    }
    let Some(program) = args.run.clone().or(narrated.program) else {
        return refuse(
            terminal,
            "the narration does not say which program it is of; name it: `prose resume --transcript FILE PROGRAM`",
        );
    };
    let Some(loaded) = load(&program, &how(&args.runner), terminal)? else { return Ok(Ended::Refused) };
    let mut inputs = narrated.inputs;
    match given::read(&args.inputs, None, &loaded.program) {
        Ok(given) => inputs.extend(given),
        Err(message) => return refuse(terminal, &message),
    }
    let start = Start::Transcript(text);
    let order = Order { state: StateMode::InContext, inputs, ..order(&args.runner, &loaded, start) };
    execute(order, &args.runner, Some(Narration::Brackets), GivenInputs::default(), terminal)
}

fn how(args: &RunnerArgs) -> How {
    let lock = if args.locked { LockUse::Complete } else { LockUse::Ignored };
    How { offline: args.offline, lock, ..How::default() }
}

/// Where runs keep their files: in the folder of the program's `prose.toml`, else in the present one.
fn project(loaded: Option<&Loaded>) -> Project {
    let root = loaded.and_then(|loaded| loaded.project.clone());
    let root = root.unwrap_or_else(|| {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let found = prose_config::find(&here.join("program.prose"));
        found.and_then(|file| file.parent().map(Path::to_owned)).unwrap_or(here)
    });
    Project { home: std::env::home_dir(), ..Project::new(root) }
}

fn order(args: &RunnerArgs, loaded: &Loaded, start: Start) -> Order {
    let config = loaded.config.clone();
    let script = args.script.clone();
    Order {
        program: Arc::clone(&loaded.program),
        project: project(Some(loaded)),
        start,
        state: StateMode::Filesystem,
        harness: args.harness.clone().or_else(|| script.is_some().then(|| "script".to_owned())),
        script,
        seed: 0,
        delay: args.delay.unwrap_or(Duration::ZERO),
        inputs: Vec::new(),
        limits: Limits {
            max_parallel: args.max_parallel.map_or(config.max_parallel.get() as usize, Into::into),
            max_sessions: args.max_sessions,
            allow_unenforced_permissions: args.allow_unenforced_permissions,
        },
        config,
    }
}

/// Runs a program with all that shows how it goes.
fn execute(
    order: Order,
    args: &RunnerArgs,
    narrates: Option<Narration>,
    given: GivenInputs,
    terminal: &Terminal,
) -> io::Result<Ended> {
    let is_kept = order.state == StateMode::Filesystem;
    let prepared = match prose_run::prepare(order) {
        Ok(prepared) => prepared,
        Err(failure) => return refuse(terminal, &failure.to_string()),
    };
    let narrates = args.narrate.or(narrates);
    let progress = Progress::new(args.quiet || narrates.is_some(), terminal);
    progress.start(&prepared);
    let run: SmolStr = prepared.run().into();
    let inputs = given.before(progress.bars());
    let mut recorder = args.record_script.as_deref().map(Recorder::new);
    let mut written = Ok(());
    let mut observer = |event: &Event, is_new: bool| {
        progress.tell(event, is_new);
        if let Some(recorder) = &mut recorder {
            recorder.tell(event);
        }
        if args.json && is_new && written.is_ok() {
            written = write_json(event);
        }
    };
    let mut heard = Ok(());
    let mut hear = |line: &str| {
        if heard.is_ok() {
            heard = writeln!(terminal.stdout(), "{}", shown(line));
        }
    };
    let around = Around {
        inputs: Arc::new(inputs),
        observer: &mut observer,
        interrupted: Box::pin(interrupt::interrupted(args.timeout)),
        narration: narrates.map(|narration| (narration.into(), &mut hear as &mut dyn FnMut(&str))),
    };
    let finished = prepared.execute(around);
    progress.finish();
    written?;
    heard?;
    if let Some(recorder) = recorder {
        recorder.write(terminal)?;
    }
    let finished = match finished {
        Ok(finished) => finished,
        Err(failure) => {
            let ended = broken(terminal, &failure)?;
            if is_kept {
                how_to_resume(&run, terminal)?;
            }
            return Ok(ended);
        }
    };
    let end = &finished.end;
    if !args.json && narrates.is_none() {
        write_outputs(end, terminal)?;
    }
    let mut stderr = terminal.stderr();
    if finished.reused > 0 && !args.quiet {
        writeln!(stderr, "{} results of the earlier execution were used again.", finished.reused)?;
    }
    let Some(error) = &end.error else { return Ok(Ended::Completed) };
    let place = if error.line > 0 { format!(" at line {}", error.line) } else { String::new() };
    match end.status {
        RunStatus::Interrupted => {
            writeln!(stderr, "{WARNING}stopped{WARNING:#}: {}", one_line(&error.message))?;
        }
        _ => writeln!(
            stderr,
            "{ERROR}error{ERROR:#}: the program failed{place}: {}",
            shown(&error.to_string())
        )?,
    }
    drop(stderr);
    if is_kept {
        how_to_resume(&run, terminal)?;
    }
    Ok(if end.status == RunStatus::Interrupted { Ended::Interrupted } else { Ended::Failed })
}

/// Writes what each session would be told.
fn dry_run(order: Order, args: &RunArgs, terminal: &Terminal) -> io::Result<Ended> {
    let order = Order { harness: Some("offline".to_owned()), ..order };
    let prepared = match prose_run::prepare(order) {
        Ok(prepared) => prepared,
        Err(failure) => return refuse(terminal, &failure.to_string()),
    };
    let mut written = Ok(());
    let mut number = 0;
    let mut observer = |event: &Event, _: bool| {
        if let What::SessionStarted { task, .. } = &event.what
            && written.is_ok()
        {
            number += 1;
            let line = event.site.map_or(0, |site| site.line);
            written = write_prompt(number, line, task, terminal);
        }
    };
    let around = Around {
        inputs: Arc::new(GivenInputs::default().made_up()),
        observer: &mut observer,
        interrupted: Box::pin(interrupt::interrupted(args.runner.timeout)),
        narration: None,
    };
    let finished = prepared.execute(around);
    written?;
    match finished {
        Ok(finished) => {
            let end = finished.end;
            let mut stderr = terminal.stderr();
            writeln!(stderr, "{number} prompts; nothing was sent, and the answers on the way were made up.")?;
            match end.status {
                RunStatus::Completed => Ok(Ended::Completed),
                RunStatus::Interrupted => Ok(Ended::Interrupted),
                RunStatus::Failed => {
                    if let Some(error) = end.error {
                        writeln!(
                            stderr,
                            "{WARNING}warning{WARNING:#}: with these answers the program would fail at line {}: {}",
                            error.line,
                            shown(&error.to_string())
                        )?;
                    }
                    Ok(Ended::Failed)
                }
            }
        }
        Err(failure) => broken(terminal, &failure),
    }
}

fn write_prompt(
    number: u32,
    line: u32,
    task: &prose_vm::effect::SessionTask,
    terminal: &Terminal,
) -> io::Result<()> {
    let mut out = terminal.stdout();
    let agent = task.agent.as_ref().map_or(String::new(), |agent| format!(", agent {agent}"));
    let model = task.model.as_ref().map_or(String::new(), |model| format!(", model {model}"));
    writeln!(out, "{HELP}== {number}: line {line}{agent}{model}{HELP:#}")?;
    writeln!(out, "{}", shown(&task.prompt))?;
    if let Some(system) = &task.system {
        writeln!(out, "\nSystem: {}", shown(system))?;
    }
    writeln!(out)
}

/// Named outputs one after the other, or the value of a program that has none.
fn write_outputs(end: &RunEnd, terminal: &Terminal) -> io::Result<()> {
    let mut out = terminal.stdout();
    match &end.outputs[..] {
        [] if matches!(end.value, Value::Null) => {}
        [] => writeln!(out, "{}", shown(&end.value.to_string()))?,
        outputs => {
            for (name, value) in outputs {
                let value = value.to_string();
                let separator = if value.contains('\n') { '\n' } else { ' ' };
                writeln!(out, "{HELP}{name}:{HELP:#}{separator}{}", shown(&value))?;
            }
        }
    }
    out.flush()
}

fn write_json(event: &Event) -> io::Result<()> {
    let mut out = crate::terminal::raw_stdout();
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn how_to_resume(run: &str, terminal: &Terminal) -> io::Result<()> {
    writeln!(
        terminal.stderr(),
        "{HELP}help{HELP:#}: `prose resume {run}` goes on; what is done is not done again"
    )
}

fn refuse(terminal: &Terminal, message: &str) -> io::Result<Ended> {
    writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", shown(message))?;
    Ok(Ended::Refused)
}

/// A run that stopped for a reason outside of its program.
fn broken(terminal: &Terminal, failure: &RunFailure) -> io::Result<Ended> {
    writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", shown(&failure.to_string()))?;
    Ok(Ended::Refused)
}

/// A text of several lines without characters that would steer the terminal.
fn shown(text: &str) -> String {
    text.lines().map(one_line).collect::<Vec<_>>().join("\n")
}

/// The project of the present folder, for commands about runs.
pub(crate) fn present_project() -> Project {
    project(None)
}

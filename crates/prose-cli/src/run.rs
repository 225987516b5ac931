//! `prose run` and `prose resume`.

mod dry_run;
mod echo;
pub(crate) mod ended;
pub(crate) mod estimate;
mod failures;
mod given;
pub(crate) mod interrupt;
pub(crate) mod load;
pub(crate) mod printed;
pub(crate) mod progress;
pub(crate) mod project;
mod recorded;
mod replayed;
pub(crate) mod resumed;
pub(crate) mod terminal_questions;
pub(crate) mod waiting;

use self::project::{present_project, project_of};
use std::io;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use prose_files::Limit;
use prose_project::files::shown;
use prose_project::imports::{ImportOptions, LockUse};
use prose_run::{
    Caps, FinishedRun, FromRun, Markers, Notifier, Project, Questions, RunFailure, RunHooks, RunRequest,
    Start, TrustSubject, UserTrust,
};
use prose_view::View;
use prose_vm::error::ErrorKind;
use prose_vm::event::{Event, EventKind, RunEnd, RunStatus, StateMode};
use prose_vm::value::Value;
use smol_str::SmolStr;

use self::interrupt::Interrupts;
use self::load::{Loaded, load};
use self::printed::Output;
use self::progress::Progress;
use self::recorded::Recorder;
use self::terminal_questions::TerminalQuestions;
use crate::answer::refused_or_continued;
use crate::cli::run::{LimitArgs, Narration, ResumeArgs, RunArgs, RunnerArgs, State};
use crate::keyboard;
use crate::run::ended::{Ended, refuse};
use crate::runs::census;
use crate::terminal::{BOLD, ERROR, HELP, Terminal, WARNING, counted, one_line};

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
    // What is there instead of a state system that is missing is a rule of the language (R4).
    match args.state {
        State::Sqlite if args.dry_run => {}
        State::Sqlite => writeln!(
            terminal.stderr(),
            "{WARNING}warning{WARNING:#}: the state backend `sqlite` is not supported; the run stores its state in files in `.prose/runs`, as with `--state filesystem`"
        )?,
        State::Postgres => {
            return refuse(
                terminal,
                "the state backend `postgres` is not supported; use `--state filesystem` to store the state in files in `.prose/runs`",
            );
        }
        State::Filesystem | State::InContext => {}
    }
    let is_in_context = args.in_context || args.state == State::InContext;
    if let Some(contradiction) = contradiction(&args.runner, is_in_context) {
        return refuse(terminal, contradiction);
    }
    if args.programs.len() > 1 && args.runner.record_script.is_some() {
        return refuse(terminal, "`--record-script` records one program; run the programs separately");
    }
    if args.programs.iter().filter(|program| *program == "-").count() > 1 {
        return refuse(terminal, "standard input contains one program; pass `-` only once");
    }
    if args.replay.is_some() && (args.programs.len() > 1 || is_in_context) {
        let message = match is_in_context {
            true => "`--replay` needs a run that keeps its state in files; remove `--state in-context`",
            false => "`--replay` replays one program; run the programs separately",
        };
        return refuse(terminal, message);
    }
    let mut options = options(&args.runner);
    options.offline |= args.replay.is_some() && !args.live;
    let mut programs = Vec::new();
    for program in &args.programs {
        let Some(loaded) = load(program, options.clone(), terminal)? else { return Ok(Ended::Refused) };
        programs.push(loaded);
    }
    let inputs = match given::read(&args.inputs, args.input_file.as_deref()) {
        Ok(inputs) => inputs,
        Err(message) => return refuse(terminal, &message),
    };
    // An input that no program takes is a mistake; one that some of them take is for those.
    let refused = inputs.iter().find_map(|(name, _)| {
        let mut refusals =
            programs.iter().map(|loaded| given::check([name.as_str()].into_iter(), &loaded.program));
        refusals.next().filter(|first| first.is_err() && refusals.all(|refusal| refusal.is_err()))
    });
    if let Some(Err(message)) = refused {
        return refuse(terminal, &message);
    }
    let mut runs = Vec::new();
    for loaded in &programs {
        let mut inputs = inputs.clone();
        inputs.retain(|(name, _)| loaded.program.refusal_of_input(name).is_none());
        if let Err(message) = given::check_values(&inputs, &loaded.program) {
            return refuse(terminal, &message);
        }
        if let Some(message) = missing_inputs(args, loaded, &inputs) {
            return refuse(terminal, &message);
        }
        runs.push((loaded, inputs));
    }
    let mut highest = Ended::Completed;
    let mut interrupts = Interrupts::listen();
    for (name, (loaded, inputs)) in args.programs.iter().zip(runs) {
        if args.programs.len() > 1 && !args.runner.quiet {
            writeln!(terminal.stderr(), "{BOLD}{}{BOLD:#}", one_line(name))?;
        }
        let ended = run_loaded(args, loaded, inputs, is_in_context, &mut interrupts, terminal)?;
        highest = highest.max(ended);
        if ended == Ended::Interrupted {
            break;
        }
    }
    Ok(highest)
}

/// The message about missing inputs that cannot be asked for. A script may contain inputs, and a dry run generates them.
fn missing_inputs(args: &RunArgs, loaded: &Loaded, inputs: &[(SmolStr, Value)]) -> Option<String> {
    let harness = harness(&args.runner).unwrap_or_else(|| loaded.config.run.harness.as_str().to_owned());
    // What an earlier run was asked for is recorded.
    if args.dry_run || args.replay.is_some() || harness == "script" || keyboard::can_ask() {
        return None;
    }
    given::missing(inputs, &loaded.program).or_else(|| loaded.program.refusal_of_calls())
}

fn run_loaded(
    args: &RunArgs,
    loaded: &Loaded,
    inputs: Vec<(SmolStr, Value)>,
    is_in_context: bool,
    interrupts: &mut Interrupts,
    terminal: &Terminal,
) -> io::Result<Ended> {
    if !args.runner.quiet {
        loaded.write_warnings(terminal)?;
    }
    let start = match &args.replay {
        Some(name) => match prose_run::recorded_run(&project_of(loaded.project.clone()), name) {
            Ok(recorded) => {
                Start::From(Box::new(FromRun { is_live: args.live, ..FromRun::replay(recorded) }))
            }
            Err(error) => return refuse(terminal, &error.to_string()),
        },
        None if args.dry_run => Start::Dry,
        None => Start::New,
    };
    let request = RunRequest {
        state: if is_in_context { StateMode::InContext } else { StateMode::Filesystem },
        seed: args.seed,
        inputs,
        ..run_request(&args.runner, loaded, start)
    };
    if args.dry_run {
        return dry_run::write(request, args, interrupts, terminal);
    }
    let narrates = is_in_context.then_some(Narration::Brackets);
    execute(request, &args.runner, narrates, Vec::new(), interrupts, terminal)
}

/// `prose resume`
pub(crate) fn resume(args: &ResumeArgs, terminal: &Terminal) -> io::Result<Ended> {
    if let Some(contradiction) = contradiction(&args.runner, args.transcript.is_some()) {
        return refuse(terminal, contradiction);
    }
    if let Some(path) = &args.transcript {
        return resume_transcript(path, args, terminal);
    }
    let project = Project { allows_outside: args.runner.allow_outside, ..present_project() };
    let details = match crate::runs::details(&project, args.run.as_deref()) {
        Ok(details) => details,
        Err(message) => return refuse(terminal, &message),
    };
    let run = details.summary.id.clone();
    let is_confirmed = || prose_run::is_confirmed(&project, &run, &UserTrust::of_user().files);
    let original = match &args.program {
        Some(program) => Ok(resumed::Original { program: program.clone(), note: None }),
        None => resumed::program(&details, &project, args.accept_changes, is_confirmed()),
    };
    let original = match original {
        Ok(original) => original,
        Err(message) => return refuse(terminal, &message),
    };
    if let Some(note) = original.note {
        writeln!(terminal.stderr(), "{WARNING}note{WARNING:#}: {}", one_line(&note))?;
    }
    let Some(loaded) = load(&original.program, options(&args.runner), terminal)? else {
        return Ok(Ended::Refused);
    };
    if let Some(known) = details.head.as_ref().and_then(|head| given::known(&args.inputs, &head.inputs)) {
        return refuse(terminal, &known);
    }
    if let Err(message) = given::check(args.inputs.iter().map(|(name, _)| name.as_str()), &loaded.program) {
        return refuse(terminal, &message);
    }
    let given = given::of_arguments(&args.inputs);
    if let Err(message) = given::check_values(&given, &loaded.program) {
        return refuse(terminal, &message);
    }
    let start = Start::Resume { run, accept_changes: args.accept_changes };
    let request = RunRequest {
        subject: TrustSubject::new(&project.root, &loaded.config),
        project,
        names_program: args.program.is_some(),
        ..run_request(&args.runner, &loaded, start)
    };
    execute(request, &args.runner, None, given, &mut Interrupts::listen(), terminal)
}

fn resume_transcript(path: &Path, args: &ResumeArgs, terminal: &Terminal) -> io::Result<Ended> {
    let read = if path == Path::new("-") {
        prose_files::read_stream(io::stdin().lock(), Limit::NARRATION)
    } else {
        prose_files::read_named(path, Limit::NARRATION)
    };
    let text = match read {
        // One that was cut off may end in the middle of a character.
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            let message = format!("the narration `{}` {error}", path.display());
            return refuse(terminal, &message);
        }
    };
    let narrated = prose_run::read_narration(&text);
    if narrated.is_complete {
        return refuse(terminal, "the narrated program has already completed");
    }
    let Some(program) = args.run.as_ref().or(narrated.program.as_ref()) else {
        return refuse(
            terminal,
            "the narration does not contain the path of its program; pass it: `prose resume --transcript FILE PROGRAM`",
        );
    };
    let Some(loaded) = load(program, options(&args.runner), terminal)? else { return Ok(Ended::Refused) };
    if narrated.sha256.as_ref().is_some_and(|before| *before != loaded.program.sha256) {
        writeln!(
            terminal.stderr(),
            "{WARNING}note{WARNING:#}: the program has changed since it was narrated; results of unchanged sessions are reused"
        )?;
    }
    let mut inputs = narrated.inputs.clone();
    let given = given::read(&args.inputs, None);
    let given = given.and_then(|given| {
        given::check(given.iter().map(|(name, _)| name.as_str()), &loaded.program).map(|()| given)
    });
    match given {
        Ok(given) => {
            inputs.retain(|(name, _)| given.iter().all(|(other, _)| other != name));
            inputs.extend(given);
        }
        Err(message) => return refuse(terminal, &message),
    }
    let start = Start::Transcript(narrated.into());
    let request =
        RunRequest { state: StateMode::InContext, inputs, ..run_request(&args.runner, &loaded, start) };
    let interrupts = &mut Interrupts::listen();
    execute(request, &args.runner, Some(Narration::Brackets), Vec::new(), interrupts, terminal)
}

/// Why two arguments cannot stand together, where that depends on their values.
fn contradiction(args: &RunnerArgs, is_in_context: bool) -> Option<&'static str> {
    if is_in_context && args.json {
        return Some(
            "`--json` cannot be combined with `--in-context`, whose only state is the narration on standard output",
        );
    }
    let is_other =
        args.script.is_some() && args.harness.as_deref().is_some_and(|harness| harness != "script");
    is_other.then_some("`--script` needs the harness `script`; remove `--harness` or `--script`")
}

pub(crate) fn options(args: &RunnerArgs) -> ImportOptions {
    ImportOptions { offline: args.offline, lock: LockUse::new(args.locked), ..ImportOptions::default() }
}

/// The harness that the arguments name.
fn harness(args: &RunnerArgs) -> Option<String> {
    args.harness.clone().or_else(|| args.script.is_some().then(|| "script".to_owned()))
}

pub(crate) fn run_request(args: &RunnerArgs, loaded: &Loaded, start: Start) -> RunRequest {
    let project = Project { allows_outside: args.allow_outside, ..project_of(loaded.project.clone()) };
    let program = Arc::clone(&loaded.program);
    let mut request = RunRequest::new(program, project, start, &loaded.config, UserTrust::of_user());
    request.harness = harness(args);
    request.script.clone_from(&args.script);
    request.delay = args.delay.unwrap_or(Duration::ZERO);
    request.config.max_parallel = args.max_parallel.or(request.config.max_parallel);
    request.limits.allow_unenforced_permissions = args.allow_unenforced_permissions;
    let LimitArgs { max_cost, max_tokens, max_sessions } = args.limits;
    request.money.caps = Caps { cost: max_cost, tokens: max_tokens, sessions: max_sessions };
    request.grants = loaded.grants.clone().with_all(&args.allow);
    request
}

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

/// The status of a run that has ended.
fn status_of(end: &RunEnd, is_strict: bool) -> Ended {
    match (&end.error, end.status) {
        (None, _) if is_strict && end.failures > 0 => Ended::Failed,
        (None, _) => Ended::Completed,
        (Some(_), RunStatus::Waiting) => Ended::Waiting,
        (Some(error), RunStatus::Interrupted) if error.kind == ErrorKind::NotRecorded => Ended::NotRecorded,
        (Some(_), RunStatus::Interrupted) => Ended::Interrupted,
        (Some(_), _) => Ended::Failed,
    }
}

/// The same; `status` is that of the run as soon as it has ended.
fn execute_and_report(
    mut request: RunRequest,
    args: &RunnerArgs,
    narrates: Option<Narration>,
    given: Vec<(SmolStr, Value)>,
    interrupts: &mut Interrupts,
    terminal: &Terminal,
    status: &mut Option<Ended>,
) -> io::Result<Ended> {
    let is_kept = request.state == StateMode::Filesystem;
    let (goes_on, from) = match &request.start {
        Start::From(from) => (false, Some(from.as_ref().clone())),
        start => (*start != Start::New, None),
    };
    let program = shown(Path::new(&request.program.from)).to_string_lossy().into_owned();
    let is_strict = args.strict_exit || request.config.strict_exit;
    if let Some(Err(message)) = args.record_script.as_deref().map(|path| recorded::check(path, args.force)) {
        return refuse(terminal, &message);
    }
    let answered = match &request.start {
        Start::Resume { run, .. } if args.has_answered => request.project.run(run).ok(),
        _ => None,
    };
    match prose_run::check_trust(&request) {
        Ok(()) => {}
        Err(RunFailure::Untrusted(untrusted)) => {
            match crate::trust::asked(&untrusted, &request.trust.store(), args.trust, terminal)? {
                true => request.trust.is_trusted = true,
                false => return Ok(Ended::Refused),
            }
        }
        Err(failure) => return refused_or_continued(&failure, answered.as_deref(), terminal),
    }
    let prepared = match prose_run::prepare(request) {
        Ok(prepared) => prepared,
        Err(failure) => return refused_or_continued(&failure, answered.as_deref(), terminal),
    };
    let narrates = args.narrate.or(narrates);
    let progress = Progress::new(args.quiet || narrates.is_some(), terminal);
    progress.start(&prepared);
    let run: SmolStr = prepared.run().into();
    let folder = prepared.folder.clone();
    let notifier = prepared.notifier();
    let questions = Questions::new(given);
    let asking = TerminalQuestions::ask(&questions, progress.bars());
    if prepared.stays() && !keyboard::can_ask() {
        progress.write_questions_of(&run);
    }
    let mut recorder = args.record_script.as_deref().map(Recorder::new);
    let output = Output::default();
    let mut view = View::default();
    let mut observer = |event: &Event, is_new: bool| {
        // What is narrated need not be said twice.
        if narrates.is_none() || !matches!(event.kind, EventKind::Warning { .. }) {
            progress.show(&view, event, is_new);
        }
        view.apply(event);
        progress.report(&view, event);
        if let Some(recorder) = &mut recorder {
            recorder.record(event);
        }
        if args.json && is_new {
            output.write(|| write_json(event));
        }
    };
    let bars = progress.bars();
    let mut hear = |line: &str| {
        bars.around(|| output.write(|| writeln!(terminal.stdout(), "{}", printed::shown(line))));
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
            reason = interrupts.interrupted(within(&questions, args.timeout)) => reason,
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
    asking.finish();
    progress.finish();
    if let Some(recorder) = recorder {
        recorder.write(terminal)?;
    }
    let finished = match finished {
        Ok(finished) => finished,
        Err(failure) => {
            let ended = refuse(terminal, &failure.to_string())?;
            how_to_resume(&run, is_kept, None, terminal)?;
            warn_of(&notifier, terminal)?;
            return Ok(ended);
        }
    };
    let end = &finished.end;
    let ended = status_of(end, is_strict);
    *status = Some(if finished.unrecorded.is_some() { Ended::Unrecorded } else { ended });
    if !args.json && narrates.is_none() {
        output.write(|| write_outputs(end, terminal));
    }
    let mut stderr = terminal.stderr();
    if goes_on && !args.quiet {
        let FinishedRun { reused, ran, .. } = finished;
        let reused = counted(reused as usize, "result");
        writeln!(stderr, "Reused {reused} from the earlier execution, ran {ran}.")?;
    }
    if let Some(from) = from.as_ref().filter(|_| !args.quiet) {
        replayed::write_reused(from, &finished, terminal)?;
    }
    if !args.quiet {
        census::write_end(end, &view, &mut stderr)?;
    }
    match (&end.error, ended) {
        (None, _) => {}
        (Some(_), Ended::Waiting) => waiting::write(&run, end, is_kept, terminal)?,
        (Some(error), Ended::NotRecorded) => match (&from, &finished.not_recorded) {
            (Some(from), Some(request)) => replayed::write_not_recorded(from, request, &program, terminal)?,
            _ => writeln!(stderr, "{WARNING}not recorded{WARNING:#}: {}", one_line(&error.message))?,
        },
        (Some(error), Ended::Interrupted) => {
            writeln!(stderr, "{WARNING}stopped{WARNING:#}: {}", one_line(&error.message))?;
        }
        (Some(error), _) => {
            let place = if error.line > 0 { format!(" at line {}", error.line) } else { String::new() };
            let error = error.to_string();
            writeln!(stderr, "{ERROR}error{ERROR:#}: the program failed{place}: {}", printed::shown(&error))?;
        }
    }
    if let Some(error) = end.error.as_ref().filter(|_| is_kept && ended == Ended::Failed)
        && let Some(prompt) = failures::prompt_of(&view, error)
    {
        let path = folder.as_deref().unwrap_or(Path::new("")).join(prompt);
        let path = shown(&path);
        writeln!(stderr, "{HELP}help{HELP:#}: its prompt is in `{}`", one_line(&path.to_string_lossy()))?;
    }
    let is_replay = from.as_ref().is_some_and(|from| !from.is_live);
    if let Some(error) = end.error.as_ref().filter(|_| (ended != Ended::Waiting || !is_kept) && !is_replay) {
        let failed = (ended == Ended::Failed || error.kind == ErrorKind::Budget).then_some(error.kind);
        how_to_resume(&run, is_kept, failed, terminal)?;
    }
    let ended = match &finished.unrecorded {
        None => ended,
        Some(error) => {
            let error = one_line(&error.to_string()).into_owned();
            writeln!(
                stderr,
                "{ERROR}error{ERROR:#}: the program has completed, but its end cannot be recorded: {error}"
            )?;
            if is_kept {
                writeln!(
                    stderr,
                    "{HELP}help{HELP:#}: save the output above; `prose resume {run}` records the end without running sessions again"
                )?;
            }
            Ended::Unrecorded
        }
    };
    warn_of(&notifier, terminal)?;
    match output.into_error() {
        Some(error) => {
            writeln!(stderr, "{ERROR}error{ERROR:#}: cannot write the output: {error}")?;
            if is_kept {
                writeln!(stderr, "{HELP}help{HELP:#}: run `prose runs show {run}` for the results")?;
            }
            Ok(Ended::Refused)
        }
        None => Ok(ended),
    }
}

/// Is ready when a run has worked for as long as it may. The time for which it waits for answers does not count.
async fn within(questions: &Questions, timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => questions.worked_for(timeout).await,
        None => std::future::pending().await,
    }
}

/// Named outputs one after the other, or the value of a program that has none.
fn write_outputs(end: &RunEnd, terminal: &Terminal) -> io::Result<()> {
    for (name, value) in &end.outputs {
        let value = value.to_string();
        let separator = if value.contains('\n') { '\n' } else { ' ' };
        write!(terminal.stdout(), "{HELP}{name}:{HELP:#}{separator}")?;
        printed::write(&value)?;
    }
    if !matches!(end.value, Value::Null) {
        printed::write(&end.value.to_string())?;
    }
    io::stdout().flush()
}

fn write_json(event: &Event) -> io::Result<()> {
    let mut out = crate::terminal::raw_stdout();
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn how_to_resume(run: &str, is_kept: bool, failed: Option<ErrorKind>, terminal: &Terminal) -> io::Result<()> {
    // Another answer helps with what an agent failed by, and only another program with the rest.
    let fails_again = matches!(
        failed,
        Some(
            ErrorKind::Thrown
                | ErrorKind::Assertion
                | ErrorKind::UnknownName
                | ErrorKind::Type
                | ErrorKind::Constant
                | ErrorKind::RecursionLimitExceeded
                | ErrorKind::IterationLimitExceeded
                | ErrorKind::Import
                | ErrorKind::UnsafePath
        )
    );
    let help = match (is_kept, fails_again) {
        (true, false) if failed == Some(ErrorKind::Budget) => {
            format!("raise the limit, then run `prose resume {run}`; recorded results are reused")
        }
        (true, false) => format!("resume it with `prose resume {run}`; recorded results are reused"),
        (true, true) => format!("fix the program, then run `prose resume {run} --accept-changes`"),
        (false, _) => "save the narration to FILE, then run `prose resume --transcript FILE`".to_owned(),
    };
    writeln!(terminal.stderr(), "{HELP}help{HELP:#}: {help}")
}

/// Waits for the notifications of a run, and warns of those that failed.
fn warn_of(notifier: &Notifier, terminal: &Terminal) -> io::Result<()> {
    notifier.settle().iter().try_for_each(|problem| {
        writeln!(terminal.stderr(), "{WARNING}warning{WARNING:#}: {}", printed::shown(problem))
    })
}

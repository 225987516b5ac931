//! `prose run` and `prose resume`.

mod dry_run;
mod echo;
pub(crate) mod end;
pub(crate) mod ended;
pub(crate) mod estimate;
mod execution;
mod failures;
mod given;
pub(crate) mod harness;
pub(crate) mod interrupt;
pub(crate) mod load;
mod only;
pub(crate) mod printed;
pub(crate) mod progress;
pub(crate) mod project;
mod recorded;
mod replayed;
pub(crate) mod request;
pub(crate) mod resumed;
pub(crate) mod terminal_questions;
pub(crate) mod waiting;

use std::io::{self, Write};
use std::path::Path;

use prose_files::Limit;
use prose_run::{FromRun, Markers, Project, RunRequest, Start, TrustSubject, UserTrust};
use prose_vm::event::StateMode;
use prose_vm::part::RunPart;
use prose_vm::value::Value;
use smol_str::SmolStr;

use self::ended::{Ended, refuse};
pub(crate) use self::execution::execute;
use self::harness::harness_of;
use self::interrupt::Interrupts;
use self::load::{Loaded, load};
use self::project::{present_project, project_of};
use self::request::{import_options, run_request};
use crate::cli::run::{Narration, ResumeArgs, RunArgs, RunnerArgs, State};
use crate::cluster::submitted;
use crate::keyboard;
use crate::terminal::{BOLD, Terminal, WARNING, one_line};

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
    let is_in_context = args.in_context || args.state == Some(State::InContext);
    if let Some(contradiction) = contradiction(&args.runner, is_in_context) {
        return refuse(terminal, contradiction);
    }
    if args.programs.len() > 1 && args.runner.record_script.is_some() {
        return refuse(terminal, "`--record-script` records one program; run the programs separately");
    }
    if args.programs.len() > 1 && args.runner.output.is_some() {
        return refuse(terminal, "`--output` names an output of one program; run the programs separately");
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
    if args.only.is_some() && (args.programs.len() > 1 || is_in_context) {
        let message = match is_in_context {
            true => "`--only` needs a run that keeps its state in files; remove `--state in-context`",
            false => "`--only` runs a part of one program; pass one program",
        };
        return refuse(terminal, message);
    }
    let mut options = import_options(&args.runner);
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
    if let (Some(line), [loaded]) = (args.only, programs.as_slice()) {
        let interrupts = &mut Interrupts::listen();
        return match only::part(line.get(), loaded, &inputs) {
            Ok(part) => run_loaded(args, loaded, Some(part), inputs, false, interrupts, terminal),
            Err(message) => refuse(terminal, &message),
        };
    }
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
    if let Some(on) = &args.on {
        for (name, (loaded, inputs)) in args.programs.iter().zip(runs) {
            highest = highest.max(submitted::run(on, args, name, loaded, inputs, terminal)?);
        }
        return Ok(highest);
    }
    let mut interrupts = Interrupts::listen();
    for (name, (loaded, inputs)) in args.programs.iter().zip(runs) {
        if args.programs.len() > 1 && !args.runner.quiet {
            writeln!(terminal.stderr(), "{BOLD}{}{BOLD:#}", one_line(name))?;
        }
        let ended = run_loaded(args, loaded, None, inputs, is_in_context, &mut interrupts, terminal)?;
        highest = highest.max(ended);
        if ended == Ended::Interrupted {
            break;
        }
    }
    Ok(highest)
}

/// The message about missing inputs that cannot be asked for. A script may contain inputs, and a dry run generates them.
fn missing_inputs(args: &RunArgs, loaded: &Loaded, inputs: &[(SmolStr, Value)]) -> Option<String> {
    let harness = harness_of(&args.runner).unwrap_or_else(|| loaded.config.run.harness.as_str().to_owned());
    // What an earlier run was asked for is recorded.
    // A worker asks who attends the run.
    if args.dry_run
        || args.on.is_some()
        || args.replay.is_some()
        || harness == "script"
        || keyboard::can_ask()
    {
        return None;
    }
    given::missing(inputs, &loaded.program).or_else(|| loaded.program.refusal_of_calls())
}

fn run_loaded(
    args: &RunArgs,
    loaded: &Loaded,
    part: Option<RunPart>,
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
    let mut request =
        RunRequest { seed: args.seed, part, inputs, ..run_request(&args.runner, loaded, start) };
    request.state = match args.state {
        _ if is_in_context => StateMode::InContext,
        Some(State::Filesystem) => StateMode::Filesystem,
        Some(State::Sqlite) => StateMode::Sqlite,
        Some(State::Postgres) => StateMode::Postgres,
        _ => request.state,
    };
    request.take_last_values();
    if let Some(message) = only::missing(&request, args) {
        return refuse(terminal, &message);
    }
    if args.dry_run {
        return dry_run::write(request, args, interrupts, terminal);
    }
    let narrates = is_in_context.then_some(Narration::Brackets);
    execute(request, &args.runner, narrates, Vec::new(), interrupts, terminal)
}

/// `prose resume`
pub(crate) fn resume(args: &ResumeArgs, terminal: &Terminal) -> io::Result<Ended> {
    if let Some(on) = &args.on {
        return submitted::resume(on, args, terminal);
    }
    if let Some(contradiction) = contradiction(&args.runner, args.transcript.is_some()) {
        return refuse(terminal, contradiction);
    }
    if let Some(path) = &args.transcript {
        return resume_transcript(path, args, terminal);
    }
    let project = Project { allows_outside: args.runner.allow_outside, ..present_project() };
    let found = match &args.run {
        Some(run) => crate::runs::details(&project, Some(run)).map(|details| (details, None)),
        None => crate::runs::last_started(&project),
    };
    let (details, note) = match found {
        Ok(found) => found,
        Err(message) => return refuse(terminal, &message),
    };
    if let Some(note) = note {
        writeln!(terminal.stderr(), "{WARNING}note{WARNING:#}: {note}")?;
    }
    let run = details.summary.id.clone();
    let is_confirmed = || prose_run::is_confirmed(&project, &run, &UserTrust::of_user().files);
    let original = match &args.program {
        Some(program) => Ok(resumed::Original { program: program.clone(), note: None }),
        None => resumed::program(&details, &project, args.accept_changes, is_confirmed(), &|run, program| {
            format!("say so: `prose resume {run} --program {program}`")
        }),
    };
    let original = match original {
        Ok(original) => original,
        Err(message) => return refuse(terminal, &message),
    };
    if let Some(note) = original.note {
        writeln!(terminal.stderr(), "{WARNING}note{WARNING:#}: {}", one_line(&note))?;
    }
    let Some(loaded) = load(&original.program, import_options(&args.runner), terminal)? else {
        return Ok(Ended::Refused);
    };
    if let Some(known) = details.head.as_ref().and_then(|head| given::known(&args.inputs, &head.inputs)) {
        return refuse(terminal, &known);
    }
    let part = details.head.as_ref().and_then(|head| head.part.as_deref());
    if let Err(message) =
        given::check_for(part, args.inputs.iter().map(|(name, _)| name.as_str()), &loaded.program)
    {
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
    let Some(loaded) = load(program, import_options(&args.runner), terminal)? else {
        return Ok(Ended::Refused);
    };
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
    if is_in_context && args.output.is_some() {
        return Some(
            "`--output` cannot be combined with `--in-context`, whose only state is the narration on standard output",
        );
    }
    let is_other =
        args.script.is_some() && args.harness.as_deref().is_some_and(|harness| harness != "script");
    is_other.then_some("`--script` needs the harness `script`; remove `--harness` or `--script`")
}

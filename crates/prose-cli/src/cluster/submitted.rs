//! Runs that workers of a cluster execute: submitting them, and following them to their end.

use std::io::{self, Write};
use std::path::Path;

use prose_cluster::{Bundle, ClusterError, Mirror, Options, Priority, Repository, Standing, adopt, submit};
use prose_config::Config;
use prose_files::{Limit, read_text};
use prose_project::imports::ImportOptions;
use prose_project::load::load_file;
use prose_run::control::{Client, ControlError, ElsewhereQuestions};
use prose_run::{Caps, RunRequest, Start, UserTrust};
use prose_state::Server;
use prose_state::runs::RunDetails;
use prose_vm::event::{RunHead, RunStatus};
use prose_vm::questions::AnswerSource;
use prose_vm::value::Value;
use smol_str::SmolStr;

use super::server::{mirror, server_of};
use crate::cli::priority::RunPriority;
use crate::cli::run::{ResumeArgs, RunArgs, RunnerArgs};
use crate::command_error::CommandError;
use crate::keyboard::can_ask;
use crate::run::end::{status_of, write_outputs};
use crate::run::ended::{Ended, refuse};
use crate::run::harness::harness_of;
use crate::run::interrupt::Interrupts;
use crate::run::load::Loaded;
use crate::run::progress::Progress;
use crate::run::project::{present_project, project_of};
use crate::run::request::run_request;
use crate::runs::attach::{follow, show_or_ask};
use crate::runs::census;
use crate::runs::details::details;
use crate::screen::{self, Elsewhere, Followed, ScreenThread};
use crate::terminal::{ERROR, HELP, Terminal, WARNING, one_line};
use crate::trust::{self, AgentPlace};

/// Submits a run of the program that an argument names, and follows it unless it is detached.
pub(crate) fn run(
    on: &str,
    args: &RunArgs,
    name: &str,
    loaded: &Loaded,
    inputs: Vec<(SmolStr, Value)>,
    terminal: &Terminal,
) -> io::Result<Ended> {
    if !args.runner.quiet {
        loaded.write_warnings(terminal)?;
    }
    let mut options = Options {
        inputs,
        harness: loaded.config.run.harness.as_str().to_owned(),
        seed: args.seed,
        traceparent: prose_telemetry::parent().map(SmolStr::from),
        ..Options::default()
    };
    let bundled = || -> Result<Bundle, String> {
        override_options(&mut options, &args.runner)?;
        if args.git {
            options.repository = Some(Repository::of_project(&project_of(loaded.project.clone()).root)?);
        }
        bundle_of(name, loaded, options)
    };
    let bundle = match bundled() {
        Ok(bundle) => bundle,
        Err(message) => return refuse(terminal, &message),
    };
    if !is_trusted(request_of(loaded, &args.runner, &bundle.options), &args.runner, terminal)? {
        return Ok(Ended::Refused);
    }
    let submitted = || -> Result<_, ClusterError> {
        let server = server_of(on)?;
        let run = submit(&server, &bundle, args.priority.into())?;
        Ok((server, run))
    };
    let (server, run) = match submitted() {
        Ok(submitted) => submitted,
        Err(error) => return refuse(terminal, &error.to_string()),
    };
    if args.detach {
        writeln!(terminal.stdout(), "{run}")?;
        if !args.runner.quiet {
            writeln!(
                terminal.stderr(),
                "submitted to `{server}`; follow it with `prose runs attach {run} --on URL`"
            )?;
        }
        return Ok(Ended::Completed);
    }
    follow_submitted(server, &run, &args.runner, terminal)
}

/// Resumes a run on the workers, and follows it.
pub(crate) fn resume(on: &str, args: &ResumeArgs, terminal: &Terminal) -> io::Result<Ended> {
    match resumed(on, args, terminal) {
        Ok(Some((mirror, run))) => follow_run(&mirror, &run, &args.runner, terminal),
        Ok(None) => Ok(Ended::Refused),
        Err(CommandError::Output(error)) => Err(error),
        Err(CommandError::Message(message)) => refuse(terminal, &message),
    }
}

/// Has the workers continue a run, and returns it; none after a message that its project is not trusted.
fn resumed(
    on: &str,
    args: &ResumeArgs,
    terminal: &Terminal,
) -> Result<Option<(Mirror, String)>, CommandError> {
    let all = mirror(on, None)?;
    let details = details(&all.project, args.run.as_deref()).map_err(CommandError::Message)?;
    let run = details.summary.id.to_string();
    match all.standing(&run)? {
        None => {
            let unsubmitted = Unsubmitted::new(&details, &args.runner).map_err(CommandError::Message)?;
            if !is_trusted(unsubmitted.request, &args.runner, terminal)? {
                return Ok(None);
            }
            adopt(all.server(), &run, unsubmitted.bundle, args.runner.limits.caps())?;
        }
        Some(Standing::Queued | Standing::Led(_)) => {}
        Some(Standing::Ended(_)) if details.summary.status.can_be_resumed() => {
            all.resume(&run, args.runner.limits.caps())?;
        }
        Some(Standing::Ended(_)) => {
            let status = details.summary.status.name();
            return Err(CommandError::Message(format!("run {run} has ended ({status})")));
        }
    }
    // As it stands now.
    drop(all);
    Ok(Some((mirror(on, Some(&run))?, run)))
}

impl From<RunPriority> for Priority {
    fn from(priority: RunPriority) -> Self {
        match priority {
            RunPriority::Low => Self::Low,
            RunPriority::Normal => Self::Normal,
            RunPriority::High => Self::High,
        }
    }
}

/// With what a run continues that was not submitted to its server. Its journal comes from elsewhere and does not choose the harness.
pub(super) fn options_of(head: &RunHead, config: &Config) -> Options {
    Options { harness: config.run.harness.as_str().to_owned(), seed: head.seed, ..Options::default() }
}

/// Replaces what a command line gives for the execution of a run.
pub(super) fn override_options(options: &mut Options, args: &RunnerArgs) -> Result<(), String> {
    if let Some(harness) = harness_of(args) {
        options.harness = harness;
    }
    if let Some(path) = &args.script {
        let text = read_text(path, Limit::SCRIPT);
        options.script = Some(text.map_err(|error| format!("the script `{}` {error}", path.display()))?);
    }
    options.delay = args.delay.unwrap_or(options.delay);
    options.max_parallel = args.max_parallel.or(options.max_parallel);
    options.timeout = args.timeout.or(options.timeout);
    let caps = args.limits.caps();
    if caps != Caps::default() {
        options.caps = caps;
    }
    options.allow.extend(args.allow.iter().cloned());
    options.allow_unenforced_permissions |= args.allow_unenforced_permissions;
    Ok(())
}

/// What a bundle has workers execute of a program, as this machine would.
pub(super) fn request_of(loaded: &Loaded, args: &RunnerArgs, options: &Options) -> RunRequest {
    RunRequest { harness: Some(options.harness.clone()), ..run_request(args, loaded, Start::New) }
}

/// Whether workers may execute a request: the user trusts its project, or it starts no agents. Asks the user, or writes what is needed.
pub(super) fn is_trusted(
    mut request: RunRequest,
    args: &RunnerArgs,
    terminal: &Terminal,
) -> io::Result<bool> {
    match trust::check(&mut request, AgentPlace::Workers, args.trust, terminal)? {
        Ok(is_trusted) => Ok(is_trusted),
        Err(failure) => refuse(terminal, &failure.to_string()).map(|_| false),
    }
}

/// The bundle of a program, which an argument names.
pub(super) fn bundle_of(name: &str, loaded: &Loaded, options: Options) -> Result<Bundle, String> {
    let path = Path::new(name);
    if name == "-" || (!path.exists() && prose_project::parts::document_of(path).is_none()) {
        return Err(
            "`--on` needs a program in a file of a project; save it there, or write one that imports it"
                .to_owned(),
        );
    }
    let root = project_of(loaded.project.clone()).root;
    Bundle::new(&loaded.program, &loaded.config, path, &root, options).map_err(|error| error.to_string())
}

/// A run that a server has and that was not submitted to it, such as an imported one, with its program in the present project.
struct Unsubmitted {
    bundle: Bundle,
    /// What this machine would execute.
    request: RunRequest,
}

impl Unsubmitted {
    fn new(details: &RunDetails, args: &RunnerArgs) -> Result<Self, String> {
        let run = &details.summary.id;
        let head = details.head.as_ref().ok_or_else(|| format!("run {run} has not started"))?;
        let elsewhere = || {
            format!(
                "run {run} was not submitted to the server; to continue it there, start this command in the project with its program `{}`, as it was then",
                head.program
            )
        };
        let project = present_project();
        let path = project.root.join(&head.program);
        let loaded = load_file(&path, ImportOptions::default()).map_err(|_| elsewhere())?;
        let program = loaded.program.map_err(|refusal| format!("`{}` {refusal}", head.program))?;
        if program.sha256 != head.sha256 {
            return Err(elsewhere());
        }
        let config = loaded.rules.config();
        let mut options = options_of(head, config);
        override_options(&mut options, args)?;
        let harness = Some(options.harness.clone());
        let bundle = Bundle::new(&program, config, &path, &project.root, options);
        let bundle = bundle.map_err(|error| error.to_string())?;
        let request = RunRequest::new(program, project, Start::New, config, UserTrust::of_user());
        Ok(Self { bundle, request: RunRequest { harness, ..request } })
    }
}

/// Follows a run that was just submitted to a server.
pub(super) fn follow_submitted(
    server: Server,
    run: &str,
    args: &RunnerArgs,
    terminal: &Terminal,
) -> io::Result<Ended> {
    match Mirror::open(server, Some(run)) {
        Ok(mirror) => follow_run(&mirror, run, args, terminal),
        Err(error) => refuse(terminal, &error.to_string()),
    }
}

/// Shows a run that workers execute, and answers its questions, until it has ended.
fn follow_run(mirror: &Mirror, run: &str, args: &RunnerArgs, terminal: &Terminal) -> io::Result<Ended> {
    let failed = |error: ControlError| format!("run {run}: {error}");
    let folder = match mirror.project.run(run) {
        Ok(folder) => folder,
        Err(error) => return refuse(terminal, &error.to_string()),
    };
    let attached = Client::connect(&folder).and_then(|client| client.attach(0));
    let mut watcher = match attached {
        Ok(watcher) => watcher,
        Err(error) => return refuse(terminal, &failed(error)),
    };
    let asks = !args.json && can_ask();
    let questions = asks.then(|| ElsewhereQuestions::attend(&folder, AnswerSource::CommandLine)).transpose();
    let questions = match questions {
        Ok(questions) => questions,
        Err(error) => return refuse(terminal, &failed(error)),
    };
    let progress = Progress::new(args.quiet || args.json, terminal);
    // The run continues when this process is interrupted; only the terminal has to be restored.
    let interrupter = Interrupts::listen().interrupter();
    if !args.quiet {
        writeln!(terminal.stderr(), "Submitted run {run}; Ctrl-C leaves it running.")?;
    }
    let has_screen = asks && !args.quiet && screen::fits(args.plain);
    let followed = Followed::new(has_screen);
    let run_elsewhere = Elsewhere { folder, questions, interrupter, is_read_only: false };
    let screen = show_or_ask(run_elsewhere, has_screen, &followed, &progress, terminal)?;
    let end = follow(&mut watcher, &progress, args.json, &followed);
    screen.into_iter().for_each(ScreenThread::finish);
    progress.finish();
    let end = match end {
        Ok(end) => end,
        Err(CommandError::Output(error)) => return Err(error),
        Err(CommandError::Message(message)) => return refuse(terminal, &format!("run {run}: {message}")),
    };
    let mut stderr = terminal.stderr();
    let Some(end) = end else {
        return match mirror.standing(run) {
            Ok(Some(Standing::Ended(Some(problem)))) => refuse(terminal, &problem),
            Ok(_) => refuse(
                terminal,
                &format!("run {run} has stopped; resume it with `prose resume {run} --on URL`"),
            ),
            Err(error) => refuse(terminal, &error.to_string()),
        };
    };
    let ended = status_of(&end, args.strict_exit);
    if !args.json {
        write_outputs(&end, args.output.as_ref(), terminal)?;
    }
    if !args.quiet {
        census::write_end(&end, &followed.lock().view, &mut stderr)?;
    }
    if let Some(error) = &end.error {
        let place = if error.line > 0 { format!(" at line {}", error.line) } else { String::new() };
        let error = error.to_string();
        match end.status {
            RunStatus::Failed => {
                writeln!(stderr, "{ERROR}error{ERROR:#}: the program failed{place}: {}", one_line(&error))?;
            }
            _ => writeln!(stderr, "{WARNING}stopped{WARNING:#}: {}", one_line(&error))?,
        }
        writeln!(
            stderr,
            "{HELP}help{HELP:#}: resume it with `prose resume {run} --on URL`; recorded results are reused"
        )?;
    }
    Ok(ended)
}

//! Runs that workers of a cluster execute: submitting them, and following them to their end.

use std::io::{self, Write};
use std::path::Path;

use prose_cluster::{Bundle, ClusterError, Mirror, Options, Priority, Standing, submit};
use prose_files::{Limit, read_text};
use prose_run::control::{Client, ControlError, ElsewhereQuestions};
use prose_view::View;
use prose_vm::event::RunStatus;
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
use crate::run::project::project_of;
use crate::runs::attach::{ask, follow};
use crate::runs::census;
use crate::runs::details::details;
use crate::terminal::{ERROR, HELP, Terminal, WARNING, one_line};

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
    let path = Path::new(name);
    if name == "-" || (!path.exists() && prose_project::parts::document_of(path).is_none()) {
        return refuse(
            terminal,
            "`--on` needs a program in a file of a project; save it there, or write one that imports it",
        );
    }
    let options = match options(args, loaded, inputs) {
        Ok(options) => options,
        Err(message) => return refuse(terminal, &message),
    };
    let root = project_of(loaded.project.clone()).root;
    let submitted = || -> Result<_, ClusterError> {
        let bundle = Bundle::new(&loaded.program, path, &root, options)?;
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
    match Mirror::open(server, Some(&run)) {
        Ok(mirror) => follow_run(&mirror, &run, &args.runner, terminal),
        Err(error) => refuse(terminal, &error.to_string()),
    }
}

/// Resumes a run on the workers, and follows it.
pub(crate) fn resume(on: &str, args: &ResumeArgs, terminal: &Terminal) -> io::Result<Ended> {
    let found = || -> Result<(Mirror, String), String> {
        let all = mirror(on, None).map_err(|error| error.to_string())?;
        let details = details(&all.project, args.run.as_deref())?;
        let run = details.summary.id.to_string();
        match all.standing(&run).map_err(|error| error.to_string())? {
            None => {
                return Err(format!("run {run} was not submitted to the server; resume it in its project"));
            }
            Some(Standing::Queued | Standing::Led(_)) => {}
            Some(Standing::Ended(_)) if details.summary.status.can_be_resumed() => {
                all.resume(&run).map_err(|error| error.to_string())?;
            }
            Some(Standing::Ended(_)) => {
                return Err(format!("run {run} has ended ({})", details.summary.status.name()));
            }
        }
        // As it stands now.
        drop(all);
        Ok((mirror(on, Some(&run)).map_err(|error| error.to_string())?, run))
    };
    match found() {
        Ok((mirror, run)) => follow_run(&mirror, &run, &args.runner, terminal),
        Err(message) => refuse(terminal, &message),
    }
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

fn options(args: &RunArgs, loaded: &Loaded, inputs: Vec<(SmolStr, Value)>) -> Result<Options, String> {
    let RunnerArgs { script, delay, max_parallel, timeout, allow, .. } = &args.runner;
    let harness = harness_of(&args.runner).unwrap_or_else(|| loaded.config.run.harness.as_str().to_owned());
    let script = script.as_deref().map(|path| {
        read_text(path, Limit::SCRIPT).map_err(|error| format!("the script `{}` {error}", path.display()))
    });
    let script = script.transpose()?;
    Ok(Options {
        inputs,
        harness,
        script,
        seed: args.seed,
        delay: delay.unwrap_or_default(),
        max_parallel: *max_parallel,
        caps: args.runner.limits.caps(),
        timeout: *timeout,
        allow: allow.clone(),
        allow_unenforced_permissions: args.runner.allow_unenforced_permissions,
        traceparent: prose_telemetry::parent().map(SmolStr::from),
    })
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
    drop(Interrupts::listen());
    if !args.quiet {
        writeln!(terminal.stderr(), "Submitted run {run}; Ctrl-C leaves it running.")?;
    }
    if let Some((questions, closer)) = questions {
        ask(questions, closer, progress.bars())?;
    }
    let mut view = View::default();
    let end = follow(&mut watcher, &progress, args.json, &mut view);
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
        census::write_end(&end, &view, &mut stderr)?;
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

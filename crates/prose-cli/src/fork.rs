//! `prose runs fork`: a new run that keeps what a run did before a point.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use prose_project::files::shown;
use prose_project::shell::word;
use prose_run::questions::user;
use prose_run::{
    ForkPlan, ForkRequest, Point, Project, RunRequest, Start, TrustSubject, UserTrust, describe_fork,
    plan_fork,
};
use prose_state::replay::RecordedRun;
use prose_state::runs::RunDetails;
use prose_vm::questions::AnswerSource;
use prose_vm::value::Value;

use crate::cli::runs::ForkArgs;
use crate::keyboard::says_yes;
use crate::run::ended::{Ended, refuse};
use crate::run::execute;
use crate::run::interrupt::Interrupts;
use crate::run::load::load;
use crate::run::project::present_project;
use crate::run::request::{import_options, run_request};
use crate::run::resumed::{self, Original};
use crate::terminal::{HELP, Terminal, WARNING, one_line};

/// Plans the fork, says what it reuses and asks, and starts it.
pub(crate) fn run(args: &ForkArgs, terminal: &Terminal) -> io::Result<Ended> {
    let project = Project { allows_outside: args.runner.allow_outside, ..present_project() };
    let details = match crate::runs::details(&project, Some(&args.run)) {
        Ok(details) => details,
        Err(message) => return refuse(terminal, &message),
    };
    let planned = RecordedRun::in_folder(&details.summary.folder).map_err(|error| error.to_string());
    let planned = planned.and_then(|recorded| {
        let request = request(args)?;
        plan_fork(recorded, request).map_err(|error| error.to_string())
    });
    let fork = match planned {
        Ok(fork) => fork,
        Err(message) => return refuse(terminal, &message),
    };
    let original = match program(args, &details, &project) {
        Ok(original) => original,
        Err(message) => return refuse(terminal, &message),
    };
    let Some(loaded) = load(&original.program, import_options(&args.runner), terminal)? else {
        return Ok(Ended::Refused);
    };
    if args.program.is_none() && loaded.program.sha256 != fork.from.recorded.head.sha256 {
        let run = &details.summary.id;
        let copy = details.summary.folder.join(prose_state::folder::PROGRAM_FILE);
        if Path::new(&original.program) == copy {
            let copy = shown(&copy).to_string_lossy().into_owned();
            let message = format!(
                "the text of the program of run {run} was redacted when the run was exported; pass the program with `--program FILE`, or fork with the \
                redacted text by `--program {}`",
                word(&copy)
            );
            return refuse(terminal, &message);
        }
        let [now, before] =
            [Path::new(&original.program), &copy].map(|path| shown(path).to_string_lossy().into_owned());
        let as_it_was = match resumed::import_elsewhere(&copy, &project) {
            None => format!("or as it was by `--program {}`", word(&before)),
            Some(import) => format!(
                "or copy `{before}` into its folder under another name, since it imports `{import}`, and fork with that copy"
            ),
        };
        let message = format!(
            "the program `{now}` has changed since run {run}; fork with it as it is now by `--program {}`, {as_it_was}",
            word(&now)
        );
        return refuse(terminal, &message);
    }
    let mut request = RunRequest {
        subject: TrustSubject::new(&project.root, &loaded.config),
        project,
        ..run_request(&args.runner, &loaded, Start::From(Box::new(fork.from.clone())))
    };
    request.names_program = true;
    if !args.runner.quiet {
        match describe_fork(&fork, &request) {
            Ok(plan) => write_plan(&plan, terminal)?,
            Err(error) => return refuse(terminal, &error.to_string()),
        }
    }
    if !args.yes && !is_confirmed(terminal)? {
        return Ok(Ended::Refused);
    }
    execute(request, &args.runner, None, Vec::new(), &mut Interrupts::listen(), terminal)
}

pub(crate) fn request(args: &ForkArgs) -> Result<ForkRequest, String> {
    let nothing = args.from.is_none() && args.replies.is_empty() && args.program.is_none();
    if nothing {
        return Err(
            "pass where the fork leaves the run with `--from`, a changed reply with `--reply`, or an edited program with `--program`"
                .to_owned(),
        );
    }
    let variables =
        args.variables.iter().map(|(name, value)| (name.into(), Value::text(value.as_str()))).collect();
    let replies = args.replies.iter().map(|(at, text)| {
        let point: Point = at.parse().map_err(|error| format!("`--reply {at}=…`: {error}"))?;
        Ok((point, Arc::from(text.as_str())))
    });
    Ok(ForkRequest {
        from: args.from.clone(),
        variables,
        replies: replies.collect::<Result<_, String>>()?,
        by: Some(user(AnswerSource::CommandLine)),
        first_line: 0,
    })
}

fn program(args: &ForkArgs, details: &RunDetails, project: &Project) -> Result<Original, String> {
    if let Some(program) = &args.program {
        return Ok(Original { program: program.clone(), note: None });
    }
    let is_confirmed = prose_run::is_confirmed(project, &details.summary.id, &UserTrust::of_user().files);
    resumed::program(details, project, true, is_confirmed, &|_, program| {
        format!("pass it with `--program {program}`")
    })
}

/// Says what is reused, what is asked and what that is expected to cost.
pub(crate) fn write_plan(plan: &ForkPlan, terminal: &Terminal) -> io::Result<()> {
    let mut stderr = terminal.stderr();
    writeln!(stderr, "{}", one_line(&plan.title))?;
    for detail in &plan.details {
        writeln!(stderr, "{}", one_line(detail))?;
    }
    for note in &plan.notes {
        writeln!(stderr, "{WARNING}note{WARNING:#}: {note}")?;
    }
    Ok(())
}

/// Asks whether the fork is to be started, at a terminal.
pub(crate) fn is_confirmed(terminal: &Terminal) -> io::Result<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(true);
    }
    let mut stderr = terminal.stderr();
    write!(stderr, "{HELP}Start it?{HELP:#} [Y/n] ")?;
    stderr.flush()?;
    drop(stderr);
    says_yes(true)
}

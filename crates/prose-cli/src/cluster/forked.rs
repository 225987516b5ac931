//! `prose runs fork --on`: forks that workers execute.

use std::io;

use prose_cluster::{Bundle, Mirror, Options, Priority, submit};
use prose_run::{Fork, ForkPlan, Start, asks_model, describe_fork, plan_fork};
use prose_state::replay::RecordedRun;

use super::server::mirror;
use super::submitted::{bundle_of, follow_submitted, is_trusted, options_of, override_options, request_of};
use crate::cli::runs::ForkArgs;
use crate::fork::{is_confirmed, request, write_plan};
use crate::run::ended::{Ended, refuse};
use crate::run::load::load;
use crate::run::request::import_options;
use crate::runs::details;
use crate::terminal::Terminal;

/// Plans a fork of a run of a server, says what it reuses and asks, submits it, and follows it.
pub(crate) fn fork(on: &str, args: &ForkArgs, terminal: &Terminal) -> io::Result<Ended> {
    let loaded = match &args.program {
        None => None,
        Some(program) => match load(program, import_options(&args.runner), terminal)? {
            Some(loaded) => Some((program, loaded)),
            None => return Ok(Ended::Refused),
        },
    };
    let planned = || -> Result<(Mirror, Bundle, ForkPlan), String> {
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let mirror = mirror(on, None).map_err(|error| words(&error))?;
        let details = details(&mirror.project, Some(&args.run))?;
        let recorded = RecordedRun::in_folder(&details.summary.folder).map_err(|error| words(&error))?;
        let fork = plan_fork(recorded, request(args)?).map_err(|error| words(&error))?;
        let head = &fork.from.recorded.head;
        let submitted = mirror.bundle(&details.summary.id).map_err(|error| words(&error))?;
        let as_before =
            |bundle: &Bundle| Options { inputs: Vec::new(), timeout: None, ..bundle.options.clone() };
        let bundle = match (&loaded, submitted) {
            (Some((name, loaded)), submitted) => {
                let mut options =
                    submitted.as_ref().map_or_else(|| options_of(head, &loaded.config), as_before);
                override_options(&mut options, &args.runner)?;
                bundle_of(name, loaded, options)?
            }
            (None, Some(mut bundle)) => {
                let mut options = as_before(&bundle);
                override_options(&mut options, &args.runner)?;
                let (before, harness) = (&bundle.options.harness, &options.harness);
                if harness != before && asks_model(harness) && !args.runner.trust {
                    return Err(format!(
                        "run {} was submitted with the harness `{before}`, perhaps by a user who does not trust its project; if you trust its settings, pass `--trust` to fork it \
                         with `{harness}`",
                        details.summary.id
                    ));
                }
                bundle.options = options;
                bundle
            }
            (None, None) => {
                return Err(format!(
                    "run {} was not submitted to the server, which does not have all of its program; pass the program with `--program PROGRAM`",
                    details.summary.id
                ));
            }
        };
        let bundle = bundle.forked(&fork.from);
        let plan = plan(&bundle, &fork)?;
        Ok((mirror, bundle, plan))
    };
    let (all, bundle, plan) = match planned() {
        Ok(planned) => planned,
        Err(message) => return refuse(terminal, &message),
    };
    if !args.runner.quiet {
        write_plan(&plan, terminal)?;
    }
    if !args.yes && !is_confirmed(terminal)? {
        return Ok(Ended::Refused);
    }
    if let Some((_, loaded)) = &loaded
        && !is_trusted(request_of(loaded, &args.runner, &bundle.options), &args.runner, terminal)?
    {
        return Ok(Ended::Refused);
    }
    let run = match submit(all.server(), &bundle, Priority::Normal) {
        Ok(run) => run,
        Err(error) => return refuse(terminal, &error.to_string()),
    };
    follow_submitted(all.server().clone(), &run, &args.runner, terminal)
}

/// What the fork reuses and is expected to cost, as a worker will execute it.
fn plan(bundle: &Bundle, fork: &Fork) -> Result<ForkPlan, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let root = folder.path().canonicalize().map_err(|error| error.to_string())?;
    bundle.unpack(&root).map_err(|error| error.to_string())?;
    let request = bundle.request(&root, Start::From(Box::new(fork.from.clone())));
    let request = request.map_err(|error| error.to_string())?;
    describe_fork(fork, &request).map_err(|error| error.to_string())
}

//! What the options of a command line say of a run.

use std::sync::Arc;
use std::time::Duration;

use prose_project::imports::{ImportOptions, LockUse};
use prose_run::{Project, RunRequest, Start, UserTrust};

use super::harness::harness_of;
use super::load::Loaded;
use super::project::project_of;
use crate::cli::run::RunnerArgs;

/// How imports are found.
pub(crate) fn import_options(args: &RunnerArgs) -> ImportOptions {
    ImportOptions { offline: args.offline, lock: LockUse::new(args.locked), ..ImportOptions::default() }
}

/// The request for a run of a program.
pub(crate) fn run_request(args: &RunnerArgs, loaded: &Loaded, start: Start) -> RunRequest {
    let project = Project { allows_outside: args.allow_outside, ..project_of(loaded.project.clone()) };
    let program = Arc::clone(&loaded.program);
    let mut request = RunRequest::new(program, project, start, &loaded.config, UserTrust::of_user());
    request.harness = harness_of(args);
    request.script.clone_from(&args.script);
    request.delay = args.delay.unwrap_or(Duration::ZERO);
    request.config.max_parallel = args.max_parallel.or(request.config.max_parallel);
    request.limits.allow_unenforced_permissions = args.allow_unenforced_permissions;
    request.timeout = args.timeout;
    request.money.caps = args.limits.caps();
    request.grants = loaded.grants.clone().with_all(&args.allow);
    request
}

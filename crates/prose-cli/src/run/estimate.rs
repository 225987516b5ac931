//! `prose estimate` and `prose describe`

use std::io::{self, Write};

use prose_harness::registry::check_name;
use prose_project::imports::ImportOptions;
use prose_run::{EstimateRequest, History, MAX_RUNS, Money, Routes, estimate_run};
use prose_vm::value::Value;
use smol_str::SmolStr;

use super::ended::Ended;
use super::ended::refuse;
use super::given;
use super::load::{Loaded, load};
use super::project::project_of;
use crate::cli::run::{DescribeArgs, EstimateArgs};
use crate::terminal::{Terminal, one_line};

/// `prose estimate`
pub(crate) fn run(args: &EstimateArgs, terminal: &Terminal) -> io::Result<Ended> {
    let options = ImportOptions { offline: args.offline, ..ImportOptions::default() };
    let Some(loaded) = load(&args.program, options, terminal)? else { return Ok(Ended::Refused) };
    let inputs = match given::read(&args.inputs, None) {
        Ok(inputs) => inputs,
        Err(message) => return refuse(terminal, &message),
    };
    if let Err(message) = given::check(inputs.iter().map(|(name, _)| name.as_str()), &loaded.program) {
        return refuse(terminal, &message);
    }
    if let Some(Err(error)) = args.harness.as_deref().map(check_name) {
        return refuse(terminal, &error.to_string());
    }
    let estimate = with_request(&loaded, args.harness.as_deref(), &inputs, estimate_run);
    let mut out = terminal.stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &estimate.to_json(&loaded.program.from))
            .map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}", one_line(&estimate.title()))?;
        write!(out, "{estimate}")?;
    }
    Ok(Ended::Completed)
}

/// `prose describe`
pub(crate) fn describe(args: &DescribeArgs, terminal: &Terminal) -> io::Result<Ended> {
    let options = ImportOptions { offline: args.offline, ..ImportOptions::default() };
    let Some(loaded) = load(&args.program, options, terminal)? else { return Ok(Ended::Refused) };
    let page = with_request(&loaded, args.harness.as_deref(), &[], |request| {
        prose_run::describe(request, &loaded.grants)
    });
    write!(terminal.stdout(), "{page}")?;
    Ok(Ended::Completed)
}

/// Asks about a run of a program with its settings and its earlier runs.
fn with_request<T>(
    loaded: &Loaded,
    harness: Option<&str>,
    inputs: &[(SmolStr, Value)],
    ask: impl FnOnce(&EstimateRequest<'_>) -> T,
) -> T {
    let config = &loaded.config;
    let money = Money::of(config);
    let history = History::read(&project_of(loaded.project.clone()), &loaded.program, MAX_RUNS);
    ask(&EstimateRequest {
        program: &loaded.program,
        harness: harness.unwrap_or(config.run.harness.as_str()),
        money: &money,
        config: &config.run,
        routes: &Routes::of(config),
        inputs,
        history: &history,
    })
}

//! `prose estimate`

use std::io::{self, Write};

use prose_harness::registry::check_name;
use prose_project::imports::ImportOptions;
use prose_run::{Caps, EstimateRequest, History, MAX_RUNS, Money, Routes, estimate_run};

use super::ended::Ended;
use super::ended::refuse;
use super::given;
use super::load::load;
use super::project::project_of;
use crate::cli::run::EstimateArgs;
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
    let config = &loaded.config;
    let harness = args.harness.as_deref().unwrap_or(config.run.harness.as_str());
    if let Err(error) = check_name(harness) {
        return refuse(terminal, &error.to_string());
    }
    let money = Money { caps: Caps::default(), limits: config.limits.clone(), prices: config.prices.clone() };
    let history = History::read(&project_of(loaded.project.clone()), &loaded.program, MAX_RUNS);
    let estimate = estimate_run(&EstimateRequest {
        program: &loaded.program,
        harness,
        money: &money,
        config: &config.run,
        routes: &Routes::of(config),
        inputs: &inputs,
        history: &history,
    });
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

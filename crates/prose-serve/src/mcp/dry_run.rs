//! `dry_run` and `estimate`: what a run would do and cost.

use std::fmt::Write;
use std::time::Duration;

use prose_run::{
    DryRun, EstimateRequest, History, MAX_RUNS, Money, PreparedRun, Routes, Start, estimate_run,
};
use prose_syntax::text::one_line;
use prose_vm::event::RunStatus;
use prose_vm::place::NamedLine;
use serde_json::Map;

use super::reply::{MAX_TEXT, Reply, data};
use super::runnable_of;
use crate::folder::Folder;
use crate::runnable::Runnable;

/// Estimates a run.
pub(super) fn estimate(folder: &Folder, path: String, inputs: &Map<String, serde_json::Value>) -> Reply {
    let Runnable { loaded, program, inputs } = match runnable_of(folder, &path, inputs) {
        Ok(runnable) => runnable,
        Err(reason) => return Reply::error(reason),
    };
    let config = &loaded.rules.config().run;
    let history = History::read(&folder.project_of(&loaded), &program, MAX_RUNS);
    let estimate = estimate_run(&EstimateRequest {
        program: &program,
        harness: config.harness.as_str(),
        money: &Money::of(loaded.rules.config()),
        config,
        routes: &Routes::of(loaded.rules.config()),
        inputs: &inputs,
        history: &history,
    });
    Reply::text(format!("{}\n{estimate}", estimate.title())).with_facts(estimate.to_json(&program.from))
}

/// Lists the prompts of a run.
pub(super) fn dry_run(folder: &Folder, path: String, inputs: &Map<String, serde_json::Value>) -> Reply {
    let prepared = runnable_of(folder, &path, inputs)
        .map(|runnable| runnable.request(folder, Start::Dry))
        .and_then(|request| prose_run::prepare(request).map_err(|failure| failure.to_string()));
    match prepared {
        Ok(prepared) => rehearsed(prepared),
        Err(reason) => Reply::error(reason),
    }
}

fn rehearsed(prepared: PreparedRun) -> Reply {
    let mut report = String::new();
    let mut number = 0;
    let mut add = |line: Option<NamedLine>, reported: DryRun<'_>| {
        let line = line.map_or(String::new(), |line| line.to_string());
        match reported {
            DryRun::Prompt(prompt) => {
                number += 1;
                // What exceeds the reply is counted, but not kept.
                if report.len() <= MAX_TEXT {
                    let (heading, text) = (prompt.heading(), data(prompt.prompt().trim_end()));
                    let system = prompt.system();
                    let system = system.map_or(String::new(), |system| format!("system:\n{}", data(&system)));
                    let _ = writeln!(report, "== {number}: {line}{}\n{text}{system}", one_line(&heading));
                }
            }
            DryRun::Warning(message) => {
                let _ = writeln!(report, "warning: {line}: {}\n", one_line(message));
            }
        }
    };
    // A program without an end has one here, too: that of a dry run is bounded by its limits.
    let too_long = async {
        tokio::time::sleep(MAX_TIME).await;
        format!("the dry run was stopped after {} seconds", MAX_TIME.as_secs())
    };
    let end = match prepared.rehearse([], Box::pin(too_long), &mut add) {
        Ok(end) => end,
        Err(failure) => return Reply::error(failure.to_string()),
    };
    let mut head = format!("{number} prompts; nothing was sent, and replies were generated.\n");
    if let (RunStatus::Failed | RunStatus::Interrupted, Some(error)) = (end.status, &end.error) {
        let _ = writeln!(head, "With these replies the program would end at line {}:", error.line);
        head.push_str(&data(&error.to_string()));
    }
    Reply::text(format!("{head}\n{report}"))
}

/// The maximum duration of a dry run.
const MAX_TIME: Duration = Duration::from_secs(30);

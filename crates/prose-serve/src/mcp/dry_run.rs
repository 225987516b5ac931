//! `dry_run` and `estimate`: what a run would do and cost.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use prose_config::Config;
use prose_project::load::Loaded;
use prose_run::{
    Caps, EstimateRequest, History, MAX_RUNS, Money, PreparedRun, Routes, RunHooks, RunRequest, Start,
    TrustSubject, estimate_run, question_kind,
};
use prose_vm::activity::NoApprovals;
use prose_vm::event::{Event, EventKind, RunStatus, StateMode};
use prose_vm::program::Program;
use prose_vm::runner::Limits;
use prose_vm::value::Value;
use serde_json::Map;
use smol_str::SmolStr;

use super::folder::Folder;
use super::reply::{MAX_TEXT, Reply};
use super::run_inputs::GeneratedInputs;

/// A program that can be run, with its inputs.
pub(super) struct Runnable {
    pub(super) loaded: Loaded,
    pub(super) program: Arc<Program>,
    pub(super) inputs: Vec<(SmolStr, Value)>,
}

impl Runnable {
    /// Loads a program. The error says why it cannot be run.
    pub(super) fn load(
        folder: &Folder,
        path: &str,
        inputs: &Map<String, serde_json::Value>,
    ) -> Result<Self, String> {
        let mut loaded = folder.load(path)?;
        if let Some(failure) = loaded.failures.first() {
            return Err(format!("`{}` {}", folder.shown(&failure.path), failure.reason));
        }
        let nothing = Err(prose_project::runnable::Refusal::NotThere);
        let program = std::mem::replace(&mut loaded.program, nothing)
            .map_err(|refusal| format!("`{path}` {refusal}; call `check` for what is wrong"))?;
        let inputs: Vec<(SmolStr, Value)> =
            inputs.iter().map(|(name, value)| (name.into(), Value::from_json(value))).collect();
        if let Some(refusal) = inputs.iter().find_map(|(name, _)| program.refusal_of_input(name)) {
            return Err(refusal);
        }
        Ok(Self { loaded, program, inputs })
    }

    /// Checks that the user lets clients run the programs of the project.
    pub(super) fn check_allowed(&self, folder: &Folder) -> Result<(), String> {
        let config = self.loaded.rules.config();
        if !config.mcp.run {
            return Err("the project does not let clients run programs; ask the user to set `run = true` in the table `[mcp]` of its prose.toml, or to run the \
                        program with `prose run`"
                .to_owned());
        }
        let subject = TrustSubject::new(&folder.project_of(&self.loaded).root, config);
        folder.trust().check(&subject).map_err(|_| {
            let project = subject.folder.display();
            format!("the user does not trust the project {project}; ask the user to run `prose trust` in it")
        })
    }

    /// The request for a run: with the harness, the limits and the permissions of the project.
    pub(super) fn request(self, folder: &Folder, start: Start) -> RunRequest {
        let project = folder.project_of(&self.loaded);
        let config = self.loaded.rules.config();
        let run = config.run.clone();
        RunRequest {
            program: self.program,
            subject: TrustSubject::new(&project.root, config),
            trust: folder.trust(),
            names_program: true,
            project,
            start,
            state: StateMode::Filesystem,
            harness: None,
            script: None,
            seed: 0,
            delay: Duration::ZERO,
            inputs: self.inputs,
            limits: Limits { stalled_after: run.stalled_after.duration(), ..Limits::default() },
            money: money(config),
            config: run,
            routes: Routes::of(config),
            grants: config.grants(),
        }
    }
}

/// The prices and limits of a project.
fn money(config: &Config) -> Money {
    Money { caps: Caps::default(), limits: config.limits.clone(), prices: config.prices.clone() }
}

/// Estimates a run.
pub(super) fn estimate(folder: &Folder, path: String, inputs: &Map<String, serde_json::Value>) -> Reply {
    let Runnable { loaded, program, inputs } = match Runnable::load(folder, &path, inputs) {
        Ok(runnable) => runnable,
        Err(reason) => return Reply::error(reason),
    };
    let config = &loaded.rules.config().run;
    let history = History::read(&folder.project_of(&loaded), &program, MAX_RUNS);
    let estimate = estimate_run(&EstimateRequest {
        program: &program,
        harness: config.harness.as_str(),
        money: &money(loaded.rules.config()),
        max_iterations: config.max_iterations.get(),
        inputs: &inputs,
        history: &history,
    });
    Reply::text(format!("{}\n{estimate}", estimate.title())).with_facts(estimate.to_json(&program.from))
}

/// Lists the prompts of a run.
pub(super) fn dry_run(folder: &Folder, path: String, inputs: &Map<String, serde_json::Value>) -> Reply {
    let prepared = Runnable::load(folder, &path, inputs)
        .map(|runnable| runnable.request(folder, Start::Dry))
        .and_then(|request| prose_run::prepare(request).map_err(|failure| failure.to_string()));
    match prepared {
        Ok(prepared) => rehearsed(prepared),
        Err(reason) => Reply::error(reason),
    }
}

fn rehearsed(prepared: PreparedRun) -> Reply {
    let question_prompts = prepared.question_prompts.clone();
    let mut report = String::new();
    let mut number = 0;
    let mut observer = |event: &Event, _: bool| {
        let line = event.site.map_or(0, |site| site.line);
        let mut add = |what: &str, prompt: &str| {
            number += 1;
            // What exceeds the reply is counted, but not kept.
            if report.len() <= MAX_TEXT {
                let _ = writeln!(report, "== {number}: line {line}{what}\n{}\n", prompt.trim_end());
            }
        };
        match &event.kind {
            EventKind::SessionStarted { task, .. } => {
                let agent = task.agent.as_ref().map_or(String::new(), |agent| format!(", agent {agent}"));
                let model = task.model.as_ref().map_or(String::new(), |model| format!(", model {model}"));
                let system =
                    task.system_part().map_or(String::new(), |system| format!("\n\nSystem: {system}"));
                add(&format!("{agent}{model}"), &format!("{}{system}", task.prompt));
            }
            EventKind::Effect { request, effect, .. } => {
                if let Some(prompt) = question_prompts.take(*request) {
                    add(&format!(", {}", question_kind(effect)), &prompt);
                }
            }
            EventKind::Warning { message } => {
                let _ = writeln!(report, "warning: line {line}: {message}\n");
            }
            _ => {}
        }
    };
    let finished = prepared.execute(RunHooks {
        inputs: Arc::new(GeneratedInputs),
        approvals: Arc::new(NoApprovals),
        observer: &mut observer,
        // A program without an end has one here, too: that of a dry run is bounded by its limits.
        interrupted: Box::pin(async {
            tokio::time::sleep(MAX_TIME).await;
            format!("the dry run was stopped after {} seconds", MAX_TIME.as_secs())
        }),
        narration: None,
    });
    let end = match finished {
        Ok(finished) => finished.end,
        Err(failure) => return Reply::error(failure.to_string()),
    };
    let mut head = format!("{number} prompts; nothing was sent, and replies were generated.\n");
    if let (RunStatus::Failed | RunStatus::Interrupted, Some(error)) = (end.status, &end.error) {
        let _ = writeln!(head, "With these replies the program would end at line {}: {error}", error.line);
    }
    Reply::text(format!("{head}\n{report}"))
}

/// The maximum duration of a dry run.
const MAX_TIME: Duration = Duration::from_secs(30);

//! Dry runs: the prompts of a run without an agent and without files.

use std::future::Future;
use std::pin::Pin;

use prose_vm::effect::SessionTask;
use prose_vm::event::{Event, EventKind, RunEnd};
use prose_vm::place::NamedLine;
use prose_vm::program_names::ProgramNames;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::error::RunFailure;
use crate::rehearsal::question_kind;
use crate::{PreparedRun, Questions, RunHooks};

/// What a dry run reports, in the order of the program.
#[derive(Debug)]
pub enum DryRun<'a> {
    /// A prompt that would be sent.
    Prompt(DryRunPrompt<'a>),
    /// A warning for the user.
    Warning(&'a str),
}

/// A prompt that a run would send.
#[derive(Debug)]
pub enum DryRunPrompt<'a> {
    /// Of a session.
    Session(&'a SessionTask),
    /// Of a question about values.
    Question {
        /// What the question is about, for display.
        kind: &'static str,
        /// The prompt.
        prompt: String,
    },
}

impl DryRunPrompt<'_> {
    /// What is asked, as `session`, `condition`, `choice`, `part of a text` or `summary`.
    pub fn kind(&self) -> &'static str {
        match self {
            DryRunPrompt::Session(_) => "session",
            DryRunPrompt::Question { kind, .. } => kind,
        }
    }

    /// The agent of the program.
    pub fn agent(&self) -> Option<&SmolStr> {
        match self {
            DryRunPrompt::Session(task) => task.agent.as_ref(),
            DryRunPrompt::Question { .. } => None,
        }
    }

    /// The model that the program names.
    pub fn model(&self) -> Option<&SmolStr> {
        match self {
            DryRunPrompt::Session(task) => task.model.as_ref(),
            DryRunPrompt::Question { .. } => None,
        }
    }

    /// The prompt.
    pub fn prompt(&self) -> &str {
        match self {
            DryRunPrompt::Session(task) => &task.prompt,
            DryRunPrompt::Question { prompt, .. } => prompt.trim_end(),
        }
    }

    /// The system part.
    pub fn system(&self) -> Option<String> {
        match self {
            DryRunPrompt::Session(task) => task.system_part().map(Into::into),
            DryRunPrompt::Question { .. } => None,
        }
    }

    /// What was asked of whom, for a heading: empty for a session without an agent.
    pub fn heading(&self) -> String {
        let agent = self.agent().map_or(String::new(), |agent| format!(", agent {agent}"));
        let model = self.model().map_or(String::new(), |model| format!(", model {model}"));
        match self {
            DryRunPrompt::Session(_) => format!("{agent}{model}"),
            DryRunPrompt::Question { kind, .. } => format!(", {kind}"),
        }
    }
}

impl PreparedRun {
    /// Executes a dry run ([`crate::Start::Dry`]) and reports its prompts and warnings, each with its line.
    pub fn rehearse(
        self,
        given: impl IntoIterator<Item = (SmolStr, Value)>,
        interrupted: Pin<Box<dyn Future<Output = String> + '_>>,
        report: &mut dyn FnMut(Option<NamedLine>, DryRun<'_>),
    ) -> Result<RunEnd, RunFailure> {
        let question_prompts = self.question_prompts.clone();
        let mut programs = ProgramNames::default();
        let mut observer = |event: &Event, _: bool| {
            programs.apply(event);
            let line = event.site.and_then(|site| programs.line(site));
            match &event.kind {
                EventKind::SessionStarted { task, .. } => {
                    report(line, DryRun::Prompt(DryRunPrompt::Session(task)));
                }
                EventKind::Effect { request, effect, .. } => {
                    if let Some(prompt) = question_prompts.take(*request) {
                        let kind = question_kind(effect);
                        report(line, DryRun::Prompt(DryRunPrompt::Question { kind, prompt }));
                    }
                }
                EventKind::Warning { message } => report(line, DryRun::Warning(message)),
                _ => {}
            }
        };
        let finished = self.execute(RunHooks {
            questions: Questions::generated(given),
            observer: &mut observer,
            interrupted,
            narration: None,
        })?;
        Ok(finished.end)
    }
}

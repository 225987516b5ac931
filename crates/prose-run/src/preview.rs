//! The prompts of a part of a program as a run would send them, without a run.

use std::future::pending;
use std::sync::Arc;
use std::time::SystemTime;

use prose_harness::prices::estimated_tokens;
use prose_vm::effect::Usage;
use prose_vm::error::RuntimeError;
use prose_vm::place::NamedLine;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::dry_run::DryRunPrompt;
use crate::origin::backends;
use crate::{DryRun, RunFailure, RunRequest, harness_of, prepare};

/// The prompts of a part, with the values in them.
#[derive(Debug)]
pub struct Preview {
    /// The run that values were taken from.
    pub run: Option<SmolStr>,
    /// The values of the variables that the part needs.
    pub values: Vec<PreviewValue>,
    /// The prompts, in the order in which they would be sent.
    pub prompts: Vec<PreviewPrompt>,
    /// Why the part would fail.
    pub error: Option<Arc<RuntimeError>>,
}

/// The value of a variable in a preview.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviewValue {
    /// The variable.
    pub name: SmolStr,
    /// Its value.
    pub value: Value,
    /// The source of the value.
    pub origin: ValueOrigin,
}

/// The source of a value in a preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueOrigin {
    /// The user gives it.
    Given,
    /// The last run that has it.
    LastRun,
    /// Its name in braces, since no run has a value.
    Sample,
}

impl ValueOrigin {
    /// The name for clients.
    pub fn name(self) -> &'static str {
        match self {
            ValueOrigin::Given => "given",
            ValueOrigin::LastRun => "run",
            ValueOrigin::Sample => "sample",
        }
    }
}

/// A prompt that would be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviewPrompt {
    /// What is asked, as in a dry run.
    pub kind: &'static str,
    /// The agent of the program.
    pub agent: Option<SmolStr>,
    /// The model that the program names.
    pub model: Option<SmolStr>,
    /// The prompt, with its context.
    pub prompt: String,
    /// The system part.
    pub system: Option<String>,
    /// The estimated number of tokens of both.
    pub tokens: u64,
    /// What these tokens cost with the model that answers and with each model that the project names, in US dollars; `None` if the price is not known.
    pub costs: Vec<(SmolStr, Option<f64>)>,
}

/// Previews the part of a dry run, with the values of the last run where none are given.
pub fn preview(mut request: RunRequest) -> Result<Preview, RunFailure> {
    let given: Vec<SmolStr> = request.inputs.iter().map(|(name, _)| name.clone()).collect();
    request.take_last_values();
    let missing = request.missing_values();
    for name in &missing {
        request.inputs.push((name.clone(), Value::text(format!("{{{name}}}"))));
    }
    let origin = |name: &SmolStr| match (given.contains(name), missing.contains(name)) {
        (true, _) => ValueOrigin::Given,
        (false, true) => ValueOrigin::Sample,
        (false, false) => ValueOrigin::LastRun,
    };
    let needs = request.part.iter().flat_map(|part| &part.needs);
    let values = needs.filter_map(|name| {
        let (_, value) = request.inputs.iter().find(|(known, _)| known == name)?;
        Some(PreviewValue { name: name.clone(), value: value.clone(), origin: origin(name) })
    });
    let values: Vec<PreviewValue> = values.collect();
    // Without a value, no run counts.
    let is_used = values.iter().any(|value| value.origin == ValueOrigin::LastRun);
    let run = request.part.as_ref().and_then(|part| part.from.clone()).filter(|_| is_used);
    let harness = harness_of(&request);
    let (backends, prices) = (backends(&request.config, &request.routes), request.money.prices());
    let named: Vec<SmolStr> = request.routes.models.values().map(|id| SmolStr::new(id.as_str())).collect();
    let costs = |prompt: &DryRunPrompt<'_>, tokens: u64| {
        let (agent, model) = (prompt.agent().map(SmolStr::as_str), prompt.model().map(SmolStr::as_str));
        let backend = match prompt {
            DryRunPrompt::Session(_) => backends.backend_of_session(&harness, agent, model),
            DryRunPrompt::Question { .. } => backends.backend_of_decisions(&harness),
        };
        let mut models: Vec<SmolStr> = Vec::new();
        for model in backend.model.into_iter().chain(prompt.model().cloned()).chain(named.iter().cloned()) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        let usage = Usage { input_tokens: tokens, ..Usage::default() };
        let cost = |model: SmolStr| {
            let cost = prices.cost(&model, &usage, SystemTime::now());
            (model, cost)
        };
        models.into_iter().map(cost).collect()
    };
    let mut prompts = Vec::new();
    let mut report = |_: Option<NamedLine>, reported: DryRun<'_>| {
        let DryRun::Prompt(prompt) = reported else { return };
        let system = prompt.system();
        let length = prompt.prompt().len() + system.as_ref().map_or(0, String::len);
        let tokens = estimated_tokens(length);
        prompts.push(PreviewPrompt {
            kind: prompt.kind(),
            agent: prompt.agent().cloned(),
            model: prompt.model().cloned(),
            costs: costs(&prompt, tokens),
            prompt: prompt.prompt().to_owned(),
            system,
            tokens,
        });
    };
    let end = prepare(request)?.rehearse([], Box::pin(pending()), &mut report)?;
    Ok(Preview { run, values, prompts, error: end.error })
}

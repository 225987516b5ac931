//! What a run of a program is expected to come to, before it starts: the bounds of the program, prices, and what earlier runs have used.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use prose_config::RunConfig;
use prose_harness::prices::{Prices, estimated_tokens};
use prose_harness::registry::{Backend, HarnessSettings, asks_model, has_tools};
use prose_state::folder::Project;
use prose_state::journal::journal_of;
use prose_state::reader::{JournalReader, read_head};
use prose_vm::budget::{dollars, grouped};
use prose_vm::effect::Usage;
use prose_vm::estimate::{
    Amounts, Assumptions, Estimate, Spot, Unbounded, Work, WorkKind, WorkUsage, estimate,
};
use prose_vm::event::{Event, EventKind};
use prose_vm::place::Site;
use prose_vm::program::Program;
use prose_vm::structure;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::Routes;
use crate::money::Money;
use crate::origin::backends;

/// The number of earlier runs of a program that are read, the latest first.
pub const MAX_RUNS: usize = 20;

/// The estimate of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEstimate {
    /// The bounds of the program.
    pub bounds: Estimate,
    /// The number of earlier runs that it is based on.
    pub runs: usize,
    /// Whether the cost is known: the prices of all models are, or no model is asked.
    pub is_priced: bool,
    /// Whether a model is asked.
    pub asks_model: bool,
}

/// What an estimate is made for.
pub struct EstimateRequest<'a> {
    /// The program.
    pub program: &'a Arc<Program>,
    /// The harness of the run.
    pub harness: &'a str,
    /// How programs run: the provider and the backend of decisions.
    pub config: &'a RunConfig,
    /// The backends of agents and the names of models.
    pub routes: &'a Routes,
    /// The prices.
    pub money: &'a Money,
    /// The inputs, as far as they are given.
    pub inputs: &'a [(SmolStr, Value)],
    /// What earlier runs have used.
    pub history: &'a History,
}

/// Estimates a run.
pub fn estimate_run(request: &EstimateRequest<'_>) -> RunEstimate {
    let assumed = Assumed::new(request);
    assumed.estimate(estimate(request.program, &assumed))
}

/// Estimates one call of a block; `None` if the program has no block of that name.
pub fn estimate_block(request: &EstimateRequest<'_>, name: &str) -> Option<RunEstimate> {
    let assumed = Assumed::new(request);
    Some(assumed.estimate(prose_vm::estimate::estimate_block(request.program, name, &assumed)?))
}

/// What earlier runs of a program have come to, by the places of the program.
#[derive(Debug, Clone, Default)]
pub struct History {
    runs: usize,
    iterations: HashMap<Spot, (f64, u32)>,
    /// By place, kind of request and harness of the run: another agent uses another amount for the same.
    uses: HashMap<(Spot, SmolStr, SmolStr), Vec<Used>>,
    /// The sessions and their attempts.
    attempts: HashMap<Spot, (u32, u32)>,
}

#[derive(Debug, Clone, Copy)]
struct Used {
    tokens: f64,
    cost: Option<f64>,
}

impl History {
    /// Reads the latest runs of a program in a project. What cannot be read is left out.
    pub fn read(project: &Project, program: &Program, most: usize) -> Self {
        let mut history = Self::default();
        let Ok(runs) = project.list_runs() else { return history };
        let journals = runs.into_iter().map(|run| journal_of(&run.folder));
        let own = journals.filter(|path| {
            read_head(path).is_ok_and(|(_, head)| head.sha256 == program.sha256 && head.part.is_none())
        });
        for path in own.take(most) {
            let Ok(events) = JournalReader::open(&path) else { continue };
            history.add(program, events.map_while(Result::ok));
        }
        history
    }

    /// Adds the events of a run.
    pub fn add(&mut self, program: &Program, events: impl IntoIterator<Item = Event>) {
        let mut programs = HashMap::from([(0, SmolStr::from(program.sha256.as_str()))]);
        self.runs += 1;
        let mut harness = SmolStr::default();
        for event in events {
            let spot = |site: Option<Site>| {
                let site = site?;
                Some(Spot { program: programs.get(&site.program)?.clone(), start: site.start })
            };
            let at = spot(event.site);
            let mut repeated = |count: f64| {
                if let Some(at) = at.clone() {
                    let (sum, times) = self.iterations.entry(at).or_default();
                    (*sum, *times) = (*sum + count, *times + 1);
                }
            };
            match &event.kind {
                EventKind::RunStarted(head) => harness.clone_from(&head.harness),
                EventKind::ImportCalled { program: number, text, .. } => {
                    if let Some(found) = find(program, text) {
                        programs.insert(*number, found);
                    }
                }
                EventKind::SessionStarted { task, .. } => {
                    if let Some(at) = at {
                        let (sessions, attempts) = self.attempts.entry(at).or_default();
                        (*sessions, *attempts) = (*sessions + u32::from(task.attempt == 0), *attempts + 1);
                    }
                }
                EventKind::LoopEnded { iterations, .. } => repeated(f64::from(*iterations)),
                EventKind::ParallelStarted { is_loop: true, branches, .. } => repeated(branches.len() as f64),
                EventKind::PipelineStarted { items, .. } => repeated(f64::from(*items)),
                EventKind::Effect { effect, .. } => {
                    if let (Some(at), Some(usage)) = (at, event.kind.usage()) {
                        let tokens = (usage.input_tokens + usage.output_tokens) as f64;
                        let used = Used { tokens, cost: usage.cost };
                        self.uses.entry((at, effect.clone(), harness.clone())).or_default().push(used);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The program with this text among a program and its imports.
fn find(program: &Program, text: &str) -> Option<SmolStr> {
    let imported = program.imports.iter().filter_map(|import| import.program.as_ref());
    imported.into_iter().find_map(|program| match *program.text == *text {
        true => Some(program.sha256.as_str().into()),
        false => find(program, text),
    })
}

/// What is assumed of a run.
struct Assumed<'a> {
    request: &'a EstimateRequest<'a>,
    prices: Prices,
    backends: HarnessSettings,
    asks_model: bool,
    /// Whether the prices of all requests so far are known.
    is_priced: Cell<bool>,
}

impl<'a> Assumed<'a> {
    fn new(request: &'a EstimateRequest<'a>) -> Self {
        Self {
            request,
            prices: request.money.prices(),
            backends: backends(request.config, request.routes),
            asks_model: asks_model(request.harness),
            is_priced: Cell::new(true),
        }
    }

    fn estimate(&self, bounds: Estimate) -> RunEstimate {
        RunEstimate {
            bounds,
            runs: self.request.history.runs,
            is_priced: self.is_priced.get(),
            asks_model: self.asks_model,
        }
    }

    /// An input, if it is given.
    fn input(&self, name: &str) -> Option<&Value> {
        self.request.inputs.iter().find(|(given, _)| given == name).map(|(_, value)| value)
    }

    fn cost(&self, model: Option<&str>, input: f64, output: f64) -> Option<f64> {
        let usage = Usage { input_tokens: input as u64, output_tokens: output as u64, ..Usage::default() };
        self.prices.cost(model?, &usage, SystemTime::now())
    }
}

impl Assumptions for Assumed<'_> {
    fn max_iterations(&self) -> u32 {
        self.request.config.max_iterations.get()
    }

    fn passes_files(&self, agent: Option<&str>) -> bool {
        has_tools(self.backends.backend_of_session(self.request.harness, agent, None).harness)
    }

    fn iterations(&self, spot: &Spot) -> Option<f64> {
        let (sum, times) = self.request.history.iterations.get(spot)?;
        Some(sum / f64::from(*times))
    }

    fn input_items(&self, name: &str) -> Option<usize> {
        structure::items(self.input(name)?).map(|items| items.len())
    }

    fn input_number(&self, name: &str) -> Option<f64> {
        self.input(name)?.as_number().filter(|number| *number >= 0.0 && number.fract() == 0.0)
    }

    fn attempts(&self, spot: &Spot) -> Option<f64> {
        let (sessions, attempts) = self.request.history.attempts.get(spot)?;
        (*sessions > 0).then(|| f64::from(*attempts) / f64::from(*sessions))
    }

    fn usage(&self, work: &Work) -> WorkUsage {
        if !self.asks_model {
            return WorkUsage::default();
        }
        let Backend { harness, model } = match work.kind {
            WorkKind::Session => {
                let (agent, model) = (work.agent.as_deref(), work.model.as_deref());
                self.backends.backend_of_session(self.request.harness, agent, model)
            }
            _ => self.backends.backend_of_decisions(self.request.harness),
        };
        let model = model.as_deref();
        let effect = match work.kind {
            WorkKind::Session => "session",
            WorkKind::Judge => "judge",
            WorkKind::Choose => "choose",
            WorkKind::Extract => "extract",
            WorkKind::Summarise => "summarise",
        };
        let prompt = estimated_tokens(work.length) as f64;
        // Input and output tokens: least, most and expected.
        let assumed = match (work.kind, has_tools(harness)) {
            (WorkKind::Session, true) => [(prompt, 1.0), (500_000.0, 30_000.0), (40_000.0 + prompt, 1_500.0)],
            (WorkKind::Session, false) => [(prompt, 1.0), (50_000.0, 8_000.0), (1_500.0 + prompt, 800.0)],
            (_, true) => [(prompt, 1.0), (60_000.0, 2_000.0), (5_000.0 + prompt, 60.0)],
            (_, false) => [(prompt, 1.0), (20_000.0, 1_000.0), (500.0 + prompt, 60.0)],
        };
        let one = |(input, output): (f64, f64)| {
            (input + output, self.cost(model, input, output).unwrap_or_default())
        };
        let [least, most, expected] = assumed.map(one);
        let key = (work.spot.clone(), effect.into(), self.request.harness.into());
        let used = self.request.history.uses.get(&key);
        let is_paid = used.is_some_and(|used| used.iter().any(|used| used.cost.is_some()));
        if !is_paid && self.cost(model, 1.0, 1.0).is_none() {
            self.is_priced.set(false);
        }
        let Some(used) = used else {
            return WorkUsage { least, most, expected };
        };
        let share = 1.0 / used.len() as f64;
        let cost = |used: &Used| used.cost.unwrap_or_else(|| one((used.tokens, 0.0)).1);
        let average = used
            .iter()
            .fold((0.0, 0.0), |(tokens, sum), used| (tokens + used.tokens * share, sum + cost(used) * share));
        let seen = |pick: fn(f64, f64) -> f64, (tokens, sum): (f64, f64)| {
            used.iter()
                .fold((tokens, sum), |(tokens, sum), used| (pick(tokens, used.tokens), pick(sum, cost(used))))
        };
        WorkUsage { least: seen(f64::min, least), most: seen(f64::max, most), expected: average }
    }
}

impl RunEstimate {
    /// The estimate of what is left if a part of the program is not executed: at least `certain` and at most `possible` of it.
    #[must_use]
    pub fn without(self, certain: Amounts, possible: Amounts) -> Self {
        Self { bounds: self.bounds.without(certain, possible), ..self }
    }

    /// The estimate in a few words: `3–41 sessions · $0.40–$6.10`.
    pub fn title(&self) -> String {
        let Estimate { least, most, .. } = &self.bounds;
        let mut title = range(least.sessions, most.sessions, |count| grouped(count as u64));
        title.push_str(if title == "1" { " session" } else { " sessions" });
        if most.sessions == 0.0 && most.decisions > 0.0 {
            title = format!(
                "{} decisions",
                range(least.decisions, most.decisions, |count| grouped(count as u64))
            );
        }
        if self.asks_model && self.is_priced {
            title.push_str(" · ");
            title.push_str(&range(least.cost, most.cost, dollars));
        }
        if let Some(Unbounded { line, .. }) = self.bounds.unbounded.first() {
            title.push_str(&format!(" · unbounded (line {line})"));
        }
        title
    }

    /// The estimate as JSON; what is unbounded or unknown is null.
    pub fn to_json(&self, program: &str) -> serde_json::Value {
        let Estimate { least, most, expected, unbounded, limited_by_setting } = &self.bounds;
        let amounts = |amount: fn(&Amounts) -> f64| {
            // Millionths are enough, and sums have no traces of binary fractions.
            let number = |amount: f64| match amount.is_finite() {
                true => serde_json::json!((amount * 1e6).round() / 1e6),
                false => serde_json::Value::Null,
            };
            serde_json::json!({
                "least": number(amount(least)),
                "expected": number(amount(expected)),
                "most": number(amount(most)),
            })
        };
        let lines = |lines: &[Unbounded]| -> Vec<_> {
            let lines = lines.iter().map(|Unbounded { program, line, reason }| {
                serde_json::json!({ "program": program, "line": line, "reason": reason })
            });
            lines.collect()
        };
        serde_json::json!({
            "program": program,
            "sessions": amounts(|amounts| amounts.sessions),
            "decisions": amounts(|amounts| amounts.decisions),
            "tokens": self.asks_model.then(|| amounts(|amounts| amounts.tokens)),
            "cost": (self.asks_model && self.is_priced).then(|| amounts(|amounts| amounts.cost)),
            "unbounded": lines(unbounded),
            "limitedBySetting": lines(limited_by_setting),
            "runs": self.runs,
        })
    }
}

impl fmt::Display for RunEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { least, most, expected, unbounded, limited_by_setting } = &self.bounds;
        let count = |amount: f64| match amount.is_finite() {
            true => grouped(amount.round() as u64),
            false => "unbounded".to_owned(),
        };
        let cost = |amount: f64| if amount.is_finite() { dollars(amount) } else { "unbounded".to_owned() };
        let mut row = |name: &str, least: String, expected: String, most: String| {
            writeln!(f, "{name:<10}{least:>12}{expected:>12}{most:>12}")
        };
        row("", "least".into(), "expected".into(), "most".into())?;
        row("sessions", count(least.sessions), count(expected.sessions), count(most.sessions))?;
        row("decisions", count(least.decisions), count(expected.decisions), count(most.decisions))?;
        if self.asks_model {
            row("tokens", count(least.tokens), count(expected.tokens), count(most.tokens))?;
            match self.is_priced {
                true => row("cost", cost(least.cost), cost(expected.cost), cost(most.cost))?,
                false => writeln!(
                    f,
                    "cost      unknown: no price is known for a model of the program; set it in `[prices]` of prose.toml"
                )?,
            }
        }
        for Unbounded { program, line, reason } in unbounded {
            writeln!(f, "unbounded: {program}:{line}: {reason}")?;
        }
        for Unbounded { program, line, reason } in limited_by_setting {
            writeln!(f, "note: {program}:{line}: {reason}")?;
        }
        match self.runs {
            0 => Ok(()),
            1 => writeln!(f, "Based on 1 earlier run."),
            runs => writeln!(f, "Based on {runs} earlier runs."),
        }
    }
}

/// `3–41`, `3` if both are the same, `3 or more` without a limit.
fn range(least: f64, most: f64, shown: impl Fn(f64) -> String) -> String {
    let (from, to) = (shown(least), shown(most));
    match (most.is_finite(), from == to) {
        (false, _) => format!("{from} or more"),
        (true, true) => from,
        (true, false) => format!("{from}–{to}"),
    }
}

//! What a fork reuses and what it is expected to ask, in words for the user before it starts.

use prose_syntax::text::{beginning, counted};
use prose_vm::budget::{dollars, grouped};
use prose_vm::effect::Usage;
use prose_vm::estimate::Amounts;

use crate::{
    EstimateRequest, Fork, ForkError, History, MAX_RUNS, RunEstimate, RunRequest, estimate_run, harness_of,
};

/// The longest value of a variable in a plan, in characters.
const MAX_VALUE: usize = 80;

/// What a fork reuses and asks, in words. Every display shows these.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkPlan {
    /// Of which run and from where: `Fork of run k3x9 before line 4 (s2, event 12)`.
    pub title: String,
    /// What it changes, reuses and asks, in a line each.
    pub details: Vec<String>,
    /// What the user should know in addition.
    pub notes: Vec<String>,
    /// The harness that it asks.
    pub harness: String,
    /// What is left of the program, if the recorded run does not show it: it did not come to its end, or the program has changed.
    pub rest: Option<RunEstimate>,
}

/// Describes a fork that `request` would start. Refuses a change that an edited program has no place for.
pub fn describe_fork(fork: &Fork, request: &RunRequest) -> Result<ForkPlan, ForkError> {
    fork.from.changes(&request.program)?;
    let harness = harness_of(request);
    let run = &fork.from.recorded.head.run;
    let is_edited = fork.is_edited(&request.program);
    let mut details = Vec::new();
    for changed in &fork.from.variables {
        let value = beginning(&changed.value.to_string(), MAX_VALUE);
        details.push(format!("sets {} = {value}", changed.name));
    }
    for (place, _) in &fork.from.replies {
        details.push(format!("replaces the reply of the session at {place}"));
    }
    let at_most = if is_edited { "at most " } else { "" };
    details.push(format!("reuses {at_most}{}", amount(fork.reused_sessions, fork.reused_decisions)));
    let rest = (is_edited || !fork.is_whole).then(|| estimate_rest(fork, request, &harness));
    details.push(match &rest {
        Some(rest) => format!("asks {harness} the rest of the program, estimated at {}", rest.title()),
        None => {
            let used = fork.expected.map_or(String::new(), |usage| format!(", {}", used(usage)));
            let asked = amount(fork.asked_sessions, fork.asked_decisions);
            format!("asks {harness}, as far as the rest of run {run} shows: {asked}{used}")
        }
    });
    let mut notes = Vec::new();
    if is_edited {
        notes.push(
            "the program has changed since the run; answers are reused where it still asks the same"
                .to_owned(),
        );
    }
    if request.project.show_run(run).is_ok_and(|details| details.summary.status.is_executed()) {
        notes.push("the run is still executed; its events up to now are used".to_owned());
    }
    let title = format!("Fork of run {run}{}", point(fork));
    Ok(ForkPlan { title, details, notes, harness, rest })
}

/// ` before line 4 (s2, event 12)`, or `inside line 4` after its start.
fn point(fork: &Fork) -> String {
    match (&fork.line, &fork.place, fork.from.before) {
        (Some(line), Some(place), Some(event)) => {
            let line = line.clone().in_document(fork.from.first_line);
            let side = if fork.is_inside { "inside" } else { "before" };
            format!(" {side} {line} ({place}, event {event})")
        }
        (_, _, Some(event)) => format!(" before event {event}"),
        (_, _, None) => String::new(),
    }
}

/// The estimate of the program without what the recorded run has executed before the point.
fn estimate_rest(fork: &Fork, request: &RunRequest, harness: &str) -> RunEstimate {
    let history = History::read(&request.project, &request.program, MAX_RUNS);
    let whole = estimate_run(&EstimateRequest {
        program: &request.program,
        harness,
        config: &request.config,
        routes: &request.routes,
        money: &request.money,
        inputs: &request.inputs,
        history: &history,
    });
    let reused = Amounts {
        sessions: fork.reused_sessions.into(),
        decisions: fork.reused_decisions.into(),
        tokens: fork.reused.map_or(0.0, |usage| (usage.input_tokens + usage.output_tokens) as f64),
        cost: fork.reused.and_then(|usage| usage.cost).unwrap_or_default(),
    };
    // An edited program may ask everything differently.
    let certain = if fork.is_edited(&request.program) { Amounts::default() } else { reused };
    whole.without(certain, reused)
}

fn amount(sessions: u32, decisions: u32) -> String {
    format!("{} and {}", counted(sessions as usize, "session"), counted(decisions as usize, "decision"))
}

fn used(usage: Usage) -> String {
    let cost = usage.cost.map_or(String::new(), |cost| format!(", {}", dollars(cost)));
    format!("{} tokens{cost}", grouped(usage.input_tokens + usage.output_tokens))
}

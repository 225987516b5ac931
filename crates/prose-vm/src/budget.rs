//! What a run may use: the limits, what counts against them, and which one is reached.
//!
//! Pure: the runner reports what is used to the [`Meter`] and asks it before each request. Prices and the usage of other runs come from
//! [`Accounts`].

use std::collections::BTreeMap;
use std::fmt;

use prose_syntax::text::counted;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::effect::{RequestId, Usage};

/// The tokens that stand for a dollar of a limit while the price of a model is unknown.
pub const UNPRICED_TOKENS_PER_DOLLAR: u64 = 200_000;
/// The requests that stand for a dollar of a limit while nothing is known of their usage.
pub const UNPRICED_REQUESTS_PER_DOLLAR: u32 = 20;

/// The limits of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Budget {
    /// The limits.
    pub limits: Vec<Limit>,
}

impl Budget {
    /// A budget of a number of sessions, as a flag gives it.
    pub fn sessions(maximum: u32) -> Self {
        let limit = Limit::hard(LimitScope::Run, Maximum::Sessions(maximum), "`--max-sessions`");
        Self { limits: vec![Limit { is_of_flag: true, ..limit }] }
    }

    /// A person sets the maximum of the run, in place of the limits from flags and settings for the same thing.
    pub fn set(&mut self, maximum: Maximum) {
        self.limits.retain(|limit| !limit.is_of_run_for(maximum));
        self.limits.push(Limit::of_person(maximum));
    }
}

/// A limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Whose usage counts.
    pub scope: LimitScope,
    /// The maximum.
    pub maximum: Maximum,
    /// Whether the user may exceed it when asked.
    pub is_soft: bool,
    /// Whether a flag of this execution of the run has set it, so that it is a later word than a limit of an earlier execution.
    pub is_of_flag: bool,
    /// The flag or the setting that changes it, in backticks.
    pub set_by: SmolStr,
}

impl Limit {
    /// A limit that is never exceeded by more than the requests at work.
    pub fn hard(scope: LimitScope, maximum: Maximum, set_by: impl Into<SmolStr>) -> Self {
        Self { scope, maximum, is_soft: false, is_of_flag: false, set_by: set_by.into() }
    }

    /// A limit of the run that a person gives to a run that was started before.
    fn of_person(maximum: Maximum) -> Self {
        // The flag of `prose resume` and of `prose runs set-limit`.
        Self::hard(LimitScope::Run, maximum, format!("`--{}`", maximum.key()))
    }

    /// Whether it is a limit of the whole run for the same thing as a maximum.
    fn is_of_run_for(&self, maximum: Maximum) -> bool {
        self.scope == LimitScope::Run
            && std::mem::discriminant(&self.maximum) == std::mem::discriminant(&maximum)
    }
}

/// Whose usage counts against a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitScope {
    /// The run, with all its executions.
    Run,
    /// The sessions of an agent in the run.
    Agent(SmolStr),
    /// All runs of the user since midnight, UTC.
    Day,
}

/// The maximum of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Maximum {
    /// US dollars.
    Cost(f64),
    /// Input and output tokens.
    Tokens(u64),
    /// Started sessions.
    Sessions(u32),
}

impl Maximum {
    /// The name of its flag, without dashes, and of its setting.
    pub fn key(self) -> &'static str {
        match self {
            Maximum::Cost(_) => "max-cost",
            Maximum::Tokens(_) => "max-tokens",
            Maximum::Sessions(_) => "max-sessions",
        }
    }

    /// Whether it is a number from 0 on.
    pub fn is_valid(self) -> bool {
        match self {
            Maximum::Cost(cost) => cost.is_finite() && cost >= 0.0,
            Maximum::Tokens(_) | Maximum::Sessions(_) => true,
        }
    }

    /// The tokens and the requests that stand for a limit in dollars where no price is known.
    pub fn unpriced(dollars: f64) -> (u64, u32) {
        let tokens = dollars * UNPRICED_TOKENS_PER_DOLLAR as f64;
        let requests = dollars * f64::from(UNPRICED_REQUESTS_PER_DOLLAR);
        (tokens.ceil() as u64, (requests.ceil() as u32).max(1))
    }
}

impl fmt::Display for Maximum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Maximum::Cost(cost) => f.write_str(&dollars(*cost)),
            Maximum::Tokens(tokens) => write!(f, "{} tokens", grouped(*tokens)),
            Maximum::Sessions(sessions) => f.write_str(&counted(*sessions as usize, "session")),
        }
    }
}

/// An amount in dollars, such as `$0.40`, or `$0.0004` if it is less than a cent.
pub fn dollars(cost: f64) -> String {
    if cost != 0.0 && cost.abs() < 0.01 { format!("${cost:.4}") } else { format!("${cost:.2}") }
}

/// A number with its thousands separated.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What requests have used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// The known cost in US dollars.
    pub cost: f64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Started sessions.
    pub sessions: u32,
    /// The part of the tokens whose cost is unknown.
    #[serde(default)]
    pub unpriced_tokens: u64,
    /// The requests whose cost is unknown.
    #[serde(default)]
    pub unpriced_requests: u32,
}

impl Spent {
    /// A started session.
    pub const SESSION: Self =
        Self { cost: 0.0, tokens: 0, sessions: 1, unpriced_tokens: 0, unpriced_requests: 0 };

    /// What a request has used, without its session.
    pub fn of(usage: Usage) -> Self {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        let is_priced = usage.cost.is_some();
        Self {
            cost: usage.cost.unwrap_or_default(),
            tokens,
            sessions: 0,
            unpriced_tokens: if is_priced { 0 } else { tokens },
            unpriced_requests: u32::from(!is_priced),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            cost: self.cost + other.cost,
            tokens: self.tokens.saturating_add(other.tokens),
            sessions: self.sessions.saturating_add(other.sessions),
            unpriced_tokens: self.unpriced_tokens.saturating_add(other.unpriced_tokens),
            unpriced_requests: self.unpriced_requests.saturating_add(other.unpriced_requests),
        }
    }

    /// The dollars that it counts as against a limit of them.
    fn as_dollars(&self) -> f64 {
        let tokens = self.unpriced_tokens as f64 / UNPRICED_TOKENS_PER_DOLLAR as f64;
        let requests = f64::from(self.unpriced_requests) / f64::from(UNPRICED_REQUESTS_PER_DOLLAR);
        self.cost.max(tokens).max(requests)
    }

    /// Why a maximum is reached; `None` if it is not. Sessions count only where one is to be started.
    fn reaches(&self, maximum: Maximum, starts_session: bool) -> Option<Reason> {
        match maximum {
            Maximum::Sessions(most) => (starts_session && self.sessions >= most).then_some(Reason::Reached),
            Maximum::Tokens(most) => (self.tokens >= most).then_some(Reason::Used(*self)),
            Maximum::Cost(most) if self.cost >= most - ROUNDING => Some(Reason::Used(*self)),
            Maximum::Cost(most) => {
                let (tokens, requests) = Maximum::unpriced(most);
                let is_reached = self.unpriced_tokens >= tokens || self.unpriced_requests >= requests;
                is_reached.then_some(Reason::Unpriced(*self))
            }
        }
    }
}

/// By how much a sum of costs may be off, in US dollars: a sum of ten times 0.1 is a little less than 1 in binary.
pub const ROUNDING: f64 = 1e-9;

/// Why a maximum is reached.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reason {
    Reached,
    Used(Spent),
    /// The cost is unknown, and what stands for it is used.
    Unpriced(Spent),
}

/// Prices, and the usage of all runs of the user.
pub trait Accounts: Send + Sync {
    /// The cost of a request in US dollars; `None` if the price of the model is unknown.
    fn cost(&self, model: Option<&str>, usage: &Usage) -> Option<f64>;

    /// The cost by a price that the user has set for the model. It counts also where the agent reports another cost, by the list of its provider.
    fn cost_as_set(&self, _model: Option<&str>, _usage: &Usage) -> Option<f64> {
        None
    }

    /// The cost of a request: as set by the user, as reported by the agent, or by the known prices, whichever comes first.
    fn cost_of(&self, model: Option<&str>, usage: &Usage) -> Option<f64> {
        self.cost_as_set(model, usage).or(usage.cost).or_else(|| self.cost(model, usage))
    }

    /// The estimated usage of a request that reported none, by the text of its prompt and its reply; `None` if it used no model.
    fn estimate(&self, prompt: usize, reply: usize) -> Option<Usage>;

    /// Counts what a request has used up to now in place of what it was counted with before, and returns the total of today.
    fn spend(&self, before: Spent, now: Spent) -> Spent;

    /// What all runs of the user have used today.
    fn today(&self) -> Spent;
}

/// No prices, and no other runs.
pub struct NoAccounts;

impl Accounts for NoAccounts {
    fn cost(&self, _: Option<&str>, _: &Usage) -> Option<f64> {
        None
    }

    fn estimate(&self, _: usize, _: usize) -> Option<Usage> {
        None
    }

    fn spend(&self, _: Spent, _: Spent) -> Spent {
        Spent::default()
    }

    fn today(&self) -> Spent {
        Spent::default()
    }
}

/// Counts what a run uses against its limits.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    limits: Vec<HeldLimit>,
    run: Spent,
    agents: BTreeMap<SmolStr, Spent>,
    /// The total of today, with that of the requests at work.
    day: Spent,
    at_work: BTreeMap<RequestId, (Option<SmolStr>, Spent)>,
}

/// A limit as it is held.
#[derive(Debug)]
struct HeldLimit {
    /// The limit as it is now.
    limit: Limit,
    /// The limit as it was set: by its maximum the user raises it, and by it an answer is found again.
    set: Limit,
    /// How often it was raised by the answers of an earlier execution, in their order among what the run had used.
    repeated: usize,
}

impl HeldLimit {
    fn new(limit: Limit) -> Self {
        Self { set: limit.clone(), limit, repeated: 0 }
    }

    /// Raises it by as much as it was set to, from what is used on.
    fn raise_from(&mut self, spent: Spent) {
        self.limit.maximum = match (self.limit.maximum, self.set.maximum) {
            (Maximum::Cost(most), Maximum::Cost(step)) => Maximum::Cost(most.max(spent.as_dollars()) + step),
            (Maximum::Tokens(most), Maximum::Tokens(step)) => {
                Maximum::Tokens(most.max(spent.tokens).saturating_add(step))
            }
            (Maximum::Sessions(most), Maximum::Sessions(step)) => {
                Maximum::Sessions(most.max(spent.sessions).saturating_add(step.max(1)))
            }
            (most, _) => most,
        };
    }
}

/// A limit that does not let a request start.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reached {
    /// Its number.
    pub(crate) limit: usize,
    /// Whether the user can be asked to raise it.
    pub(crate) is_soft: bool,
    /// Whether it concerns one agent only.
    pub(crate) is_of_agent: bool,
    /// The reason for the user.
    pub(crate) reason: String,
}

impl Meter {
    pub(crate) fn new(budget: Budget, day: Spent) -> Self {
        Self { limits: budget.limits.into_iter().map(HeldLimit::new).collect(), day, ..Self::default() }
    }

    /// A started session is put off.
    pub(crate) fn put_off_session(&mut self, agent: Option<&SmolStr>) {
        let agent = agent.and_then(|agent| self.agents.get_mut(agent));
        for spent in std::iter::once(&mut self.run).chain(agent) {
            spent.sessions = spent.sessions.saturating_sub(1);
        }
    }

    /// What a request at work has used so far. Returns what it was counted with before and what it is counted with now.
    pub(crate) fn report(
        &mut self,
        request: RequestId,
        agent: Option<&SmolStr>,
        usage: Usage,
    ) -> (Spent, Spent) {
        let spent = Spent { unpriced_requests: 0, ..Spent::of(usage) };
        let before = self.at_work.insert(request, (agent.cloned(), spent));
        (before.map(|(_, spent)| spent).unwrap_or_default(), spent)
    }

    /// A request has ended or was cancelled. Returns what it was counted with before.
    pub(crate) fn settle(&mut self, request: RequestId, agent: Option<&SmolStr>, spent: Spent) -> Spent {
        let before = self.at_work.remove(&request);
        self.count(agent, spent);
        before.map(|(_, spent)| spent).unwrap_or_default()
    }

    /// All runs have used so much today.
    pub(crate) fn set_day(&mut self, day: Spent) {
        self.day = day;
    }

    /// Whether there is a limit for the day.
    pub(crate) fn limits_day(&self) -> bool {
        self.limits.iter().any(|held| held.limit.scope == LimitScope::Day)
    }

    /// An earlier execution of the run has used so much, with what its recording does not have, such as cancelled requests.
    pub(crate) fn used_before(&mut self, usage: Usage) {
        let before = Spent::of(usage);
        self.run.cost = self.run.cost.max(before.cost);
        self.run.tokens = self.run.tokens.max(before.tokens);
        self.run.unpriced_tokens = self.run.unpriced_tokens.max(before.unpriced_tokens);
    }

    /// Counts what is used, or was used in an earlier execution.
    pub(crate) fn count(&mut self, agent: Option<&SmolStr>, spent: Spent) {
        self.run = self.run.and(spent);
        if let Some(agent) = agent {
            let of_agent = self.agents.entry(agent.clone()).or_default();
            *of_agent = of_agent.and(spent);
        }
    }

    /// The limit that does not let a request start, a hard one first.
    pub(crate) fn reached(&self, agent: Option<&SmolStr>, starts_session: bool) -> Option<Reached> {
        let reached = |is_soft: bool| {
            let limits = self.limits.iter().map(|held| &held.limit).enumerate();
            let mut limits = limits.filter(move |(_, limit)| limit.is_soft == is_soft);
            limits.find_map(|(number, limit)| {
                let spent = self.spent(&limit.scope, agent)?;
                let reason = spent.reaches(limit.maximum, starts_session)?;
                let is_of_agent = matches!(limit.scope, LimitScope::Agent(_));
                Some(Reached { limit: number, is_soft, is_of_agent, reason: limit.message(reason) })
            })
        };
        reached(false).or_else(|| reached(true))
    }

    /// What counts against a limit; `None` if it does not concern the agent.
    fn spent(&self, scope: &LimitScope, agent: Option<&SmolStr>) -> Option<Spent> {
        match scope {
            LimitScope::Agent(name) if agent != Some(name) => None,
            scope => Some(self.spent_in(scope)),
        }
    }

    /// What counts against the limits of a scope.
    fn spent_in(&self, scope: &LimitScope) -> Spent {
        match scope {
            LimitScope::Run => self.used(),
            LimitScope::Day => self.day,
            LimitScope::Agent(name) => {
                let settled = self.agents.get(name).copied().unwrap_or_default();
                let own = self.at_work.values().filter(|(agent, _)| agent.as_ref() == Some(name));
                own.fold(settled, |sum, (_, spent)| sum.and(*spent))
            }
        }
    }

    /// The user lets the run use as much again as the limit was set to, from what is used on: sessions at work may have exceeded the limit.
    pub(crate) fn raise(&mut self, number: usize) {
        let Some(spent) = self.limits.get(number).map(|held| self.spent_in(&held.limit.scope)) else {
            return;
        };
        self.limits[number].raise_from(spent);
    }

    /// An earlier execution has recorded that the user lets the run use more, after what is counted up to now.
    pub(crate) fn repeat_raise(&mut self, rule: &str) {
        let Some(number) = self.limits.iter().position(|held| held.set.to_string() == rule) else { return };
        // What is used today is known as a whole only, with what came after that answer.
        match self.limits[number].limit.scope == LimitScope::Day {
            true => self.limits[number].raise_from(Spent::default()),
            false => self.raise(number),
        }
        self.limits[number].repeated += 1;
    }

    /// The same answer, given again at a limit. It counts once; where it was not repeated, since the program has changed, it lets the run use no
    /// more than the user has said.
    pub(crate) fn recall_raise(&mut self, number: usize) {
        match self.limits.get_mut(number) {
            Some(held) if held.repeated > 0 => held.repeated -= 1,
            Some(held) => held.raise_from(Spent::default()),
            None => {}
        }
    }

    /// A person sets the maximum of the run, as in [`Budget::set`].
    pub(crate) fn set_limit(&mut self, maximum: Maximum) {
        self.limits.retain(|held| !held.limit.is_of_run_for(maximum));
        self.limits.push(HeldLimit::new(Limit::of_person(maximum)));
    }

    /// The same in an earlier execution of the run. A flag of this execution is the later word.
    pub(crate) fn repeat_limit(&mut self, maximum: Maximum) {
        if !self.limits.iter().any(|HeldLimit { limit, .. }| limit.is_of_run_for(maximum) && limit.is_of_flag)
        {
            self.set_limit(maximum);
        }
    }

    /// What the run has used up to now.
    pub(crate) fn used(&self) -> Spent {
        self.at_work.values().fold(self.run, |sum, (_, spent)| sum.and(*spent))
    }

    /// The limits, for display.
    pub(crate) fn limits(&self) -> Vec<String> {
        self.limits.iter().map(|held| held.limit.to_string()).collect()
    }

    /// The question whether a limit may be raised.
    pub(crate) fn question(&self, number: usize) -> (String, String) {
        // Raising a limit makes it no other one.
        let Some(HeldLimit { set, .. }) = self.limits.get(number) else { return Default::default() };
        (format!("use up to {} more", set.maximum), set.to_string())
    }

    /// No one lets the run exceed a limit.
    pub(crate) fn harden(&mut self, number: usize) {
        if let Some(held) = self.limits.get_mut(number) {
            held.limit.is_soft = false;
        }
    }
}

impl Limit {
    fn message(&self, reason: Reason) -> String {
        let Limit { maximum, set_by, .. } = self;
        let of = match &self.scope {
            LimitScope::Run => String::new(),
            LimitScope::Agent(agent) => format!(" of agent `{agent}`"),
            LimitScope::Day => " per day".to_owned(),
        };
        let used = match (reason, maximum) {
            (Reason::Used(spent), Maximum::Cost(_)) => format!(": {} used", dollars(spent.cost)),
            (Reason::Used(spent), _) => format!(": {} used", grouped(spent.tokens)),
            (Reason::Unpriced(spent), _) => format!(
                ": no price is known for {} tokens of {}",
                grouped(spent.unpriced_tokens),
                counted(spent.unpriced_requests as usize, "request")
            ),
            (Reason::Reached, _) => String::new(),
        };
        format!("the limit of {maximum}{of}{IS_REACHED}{set_by}){used}")
    }
}

/// The flag or the setting that changes a limit, by the message of a run that has stopped at it.
pub fn changed_by(message: &str) -> Option<&str> {
    let (_, set_by) = message.split_once(IS_REACHED)?;
    let (set_by, _) = set_by.split_once("`)")?;
    set_by.rsplit('`').next()
}

/// What the message of a limit has before the flag or the setting.
const IS_REACHED: &str = " is reached (";

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limit { maximum, set_by, .. } = self;
        match &self.scope {
            LimitScope::Run => write!(f, "{maximum}")?,
            LimitScope::Agent(agent) => write!(f, "{maximum} for agent {agent}")?,
            LimitScope::Day => write!(f, "{maximum} per day")?,
        }
        write!(f, " ({set_by})")
    }
}

#[cfg(test)]
mod tests;

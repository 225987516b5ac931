//! What a run may use and what it costs: limits from flags and settings, prices, and the user's total of the day.

use std::sync::Arc;
use std::time::SystemTime;

use prose_config::{Config, Dollars, LimitConfig, LimitsConfig, Named, PriceConfig};
use prose_harness::prices::{Price, Prices, estimated_tokens};
use prose_project::UserFiles;
use prose_project::ledger::Ledger;
use prose_state::replay::RecordedRun;
use prose_vm::budget::{Accounts, Budget, Limit, LimitScope, Maximum, Spent, changed_by, dollars, grouped};
use prose_vm::command::Command;
use prose_vm::effect::Usage;
use prose_vm::event::EventKind;
use prose_vm::questions::AnswerSource;
use serde::{Deserialize, Serialize};

/// The maximum cost of a run that asks a model and has no limit of its own, in US dollars.
const DEFAULT_COST: f64 = 5.0;

/// The limits that are given for one execution of a run, such as by flags. They override the settings.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Caps {
    /// The maximum cost in US dollars.
    pub cost: Option<f64>,
    /// The maximum number of input and output tokens.
    pub tokens: Option<u64>,
    /// The maximum number of sessions.
    pub sessions: Option<u32>,
}

impl Caps {
    /// The limits.
    pub(crate) fn maxima(self) -> Vec<Maximum> {
        let Self { cost, tokens, sessions } = self;
        let (cost, tokens) = (cost.map(Maximum::Cost), tokens.map(Maximum::Tokens));
        cost.into_iter().chain(tokens).chain(sessions.map(Maximum::Sessions)).collect()
    }

    /// These limits, and for what they do not limit the ones that an earlier run was started with.
    pub(crate) fn over(self, earlier: &[Maximum]) -> Vec<Maximum> {
        let earlier = Self::of(earlier);
        let Self { cost, tokens, sessions } = self;
        let (cost, tokens) = (cost.or(earlier.cost), tokens.or(earlier.tokens));
        Self { cost, tokens, sessions: sessions.or(earlier.sessions) }.maxima()
    }

    fn of(maxima: &[Maximum]) -> Self {
        maxima.iter().fold(Self::default(), |caps, maximum| match *maximum {
            Maximum::Cost(cost) => Self { cost: Some(cost), ..caps },
            Maximum::Tokens(tokens) => Self { tokens: Some(tokens), ..caps },
            Maximum::Sessions(sessions) => Self { sessions: Some(sessions), ..caps },
        })
    }
}

/// The limits and the prices of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Money {
    /// The limits of this execution.
    pub caps: Caps,
    /// Where they come from; `None` for the command line.
    pub caps_from: Option<AnswerSource>,
    /// The limits of the project.
    pub limits: LimitsConfig,
    /// The prices of the project.
    pub prices: Named<PriceConfig>,
}

impl Money {
    /// Those of a project, without limits of one execution.
    pub fn of(config: &Config) -> Self {
        Self { limits: config.limits.clone(), prices: config.prices.clone(), ..Self::default() }
    }

    /// The limits of a run, which was started with these ones by flags. A run that asks a model never starts without a limit.
    pub(crate) fn budget(&self, started_with: &[Maximum], asks_model: bool) -> Budget {
        let hard = |maximum, set_by: &str| Limit::hard(LimitScope::Run, maximum, set_by);
        let flags = self.caps.over(started_with);
        let given = self.caps.maxima();
        let all = Caps::of(&flags).over(&maxima(&self.limits.run)).into_iter();
        let mut limits: Vec<Limit> = all
            .map(|maximum| {
                let table = if flags.contains(&maximum) { "--" } else { "limits.run." };
                let limit = hard(maximum, &format!("`{table}{}`", maximum.key()));
                Limit { is_of_flag: given.contains(&maximum), ..limit }
            })
            .collect();
        if limits.is_empty() && asks_model {
            limits.push(hard(Maximum::Cost(DEFAULT_COST), "default; change it with `--max-cost`"));
        }
        limits.extend(soft(&LimitScope::Run, "limits.run", &self.limits.run));
        limits.extend(configured(&LimitScope::Day, "limits.day", &self.limits.day));
        for (agent, config) in &self.limits.agents.0 {
            let scope = LimitScope::Agent(agent.into());
            limits.extend(configured(&scope, &format!("limits.agents.{agent}"), config));
        }
        Budget { limits }
    }

    /// What requests cost, without the total of the user: a worker of a cluster performs them for others.
    pub fn accounts_of_worker(&self) -> Arc<dyn Accounts> {
        Arc::new(RunAccounts::new(self, false, UserFiles::of_user()))
    }

    /// The prices of models, with those of the project.
    pub fn prices(&self) -> Prices {
        Prices::new(self.prices.0.iter().map(|(model, config)| {
            let price = Price {
                input: config.input.as_f64(),
                cache_read: config.cache_read.unwrap_or(config.input).as_f64(),
                cache_write: config.cache_write.unwrap_or(config.input).as_f64(),
                output: config.output.as_f64(),
            };
            (model.clone(), price)
        }))
    }
}

/// The limits of a table of settings.
fn configured(scope: &LimitScope, table: &str, config: &LimitConfig) -> Vec<Limit> {
    let hard = maxima(config)
        .into_iter()
        .map(|maximum| Limit::hard(scope.clone(), maximum, format!("`{table}.{}`", maximum.key())));
    hard.chain(soft(scope, table, config)).collect()
}

/// The maxima of a table of settings.
fn maxima(config: &LimitConfig) -> Vec<Maximum> {
    let tokens = config.max_tokens.map(|tokens| Maximum::Tokens(tokens.get().into()));
    let sessions = config.max_sessions.map(|sessions| Maximum::Sessions(sessions.get()));
    config.max_cost.map(cost).into_iter().chain(tokens).chain(sessions).collect()
}

/// The limits of a table of settings at which the user is asked.
fn soft(scope: &LimitScope, table: &str, config: &LimitConfig) -> Vec<Limit> {
    let maxima = [
        (config.ask_cost.map(cost), "ask-cost"),
        (config.ask_tokens.map(|tokens| Maximum::Tokens(tokens.get().into())), "ask-tokens"),
        (config.ask_sessions.map(|sessions| Maximum::Sessions(sessions.get())), "ask-sessions"),
    ];
    let soft = maxima.into_iter().filter_map(|(maximum, key)| {
        let limit = Limit::hard(scope.clone(), maximum?, format!("`{table}.{key}`"));
        Some(Limit { is_soft: true, ..limit })
    });
    soft.collect()
}

fn cost(amount: Dollars) -> Maximum {
    Maximum::Cost(amount.as_f64())
}

/// The limits of a run in a few words, for its first line; `None` if it has none.
pub(crate) fn describe(budget: &Budget, harness: &str) -> Option<String> {
    if budget.limits.is_empty() {
        return None;
    }
    let hard: Vec<String> =
        budget.limits.iter().filter(|limit| !limit.is_soft).map(ToString::to_string).collect();
    let soft: Vec<String> =
        budget.limits.iter().filter(|limit| limit.is_soft).map(ToString::to_string).collect();
    let mut parts = Vec::new();
    if !hard.is_empty() {
        parts.push(format!("at most {}", hard.join(", ")));
    }
    if !soft.is_empty() {
        parts.push(format!("asks at {}", soft.join(", ")));
    }
    // Claude Code reports the cost itself.
    let reports_cost = harness == "claude" || !prose_harness::registry::asks_model(harness);
    let costs = budget.limits.iter().filter_map(|limit| match limit.maximum {
        Maximum::Cost(cost) => Some(cost),
        _ => None,
    });
    if let Some(least) = costs.reduce(f64::min).filter(|_| !reports_cost) {
        let (tokens, requests) = Maximum::unpriced(least);
        parts.push(format!(
            "while no price is known, {} tokens or {requests} requests stand for {}",
            grouped(tokens),
            dollars(least)
        ));
    }
    Some(parts.join("; "))
}

/// The limits that a person has given to a run, the last one for each thing last: with its start, or while it was executed.
pub(crate) fn given_limits(recorded: &RecordedRun) -> Vec<Maximum> {
    recorded.head.caps.iter().copied().chain(limits_set_later(recorded)).collect()
}

/// The limits that a person has given to a run after its start, the last one for each thing last.
pub(crate) fn limits_set_later(recorded: &RecordedRun) -> impl Iterator<Item = Maximum> {
    let events = recorded.events().into_iter().flatten().map_while(Result::ok);
    events.filter_map(|event| match event.kind {
        EventKind::Commanded { command: Command::SetLimit { limit }, .. } => Some(limit),
        _ => None,
    })
}

/// The flag, without dashes, with which a run continues that has stopped at a limit, by its message; `None` if no flag overrides that limit.
pub fn flag_that_raises(message: &str) -> Option<&'static str> {
    let changed_by = changed_by(message)?;
    let key = changed_by.strip_prefix("--").or_else(|| changed_by.strip_prefix("limits.run."))?;
    match key.strip_prefix("max-").or_else(|| key.strip_prefix("ask-"))? {
        "cost" => Some("max-cost"),
        "tokens" => Some("max-tokens"),
        "sessions" => Some("max-sessions"),
        _ => None,
    }
}

/// How to continue a run that has stopped at a limit, by the command that resumes it and the message of the run; `None` if it has not stopped at one.
pub fn how_to_continue(command: &str, message: &str) -> Option<String> {
    let changed_by = changed_by(message)?;
    let resume = format!("`{command}`");
    let with_flag = flag_that_raises(message).map(|flag| format!("`{command} --{flag} N`"));
    let help = match with_flag {
        Some(with_flag) if changed_by.starts_with("--") => {
            format!("continue it with a higher limit: {with_flag}")
        }
        Some(with_flag) => format!("raise `{changed_by}` in `prose.toml`, or run {with_flag}"),
        None if changed_by.starts_with("limits.day.") => {
            format!("raise `{changed_by}` in `prose.toml`, or wait until midnight UTC; then run {resume}")
        }
        None => format!("raise `{changed_by}` in `prose.toml`, then run {resume}"),
    };
    Some(format!("{help}; recorded results are reused"))
}

/// The prices of a run, and what all runs of the user have used today.
pub(crate) struct RunAccounts {
    prices: Prices,
    asks_model: bool,
    ledger: Ledger,
}

impl RunAccounts {
    pub(crate) fn new(money: &Money, asks_model: bool, files: UserFiles) -> Self {
        Self { prices: money.prices(), asks_model, ledger: Ledger::new(files) }
    }
}

impl Accounts for RunAccounts {
    fn cost(&self, model: Option<&str>, usage: &Usage) -> Option<f64> {
        self.prices.cost(model?, usage, SystemTime::now())
    }

    fn cost_as_set(&self, model: Option<&str>, usage: &Usage) -> Option<f64> {
        self.prices.cost_as_set(model?, usage)
    }

    fn estimate(&self, prompt: usize, reply: usize) -> Option<Usage> {
        self.asks_model.then(|| Usage {
            input_tokens: estimated_tokens(prompt),
            output_tokens: estimated_tokens(reply),
            ..Usage::default()
        })
    }

    fn spend(&self, before: Spent, now: Spent) -> Spent {
        match self.asks_model {
            true => self.ledger.spend(before, now, SystemTime::now()),
            false => Spent::default(),
        }
    }

    fn today(&self) -> Spent {
        match self.asks_model {
            true => self.ledger.today(SystemTime::now()),
            false => Spent::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use prose_config::Config;

    use super::*;

    fn money(settings: &str, caps: Caps) -> Money {
        let (config, problems) = Config::parse(settings);
        assert!(problems.is_empty(), "{problems:?}");
        Money { caps, limits: config.limits, prices: config.prices, ..Money::default() }
    }

    #[track_caller]
    fn check(settings: &str, caps: Caps, harness: &str, expected: Option<&str>) {
        let asks_model = prose_harness::registry::asks_model(harness);
        let described = describe(&money(settings, caps).budget(&[], asks_model), harness);
        assert_eq!(described.as_deref(), expected);
    }

    #[test]
    fn a_run_that_asks_a_model_has_a_limit() {
        let none = Caps::default();
        check("", none, "offline", None);
        check("", none, "claude", Some("at most $5.00 (default; change it with `--max-cost`)"));
        check(
            "",
            none,
            "codex",
            Some(
                "at most $5.00 (default; change it with `--max-cost`); while no price is known, 1,000,000 tokens or 100 requests stand for $5.00",
            ),
        );
        let settings = "[limits.run]\nmax-tokens = 1_000\n";
        check(settings, none, "codex", Some("at most 1,000 tokens (`limits.run.max-tokens`)"));
    }

    #[test]
    fn a_stopped_run_names_what_lets_it_continue() {
        let help = |set_by: &str| {
            let message = format!("the limit of 2 sessions is reached ({set_by}): 2 used");
            how_to_continue("prose resume k3x9", &message).unwrap()
        };
        let check = |set_by: &str, expected: &str| {
            assert_eq!(help(set_by), format!("{expected}; recorded results are reused"));
        };
        check("`--max-sessions`", "continue it with a higher limit: `prose resume k3x9 --max-sessions N`");
        check(
            "default; change it with `--max-cost`",
            "continue it with a higher limit: `prose resume k3x9 --max-cost N`",
        );
        check(
            "`limits.run.ask-cost`",
            "raise `limits.run.ask-cost` in `prose.toml`, or run `prose resume k3x9 --max-cost N`",
        );
        check(
            "`limits.agents.writer.max-tokens`",
            "raise `limits.agents.writer.max-tokens` in `prose.toml`, then run `prose resume k3x9`",
        );
        check(
            "`limits.day.max-sessions`",
            "raise `limits.day.max-sessions` in `prose.toml`, or wait until midnight UTC; then run `prose resume k3x9`",
        );
        assert_eq!(how_to_continue("prose resume k3x9", "timed out (`--timeout`)"), None);
    }

    #[test]
    fn flags_override_settings() {
        let settings = "[limits.run]\nmax-cost = 2.5\nask-cost = 1\n[limits.day]\nmax-cost = 20\n\
            [limits.agents.writer]\nmax-sessions = 3\n";
        check(
            settings,
            Caps::default(),
            "claude",
            Some(
                "at most $2.50 (`limits.run.max-cost`), $20.00 per day (`limits.day.max-cost`), \
            3 sessions for agent writer (`limits.agents.writer.max-sessions`); asks at $1.00 (`limits.run.ask-cost`)",
            ),
        );
        let caps = Caps { cost: Some(9.0), ..Caps::default() };
        check("[limits.run]\nmax-cost = 2.5\n", caps, "claude", Some("at most $9.00 (`--max-cost`)"));
    }

    #[test]
    fn prices_of_the_project_are_per_million_tokens() {
        let money = money("[prices.\"own/model\"]\ninput = 2\noutput = 10.5\n", Caps::default());
        let usage = Usage { input_tokens: 500_000, output_tokens: 100_000, ..Usage::default() };
        let cost = money.prices().cost("own/model", &usage, SystemTime::now()).unwrap();
        assert!((cost - 2.05).abs() < 1e-9, "{cost}");
        // They count also where an agent reports what its provider asks from others.
        let accounts = RunAccounts::new(&money, true, UserFiles::at("unused"));
        let reported = Usage { cost: Some(9.0), ..usage };
        assert_eq!(accounts.cost_of(Some("own/model"), &reported), Some(cost));
        assert_eq!(accounts.cost_of(Some("another"), &reported), Some(9.0));
    }
}

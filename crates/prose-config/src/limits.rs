//! Limits of what runs may use, and prices of models.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde_json::{Value, json};
use toml::Spanned;
use toml::de::DeValue;

use crate::setting::{Reader, Setting, settings};

settings! {
    /// What runs may use. A limit that is reached stops the run with status 3; `prose resume` with a higher limit continues it.
    pub struct LimitsConfig {
        /// The limits of each agent in a run. The key is the name of the agent in the program.
        agents: Named<LimitConfig> = "agents",
        /// The limits of all runs of a user on a day, which starts at midnight UTC.
        day: LimitConfig = "day",
        /// The limits of a run with all its executions. If a model is asked and none is set here or with a flag, `max-cost = 5` applies.
        run: LimitConfig = "run",
    }
}

settings! {
    /// What a run, an agent or all runs of a day may use. `max-…` stops, `ask-…` asks whether to continue, and stops if no one answers.
    pub struct LimitConfig {
        /// The cost in US dollars from which you are asked.
        ask_cost: Option<Dollars> = "ask-cost",
        /// The number of sessions from which you are asked.
        ask_sessions: Option<NonZeroU32> = "ask-sessions",
        /// The number of input and output tokens from which you are asked.
        ask_tokens: Option<NonZeroU32> = "ask-tokens",
        /// The maximum cost in US dollars. While the price of a model is not known, 200,000 tokens or 20 requests stand for a dollar.
        max_cost: Option<Dollars> = "max-cost",
        /// The maximum number of sessions, with failed attempts.
        max_sessions: Option<NonZeroU32> = "max-sessions",
        /// The maximum number of input and output tokens.
        max_tokens: Option<NonZeroU32> = "max-tokens",
    }
}

settings! {
    /// The price of a model in US dollars per million tokens.
    pub struct PriceConfig {
        /// The price of input tokens that are read from a cache; by default that of `input`.
        cache_read: Option<Dollars> = "cache-read",
        /// The price of input tokens that are written to a cache; by default that of `input`.
        cache_write: Option<Dollars> = "cache-write",
        /// The price of input tokens; 0 if it is not set.
        input: Dollars = "input",
        /// The price of output tokens; 0 if it is not set.
        output: Dollars = "output",
    }
}

/// A table of settings for each name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<T>(pub BTreeMap<String, T>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Setting> Setting for Named<T> {
    fn expected() -> String {
        "a table for each name".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": T::schema() })
    }

    fn to_json(&self) -> Value {
        self.0.iter().map(|(name, config)| (name.clone(), config.to_json())).collect()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut named = BTreeMap::new();
        reader.entries::<Self>(value, |reader, key, value| {
            named.extend(T::read(value, reader).map(|config| (key.get_ref().to_string(), config)));
        })?;
        Some(Self(named))
    }
}

/// A setting without a default.
impl<T: Setting> Setting for Option<T> {
    fn expected() -> String {
        T::expected()
    }

    fn schema() -> Value {
        T::schema()
    }

    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, Setting::to_json)
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        T::read(value, reader).map(Some)
    }
}

/// An amount of US dollars, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Dollars(u64);

const MICROS: f64 = 1_000_000.0;

impl Dollars {
    /// The amount in dollars.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / MICROS
    }
}

impl Setting for Dollars {
    fn expected() -> String {
        "an amount of US dollars, such as `2.5`".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "number", "minimum": 0 })
    }

    fn to_json(&self) -> Value {
        self.as_f64().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
            DeValue::Float(number) => Some(number.as_str()),
            _ => None,
        };
        let amount = text.and_then(|text| text.replace('_', "").parse::<f64>().ok());
        match amount.filter(|amount| (0.0..=1e9).contains(amount)) {
            Some(amount) => Some(Self((amount * MICROS).round() as u64)),
            None => reader.wrong::<Self, _>(value),
        }
    }
}

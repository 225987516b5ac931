//! Parses what an entry reports while it replies.

use prose_vm::activity::{
    Activity, AgentSession, Denial, PermissionQuestion, ProviderRetry, ToolKind, ToolStatus, ToolUse,
};
use prose_vm::effect::Usage;
use serde::de::DeserializeOwned;
use serde::de::value::{Error as PlainError, StrDeserializer};
use smol_str::{SmolStr, ToSmolStr};
use toml::de::DeValue;

use super::{Reader, TomlValue};
use crate::script::activity::{Action, Step};

/// The kinds of steps: the key that says which one it is, and the keys for details.
const STEPS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("reasoning", &[]),
    ("tool", &["title", "paths", "status"]),
    ("ask", &["rule"]),
    ("denied", &["reason"]),
    ("retry", &["delay", "message"]),
    ("used", &[]),
    ("agent", &["model", "transcript"]),
];

/// The keys of `used`.
const USED: &[&str] = &["input", "output", "cache-read", "cache-write", "cost"];

/// The entries of a table of TOML, by name.
type Table<'a> = toml::de::DeTable<'a>;

impl Reader<'_> {
    /// The steps of an entry. The ones with errors are left out.
    pub(super) fn activity(&mut self, value: &TomlValue<'_>) -> Vec<Step> {
        let Some(steps) = value.get_ref().as_array() else {
            let message = "`activity` must be a list of tables, such as `[{ text = \"…\" }]`".to_owned();
            self.report(value.span(), message);
            return Vec::new();
        };
        steps.iter().enumerate().filter_map(|(index, step)| self.step(index, step)).collect()
    }

    fn step(&mut self, index: usize, value: &TomlValue<'_>) -> Option<Step> {
        let kinds: Vec<&str> = STEPS.iter().map(|(kind, _)| *kind).collect();
        let kind = value.get_ref().as_table().and_then(|table| {
            STEPS.iter().find_map(|(kind, details)| Some((table, *kind, *details, table.get(*kind)?)))
        });
        let Some((table, kind, details, main)) = kind else {
            let message = format!("an activity must be a table with one of `{}`", kinds.join("`, `"));
            self.report(value.span(), message);
            return None;
        };
        for key in table.keys() {
            let name: &str = key.get_ref();
            if name != kind && name != "after" && !details.contains(&name) {
                let known = [&[kind, "after"], details].concat();
                self.unknown(key.span(), name, &format!("an activity with `{kind}`"), known);
            }
        }
        let after = match table.get("after") {
            Some(value) => Some(self.duration("after", value)?),
            None => None,
        };
        let action = match kind {
            "text" => Action::Report(Activity::Text { text: self.string(kind, main)?.into() }),
            "reasoning" => Action::Report(Activity::Reasoning { text: self.string(kind, main)?.into() }),
            "tool" => Action::Tool(self.tool(index, main, table)?),
            "ask" => Action::Ask(PermissionQuestion {
                id: index.to_smolstr(),
                agent: None,
                title: self.string(kind, main)?,
                rule: self.detail(table, "rule")?.unwrap_or_else(|| "execute: prompt".into()),
                is_deniable: false,
            }),
            "denied" => Action::Report(Activity::Denied(Denial {
                title: self.string(kind, main)?,
                reason: self.detail(table, "reason")?.unwrap_or_default(),
            })),
            "retry" => Action::Report(Activity::ProviderRetry(self.retry(main, table)?)),
            "used" => Action::Report(Activity::Used(self.usage(main)?)),
            _ => Action::Report(Activity::Agent(AgentSession {
                id: self.string(kind, main)?.into(),
                model: self.detail(table, "model")?.map(SmolStr::from),
                transcript: self.detail(table, "transcript")?.map(Into::into),
            })),
        };
        Some(Step { after, action })
    }

    fn tool(&mut self, index: usize, main: &TomlValue<'_>, table: &Table<'_>) -> Option<ToolUse> {
        let kind: ToolKind = self.named("tool", "kind of tool", main)?;
        let status = match table.get("status") {
            Some(value) => self.named("status", "status of a tool call", value)?,
            None => ToolStatus::Completed,
        };
        let title = match self.detail(table, "title")? {
            Some(title) => title,
            None => main.get_ref().as_str().unwrap_or_default().to_owned(),
        };
        let paths = match table.get("paths") {
            None => Vec::new(),
            Some(value) => {
                let paths = value.get_ref().as_array().map(|paths| {
                    paths.iter().map(|path| path.get_ref().as_str().map(SmolStr::from)).collect()
                });
                self.expect(paths.flatten(), "paths", "a list of texts in quotes", value)?
            }
        };
        Some(ToolUse { id: index.to_smolstr(), kind, title: title.into(), paths, status })
    }

    fn retry(&mut self, main: &TomlValue<'_>, table: &Table<'_>) -> Option<ProviderRetry> {
        let status = self.number("retry", main)?;
        let status = u16::try_from(status).ok().filter(|status| (100..600).contains(status));
        let status = self.expect(status, "retry", "an HTTP status such as 429", main)?;
        let delay = table
            .get("delay")
            .map_or(Some(std::time::Duration::ZERO), |value| self.duration("delay", value))?;
        let message = self.detail(table, "message")?;
        Some(ProviderRetry {
            attempt: 1,
            status: Some(status),
            delay_ms: delay.as_millis() as u64,
            message: message.unwrap_or_else(|| format!("the provider returned status {status}")),
        })
    }

    fn usage(&mut self, main: &TomlValue<'_>) -> Option<Usage> {
        let table = main.get_ref().as_table();
        let table = self.expect(table, "used", "a table such as `{ input = 10, output = 5 }`", main)?;
        for key in table.keys() {
            let name: &str = key.get_ref();
            if !USED.contains(&name) {
                self.unknown(key.span(), name, "`used`", USED.to_vec());
            }
        }
        let mut count = |key: &str| match table.get(key) {
            None => Some(0),
            Some(value) => {
                let number = value.get_ref().as_integer();
                let number =
                    number.and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
                self.expect(number, key, "a number of tokens", value)
            }
        };
        let [input_tokens, output_tokens] = [count("input")?, count("output")?];
        let [cache_read_tokens, cache_write_tokens] = [count("cache-read")?, count("cache-write")?];
        let cost = match table.get("cost") {
            None => None,
            Some(value) => {
                let cost = match value.get_ref() {
                    DeValue::Float(number) => number.as_str().parse().ok(),
                    DeValue::Integer(number) => number.as_str().parse().ok(),
                    _ => None,
                };
                let cost = cost.filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
                Some(self.expect(cost, "cost", "an amount in US dollars such as 0.02", value)?)
            }
        };
        Some(Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost })
    }

    /// An optional text; the outer `None` after an error.
    fn detail(&mut self, table: &Table<'_>, key: &str) -> Option<Option<String>> {
        match table.get(key) {
            None => Some(None),
            Some(value) => self.string(key, value).map(Some),
        }
    }

    /// One of the names of an enumeration.
    fn named<T: DeserializeOwned>(&mut self, key: &str, what: &str, value: &TomlValue<'_>) -> Option<T> {
        let name = self.string(key, value)?;
        match T::deserialize(StrDeserializer::<PlainError>::new(&name)) {
            Ok(named) => Some(named),
            Err(error) => {
                self.report(value.span(), format!("`{name}` is not a {what}: {error}"));
                None
            }
        }
    }
}

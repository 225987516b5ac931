//! The entries of a script, and how they match requests.

use std::fmt;
use std::time::Duration;

use prose_vm::effect::{Effect, Outcome, Request};
use regex::Regex;

use crate::permissions::ToolRequest;
use crate::script::activity::Step;
use crate::script::written;

/// Kinds of entries, one for each kind of effect that a script supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A reply of a session.
    Session,
    /// A verdict on a condition or a filter.
    Condition,
    /// A choice between labels.
    Choice,
    /// An extracted part of a text.
    Extract,
    /// A summary.
    Summary,
    /// An input.
    Input,
    /// The memory of an agent.
    Memory,
}

/// The properties of a kind of entries.
pub(crate) struct KindInfo {
    pub(crate) kind: Kind,
    /// The name of the effect.
    effect: &'static str,
    /// The name of its tables.
    pub(crate) table: &'static str,
    /// The keys that select requests.
    pub(crate) selectors: &'static [&'static str],
    /// The keys for answers; one of them is required.
    pub(crate) answers: &'static [&'static str],
    /// The keys for details of an answer.
    pub(crate) details: &'static [&'static str],
}

/// All kinds.
pub(crate) const KINDS: &[KindInfo] = &[
    KindInfo {
        kind: Kind::Session,
        effect: "session",
        table: "session",
        selectors: &["agent", "label", "pattern", "place", "order"],
        answers: &["reply", "fail"],
        details: &["tools", "kind"],
    },
    KindInfo {
        kind: Kind::Condition,
        effect: "judge",
        table: "condition",
        selectors: &["label", "pattern", "place", "order"],
        answers: &["met", "fail"],
        details: &["reason", "no-progress", "kind"],
    },
    KindInfo {
        kind: Kind::Choice,
        effect: "choose",
        table: "choice",
        selectors: &["label", "pattern", "place", "order"],
        answers: &["choose", "fail"],
        details: &["reason", "kind"],
    },
    KindInfo {
        kind: Kind::Extract,
        effect: "extract",
        table: "extract",
        selectors: &["label", "pattern", "place", "order"],
        answers: &["value", "absent", "fail"],
        details: &["kind"],
    },
    KindInfo {
        kind: Kind::Summary,
        effect: "summarise",
        table: "summary",
        selectors: &["name", "pattern", "place", "order"],
        answers: &["text", "fail"],
        details: &["kind"],
    },
    KindInfo {
        kind: Kind::Input,
        effect: "input",
        table: "input",
        selectors: &["name", "label", "pattern", "place", "order"],
        answers: &["value", "json", "absent", "fail"],
        details: &["kind"],
    },
    KindInfo {
        kind: Kind::Memory,
        effect: "memory",
        table: "memory",
        selectors: &["agent", "place", "order"],
        answers: &["text", "absent"],
        details: &["segments"],
    },
];

/// The keys of an entry about its use: memories are read immediately, and only backends report activities.
const TIMING: &[&str] = &["times", "delay", "activity"];

impl KindInfo {
    /// All keys of an entry.
    pub(crate) fn keys(&self) -> Vec<&'static str> {
        let timing = match self.kind {
            Kind::Memory => &TIMING[..1],
            Kind::Input => &TIMING[..2],
            _ => TIMING,
        };
        [self.selectors, self.answers, self.details, timing].concat()
    }
}

impl Kind {
    /// The kind for an effect, by its name in journals; `None` if scripts do not support it.
    pub(crate) fn of_effect(effect: &str) -> Option<Self> {
        KINDS.iter().find(|info| info.effect == effect).map(|info| info.kind)
    }

    /// What its entries answer.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Kind::Session => "The reply of sessions",
            Kind::Condition => "The verdict on a condition in `**…**`, or whether `filter` keeps an item",
            Kind::Choice => "The option that a `choice` takes",
            Kind::Extract => "A part of an unstructured text, such as `report.date`",
            Kind::Summary => "The summary of a value that is too long for the context",
            Kind::Input => "The value of an input",
            Kind::Memory => "The memory of an agent",
        }
    }

    /// Its properties.
    pub(crate) fn info(self) -> &'static KindInfo {
        let info = KINDS.iter().find(|info| info.kind == self);
        info.expect("a test finds every kind in the table")
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Session => "session",
            Kind::Condition => "condition",
            Kind::Choice => "choice",
            Kind::Extract => "part of a text",
            Kind::Summary => "value to shorten",
            Kind::Input => "input",
            Kind::Memory => "memory of an agent",
        })
    }
}

/// An entry of a script.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The line of its header, from 1.
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    pub(crate) agent: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) pattern: Option<Regex>,
    pub(crate) place: Option<String>,
    /// The number of the request among those of its kind in the run, from 1.
    pub(crate) order: Option<usize>,
    /// How often it replies; `None` for always.
    pub(crate) times: Option<usize>,
    /// The delay.
    pub(crate) delay: Duration,
    /// The tools that the session asks to use before it replies.
    pub(crate) tools: Vec<ToolRequest>,
    /// What is reported during the delay.
    pub(crate) activity: Vec<Step>,
    /// Its answers, used in order; at least one.
    pub(crate) answers: Vec<Said>,
}

/// The answer of an entry.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    /// An outcome.
    Outcome(Outcome),
    /// A choice, whose number depends on the labels of the request.
    Label { label: String, reason: String },
}

impl Entry {
    /// Whether it matches a request, the `order`th of its kind.
    pub(crate) fn fits(&self, asked: &Asked<'_>, order: usize) -> bool {
        self.order.is_none_or(|number| number == order) && self.fits_but_for_order(asked)
    }

    /// Whether it matches a request apart from its order.
    pub(crate) fn fits_but_for_order(&self, asked: &Asked<'_>) -> bool {
        let same = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
        };
        // The place comes first: recorded scripts have thousands of entries that differ in nothing else.
        self.kind == asked.kind
            && same(&self.place, Some(asked.place))
            && same(&self.agent, asked.agent)
            && same(&self.name, asked.name)
            && same(&self.label, Some(asked.label))
            && self.pattern.as_ref().is_none_or(|pattern| {
                pattern.is_match(asked.text) || asked.more.is_some_and(|more| pattern.is_match(more))
            })
    }
}

/// A request in the form that entries match.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) kind: Kind,
    pub(crate) agent: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) place: &'a str,
    /// The text that patterns match.
    pub(crate) text: &'a str,
    /// Its first line.
    pub(crate) label: &'a str,
    /// Additional text that patterns match.
    pub(crate) more: Option<&'a str>,
    /// The labels of a choice.
    labels: &'a [smol_str::SmolStr],
}

impl<'a> Asked<'a> {
    /// The request for an entry; `None` if scripts do not support its kind.
    pub(crate) fn of(request: &'a Request) -> Option<Self> {
        let of = |kind: Kind, text: &'a str| {
            let place = request.place.as_str();
            Self { kind, agent: None, name: None, place, text, label: label(text), more: None, labels: &[] }
        };
        Some(match &request.effect {
            Effect::Session(task) => {
                let agent = task.agent.as_deref();
                Self { agent, more: Some(&task.prompt), ..of(Kind::Session, &task.task) }
            }
            Effect::Judge(question) => of(Kind::Condition, &question.text),
            Effect::Choose(question) => Self { labels: &question.labels, ..of(Kind::Choice, &question.text) },
            Effect::Extract(question) => of(Kind::Extract, &question.text),
            Effect::Summarise(summary) => {
                Self { name: Some(&summary.name), ..of(Kind::Summary, &summary.text) }
            }
            Effect::Input(input) => Self { name: input.name.as_deref(), ..of(Kind::Input, &input.prompt) },
            Effect::Memory(place) => Self { agent: Some(&place.agent), ..of(Kind::Memory, "") },
            Effect::File(_) | Effect::FileCheck(_) | Effect::Tree(_) | Effect::Sleep(_) => return None,
        })
    }

    /// An entry that matches the request, to be completed by hand.
    pub(crate) fn entry_to_add(&self) -> String {
        let is_named = self.kind == Kind::Summary || self.kind == Kind::Memory;
        let mut entry = written::Entry {
            agent: self.agent.map(str::to_owned),
            name: self.name.map(str::to_owned),
            label: (!is_named && !self.label.is_empty()).then(|| self.label.to_owned()),
            ..written::Entry::default()
        };
        match self.kind {
            Kind::Session => entry.reply = Some("…".to_owned()),
            Kind::Condition => entry.met = Some(true),
            Kind::Choice => {
                let label = self.labels.first().map(ToString::to_string).unwrap_or_default();
                entry.choose = Some(written::Choose::Label(label));
            }
            Kind::Summary | Kind::Memory => entry.text = Some("…".to_owned()),
            Kind::Extract | Kind::Input => entry.value = Some("…".into()),
        }
        entry.to_toml(self.kind)
    }
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(agent) = self.agent {
            writeln!(f, "  agent: {agent}")?;
        }
        if let Some(name) = self.name {
            writeln!(f, "  name: {name}")?;
        }
        writeln!(f, "  place: {}", self.place)?;
        if !self.label.is_empty() {
            writeln!(f, "  label: {}", self.label)?;
        }
        if !self.labels.is_empty() {
            writeln!(f, "  choose one of: {}", self.labels.join(", "))?;
        }
        Ok(())
    }
}

/// The first line with text in it.
pub(crate) fn label(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{KINDS, Kind};

    #[test]
    fn every_kind_is_in_the_table() {
        for (index, info) in KINDS.iter().enumerate() {
            assert_eq!(info.kind as usize, index);
            assert_eq!(info.kind.info().table, info.table);
        }
        assert_eq!(KINDS.len(), Kind::Memory as usize + 1);
    }
}

//! Parses scripts.

mod activity;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use prose_syntax::text::{quoted, shorten};
use prose_syntax::{TextRange, suggest};
use prose_toml::Document;
use prose_vm::activity::ToolKind;
use prose_vm::effect::{Choice, Failure, Memory, Outcome, Reply, Verdict};
use prose_vm::error::ErrorKind;
use prose_vm::value::Value;
use regex::Regex;
use serde::Deserialize;
use serde::de::value::{Error as PlainError, StrDeserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::entry::{Entry, KINDS, Kind, KindInfo, Said};
use super::value::{InvalidValue, toml_value};
use crate::permissions::{About, McpTool, ToolRequest};

/// The key that says what becomes of requests without an entry.
pub(crate) const UNMATCHED: &str = "unmatched";

/// The content of a script.
#[derive(Default)]
pub(super) struct File {
    pub(super) entries: Vec<Entry>,
    /// Whether unmatched requests get generated replies.
    pub(super) is_offline: bool,
}

/// An error in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong and how to fix it.
    pub message: String,
}

/// The errors in a script; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptErrors {
    /// The file, for messages.
    pub name: String,
    /// In file order.
    pub errors: Vec<ScriptError>,
}

impl fmt::Display for ScriptErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, ScriptError { line, column, message }) in self.errors.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}:{line}:{column}: {message}", self.name)?;
        }
        Ok(())
    }
}

impl std::error::Error for ScriptErrors {}

pub(super) fn read(name: &str, text: &str) -> Result<File, ScriptErrors> {
    let document = Document::parse(text);
    let mut reader = Reader { text, document: &document, prefix: "", errors: Vec::new() };
    for problem in &document.problems {
        reader.report_at(problem.range, problem.message.clone());
    }
    let file = match document.root().get_ref().as_table() {
        Some(root) => reader.file(root, |reader, span, name| {
            let known = KINDS.iter().map(|info| info.table).chain([UNMATCHED]);
            reader.unknown(span, name, "a script", known.collect());
        }),
        None => File::default(),
    };
    let Reader { errors, .. } = reader;
    if errors.is_empty() {
        return Ok(file);
    }
    let mut errors: Vec<_> = errors
        .into_iter()
        .map(|EntryProblem { range, message }| {
            let (line, column) = document.position(range.start());
            ScriptError { line, column, message }
        })
        .collect();
    errors.sort_by_key(|error| (error.line, error.column));
    Err(ScriptErrors { name: name.to_owned(), errors })
}

/// Reads the entries in a table of another document. Its other keys are left to the caller.
pub(super) fn read_in(
    document: &Document<'_>,
    text: &str,
    table: &DeTable<'_>,
    prefix: &'static str,
) -> (File, Vec<EntryProblem>) {
    let mut reader = Reader { text, document, prefix, errors: Vec::new() };
    let file = reader.file(table, |_, _, _| {});
    (file, reader.errors)
}

/// A mistake in an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryProblem {
    /// Where it is.
    pub range: TextRange,
    /// What is wrong and how to fix it.
    pub message: String,
}

type TomlValue<'a> = Spanned<DeValue<'a>>;

struct Reader<'a> {
    text: &'a str,
    document: &'a Document<'a>,
    /// What comes before the names of tables in headers, such as `case.`.
    prefix: &'static str,
    errors: Vec<EntryProblem>,
}

impl Reader<'_> {
    /// The entries in a table. `other` receives the keys that are not about entries.
    fn file(&mut self, table: &DeTable<'_>, other: impl Fn(&mut Self, Range<usize>, &str)) -> File {
        let mut file = File::default();
        for (key, value) in table {
            let name: &str = key.get_ref();
            if name == UNMATCHED {
                file.is_offline = self.unmatched(value);
            } else if let Some(info) = KINDS.iter().find(|info| info.table == name) {
                let Some(tables) = value.get_ref().as_array() else {
                    let message = format!(
                        "an entry must start with a header in double brackets: `[[{}{name}]]`",
                        self.prefix
                    );
                    self.report(key.span(), message);
                    continue;
                };
                file.entries.extend(tables.iter().filter_map(|table| self.entry(info, table)));
            } else {
                other(self, key.span(), name);
            }
        }
        file
    }

    fn unmatched(&mut self, value: &TomlValue<'_>) -> bool {
        match value.get_ref().as_str() {
            Some("offline") => true,
            Some("error") => false,
            _ => {
                self.report(value.span(), "`unmatched` must be \"error\" or \"offline\"".to_owned());
                false
            }
        }
    }

    fn entry(&mut self, info: &KindInfo, value: &TomlValue<'_>) -> Option<Entry> {
        let Some(table) = value.get_ref().as_table() else {
            let message =
                format!("an entry must be a table with a header `[[{}{}]]`", self.prefix, info.table);
            self.report(value.span(), message);
            return None;
        };
        let known = info.keys();
        for key in table.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let of = format!("a `[[{}{}]]`", self.prefix, info.table);
                self.unknown(key.span(), name, &of, known.clone());
            }
        }
        let get = |key: &str| known.contains(&key).then(|| table.get(key)).flatten();
        let answers = self.answers(info, value.span(), &get);
        let is_list = answers.as_ref().is_some_and(|(_, is_list)| *is_list);
        let times = get("times").and_then(|times| {
            if is_list {
                let message =
                    "`times` cannot be combined with a list of answers; remove `times`, or write one answer";
                self.report(times.span(), message.to_owned());
            }
            self.number("times", times)
        });
        let entry = Entry {
            line: self.document.position(self.document.range(value.span()).start()).0,
            kind: info.kind,
            agent: get("agent").and_then(|value| self.string("agent", value)),
            name: get("name").and_then(|value| self.string("name", value)),
            label: get("label").and_then(|value| Some(self.string("label", value)?.trim().to_owned())),
            pattern: get("pattern").and_then(|value| self.pattern(value)),
            place: get("place").and_then(|value| self.string("place", value)),
            order: get("order").and_then(|value| self.number("order", value)),
            times,
            delay: get("delay").and_then(|value| self.duration("delay", value)).unwrap_or_default(),
            tools: get("tools").and_then(|value| self.tools(value)).unwrap_or_default(),
            activity: get("activity").map(|value| self.activity(value)).unwrap_or_default(),
            answers: Vec::new(),
        };
        // Only now, so that all errors in an entry are reported.
        let (answers, is_list) = answers?;
        Some(Entry { times: if is_list { Some(answers.len()) } else { times }, answers, ..entry })
    }

    /// The answer of an entry, and whether it is a list.
    fn answers<'v>(
        &mut self,
        info: &KindInfo,
        span: Range<usize>,
        get: &impl Fn(&str) -> Option<&'v TomlValue<'v>>,
    ) -> Option<(Vec<Said>, bool)> {
        let mut given = info.answers.iter().filter_map(|key| get(key).map(|value| (*key, value)));
        let Some((key, value)) = given.next() else {
            if self.is_broken() {
                return None;
            }
            let keys: Vec<String> = info.answers.iter().map(|key| format!("`{key}`")).collect();
            let message = format!("this entry has no answer; add {}", keys.join(" or "));
            self.report(span, message);
            return None;
        };
        if let Some((other, value)) = given.next() {
            self.report(
                value.span(),
                format!("an entry must have one answer, but this one has `{key}` and `{other}`"),
            );
            return None;
        }
        if let Some(kind) = get("kind").filter(|_| key != "fail" && !self.is_broken()) {
            self.report(kind.span(), "`kind` is the kind of an error and needs `fail`".to_owned());
        }
        let reason = get("reason").and_then(|value| self.string("reason", value)).unwrap_or_default();
        let single = |outcome: Outcome| Some((vec![Said::Outcome(outcome)], false));
        match key {
            "fail" => {
                let kind = get("kind").map_or(Some(ErrorKind::Session), |value| self.error_kind(value));
                let message = self.string(key, value)?;
                single(Outcome::Failed(Failure { kind: kind?, message }))
            }
            "reply" => self.one_or_more(key, value, |reader, value| {
                let text = reader.string(key, value)?.into();
                Some(Said::Outcome(Outcome::Reply(Reply { text, ..Reply::default() })))
            }),
            "met" => {
                let no_progress = get("no-progress")
                    .and_then(|value| self.boolean("no-progress", value))
                    .unwrap_or_default();
                self.one_or_more(key, value, |reader, value| {
                    let met = reader.boolean(key, value)?;
                    Some(Said::Outcome(Outcome::Verdict(Verdict {
                        met,
                        reason: reason.clone(),
                        no_progress,
                    })))
                })
            }
            "choose" => self.one_or_more(key, value, |reader, value| {
                if value.get_ref().is_integer() {
                    let index = reader.number(key, value)? - 1;
                    return Some(Said::Outcome(Outcome::Choice(Choice { index, reason: reason.clone() })));
                }
                let label = value.get_ref().as_str().map(str::to_owned);
                let label = reader.expect(label, key, "a label in quotes, or its number from 1", value)?;
                Some(Said::Label { label, reason: reason.clone() })
            }),
            "value" if info.kind == Kind::Extract => {
                single(Outcome::Value(Value::text(self.string(key, value)?)))
            }
            "value" => single(Outcome::Value(self.value(value)?)),
            "json" => {
                let json = self.string(key, value)?;
                match serde_json::from_str(&json) {
                    Ok(json) => single(Outcome::Value(json)),
                    Err(error) => {
                        self.report(value.span(), format!("this is not valid JSON: {error}"));
                        None
                    }
                }
            }
            "absent" => {
                if !self.boolean(key, value)? {
                    self.report(value.span(), "`absent` must be `true` or left out".to_owned());
                    return None;
                }
                single(match info.kind {
                    Kind::Memory => Outcome::Memory(Memory::default()),
                    _ => Outcome::Value(Value::Null),
                })
            }
            _ => {
                let text = self.string(key, value)?;
                if info.kind == Kind::Summary {
                    return single(Outcome::Value(Value::text(text)));
                }
                let segments = get("segments").map_or(Some(1), |value| self.number("segments", value))?;
                let segments = u32::try_from(segments).unwrap_or(u32::MAX);
                single(Outcome::Memory(Memory { text: Some(text.into()), segments }))
            }
        }
    }

    /// One answer, or a list of answers that are used in order.
    fn one_or_more(
        &mut self,
        key: &str,
        value: &TomlValue<'_>,
        read: impl Fn(&mut Self, &TomlValue<'_>) -> Option<Said>,
    ) -> Option<(Vec<Said>, bool)> {
        let Some(list) = value.get_ref().as_array() else {
            return Some((vec![read(self, value)?], false));
        };
        if list.is_empty() {
            self.report(value.span(), format!("the list `{key}` must not be empty"));
            return None;
        }
        let answers: Option<Vec<Said>> = list.iter().map(|value| read(self, value)).collect();
        Some((answers?, true))
    }

    fn string(&mut self, key: &str, value: &TomlValue<'_>) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        self.expect(text, key, "a text in quotes", value)
    }

    fn boolean(&mut self, key: &str, value: &TomlValue<'_>) -> Option<bool> {
        self.expect(value.get_ref().as_bool(), key, "`true` or `false`", value)
    }

    /// A number from 1.
    fn number(&mut self, key: &str, value: &TomlValue<'_>) -> Option<usize> {
        let number = value.get_ref().as_integer();
        let number = number.and_then(|number| usize::from_str_radix(number.as_str(), number.radix()).ok());
        self.expect(number.filter(|number| *number > 0), key, "a whole number from 1", value)
    }

    fn duration(&mut self, key: &str, value: &TomlValue<'_>) -> Option<Duration> {
        let duration = value.get_ref().as_str().and_then(|text| humantime::parse_duration(text).ok());
        self.expect(duration, key, "a duration such as \"200ms\", \"3s\" or \"1m 30s\"", value)
    }

    /// Tool calls such as `bash: git log`, by the subjects of permissions.
    fn tools(&mut self, value: &TomlValue<'_>) -> Option<Vec<ToolRequest>> {
        let expected = "a list of tool calls such as \"bash: git log\", \"read: a.md\", \"write: a.md\", \"network: https://…\" or \"mcp: server/tool\"";
        let Some(list) = value.get_ref().as_array() else {
            return self.expect(None, "tools", expected, value);
        };
        let tool = |value: &TomlValue<'_>| {
            let (about, what) = value.get_ref().as_str()?.split_once(": ")?;
            Some(match About::of(about)? {
                About::Read => ToolRequest::file(ToolKind::Read, what),
                About::Write => ToolRequest::file(ToolKind::Edit, what),
                About::Execute => ToolRequest::command(what),
                About::Network => ToolRequest::fetch(what),
                About::Mcp => {
                    let (server, tool) = what.split_once('/')?;
                    ToolRequest::mcp(McpTool { server: server.to_owned(), tool: tool.to_owned() })
                }
            })
        };
        list.iter().map(|value| self.expect(tool(value), "tools", expected, value)).collect()
    }

    fn pattern(&mut self, value: &TomlValue<'_>) -> Option<Regex> {
        let pattern = self.string("pattern", value)?;
        match Regex::new(&pattern) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.report(value.span(), format!("`pattern` is not a valid regular expression: {error}"));
                None
            }
        }
    }

    fn error_kind(&mut self, value: &TomlValue<'_>) -> Option<ErrorKind> {
        let name = self.string("kind", value)?;
        match ErrorKind::deserialize(StrDeserializer::<PlainError>::new(&name)) {
            Ok(kind) => Some(kind),
            Err(error) => {
                self.report(value.span(), format!("`{name}` is not a kind of error: {error}"));
                None
            }
        }
    }

    /// Any value.
    fn value(&mut self, value: &TomlValue<'_>) -> Option<Value> {
        match toml_value(value) {
            Ok(value) => Some(value),
            Err(InvalidValue { span, expected }) => {
                let message = format!("`value` must be {expected}, not {}", self.shown(span.clone()));
                self.report(span, message);
                None
            }
        }
    }

    fn expect<T>(&mut self, read: Option<T>, key: &str, what: &str, value: &TomlValue<'_>) -> Option<T> {
        if read.is_none() {
            self.report(value.span(), format!("`{key}` must be {what}, not {}", self.shown(value.span())));
        }
        read
    }

    fn unknown(&mut self, span: Range<usize>, name: &str, of: &str, known: Vec<&str>) {
        let hint = match suggest::nearest(name, known.iter(), |known| known) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the keys are `{}`", known.join("`, `")),
        };
        self.report(span, format!("{of} has no `{name}`; {hint}"));
    }

    /// Whether the file is not valid TOML, so that a key may only seem to be missing.
    fn is_broken(&self) -> bool {
        !self.document.problems.is_empty()
    }

    /// A part of the file, for messages.
    fn shown(&self, span: Range<usize>) -> String {
        const MAX_SHOWN: usize = 40;
        let text = &self.text[self.document.range(span)];
        quoted(shorten(text.lines().next().unwrap_or_default(), MAX_SHOWN))
    }

    /// Reports an error. Keys and values left over from broken TOML are not checked.
    fn report(&mut self, span: Range<usize>, message: String) {
        let range = self.document.range(span);
        if self.document.is_complete && !self.document.is_broken_at(range.start()) {
            self.report_at(range, message);
        }
    }

    fn report_at(&mut self, range: TextRange, message: String) {
        self.errors.push(EntryProblem { range, message });
    }
}

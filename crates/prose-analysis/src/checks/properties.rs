//! The properties of agents and sessions: whether they exist, are given once, and have values that they can have.

use prose_syntax::options::Word;
use prose_syntax::properties::{BACKOFFS, MODELS, PERSISTENCE, Property as Meant, find, nearest_property};
use prose_syntax::suggest::nearest;
use prose_syntax::{Code, Diagnostic, Fix, TextEdit, TextRange};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::calls::listed;
use super::names::did_you_mean_or;
use super::{Checker, Finding};
use crate::model::{self, *};
use crate::repairs::Repair;
use crate::skills::{MissingSkill, NamedSkill, agent_of};
use crate::statements::summary;
use crate::summary::AgentFacts;

/// More retries than these are rarely meant.
const MAX_RETRIES: u32 = 10;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    for (id, data) in body.stmts() {
        let Some(properties) = data.stmt.properties() else { continue };
        for property in checker.given_once(properties) {
            checker.property(id, properties, property);
        }
        match &data.stmt {
            Stmt::Session { agent, .. } | Stmt::Resume { agent, .. } => {
                checker.backoff_without_retry(id, *agent, properties);
            }
            _ => checker.retry_on_agent(properties),
        }
    }
}

impl<'db> Checker<'_, 'db> {
    /// The properties without those that are given again, which are reported.
    pub(super) fn given_once<'p>(&mut self, properties: &'p [Property]) -> Vec<&'p Property> {
        let mut once: Vec<&Property> = Vec::with_capacity(properties.len());
        let mut firsts: FxHashMap<&SmolStr, &Property> = FxHashMap::default();
        for property in properties {
            let name = &property.name;
            let first = *firsts.entry(&name.text).or_insert(property);
            if std::ptr::eq(first, property) {
                once.push(property);
                continue;
            }
            let message = format!("property `{}` is already set", name.text);
            let diagnostic = Diagnostic::new(Code::E009, name.range, message)
                .with_related(first.name.range, format!("`{}` is first set here", name.text));
            let title = format!("Remove this `{}`", name.text);
            let finding = self.with_removal(diagnostic.into(), properties, property, title);
            self.report(finding);
        }
        once
    }

    fn property(&mut self, owner: StmtId, properties: &[Property], property: &Property) {
        if find(&property.name.text).is_none() {
            let diagnostic = unknown(property, || self.is_statement_reached(owner));
            let finding = match diagnostic.fix {
                Some(_) => diagnostic.into(),
                None => {
                    let title = format!("Remove `{}`", property.name.text);
                    self.with_removal(diagnostic.into(), properties, property, title)
                }
            };
            self.report(finding);
            return;
        }
        match property.name.text.as_str() {
            "permissions" => return self.permissions(owner, property),
            "context" => return self.context(property),
            _ => {}
        }
        let (value, range) = match (property.value, &property.entries) {
            (Some(value), _) => (Some(value), self.body[value].range),
            (None, Some(_)) => (None, property.name.range),
            // A value that is missing is a mistake of the syntax.
            (None, None) => return,
        };
        let shape = value.map_or(Shape::Block, |value| Shape::of(self.body, value));
        match property.name.text.as_str() {
            "model" => self.model(shape, range),
            "prompt" => self.prompt(shape, range),
            "skills" => self.skills(owner, properties, property, value, shape, range),
            "persist" => self.persist(shape, range),
            "retry" => self.retry(shape, range),
            "backoff" => self.backoff(shape, range),
            "timeout" => self.timeout(shape, range),
            "early_exit" => self.early_exit(shape, range),
            _ => {}
        }
    }

    /// The finding with a fix that takes a property away.
    pub(super) fn with_removal(
        &self,
        finding: Finding<'db>,
        properties: &[Property],
        property: &Property,
        title: String,
    ) -> Finding<'db> {
        let range = property.range;
        let is_on_line = |between: TextRange| !self.source(between).contains(['\n', '\r']);
        // Properties may also be on the line of their session, with commas between them.
        // Both ends of them are in the order of the text.
        let before = properties.partition_point(|other| other.range.end() <= range.start());
        let before = before.checked_sub(1).map(|at| properties[at].range.end());
        let before = before.map(|end| TextRange::new(end, range.start())).filter(|gap| is_on_line(*gap));
        let behind = properties.partition_point(|other| other.range.start() < range.end());
        let behind = properties.get(behind).map(|other| other.range.start());
        let behind = behind.map(|start| TextRange::new(range.end(), start)).filter(|gap| is_on_line(*gap));
        match (before, behind) {
            (Some(gap), _) | (None, Some(gap)) => {
                finding.with_fix(Fix::suggestion(title, TextEdit::delete(range.cover(gap))))
            }
            (None, None) if self.indentation(range).is_some() => {
                finding.with_repair(Repair::RemoveLines { title, range })
            }
            (None, None) => finding,
        }
    }

    /// The text of a part of the statement.
    pub(super) fn source(&self, range: TextRange) -> &str {
        &self.text.get_or_init(|| self.statement.syntax(self.db).text().to_string())[range]
    }

    /// The spaces before a part of the statement, if nothing else comes before it on its line.
    pub(super) fn indentation(&self, range: TextRange) -> Option<&str> {
        let before = self.source(TextRange::up_to(range.start()));
        let indentation = before.trim_end_matches([' ', '\t']).len();
        before[..indentation].ends_with(['\n', '\r']).then_some(&before[indentation..])
    }

    fn wrong_kind(&mut self, range: TextRange, message: impl Into<String>, fix: Option<Fix>) {
        self.report(Diagnostic::new(Code::E137, range, message).with_fix(fix));
    }

    fn model(&mut self, shape: Shape<'_>, range: TextRange) {
        match shape {
            Shape::Word(word) => {
                let aliases = &self.file.project(self.db).models;
                if Word::is_one_of(word, MODELS) || aliases.contains_key(word) {
                    return;
                }
                let known =
                    MODELS.iter().map(|model| SmolStr::new_static(model.name)).chain(aliases.keys().cloned());
                let message = format!("unknown model `{word}`");
                let hint = || format!("use {}, or a quoted model id", listed(MODELS, "or"));
                let finding = did_you_mean_or(Code::E008, range, message, word, known.collect(), hint);
                self.report(finding.with_fix(quote(word, range)));
            }
            Shape::Text(text) if text.kind != TextKind::Discretion => {
                if text.blank {
                    let message = format!("the model id is empty; use {}", listed(MODELS, "or"));
                    self.report(Diagnostic::new(Code::E008, range, message));
                } else if self.source(range).trim_start_matches('"').trim_start().starts_with('-') {
                    let message = "a model id must not start with `-`; it would be read as an option";
                    self.report(Diagnostic::new(Code::E148, range, message));
                }
            }
            Shape::Unknown => {}
            _ => {
                let message = format!("`model` must be {}, or a quoted model id", listed(MODELS, "or"));
                self.wrong_kind(range, message, None);
            }
        }
    }

    fn prompt(&mut self, shape: Shape<'_>, range: TextRange) {
        let fix = match shape {
            Shape::Text(_) | Shape::Word(_) | Shape::Unknown => return,
            Shape::Number(_) | Shape::Duration(_) | Shape::Bool(_) => Some(quote(self.source(range), range)),
            _ => None,
        };
        let message = "`prompt` must be a text in quotes: `prompt: \"…\"`";
        self.wrong_kind(range, message, fix);
    }

    fn persist(&mut self, shape: Shape<'_>, range: TextRange) {
        let word = match shape {
            Shape::Bool(_) => return,
            Shape::Word(word) if Word::is_one_of(word, PERSISTENCE) => return,
            Shape::Text(text) if text.kind != TextKind::Discretion && !text.blank => return,
            Shape::Word(word) => word,
            _ => "",
        };
        let meant = match word {
            "yes" | "on" | "run" | "session" | "always" => Some("true"),
            "no" | "off" | "none" | "never" => Some("false"),
            "global" | "home" => Some("user"),
            "workspace" | "repo" | "repository" => Some("project"),
            _ => None,
        };
        let expected = Expected {
            subject: "`persist`",
            noun: "kind of memory",
            values: "`true`, `false`, `project`, `user` or a path in quotes",
            words: PERSISTENCE,
        };
        self.report(expected.diagnostic(Code::E132, range, word, meant));
    }

    fn backoff(&mut self, shape: Shape<'_>, range: TextRange) {
        let (word, range) = match shape {
            Shape::Word(word) => (word, range),
            Shape::Number(_) | Shape::Duration(_) => {
                let message = "`backoff` must be `linear` or `exponential`; set the wait with `run.backoff-ms` in `prose.toml`";
                let fix = Fix::change(range, "linear");
                return self.report(Diagnostic::new(Code::E130, range, message).with_fix(fix));
            }
            // The quotes stay.
            Shape::Text(text) if text.kind == TextKind::OneLine && !text.blank => {
                (text.value.as_deref().unwrap_or_default(), text.content)
            }
            Shape::Unknown => return,
            _ => ("", range),
        };
        if Word::is_one_of(word, BACKOFFS) {
            return;
        }
        let meant = match word {
            "fixed" | "constant" => Some("linear"),
            "exp" => Some("exponential"),
            "no" | "off" | "false" => Some("none"),
            _ => None,
        };
        let expected = Expected {
            subject: "`backoff`",
            noun: "backoff",
            values: "`none`, `linear` or `exponential`",
            words: BACKOFFS,
        };
        self.report(expected.diagnostic(Code::E130, range, word, meant));
    }

    fn retry(&mut self, shape: Shape<'_>, range: TextRange) {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let fix = match shape {
            Shape::Number(number) => {
                let is_many = number.bytes().all(|byte| byte.is_ascii_digit())
                    && number.parse::<u32>().is_ok_and(|count| count > MAX_RETRIES);
                if is_many {
                    let message = format!(
                        "{number} retries are too many; a session that failed {MAX_RETRIES} times rarely succeeds"
                    );
                    let fix = Fix::change(range, &MAX_RETRIES.to_string());
                    self.report(Diagnostic::new(Code::W109, range, message).with_fix(fix));
                }
                return;
            }
            Shape::Unknown | Shape::Word(_) | Shape::Negative => return,
            Shape::Text(text) => text.value.as_deref().filter(|text| digits(text)),
            Shape::Duration(duration) => {
                Some(duration.trim_end_matches(|unit: char| unit.is_ascii_alphabetic()))
            }
            _ => None,
        };
        let fix = fix.filter(|number| digits(number)).map(|number| Fix::change(range, number));
        self.wrong_kind(range, "`retry` must be a number of retries, such as `retry: 3`", fix);
    }

    fn timeout(&mut self, shape: Shape<'_>, range: TextRange) {
        let example = "such as `90s`, `15m` or `2h`";
        match shape {
            Shape::Duration(duration) => {
                if !duration.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
                    self.wrong_kind(range, "`timeout` must be longer than 0", None);
                }
            }
            Shape::Number(number) => {
                let fix = (number != "0").then(|| Fix::change(range, &format!("{number}s")));
                self.wrong_kind(range, format!("`{number}` has no unit; use a duration {example}"), fix);
            }
            Shape::Unknown | Shape::Word(_) => {}
            Shape::Text(text) => {
                let duration = text.value.as_deref().filter(|text| is_duration(text));
                self.wrong_kind(
                    range,
                    format!("`timeout` must be a duration without quotes, {example}"),
                    duration.map(|text| Fix::change(range, text)),
                );
            }
            _ => {
                let message = format!("`timeout` must be a duration with a unit, {example}");
                self.wrong_kind(range, message, None);
            }
        }
    }

    fn early_exit(&mut self, shape: Shape<'_>, range: TextRange) {
        let fix = match shape {
            Shape::Text(text) => match (&text.kind, &text.value) {
                (TextKind::Discretion, _) => return,
                (_, Some(value)) if !text.blank && !value.contains(['*', '\n', '"', '\\']) => {
                    Some(Fix::change(range, &format!("**{value}**")))
                }
                _ => None,
            },
            Shape::Unknown | Shape::Word(_) | Shape::Bool(_) => return,
            _ => None,
        };
        let message = "`early_exit` must be a condition: `early_exit: **nothing is left to do**`";
        self.wrong_kind(range, message, fix);
    }

    fn context(&mut self, property: &Property) {
        let Some(value) = property.value else { return };
        let Expr::Array(items) = &self.body[value].expr else { return };
        for item in items {
            let is_name = matches!(item, Value::Expr(expr) if self.body.name_of(*expr).is_some());
            if !is_name {
                let message = "an array in `context:` must hold names of variables; bind this with `let` and pass its name";
                self.report(Diagnostic::new(Code::E136, self.body.value_range(*item), message));
            }
        }
    }

    fn skills(
        &mut self,
        owner: StmtId,
        properties: &[Property],
        property: &Property,
        value: Option<ExprId>,
        shape: Shape<'_>,
        range: TextRange,
    ) {
        let Some(Expr::Array(items)) = value.map(|value| &self.body[value].expr) else {
            let message = "`skills` must be an array: `skills: [\"web-search\"]`";
            let fix = match shape {
                Shape::Text(text) if text.kind != TextKind::Discretion => {
                    Some(format!("[{}]", self.source(range)))
                }
                Shape::Word(word) => Some(format!("[\"{word}\"]")),
                _ => None,
            };
            let fix = fix.map(|text| Fix::suggestion("Wrap it in brackets", TextEdit::replace(range, text)));
            self.report(Diagnostic::new(Code::E013, range, message).with_fix(fix));
            return;
        };
        if items.is_empty() {
            let message = "`skills` is empty; remove the property or add a skill";
            let finding = Finding::new(Code::W010, range, message);
            let finding = self.with_removal(finding, properties, property, "Remove `skills`".into());
            self.report(finding);
        }
        for item in items {
            let range = self.body.value_range(*item);
            let shape = Shape::of_value(self.body, *item);
            let message = match shape {
                Shape::Text(text) if text.kind != TextKind::Discretion && !text.blank => {
                    self.skill(owner, text);
                    continue;
                }
                Shape::Text(text) if text.kind != TextKind::Discretion => {
                    "the name of a skill must not be empty".to_owned()
                }
                Shape::Word(word) => format!("a skill must be in quotes: `\"{word}\"`"),
                _ => "a skill must be a string in quotes".to_owned(),
            };
            let fix = shape.is_literal().then(|| quote(self.source(range), range));
            self.report(Diagnostic::new(Code::E014, range, message).with_fix(fix));
        }
    }

    fn skill(&mut self, owner: StmtId, text: &Text) {
        let Some(name) = text.value.as_ref().filter(|_| text.interpolations.is_empty()) else { return };
        let named = NamedSkill { agent: agent_of(self.body, owner).cloned(), name: name.clone() };
        if let Some(MissingSkill { message, near }) = self.file.missing_skills(self.db).get(&named) {
            let meant = near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let fix = near.as_ref().map(|near| Fix::change(text.content, near));
            let diagnostic = Diagnostic::new(Code::W152, text.content, format!("{message}{meant}"));
            return self.report(diagnostic.with_fix(fix));
        }
        let named = self.look_up(name).unwrap_or_default();
        // The reference brings skills in with `use` too.
        if named.is_skill || !named.imports.is_empty() || named.lost {
            return;
        }
        let skills = self.names_of_file(name, |named| named.is_skill || !named.imports.is_empty());
        let message = format!("skill `{name}` is not imported");
        // A source such as `github:owner/skill` is the name of nothing that a `use` could bring.
        let is_slug = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        let hint = || match is_slug {
            true => format!("add `use \"handle/{name}\"` unless the host provides it"),
            false => "the host must provide it".to_owned(),
        };
        self.report(did_you_mean_or(Code::W007, text.content, message, name, skills, hint));
    }

    fn retry_on_agent(&mut self, properties: &[Property]) {
        let on_session: Vec<&Property> = properties
            .iter()
            .filter(|property| matches!(property.name.text.as_str(), "retry" | "backoff"))
            .collect();
        let [first, others @ ..] = on_session.as_slice() else { return };
        let name = &first.name.text;
        let message = format!("`{name}` belongs to a session; the reference does not define it for an agent");
        let mut diagnostic = Diagnostic::new(Code::W110, first.name.range, message);
        for other in others.iter().filter(|other| other.name.text != *name) {
            let message = format!("`{}` belongs to a session too", other.name.text);
            diagnostic = diagnostic.with_related(other.name.range, message);
        }
        let finding = self.with_removal(diagnostic.into(), properties, first, format!("Remove `{name}`"));
        self.report(finding);
    }

    fn backoff_without_retry(&mut self, id: StmtId, agent: Option<RefId>, properties: &[Property]) {
        let Some(backoff) = properties.iter().find(|property| property.name.text == "backoff") else {
            return;
        };
        if self.body[id].lost_property || properties.iter().any(|property| property.is_or_resembles("retry"))
        {
            return;
        }
        let agent = match agent {
            Some(agent) => match self.agent_facts(agent) {
                Some((_, facts)) if !facts.has_retry => {
                    format!(" here or on agent `{}`", self.body[agent].text)
                }
                _ => return,
            },
            None => String::new(),
        };
        let message = format!("`backoff` has no effect without `retry`{agent}");
        let diagnostic = Diagnostic::new(Code::W124, backoff.name.range, message);
        let add = self.indentation(backoff.range).map(|indentation| {
            let line = format!("retry: 3\n{indentation}");
            Fix::suggestion("Add `retry: 3`", TextEdit::insert(backoff.range.start(), line))
        });
        let finding = Finding::from(diagnostic.with_fix(add));
        let finding = self.with_removal(finding, properties, backoff, "Remove `backoff`".into());
        self.report(finding);
    }

    /// The definition of the agent of a session, and its facts. None if it is not defined.
    pub(super) fn agent_facts(&self, agent: RefId) -> Option<(crate::index::Site<'db>, &'db AgentFacts)> {
        let named = self.look_up(&self.body[agent].text)?;
        let site = *named.agents.first()?;
        Some((site, summary(self.db, site.statement).agent(site.name)?))
    }
}

/// What can be seen of a value before the program runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape<'a> {
    /// A string or a discretion.
    Text(&'a Text),
    /// A word that stands for itself.
    Word(&'a str),
    Number(&'a str),
    Duration(&'a str),
    Bool(bool),
    Null,
    /// A number with a minus before it.
    Negative,
    Array,
    Object,
    /// Lines below the property.
    Block,
    /// What a variable or a calculation gives.
    Unknown,
}

impl<'a> Shape<'a> {
    pub(super) fn of(body: &'a Body, expr: ExprId) -> Self {
        match &body[expr].expr {
            Expr::Text(text) => match body.word(expr) {
                Some(word) => Shape::Word(word),
                None => Shape::Text(text),
            },
            Expr::Number(number) => Shape::Number(number),
            Expr::Duration(duration) => Shape::Duration(duration),
            Expr::Bool(value) => Shape::Bool(*value),
            Expr::Null => Shape::Null,
            Expr::Unary { negates: false, .. } => Shape::Negative,
            Expr::Array(_) => Shape::Array,
            Expr::Object(_) => Shape::Object,
            _ => Shape::Unknown,
        }
    }

    pub(super) fn of_value(body: &'a Body, value: Value) -> Self {
        value.expr().map_or(Shape::Block, |expr| Shape::of(body, expr))
    }

    /// Whether it is a single word or number, which quotes make a string.
    pub(super) fn is_literal(self) -> bool {
        matches!(self, Shape::Word(_) | Shape::Number(_) | Shape::Duration(_) | Shape::Bool(_))
    }
}

/// A name that is no property's.
fn unknown(property: &Property, is_reached: impl FnOnce() -> bool) -> Diagnostic {
    let model::Word { text, range } = &property.name;
    match nearest_property(text) {
        Some(Meant { name, .. }) => {
            let message = format!("unknown property `{text}`; did you mean `{name}`?");
            let is_slip = is_slip(text, name);
            let code = if is_slip { Code::E149 } else { Code::W005 };
            Diagnostic::new(code, *range, message)
                .with_lenient(is_slip && !is_reached())
                .with_fix(Fix::change(*range, name))
        }
        None => {
            let message = format!("unknown property `{text}`; it has no effect");
            Diagnostic::new(Code::W005, *range, message)
        }
    }
}

/// Whether a word is a property's name with one letter wrong, missing, too many, or in place of its neighbour.
fn is_slip(word: &str, name: &str) -> bool {
    // The names of properties are short, and a long word is none of them.
    word.len() <= name.len() + 1 && strsim::osa_distance(word, name) == 1
}

/// The values that a property accepts, for the diagnostic about one that it does not.
pub(super) struct Expected {
    /// What has the value, as in "`backoff` must be …".
    pub(super) subject: &'static str,
    /// What a word in its place is, as in "unknown backoff `x`".
    pub(super) noun: &'static str,
    /// What is accepted, as the rest of a sentence.
    pub(super) values: &'static str,
    /// The accepted words.
    pub(super) words: &'static [Word],
}

impl Expected {
    /// The diagnostic about `word`, which is empty where the value is not a word; with a fix if an accepted word is meant.
    pub(super) fn diagnostic(
        &self,
        code: Code,
        range: TextRange,
        word: &str,
        meant: Option<&str>,
    ) -> Diagnostic {
        let Self { subject, noun, values, words } = self;
        match meant.or_else(|| nearest(word, words.iter().map(|known| known.name), |known| known)) {
            Some(meant) => {
                let message = format!("unknown {noun} `{word}`; did you mean `{meant}`?");
                Diagnostic::new(code, range, message).with_fix(Fix::change(range, meant))
            }
            None if word.is_empty() => Diagnostic::new(code, range, format!("{subject} must be {values}")),
            None => Diagnostic::new(code, range, format!("unknown {noun} `{word}`; use {values}")),
        }
    }
}

pub(super) fn quote(text: &str, range: TextRange) -> Fix {
    let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    Fix::suggestion("Put it in quotes", TextEdit::replace(range, quoted))
}

fn is_duration(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    matches!(&text[digits.len()..], "ms" | "s" | "m" | "h")
        && digits.parse::<f64>().is_ok_and(|number| number > 0.0)
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

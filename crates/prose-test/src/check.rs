//! Compares what a run did with what its case expects.

use prose_syntax::TextRange;
use prose_syntax::text::{beginning, counted};
use prose_vm::budget::ROUNDING;
use prose_vm::event::{RunEnd, RunStatus};
use prose_vm::value::Value;

use crate::expectation::{Bounds, Expectation, Expected, SessionPattern};
use crate::file::Case;
use crate::matcher::{Matcher, Matching};
use crate::observed::{Observed, ObservedSession};

/// An expectation that a run did not fulfil.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where the expectation stands in the test file.
    pub range: TextRange,
    /// What is wrong.
    pub message: String,
    /// The expected text, if there is exactly one.
    pub expected: Option<String>,
    /// The actual text.
    pub actual: Option<String>,
    /// What `--update` writes in the place of the expected value, if that can only be one value.
    pub update: Option<Update>,
}

/// An actual value that takes the place of an expected one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// The expected value in the test file.
    pub range: TextRange,
    /// The actual one.
    pub to: Actual,
}

/// An actual value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actual {
    /// A text.
    Text(String),
    /// A number. It takes the place of a number, not of bounds.
    Number(u64),
    /// A list of texts. It takes the place of such a list, not of one with tables of comparisons.
    Texts(Vec<String>),
}

/// Asks a model whether a criterion is met by a text. The error is the reason why it is not, or why nothing could be asked.
pub(crate) type Judge<'a> = dyn FnMut(&str, &str) -> Result<(), String> + 'a;

/// The content of a file that a run has written.
pub(crate) type FileText<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Compares a run with the expectations of its case.
pub(crate) fn check(
    case: &Case,
    end: &RunEnd,
    observed: &Observed,
    files: &FileText<'_>,
    judge: &mut Judge<'_>,
) -> Vec<Mismatch> {
    let mut checker = Checker { end, observed, files, judge, mismatches: Vec::new() };
    let has_status = case.expectations.iter().any(|it| matches!(it.expected, Expected::Status(_)));
    if !has_status {
        checker.status(RunStatus::Completed, case.name_range);
    }
    for expectation in &case.expectations {
        checker.expectation(expectation);
    }
    checker.mismatches
}

struct Checker<'a, 'j> {
    end: &'a RunEnd,
    observed: &'a Observed,
    files: &'a FileText<'a>,
    judge: &'a mut Judge<'j>,
    mismatches: Vec<Mismatch>,
}

impl Checker<'_, '_> {
    fn add(&mut self, range: TextRange, message: impl Into<String>) {
        let message = message.into();
        self.mismatches.push(Mismatch { range, message, expected: None, actual: None, update: None });
    }

    /// Adds a mismatch whose expected value `--update` replaces.
    fn add_updatable(&mut self, range: TextRange, message: impl Into<String>, to: Actual) {
        let message = message.into();
        let update = Some(Update { range, to });
        self.mismatches.push(Mismatch { range, message, expected: None, actual: None, update });
    }

    /// Adds a mismatch of two lists or numbers.
    fn add_lists(
        &mut self,
        range: TextRange,
        message: impl Into<String>,
        expected: &[String],
        actual: &[String],
        to: Actual,
    ) {
        let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        self.mismatches.push(Mismatch {
            range,
            message: message.into(),
            expected: Some(text(expected)),
            actual: Some(text(actual)),
            update: Some(Update { range, to }),
        });
    }

    fn expectation(&mut self, Expectation { range, expected }: &Expectation) {
        let (end, observed) = (self.end, self.observed);
        match expected {
            Expected::Status(status) => self.status(*status, *range),
            Expected::Output { name, matcher } => {
                match end.outputs.iter().find(|(output, _)| output == name) {
                    Some((_, value)) => self.matcher(&format!("output `{name}`"), matcher, value),
                    None => self.add(*range, format!("output `{name}` was not given")),
                }
            }
            Expected::Value(matcher) => self.matcher("the value", matcher, &end.value),
            Expected::SessionCount(bounds) => {
                let count = observed.sessions.len();
                if !bounds.contain(count as u64) {
                    let names = self.names();
                    let message = format!("{} asked, expected {bounds}", were(count, "session"));
                    let message = format!("{message}{}", listed(&names));
                    self.add_number(*range, message, *bounds, count as u64);
                }
            }
            Expected::SessionNames(expected) => self.session_names(*range, expected),
            Expected::SessionOrder(expected) => self.session_order(*range, expected),
            Expected::NoSessions(names) => {
                let asked = |name: &String| observed.sessions.iter().find(|session| session.is_called(name));
                let never: Vec<String> = names.iter().filter(|name| asked(name).is_none()).cloned().collect();
                for name in names {
                    if let Some(session) = asked(name) {
                        let message = format!("session `{name}` was asked at {}", session.line);
                        self.add_updatable(*range, message, Actual::Texts(never.clone()));
                    }
                }
            }
            Expected::Session(pattern) => self.session(*range, pattern),
            Expected::Branches { names, are_taken } => self.branches(*range, names, *are_taken),
            Expected::Iterations { of, bounds } => self.iterations(*range, of.as_deref(), *bounds),
            Expected::Error(matcher) => {
                if let Some(error) = &end.error {
                    self.matcher("the error", matcher, &Value::text(error.to_string()));
                }
            }
            Expected::Errors(matchers) => {
                let errors: Vec<String> = observed.errors().iter().map(ToString::to_string).collect();
                self.all("error", *range, matchers, &errors);
            }
            Expected::Warnings(matchers) => self.all("warning", *range, matchers, &observed.warnings),
            Expected::MaxCost(most) => {
                let cost = end.usage.and_then(|usage| usage.cost).unwrap_or_default();
                if cost > *most + ROUNDING {
                    self.add(*range, format!("the run cost ${cost:.4}, expected at most ${most}"));
                }
            }
            Expected::MaxTokens(most) => {
                let tokens = end.usage.map_or(0, |usage| usage.input_tokens + usage.output_tokens);
                if tokens > *most {
                    self.add(*range, format!("the run used {tokens} tokens, expected at most {most}"));
                }
            }
            Expected::File { path, matcher } => self.file(*range, path, matcher.as_ref()),
        }
    }

    fn status(&mut self, expected: RunStatus, range: TextRange) {
        if self.end.status == expected {
            return;
        }
        let word = status_word(self.end.status);
        let mut message = match expected {
            RunStatus::Completed => format!("the run {word}"),
            expected => format!("the run {word}, expected that it {}", status_word(expected)),
        };
        if let Some(error) = &self.end.error {
            if error.line > 0 {
                message += &format!(" at line {}", error.line);
            }
            message += &format!(": {error}");
        }
        for question in &self.end.waiting {
            match &question.key {
                Some(key) => message += &format!(": input `{key}` has no value; add it to `inputs`"),
                None => message += &format!(": {}", question.prompt),
            }
        }
        self.add(range, message);
    }

    fn matcher(&mut self, name: &str, matcher: &Matcher, value: &Value) {
        for (range, matching) in &matcher.all {
            let difference = match matching {
                Matching::Judge(criterion) => {
                    let Err(reason) = (self.judge)(criterion, &value.to_string()) else { continue };
                    self.mismatches.push(Mismatch {
                        range: *range,
                        message: format!("{name} is not judged to meet {criterion:?}: {reason}"),
                        expected: None,
                        actual: Some(value.to_string()),
                        update: None,
                    });
                    continue;
                }
                matching => matching.compare(value),
            };
            if let Err(difference) = difference {
                self.mismatches.push(Mismatch {
                    range: *range,
                    message: format!("{name} {}", difference.message),
                    update: difference
                        .expected
                        .as_ref()
                        .map(|_| Update { range: *range, to: Actual::Text(value.to_string()) }),
                    expected: difference.expected,
                    actual: Some(value.to_string()),
                });
            }
        }
    }

    /// What the sessions are called, in order.
    fn names(&self) -> Vec<String> {
        self.observed.sessions.iter().map(|session| session.shown().to_owned()).collect()
    }

    /// The same, where an expected name is that of a session, by this name.
    fn names_as_in(&self, expected: &[String]) -> Vec<String> {
        let named = self.observed.sessions.iter().map(|session| {
            let known = expected.iter().find(|name| session.is_called(name));
            known.cloned().unwrap_or_else(|| session.shown().to_owned())
        });
        named.collect()
    }

    /// Adds a number that is not in its bounds. Bounds stay as they are: which one was meant is not known.
    fn add_number(&mut self, range: TextRange, message: String, bounds: Bounds, actual: u64) {
        match bounds.at_least == bounds.at_most {
            true => self.add_updatable(range, message, Actual::Number(actual)),
            false => self.add(range, message),
        }
    }

    fn session_names(&mut self, range: TextRange, expected: &[String]) {
        let mut left: Vec<&ObservedSession> = self.observed.sessions.iter().collect();
        let mut missing = false;
        for name in expected {
            match left.iter().position(|session| session.is_called(name)) {
                Some(index) => _ = left.remove(index),
                None => missing = true,
            }
        }
        if missing || !left.is_empty() {
            let mut actual = self.names_as_in(expected);
            let update = Actual::Texts(actual.clone());
            let mut expected = expected.to_vec();
            actual.sort();
            expected.sort();
            self.add_lists(range, "other sessions were asked", &expected, &actual, update);
        }
    }

    fn session_order(&mut self, range: TextRange, expected: &[String]) {
        let mut sessions = self.observed.sessions.iter();
        for name in expected {
            if !sessions.any(|session| session.is_called(name)) {
                let was_asked = self.observed.sessions.iter().any(|session| session.is_called(name));
                let message = match was_asked {
                    true => format!("session `{name}` was asked in another order"),
                    false => format!("session `{name}` was not asked"),
                };
                let names = self.names();
                let update = Actual::Texts(self.names_as_in(expected));
                return self.add_lists(range, message, expected, &names, update);
            }
        }
    }

    fn session(&mut self, range: TextRange, pattern: &SessionPattern) {
        let observed = self.observed;
        let fitting: Vec<&ObservedSession> =
            observed.sessions.iter().filter(|session| fits(pattern, session)).collect();
        if !pattern.count.contain(fitting.len() as u64) {
            let names = self.names();
            let verb = if fitting.len() == 1 { "was" } else { "were" };
            let sessions = counted(fitting.len(), "session");
            let message = format!("{sessions} like this {verb} asked, expected {}", pattern.count);
            let message = format!("{message}{}", listed(&names));
            match pattern.count_range {
                Some(range) => self.add_number(range, message, pattern.count, fitting.len() as u64),
                None => self.add(range, message),
            }
        }
        for session in fitting {
            let name = format!("session `{}` ({})", beginning(session.shown(), 40), session.line);
            if let Some(matcher) = &pattern.prompt {
                self.matcher(
                    &format!("the prompt of {name}"),
                    matcher,
                    &Value::Text(session.task.prompt.clone()),
                );
            }
            if let Some(matcher) = &pattern.system {
                let system = session.task.system_part().unwrap_or_default();
                self.matcher(&format!("the system part of {name}"), matcher, &Value::text(&*system));
            }
            for (item, matcher) in &pattern.context {
                match session.task.context.iter().find(|found| found.name == *item) {
                    Some(found) => {
                        let text = found.text.clone().or_else(|| found.path.clone()).unwrap_or_default();
                        self.matcher(
                            &format!("`{item}` in the context of {name}"),
                            matcher,
                            &Value::Text(text),
                        );
                    }
                    None => {
                        let range = matcher.all.first().map_or(range, |(range, _)| *range);
                        let names: Vec<String> =
                            session.task.context.iter().map(|item| item.name.to_string()).collect();
                        self.add(range, format!("the context of {name} has no `{item}`{}", listed(&names)));
                    }
                }
            }
            if let Some((model, range)) = &pattern.model
                && session.task.model.as_deref() != Some(model.as_str())
            {
                let actual = session.task.model.as_deref();
                let shown = actual.unwrap_or("the default of the harness");
                let message = format!("{name} has the model {shown}, expected {model}");
                match actual {
                    Some(actual) => self.add_updatable(*range, message, Actual::Text(actual.to_owned())),
                    None => self.add(*range, message),
                }
            }
        }
    }

    fn branches(&mut self, range: TextRange, names: &[String], are_taken: bool) {
        let observed = self.observed;
        let is_taken =
            |name: &String| match name.trim().strip_prefix("line ").map(|line| line.trim().parse::<u32>()) {
                Some(Ok(line)) => observed.view.statements(0).any(|it| it.site.line == line && it.times > 0),
                _ => observed.branches.iter().any(|branch| branch.is_called(name)),
            };
        let mut actual: Vec<String> =
            names.iter().filter(|name| is_taken(name) == are_taken).cloned().collect();
        let taken: Vec<String> = observed.branches.iter().map(|branch| branch.name.to_string()).collect();
        if are_taken {
            let others =
                observed.branches.iter().filter(|branch| !names.iter().any(|name| branch.is_called(name)));
            actual.extend(others.map(|branch| branch.name.to_string()));
        }
        for name in names.iter().filter(|name| is_taken(name) != are_taken) {
            let message = match are_taken {
                true => format!("branch `{name}` was not taken"),
                false => format!("branch `{name}` was taken"),
            };
            self.add_updatable(range, format!("{message}{}", listed(&taken)), Actual::Texts(actual.clone()));
        }
    }

    fn iterations(&mut self, range: TextRange, of: Option<&str>, bounds: Bounds) {
        let loops = &self.observed.loops;
        let wanted: Vec<_> = loops.iter().filter(|it| of.is_none_or(|name| it.is_called(name))).collect();
        let headers = || {
            let mut headers: Vec<String> =
                loops.iter().map(|it| format!("{}: {}", it.line, it.header)).collect();
            headers.dedup();
            headers
        };
        let Some(first) = wanted.first() else {
            let message = match of {
                Some(name) => format!("no loop `{name}` was executed"),
                None => "no loop was executed".to_owned(),
            };
            return self.add(range, format!("{message}{}", listed(&headers())));
        };
        if of.is_none() && wanted.iter().any(|it| it.line != first.line) {
            let message = "the run had several loops; name them, as in `iterations = { \"line 3\" = 2 }`";
            return self.add(range, format!("{message}{}", listed(&headers())));
        }
        let is_same = wanted.iter().all(|it| it.iterations == first.iterations);
        for executed in wanted {
            if !bounds.contain(executed.iterations.into()) {
                let count = counted(executed.iterations as usize, "iteration");
                let line = &executed.line;
                let message = format!("the loop at {line} had {count}, expected {bounds}");
                return match is_same {
                    true => self.add_number(range, message, bounds, executed.iterations.into()),
                    false => self.add(range, message),
                };
            }
        }
    }

    /// Compares texts with comparisons of which each has to hold for exactly one of them.
    fn all(&mut self, what: &str, range: TextRange, matchers: &[Matcher], actual: &[String]) {
        // Parts of texts that still hold stay as they are written.
        let is_part = |matcher: &Matcher| matches!(matcher.all.as_slice(), [(_, Matching::Contains(_))]);
        let update = matchers.iter().all(is_part).then(|| {
            let texts = actual.iter().map(|text| {
                let holding = matchers.iter().find_map(|matcher| match matcher.all.as_slice() {
                    [(_, Matching::Contains(part))] if text.contains(part.as_str()) => Some(part.clone()),
                    _ => None,
                });
                holding.unwrap_or_else(|| text.clone())
            });
            Update { range, to: Actual::Texts(texts.collect()) }
        });
        let mut add = |range: TextRange, message: String| {
            let update = update.clone();
            self.mismatches.push(Mismatch { range, message, expected: None, actual: None, update });
        };
        let mut left: Vec<&String> = actual.iter().collect();
        let mut missing = Vec::new();
        for matcher in matchers {
            let holds = |text: &&String| {
                let value = Value::text(text.as_str());
                matcher.all.iter().all(|(_, matching)| matching.compare(&value).is_ok())
            };
            match left.iter().position(holds) {
                Some(index) => _ = left.remove(index),
                None => missing.push(matcher),
            }
        }
        for matcher in missing {
            let range = matcher.all.first().map_or(range, |(range, _)| *range);
            add(range, format!("the run had no {what} like this{}", listed(actual)));
        }
        if !left.is_empty() {
            let left: Vec<String> = left.into_iter().cloned().collect();
            let message =
                format!("the run had {} that {} not expected", counted(left.len(), what), is_are(left.len()));
            add(range, format!("{message}{}", listed(&left)));
        }
    }

    fn file(&mut self, range: TextRange, path: &str, matcher: Option<&Matcher>) {
        let path = path.trim_start_matches("./");
        if !self.observed.files.contains(path) {
            let written: Vec<String> = self.observed.files.iter().cloned().collect();
            return self.add(range, format!("file `{path}` was not written{}", listed(&written)));
        }
        let Some(matcher) = matcher else { return };
        match (self.files)(path) {
            Some(text) => self.matcher(&format!("file `{path}`"), matcher, &Value::text(text)),
            None => self.add(range, format!("file `{path}` cannot be read")),
        }
    }
}

/// Whether an expectation is about a session.
fn fits(pattern: &SessionPattern, session: &ObservedSession) -> bool {
    let same = |wanted: &Option<String>, found: Option<&str>| {
        wanted.as_deref().is_none_or(|wanted| Some(wanted) == found)
    };
    same(&pattern.agent, session.task.agent.as_deref())
        && same(&pattern.name, session.name())
        && same(&pattern.label, Some(session.label()))
        && pattern.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&session.task.task))
}

/// A list in brackets at the end of a message; nothing if it is empty.
fn listed(names: &[String]) -> String {
    const MAX_SHOWN: usize = 10;
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> =
        names.iter().take(MAX_SHOWN).map(|name| format!("`{}`", beginning(name, 60))).collect();
    let more = names.len().saturating_sub(MAX_SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!(" (there: {}{more})", shown.join(", "))
}

fn were(count: usize, noun: &str) -> String {
    let verb = if count == 1 { "was" } else { "were" };
    format!("{} {verb}", counted(count, noun))
}

fn is_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// How a run ended, as a verb.
pub(crate) fn status_word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Completed => "completed",
        RunStatus::Failed => "failed",
        RunStatus::Interrupted => "was interrupted",
        RunStatus::Waiting => "waits",
    }
}

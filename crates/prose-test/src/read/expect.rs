//! Reads the expectations of a case.

use prose_syntax::TextRange;
use prose_vm::event::RunStatus;

use super::values::one_or_more;
use super::{Entries, Reader, TomlValue};
use crate::expectation::{Bounds, Expectation, Expected, SessionPattern};
use crate::table;

const STATUSES: &[(&str, RunStatus)] = &[
    ("completed", RunStatus::Completed),
    ("failed", RunStatus::Failed),
    ("interrupted", RunStatus::Interrupted),
    ("waiting", RunStatus::Waiting),
];

impl Reader<'_> {
    /// The expectations. `has_files` says whether a run of the case writes files.
    pub(super) fn expectations(
        &mut self,
        value: Option<&TomlValue<'_>>,
        has_files: bool,
    ) -> Vec<Expectation> {
        let Some(value) = value else { return Vec::new() };
        let entries = self.entries(&table::EXPECT, value, &[]);
        let mut found = Vec::new();
        self.ends(&entries, &mut found);
        self.sessions(&entries, &mut found);
        self.control(&entries, &mut found);
        if let Some(value) = entries.get("max-cost")
            && let Some(cost) = self.money("max-cost", value)
        {
            found.push(self.expectation(value, Expected::MaxCost(cost)));
        }
        if let Some(value) = entries.get("max-tokens")
            && let Some(tokens) = self.number("max-tokens", value)
        {
            found.push(self.expectation(value, Expected::MaxTokens(tokens)));
        }
        if let Some(value) = entries.get("files") {
            self.files(value, has_files, &mut found);
        }
        found
    }

    fn expectation(&self, value: &TomlValue<'_>, expected: Expected) -> Expectation {
        Expectation { range: self.range(value.span()), expected }
    }

    /// How the run ends, and what it gives.
    fn ends(&mut self, entries: &Entries<'_>, found: &mut Vec<Expectation>) {
        let words: Vec<&str> = STATUSES.iter().map(|(word, _)| *word).collect();
        let status = entries.get("status").and_then(|value| {
            let word = self.word("status", &words, value)?;
            let (_, status) = STATUSES.iter().find(|(known, _)| *known == word)?;
            Some((*status, self.range(value.span())))
        });
        if let Some((status, range)) = status {
            found.push(Expectation { range, expected: Expected::Status(status) });
        }
        if let Some(value) = entries.get("error") {
            match status {
                Some((RunStatus::Failed, _)) => {}
                Some(_) => self.report(
                    entries.key_span("error").unwrap_or_default(),
                    "only a failed run ends with an error; set `status = \"failed\"` or remove `error`",
                ),
                None => {
                    let range = self.range(value.span());
                    found.push(Expectation { range, expected: Expected::Status(RunStatus::Failed) });
                }
            }
            if let Some(mut matchers) = self.matcher_list_of_one(value) {
                found.extend(matchers.pop().map(|matcher| self.expectation(value, Expected::Error(matcher))));
            }
        }
        if let Some(value) = entries.get("outputs") {
            for (name, matcher) in self.matchers("outputs", value) {
                let range = matcher.all.first().map_or(self.range(value.span()), |(range, _)| *range);
                found.push(Expectation { range, expected: Expected::Output { name: name.into(), matcher } });
            }
        }
        if let Some(value) = entries.get("value")
            && let Some(matcher) = self.matcher("value", value)
        {
            found.push(self.expectation(value, Expected::Value(matcher)));
        }
        if let Some(value) = entries.get("errors")
            && let Some(matchers) = self.matcher_list("errors", value)
        {
            if matchers.is_empty() && entries.get("error").is_some() {
                self.report(value.span(), "a run without errors cannot end with `error`; remove one of them");
            }
            found.push(self.expectation(value, Expected::Errors(matchers)));
        }
        if let Some(value) = entries.get("warnings")
            && let Some(matchers) = self.matcher_list("warnings", value)
        {
            found.push(self.expectation(value, Expected::Warnings(matchers)));
        }
    }

    /// A comparison whose text is contained in what it is compared with.
    fn matcher_list_of_one(&mut self, value: &TomlValue<'_>) -> Option<Vec<crate::matcher::Matcher>> {
        match value.get_ref().as_str() {
            Some(part) => {
                let matching = crate::matcher::Matching::Contains(part.to_owned());
                Some(vec![crate::matcher::Matcher { all: vec![(self.range(value.span()), matching)] }])
            }
            None => Some(vec![self.matcher("error", value)?]),
        }
    }

    fn sessions(&mut self, entries: &Entries<'_>, found: &mut Vec<Expectation>) {
        if let Some(value) = entries.get("sessions") {
            let is_number = |name: &str| ["at-least", "at-most"].contains(&name);
            let table = value.get_ref().as_table();
            if table.is_some_and(|table| !table.keys().any(|key| is_number(key.get_ref()))) {
                self.session_table(value, found);
            } else if let Some(bounds) = self.bounds("sessions", value) {
                found.push(self.expectation(value, Expected::SessionCount(bounds)));
            }
        }
        let Some(value) = entries.get("session") else { return };
        let Some(patterns) = value.get_ref().as_array() else {
            let span = entries.key_span("session").unwrap_or_default();
            self.report(
                span,
                "an expected session must start with a header in double brackets: `[[case.expect.session]]`",
            );
            return;
        };
        for value in patterns {
            let pattern = self.session(value);
            found.push(self.expectation(value, Expected::Session(Box::new(pattern))));
        }
    }

    fn session_table(&mut self, value: &TomlValue<'_>, found: &mut Vec<Expectation>) {
        let entries = self.entries(&table::SESSIONS, value, &[]);
        let count = entries.get("count").and_then(|value| Some((self.bounds("count", value)?, value)));
        let texts = |reader: &mut Self, key: &str| {
            entries.get(key).and_then(|value| Some((reader.texts(key, value)?, value)))
        };
        let names = texts(self, "names");
        let order = texts(self, "order");
        let never = texts(self, "never");
        if let (Some((count, at)), Some((names, _))) = (&count, &names)
            && !count.contain(names.len() as u64)
        {
            self.report(at.span(), format!("`names` has {} sessions, which is not {count}", names.len()));
        }
        if let Some((never, at)) = &never {
            let asked = [&names, &order].into_iter().flatten().flat_map(|(asked, _)| asked);
            let both = asked.into_iter().find(|name| never.contains(*name));
            if let Some(name) = both {
                self.report(at.span(), format!("session `{name}` cannot be asked and never be asked"));
            }
        }
        if let Some((count, value)) = count {
            found.push(self.expectation(value, Expected::SessionCount(count)));
        }
        if let Some((names, value)) = names {
            found.push(self.expectation(value, Expected::SessionNames(names)));
        }
        if let Some((order, value)) = order {
            found.push(self.expectation(value, Expected::SessionOrder(order)));
        }
        if let Some((never, value)) = never {
            found.push(self.expectation(value, Expected::NoSessions(never)));
        }
    }

    fn session(&mut self, value: &TomlValue<'_>) -> SessionPattern {
        let entries = self.entries(&table::SESSION, value, &[]);
        let text = |reader: &mut Self, key: &str| entries.get(key).and_then(|value| reader.text(key, value));
        let matcher =
            |reader: &mut Self, key: &str| entries.get(key).and_then(|value| reader.matcher(key, value));
        let at_least_one = Bounds { at_least: Some(1), at_most: None };
        let pattern = SessionPattern {
            agent: text(self, "agent"),
            name: text(self, "name"),
            label: text(self, "label").map(|label| label.trim().to_owned()),
            pattern: entries.get("pattern").and_then(|value| self.pattern("pattern", value)),
            count: entries.get("count").and_then(|value| self.bounds("count", value)).unwrap_or(at_least_one),
            count_range: entries.get("count").map(|value| self.range(value.span())),
            prompt: matcher(self, "prompt"),
            system: matcher(self, "system"),
            context: entries.get("context").map(|value| self.matchers("context", value)).unwrap_or_default(),
            model: entries
                .get("model")
                .and_then(|value| Some((self.text("model", value)?, self.range(value.span())))),
        };
        let compared = ["prompt", "system", "context", "model"];
        if pattern.count == Bounds::exactly(0)
            && let Some(span) = compared.into_iter().find_map(|key| entries.key_span(key))
        {
            self.report(span, "a session that is not asked has no prompt; remove this or `count = 0`");
        }
        pattern
    }

    /// Branches and loops.
    fn control(&mut self, entries: &Entries<'_>, found: &mut Vec<Expectation>) {
        if let Some(value) = entries.get("branches") {
            let mut branches = |reader: &mut Self, value: &TomlValue<'_>, key: &str, are_taken| {
                let names = reader.texts(key, value)?;
                found.push(reader.expectation(value, Expected::Branches { names: names.clone(), are_taken }));
                Some(names)
            };
            if value.get_ref().is_table() {
                let entries = self.entries(&table::BRANCHES, value, &[]);
                let taken = entries.get("taken").and_then(|value| branches(self, value, "taken", true));
                let not_taken = entries
                    .get("not-taken")
                    .and_then(|value| Some((branches(self, value, "not-taken", false)?, value)));
                if let (Some(taken), Some((not_taken, at))) = (taken, not_taken)
                    && let Some(both) = taken.iter().find(|name| not_taken.contains(name))
                {
                    self.report(at.span(), format!("branch `{both}` cannot be taken and not be taken"));
                }
            } else {
                branches(self, value, "branches", true);
            }
        }
        let Some(value) = entries.get("iterations") else { return };
        match value.get_ref().as_table() {
            // The bounds of the only loop.
            Some(table) if !table.keys().any(|key| table::BOUNDS.key(key.get_ref()).is_some()) => {
                for (of, value) in table {
                    if let Some(bounds) = self.bounds(of.get_ref(), value) {
                        let of = Some(of.get_ref().to_string());
                        found.push(self.expectation(value, Expected::Iterations { of, bounds }));
                    }
                }
            }
            _ => {
                if let Some(bounds) = self.bounds("iterations", value) {
                    found.push(self.expectation(value, Expected::Iterations { of: None, bounds }));
                }
            }
        }
    }

    fn files(&mut self, value: &TomlValue<'_>, has_files: bool, found: &mut Vec<Expectation>) {
        let Some(table) = value.get_ref().as_table() else {
            for value in one_or_more(value) {
                if let Some(path) = self.text("files", value) {
                    self.check_path(&path, self.range(value.span()));
                    found.push(self.expectation(value, Expected::File { path, matcher: None }));
                }
            }
            return;
        };
        for (key, value) in table {
            let path = key.get_ref().to_string();
            self.check_path(&path, self.range(key.span()));
            let matcher = self.matcher(&path, value);
            if !has_files {
                self.report(
                    value.span(),
                    "scripted and recorded answers write no files; list the paths, as in `files = [\"a.md\"]`",
                );
            }
            found.push(self.expectation(value, Expected::File { path, matcher }));
        }
    }

    fn check_path(&mut self, path: &str, range: TextRange) {
        let is_outside = path.is_empty()
            || path.starts_with(['/', '~'])
            || path.split(['/', '\\']).any(|part| part == "..");
        if is_outside {
            self.report_at(
                range,
                format!("`{path}` is not a path in the project, such as \"docs/report.md\""),
            );
        }
    }
}

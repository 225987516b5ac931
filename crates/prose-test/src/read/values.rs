//! Reads values of keys.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use prose_files::Limit;
use prose_harness::script::{InvalidValue, toml_value};
use prose_syntax::suggest;
use prose_syntax::text::{quoted, shorten};
use prose_vm::value::{Plain, Value};
use regex::Regex;
use toml::de::DeValue;

use super::{Reader, TomlValue, path_in};
use crate::expectation::Bounds;
use crate::matcher::{Matcher, Matching};
use crate::table;

/// Makes a comparison with a text.
type OfText = fn(String) -> Matching;

impl Reader<'_> {
    pub(super) fn text(&mut self, key: &str, value: &TomlValue<'_>) -> Option<String> {
        match value.get_ref().as_str() {
            Some(text) => Some(text.to_owned()),
            None => self.wrong(key, "a text in quotes", value),
        }
    }

    /// A list with at least one value.
    pub(super) fn list<'v>(&mut self, key: &str, value: &'v TomlValue<'v>) -> Option<&'v [TomlValue<'v>]> {
        match value.get_ref().as_array() {
            Some(list) if list.is_empty() => {
                self.report(value.span(), format!("the list `{key}` must not be empty"));
                None
            }
            Some(list) => Some(list),
            None => self.wrong(key, "a list", value),
        }
    }

    pub(super) fn texts(&mut self, key: &str, value: &TomlValue<'_>) -> Option<Vec<String>> {
        let Some(list) = value.get_ref().as_array() else {
            return self.wrong(key, "a list of texts in quotes", value);
        };
        Some(list.iter().filter_map(|value| self.text(key, value)).collect())
    }

    /// A whole number from 1.
    pub(super) fn count(&mut self, key: &str, value: &TomlValue<'_>, most: u64) -> Option<u64> {
        let number = whole(value).filter(|number| (1..=most).contains(number));
        number.or_else(|| self.wrong(key, &format!("a whole number from 1 to {most}"), value))
    }

    /// A whole number from 0.
    pub(super) fn number(&mut self, key: &str, value: &TomlValue<'_>) -> Option<u64> {
        whole(value).or_else(|| self.wrong(key, "a whole number from 0", value))
    }

    pub(super) fn money(&mut self, key: &str, value: &TomlValue<'_>) -> Option<f64> {
        let amount = match value.get_ref() {
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::Integer(number) => number.as_str().parse().ok(),
            _ => None,
        };
        let amount = amount.filter(|amount: &f64| amount.is_finite() && *amount > 0.0);
        amount.or_else(|| self.wrong(key, "an amount in US dollars such as 0.5", value))
    }

    pub(super) fn duration(&mut self, key: &str, value: &TomlValue<'_>) -> Option<Duration> {
        let duration = value.get_ref().as_str().and_then(|text| humantime::parse_duration(text).ok());
        let duration = duration.filter(|duration| !duration.is_zero());
        duration.or_else(|| self.wrong(key, "a duration such as \"500ms\", \"30s\" or \"5m\"", value))
    }

    pub(super) fn any(&mut self, key: &str, value: &TomlValue<'_>) -> Option<Value> {
        match toml_value(value) {
            Ok(value) => Some(value),
            Err(InvalidValue { span, expected }) => {
                let message = format!("`{key}` must be {expected}, not {}", self.shown(span.clone()));
                self.report(span, message);
                None
            }
        }
    }

    pub(super) fn pattern(&mut self, key: &str, value: &TomlValue<'_>) -> Option<Regex> {
        let pattern = self.text(key, value)?;
        match Regex::new(&pattern) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let error = error.to_string();
                // The last line says what is wrong, those before it show where.
                let reason =
                    error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                self.report(value.span(), format!("`{key}` is not a valid regular expression: {reason}"));
                None
            }
        }
    }

    /// A number, or a table with `at-least` and `at-most`.
    pub(super) fn bounds(&mut self, key: &str, value: &TomlValue<'_>) -> Option<Bounds> {
        if !value.get_ref().is_table() {
            let what = "a whole number from 0, or a table such as `{ at-least = 1, at-most = 3 }`";
            return whole(value).map(Bounds::exactly).or_else(|| self.wrong(key, what, value));
        }
        let entries = self.entries(&table::BOUNDS, value, &[]);
        let bounds = Bounds {
            at_least: entries.get("at-least").and_then(|value| self.number("at-least", value)),
            at_most: entries.get("at-most").and_then(|value| self.number("at-most", value)),
        };
        if let (Some(least), Some(most)) = (bounds.at_least, bounds.at_most)
            && least > most
        {
            self.report(value.span(), format!("no number is at least {least} and at most {most}"));
        }
        if entries.entries.is_some_and(|entries| entries.is_empty()) {
            self.report(value.span(), format!("`{key}` holds for every number; add `at-least` or `at-most`"));
        }
        Some(bounds)
    }

    /// What a value is compared with: the value itself, or a table of comparisons.
    pub(super) fn matcher(&mut self, key: &str, value: &TomlValue<'_>) -> Option<Matcher> {
        if !value.get_ref().is_table() {
            let expected = self.any(key, value)?;
            return Some(Matcher { all: vec![(self.range(value.span()), Matching::Equals(expected))] });
        }
        let entries = self.entries(&table::MATCHER, value, &[]);
        let mut matcher = Matcher::default();
        if let Some(value) = entries.get("equals")
            && let Some(expected) = self.any("equals", value)
        {
            matcher.all.push((self.range(value.span()), Matching::Equals(expected)));
        }
        let of_texts: [(&str, OfText); 3] =
            [("contains", Matching::Contains), ("excludes", Matching::Excludes), ("judge", Matching::Judge)];
        for (key, make) in of_texts {
            for value in entries.get(key).into_iter().flat_map(one_or_more) {
                let Some(text) = self.text(key, value) else { continue };
                if text.is_empty() {
                    self.report(value.span(), format!("`{key}` must not be empty"));
                }
                matcher.all.push((self.range(value.span()), make(text)));
            }
        }
        for value in entries.get("matches").into_iter().flat_map(one_or_more) {
            if let Some(pattern) = self.pattern("matches", value) {
                matcher.all.push((self.range(value.span()), Matching::Matches(pattern)));
            }
        }
        if let Some(value) = entries.get("schema")
            && let Some(schema) = self.json_schema(value)
        {
            matcher.all.push((self.range(value.span()), Matching::Schema(schema)));
        }
        if entries.entries.is_some_and(|entries| entries.is_empty()) {
            let keys: Vec<&str> = table::MATCHER.keys.iter().map(|key| key.name).collect();
            self.report(
                value.span(),
                format!("`{key}` is compared with nothing; add `{}`", keys.join("`, `")),
            );
        }
        Some(matcher)
    }

    pub(super) fn matchers(&mut self, key: &str, value: &TomlValue<'_>) -> Vec<(String, Matcher)> {
        let Some(table) = value.get_ref().as_table() else {
            self.wrong::<()>(key, "a table of names and values", value);
            return Vec::new();
        };
        let matchers = table.iter().filter_map(|(name, value)| {
            Some((name.get_ref().to_string(), self.matcher(name.get_ref(), value)?))
        });
        matchers.collect()
    }

    /// A list of texts or of tables of comparisons. A text is contained in what it is compared with.
    pub(super) fn matcher_list(&mut self, key: &str, value: &TomlValue<'_>) -> Option<Vec<Matcher>> {
        let Some(list) = value.get_ref().as_array() else { return self.wrong(key, "a list", value) };
        let matchers = list.iter().filter_map(|value| match value.get_ref().as_str() {
            Some(part) => {
                let matching = Matching::Contains(part.to_owned());
                Some(Matcher { all: vec![(self.range(value.span()), matching)] })
            }
            None => self.matcher(key, value),
        });
        Some(matchers.collect())
    }

    fn json_schema(&mut self, value: &TomlValue<'_>) -> Option<Arc<jsonschema::Validator>> {
        let schema = match value.get_ref().as_str() {
            Some(path) => {
                let path = path_in(self.folder, path);
                let text = match prose_files::read_text(&path, Limit::INPUTS) {
                    Ok(text) => text,
                    Err(error) => {
                        self.report(value.span(), format!("the schema `{}` {error}", path.display()));
                        return None;
                    }
                };
                match serde_json::from_str(&text) {
                    Ok(schema) => schema,
                    Err(error) => {
                        let message = format!("the schema `{}` is not valid JSON: {error}", path.display());
                        self.report(value.span(), message);
                        return None;
                    }
                }
            }
            None if value.get_ref().is_table() => {
                serde_json::to_value(Plain(&self.any("schema", value)?)).unwrap_or_default()
            }
            None => {
                return self.wrong(
                    "schema",
                    "a JSON schema as a table, or the path of a file with one",
                    value,
                );
            }
        };
        match jsonschema::validator_for(&schema) {
            Ok(validator) => Some(Arc::new(validator)),
            Err(error) => {
                self.report(value.span(), format!("this is not a valid JSON schema: {error}"));
                None
            }
        }
    }

    /// Reports a value that is not what it should be, and a word that was probably meant.
    pub(super) fn word<'w>(
        &mut self,
        key: &str,
        words: &[&'w str],
        value: &TomlValue<'_>,
    ) -> Option<&'w str> {
        let text = self.text(key, value)?;
        if let Some(word) = words.iter().find(|word| **word == text) {
            return Some(word);
        }
        let hint = match suggest::nearest(&text, words.iter(), |word| word) {
            Some(meant) => format!("; did you mean \"{meant}\"?"),
            None => String::new(),
        };
        let words = words.join("\", \"");
        self.report(value.span(), format!("`{key}` must be one of \"{words}\"{hint}"));
        None
    }

    pub(super) fn wrong<T>(&mut self, key: &str, what: &str, value: &TomlValue<'_>) -> Option<T> {
        let message = format!("`{key}` must be {what}, not {}", self.shown(value.span()));
        self.report(value.span(), message);
        None
    }

    /// A part of the file, for messages.
    pub(super) fn shown(&self, span: Range<usize>) -> String {
        const MAX_SHOWN: usize = 40;
        let text = &self.text[self.range(span)];
        quoted(shorten(text.lines().next().unwrap_or_default(), MAX_SHOWN))
    }
}

pub(super) fn one_or_more<'v>(value: &'v TomlValue<'v>) -> &'v [TomlValue<'v>] {
    match value.get_ref().as_array() {
        Some(list) => list,
        None => std::slice::from_ref(value),
    }
}

fn whole(value: &TomlValue<'_>) -> Option<u64> {
    let number = value.get_ref().as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

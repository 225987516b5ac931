//! What every setting can do, and the macro that makes a table of settings of a struct.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Range;

use prose_syntax::text::{self, enumerated, quoted};
use prose_syntax::{Code, Diagnostic, Fix, FixSafety, TextEdit, TextRange};
use prose_toml::{Document, MAX_PROBLEMS};
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeString, DeValue};

use crate::registry_url::RegistryUrl;

/// The type of a setting.
pub(crate) trait Setting: Sized {
    /// What a value looks like, as it comes after "should be".
    fn expected() -> String;

    /// What a list of values looks like.
    fn expected_list() -> String {
        format!("a list in which each value is {}", Self::expected())
    }

    /// The JSON schema of its values.
    fn schema() -> Value;

    /// The value as JSON, to show a default.
    fn to_json(&self) -> Value;

    /// What `value` says. What is wrong about it is reported; `None` if nothing is left then.
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self>;
}

/// Declares a table of settings: for each its documentation, field, type, key and, where it is not that of its type, default.
macro_rules! settings {
    (
        $(#[doc = $table_doc:literal])*
        pub struct $table:ident {
            $($(#[doc = $doc:literal])* $field:ident: $type:ty = $key:literal $(or $default:expr)?,)*
        }
    ) => {
        $(#[doc = $table_doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $table {
            $($(#[doc = $doc])* pub $field: $type,)*
        }

        impl Default for $table {
            fn default() -> Self {
                Self { $($field: settings!(@default $type $(, $default)?),)* }
            }
        }

        impl $crate::setting::Setting for $table {
            fn expected() -> String {
                "a table".to_owned()
            }

            fn schema() -> serde_json::Value {
                let mut properties = serde_json::Map::new();
                let defaults = Self::default();
                $(
                    let mut schema = <$type as $crate::setting::Setting>::schema();
                    schema["description"] = [$($doc),*].concat().trim().into();
                    let default = $crate::setting::Setting::to_json(&defaults.$field);
                    if !default.is_object() && !default.is_null() {
                        schema["default"] = default;
                    }
                    properties.insert($key.to_owned(), schema);
                )*
                let description = [$($table_doc),*].concat();
                serde_json::json!({
                    "type": "object",
                    "description": (description.trim()),
                    "properties": properties,
                    "additionalProperties": false,
                })
            }

            fn to_json(&self) -> serde_json::Value {
                serde_json::json!({ $($key: ($crate::setting::Setting::to_json(&self.$field))),* })
            }

            fn read(
                value: &toml::Spanned<toml::de::DeValue<'_>>,
                reader: &mut $crate::setting::Reader<'_>,
            ) -> Option<Self> {
                let mut table = Self::default();
                reader.entries::<Self>(value, |reader, key, value| match key.get_ref().as_ref() {
                    $($key => {
                        if let Some(value) = $crate::setting::Setting::read(value, reader) {
                            table.$field = value;
                        }
                    })*
                    _ => reader.unknown_key::<Self>(key, value),
                })?;
                Some(table)
            }
        }
    };
    (@default $type:ty) => { <$type>::default() };
    (@default $type:ty, $default:expr) => { $default };
}

pub(crate) use settings;

/// A problem of a settings file.
pub(crate) struct Problem {
    pub(crate) diagnostic: Diagnostic,
    /// Whether programs of the project are not run as long as it is there: it is in how they are to be run, or in the TOML, which may hide anything.
    /// With a setting that is not understood, made-up answers could be taken for those of an agent.
    pub(crate) prevents_runs: bool,
}

/// A skill that the settings name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedInSettings {
    /// The agent that has it.
    pub agent: String,
    /// Its name or path.
    pub name: String,
    /// The string in the text of the settings.
    pub range: TextRange,
}

const LIMITS: &str = "limits";
const PRICES: &str = "prices";

/// The tables that say how programs are run, what they may use and what that costs. A limit or a permission that is not understood would not be held, and
/// costs by a price that is not understood are wrong, so a key that is none is no less an error in them than a value.
const RUN_TABLES: [&str; 5] = ["run", "agents", "mcp", LIMITS, PRICES];

/// Where reading stands, and what was found to be wrong.
pub(crate) struct Reader<'a> {
    text: &'a str,
    /// The JSON schema of all settings.
    schema: fn() -> Value,
    document: &'a Document<'a>,
    /// The keys that lead to the value.
    path: Vec<String>,
    /// The keys of the table that is being read.
    siblings: Vec<String>,
    pub(crate) problems: Vec<Problem>,
    /// Whether an address stands where none is understood.
    pub(crate) has_stray_address: bool,
    /// The MCP servers that agents name.
    pub(crate) named_servers: Vec<(Range<usize>, String)>,
    /// The skills that agents name.
    pub(crate) named_skills: Vec<NamedInSettings>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str, document: &'a Document<'a>, schema: fn() -> Value) -> Self {
        Self {
            text,
            schema,
            document,
            path: Vec::new(),
            siblings: Vec::new(),
            problems: Vec::new(),
            has_stray_address: false,
            named_servers: Vec::new(),
            named_skills: Vec::new(),
        }
    }

    /// Reads the entries of a table.
    pub(crate) fn entries<T: Setting>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        mut entry: impl FnMut(&mut Self, &Spanned<DeString<'_>>, &Spanned<DeValue<'_>>),
    ) -> Option<()> {
        let DeValue::Table(table) = value.get_ref() else {
            self.has_stray_address |= RegistryUrl::is_in(value.get_ref());
            return self.wrong::<T, _>(value);
        };
        let keys = table.keys().map(|key| key.get_ref().to_string()).collect();
        let outer = std::mem::replace(&mut self.siblings, keys);
        for (key, value) in table {
            self.path.push(key.get_ref().to_string());
            entry(self, key, value);
            self.path.pop();
        }
        self.siblings = outer;
        Some(())
    }

    /// The text between two places of the document.
    pub(crate) fn text(&self, span: Range<usize>) -> &'a str {
        &self.text[self.range(span)]
    }

    pub(crate) fn range(&self, span: Range<usize>) -> TextRange {
        self.document.range(span)
    }

    /// The keys that lead to the value, as they are written in one line.
    pub(crate) fn name(&self) -> String {
        let is_bare = |key: &str| {
            !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        let keys = self.path.iter().map(|key| if is_bare(key) { key.clone() } else { format!("{key:?}") });
        shorten(&keys.collect::<Vec<_>>().join(".")).into_owned()
    }

    /// Reports a value that is not what it should be. Returns `None`, which is what is left of it.
    pub(crate) fn wrong<T: Setting, R>(&mut self, value: &Spanned<DeValue<'_>>) -> Option<R> {
        self.wrong_with_fix::<T, R>(value, None, None)
    }

    /// Reports a value that is not what it should be without repeating it: it may be a key that was written in its place.
    pub(crate) fn wrong_secret<T: Setting, R>(&mut self, value: &Spanned<DeValue<'_>>) -> Option<R> {
        let message = format!("`{}` must be {}", self.name(), T::expected());
        self.report(Code::E142, value.span(), message, None);
        None
    }

    /// Reports a value that must not be a string. The fix removes the quotes around one that `is_meant`.
    fn wrong_string<T: Setting>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        is_meant: impl Fn(&str) -> bool,
    ) -> Option<T> {
        let unquoted = value.get_ref().as_str().filter(|text| is_meant(text));
        let fix = unquoted.map(|text| self.replace(value.span(), text, "Remove the quotes", FixSafety::Safe));
        self.wrong_with_fix::<T, _>(value, None, fix)
    }

    /// Reports a value that is not what it should be, where one can tell what was probably meant.
    pub(crate) fn wrong_with_fix<T: Setting, R>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        meant: Option<&str>,
        fix: Option<Fix>,
    ) -> Option<R> {
        let mut message =
            format!("`{}` must be {}, not {}", self.name(), T::expected(), self.describe(value));
        if let Some(meant) = meant {
            message += &format!("; did you mean \"{meant}\"?");
        }
        self.report(Code::E142, value.span(), message, fix);
        None
    }

    /// Reads a text; one that cannot be parsed is reported.
    pub(crate) fn parsed<T: Setting>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        value.get_ref().as_str().and_then(parse).or_else(|| self.wrong::<T, _>(value))
    }

    /// Reads one of a few words.
    pub(crate) fn word<T: Setting + Copy>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        known: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let Some(found) = value.get_ref().as_str() else {
            return self.wrong::<T, T>(value);
        };
        if let Some(value) = known.iter().find(|value| word(**value) == found) {
            return Some(*value);
        }
        let meant = meant_word(found, known.iter().map(|value| word(*value)));
        let fix = meant.map(|meant| self.exchange(value.span(), meant, true, found));
        self.wrong_with_fix::<T, T>(value, meant, fix)
    }

    /// A fix that puts what was probably meant in the place of what was found.
    pub(crate) fn exchange(&self, span: Range<usize>, meant: &str, quoted: bool, found: &str) -> Fix {
        let safety = if folded(found) == folded(meant) { FixSafety::Safe } else { FixSafety::Unsafe };
        let (title, text) = if quoted {
            (format!("Change to \"{meant}\""), format!("\"{meant}\""))
        } else {
            (format!("Change to `{meant}`"), meant.to_owned())
        };
        self.replace(span, text, title, safety)
    }

    /// A fix that renames a key, unless the table has the other one too.
    pub(crate) fn rename(&self, key: &Spanned<DeString<'_>>, meant: &str) -> Option<Fix> {
        let is_free = !self.siblings.iter().any(|key| key == meant);
        is_free.then(|| self.exchange(key.span(), meant, false, key.get_ref()))
    }

    pub(crate) fn report(
        &mut self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
        fix: impl Into<Option<Fix>>,
    ) {
        if self.problems.len() < MAX_PROBLEMS {
            let diagnostic = Diagnostic::new(code, self.range(span), message).with_fix(fix);
            let is_about_runs = self.path.first().is_some_and(|table| RUN_TABLES.contains(&table.as_str()));
            self.problems.push(Problem { diagnostic, prevents_runs: code == Code::E142 && is_about_runs });
        }
    }

    /// Reports an error in how programs are run.
    pub(crate) fn report_about_runs(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        fix: impl Into<Option<Fix>>,
    ) {
        let before = self.problems.len();
        self.report(Code::E142, span, message, fix);
        self.problems.iter_mut().skip(before).for_each(|problem| problem.prevents_runs = true);
    }

    pub(crate) fn replace(
        &self,
        span: Range<usize>,
        text: impl Into<String>,
        title: impl Into<String>,
        safety: FixSafety,
    ) -> Fix {
        Fix::new(title, safety, TextEdit::replace(self.range(span), text))
    }

    pub(crate) fn unknown_key<T: Setting>(
        &mut self,
        key: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
    ) {
        self.has_stray_address |= RegistryUrl::is_in(value.get_ref());
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        let name = key.get_ref();
        let schema = T::schema();
        let known = keys(&schema);
        let parent = &self.path[..self.path.len() - 1];
        let table =
            if parent.is_empty() { "prose.toml".to_owned() } else { format!("[{}]", parent.join(".")) };
        let all = (self.schema)();
        let is_limit = keys(&all["properties"][LIMITS]["properties"]["run"]).contains(&&*folded(name));
        let meant = meant_word(name, known.iter().copied());
        // At the top, only a table of money that is written wrongly is known to be about runs.
        let is_about_runs = match parent {
            [] => meant == Some(LIMITS) || meant == Some(PRICES),
            [table, ..] => RUN_TABLES.contains(&table.as_str()),
        };
        let (hint, fix) = if let Some(meant) = meant {
            (format!("did you mean `{meant}`?"), self.rename(key, meant))
        } else if is_limit {
            (format!("move it to `[{LIMITS}.run]`"), None)
        } else if let Some(home) = home_of(name, &all) {
            (format!("move it to `[{home}]`"), None)
        } else {
            (format!("the keys of `{table}` are {}", enumerated(known.into_iter().map(quoted), "and")), None)
        };
        let message = format!("`{}` is not a setting; {hint}", self.name());
        match is_limit || is_about_runs {
            true => self.report_about_runs(key.span(), message, fix),
            false => self.report(Code::W141, key.span(), message, fix),
        }
    }

    /// What a value is, as it comes after "not".
    fn describe(&self, value: &Spanned<DeValue<'_>>) -> String {
        match value.get_ref() {
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::String(text) if text.is_empty() => "an empty string".to_owned(),
            DeValue::String(text) => format!("the string {:?}", shorten(text)),
            _ => format!("`{}`", shorten(self.text(value.span()))),
        }
    }
}

/// The words, of which one is probably meant by `word`: the one that is written nearly so, or one that is longer or shorter.
pub(crate) fn meant_word<'w>(word: &str, words: impl Iterator<Item = &'w str> + Clone) -> Option<&'w str> {
    // `max_parallel` is how other tools would call it.
    let word = folded(word);
    let begins = |known: &&str| word.len() >= 3 && (known.starts_with(&word) || word.starts_with(*known));
    prose_syntax::suggest::nearest(&word, words.clone(), |word| word).or_else(|| words.clone().find(begins))
}

/// A word as all keys and words of settings are written.
fn folded(word: &str) -> String {
    word.to_ascii_lowercase().replace('_', "-")
}

/// The table that has a setting of that name.
fn home_of(name: &str, schema: &Value) -> Option<String> {
    let tables = schema["properties"].as_object()?;
    let name = folded(name);
    let home = tables.iter().find(|(_, table)| keys(table).contains(&&*name))?;
    Some(home.0.clone())
}

/// The keys that a table may have.
fn keys(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect()
}

/// A text from the file for a message, without its end if it is long.
pub(crate) fn shorten(text: &str) -> Cow<'_, str> {
    const MAX_SHOWN: usize = 40;
    text::shorten(text, MAX_SHOWN)
}

impl<T: Setting> Setting for Vec<T> {
    fn expected() -> String {
        T::expected_list()
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }

    fn to_json(&self) -> Value {
        self.iter().map(Setting::to_json).collect()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let DeValue::Array(array) = value.get_ref() else {
            let fix = value.get_ref().as_str().map(|_| {
                let text = format!("[{}]", reader.text(value.span()));
                reader.replace(value.span(), text, "Put into brackets", FixSafety::Safe)
            });
            return reader.wrong_with_fix::<Self, _>(value, None, fix);
        };
        Some(array.iter().filter_map(|value| T::read(value, reader)).collect())
    }
}

impl Setting for NonZeroU32 {
    fn expected() -> String {
        format!("a whole number from 1 to {}", u32::MAX)
    }

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
    }

    fn to_json(&self) -> Value {
        self.get().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let number = match value.get_ref() {
            DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let is_meant = |text: &str| text.parse::<NonZeroU32>().is_ok();
        number.and_then(NonZeroU32::new).or_else(|| reader.wrong_string(value, is_meant))
    }
}

impl Setting for bool {
    fn expected() -> String {
        "`true` or `false`".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "boolean" })
    }

    fn to_json(&self) -> Value {
        (*self).into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        match value.get_ref() {
            DeValue::Boolean(value) => Some(*value),
            _ => reader.wrong_string(value, |text| matches!(text, "true" | "false")),
        }
    }
}

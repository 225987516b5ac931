//! Reads test files. Every mistake is a diagnostic with its place.

mod expect;
mod values;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use prose_harness::registry::{HARNESSES, asks_model};
use prose_harness::script::{self, Script};
use prose_syntax::text::counted;
use prose_syntax::{Code, Diagnostic, Fix, TextRange, TextSize, suggest};
use prose_toml::{Document, MAX_PROBLEMS};
use prose_vm::value::Value;
use smol_str::SmolStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::discover::program_of;
use crate::file::{Answers, Case, HarnessAnswers, Input, Matrix, RecordedAnswers, TestFile};
use crate::table::{self, Table};

type TomlValue<'a> = Spanned<DeValue<'a>>;

/// What comes before the names of tables in the headers of answers.
const PREFIX: &str = "case.";

/// The most runs of one case.
const MAX_REPEAT: u64 = 10_000;

impl TestFile {
    /// Reads a test file. `path` is the path of the text, next to which its program is.
    pub fn read(path: &Path, text: &str) -> Self {
        read(path, text)
    }
}

fn read(path: &Path, text: &str) -> TestFile {
    let document = Document::parse(text);
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut reader = Reader { text, document: &document, path, folder, problems: Vec::new() };
    for problem in &document.problems {
        let diagnostic = Diagnostic::new(Code::E151, problem.range, problem.message.clone());
        reader.problems.push(diagnostic.with_fix(problem.fix.clone()));
    }
    let mut file = TestFile {
        path: path.to_owned(),
        text: text.into(),
        program: program_of(path),
        program_range: None,
        cases: Vec::new(),
        problems: Vec::new(),
    };
    reader.file(&document.root(), &mut file);
    let mut problems = reader.problems;
    problems.sort_by_key(|problem| (problem.range.start(), problem.range.end()));
    problems.truncate(MAX_PROBLEMS);
    file.problems = problems;
    file
}

/// Reads the tables of a document.
struct Reader<'a> {
    text: &'a str,
    document: &'a Document<'a>,
    path: &'a Path,
    folder: &'a Path,
    problems: Vec<Diagnostic>,
}

/// The keys of a table with their values.
struct Entries<'v> {
    table: &'static Table,
    entries: Option<&'v DeTable<'v>>,
}

impl<'v> Entries<'v> {
    /// The value of a key, which the table of keys has.
    fn get(&self, key: &str) -> Option<&'v TomlValue<'v>> {
        debug_assert!(self.table.key(key).is_some(), "{} has no key {key}", self.table.name);
        self.entries?.get(key)
    }

    /// Where a key stands.
    fn key_span(&self, key: &str) -> Option<Range<usize>> {
        let found = self.entries?.keys().find(|found| found.get_ref() == key)?;
        Some(found.span())
    }
}

impl Reader<'_> {
    fn file(&mut self, root: &TomlValue<'_>, file: &mut TestFile) {
        let entries = self.entries(&table::FILE, root, &[]);
        if let Some(value) = entries.get("program")
            && let Some(program) = self.text("program", value)
        {
            file.program = self.folder.join(program);
            file.program_range = Some(self.range(value.span()));
        }
        let Some(value) = entries.get("case") else {
            if !self.is_broken() && self.problems.is_empty() {
                let message =
                    "the file has no `[[case]]`; add one with a `name`, answers and `[case.expect]`";
                self.problems.push(Diagnostic::new(Code::E151, TextRange::default(), message));
            }
            return;
        };
        let Some(cases) = value.get_ref().as_array() else {
            let span = entries.key_span("case").unwrap_or_default();
            self.report(span, "a case must start with a header in double brackets: `[[case]]`");
            return;
        };
        if cases.is_empty() {
            self.report(value.span(), "the file has no case; add one with the header `[[case]]`");
        }
        let starts: Vec<TextRange> = cases.iter().map(|case| self.range(case.span())).collect();
        let mut names: BTreeMap<String, TextRange> = BTreeMap::new();
        for (index, value) in cases.iter().enumerate() {
            let next = starts.get(index + 1).map_or(TextSize::of(self.text), |next| next.start());
            let range = TextRange::new(starts[index].start(), next.max(starts[index].end()));
            let case = self.case(value, range);
            if !case.name.is_empty() {
                match names.get(&case.name) {
                    Some(first) => {
                        let message =
                            format!("case `{}` is already defined; names are unique in a file", case.name);
                        let diagnostic = Diagnostic::new(Code::E151, case.name_range, message);
                        self.problems.push(diagnostic.with_related(*first, "defined here first"));
                    }
                    None => _ = names.insert(case.name.clone(), case.name_range),
                }
            }
            file.cases.push(case);
        }
    }

    fn case(&mut self, value: &TomlValue<'_>, range: TextRange) -> Case {
        let answer_keys: Vec<&str> = script::keys().collect();
        let case = self.entries(&table::CASE, value, &answer_keys);
        let header = self.range(value.span());
        let name =
            case.get("name").and_then(|name| Some((self.text("name", name)?, self.range(name.span()))));
        if case.get("name").is_none() && case.entries.is_some() && !self.is_broken() {
            self.problems.push(Diagnostic::new(
                Code::E151,
                header,
                "this case has no name; add `name = \"…\"`",
            ));
        }
        let (name, name_range) = name.unwrap_or_else(|| (String::new(), header));
        if name.trim().is_empty() && case.get("name").is_some() {
            self.report_at(name_range, "the name of a case must not be empty");
        }
        let inputs = case.get("inputs").map(|inputs| self.inputs(inputs)).unwrap_or_default();
        let matrix = case.get("matrix").map(|matrix| self.matrix(matrix, &inputs)).unwrap_or_default();
        let answers = self.answers(&case, value, &matrix, header);
        let repeat =
            case.get("repeat").and_then(|value| self.count("repeat", value, MAX_REPEAT)).unwrap_or(1);
        let at_least = case.get("at-least").and_then(|value| {
            let at_least = self.count("at-least", value, MAX_REPEAT)?;
            if at_least > repeat {
                let message = match case.get("repeat") {
                    Some(_) => {
                        format!("`at-least` is more than the {} of `repeat`", counted(repeat as usize, "run"))
                    }
                    None => "`at-least` needs `repeat`, the number of runs".to_owned(),
                };
                self.report(value.span(), message);
            }
            Some(at_least)
        });
        let expectations = self.expectations(case.get("expect"), matches!(answers, Answers::Harness(_)));
        Case {
            name,
            name_range,
            range,
            inputs,
            answers,
            matrix,
            repeat: repeat as u32,
            at_least: at_least.unwrap_or(repeat) as u32,
            timeout: case.get("timeout").and_then(|value| self.duration("timeout", value)),
            skip: case.get("skip").and_then(|value| self.text("skip", value)),
            expectations,
        }
    }

    /// What answers the program: exactly one of entries, a recorded run and a harness.
    fn answers(
        &mut self,
        case: &Entries<'_>,
        value: &TomlValue<'_>,
        matrix: &Matrix,
        header: TextRange,
    ) -> Answers {
        let script = value.get_ref().as_table().map(|table| {
            let name = self.path.file_name().unwrap_or_default().to_string_lossy();
            let (script, problems) = Script::in_table(name, self.document, self.text, table, PREFIX);
            problems.into_iter().for_each(|problem| self.report_at(problem.range, problem.message));
            script
        });
        let recorded = case.get("recorded").and_then(|value| {
            Some((self.folder.join(self.text("recorded", value)?), self.range(value.span())))
        });
        let harness = self.harness(case, matrix, header);
        let has_entries =
            script::keys().find(|key| case.entries.is_some_and(|entries| entries.contains_key(*key)));
        if let Some(key) = has_entries
            && let Some(other) = ["recorded", "harness"].into_iter().find(|other| case.get(other).is_some())
        {
            let span = case.key_span(other).unwrap_or_default();
            self.report(
                span,
                format!("a case has either entries such as `{key}` or `{other}`; remove one of them"),
            );
        }
        match (recorded, harness, script) {
            (Some((path, range)), harness, _) => Answers::Recorded(RecordedAnswers { path, range, harness }),
            (None, Some(harness), _) => Answers::Harness(harness),
            (None, None, Some(script)) => Answers::Script(script),
            (None, None, None) => Answers::Harness(HarnessAnswers::default()),
        }
    }

    fn harness(&mut self, case: &Entries<'_>, matrix: &Matrix, header: TextRange) -> Option<HarnessAnswers> {
        let max_cost = case.get("max-cost").and_then(|value| self.money("max-cost", value));
        let model = case.get("model").and_then(|value| self.text("model", value));
        if !matrix.models.is_empty() && case.get("model").is_some() {
            let span = case.key_span("model").unwrap_or_default();
            self.report(span, "the models of this case are in `[case.matrix]`; remove `model`");
        }
        let named = case.get("harness");
        if named.is_some() && !matrix.harnesses.is_empty() {
            let span = case.key_span("harness").unwrap_or_default();
            self.report(span, "the harnesses of this case are in `[case.matrix]`; remove `harness`");
        }
        let name = named.and_then(|value| Some((self.harness_name(value)?, self.range(value.span()))));
        if named.is_none() && matrix.harnesses.is_empty() {
            for key in ["max-cost", "model"] {
                if let Some(span) = case.key_span(key) {
                    self.report(
                        span,
                        format!(
                            "`{key}` needs a `harness`, since scripted and recorded answers use no model"
                        ),
                    );
                }
            }
            return None;
        }
        let (name, range) = name.unwrap_or_else(|| (String::new(), header));
        let asks =
            asks_model(&name) && !name.is_empty() || matrix.harnesses.iter().any(|name| asks_model(name));
        if asks && case.get("max-cost").is_none() && !self.is_broken() {
            self.report_at(
                range,
                "a case with a harness needs `max-cost`, the most that one run may cost in US dollars, such as `max-cost = 0.5`",
            );
        }
        Some(HarnessAnswers { name, range, model, max_cost })
    }

    fn harness_name(&mut self, value: &TomlValue<'_>) -> Option<String> {
        let name = self.text("harness", value)?;
        if name == "script" {
            self.report(
                value.span(),
                "a script is written as entries of the case, such as `[[case.session]]`",
            );
            return None;
        }
        let names = HARNESSES.iter().map(|info| info.name).filter(|name| *name != "script");
        if names.clone().any(|known| known == name) {
            return Some(name);
        }
        let (hint, fix) = match suggest::nearest(&name, names.clone(), |name| name) {
            Some(meant) => {
                let range = self.range(value.span());
                (format!("did you mean `{meant}`?"), Some(Fix::change(range, &format!("\"{meant}\""))))
            }
            None => (format!("use one of `{}`", names.collect::<Vec<_>>().join("`, `")), None),
        };
        self.report_with(value.span(), format!("harness `{name}` does not exist; {hint}"), fix);
        None
    }

    fn inputs(&mut self, value: &TomlValue<'_>) -> Vec<Input> {
        let Some(table) = value.get_ref().as_table() else {
            self.wrong::<()>("inputs", "a table such as `{ topic = \"tides\" }`", value);
            return Vec::new();
        };
        let inputs = table.iter().filter_map(|(key, value)| {
            let range = self.range(key.span());
            Some(Input { name: SmolStr::new(key.get_ref()), value: self.any(key.get_ref(), value)?, range })
        });
        inputs.collect()
    }

    fn matrix(&mut self, value: &TomlValue<'_>, inputs: &[Input]) -> Matrix {
        let entries = self.entries(&table::MATRIX, value, &[]);
        let mut matrix = Matrix::default();
        if let Some(value) = entries.get("inputs") {
            let Some(table) = value.get_ref().as_table() else {
                self.wrong::<()>(
                    "inputs",
                    "a table of lists such as `{ topic = [\"tides\", \"winds\"] }`",
                    value,
                );
                return matrix;
            };
            for (key, values) in table {
                let name = SmolStr::new(key.get_ref());
                let range = self.range(key.span());
                if inputs.iter().any(|input| input.name == name) {
                    self.report(
                        key.span(),
                        format!("input `{name}` is also in `inputs`; remove one of them"),
                    );
                }
                let Some(list) = self.list(&name, values) else { continue };
                let list: Vec<Value> = list.iter().filter_map(|value| self.any(&name, value)).collect();
                matrix.inputs.push((Input { name, value: Value::Null, range }, list));
            }
        }
        if let Some(value) = entries.get("harness")
            && let Some(list) = self.list("harness", value)
        {
            matrix.harnesses = list.iter().filter_map(|value| self.harness_name(value)).collect();
        }
        if let Some(value) = entries.get("model")
            && let Some(list) = self.list("model", value)
        {
            matrix.models = list.iter().filter_map(|value| self.text("model", value)).collect();
        }
        matrix
    }

    /// The entries of a table. Keys that neither the table nor `more` has are reported.
    fn entries<'v>(
        &mut self,
        table: &'static Table,
        value: &'v TomlValue<'v>,
        more: &[&'static str],
    ) -> Entries<'v> {
        let entries = value.get_ref().as_table();
        let Some(found) = entries else {
            let message = format!("{} must be a table, not {}", table.name, self.shown(value.span()));
            self.report(value.span(), message);
            return Entries { table, entries: None };
        };
        for key in found.keys() {
            let name: &str = key.get_ref();
            let known = table.keys.iter().map(|key| key.name).chain(more.iter().copied());
            if known.clone().any(|known| known == name) {
                continue;
            }
            let (hint, fix) = match suggest::nearest(name, known.clone(), |known| known) {
                Some(meant) if !found.contains_key(meant) => {
                    let range = self.range(key.span());
                    (format!("did you mean `{meant}`?"), Some(Fix::change(range, meant)))
                }
                Some(meant) => (format!("did you mean `{meant}`?"), None),
                None => match home_of(name) {
                    Some(home) => (format!("move it to {home}"), None),
                    None => (format!("the keys are `{}`", known.collect::<Vec<_>>().join("`, `")), None),
                },
            };
            self.report_with(key.span(), format!("{} has no `{name}`; {hint}", table.name), fix);
        }
        Entries { table, entries: Some(found) }
    }

    fn range(&self, span: Range<usize>) -> TextRange {
        self.document.range(span)
    }

    /// Whether the file is not valid TOML, so that a key may only seem to be missing.
    fn is_broken(&self) -> bool {
        !self.document.problems.is_empty()
    }

    fn report(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.report_with(span, message, None);
    }

    fn report_at(&mut self, range: TextRange, message: impl Into<String>) {
        self.problems.push(Diagnostic::new(Code::E151, range, message));
    }

    /// Reports a mistake. Keys and values left over from broken TOML are not checked.
    fn report_with(&mut self, span: Range<usize>, message: impl Into<String>, fix: Option<Fix>) {
        let range = self.range(span);
        if self.document.is_complete && !self.document.is_broken_at(range.start()) {
            self.problems.push(Diagnostic::new(Code::E151, range, message).with_fix(fix));
        }
    }
}

/// The table that has a key of that name.
fn home_of(name: &str) -> Option<&'static str> {
    let tables = [&table::CASE, &table::EXPECT, &table::MATRIX];
    tables.into_iter().find(|table| table.key(name).is_some()).map(|table| table.name)
}

/// The path of a file that a test file names.
fn path_in(folder: &Path, path: &str) -> PathBuf {
    folder.join(path)
}

//! A test file with its cases.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use prose_harness::script::Script;
use prose_syntax::{Diagnostic, TextRange};
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::expectation::Expectation;

/// A test file. Reading one never fails: what is wrong with it is in [`problems`](Self::problems), and the cases have what could be read.
#[derive(Debug)]
pub struct TestFile {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// The path of the program that it tests.
    pub program: PathBuf,
    /// Where the text names the program; `None` if it follows from the name of the file.
    pub program_range: Option<TextRange>,
    /// Its cases, in the order of the text.
    pub cases: Vec<Case>,
    /// What is wrong with it. A file with problems is not run.
    pub problems: Vec<Diagnostic>,
}

/// A case of a test file.
#[derive(Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Where its name stands; its header if it has none.
    pub name_range: TextRange,
    /// The whole case, up to the next one.
    pub range: TextRange,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// What answers the program.
    pub answers: Answers,
    /// The values that it runs with, in all combinations.
    pub matrix: Matrix,
    /// How often it runs.
    pub repeat: u32,
    /// How many of these runs have to pass.
    pub at_least: u32,
    /// The time after which a run fails.
    pub timeout: Option<Duration>,
    /// The reason why it does not run.
    pub skip: Option<String>,
    /// What the run has to fulfil.
    pub expectations: Vec<Expectation>,
}

/// An input of a case.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its name.
    pub name: SmolStr,
    /// Its value.
    pub value: Value,
    /// Where its name stands.
    pub range: TextRange,
}

/// What answers the program of a case.
#[derive(Debug)]
pub enum Answers {
    /// Entries of a script in the case itself.
    Script(Script),
    /// An exported run.
    Recorded(RecordedAnswers),
    /// A harness.
    Harness(HarnessAnswers),
}

/// An exported run that answers.
#[derive(Debug, Clone)]
pub struct RecordedAnswers {
    /// The path of the file.
    pub path: PathBuf,
    /// Where the path stands.
    pub range: TextRange,
    /// What answers when the file is written.
    pub harness: Option<HarnessAnswers>,
}

/// A harness that answers, and its limits.
#[derive(Debug, Clone, Default)]
pub struct HarnessAnswers {
    /// Its name; empty if the matrix has the names.
    pub name: String,
    /// Where its name stands.
    pub range: TextRange,
    /// The model of all sessions.
    pub model: Option<String>,
    /// The most that a run may cost, in US dollars.
    pub max_cost: Option<f64>,
}

/// The values that a case runs with, in all combinations.
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    /// The values of inputs.
    pub inputs: Vec<(Input, Vec<Value>)>,
    /// The harnesses.
    pub harnesses: Vec<String>,
    /// The models.
    pub models: Vec<String>,
}

impl TestFile {
    /// The case with a name.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// The files that decide what the cases do, apart from the programs: exported runs.
    pub fn recorded_files(&self) -> impl Iterator<Item = &Path> {
        self.cases.iter().filter_map(|case| match &case.answers {
            Answers::Recorded(recorded) => Some(recorded.path.as_path()),
            _ => None,
        })
    }
}

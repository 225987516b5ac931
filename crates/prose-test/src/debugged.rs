//! What a debugger is started with to see a case at work.

use std::path::PathBuf;

use prose_harness::script;
use prose_vm::value::Plain;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::file::{Answers, HarnessAnswers, TestFile};
use crate::variant::Variant;

/// The settings of a debug session that executes a variant once, as `prose dap` takes them; only the script has to be written to a file first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Debugged {
    /// The program.
    pub program: PathBuf,
    /// Its inputs.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub inputs: Map<String, Value>,
    /// The text of a script with the answers of the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// The exported run with the answers, which is shown instead of starting the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<PathBuf>,
    /// The harness that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The most that the run may cost, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
}

impl Debugged {
    /// The debug session of a variant; none if it is not one of the file.
    pub fn new(file: &TestFile, variant: &Variant) -> Option<Self> {
        let case = file.cases.get(variant.case)?;
        let json = |value| serde_json::to_value(Plain(value)).unwrap_or_default();
        let inputs = variant.inputs.iter().map(|(name, value)| (name.to_string(), json(value)));
        let mut debugged = Self {
            program: file.program.clone(),
            inputs: inputs.collect(),
            script: None,
            run: None,
            harness: None,
            max_cost: None,
        };
        match &case.answers {
            Answers::Script(_) => debugged.script = Some(script_of(file, variant.case)?),
            Answers::Recorded(recorded) => debugged.run = Some(recorded.path.clone()),
            Answers::Harness(HarnessAnswers { max_cost, .. }) => {
                debugged.harness.clone_from(&variant.harness);
                debugged.max_cost = *max_cost;
            }
        }
        Some(debugged)
    }
}

/// The entries of a case as a script of their own.
fn script_of(file: &TestFile, case: usize) -> Option<String> {
    let text: toml::Table = toml::from_str(&file.text).ok()?;
    let table = text.get("case")?.get(case)?.as_table()?;
    let entries: toml::Table =
        script::keys().filter_map(|key| Some((key.to_owned(), table.get(key)?.clone()))).collect();
    Some(entries.to_string())
}

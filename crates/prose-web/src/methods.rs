//! The table of methods. `editors/playground/src/language.ts` has the types of what they take and give.

use prose_syntax::Code;
use prose_vm::effect::RequestId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Language;
use crate::programs;
use crate::run::{Run, RunCommand, RunOptions};

/// Performs a method.
type Perform = fn(&mut Language, Value) -> Result<Value, String>;

/// All methods by their names.
pub(crate) const METHODS: &[(&str, Perform)] = &[
    ("setFile", |language, params| {
        let File { name, text } = read(params)?;
        written(language.files.set(&name, &text)?)
    }),
    ("removeFile", |language, params| written(language.files.remove(&read::<Named>(params)?.name)?)),
    ("diagnostics", |language, params| on_file(language, params, programs::diagnostics)),
    ("completions", |language, params| at_offset(language, params, programs::completions)),
    ("hover", |language, params| at_offset(language, params, programs::hover)),
    ("definition", |language, params| at_offset(language, params, programs::definition)),
    ("references", |language, params| at_offset(language, params, programs::references)),
    ("renameable", |language, params| {
        let At { name, offset } = read(params)?;
        written(programs::renameable(&language.files, &name, offset)?)
    }),
    ("rename", |language, params| {
        let Rename { name, offset, new_name } = read(params)?;
        written(programs::rename(&language.files, &name, offset, &new_name)?)
    }),
    ("symbols", |language, params| on_file(language, params, programs::symbols)),
    ("tokens", |language, params| on_file(language, params, programs::tokens)),
    ("folds", |language, params| on_file(language, params, programs::folds)),
    ("format", |language, params| on_file(language, params, programs::format)),
    ("graph", |language, params| on_file(language, params, programs::graph)),
    ("inputs", |language, params| on_file(language, params, programs::inputs)),
    ("explain", |_, params| {
        let Explain { code } = read(params)?;
        let known = code.parse::<Code>().map_err(|_| format!("`{code}` is not a diagnostic code"))?;
        let info = known.info();
        written(format!("### {}: {}\n\n{}", info.name, info.title, info.explanation))
    }),
    ("start", |language, params| {
        let options: RunOptions = read(params)?;
        if language.run.as_ref().is_some_and(Run::is_executed) {
            return Err("a program is running; stop it first".to_owned());
        }
        let run = Run::start(&language.files, &options)?;
        let id = run.id().clone();
        language.run = Some(run);
        written(json!({ "run": id }))
    }),
    ("turn", |language, _| written(run(language)?.turn())),
    ("answer", |language, params| {
        let Answer { id, text } = read(params)?;
        written(run(language)?.answer(id, &text)?)
    }),
    ("command", |language, params| {
        let command: RunCommand = read(params)?;
        written(run(language)?.command(command)?)
    }),
    ("sessions", |language, params| {
        let Sessions { requests } = read(params)?;
        written(run(language)?.sessions(&requests))
    }),
];

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct File {
    name: String,
    text: String,
}

/// A place in a file, in UTF-16 code units.
#[derive(Deserialize)]
struct At {
    name: String,
    offset: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rename {
    name: String,
    offset: usize,
    new_name: String,
}

#[derive(Deserialize)]
struct Explain {
    code: String,
}

#[derive(Deserialize)]
struct Answer {
    id: u64,
    text: String,
}

#[derive(Deserialize)]
struct Sessions {
    requests: Vec<RequestId>,
}

fn on_file<T: Serialize>(
    language: &Language,
    params: Value,
    perform: fn(&crate::files::Files, &str) -> Result<T, String>,
) -> Result<Value, String> {
    written(perform(&language.files, &read::<Named>(params)?.name)?)
}

fn at_offset<T: Serialize>(
    language: &Language,
    params: Value,
    perform: fn(&crate::files::Files, &str, usize) -> Result<T, String>,
) -> Result<Value, String> {
    let At { name, offset } = read(params)?;
    written(perform(&language.files, &name, offset)?)
}

fn run(language: &mut Language) -> Result<&mut Run, String> {
    language.run.as_mut().ok_or_else(|| "no program has been started".to_owned())
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, String> {
    serde_json::from_value(params).map_err(|error| format!("the parameters cannot be read: {error}"))
}

fn written(result: impl Serialize) -> Result<Value, String> {
    serde_json::to_value(result).map_err(|error| format!("the result cannot be written: {error}"))
}

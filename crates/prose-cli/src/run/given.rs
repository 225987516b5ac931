//! Inputs that are given on the command line or in a file.

use std::path::Path;

use prose_files::{Limit, read_named_text};
use prose_vm::part::RunPart;
use prose_vm::program::Program;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::terminal::one_line;

/// The inputs of a run: those of the file, overridden by those of the command line.
pub(crate) fn read(given: &[(String, String)], file: Option<&Path>) -> Result<Vec<(SmolStr, Value)>, String> {
    let mut inputs = match file {
        Some(path) => read_file(path)?,
        None => Vec::new(),
    };
    for (name, value) in given {
        inputs.retain(|(known, _)| known != name);
        inputs.push((name.into(), Value::text(value.as_str())));
    }
    Ok(inputs)
}

/// Refuses the names of inputs that a program does not take.
pub(crate) fn check<'a>(mut names: impl Iterator<Item = &'a str>, program: &Program) -> Result<(), String> {
    names.find_map(|name| program.refusal_of_input(&one_line(name))).map_or(Ok(()), Err)
}

/// The same for a part of a program, which takes values of variables.
pub(crate) fn check_for<'a>(
    part: Option<&RunPart>,
    mut names: impl Iterator<Item = &'a str>,
    program: &Program,
) -> Result<(), String> {
    let Some(part) = part else { return check(names, program) };
    names.find_map(|name| program.refusal_of_value(&one_line(name), part)).map_or(Ok(()), Err)
}

/// Refuses values that the prompts of inputs do not offer.
pub(crate) fn check_values(given: &[(SmolStr, Value)], program: &Program) -> Result<(), String> {
    given.iter().try_for_each(|(name, value)| {
        let checked = program.input_value(name, value).map(drop);
        checked.map_err(|error| one_line(&error).into_owned())
    })
}

/// What to say of an input that a resumed run was started with.
pub(crate) fn known(given: &[(String, String)], before: &[(SmolStr, Value)]) -> Option<String> {
    let (name, _) = given.iter().find(|(name, _)| before.iter().any(|(known, _)| known == name))?;
    Some(format!(
        "input `{}` of a resumed run cannot be changed; remove it, or start a new run with `prose run`",
        one_line(name)
    ))
}

/// The message about the inputs that a program requires at once and that cannot be asked for.
pub(crate) fn missing(given: &[(SmolStr, Value)], program: &Program) -> Option<String> {
    let missing = program.missing_at_start(|key| given.iter().any(|(known, _)| known == key));
    let names = missing.join("`, `");
    let hints: Vec<String> = missing.iter().map(|name| format!("--input {name}=…")).collect();
    let hints = hints.join(" ");
    match missing.len() {
        0 => None,
        1 => Some(format!("input `{names}` is required; add `{hints}`")),
        _ => Some(format!("inputs `{names}` are required; add `{hints}`")),
    }
}

fn read_file(path: &Path) -> Result<Vec<(SmolStr, Value)>, String> {
    let shown = path.display();
    let text = read_named_text(path, Limit::INPUTS).map_err(|error| format!("`{shown}` {error}"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let json: serde_json::Value = if is_json {
        serde_json::from_str(text).map_err(|error| format!("`{shown}` is not valid JSON: {error}"))?
    } else {
        let table: toml::Table = toml::from_str(text).map_err(|error| {
            let hint =
                if text.trim_start().starts_with('{') { "a JSON file must be named `*.json`\n" } else { "" };
            format!("`{shown}` is not valid TOML: {hint}{error}")
        })?;
        from_toml(toml::Value::Table(table))
    };
    match json {
        serde_json::Value::Object(entries) => {
            Ok(entries.iter().map(|(name, value)| (name.into(), Value::from_json(value))).collect())
        }
        _ => Err(format!("`{shown}` must contain an object with a value for each input")),
    }
}

/// Dates and times are texts in programs, and so are numbers that JSON does not have.
fn from_toml(value: toml::Value) -> serde_json::Value {
    match value {
        toml::Value::Table(table) => table
            .into_iter()
            .map(|(name, value)| (name, from_toml(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        toml::Value::Array(values) => values.into_iter().map(from_toml).collect(),
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Boolean(is) => is.into(),
        toml::Value::Float(number) if number.is_finite() => number.into(),
        toml::Value::Float(number) => number.to_string().into(),
        toml::Value::Datetime(time) => time.to_string().into(),
    }
}

/// The inputs of the command line, for a run that is resumed.
pub(crate) fn of_arguments(given: &[(String, String)]) -> Vec<(SmolStr, Value)> {
    given.iter().map(|(name, value)| (name.into(), Value::text(value.as_str()))).collect()
}

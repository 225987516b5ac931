//! The prompts that a user of a client can choose.

use rmcp::model::{PromptMessage, Role};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteArguments {
    /// What the program should do.
    pub(super) task: String,
    /// Where to store it.
    pub(super) path: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RepairArguments {
    /// The path of the program.
    pub(super) path: String,
}

pub(super) fn write(arguments: &WriteArguments) -> Vec<PromptMessage> {
    let place = match &arguments.path {
        Some(path) => format!("Store it in `{path}`."),
        None => "Choose a file name that ends in `.prose`.".to_owned(),
    };
    message(format!(
        "Write an OpenProse program for this task:\n\n{}\n\n{place}\n\n\
         1. Read the resource `prose://language/README`, and the pages that you need from it.\n\
         2. Write the program. Prefer few sessions with clear prompts; give every loop a `max:`; declare `input` for what varies and `output` for what the \
         user wants.\n\
         3. Call `check` with `fix`, and fix what it still reports, until there are no errors and no warnings.\n\
         4. Call `format`, and store the result.\n\
         5. Call `estimate` and `dry_run`, and tell the user what a run would do and cost. Do not run the program unless the user asks for it.",
        arguments.task
    ))
}

pub(super) fn repair(arguments: &RepairArguments) -> Vec<PromptMessage> {
    message(format!(
        "Repair the OpenProse program `{}`.\n\n\
         1. Call `check` with `fix`. Call `explain` for codes that you do not know.\n\
         2. Fix what is left without changing what the program is meant to do; where that is unclear, ask the user.\n\
         3. Call `check` again after each change, until there are no errors and no warnings, then `format`.\n\
         4. Store the result, and tell the user what was wrong.",
        arguments.path
    ))
}

fn message(text: String) -> Vec<PromptMessage> {
    vec![PromptMessage::new_text(Role::User, text)]
}

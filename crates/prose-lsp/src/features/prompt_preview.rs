//! `prose/prompt`: the prompts of the session, the condition, the choice or the block at a place as a run would send them.

use std::path::PathBuf;

use prose_analysis::location::Origin;
use prose_ide::fenced;
use prose_run::{Preview, PreviewPrompt, PreviewValue, Project, RunRequest, Start, ValueOrigin, preview};
use prose_syntax::TextSize;
use prose_syntax::text::beginning;
use prose_vm::budget::{dollars, grouped};
use prose_vm::effect::RequestId;
use prose_vm::program::Program;
use prose_vm::value::Value as ProgramValue;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::features::fork_actions::last_session;
use crate::protocol::json::{Json, json as text};
use crate::protocol::request::Failure;
use crate::protocol::uri::uri_of_path;
use crate::reads::views::View;
use crate::runs::project::project_of;
use crate::runs::queries::told;

/// The longest value in the text of a preview, in characters.
const MAX_VALUE: usize = 100;

/// The answer to `prose/prompt`: null where there is nothing to run alone. `given` are values of variables.
pub(crate) fn prompt_preview(
    view: &View<'_>,
    offset: TextSize,
    given: &Map<String, Value>,
) -> Result<Json, Failure> {
    let (file, config) = (view.snapshot.file, &view.snapshot.config);
    let (path, origin) = (file.path(view.db), file.origin(view.db));
    let program = Program::new(view.db, file);
    let line = program.line(offset.into());
    let Some(part) = program.part_at(line).filter(|_| *origin == Origin::Local) else {
        return Ok(text(&()));
    };
    let first_line = view.snapshot.shown.first_line();
    let given = given.iter().map(|(name, value)| (SmolStr::new(name), ProgramValue::from_json(value)));
    // Values of variables that are gone are left out: the client keeps them while the program is edited.
    let given = given.filter(|(name, _)| part.needs.contains(name)).collect();
    // A text that was never saved is in no folder.
    let project = project_of(path, origin, config, view.session).filter(|project| project.root.is_dir());
    let request = config.run_request(program, project.unwrap_or_else(|| Project::new("")), Start::Dry);
    let (noun, line) = (part.noun.clone(), first_line + part.line as usize);
    let request = RunRequest { part: Some(part), inputs: given, ..request };
    let preview = preview(request).map_err(|failure| Failure::Refused(failure.for_editor()))?;
    let last = u32::try_from(line - 1).ok().and_then(|line| last_session(view, line));
    let last = last.map(|(last, session)| {
        let summary = last.details.summary;
        let record = told(&summary.folder, session.request).unwrap_or_default();
        let text = |key: &str| record[key].as_str().map(str::to_owned);
        let (reply, error) = (text("reply"), text("error"));
        LastReply { run: summary.id, folder: summary.folder, request: session.request, reply, error }
    });
    Ok(text(&json!({
        "noun": noun,
        "line": line,
        "run": preview.run,
        "values": preview.values.iter().map(shown_value).collect::<Vec<_>>(),
        "prompts": preview.prompts.iter().map(shown_prompt).collect::<Vec<_>>(),
        "failed": preview.error.as_ref().map(ToString::to_string),
        "last": last.as_ref().map(shown_reply),
        "text": as_markdown(&format!("{noun} at line {line}"), &preview, last.as_ref()),
    })))
}

/// What came of a session in its last run.
struct LastReply {
    run: SmolStr,
    folder: PathBuf,
    request: RequestId,
    reply: Option<String>,
    error: Option<String>,
}

/// The preview of a part as a text.
fn as_markdown(part: &str, preview: &Preview, last: Option<&LastReply>) -> String {
    let mut text = format!("# Prompt of the {part}\n");
    if !preview.values.is_empty() {
        text.push_str("\n## Values\n\n");
    }
    for PreviewValue { name, value, origin } in &preview.values {
        let from = match origin {
            ValueOrigin::LastRun => format!("from run {}", preview.run.as_deref().unwrap_or_default()),
            ValueOrigin::Given => "given".to_owned(),
            ValueOrigin::Sample => "sample, since no run has a value".to_owned(),
        };
        text.push_str(&format!("- {name} = {} ({from})\n", beginning(&value.to_string(), MAX_VALUE)));
    }
    for (nth, prompt) in preview.prompts.iter().enumerate() {
        let PreviewPrompt { agent, model, prompt, system, tokens, costs, .. } = prompt;
        let number = if preview.prompts.len() > 1 { format!(" {}", nth + 1) } else { String::new() };
        let facts = [("agent", agent), ("model", model)].into_iter();
        let facts = facts.filter_map(|(fact, value)| Some(format!("{fact} {}", value.as_ref()?)));
        let facts = facts.collect::<Vec<_>>().join(", ");
        let facts = if facts.is_empty() { facts } else { format!(": {facts}") };
        text.push_str(&format!("\n## Prompt{number}{facts}\n\n{}\n", fenced("text", prompt)));
        if let Some(system) = system {
            text.push_str(&format!("\n### System\n\n{}\n", fenced("text", system)));
        }
        text.push_str(&format!("\nAbout {} tokens", grouped(*tokens)));
        for (nth, (model, cost)) in costs.iter().enumerate() {
            let price = cost.map_or_else(|| "price unknown".to_owned(), dollars);
            let separator = if nth == 0 { ":" } else { "," };
            text.push_str(&format!("{separator} {price} with {model}"));
        }
        text.push_str(", without the reply\n");
    }
    if let Some(error) = &preview.error {
        text.push_str(&format!("\nWith these values, it fails: {error}\n"));
    }
    if let Some(LastReply { run, reply, error, .. }) = last
        && let Some(outcome) = reply.as_ref().or(error.as_ref())
    {
        text.push_str(&format!("\n## Last reply, in run {run}\n\n{}\n", fenced("text", outcome)));
    }
    text
}

fn shown_reply(last: &LastReply) -> Value {
    json!({
        "run": last.run,
        "folder": uri_of_path(&last.folder).as_deref(),
        "request": last.request,
        "reply": last.reply,
        "error": last.error,
    })
}

fn shown_value(value: &PreviewValue) -> Value {
    json!({ "name": value.name, "value": value.value, "from": value.origin.name() })
}

fn shown_prompt(prompt: &PreviewPrompt) -> Value {
    let costs = prompt.costs.iter().map(|(model, cost)| json!({ "model": model, "cost": cost }));
    json!({
        "kind": prompt.kind,
        "agent": prompt.agent,
        "model": prompt.model,
        "system": prompt.system,
        "prompt": prompt.prompt,
        "tokens": prompt.tokens,
        "costs": costs.collect::<Vec<_>>(),
    })
}

//! `prose/prompt`: the prompts of the session, the condition, the choice or the block at a place as a run would send them.

use prose_analysis::location::Origin;
use prose_ide::fenced;
use prose_run::{Preview, PreviewPrompt, PreviewValue, Project, RunRequest, Start, preview};
use prose_syntax::TextSize;
use prose_syntax::text::beginning;
use prose_vm::budget::{dollars, grouped};
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
    let Preview { run, values, prompts, error } =
        preview(request).map_err(|failure| Failure::Refused(failure.for_editor()))?;
    let last = u32::try_from(line - 1).ok().and_then(|line| last_session(view, line));
    let last = last.map(|(last, session)| {
        let summary = last.details.summary;
        let record = told(&summary.folder, session.request).unwrap_or_default();
        json!({
            "run": summary.id,
            "folder": uri_of_path(&summary.folder).as_deref(),
            "request": session.request,
            "reply": record["reply"],
            "error": record["error"],
        })
    });
    let mut shown = json!({
        "noun": noun,
        "line": line,
        "run": run,
        "values": values.iter().map(shown_value).collect::<Vec<_>>(),
        "prompts": prompts.iter().map(shown_prompt).collect::<Vec<_>>(),
        "failed": error.map(|error| error.to_string()),
        "last": last,
    });
    shown["text"] = json!(as_markdown(&shown));
    Ok(text(&shown))
}

/// The preview as a text.
fn as_markdown(preview: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut text = format!("# Prompt of the {} at line {}\n", word(&preview["noun"]), preview["line"]);
    let values = list(&preview["values"]);
    if !values.is_empty() {
        text.push_str("\n## Values\n\n");
    }
    for value in values {
        let from = match value["from"].as_str() {
            Some("run") => format!("from run {}", word(&preview["run"])),
            Some("given") => "given".to_owned(),
            _ => "sample, since no run has a value".to_owned(),
        };
        let shown = ProgramValue::from_json(&value["value"]).to_string();
        text.push_str(&format!("- {} = {} ({from})\n", word(&value["name"]), beginning(&shown, MAX_VALUE)));
    }
    let prompts = list(&preview["prompts"]);
    for (nth, prompt) in prompts.iter().enumerate() {
        let number = if prompts.len() > 1 { format!(" {}", nth + 1) } else { String::new() };
        let facts: Vec<String> = ["agent", "model"]
            .into_iter()
            .filter_map(|fact| Some(format!("{fact} {}", prompt[fact].as_str()?)))
            .collect();
        let facts = if facts.is_empty() { String::new() } else { format!(": {}", facts.join(", ")) };
        text.push_str(&format!(
            "\n## Prompt{number}{facts}\n\n{}\n",
            fenced("text", &word(&prompt["prompt"]))
        ));
        if let Some(system) = prompt["system"].as_str() {
            text.push_str(&format!("\n### System\n\n{}\n", fenced("text", system)));
        }
        let tokens = prompt["tokens"].as_u64().unwrap_or_default();
        text.push_str(&format!("\nAbout {} tokens", grouped(tokens)));
        for (nth, cost) in list(&prompt["costs"]).iter().enumerate() {
            let price = cost["cost"].as_f64().map_or_else(|| "price unknown".to_owned(), dollars);
            let separator = if nth == 0 { ":" } else { "," };
            text.push_str(&format!("{separator} {price} with {}", word(&cost["model"])));
        }
        text.push_str(", without the reply\n");
    }
    if let Some(failed) = preview["failed"].as_str() {
        text.push_str(&format!("\nWith these values, it fails: {failed}\n"));
    }
    if let Some(outcome) = preview["last"]["reply"].as_str().or(preview["last"]["error"].as_str()) {
        let run = word(&preview["last"]["run"]);
        text.push_str(&format!("\n## Last reply, in run {run}\n\n{}\n", fenced("text", outcome)));
    }
    text
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

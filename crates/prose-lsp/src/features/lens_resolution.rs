//! `codeLens/resolve`: the lenses that cost more than others, computed when they become visible.

use prose_run::{EstimateRequest, estimate_block, estimate_run};
use prose_syntax::text::counted;
use prose_vm::program::Program;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::features::references;
use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp;
use crate::protocol::request::Failure;
use crate::reads::views::{View, Views};
use crate::runs::project::project_of;

/// The command of a client that shows references.
const SHOW_REFERENCES: &str = "prose.showReferences";

/// A lens without its title and its command.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "lens")]
pub(crate) enum Unresolved {
    /// What a run of the program or of a block is expected to come to.
    Estimate {
        /// The block; none for the whole program.
        block: Option<SmolStr>,
    },
    /// The number of references to the name at its place.
    References,
}

/// What the server needs to resolve a lens.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LensData {
    pub(crate) uri: lsp::Uri,
    /// The program, of which a document may have several.
    program: String,
    version: i32,
    #[serde(flatten)]
    lens: Unresolved,
}

impl Unresolved {
    /// The data that the client sends back.
    pub(crate) fn data(self, view: &View<'_>) -> Value {
        let snapshot = view.snapshot;
        let mut data = json!(self);
        data["uri"] = json!(&*snapshot.uri);
        data["program"] = json!(&*snapshot.name);
        data["version"] = json!(snapshot.version);
        data
    }
}

/// The answer to `codeLens/resolve`. The lenses of an edited program are requested again.
pub(crate) fn resolved(views: &Views, lens: &Value, data: &LensData) -> Result<Json, Failure> {
    let is_meant =
        |view: &View<'_>| *view.snapshot.name == *data.program && view.snapshot.version == data.version;
    let view = views.each().find(is_meant).ok_or(Failure::ContentModified)?;
    let range: lsp::Range =
        serde_json::from_value(lens["range"].clone()).map_err(|_| Failure::ContentModified)?;
    let command = match &data.lens {
        Unresolved::Estimate { block } => estimate(&view, block.as_deref()),
        Unresolved::References => found_references(&view, range.start),
    };
    let mut lens = lens.clone();
    lens["command"] = command.ok_or(Failure::ContentModified)?;
    Ok(text(&lens))
}

/// Without a command it can be read and does nothing.
fn estimate(view: &View<'_>, block: Option<&str>) -> Option<Value> {
    with_request(view, |request| {
        let estimate = match block {
            Some(block) => estimate_block(request, block)?,
            None => estimate_run(request),
        };
        Some(json!({ "title": estimate.title(), "command": "" }))
    })?
}

/// Asks about a run of a program with its settings and its earlier runs; none for a program of the cache while no folder is open.
pub(crate) fn with_request<T>(view: &View<'_>, ask: impl FnOnce(&EstimateRequest<'_>) -> T) -> Option<T> {
    let (file, config) = (view.snapshot.file, &view.snapshot.config);
    let project = project_of(file.path(view.db), file.origin(view.db), config, view.session)?;
    let run = config.run();
    let program = Program::new(view.db, file);
    let history = view.runs.used_before(&project, &program);
    Some(ask(&EstimateRequest {
        program: &program,
        harness: run.harness.as_str(),
        money: &config.money(),
        config: &run,
        routes: &config.routes(),
        inputs: &[],
        history: &history,
    }))
}

fn found_references(view: &View<'_>, position: lsp::Position) -> Option<Value> {
    let offset = view.converter().text_offset(position)?;
    let locations = references::references(view, offset, false);
    let title = counted(locations.len(), "reference");
    Some(match view.session.shows_references && !locations.is_empty() {
        true => json!({
            "title": title,
            "command": SHOW_REFERENCES,
            "arguments": [{ "uri": &*view.snapshot.uri, "position": position, "locations": locations }],
        }),
        false => json!({ "title": title, "command": "" }),
    })
}

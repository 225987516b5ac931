//! `prose/harness`: with what the programs of a document run, and what is missing for it.

use std::path::Path;

use prose_run::missing_program;
use serde_json::{Value, json};

use crate::protocol::json::{Json, json as text};
use crate::reads::views::Views;
use crate::runs::project::project_of;

/// The answer to `prose/harness`, for the first program of a document.
pub(crate) fn harness(views: &Views) -> Json {
    text(&views.each().next().map_or(Value::Null, |view| {
        let (file, config) = (view.snapshot.file, &view.snapshot.config);
        let project = project_of(file.path(view.db), file.origin(view.db), config, view.session);
        let root = project.map(|project| project.root);
        let run = config.run();
        let missing = missing_program(&run, &config.routes(), root.as_deref().unwrap_or(Path::new("")));
        json!({
            "harness": run.harness.as_str(),
            "isSet": config.client().harness.is_some(),
            "missing": missing,
        })
    }))
}
